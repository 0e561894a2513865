#!/bin/sh
# Triton's assembler, for the emulator: the PTX itself is what is loaded. It ends with NUL, because a driver is not told
# how long an image is.
input= output=
while [ $# -gt 0 ]; do
    case "$1" in
        --version) echo "Cuda compilation tools, release 12.8, V12.8.93"; exit 0 ;;
        -o) output=$2; shift ;;
        *.ptx) input=$1 ;;
    esac
    shift
done
[ -n "$input" ] && [ -n "$output" ] || { echo "ptxas of ridgepoint emulate: no input or no output" >&2; exit 1; }
{ cat "$input" && printf '\000'; } > "$output"
