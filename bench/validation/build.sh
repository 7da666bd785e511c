#!/usr/bin/env bash
# Rebuilds the machine code of bench/validation (needs nvcc; kernels/COMPILER names the version), compressed: unrolled variants
# are much alike.
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-nvcc}
for target in textbook:75 textbook:86 clocks:75 gemm:86 gemm_tiles:86 convolution:86 convolution:80 sums:89; do
  name=${target%:*} sm=${target#*:}
  "$nvcc" -fatbin -O3 -gencode "arch=compute_$sm,code=sm_$sm" --compress-mode=size -o "$name.sm_$sm.fatbin" "$name.cu"
done
# sm_70, which nvcc 13 does not know
python3 ../../tools/nvrtc/nvrtc_cubin.py --install --packages "${NVRTC_PACKAGES:-$PWD/../../build/nvrtc-11.8}" \
  -arch=sm_70 -o clocks.sm_70.cubin clocks.cu
