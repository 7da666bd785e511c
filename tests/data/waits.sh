#!/usr/bin/env bash
# Compiles waits.cu (needs nvcc).
set -eu
cd "$(dirname "$0")"
nvcc -arch=sm_86 -cubin -o waits.sm_86.cubin waits.cu
