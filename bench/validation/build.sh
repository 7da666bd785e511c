#!/usr/bin/env bash
# Rebuilds the cubins of bench/validation (needs nvcc); kernels/COMPILER names the version.
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-nvcc}
for sm in 75 86; do
  "$nvcc" -cubin -O3 -arch="sm_$sm" -o "textbook.sm_$sm.cubin" textbook.cu
done
