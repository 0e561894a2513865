#!/usr/bin/env bash
# Debugs the program of docs/any-cuda-program.md in Neovim by nvim-dap, without a person, and compares what Neovim saw:
#
#   scripts/clients/nvim-dap.sh NVIM-DAP FOLDER
#
# NVIM-DAP is a checkout of github.com/mfussenegger/nvim-dap (0.4.0 for Neovim 0.7). FOLDER has the program `saxpy`, its
# `saxpy.ptx` and `saxpy.cu`. `ridgepoint` and `nvim` are found by PATH. The exit status is 0 where Neovim saw what it should.
set -euo pipefail
export NVIM_DAP=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
cd "$2"
timeout 60 nvim --headless -u NONE -c "luafile $here/nvim-dap.lua" >/dev/null 2>&1
diff - session.log <<'SEEN'
breakpoint: true 3
breakpoint: block [3, 0, 0], thread [17, 0, 0], saxpy:3, element 785
parameters: 1280, 2.0
thread: 17 of block 3, %r1 = 785
step: block [3, 0, 0], thread [17, 0, 0], saxpy:2, element 785
step: block [3, 0, 0], thread [17, 0, 0], saxpy:3, element 785
watchpoint: true arg3.f32[785]
data breakpoint: block [3, 0, 0], thread [17, 0, 0], saxpy:3, element 785
step: block [3, 0, 0], thread [17, 0, 0], saxpy:4, element 785
exception: block [4, 0, 0], thread [0, 0, 0], saxpy:3, element 1024
data breakpoint: block [3, 0, 0], thread [17, 0, 0], saxpy:3, element 785
step: block [0, 0, 0], thread [17, 0, 0], saxpy:1, element 17
exception: block [4, 0, 0], thread [0, 0, 0], saxpy:3, element 1024
SEEN
echo "Neovim went to thread 17 of block 3, over a line and back, to a write of its element, to the finding, back to the last write"
echo "of the element and to the beginning, and to the finding again"
