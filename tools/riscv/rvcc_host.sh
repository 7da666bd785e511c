#!/usr/bin/env bash
# The host compiler that rvcc.sh gives to nvcc: riscv64-linux-gnu-g++ without what nvcc says for x86-64. The first thing
# that nvcc asks, which machine this is, it understands for x86-64 and ARM alone: that question goes to g++.
set -eu
[ $# -eq 2 ] && [ "$1" = -E ] && exec g++ "$@"
args=() linkage=()
[ -n "${RVCC_DYNAMIC:-}" ] || linkage=(-static '-Wl,--gc-sections')
for arg in "$@"; do
  case $arg in
  -m64 | -lcudadevrt | -L*/x86_64-linux/*) continue ;;
  -c | -E | -S) linkage=() ;;
  esac
  args+=("$arg")
done
exec riscv64-linux-gnu-g++ "${args[@]}" "${linkage[@]}"
