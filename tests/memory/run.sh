#!/usr/bin/env bash
# Random kernels about memory, which check themselves against the CPU (tools/memory/generate.py): four of them on two targets, without and with
# time. Without nvcc it is skipped.
#
#   tests/memory/run.sh      BIN: the program (build/warpstep), NVCC: the compiler
set -u
cd "$(dirname "$0")/../.." || exit 2

bin=${BIN:-build/warpstep}
export NVCC=${NVCC:-$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)}
if [ ! -x "$NVCC" ] || [ ! -f "$(dirname "$bin")/cuda/libwarpstep-cuda.so" ]; then
  echo "ok random memory # SKIP no nvcc or no shim libraries"
  exit 0
fi
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
if tools/memory/generate.py --seed 3 --count 4 --arch 75,90 --runner "$bin exec --gpu {gpu} --functional --quiet" \
  --runner "$bin exec --gpu {gpu} --quiet" "$out" >"$out/log" 2>&1; then
  echo "ok random memory"
else
  echo "not ok random memory"
  cat "$out/log"
  exit 1
fi
