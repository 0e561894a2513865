#!/usr/bin/env bash
# Measures the workloads of the examples on a GPU, ours and nvcc's by the same code, and the products of crates/gemm and
# examples/ladder, which take an H100 or H200, from the bundle that scripts/gpu-bundle.sh made:
#
#   bundle/workloads-run.sh results ceilings.json
#
# Ends with 1 if a command fails or finds something.
set -uo pipefail
bundle=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
ceilings=$(realpath "$2")
export NVCC_PTX=$bundle
workloads=$bundle/bench-workloads
failed=0

"$workloads" list >"$out/list.txt" || failed=1
# Two pairs in one chart, with the block that is the fastest for ours and for nvcc's.
"$workloads" roofline --device cuda --workload saxpy,nvcc-saxpy,horner,nvcc-horner --runs 30 \
    --ceilings "$ceilings" --output "$out/roofline.csv,$out/roofline.json" \
    --plot "$out/roofline.svg" --report "$out/roofline.html" >"$out/roofline.txt" || failed=1
"$workloads" roofline --device cuda --workload stencil --tile 8,16,32 --n 2048,4096,8192 \
    --ceilings "$ceilings" --output "$out/stencil.csv" --plot "$out/stencil.svg" --quiet || failed=1
"$workloads" occupancy --device cuda --workload saxpy,horner,stencil,nvcc-saxpy --k 100 --dtype f32 \
    --ceilings "$ceilings" --output "$out/occupancy.csv" --plot "$out/occupancy.svg" \
    >"$out/occupancy.txt" || failed=1
# Kernels without `unsafe` beside nvcc's: time and registers.
twins=softmax,nvcc-softmax,layer-norm,nvcc-layer-norm,product,nvcc-product
twins+=,diffusion,nvcc-diffusion,spmv,nvcc-spmv,segmented-scan,nvcc-segmented-scan
"$workloads" roofline --device cuda --runs 30 --ceilings "$ceilings" \
    --workload "$twins" \
    --output "$out/twins.csv" --plot "$out/twins.svg" >"$out/twins.txt" || failed=1
"$workloads" occupancy --device cuda --ceilings "$ceilings" --workload "$twins" --shared 0 \
    --output "$out/twins-occupancy.csv" >"$out/twins-occupancy.txt" || failed=1
# Kernels as they are written at first, beside nvcc's.
plain=
for kernel in stencil prices conv5 conv-rows power-mod particles swish-f16 axpy-bf16; do
    plain+=,plain-$kernel,nvcc-plain-$kernel
done
"$workloads" roofline --device cuda --runs 30 --ceilings "$ceilings" --workload "${plain#,}" \
    --output "$out/plain.csv" >"$out/plain.txt" || failed=1
# An H100 or H200 alone has its instructions.
"$bundle/bench-gemm" roofline --device cuda --runs 30 --ceilings "$ceilings" \
    --output "$out/gemm.csv,$out/gemm.json" --plot "$out/gemm.svg" >"$out/gemm.txt" || failed=1
"$bundle/bench-ladder" roofline --device cuda --ceilings "$ceilings" --output "$out/ladder.csv" --plot "$out/ladder.svg" \
    --quiet || failed=1
# Twice: the second shows what changed since the first.
for _ in first second; do
    "$workloads" --bench >"$out/measure.txt" || failed=1
done
"$workloads" compare >"$out/compare.txt" || failed=1
cat "$out/measure.txt" "$out/compare.txt"
exit $failed
