#!/usr/bin/env bash
# rvcc.sh [-o PROGRAM] [-arch=sm_NN] [-c] [option...] FILE.cu...: CUDA programs for the simulated RISC-V CPU (docs/rv64.md).
#
# Device code is made by nvcc, the host's part by clang for riscv64, and both are linked with build/riscv64/libcudart.a by
# Debian's cross compiler, statically (-dynamic: not). Other options go to nvcc and clang (-I, -D, -U, -std, -O), to the
# linker (-l, -L), or, behind -Xnvcc and -Xclang-host, to one of them. Needs clang-19, g++-riscv64-linux-gnu and the CUDA
# toolkit (CUDA_HOME, /usr/local/cuda, or where nvcc is); CLANG, NVCC and RISCV_CXX name other ones, WARPSTEP_RISCV the
# folder of the library.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
clang=${CLANG:-clang++-19}
cross=${RISCV_CXX:-riscv64-linux-gnu-g++}
library=${WARPSTEP_RISCV:-$here/build/riscv64}
nvcc=${NVCC:-$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")}

fail() {
  echo "rvcc: $1" >&2
  exit 2
}

for tool in "$clang" "$cross" "$nvcc"; do
  command -v "$tool" >/dev/null || fail "$tool is not there"
done
[ -e "$library/libcudart.a" ] || fail "$library/libcudart.a is not there: make builds it where riscv64-linux-gnu-gcc is installed"
toolkit=${CUDA_HOME:-$(cd "$(dirname "$(readlink -f "$(command -v "$nvcc")")")/.." && pwd)}

out=a.riscv arch=sm_80 only_compile='' linkage=-static
files=() both=(-std=c++17) device=() host=(-O2) link=()
while [ $# -gt 0 ]; do
  case $1 in
  -o) out=$2 && shift ;;
  -arch=*) arch=${1#-arch=} ;;
  -arch) arch=$2 && shift ;;
  -c) only_compile=yes ;;
  -dynamic) linkage='' ;;
  -Xnvcc) device+=("$2") && shift ;;
  -Xclang-host) host+=("$2") && shift ;;
  -I | -D | -U) both+=("$1$2") && shift ;;
  -I* | -D* | -U* | -std=*) both+=("$1") ;;
  -O*) host+=("$1") ;;
  -l* | -L* | *.o | *.a) link+=("$1") ;;
  -*) device+=("$1") ;;
  *) files+=("$1") ;;
  esac
  shift
done
[ ${#files[@]} -gt 0 ] || fail "no file given"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/texture_fetch_functions.h" # clang asks for it, CUDA 13 has it no more
objects=()
for file in "${files[@]}"; do
  name=$work/${#objects[@]}
  "$nvcc" -arch="$arch" "${both[@]}" "${device[@]}" -fatbin -o "$name.fatbin" "$file"
  "$clang" -x cuda --cuda-host-only --target=riscv64-linux-gnu -march=rv64gc -mabi=lp64d --cuda-path="$toolkit" \
    --cuda-gpu-arch=sm_80 -Wno-unknown-cuda-version -I "$work" "${both[@]}" "${host[@]}" \
    -Xclang -fcuda-include-gpubinary -Xclang "$name.fatbin" -c -o "$name.o" "$file"
  objects+=("$name.o")
done
if [ -n "$only_compile" ]; then
  [ ${#objects[@]} -eq 1 ] || fail "-c takes one file"
  cp "${objects[0]}" "$out"
else
  # shellcheck disable=SC2086
  "$cross" $linkage -Wl,--gc-sections -o "$out" "${objects[@]}" "${link[@]}" "$library/libcudart.a" -lpthread -lm
fi
