#!/usr/bin/env bash
# rvcc.sh [nvcc's options] FILE...: nvcc for the simulated RISC-V CPU (docs/rv64.md). Its host compiler is Debian's cross
# compiler (rvcc_host.sh), its runtime library build/riscv64/libcudart.a, whose calls trap into the simulator; programs are
# linked statically, with RVCC_DYNAMIC=1 dynamically. All options are nvcc's.
#
# Needs nvcc (NVCC, the search path, /usr/local/cuda/bin) and g++-riscv64-linux-gnu. WARPSTEP_RISCV: the library's folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
library=${WARPSTEP_RISCV:-$here/../../build/riscv64}
nvcc=${NVCC:-$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc || true)}

fail() {
  echo "rvcc: $1" >&2
  exit 2
}

[ -x "$nvcc" ] || fail "nvcc is not there: put it into the search path, or its name into NVCC"
command -v riscv64-linux-gnu-g++ >/dev/null || fail "riscv64-linux-gnu-g++ is not there: apt install g++-riscv64-linux-gnu"
[ -e "$library/libcudart.a" ] || fail "$library/libcudart.a is not there: make builds it with riscv64-linux-gnu-gcc"
exec "$nvcc" -ccbin "$here/rvcc_host.sh" -cudart none "$@" -L "$library" -lcudart -lpthread -lm
