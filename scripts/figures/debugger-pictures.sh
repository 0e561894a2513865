#!/usr/bin/env bash
# Draws the pictures of docs/debugging.md: Neovim with nvim-dap at a breakpoint and at a finding, as a terminal shows it.
#
#   scripts/figures/debugger-pictures.sh NVIM-DAP FOLDER PICTURES
#
# NVIM-DAP is a checkout of github.com/mfussenegger/nvim-dap (0.4.0 for Neovim 0.7). FOLDER has the program of
# docs/any-cuda-program.md, `saxpy`, with `saxpy.cu` and its `saxpy.ptx` by `nvcc -G`. The PNGs go to the folder PICTURES.
# Needs `ridgepoint`, `nvim`, `tmux` and `chromium` by PATH, and no GPU.
set -euo pipefail
export NVIM_DAP=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
pictures=$(mkdir -p "$3" && realpath "$3")
work=$(mktemp -d)
terminal=(tmux -S "$work/tmux" -f /dev/null)
trap '"${terminal[@]}" kill-server 2>/dev/null || true; rm -rf "$work"' EXIT
cp "$2"/saxpy "$2"/saxpy.cu "$2"/saxpy.ptx "$work"
cd "$work"
"${terminal[@]}" new-session -d -x 112 -y 28 "nvim -u NONE -c 'luafile $here/debugger-pictures.lua'"

# draw NUMBER NAME EXPRESSION..: at a stop of the program, what Neovim shows when the expressions were typed.
draw() {
    local number=$1 name=$2 expression
    timeout 60 bash -c "until [ -e stop-$number ]; do sleep 0.1; done"
    for expression in "${@:3}"; do
        "${terminal[@]}" send-keys -l "$expression"
        "${terminal[@]}" send-keys Enter
        sleep 0.5
    done
    "${terminal[@]}" capture-pane -e -p >screen.txt
    "$here/terminal-picture.py" screen.txt screen.svg
    read -r width height < <(sed -n '1s/.*width="\([0-9]*\)" height="\([0-9]*\)".*/\1 \2/p' screen.svg)
    echo "<body style='margin:0'><img src='screen.svg' style='display:block'></body>" >screen.html
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --allow-file-access-from-files \
        --window-size="$width,$height" --screenshot="$pictures/$name.png" "file://$work/screen.html" 2>/dev/null
    touch "seen-$number"
}

draw 1 debugger-breakpoint 'i' 'y[i]' 'lanes i'
draw 2 debugger-finding 'n' 'lanes i' 'x[i - 1]' 'x[i]'
