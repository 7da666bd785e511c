#!/usr/bin/env bash
# libCEED's own tests on a simulated GPU (docs/compatibility.md). Fetches nothing: needs its source tree, nvcc and the toolkit's
# headers of cuBLAS and NVRTC. Its backends compile their kernels when they run (NVRTC). It is built as it is, in its tree.
#
#   tools/compat/libceed.sh build LIBCEED           builds the library and its tests. ARCH: what to compile for (80)
#   tools/compat/libceed.sh run LIBCEED GPU [TEST...]
#                                                   its test runner, for each test (all) and each of its three CUDA backends,
#                                                   without time: those not passed, then counts. LIMIT: seconds for a test (200)
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
bin=${BIN:-$here/build/warpstep}
nvcc=$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc || echo /usr/local/cuda/bin/nvcc)
cuda=$(cd "$(dirname "$nvcc")/.." && pwd)

names() { (cd "$1/tests" && for file in t[0-9]*.c; do echo "${file%.c}"; done); }

build() {
  local targets
  mapfile -t targets < <(names "$1" | sed 's,^,build/,')
  # The library calls the driver but is not linked with it, as only its users are.
  make -C "$1" -k "-j${JOBS:-2}" "CUDA_DIR=$cuda" "CUDA_ARCH=sm_${ARCH:-80}" OPT=-O1 FC= \
    "LDFLAGS=-L$cuda/lib64/stubs -Wl,--no-as-needed -lcuda" lib "${targets[@]}"
}

run() {
  local source=$1 gpu=$2 tests=("${@:3}") name log
  log=$(mktemp) || return
  [ ${#tests[@]} -gt 0 ] || mapfile -t tests < <(names "$source")
  for name in "${tests[@]}"; do
    (cd "$source" && timeout "${LIMIT:-200}" "$bin" exec --quiet --functional --gpu "$gpu" python3 tests/junit.py \
      --ceed-backends /gpu/cuda/ref /gpu/cuda/shared /gpu/cuda/gen --mode tap --nproc 1 "$name" 2>&1) |
      sed -n '/^ *\(not \)\{0,1\}ok [0-9]* - .*gpu/p' >"$log.one"
    [ -s "$log.one" ] || echo "not ok - $name: no verdict" >"$log.one"
    cat "$log.one" >>"$log"
    grep 'not ok' "$log.one"
  done
  awk '/not ok/ { failed++; next } /# SKIP/ { skipped++; next } { passed++ }
    END { printf "%d passed, %d failed, %d skip themselves\n", passed, failed, skipped; exit failed > 0 }' "$log"
  set -- $?
  rm -f "$log" "$log.one"
  return "$1"
}

case ${1:-} in
  build) [ $# -eq 2 ] && build "$2" ;;
  run) [ $# -ge 3 ] && run "${@:2}" ;;
  *) sed -n '2,/^set -u/{/^#/p;}' "$0"; exit 2 ;;
esac
