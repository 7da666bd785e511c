#!/usr/bin/env bash
# NVIDIA's NCCL and nccl-tests on simulated GPUs (docs/compatibility.md, docs/accuracy.md). Fetches nothing: needs their source
# trees and nvcc. NCCL is built as it is, but for the kernels it is made of: float sums, rings and trees, one architecture, and
# none of its generators' symmetric kernels.
#
#   tools/compat/nccl.sh build NCCL NCCL-TESTS WORK          copies both to WORK and builds there
#   tools/compat/nccl.sh run WORK MACHINE GPUS PROGRAM [OPTION...]
#                                                            PROGRAM all_reduce_perf, all_gather_perf, …; OPTIONs of it
#   tools/compat/nccl.sh time WORK MACHINE GPUS PROGRAM SIZE...
#                                                            in time: us of the collective, GB/s of algorithm and bus
#
# FUNCTIONAL=1: `run` without time. NCCL_ALGO, NCCL_PROTO, NCCL_MAX_NCHANNELS and NCCL's other variables are handed on. ARCH: what
# to compile for (80). JOBS: of make (1). nccl-tests measures with the host's clock, which is not the simulated one: times here
# are from when the last GPU has begun to when the last has ended.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
bin=${BIN:-$here/build/warpstep}
arch=${ARCH:-80}

build() {
  local nccl=$1 tests=$2 work=$3 gencode="-gencode=arch=compute_$arch,code=sm_$arch" p
  local funcs='SendRecv|AllGather RING *|Broadcast RING *|ReduceScatter Sum f32 RING *|AllReduce Sum f32 (RING|TREE) *'
  mkdir -p "$work" && cp -r "$nccl" "$work/nccl" && cp -r "$tests" "$work/tests" || return
  sed -i 's/^kernels_to_build = .*/kernels_to_build = []/' "$work/nccl/src/device/symmetric/generate.py" || return
  make -C "$work/nccl/src" lib -j "${JOBS:-1}" CUDARTLIB=cudart "NVCC_GENCODE=$gencode" "ONLY_FUNCS=$funcs" "BUILDDIR=$work/build" || return
  # The toolkit's folder has an older NCCL's header and library, which nvcc looks at first: programs are linked here.
  local objects="common.o util.o timer.o verifiable/verifiable.o" programs="all_reduce all_gather reduce_scatter alltoall broadcast"
  local targets=() links=()
  for p in $objects; do targets+=("../build/$p"); links+=("$work/tests/build/$p"); done
  for p in $programs; do targets+=("../build/$p.o"); done
  make -C "$work/tests/src" -j "${JOBS:-1}" "NVCC_GENCODE=$gencode" "NCCL_HOME=$work/build" BUILDDIR=../build os.build "${targets[@]}" || return
  for p in $programs; do
    nvcc -cudart shared -o "$work/${p}_perf" "$work/tests/build/$p.o" "${links[@]}" "$work"/tests/build/os/libnccl_test_os.a \
      "$work"/build/lib/libnccl.so.2 || return
  done
}

# simulate WORK MACHINE GPUS OPTIONS-OF-EXEC -- PROGRAM OPTION...
simulate() {
  local work=$1 machine=$2 gpus=$3 options=()
  shift 3
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  "$bin" machines --nccl-topology "$machine" >"$work/$machine.xml" || return
  env LD_LIBRARY_PATH="$work/build/lib" NCCL_TOPO_FILE="$work/$machine.xml" NCCL_CUMEM_ENABLE="${NCCL_CUMEM_ENABLE:-0}" \
    NCCL_CUMEM_HOST_ENABLE=0 NCCL_NVLS_ENABLE=0 NCCL_IB_DISABLE=1 NCCL_NET=Socket NCCL_SOCKET_IFNAME=lo NCCL_RAS_ENABLE=0 \
    NCCL_GIN_ENABLE=0 "$bin" exec --machine "$machine" "${options[@]}" "$work/$1" -g "$gpus" -d float -o sum "${@:2}"
}

run() {
  local options=(--quiet)
  [ -z "${FUNCTIONAL:-}" ] || options+=(--functional)
  simulate "$1" "$2" "$3" "${options[@]}" -- "${@:4}"
}

# Of each size one collective that finds warm caches and buffers: the last kernel of each GPU.
time_sizes() {
  local work=$1 machine=$2 gpus=$3 program=$4 size
  shift 4
  printf '%-16s %s GPUs of %s, %s %s\n' "$program" "$gpus" "$machine" "${NCCL_ALGO:-}" "${NCCL_PROTO:-}"
  printf '%12s %10s %10s %10s\n' bytes us algbw busbw
  for size; do
    if ! simulate "$work" "$machine" "$gpus" --quiet --json "$work/run.json" -- "$program" -b "$size" -e "$size" -n 1 -w 1 -c 0 -u 0 >"$work/run.out" 2>"$work/run.err"; then
      echo "$size: $(tail -n 1 "$work/run.err")"
      return 1
    fi
    python3 - "$work/run.json" "$gpus" "$program" "$size" <<'P'
import json, sys
n, program, size = int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
runs = [r for r in json.load(open(sys.argv[1]))["launches"] if r["kernel"].startswith("ncclDevKernel")]
last = {}
for r in runs:
    last[r.get("gpu", 0)] = r
begin, end = max(r["start_ps"] for r in last.values()), max(r["end_ps"] for r in last.values())
us = (end - begin) / 1e6
bus = {"all_reduce_perf": 2 * (n - 1) / n, "broadcast_perf": 1}.get(program, (n - 1) / n)
assert len(last) == n
print(f"{size:12} {us:10.2f} {size / us / 1e3:10.2f} {size / us / 1e3 * bus:10.2f}")
P
  done
}

case ${1:-} in
  build) [ $# -eq 4 ] && build "$(realpath "$2")" "$(realpath "$3")" "$(realpath -m "$4")" ;;
  run) [ $# -ge 5 ] && run "${@:2}" ;;
  time) [ $# -ge 6 ] && time_sizes "${@:2}" ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
