#!/usr/bin/env bash
# Rebuilds the machine code of bench/validation (needs nvcc; kernels/COMPILER names the version), compressed: unrolled variants
# are much alike.
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-nvcc}
for target in textbook:75 textbook:86 clocks:75 gemm:86 gemm_tiles:86 convolution:86 convolution:80; do
  name=${target%:*} sm=${target#*:}
  "$nvcc" -fatbin -O3 -gencode "arch=compute_$sm,code=sm_$sm" --compress-mode=size -o "$name.sm_$sm.fatbin" "$name.cu"
done
