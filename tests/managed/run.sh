#!/usr/bin/env bash
# Managed memory in time: faults, batches and bytes of programs against a model of the rules (check.py).
#
#   tests/managed/run.sh      BIN: the program (build/warpstep), NVCC: the compiler
set -u
cd "$(dirname "$0")/../.." || exit 2
NVCC=${NVCC:-nvcc}
if ! command -v "$NVCC" >/dev/null; then
  echo "ok managed memory # SKIP no nvcc (NVCC names it)"
  exit 0
fi
if [ ! -r /proc/self/pagemap ]; then
  echo "ok managed memory # SKIP the system does not say which pages a process has touched"
  exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if ! "$NVCC" -arch=sm_86 -cudart shared -o "$scratch/walk" tests/managed/walk.cu >"$scratch/log" 2>&1 ||
  ! "$NVCC" -arch=sm_86 -cudart shared -o "$scratch/order" tests/managed/order.cu >"$scratch/log" 2>&1 ||
  ! "$NVCC" -arch=sm_86 -cudart shared -o "$scratch/triad" examples/triad_managed.cu >"$scratch/log" 2>&1; then
  echo "not ok managed memory: $(grep -m 1 error "$scratch/log")"
  exit 1
fi
if "${BIN:-build/warpstep}" exec --quiet --set gpu.sms=16 "$scratch/order" >"$scratch/log" 2>&1; then
  echo "ok managed memory: a thread's accesses keep their order while a page comes"
else
  echo "not ok managed memory: a thread's accesses keep their order while a page comes: $(tail -n 1 "$scratch/log")"
  exit 1
fi
python3 tests/managed/check.py "${BIN:-build/warpstep}" "$scratch/walk" "$scratch" "$scratch/triad"
