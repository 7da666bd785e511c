#!/usr/bin/env bash
# Managed memory in time: faults, batches and bytes of programs against a model of the rules (check.py).
#
# On several GPUs scripts of known order (check_gpus.py), and kernels that run at once (together.cu); pages that go to and
# fro (check_thrash.py); atomics of system scope on pages at the host (check_rights.py).
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
several=()
for sm in 80 86 89; do several+=(-gencode "arch=compute_$sm,code=sm_$sm"); done
if ! "$NVCC" -arch=sm_86 -std=c++14 -cudart shared -o "$scratch/walk" tests/managed/walk.cu >"$scratch/log" 2>&1 ||
  ! "$NVCC" -arch=sm_86 -std=c++14 -cudart shared -o "$scratch/order" tests/managed/order.cu >"$scratch/log" 2>&1 ||
  ! "$NVCC" "${several[@]}" -std=c++14 -cudart shared -o "$scratch/gpus" tests/managed/gpus.cu >"$scratch/log" 2>&1 ||
  ! "$NVCC" "${several[@]}" -std=c++14 -cudart shared -o "$scratch/swing" tests/managed/swing.cu >"$scratch/log" 2>&1 ||
  ! "$NVCC" "${several[@]}" -gencode arch=compute_90,code=sm_90 -std=c++14 -cudart shared -o "$scratch/rights" tests/managed/rights.cu >"$scratch/log" 2>&1 ||
  ! "$NVCC" "${several[@]}" -std=c++14 -cudart shared -o "$scratch/crowd" tests/managed/crowd.cu >"$scratch/log" 2>&1 ||
  ! "$NVCC" "${several[@]}" -std=c++14 -cudart shared -o "$scratch/together" tests/managed/together.cu >"$scratch/log" 2>&1 ||
  ! "$NVCC" -arch=sm_86 -std=c++14 -cudart shared -o "$scratch/triad" examples/triad_managed.cu >"$scratch/log" 2>&1; then
  echo "not ok managed memory: $(grep -m 1 error "$scratch/log")"
  exit 1
fi
if "${BIN:-build/warpstep}" exec --quiet --set gpu.sms=16 "$scratch/order" >"$scratch/log" 2>&1; then
  echo "ok managed memory: a thread's accesses keep their order while a page comes"
else
  echo "not ok managed memory: a thread's accesses keep their order while a page comes: $(tail -n 1 "$scratch/log")"
  exit 1
fi
bad=0
python3 tests/managed/check.py "${BIN:-build/warpstep}" "$scratch/walk" "$scratch" "$scratch/triad" || bad=1
python3 tests/managed/check_gpus.py "${BIN:-build/warpstep}" "$scratch/gpus" "$scratch" || bad=1
python3 tests/managed/check_rights.py "${BIN:-build/warpstep}" "$scratch/rights" "$scratch" || bad=1
python3 tests/managed/check_thrash.py "${BIN:-build/warpstep}" "$scratch/swing" "$scratch" || bad=1

# alike MACHINE PROGRAM ARGUMENT...: right, and the same JSON for one, two and three host threads. MORE: options. Grids are small: with
# more SMs than they fill only the machine is larger.
alike() {
  local machine=$1 name="managed memory of GPUs: ${*:2} on $1${MORE:+, $MORE}" threads
  shift
  for threads in 1 2 3; do
    # shellcheck disable=SC2086 # options
    if ! "${BIN:-build/warpstep}" exec --quiet --threads "$threads" --machine "$machine" --set gpu.sms=16 ${MORE:-} --json "$scratch/$threads.json" \
      "$scratch/$1" "${@:2}" >"$scratch/log" 2>&1; then
      echo "not ok $name: $(tail -n 1 "$scratch/log")"
      bad=1
      return
    fi
  done
  if cmp -s "$scratch/1.json" "$scratch/2.json" && cmp -s "$scratch/1.json" "$scratch/3.json"; then
    echo "ok $name"
  else
    echo "not ok $name: another JSON for two or three host threads"
    bad=1
  fi
}
alike 2x-rtx-3090-nvlink together counters 2
alike dgx-a100 together counters 3
alike 2x-rtx-3090-nvlink together turns 2
alike 4x-rtx-4090-pcie together turns 3
alike 4x-rtx-4090-pcie together solve 4
alike dgx-a100 together solve 4
alike 2x-rtx-3090-nvlink crowd 2 8 1
alike dgx-a100 crowd 3 8 2
MORE="--set gpu.memory_mib=9"
alike 2x-rtx-3090-nvlink crowd 2 12 3
alike 4x-rtx-4090-pcie crowd 4 12 4
# pages that thrash at once, are pinned soon, and for short
MORE="--set uvm.thrash_threshold=1 --set uvm.thrash_naps=2 --set uvm.thrash_lapse_us=200 --set uvm.thrash_pin=2 --set uvm.thrash_epoch=4"
alike dgx-a100 crowd 3 2 5
MORE="--set uvm.thrash_threshold=1 --set uvm.thrash_naps=3 --set uvm.thrash_pin=3 --set gpu.memory_mib=5"
alike 4x-rtx-4090-pcie crowd 3 2 22
exit "$bad"
