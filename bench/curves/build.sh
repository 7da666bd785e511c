#!/usr/bin/env bash
# Rebuilds the prebuilt cubins of the memory curves; needs nvcc (or NVCC).
set -eu
cd "$(dirname "$0")"
nvrtc=(python3 ../../tools/nvrtc/nvrtc_cubin.py --install --packages "${NVRTC_PACKAGES:-$PWD/../../build/nvrtc-11.8}") # sm_70
for target in sm_70 sm_80 sm_86 sm_89 sm_90 sm_100 sm_103 sm_120; do
  compile=("${NVCC:-nvcc}" -cubin -O3)
  [ $target = sm_70 ] && compile=("${nvrtc[@]}") # nvcc 13 does not know it
  "${compile[@]}" -arch=$target -o "curves.$target.cubin" curves.cu
done
"${nvrtc[@]}" -arch=sm_70 -o fp64.sm_70.cubin fp64.cu
