#!/usr/bin/env bash
# Text of the disassembler against NVIDIA's: tests/differential/nvdisasm.sh [FILE...]
#
# Compares every different instruction word of the cubins in the files (default: those of kernels/) as
# warpstep and as nvdisasm print it; only white space is made alike. A FILE that is a folder stands for its
# cubins, fat binaries and objects. NVDISASM names the program (nvdisasm); without it the test is skipped.
# BIN names ours (build/warpstep).
set -u
cd "$(dirname "$0")/../.." || exit 2
NVDISASM=${NVDISASM:-nvdisasm}
if ! command -v "$NVDISASM" >/dev/null; then
  echo "skipped: no nvdisasm (NVDISASM names it)"
  exit 0
fi
[ $# -gt 0 ] || set -- kernels
exec python3 tests/differential/compare.py --bin "${BIN:-build/warpstep}" --nvdisasm "$NVDISASM" "$@"
