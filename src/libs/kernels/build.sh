#!/usr/bin/env bash
# Compiles the kernels of the open libraries (docs/libraries.md) to src/libs/kernels/NAME.fatbin, machine code for each of
# ARCHS. The results are committed, so that building warpstep needs no nvcc; sources.sum holds the checksums of what they
# were made from, and tests/libs/run.sh compares them.
#
#   src/libs/kernels/build.sh [NAME ...]       NVCC: the compiler, ARCHS: 75 80 90 100 110 120 (75 only of what runs there)
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)}
archs=${ARCHS:-75 80 90 100 110 120}
[ $# -gt 0 ] || set -- *.cu
for name; do
  name=${name%.cu}
  codes=()
  for arch in $archs; do
    # What has no kernel here has another one that the host takes.
    case $arch:$name in
    90:gemm_wgmma) arch=90a ;;
    120:gemm_blocks) arch=120f ;;
    75:gemm_blocks | 80:gemm_blocks | 75:gemm_bf16 | 75:gemm_tf32 | 75:gemm_f8 | *:gemm_wgmma) continue ;;
    esac
    codes+=(-gencode "arch=compute_$arch,code=sm_$arch")
  done
  echo "  NVCC  $name"
  "$nvcc" -std=c++17 -I../.. -O3 -Wno-deprecated-gpu-targets --threads "${THREADS:-1}" -fatbin -compress-mode=size \
    "${codes[@]}" -o "$name.fatbin" "$name.cu"
done
sha256sum -- *.cu *.cuh *.h >sources.sum
