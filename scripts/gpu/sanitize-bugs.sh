#!/usr/bin/env bash
# Asks the four tools of compute-sanitizer about each planted bug of the bundle, and about its
# correct twin, and about kernels that look as if they had a bug, and writes a table:
#
#   bundle/sanitize-bugs.sh results/bugs.md
#   bundle/sanitize-bugs.sh results/new.md order_dropped syncs_grid_in_plain_launch    # these bugs alone
#
# A verdict is what the tool reports first, `-` if it reports nothing, `hangs` if the kernel has not
# ended after 20 s. A twin is to be `-` for all four. Ends with 1 if a twin, or a kernel without a bug,
# is not.
set -uo pipefail
bundle=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$(dirname "$1")"
out=$1

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
        said=$(grep -m 1 -oE '(Error|Warning): .*|Invalid .*|Uninitialized .*|Barrier error .*|Program hit .*' <<<"$said")
        said=${said:-no summary, exit code $code}
        tr '|' '/' <<<"${said:0:90}"
    fi
}

# row KIND NAME: the table's line of a `bug` and its twin, or of a `correct` kernel, in a file of its own. Many run at once: most of a verdict's time is the
# host's.
row() {
    local kind=$1 bug=$2 line twin=clean tool of_twin
    line="| $bug"
    for tool in memcheck racecheck initcheck synccheck; do
        if [[ $kind == bug ]]; then
            line+=" | $(verdict "$tool" "$bug")"
            of_twin=$(verdict "$tool" "$bug" fixed)
        else
            line+=" | "
            of_twin=$(verdict "$tool" "$bug")
        fi
        if [[ $of_twin != - ]]; then
            twin="$tool: $of_twin"
        fi
    done
    echo "$line | $twin |" >"$rows/$bug"
}

rows=$(mktemp -d)
export bundle rows
export -f verdict row
correct=()
if (($# > 1)); then
    bugs=("${@:2}")
else
    mapfile -t bugs < <("$bundle/planted")
    mapfile -t correct < <("$bundle/planted" correct)
fi
printf '%s\n' "${bugs[@]}" | xargs -P 12 -I '{}' bash -c 'row bug {}'
printf '%s\n' "${correct[@]}" | xargs -r -P 12 -I '{}' bash -c '[[ -z "{}" ]] || row correct {}'
{
    echo "| bug | memcheck | racecheck | initcheck | synccheck | twin |"
    echo "|---|---|---|---|---|---|"
    for bug in "${bugs[@]}" "${correct[@]}"; do
        cat "$rows/$bug"
    done
} >"$out"
cat "$out"
(($(grep -c '| clean |$' "$out") == ${#bugs[@]} + ${#correct[@]} && ${#bugs[@]} > 0))
