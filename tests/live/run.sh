#!/usr/bin/env bash
# Live registers against NVIDIA's disassembler: tests/live/run.sh [CUBIN...]
#
# Every instruction of the cubins (default: those of kernels/ for sm_86), as `warpstep disasm --live` and as
# nvdisasm --print-life-ranges count them: 98 % must agree in code without calls. NVDISASM names the program (nvdisasm);
# without it the test is skipped. BIN names ours (build/warpstep).
set -u
cd "$(dirname "$0")/../.." || exit 2
NVDISASM=${NVDISASM:-nvdisasm}
if ! command -v "$NVDISASM" >/dev/null; then
  echo "ok live registers as nvdisasm has them # SKIP no nvdisasm (NVDISASM names it)"
  exit 0
fi
[ $# -gt 0 ] || set -- kernels/*/*.sm_86.cubin
if python3 tests/live/compare.py "${BIN:-build/warpstep}" "$NVDISASM" "$@" --least 98; then
  echo "ok live registers as nvdisasm has them"
else
  echo "not ok live registers as nvdisasm has them"
  exit 1
fi
