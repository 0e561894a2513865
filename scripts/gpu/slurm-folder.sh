#!/usr/bin/env bash
# Makes a folder with the Slurm that is installed here, for slurm.sh on machines that have none, beside which it is to lie:
#
#   scripts/gpu/slurm-folder.sh bundle/slurm
#
# Its programs bring their own loader and C library: the other machine's may be older. What they start has that machine's.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
PROGRAMS=(munged slurmctld slurmd slurmstepd srun salloc sbatch scancel sinfo squeue scontrol)

main() {
    if [ $# -ne 1 ] || [ -e "$1" ]; then fail "usage: slurm-folder.sh NEW-FOLDER"; fi
    local folder plugins name program
    mkdir -p "$1/bin" "$1/programs" "$1/libraries"
    folder=$(cd "$1" && pwd)
    plugins=$(dirname "$(dpkg --listfiles slurm-wlm-basic-plugins | grep '/auth_munge\.so$')")
    cp -r "$plugins" "$folder/plugins"
    for name in "${PROGRAMS[@]}"; do
        program=$(command -v "$name") || fail "no $name: ./setup.sh --tests brings it"
        cp -L "$program" "$folder/programs/$name"
        wrap >"$folder/bin/$name"
    done
    chmod +x "$folder"/bin/*
    # What they and their plugins load; a plugin whose own libraries are missing is one that nothing here uses.
    ldd "$folder"/programs/* "$folder"/plugins/*.so | sed -n 's/^.* => \(\/[^ ]*\) .*/\1/p; s/^\t\(\/[^ ]*ld-linux[^ ]*\) .*/\1/p' |
        sort -u | xargs cp -L -t "$folder/libraries"
    [ -e "$folder/libraries/ld-linux-x86-64.so.2" ] || fail "no loader among the libraries"
    du -sh "$folder"
}

fail() {
    echo "slurm-folder.sh: $1" >&2
    exit 1
}

wrap() {
    cat <<'END'
#!/bin/sh
folder=$(dirname "$(dirname "$(readlink -f "$0")")")
exec "$folder/libraries/ld-linux-x86-64.so.2" --library-path "$folder/libraries:$folder/plugins" "$folder/programs/$(basename "$0")" "$@"
END
}

main "$@"
