#!/usr/bin/env bash
# Rebuilds the machine code of the pairs: build.sh [NAME...], all by default; needs nvcc (or NVCC). kernels/COMPILER names the version.
set -eu
cd "$(dirname "$0")"
if [ $# -eq 0 ]; then
    set -- *.cu
fi
for source; do
    name=${source%.cu}
    "${NVCC:-nvcc}" -cubin -arch=sm_86 -O3 -o "$name.sm_86.cubin" "$name.cu"
done
