#!/usr/bin/env bash
# Draws the pictures of docs/results/words-and-pictures: what two binaries draw of the same commands, side by side.
#
#   scripts/figures/words-and-pictures.sh OLD-RIDGEPOINT NEW-RIDGEPOINT FOLDER
#
# Needs Chromium, and no GPU. Each PNG of FOLDER has the old binary's picture on the left.
set -euo pipefail
old=$(realpath "$1") new=$(realpath "$2")
folder=$(mkdir -p "$3" && realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# draw BINARY: in the folder at hand, every file that is shown.
draw() {
    local kernels=(--kernel all --vector 1,4)
    sweep() { "$1" roofline --device cpu --runs 3 --quiet "${@:2}" >/dev/null 2>&1; }
    sweep "$1" "${kernels[@]}" --plot first.svg --output first.csv
    sweep "$1" --n 4096 --k 1,2,5 --plot slope.svg --output slope.csv --report slope.html
    sweep "$1" --n 1024 --kernel all --vector 1,2,4 --grid full,8x --block 128,256 --k 1,10,100 \
        --plot series.svg --output series.csv --report series.html
    sweep "$1" --n 1024 "${kernels[@]}" --dtype f32,f64 --k 1,10,100,1000 --plot types.svg --output types.csv \
        --report types.html
    "$1" ceilings --device cpu --n 65536 --runs 3 --output ceilings.json >/dev/null 2>&1
    sweep "$1" --n 4096 "${kernels[@]}" --k 1,10,100 --ceilings ceilings.json --output marked.csv
    "$1" chart marked.csv --ceilings ceilings.json --mark k=1 --output marks.svg >/dev/null
    "$1" chart marked.csv --ceilings ceilings.json --output title.svg >/dev/null --title \
        "Polynomials of degrees 1 to 100 by Horner's rule and as power sums, in vectors of one and of four elements, f32"
    "$1" chart series.csv --ceilings ceilings.json --output measured.svg >/dev/null
    sweep "$1" --n 1024 --k 5,10,20 --plot decade.svg --output decade.csv
    "$1" occupancy --device cpu --n 4096 --kernel copy,fma --block 64,128,256 --runs 3 --plot occupancy.svg \
        --report occupancy.html --output occupancy.csv >/dev/null 2>&1
}

# show NAME HEIGHT WIDTH FILE [ELEMENT]: what each binary wrote to FILE, in frames of WIDTH x HEIGHT pixels, which are
# drawn 640 pixels wide if they are wider. A page is scrolled to its first ELEMENT.
show() {
    local page=$work/$1.html scale=1 seen='' side
    [ "$3" -le 640 ] || scale=$(python3 -c "print(640 / $3)")
    [ -z "${5:-}" ] || seen="onload=\"this.contentDocument.querySelector('$5').scrollIntoView()\""
    {
        echo "<body style='margin:0;display:flex;gap:8px;background:#888'>"
        for side in old new; do
            case $4 in
            *.svg) echo "<img src='$side/$4' style='width:$3px;height:$2px;object-fit:contain;object-position:top;background:#fff'>" ;;
            *) echo "<iframe src='$side/$4' $seen style='width:$3px;height:$2px;border:0;background:#fff'></iframe>" ;;
            esac
        done
    } >"$page"
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --allow-file-access-from-files \
        --virtual-time-budget=3000 --force-device-scale-factor="$scale" --window-size=$((2 * $3 + 8)),"$2" \
        --screenshot="$folder/$1.png" "file://$page" 2>/dev/null
}

for side in old new; do
    mkdir "$work/$side"
    (cd "$work/$side" && XDG_CACHE_HOME=$PWD/cache draw "${!side}")
done
show p0-first-command 440 640 first.svg
show p1-slope 440 640 slope.svg
show p2-legend 560 640 measured.svg
show p3-marks 480 640 marks.svg
show p4-labels 480 640 types.svg
show p5-title 480 640 title.svg
show p6-ticks 440 640 decade.svg
show p7-narrow 900 400 types.html
show p8-roofs 760 1000 slope.html
show p9-labels 760 1000 types.html
show p11-legend 900 1000 series.html
show p12-table 420 1000 types.html table
show p14-occupancy 900 1000 occupancy.html
show p14-occupancy-chart 440 640 occupancy.svg
ls "$folder"
