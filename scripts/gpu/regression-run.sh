#!/usr/bin/env bash
# Measures every study with an older `ridgepoint` and with the bundle's, in turns, on one GPU:
#
#   bundle/regression-run.sh results OLD-RIDGEPOINT
#
# Leaves NAME-old-1.csv, NAME-new-1.csv, NAME-old-2.csv and so on of each study, and regression.md, which compares their
# times. Ends with 1 if a command fails or a row is slower than before by more than the noise.
set -uo pipefail
bundle=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
old=$(realpath "$2")
cd "$bundle" || exit 1
failed=0

{
    ./machine.sh
    sha256sum "$old" ridgepoint
} >"$out/machine.txt" 2>&1 || failed=1

# study TURNS NAME COMMAND...: both versions, in turns: what differs between turns is noise.
study() {
    local turns=$1 name=$2
    shift 2
    for turn in $(for ((i = 1; i <= turns; i++)); do echo "old-$i new-$i"; done); do
        local binary=$bundle/ridgepoint
        [[ $turn == old-* ]] && binary=$old
        # A folder of its own: `power` refuses to begin beside another run's checkpoints.
        (cd "$(mktemp -d)" && "$binary" "$@" --device cuda --quiet --output "$out/$name-$turn.csv") \
            >"$out/$name.log" 2>&1
        # 1: something was found, such as that few steps of `power` do not converge.
        if (($? > 1)); then
            echo "$name, $turn, failed:"
            tail -5 "$out/$name.log"
            failed=1
            return
        fi
    done
}
study 2 roofline roofline --kernel all --vector 1,4 --k 1,5,20,100,500,1000 --runs 20
study 3 occupancy occupancy --kernel copy,read,scale,elementwise,nrm2,fma --block 128,256,512,1024
# The host's time of a launch depends on the core that the process was put on: 3.0 to 4.6 us by chance.
study 9 norm norm
study 9 dispatch dispatch
study 2 pipeline pipeline --kernel polynomial,matmul --weight 1,8 --batches 4 --rounds 5
for mode in baseline async graph; do
    study 2 power-$mode power --mode $mode --max-steps 60 --checkpoint checkpoints
done
python3 regression.py "$out" "$out/regression.md" || failed=1
exit $failed
