#!/usr/bin/env bash
# Rebuilds latency.sm_70.cubin with ptxas of CUDA 11.8, which tools/nvrtc/nvrtc_cubin.py fetches from PyPI.
set -eu
cd "$(dirname "$0")"
packages=${NVRTC_PACKAGES:-$PWD/../../build/nvrtc-11.8}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 ../../tools/nvrtc/nvrtc_cubin.py --install --packages "$packages" -arch=sm_70 -o "$scratch/none.cubin" /dev/null
python3 latency.py >"$scratch/latency.ptx"
chmod +x "$packages/nvidia/cuda_nvcc/bin/ptxas"
"$packages/nvidia/cuda_nvcc/bin/ptxas" -arch=sm_70 -O3 -o latency.sm_70.cubin "$scratch/latency.ptx"
