#!/usr/bin/env bash
# Every field of every instruction against NVIDIA's disassembler: tests/differential/modifiers.sh [FILE...]
#
# modifiers.py says how: words of the cubins in the files (default: those of kernels/) are varied field by field, and what
# nvdisasm accepts has to decode and print alike. The classes that remain, with reasons: docs/coverage.md. Not part of
# `make test`. NVDISASM names the program (nvdisasm); without it the test is skipped. BIN names ours
# (build/warpstep); SEEDS and WINDOW set the words of each opcode and the bits varied together.
set -u
cd "$(dirname "$0")/../.." || exit 2
NVDISASM=${NVDISASM:-nvdisasm}
if ! command -v "$NVDISASM" >/dev/null; then
  echo "skipped: no nvdisasm (NVDISASM names it)"
  exit 0
fi
[ $# -gt 0 ] || set -- kernels
exec python3 tests/differential/modifiers.py --bin "${BIN:-build/warpstep}" --nvdisasm "$NVDISASM" \
  --seeds "${SEEDS:-2}" --window "${WINDOW:-1}" "$@"
