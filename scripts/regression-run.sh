#!/usr/bin/env bash
# Measures every study with an older `ridgepoint` and with the bundle's, in turns, on one GPU:
#
#   bundle/regression-run.sh results OLD-RIDGEPOINT
#
# Leaves NAME-old-1.csv, NAME-new-1.csv, NAME-old-2.csv, NAME-new-2.csv of each study, and regression.md, which compares
# their times. Ends with 1 if a command fails or a row is slower than before by more than the noise.
set -uo pipefail
bundle=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
old=$(realpath "$2")
cd "$bundle" || exit 1
failed=0

{
    echo "commit $(cat commit)"
    date -u +'date %FT%TZ'
    sha256sum "$old" ridgepoint
    nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.limit --format=csv
} >"$out/machine.txt" 2>&1 || failed=1

# study NAME COMMAND...: both versions, twice in turns: what differs between turns is noise.
study() {
    local name=$1
    shift
    for turn in old-1 new-1 old-2 new-2; do
        local binary=$bundle/ridgepoint
        [[ $turn == old-* ]] && binary=$old
        # A folder of its own: `power` refuses to begin beside another run's checkpoints.
        if ! (cd "$(mktemp -d)" && "$binary" "$@" --device cuda --quiet --output "$out/$name-$turn.csv") \
            >"$out/$name.log" 2>&1; then
            echo "$name, $turn, failed:"
            tail -5 "$out/$name.log"
            failed=1
            return
        fi
    done
}
study roofline roofline --kernel all --vector 1,4 --k 1,5,20,100,500,1000 --runs 20
study occupancy occupancy --kernel copy,read,scale,elementwise,nrm2,fma --block 128,256,512,1024
study norm norm
study dispatch dispatch
study pipeline pipeline --kernel polynomial,matmul --weight 1,8 --batches 4 --rounds 5
for mode in baseline async graph; do
    study power-$mode power --mode $mode --max-steps 60 --checkpoint checkpoints
done
python3 regression.py "$out" "$out/regression.md" || failed=1
exit $failed
