#!/usr/bin/env bash
# Random kernels about memory, which check themselves against the CPU (tools/memory/generate.py): four of them on two targets, two as code of -G,
# without and with time. Without nvcc it is skipped.
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
failed=0

# some NAME OPTION...: kernels by chance
some() {
  local name=$1
  shift
  if tools/memory/generate.py "$@" --runner "$bin exec --gpu {gpu} --functional --quiet" --runner "$bin exec --gpu {gpu} --quiet" \
    "$out" >"$out/log" 2>&1; then
    echo "ok random memory, $name"
  else
    echo "not ok random memory, $name"
    cat "$out/log"
    failed=1
  fi
}

some optimised --seed 3 --count 4 --arch 75,90
some "code of -G" --seed 12 --count 2 --arch 90 --opt=-G
exit $failed
