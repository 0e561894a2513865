#!/usr/bin/env bash
# Asks the four tools of compute-sanitizer about each planted bug of the bundle, and about its
# correct twin, and writes a table:
#
#   bundle/sanitize-bugs.sh results/bugs.md
#
# A verdict is what the tool reports first, `-` if it reports nothing, `hangs` if the kernel has not
# ended after 20 s. A twin is to be `-` for all four. Ends with 1 if a twin is not.
set -uo pipefail
bundle=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$(dirname "$1")"
out=$1
failed=0

# verdict TOOL ARGUMENTS...: what the tool says first of this launch.
verdict() {
    local tool=$1 said code
    shift
    said=$(timeout --kill-after=2 20 compute-sanitizer --tool "$tool" "$bundle/planted" "$@" 2>&1)
    code=$?
    if ((code == 124 || code == 137)); then
        echo hangs
        return
    fi
    # The last line counts the findings; one before it has the first.
    if grep -q 'SUMMARY: 0 \|SUMMARY: 0 hazards' <<<"$said"; then
        echo -
    else
        grep -m 1 -oE '(Error|Warning): .*|Invalid .*|Uninitialized .*|Barrier error .*|Program hit .*' \
            <<<"$said" | cut -c 1-90 | tr '|' '/' || echo "no summary, exit code $code"
    fi
}

{
    echo "| bug | memcheck | racecheck | initcheck | synccheck | twin |"
    echo "|---|---|---|---|---|---|"
} >"$out"
for bug in $("$bundle/planted"); do
    row="| $bug"
    twin=clean
    for tool in memcheck racecheck initcheck synccheck; do
        row+=" | $(verdict "$tool" "$bug")"
        of_twin=$(verdict "$tool" "$bug" fixed)
        if [[ $of_twin != - ]]; then
            twin="$tool: $of_twin"
            failed=1
        fi
    done
    echo "$row | $twin |" >>"$out"
done
cat "$out"
exit $failed
