#!/usr/bin/env bash
# Compiles the kernels of the open libraries (docs/libraries.md) to src/libs/kernels/NAME.fatbin, machine code for each of
# ARCHS. The results are committed, so that building warpstep needs no nvcc; sources.sum holds the checksums of what they
# were made from, and tests/libs/run.sh compares them.
#
#   src/libs/kernels/build.sh [NAME ...]       NVCC: the compiler, ARCHS: 75 80 90 100 110 120
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)}
archs=${ARCHS:-75 80 90 100 110 120}
[ $# -gt 0 ] || set -- *.cu
codes=()
for arch in $archs; do codes+=(-gencode "arch=compute_$arch,code=sm_$arch"); done
for name; do
  name=${name%.cu}
  echo "  NVCC  $name"
  "$nvcc" -std=c++17 -I../.. -O3 -Wno-deprecated-gpu-targets --threads "${THREADS:-1}" -fatbin -compress-mode=size \
    "${codes[@]}" -o "$name.fatbin" "$name.cu"
done
sha256sum -- *.cu *.cuh *.h >sources.sum
