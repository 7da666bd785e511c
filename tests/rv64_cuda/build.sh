#!/usr/bin/env bash
# Makes the executables that tests/rv64_cuda/run.sh runs: tests/rv64_cuda/prebuilt/NAME.xz of tests/rv64_cuda/programs/NAME.cu,
# exec_NAME.xz of tests/exec/NAME.cu. They are dynamic ones, but for the C++ library, whose loading would take
# most of their time: 45 kB each.
#
#   tests/rv64_cuda/build.sh [FILE.cu...]
#
# Needs what tools/riscv/rvcc.sh needs. To be run, and its results committed, when a program has changed.
set -eu
cd "$(dirname "$0")/../.."

export RVCC_DYNAMIC=1
to=tests/rv64_cuda/prebuilt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() {
  tools/riscv/rvcc.sh -arch=sm_86 -Xcompiler -static-libstdc++ -Xcompiler -static-libgcc -Xlinker --gc-sections \
    -o "$work/program" "$2"
  riscv64-linux-gnu-strip -g "$work/program"
  xz -9e -c "$work/program" >"$to/$1.xz"
}

mkdir -p $to
[ $# -gt 0 ] || set -- tests/rv64_cuda/programs/*.cu \
  tests/exec/{vecadd,reduce,bfs,streams,host_memory,host_threads,matmul,symbols,textures}.cu
for file in "$@"; do
  name=$(basename "$file" .cu)
  case $file in tests/exec/*) name=exec_$name ;; esac
  build "$name" "$file"
done
