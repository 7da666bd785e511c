#!/usr/bin/env bash
# Makes the fat binaries of this folder from fat.cu and fat_part.cu with nvcc (CUDA 13.0).
set -eu
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# compile CODE... -- OPTION...: nvcc for several targets; CODE is 86:sm_86.
compile() {
  local -a targets=()
  while [ "$1" != -- ]; do
    targets+=(-gencode "arch=compute_${1%:*},code=${1#*:}")
    shift
  done
  shift
  nvcc "${targets[@]}" "$@"
}

# Zstandard: code for three GPUs and PTX; raw LZ4 blocks; PTX alone.
compile 80:sm_80 86:sm_86 90a:sm_90a 90:compute_90 -- -fatbin -compress-mode=size -o fat.fatbin fat.cu
nvcc -fatbin -compress-mode=speed -Xfatbin -compress-all -arch=sm_86 -o fat.lz4.fatbin fat.cu
compile 80:compute_80 -- -fatbin -o fat.ptx.fatbin fat.cu

# A host object with the fat binaries of two sources, one after another, and PTX.
for s in fat fat_part; do
  compile 86:sm_86 90:sm_90 90:compute_90 -- -c -compress-mode=size -o "$tmp/$s.o" $s.cu
done
ld -r -o fat.program "$tmp/fat.o" "$tmp/fat_part.o"
strip -g fat.program

# Code that is not linked: in a host object, and as cubins before and after the linker.
compile 86:sm_86 90:sm_90 -- -c -rdc=true -o fat_part.rdc.program fat_part.cu
strip -g fat_part.rdc.program
for sm in 86 90 120; do
  nvcc -cubin -rdc=true -arch=sm_$sm -o fat_part.object.sm_$sm.cubin fat_part.cu
  nvlink -arch=sm_$sm -o fat_part.linked.sm_$sm.cubin fat_part.object.sm_$sm.cubin
done

# One plain cubin for each generation that the kernels of the corpus leave out.
for sm in 75 89 100 120; do nvcc -cubin -arch=sm_$sm -o fat.sm_$sm.cubin fat.cu; done
