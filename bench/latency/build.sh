#!/usr/bin/env bash
# Rebuilds latency.sm_*.cubin with the assembler of CUDA 10.1, with which the figures were measured.
#   DRIVER=PACKAGE bench/latency/build.sh
# PACKAGE is Debian's libnvidia-tesla-418-ptxjitcompiler1 (non-free), or the library in it (tools/nvrtc/driver_ptxas.py).
set -eu
cd "$(dirname "$0")"
: "${DRIVER:?names the package libnvidia-tesla-418-ptxjitcompiler1_*.deb, see the head of bench/latency/build.sh}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for target in sm_70 sm_75; do
  python3 latency.py "$target" >"$scratch/$target.ptx"
  python3 ../../tools/nvrtc/driver_ptxas.py --library "$DRIVER" -arch=$target -o "latency.$target.cubin" "$scratch/$target.ptx"
done
