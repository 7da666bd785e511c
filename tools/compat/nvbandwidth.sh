#!/usr/bin/env bash
# NVIDIA's nvbandwidth on a simulated machine (docs/compatibility.md). Fetches nothing: needs its source tree, nvcc and Boost's
# program_options (Debian: libboost-program-options-dev). It is built as it is; what it uses of NVML is declared here, where the
# toolkit has no nvml.h, and comes from warpstep's library when it runs.
#
#   tools/compat/nvbandwidth.sh build NVBANDWIDTH WORK   builds it in WORK. ARCH: what to compile for (86)
#   tools/compat/nvbandwidth.sh run WORK MACHINE [CASE...]
#                                                        each of its test cases by its name or number (all): status, seconds,
#                                                        its sums in GB/s; the copied bytes are checked by the program.
#                                                        MIB: of its buffers (2); LIMIT: seconds for a case (600)
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
bin=${BIN:-$here/build/warpstep}
nvcc=$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc || echo /usr/local/cuda/bin/nvcc)

# Functions of NVML that it calls, declared and, to link with, defined.
nvml() {
  cat >"$1/nvml.h" <<'H'
#pragma once
#ifdef __cplusplus
extern "C" {
#endif
typedef enum { NVML_SUCCESS = 0, NVML_ERROR_NOT_SUPPORTED = 3 } nvmlReturn_t;
typedef struct nvmlDevice_st *nvmlDevice_t;
enum { NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE = 80 };
nvmlReturn_t nvmlInit_v2(void);
#define nvmlInit nvmlInit_v2
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *, nvmlDevice_t *);
nvmlReturn_t nvmlDeviceSetCpuAffinity(nvmlDevice_t);
nvmlReturn_t nvmlSystemGetDriverVersion(char *, unsigned);
const char *nvmlErrorString(nvmlReturn_t);
#ifdef __cplusplus
}
#endif
H
  {
    echo '#include "nvml.h"'
    for f in 'nvmlInit_v2(void)' 'nvmlDeviceGetHandleByUUID(const char *u, nvmlDevice_t *d)' \
      'nvmlDeviceSetCpuAffinity(nvmlDevice_t d)' 'nvmlSystemGetDriverVersion(char *v, unsigned n)'; do
      echo "nvmlReturn_t $f { return NVML_ERROR_NOT_SUPPORTED; }"
    done
    echo 'const char *nvmlErrorString(nvmlReturn_t r) { return ""; }'
  } >"$1/nvml.c"
  gcc -shared -fPIC -Wl,-soname,libnvidia-ml.so.1 -o "$1/libnvidia-ml.so" "$1/nvml.c"
}

build() {
  local source=$1 work=$2 file
  mkdir -p "$work" && nvml "$work" || return
  for file in "$source"/*.cpp "$source"/*.cu "$source/json/jsoncpp.cpp"; do
    "$nvcc" -O1 -std=c++17 "-arch=sm_${ARCH:-86}" '-DGIT_VERSION="none"' -I"$work" -I"$source" -c \
      -o "$work/$(basename "$file").o" "$file" || return
  done
  "$nvcc" "-arch=sm_${ARCH:-86}" -cudart shared -o "$work/nvbandwidth" "$work"/*.o -lboost_program_options \
    -L"$(dirname "$nvcc")/../lib64/stubs" -lcuda -L"$work" -lnvidia-ml
}

run() {
  local work=$1 machine=$2 cases=("${@:3}") name status from failed=0
  [ ${#cases[@]} -gt 0 ] ||
    mapfile -t cases < <("$bin" exec --quiet --machine "$machine" "$work/nvbandwidth" -l |
      awk -F'[,:] *' '/^[0-9]+, / { print $2 }')
  for name in "${cases[@]}"; do
    from=$(date +%s)
    timeout "${LIMIT:-600}" "$bin" exec --quiet --machine "$machine" "$work/nvbandwidth" -t "$name" -b "${MIB:-2}" -i 1 \
      >"$work/out" 2>&1
    status=$?
    grep -qE '^ERROR|mismatch' "$work/out" && status=1
    [ $status -eq 0 ] || failed=$((failed + 1))
    echo "$name: status $status, $(($(date +%s) - from)) s," \
      "$(grep -E '^SUM|WAIVED|ERROR' "$work/out" | sed 's/^SUM [^ ]* //' | tr '\n' ' ')"
  done
  echo "${#cases[@]} cases, $failed failed"
  [ $failed -eq 0 ]
}

case ${1:-} in
  build) [ $# -eq 3 ] && build "$2" "$3" ;;
  run) [ $# -ge 3 ] && run "${@:2}" ;;
  *) sed -n '2,/^set -u/{/^#/p;}' "$0"; exit 2 ;;
esac
