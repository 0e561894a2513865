#!/usr/bin/env bash
# Runs the GPU tests and the examples of the bundle under the four tools of compute-sanitizer:
#
#   bundle/sanitize.sh results/sanitizer.txt
#
# Ends with 1 where a tool finds anything. Sizes are small: each tool slows kernels down a lot.
set -uo pipefail
bundle=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$(dirname "$1")"
out=$1
export RIDGEPOINT_REQUIRE_GPU=1
failed=0

# run TOOL NAME COMMAND...
run() {
    local tool=$1 name=$2 said
    shift 2
    if said=$(compute-sanitizer --tool "$tool" --error-exitcode 9 "$@" 2>&1) &&
        ! grep -q ' 0 passed' <<<"$said"; then
        echo "$tool $name: clean, $(grep -c '' <<<"$said") lines"
    else
        echo "$tool $name: FAILED"
        grep '=========' <<<"$said" | head -40
        failed=1
    fi
}

{
    compute-sanitizer --version | tail -n 1
    for tool in memcheck racecheck initcheck synccheck; do
        for example in "$bundle"/examples/*; do
            name=$(basename "$example")
            case $name in
            matmul | path_tracer) n=200 ;;
            *) n=10001 ;;
            esac
            run "$tool" "$name" "$example" --device cuda --n $n
        done
        # A case that fails on purpose is no finding of the tool.
        run "$tool" conformance "$bundle/test-api" --test-threads 1 --skip fail --skip panic cuda::
    done
} >"$out" 2>&1 || failed=1
cat "$out"
exit $failed
