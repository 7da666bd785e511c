#!/usr/bin/env bash
# Text of the disassembler against NVIDIA's: tests/differential/nvdisasm.sh [FILE...]
#
# Compares every different instruction word of the cubins (default: those of kernels/) as warpstep and
# as the nvdisasm in PATH print it; only white space is made alike. Without nvdisasm it is skipped.
# BIN names the program (build/warpstep).
set -u
cd "$(dirname "$0")/../.." || exit 2
if ! command -v nvdisasm >/dev/null; then
  echo "skipped: no nvdisasm in PATH"
  exit 0
fi
[ $# -gt 0 ] || set -- kernels/*/*.cubin
exec python3 tests/differential/compare.py --bin "${BIN:-build/warpstep}" "$@"
