#!/usr/bin/env bash
# Programs of others, recorded by `ridgepoint profile` on a GPU: programs.sh RIDGEPOINT OUT [PART..]
#
#     ends     what is left of programs that end in every way, beside what they did
#     ranges   ranges of NVTX, from C and Python, on the timeline
#     counters kernels whose bytes and operations are known, counted and placed under the roofs
#     cupti    each of the machine's CUPTIs; and torch.profiler in a program that is recorded
#     savings  programs of CuPy and PyTorch alone, changed and recorded, in turns: predicted savings beside real ones
#     cost     PyTorch's programs alone, recorded and traced by torch.profiler, in turns: totals and costs
#
# Without a PART all of them run. OUT gets what each program printed and its analysis, summary.txt, and programs.tgz with all of
# it. Needs python3 with CuPy and PyTorch, and for the ranges in C a compiler with NVTX's headers, or `ranges` beside RIDGEPOINT.
# It takes 8 minutes. ON=emulator records `ends` and `ranges` without a GPU.
set -uo pipefail
ridgepoint=$(realpath "$1") out=$(realpath "$2")
shift 2
parts=${*:-ends ranges counters cupti savings cost}
on=${ON:-gpu}
cd "$(dirname "$0")/programs" || exit

# What a program prints, and how it ended: said NAME COMMAND..
said() {
    local name=$1
    shift
    timeout --kill-after 5 90 "$@" >"$out/$name.txt" 2>"$out/$name.err"
    echo $? >"$out/$name.status"
}

# The same, recorded: recorded NAME OPTION.. -- PROGRAM..
recorded() {
    local name=$1
    shift
    said "$name" "$ridgepoint" profile --on "$on" --json "$out/$name.json" -q "$@"
}

ends() {
    local way
    for way in returns threads processes fork exits killed later busy aborted crashed; do
        recorded "ends-$way" -- python3 ends.py $way
    done
}

# Where NVTX's headers are: in the toolkit, or in a package of Python's.
headers() {
    local folder packages
    packages=$(python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    for folder in /usr/local/cuda/include "$packages"/nvidia/*/include; do
        [ ! -d "$folder/nvtx3" ] || echo "$folder"
    done
}

ranges() {
    local kind program=$out/ranges
    cc -O2 -I "$(headers | head -n 1)" ranges.c -o "$program" -ldl 2>"$out/cc.err" || cp "$(dirname "$ridgepoint")/ranges" "$program"
    recorded ranges-c --timeline "$out/ranges-c.trace.json" -- "$program"
    rm -f "$program"
    for kind in torch cupy nvtx; do
        recorded ranges-$kind --timeline "$out/ranges-$kind.trace.json" -- python3 ranges.py $kind
    done
}

counters() {
    recorded counters --counters --keep "$out/recording-roofline" --plot "$out/roofline.svg" -- python3 roofline.py
    recorded counters-power --counters -- python3 power.py blocking
}

cupti() {
    local file number=0
    find / -path /proc -prune -o -name 'libcupti.so.1[23]' -print 2>/dev/null |
        xargs --no-run-if-empty realpath | sort -u | head -n 4 >"$out/cupti-files.txt"
    while read -r file; do
        number=$((number + 1))
        RIDGEPOINT_CUPTI=$file recorded cupti-$number-driver -- python3 ends.py returns
        RIDGEPOINT_CUPTI=$file recorded cupti-$number-torch --timeline "$out/cupti-$number-torch.trace.json" -- \
            python3 ranges.py torch
    done <"$out/cupti-files.txt"
    recorded both --part profiler -- python3 several.py scalar-reads torch
}

# Nine rounds, or as many as begin in this time: rounds SECONDS FUNCTION
rounds() {
    local begin=$SECONDS round=0
    while [ "$round" -lt 9 ] && [ $((SECONDS - begin)) -lt "$1" ]; do
        round=$((round + 1))
        "$2" "$round"
    done
    echo "$2: $round rounds"
}

# The recordings of one round are enough.
kept() {
    [ "$2" -ne 1 ] || echo --keep "$out/recording-$1"
}

savings_round() {
    local pair program
    for pair in power/blocking/asynchronous normalize/host/device scalar/reads/keeps batches/pinned/streams; do
        IFS=/ read -r program before after <<<"$pair"
        said "round-$1-alone-$program-$before" python3 $program.py "$before"
        said "round-$1-alone-$program-$after" python3 $program.py "$after"
        # shellcheck disable=SC2046
        recorded "round-$1-recorded-$program-$before" --part profiler $(kept $program "$1") -- python3 $program.py "$before"
    done
}

cost_round() {
    local programs="scalar-reads batches-pinned train-small train-paced train-empty train-large"
    # shellcheck disable=SC2086
    said "round-$1-alone-torch" python3 several.py $programs
    # shellcheck disable=SC2046,SC2086
    recorded "round-$1-recorded-torch" --part profiler $(kept torch "$1") -- python3 several.py $programs
    # shellcheck disable=SC2086
    said "round-$1-torch-torch" python3 several.py $programs torch
}

# What Python loads is read from the disk once, before anything is timed.
python3 -c 'import torch, cupy' 2>/dev/null &
for part in $parts; do
    begin=$SECONDS
    case $part in
        ends | ranges | counters | cupti) $part ;;
        savings) rounds 190 savings_round ;;
        cost) rounds 200 cost_round ;;
        *) echo "no part is called $part" >&2 ;;
    esac
    echo "$part: $((SECONDS - begin)) s"
done
python3 summary.py "$out" | tee "$out/summary.txt"
rm -f "$out/programs.tgz"
tar -C "$out" -cz . >"$out.tgz" && mv "$out.tgz" "$out/programs.tgz"
ls -l "$out/programs.tgz"
