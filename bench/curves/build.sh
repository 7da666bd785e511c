#!/usr/bin/env bash
# Rebuilds the prebuilt cubins of the memory curves; needs nvcc (or NVCC).
set -eu
cd "$(dirname "$0")"
for target in sm_80 sm_86 sm_90; do
  "${NVCC:-nvcc}" -cubin -arch=$target -O3 -o "curves.$target.cubin" curves.cu
done
