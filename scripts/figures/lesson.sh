#!/usr/bin/env bash
# Draws the five charts of docs/reading-a-roofline.md from the rows and ceilings of one run:
#
#   scripts/figures/lesson.sh docs/results/h200-roofline/roofline.csv docs/results/h200-ceilings/ceilings.json docs/lesson
#
# RIDGEPOINT_BIN names the command, if it is not `ridgepoint`.
set -euo pipefail
rows=$1 ceilings=$2 folder=$3
mkdir -p "$folder"

# chart NAME TITLE ROWS MARKED
chart() {
    "${RIDGEPOINT_BIN:-ridgepoint}" chart "$rows" --ceilings "$ceilings" --title "$2" \
        --only "dtype=f32,ilp=1,$3" --mark "$4" --output "$folder/$1.svg"
}

chart 1-latency "Far left, and far below the memory roof" \
    kernel=power-sum,vector=1,blocks_per_sm= k=1
chart 2-bandwidth "Far left, at the memory roof" \
    kernel=power-sum,vector=1,vector=4,blocks_per_sm= vector=4,k=1
chart 3-ridge "At the ridge" \
    kernel=horner,vector=4 k=50
chart 4-add-mul "Far right, under a roof that is not the top one" \
    kernel=power-sum,vector=1,blocks_per_sm= k=2000
chart 5-fma "Far right, under the top roof" \
    kernel=power-sum,kernel=horner,vector=4,blocks_per_sm=8 kernel=horner,k=2000
