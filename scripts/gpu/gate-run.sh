#!/usr/bin/env bash
# Shows how often `compare` is right on one GPU, in about 5 minutes:
#
#   bundle/gate-run.sh results [RUNS] [DEVICE]
#
# Unchanged: RUNS runs, 20 by default, of the package that `ridgepoint new` makes and of ten workloads, each compared with the
# first and with the one before by files, and both by `compare --against`. Changed: that package with a kernel that takes
# about 5 % longer (slower.sh), by files of one run, of 3 runs merged and by `--against`. Prints a table, and
# leaves it as gate.md with the rows and what each comparison said. Ends with 1 if more than one unchanged row was accused, or
# the slower kernel was not found.
set -uo pipefail
bundle=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
runs=${2:-20}
device=${3:-cuda}
cd "$bundle" || exit 1
"$bundle/machine.sh" >"$out/machine.txt" 2>&1

WORKLOADS=(roofline --device "$device" --runs 20
    --kernel copy,triad,read,write,horner,power-sum,nrm2,gemv,elementwise,scale)
DEMO=(roofline --device "$device" --runs 20 --each 1)
SLOWER=(roofline --device "$device" --runs 20 --each 2)
if [[ $device == cuda* ]]; then
    # Arrays of more than twice an L2 cache.
    WORKLOADS+=(--n 2^25)
    DEMO+=(--n 2^26)
    SLOWER+=(--n 2^26)
fi

measure() {
    "./$1" "${@:3}" --quiet --output "$out/$2.json" >>"$out/errors.txt" 2>&1 || {
        echo "$1 failed:"
        tail -3 "$out/errors.txt"
        exit 2
    }
}

# said LOG COMMAND...: adds what a comparison says to a log. Status 1 is a finding, and no failure.
said() {
    local log=$1
    shift
    echo "== $*" >>"$log"
    "$@" >>"$log" 2>&1
    (($? <= 1)) || {
        tail -3 "$log"
        exit 2
    }
}

# by_files NAME: each run's rows with the first's, and with those of the one before.
by_files() {
    for ((run = 2; run <= runs; run++)); do
        said "$out/$1-first.txt" ./ridgepoint compare "$out/$1-1.json" "$out/$1-$run.json"
        said "$out/$1-neighbours.txt" ./ridgepoint compare "$out/$1-$((run - 1)).json" "$out/$1-$run.json"
    done
}

# row WORDS LOG: a line of the table, of the sums in a log.
row() {
    awk -v words="$1" '
        /^[0-9]+ rows?: / {
            for (at = 1; at < NF; at++) {
                if ($(at + 1) == "as") fast += $at
                if ($(at + 1) ~ /^faster/) faster += $at
                if ($(at + 1) ~ /^slower/) slower += $at
                if ($(at + 1) ~ /^unknown/) unknown += $at
            }
        }
        END {
            printf "| %s | %d | %d | %d | %d | %d |\n", words, fast + faster + slower + unknown, fast, unknown, faster, slower
        }' "$2"
}

# sum COLUMN: of the lines so far that begin with "unchanged".
accused() {
    awk -F'|' '/^\| unchanged/ { sum += $6 + $7 } END { print sum + 0 }' "$out/gate.md"
}

rm -f "$out"/*.txt.old "$out"/{demo,workloads,slow}-*.txt
seconds() { echo "$1: $SECONDS s" | tee -a "$out/seconds.txt"; }
for ((run = 1; run <= runs; run++)); do
    measure bench-demo "demo-$run" "${DEMO[@]}"
    measure ridgepoint "workloads-$run" "${WORKLOADS[@]}"
done
seconds "runs"
by_files demo
by_files workloads
said "$out/demo-against.txt" ./bench-demo compare --against ./bench-demo --turns 5 -- "${DEMO[@]}"
said "$out/workloads-against.txt" ./ridgepoint compare --against ./ridgepoint --turns 3 -- "${WORKLOADS[@]}"
seconds "against themselves"
for run in 1 2 3; do
    measure bench-demo "fast-$run" "${SLOWER[@]}"
    measure bench-demo-slow "slow-$run" "${SLOWER[@]}"
done
for name in fast slow; do
    ./ridgepoint merge "$out/$name"-{1,2,3}.json --output "$out/$name-merged.json" --quiet || exit 2
done
said "$out/slow-one.txt" ./ridgepoint compare "$out/fast-1.json" "$out/slow-1.json"
said "$out/slow-merged.txt" ./ridgepoint compare "$out"/{fast,slow}-merged.json
said "$out/slow-against.txt" ./bench-demo-slow compare --against ./bench-demo --turns 5 -- "${SLOWER[@]}"
seconds "all"

{
    echo "| what is compared | judgements | as fast | unknown | faster | slower |"
    echo "|---|---|---|---|---|---|"
    row "unchanged, \`new demo\`, each with the first" "$out/demo-first.txt"
    row "unchanged, \`new demo\`, each with the one before" "$out/demo-neighbours.txt"
    row "unchanged, ten workloads, each with the first" "$out/workloads-first.txt"
    row "unchanged, ten workloads, each with the one before" "$out/workloads-neighbours.txt"
    row "unchanged, \`new demo --against\` itself, 5 turns" "$out/demo-against.txt"
    row "unchanged, ten workloads \`--against\` themselves, 3 turns" "$out/workloads-against.txt"
    row "slowed, one run of each" "$out/slow-one.txt"
    row "slowed, 3 runs of each merged" "$out/slow-merged.txt"
    row "slowed, \`--against\`, 5 turns" "$out/slow-against.txt"
} | tee "$out/gate.md"
failed=0
if (($(accused) > 1)); then
    echo "$(accused) unchanged rows were accused"
    failed=1
fi
for log in slow-merged slow-against; do
    grep -q '^1 row: .* 1 slower' "$out/$log.txt" || {
        echo "$log: the slower kernel was not found"
        failed=1
    }
done
exit $failed
