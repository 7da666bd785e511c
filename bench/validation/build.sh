#!/usr/bin/env bash
# Rebuilds the cubins of bench/validation (needs nvcc); kernels/COMPILER names the version.
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-nvcc}
for target in textbook:75 textbook:86 clocks:75 gemm:86 convolution:86; do
  name=${target%:*} sm=${target#*:}
  "$nvcc" -cubin -O3 -arch="sm_$sm" -o "$name.sm_$sm.cubin" "$name.cu"
done
