#!/usr/bin/env bash
# Prints what a measurement is made with: the bundle's commit, the date and the GPUs.
set -euo pipefail
commit=$(cat "$(dirname "$0")/commit")
echo "commit $commit"
date -u +'date %FT%TZ'
nvidia-smi --query-gpu=index,name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.limit,memory.total,pci.bus_id --format=csv
