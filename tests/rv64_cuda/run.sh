#!/usr/bin/env bash
# CUDA programs of the simulated RISC-V CPU (docs/rv64.md): own ones (tests/rv64_cuda/programs/*.cu) on the machines fused-rv64,
# split-rv64 and c2c-rv64, and programs of tests/exec, which check themselves and say the same as on this machine's CPU.
#
#   tests/rv64_cuda/run.sh [NAME...]    BIN: the program (build/warpstep)
#
# Needs what tools/riscv/rvcc.sh needs; else every test is skipped.
set -u
cd "$(dirname "$0")/../.." || exit 1

BIN=${BIN:-build/warpstep}
NVCC=${NVCC:-$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)}
export NVCC WARPSTEP_RISCV=${WARPSTEP_RISCV:-$(dirname "$BIN")/riscv64}
LIMIT="timeout -k 1 ${RV64_LIMIT:-120}"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failed=0

lacking=
command -v riscv64-linux-gnu-g++ >/dev/null || lacking="no riscv64-linux-gnu-g++"
[ -n "$NVCC" ] && [ -x "$NVCC" ] || lacking="no nvcc"
[ -e "$WARPSTEP_RISCV/libcudart.a" ] || lacking="no $WARPSTEP_RISCV/libcudart.a"

# verdict NAME STATUS: ok when STATUS is 0.
verdict() {
  if [ "$2" -eq 0 ]; then echo "ok $1"; else
    echo "not ok $1"
    failed=1
  fi
}

compile() {
  tools/riscv/rvcc.sh -arch=sm_86 -o "$out/$(basename "$1" .cu)" "$@" >"$out/log" 2>&1 && return
  cat "$out/log"
  verdict "compile $1" 1
  return 1
}

on() {
  local machine=$1
  shift
  $LIMIT "$BIN" exec --quiet --machine "$machine-rv64" "$@" </dev/null
}

# passes NAME MACHINE [ARGUMENT...]: it ends well, and says and reports the same again, and with two and three threads.
passes() {
  local name=$1 machine=$2 threads status=0
  shift 2
  for threads in 1 1 2 3; do
    on "$machine" --threads $threads --json "$out/now.json" "$out/$name" "$@" >"$out/now" 2>&1 || status=1
    [ -e "$out/first" ] || { mv "$out/now" "$out/first" && mv "$out/now.json" "$out/first.json" && continue; }
    cmp "$out/first" "$out/now" 2>&1 && cmp "$out/first.json" "$out/now.json" 2>&1 || status=1
  done
  [ "$(tail -n 1 "$out/first")" = PASS ] || status=1
  [ $status -eq 0 ] || cat "$out/first"
  rm -f "$out"/first*
  verdict "$name on $machine $*" $status
}

# ends NAME MACHINE STATUS PATTERN ARGUMENT: one line on stderr, and this exit status.
ends() {
  local name=$1 machine=$2 expected=$3 pattern=$4 status
  shift 4
  on "$machine" "$out/$name" "$@" >"$out/text" 2>&1
  status=$?
  [ $status -eq "$expected" ] && [ "$(wc -l <"$out/text")" -eq 1 ] && grep -qE "$pattern" "$out/text"
  status=$?
  [ $status -eq 0 ] || cat "$out/text"
  verdict "$name on $machine ends: $*" $status
}

own() {
  local machine apart='memory of the GPU, which this machine.s CPU does not reach'
  for name in pointers flags overlap threads functions symbols hostile; do
    compile "tests/rv64_cuda/programs/$name.cu" || return
  done
  for machine in fused split c2c; do
    passes flags $machine
    passes overlap $machine
    passes threads $machine
    passes functions $machine
    passes symbols $machine
    passes hostile $machine
  done
  passes pointers fused shared
  passes pointers c2c shared
  passes pointers split apart
  ends hostile split 139 "SIGSEGV: load at address 0x[0-9a-f]+, $apart, at pc .*fatal" load
  ends hostile split 139 "SIGSEGV: store at address 0x[0-9a-f]+, $apart, at pc .*cudaMalloc" device
  ends hostile fused 139 'SIGSEGV: store at address 0x123, at pc 0x[0-9a-f]+ \(cudaMalloc' out
  ends hostile fused 139 'SIGSEGV: store at address 0xffffffffffffffff, at pc' top
  ends hostile fused 139 'SIGSEGV: store at address 0x[0-9a-f]+ not allowed, at pc' text
  ends hostile fused 139 'SIGSEGV: load at address 0x10, at pc 0x[0-9a-f]+ \(cudaLaunchKernel' args
  ends hostile fused 139 'SIGSEGV: load at address 0x8, at pc 0x[0-9a-f]+ \(cudaLaunchKernel' array
  ends hostile fused 139 'SIGSEGV: load at address 0x10, at pc .*fatal' name
  ends hostile fused 139 'SIGSEGV: load at address 0x7fff00000000, at pc' far
}

# Their output but for times, which depend on the machine.
same() {
  local name=$1 machine
  compile "tests/exec/$name.cu" || return
  "$NVCC" -arch=sm_86 -cudart shared -o "$out/$name.here" "tests/exec/$name.cu" || return
  for machine in fused split; do
    on $machine "$out/$name" >"$out/ours" 2>"$out/said"
    status=$?
    $LIMIT "$BIN" exec --quiet --machine $machine-rv64 "$out/$name.here" >"$out/theirs" 2>/dev/null </dev/null
    [ $? -eq $status ] && cmp "$out/ours" "$out/theirs" 2>&1
    status=$?
    [ $status -eq 0 ] || { head -n 20 "$out/ours" "$out/said"; }
    verdict "$name as on this machine's CPU, $machine" $status
  done
}

if [ -n "$lacking" ]; then
  echo "ok CUDA programs of the simulated CPU # SKIP $lacking"
  exit 0
fi
if [ $# -eq 0 ]; then
  own
  set -- vecadd reduce bfs streams host_memory host_threads matmul symbols textures
fi
for name in "$@"; do same "$name"; done
exit $failed
