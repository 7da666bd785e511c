#!/usr/bin/env bash
# NVIDIA's NCCL on simulated GPUs (docs/compatibility.md, docs/accuracy.md). Fetches nothing: needs its source tree and nvcc. It is
# built as it is, but for the kernels it is made of: float sums, rings and trees, one architecture, and none of its generator of
# symmetric kernels. Collectives are called, and each element is checked, by nccl_collectives.cc beside this.
#
#   tools/compat/nccl.sh build NCCL WORK                    copies it to WORK and builds there
#   tools/compat/nccl.sh run WORK MACHINE GPUS COLLECTIVE BYTES
#                                                           with FUNCTIONAL=1 without time
#   tools/compat/nccl.sh time WORK MACHINE GPUS COLLECTIVE BYTES...
#                                                           us of the third of three, GB/s of algorithm and bus
#
# NCCL_ALGO, NCCL_PROTO, NCCL_MAX_NCHANNELS and NCCL's other variables are handed on. ARCH: what to compile for (80). JOBS: of make
# (1). The time is from when the kernel of the last GPU has begun to when that of the last has ended: launches are not in it.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
bin=${BIN:-$here/build/warpstep}
toolkit=$(dirname "$(dirname "$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")

build() {
  local nccl=$1 work=$2 gencode="-gencode=arch=compute_${ARCH:-80},code=sm_${ARCH:-80}"
  local funcs='SendRecv|AllGather RING *|Broadcast RING *|ReduceScatter Sum f32 RING *|AllReduce Sum f32 (RING|TREE) *'
  mkdir -p "$work" && cp -r "$nccl" "$work/nccl" || return
  sed -i 's/^kernels_to_build = .*/kernels_to_build = []/' "$work/nccl/src/device/symmetric/generate.py" || return
  make -C "$work/nccl/src" lib -j "${JOBS:-1}" CUDARTLIB=cudart "NVCC_GENCODE=$gencode" "ONLY_FUNCS=$funcs" "BUILDDIR=$work/build" || return
  # The toolkit's folder may have an older NCCL: its own header and library go first.
  g++ -O1 -I "$work/build/include" -I "$toolkit/include" -o "$work/collectives" "$here/tools/compat/nccl_collectives.cc" \
    "$work/build/lib/libnccl.so.2" -L "$toolkit/lib64" -lcudart
}

# simulate WORK MACHINE OPTION-OF-EXEC... -- ARGUMENT...
simulate() {
  local work=$1 machine=$2 options=()
  shift 2
  while [ "$1" != -- ]; do options+=("$1") && shift; done
  shift
  "$bin" machines --nccl-topology "$machine" >"$work/$(basename "$machine").xml" || return
  env LD_LIBRARY_PATH="$work/build/lib" NCCL_TOPO_FILE="$work/$(basename "$machine").xml" NCCL_CUMEM_ENABLE="${NCCL_CUMEM_ENABLE:-0}" \
    NCCL_CUMEM_HOST_ENABLE=0 NCCL_NVLS_ENABLE=0 NCCL_IB_DISABLE=1 NCCL_NET=Socket NCCL_SOCKET_IFNAME=lo NCCL_RAS_ENABLE=0 \
    NCCL_GIN_ENABLE=0 "$bin" exec --machine "$machine" "${options[@]}" "$work/collectives" "$@"
}

run() {
  local options=(--quiet)
  [ -z "${FUNCTIONAL:-}" ] || options+=(--functional)
  simulate "$1" "$2" "${options[@]}" -- "${@:3}"
}

time_sizes() {
  local work=$1 machine=$2 gpus=$3 what=$4 size
  printf '%s, %s GPUs of %s, %s %s\n%12s %10s %10s %10s\n' "$what" "$gpus" "$machine" "${NCCL_ALGO:-}" "${NCCL_PROTO:-}" bytes us algbw busbw
  for size in "${@:5}"; do
    if ! simulate "$work" "$machine" --quiet --json "$work/run.json" -- "$gpus" "$what" "$size" 3 >"$work/run.out" 2>&1; then
      tail -n 1 "$work/run.out"
      return 1
    fi
    python3 - "$work/run.json" "$gpus" "$what" "$size" <<'P'
import json, sys
n, what, size = int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
last = {}
for r in json.load(open(sys.argv[1]))["launches"]:
    if "ncclDevKernel" in r["kernel"]:
        last[r["gpu"]] = r
assert len(last) == n
us = (max(r["end_ps"] for r in last.values()) - max(r["start_ps"] for r in last.values())) / 1e6
bus = {"all_reduce": 2 * (n - 1) / n, "broadcast": 1}.get(what, (n - 1) / n)
print(f"{size:12} {us:10.2f} {size / us / 1e3:10.2f} {size / us / 1e3 * bus:10.2f}")
P
  done
}

case ${1:-}/$# in
  build/3) build "$(realpath "$2")" "$(realpath -m "$3")" ;;
  run/6) run "$(realpath "$2")" "${@:3}" ;;
  time/[6-9] | time/1?) time_sizes "$(realpath "$2")" "${@:3}" ;;
  *)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
