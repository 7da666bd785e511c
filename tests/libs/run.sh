#!/usr/bin/env bash
# The open libraries (docs/libraries.md): programs of tests/libs linked with NVIDIA's names, run by `warpstep exec`, check their
# results themselves. Without nvcc or its cuBLAS to link with they are skipped and counted.
#
#   tests/libs/run.sh [NAME ...]       BIN: the program (build/warpstep), NVCC: the compiler, GPUS: presets (rtx-3070; narrow: rtx-4090 h100 rtx-5090; scaled: rtx-5090; large: rtx-3070 h100)
set -u
cd "$(dirname "$0")/../.." || exit 2

bin=${BIN:-build/warpstep}
nvcc=${NVCC:-$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)}
libs=$(dirname "$bin")/cuda/libs
failed=0

# The kernels in the tree are those of the sources beside them.
if (cd src/libs/kernels && sha256sum --quiet -c sources.sum) >/dev/null 2>&1; then
  echo "ok libs kernels"
else
  echo "not ok libs kernels: older than their sources; run src/libs/kernels/build.sh"
  failed=1
fi
[ $# -gt 0 ] || set -- products large narrow scaled vectors mixed level2 level3 triangular legacy legacy_level2 xt fourier names networks pooling graphs attention ctc sampler random sparse sparse_kinds sparse_ell sparse_vectors sorting systems tridiagonal incomplete dense eigen sparse_solver threads profiler
lacking=''
if [ ! -f "$libs/libwarpstep-libs.so" ]; then
  lacking="no libraries in $libs"
elif [ ! -x "$nvcc" ] || [ ! -f "$(dirname "$nvcc")/../include/cublas_v2.h" ]; then
  lacking='no nvcc with cuBLAS'
fi
if [ -n "$lacking" ]; then
  for name; do echo "ok libs $name # SKIP $lacking"; done
  exit $failed
fi
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

# build NAME OPTION ...: programs without kernels of their own need nvcc's headers alone, and half of its time. Those whose own
# calculations take longer than to optimise them are.
build() {
  local flags=(-o "$scratch/$1") source=tests/libs/$1.cu root
  [[ $1 != @(products|large|narrow|scaled|level2|legacy_level2|level3|triangular|xt|fourier|graphs|attention|ctc|dense|eigen) ]] || flags+=(-O1)
  root=$(dirname "$nvcc")/..
  if grep -q '__global__' "$source"; then
    "$nvcc" -std=c++14 "${flags[@]}" -Xcompiler -fcx-limited-range -arch=sm_80 -cudart shared "$source" "${@:2}"
  else
    "${CXX:-g++}" -std=c++17 "${flags[@]}" -w -fcx-limited-range -I"$root/include" -include cuda_runtime.h -x c++ "$source" -x none \
      -L"$root/lib64" "${@:2}" -lcudart
  fi
}

# run NAME GPU [OPTION ...]: the program's last line is what it counted.
run() {
  local name=$1 gpu=$2 status
  shift 2
  local time=(--functional) words=()
  if [ "${1:-}" = -- ]; then words=("$2"); shift 2; fi # an argument of the program
  [ "$name" = profiler ] && time=() # looks at times
  local on=(--gpu "$gpu")
  [[ $gpu = [0-9]x-* ]] && on=(--machine "$gpu") # of several GPUs
  timeout 300 "$bin" exec "${time[@]}" --quiet "${on[@]}" "$@" "$scratch/$name" "${words[@]}" >"$scratch/out" 2>"$scratch/err" </dev/null
  status=$?
  if [ $status -eq 0 ]; then
    echo "ok libs $name $gpu: $(tail -n 1 "$scratch/out")"
  else
    echo "not ok libs $name $gpu: status $status: $(head -n 3 "$scratch/out" | tr '\n' ' ') $(tail -n 1 "$scratch/err")"
    failed=1
  fi
}

for name; do
  if [ "$name" = names ]; then
    # What the libraries export is what NVIDIA's headers declare, under the version nodes that programs ask for.
    "$nvcc" -std=c++17 -arch=sm_86 -cudart shared -Xlinker -rpath -Xlinker "$(dirname "$nvcc")/../lib64" \
      -o "$scratch/names" tests/libs/gemm_rate.cu -lcublas -lcublasLt || failed=1
    if timeout 100 "$bin" exec --functional --report - "$scratch/names" s 64 64 64 2>/dev/null </dev/null |
      grep -q warpstep_sgemm; then
      echo "ok libs names: found before a library in the program's RUNPATH"
    else
      echo "not ok libs names: the program took another library"
      failed=1
    fi
    # A function that the headers declare and nobody exports would end a program in the loader. Not functions: names of types; that of a
    # compute type is inline in C++; cuSPARSE's are declared and not in NVIDIA's library either.
    headers=$(dirname "$nvcc")/../include
    missing=$(comm -23 <(grep -hvE '^ *(\*|//|/\*)|static inline|#' "$headers"/cu{blas,blas_api,blasLt,blasXt,fft,fftXt,rand,sparse,solverDn,solverSp,solverSp_LOWLEVEL_PREVIEW,solverRf}.h |
      grep -oE '\bcu(blas|fft|rand|sparse|solver)[A-Z][A-Za-z0-9_]* *\(' | tr -d ' (' |
      grep -vE '^cufft(Double)?(Real|Complex)$|^cublasMigrateComputeType$|^cusparse([SDCZ](bsr|csr2gebsr|gebsr).*_bufferSizeExt|Xgebsr2csr)$' | sort -u) \
      <(nm -D --defined-only "$libs/libwarpstep-libs.so" | sed 's/.* //; s/@.*//' | sort -u) | paste -sd ' ')
    if [ -z "$missing" ]; then
      echo "ok libs names: all that the headers declare"
    else
      echo "not ok libs names: not exported: ${missing:0:100}"
      failed=1
    fi
    continue
  fi
  case $name in
    fourier) needs=(-lcufft) ;;
    networks | pooling | graphs | attention | ctc | sampler) needs=(-lcudnn) ;;
    dense) needs=(-lcusolver) ;;
    eigen) needs=(-lcusolver -lcublas) ;;
    sparse_solver) needs=(-lcusolver -lcusparse) ;;
    threads) needs=(-lcublas -lcufft -lcurand -lcusparse) ;;
    sparse | sparse_kinds | sparse_ell | sparse_vectors | sorting | systems | tridiagonal | incomplete) needs=(-lcusparse) ;;
    random) needs=(-Isrc -lcurand) ;;
    profiler) needs=(-lcupti -lcuda) ;;
    *) needs=(-lcublas -lcublasLt) ;;
  esac
  if [[ $name = @(networks|pooling|graphs|attention|ctc|sampler) ]] && [ ! -f "$(dirname "$nvcc")/../include/cudnn.h" ]; then
    echo "ok libs $name # SKIP no cuDNN beside nvcc"
    continue
  fi
  if [ "$name" = profiler ] && [ ! -f "$(dirname "$nvcc")/../include/cupti.h" ]; then
    echo "ok libs $name # SKIP no CUPTI beside nvcc"
    continue
  fi
  if ! build "$name" "${needs[@]}" 2>"$scratch/err"; then
    echo "not ok libs $name: $(head -n 2 "$scratch/err")"
    failed=1
    continue
  fi
  usual=rtx-3070
  [ "$name" = narrow ] && usual='rtx-4090 h100 rtx-5090' # FP8 needs 8.9; two ways to widen it, factors of blocks
  [ "$name" = scaled ] && usual=rtx-5090
  [ "$name" = attention ] && usual='rtx-2080ti rtx-3070' # without BF16 on tensor cores, with
  [ "$name" = xt ] && usual='rtx-3070 2x-rtx-3090-nvlink'
  [ "$name" = large ] && usual='rtx-3070 h100' # two ways to multiply
  options=()
  [ "$name" = large ] && options=(--set gpu.sms=1) # so that the widest tiles are chosen for small matrices
  for gpu in ${GPUS:-$usual}; do
    run "$name" "$gpu" "${options[@]}"
    [[ "$name $gpu" = @(narrow|scaled)' rtx-5090' ]] && run "$name" "$gpu" --set gpu.sms=3 # so that larger tiles are chosen, and cut
    [ "$name" = large ] && run "$name" "$gpu" -- cut --set gpu.sms=3 # so that the last tiles are split
  done
done
exit $failed
