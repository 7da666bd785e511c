#!/usr/bin/env bash
# NVIDIA's NCCL on simulated GPUs (docs/compatibility.md, docs/accuracy.md). Fetches nothing: needs its source tree and nvcc. It is
# built as it is, but for the kernels it is made of: float sums, rings and trees, one architecture, and none of its generator of
# symmetric kernels. Collectives are called, and each element is checked, by nccl_collectives.cc beside this; or by NVIDIA's
# nccl-tests, as they are, which check their results themselves.
#
#   tools/compat/nccl.sh build NCCL WORK                    copies it to WORK and builds there
#   tools/compat/nccl.sh library FOLDER WORK                takes NCCL as it was built elsewhere: FOLDER has include/nccl.h and
#                                                           lib/libnccl.so.2, as nvidia/nccl of Python's packages
#   tools/compat/nccl.sh run WORK MACHINE GPUS COLLECTIVE BYTES
#                                                           with FUNCTIONAL=1 without time
#   tools/compat/nccl.sh time WORK MACHINE GPUS COLLECTIVE BYTES...
#                                                           us of the last of CALLS (3), GB/s of algorithm and bus; us from the
#                                                           end of the call before to its end: with QUEUED=1 as nccl-tests time
#   tools/compat/nccl.sh build-tests NCCL-TESTS WORK        builds nccl-tests for what `build` has left in WORK
#   tools/compat/nccl.sh tests WORK MACHINE BYTES [GPUS...] five collectives on 2, 4 and 8 GPUs: how many elements nccl-tests
#                                                           found wrong, out of place and in place; us of the last one;
#                                                           seconds of processor time; status 1: some are wrong, or no end
#
# NCCL_ALGO, NCCL_PROTO, NCCL_MAX_NCHANNELS and NCCL's other variables are handed on. ARCH: what to compile for (80), FUNCS: NCCL's
# kernels, as its ONLY_FUNCS has them. JOBS: of make (1). The time is from when the kernel of the last GPU has begun to when that of the last has ended: launches are not in it.
# Threads of NCCL that look for messages without rest are slowed down (host_polls.c); REST=0 leaves them as they are.
# nccl-tests measure with a clock of the host, which is not the simulated one. LIMIT: seconds for one of their programs (600).
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
bin=${BIN:-$here/build/warpstep}
collectives="all_reduce all_gather reduce_scatter alltoall broadcast"
toolkit=$(dirname "$(dirname "$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")

build() {
  local nccl=$1 work=$2 gencode="-gencode=arch=compute_${ARCH:-80},code=sm_${ARCH:-80}"
  local funcs=${FUNCS:-'SendRecv|AllGather RING *|Broadcast RING *|ReduceScatter Sum f32 RING *|AllReduce Sum f32 (RING|TREE) *'}
  mkdir -p "$work" && cp -r "$nccl" "$work/nccl" || return
  sed -i 's/^kernels_to_build = .*/kernels_to_build = []/' "$work/nccl/src/device/symmetric/generate.py" || return
  # The toolkit's headers without those of an NCCL that it has, which some of the sources would find first.
  mkdir -p "$work/toolkit" && ln -sfn "$toolkit"/include/* "$work/toolkit/" && rm -rf "$work"/toolkit/nccl* || return
  make -C "$work/nccl/src" lib -j "${JOBS:-1}" CUDARTLIB=cudart "NVCC_GENCODE=$gencode" "ONLY_FUNCS=$funcs" "BUILDDIR=$work/build" \
    "CUDA_INC=$work/toolkit" || return
  build_collectives "$work"
}

# The toolkit's folder may have an older NCCL: its own header and library go first.
build_collectives() {
  local work=$1
  g++ -O1 -I "$work/build/include" -I "$toolkit/include" -o "$work/collectives" "$here/tools/compat/nccl_collectives.cc" \
    "$work/build/lib/libnccl.so.2" -L "$toolkit/lib64" -lcudart
}

library() {
  local folder=$1 work=$2
  mkdir -p "$work/build" && ln -sfn "$folder/include" "$folder/lib" "$work/build/" && build_collectives "$work"
}

# simulate WORK MACHINE OPTION-OF-EXEC... -- PROGRAM ARGUMENT...
simulate() {
  local work=$1 machine=$2 options=() preload=${LD_PRELOAD:-}
  shift 2
  if [ "${REST:-1}" != 0 ]; then
    [ -e "$work/host_polls.so" ] || gcc -O1 -shared -fPIC -o "$work/host_polls.so" "$here/tools/compat/host_polls.c" -ldl || return
    preload=$work/host_polls.so${preload:+:$preload}
  fi
  while [ "$1" != -- ]; do options+=("$1") && shift; done
  shift
  "$bin" machines --nccl-topology "$machine" >"$work/$(basename "$machine").xml" || return
  env LD_PRELOAD="$preload" LD_LIBRARY_PATH="$work/build/lib" NCCL_TOPO_FILE="$work/$(basename "$machine").xml" NCCL_CUMEM_ENABLE="${NCCL_CUMEM_ENABLE:-0}" \
    NCCL_CUMEM_HOST_ENABLE=0 NCCL_NVLS_ENABLE="${NCCL_NVLS_ENABLE:-0}" NCCL_IB_DISABLE=1 NCCL_NET=Socket NCCL_SOCKET_IFNAME=lo NCCL_RAS_ENABLE=0 \
    NCCL_GIN_ENABLE=0 timeout "${LIMIT:-1000000}" "$bin" exec --machine "$machine" "${options[@]}" "$@"
}

run() {
  local options=(--quiet)
  [ -z "${FUNCTIONAL:-}" ] || options+=(--functional)
  simulate "$1" "$2" "${options[@]}" -- "$1/collectives" "${@:3}"
}

# last_call JSON GPUS COLLECTIVE BYTES: when the last kernels of a report, one on each GPU, ran
last_call() {
  python3 - "$@" <<'P'
import json, sys
n, what, size = int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
last, before = {}, {}
for r in json.load(open(sys.argv[1]))["launches"]:
    if "ncclDevKernel" in r["kernel"]:
        before[r["gpu"]] = last.get(r["gpu"])
        last[r["gpu"]] = r
assert len(last) == n
end = max(r["end_ps"] for r in last.values())
us = (end - max(r["start_ps"] for r in last.values())) / 1e6
bus = {"all_reduce": 2 * (n - 1) / n, "broadcast": 1}.get(what, (n - 1) / n)
print(f"{size:12} {us:10.2f} {size / us / 1e3:10.2f} {size / us / 1e3 * bus:10.2f}", end="")
print(f" {(end - max(r['end_ps'] for r in before.values())) / 1e6:10.2f}" if all(before.values()) else "")
P
}

time_sizes() {
  local work=$1 machine=$2 gpus=$3 what=$4 size
  printf '%s, %s GPUs of %s, %s %s\n%12s %10s %10s %10s %10s\n' "$what" "$gpus" "$machine" "${NCCL_ALGO:-}" "${NCCL_PROTO:-}" bytes us algbw busbw period
  for size in "${@:5}"; do
    if ! simulate "$work" "$machine" --quiet --json "$work/run.json" -- "$work/collectives" "$gpus" "$what" "$size" "${CALLS:-3}" ${QUEUED:+queued} >"$work/run.out" 2>&1; then
      tail -n 1 "$work/run.out"
      return 1
    fi
    last_call "$work/run.json" "$gpus" "$what" "$size" || return
  done
}

# nccl-tests would find an older NCCL in the toolkit's folders.
build_tests() {
  local tests=$1 work=$2 gencode="-gencode=arch=compute_${ARCH:-80},code=sm_${ARCH:-80}" program programs=(os.build)
  for program in $collectives; do programs+=("$work/tests/${program}_perf"); done
  rm -rf "$work/nccl-tests" && cp -r "$tests" "$work/nccl-tests" || return
  make -C "$work/nccl-tests/src" -j "${JOBS:-1}" CUDA_HOME="$toolkit" CUDA_LIB="$work/build/lib" NCCL_HOME="$work/build" \
    "NVCC_GENCODE=$gencode" BUILDDIR="$work/tests" "${programs[@]}"
}

# test_one WORK MACHINE GPUS COLLECTIVE BYTES: a row; status 1 unless nothing is wrong. Their all-to-all is never in place.
test_one() {
  local work=$1 gpus=$3 what=$4 size=$5 options=(--quiet) us=- status TIMEFORMAT='%U' seconds run
  run=$(mktemp -d) || return
  [ -z "${FUNCTIONAL:-}" ] && options+=(--json "$run/json") || options+=(--functional)
  seconds=$({ time LIMIT=${LIMIT:-600} simulate "$work" "$2" "${options[@]}" -- "$work/tests/${what}_perf" -g "$gpus" -b "$size" \
    -e "$size" -w 0 -n 1 -c 1 >"$run/out" 2>"$run/err"; } 2>&1)
  status=$?
  [ -n "${FUNCTIONAL:-}" ] || [ "$status" != 0 ] || us=$(last_call "$run/json" "$gpus" "$what" "$size" | awk '{ print $2 }')
  awk -v row="$(printf '%-15s %5d %10d' "$what" "$gpus" "$size")" -v tail="$(printf '%10s %10.1f' "$us" "$seconds")" -v what="$what" '
    $1 ~ /^[0-9]+$/ && NF >= 13 { printf "%s %12s %12s %s\n", row, $9, $13, tail; ok = $9 == "0" && $13 == (what == "alltoall" ? "N/A" : "0") }
    END { exit !ok }' "$run/out" && [ "$status" = 0 ] && rm -rf "$run" && return
  printf '%-15s %5d %10d failed (status %s, %s): %s\n' "$what" "$gpus" "$size" "$status" "$run" "$(tail -n 1 "$run/err")"
  return 1
}

tests() {
  local work=$1 machine=$2 size=$3 gpus what bad=0
  shift 3
  [ $# -gt 0 ] || set -- 2 4 8
  printf '%-15s %5s %10s %12s %12s %10s %10s\n' collective GPUs bytes '#wrong' 'in place' us seconds
  for gpus in "$@"; do
    for what in $collectives; do test_one "$work" "$machine" "$gpus" "$what" "$size" || bad=1; done
  done
  return $bad
}

case ${1:-}/$# in
  build/3) build "$(realpath "$2")" "$(realpath -m "$3")" ;;
  library/3) library "$(realpath "$2")" "$(realpath -m "$3")" ;;
  run/6) run "$(realpath "$2")" "${@:3}" ;;
  time/[6-9] | time/1?) time_sizes "$(realpath "$2")" "${@:3}" ;;
  build-tests/3) build_tests "$(realpath "$2")" "$(realpath -m "$3")" ;;
  tests/[4-9]) tests "$(realpath "$2")" "${@:3}" ;;
  *)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
