#!/usr/bin/env bash
# Device code of foreign suites, for foreign.sh and nvdisasm.py: each CUDA source of a program becomes one fat
# binary with a cubin per target, under OUT/SUITE/PROGRAM/. Host code is not compiled, nothing is linked.
#
#   OUT=FOLDER tools/coverage/compile.sh SUITE=FOLDER...     the checked-out repository of a suite:
#     samples    NVIDIA/cuda-samples          polybench  sgrauerg/polybenchGpu
#     rodinia    yuhc/gpu-rodinia             hecbench   Scientific-Computing-Lab/gpuFLOPBench (its HeCBench)
#
# Environment: NVCC, TARGETS ("75 80 86 90 100 120"; "80:80,90" makes the code of sm_80 and sm_90 from the PTX of
# compute_80: most of the time goes into making PTX), ONLY (extended regular expression: names of programs),
# LIMIT (seconds for each suite; none), FLAGS (more options for nvcc, as -G).
# Programs are taken in an order that is mixed but always the same, and what is there already is kept: a suite
# can be compiled in several goes. What nvcc refused is in OUT/SUITE/PROGRAM/*.log.
set -u
here=$(cd "$(dirname "$0")" && pwd)
NVCC=${NVCC:-$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)}
if [ $# -eq 0 ] || [ -z "${OUT:-}" ] || [ -z "$NVCC" ]; then
  echo "usage: OUT=FOLDER tools/coverage/compile.sh SUITE=FOLDER... (nvcc must be installed)" >&2
  exit 2
fi
mkdir -p "$OUT" && OUT=$(realpath "$OUT") || exit 2
export COVER_NVCC=$NVCC COVER_TARGETS=${TARGETS:-75 80 86 90 100 120} COVER_FLAGS=${FLAGS:-} COVER_PATH=$PATH
unset NVCC TARGETS FLAGS # names that build descriptions use

# A toolkit whose nvcc compiles device code only, and compilers of host code that write empty files.
toolkit=$(mktemp -d)
trap 'rm -rf "$toolkit"' EXIT
mkdir "$toolkit/bin"
ln -s "$(dirname "$(dirname "$(realpath "$COVER_NVCC")")")"/{include,lib64} "$toolkit/"
ln -s "$here/nvcc-device.sh" "$toolkit/bin/nvcc"
for tool in gcc g++ cc c++ ar ranlib clang++ mpicxx mpicc; do
  ln -s "$here/nvcc-device.sh" "$toolkit/bin/$tool"
done

# folder<TAB>program of a suite, for the function compile_SUITE in that folder.
programs() {
  case $1 in
  samples) find "$2/Samples" -mindepth 3 -maxdepth 3 -name CMakeLists.txt -path '*/[0-6]_*' ;;
  polybench) find "$2/CUDA" -mindepth 2 -maxdepth 2 -name Makefile ;;
  rodinia) find "$2/cuda" -mindepth 2 -iname Makefile ;;
  hecbench) find "$2/src" -mindepth 2 -maxdepth 2 -name Makefile -path '*-cuda/*' ;;
  *) echo "compile.sh: unknown suite '$1'" >&2 ;;
  esac | while read -r file; do
    local at=${file%/*}
    printf '%s\t%s\n' "$at" "$(tr / - <<<"${at#"$2"/}")"
  done | LC_ALL=C sort -u | shuf --random-source=<(yes)
}

compile_samples() {
  local rdc=
  grep -q 'CUDA_SEPARABLE_COMPILATION ON' CMakeLists.txt && rdc=-rdc=true
  find . -name '*.cu' | while read -r source; do
    # shellcheck disable=SC2086  # none or one option
    nvcc -I ../../../Common -I . -I inc -I "${source%/*}" --extended-lambda $rdc -c "$source"
  done
}

# The commands of the program's own build description.
compile_by_make() {
  make -k -i -B CUDA_DIR="$toolkit" CUDA_HOME="$toolkit" CUDA_PATH="$toolkit" CUDA_LIB_DIR="$toolkit/lib64" \
    SHELL=/bin/bash CXX=g++ "$@"
}
compile_polybench() { compile_by_make; }
compile_rodinia() { compile_by_make KERNEL_DIM=; }
compile_hecbench() { compile_by_make ARCH=sm_86; }

# compile SUITE FOLDER PROGRAM
compile() {
  export COVER_OUT=$OUT/$1/$3
  [ -e "$COVER_OUT/done" ] && return
  mkdir -p "$COVER_OUT"
  cd "$2" || return
  "compile_$1" >"$COVER_OUT/build.log" 2>&1
  touch "$COVER_OUT/done"
  echo "$1 $3: $(find "$COVER_OUT" -name '*.fatbin' | wc -l) fat binaries"
}

PATH=$toolkit/bin:$PATH
for argument; do
  suite=${argument%%=*} folder=$toolkit/$suite
  cp -r "${argument#*=}" "$folder" || exit 2 # build descriptions write beside the sources
  end=$((SECONDS + ${LIMIT:-1000000}))
  while IFS=$'\t' read -r at name; do
    grep -qE "${ONLY:-.}" <<<"$name" || continue
    [ $SECONDS -lt $end ] && (compile "$suite" "$at" "$name") </dev/null
  done < <(programs "$suite" "$folder")
done
