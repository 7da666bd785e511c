#!/bin/sh
# Objects of separate compilation and what nvlink (CUDA 13.0) makes of them: tests/data/rdc.sh.
set -eu
cd "$(dirname "$0")"
for sm in 86 90 120; do
  for part in main part; do
    nvcc -cubin -rdc=true -arch=sm_$sm -O3 -o rdc_$part.sm_$sm.cubin rdc_$part.cu
  done
  nvlink -arch=sm_$sm -o rdc.sm_$sm.cubin rdc_main.sm_$sm.cubin rdc_part.sm_$sm.cubin
done
# Host objects of nvcc -dc hold the same in fat binaries.
nvcc -dc -arch=sm_86 -O3 -Xcompiler -g0 -o rdc_main.program rdc_main.cu
nvcc -dc -arch=sm_86 -O3 -Xcompiler -g0 -o rdc_part.program rdc_part.cu
strip -g rdc_main.program rdc_part.program
# Input of tests/fuzz/fuzz_link.c: bytes of the first object, both objects.
size=$(wc -c <rdc_main.sm_86.cubin)
{
  printf '%b' "\\0$(printf %o $((size & 255)))\\0$(printf %o $((size >> 8 & 255)))\\0000\\0000"
  cat rdc_main.sm_86.cubin rdc_part.sm_86.cubin
} >../fuzz/corpus/link/rdc_86
