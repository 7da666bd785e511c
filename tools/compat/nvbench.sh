#!/usr/bin/env bash
# NVIDIA's nvbench under `warpstep exec` (docs/compatibility.md). Fetches nothing: needs its source tree, those of fmt and
# nlohmann/json (with `include` and `src`), and nvcc with CUPTI. It is built as it is, without NVML and, where CUPTI is 0,
# without its use of CUPTI.
#
#   tools/compat/nvbench.sh build NVBENCH FMT JSON WORK   builds the library and its examples in WORK. ARCH: what to compile for
#                                                         (86), CUPTI (1), ONLY: names of examples (all), JOBS (2)
#   tools/compat/nvbench.sh run WORK [EXAMPLE...]         runs examples: status, seconds, rows of their tables. GPU (rtx-3070),
#                                                         ARGS: of each example (--min-samples 3 --timeout 2), LIMIT: seconds (300)
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
bin=${BIN:-$here/build/warpstep}
nvcc=$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc || echo /usr/local/cuda/bin/nvcc)

# What its CMake files write: texts of the help, the configuration, the revision.
generate() {
  local source=$1 work=$2 name
  mkdir -p "$work/nvbench/internal"
  for name in cli_help cli_help_axis; do
    printf '#include <string>\nnamespace {\nconst std::string %s_text =\nR"expected(%s)expected";\n}\n' \
      "$name" "$(cat "$source/docs/$name.md")" >"$work/nvbench/internal/$name.cuh"
  done
  sed -e 's|^#cmakedefine NVBENCH_HAS_NVML||' \
    -e "s|^#cmakedefine NVBENCH_HAS_CUPTI|$([ "${CUPTI:-1}" = 0 ] || echo '#define NVBENCH_HAS_CUPTI')|" \
    "$source/nvbench/config.cuh.in" >"$work/nvbench/config.cuh"
  printf '#define NVBENCH_GIT_%s "none"\n' BRANCH SHA1 VERSION >"$work/nvbench/git_revision.cuh"
  printf '#define NVBENCH_VERSION_%s 0\n' MAJOR MINOR PATCH >"$work/nvbench/version.cuh"
  printf '#define NVBENCH_VERSION 0\n#define NVBENCH_GIT_IS_DIRTY 0\n' >>"$work/nvbench/git_revision.cuh"
}

# compile FILE OBJECT: of each file that is newer than its object.
compile() {
  [ "$2" -nt "$1" ] && return
  echo "  NVCC  $(basename "$1")"
  # shellcheck disable=SC2086  # FLAGS are words
  "$nvcc" $FLAGS -c -o "$2" "$1"
}

build() {
  local source=$1 fmt=$2 json=$3 work=$4 files file
  generate "$source" "$work"
  FLAGS="-O1 -std=c++17 -arch=sm_${ARCH:-86} --extended-lambda -diag-suppress 20011,20014 -DFMT_HEADER_ONLY=1 -DNVBENCH_NO_IMPLICIT_SYSTEM_HEADER"
  FLAGS="$FLAGS -I$work -I$source -I$fmt/include -I$json/include -x cu"
  export FLAGS nvcc
  export -f compile
  files=$(sed -n '/^set(srcs/,/^)/s/^  \(.*\.c[ux]x*\)$/\1/p' "$source/nvbench/CMakeLists.txt")
  [ "${CUPTI:-1}" = 0 ] || files="$files detail/measure_cupti.cu cupti_profiler_host.cxx"
  # shellcheck disable=SC2016  # the inner shell expands
  for file in $files json_printer.cu main.cu; do
    echo "$source/nvbench/$file $work/$(basename "$file").o"
  done | xargs -P "${JOBS:-2}" -L 1 bash -c 'compile "$1" "$2"' compile || return
  # shellcheck disable=SC2016  # the inner shell expands
  for file in "$source"/examples/*.cu; do
    [[ $(basename "$file" .cu) =~ ^(${ONLY:-.*})$ ]] && echo "$file $work/$(basename "$file" .cu).example"
  done | xargs -P "${JOBS:-2}" -L 1 bash -c 'compile "$1" "$2"' compile || return
  for file in "$work"/*.example; do
    "$nvcc" "-arch=sm_${ARCH:-86}" -cudart shared -o "${file%.example}" "$work"/*.o -Xlinker "$file" \
      -L"$(dirname "$nvcc")/../lib64/stubs" -lcuda -lcupti || return
  done
}

run() {
  local work=$1 names=("${@:2}") name status from failed=0
  [ ${#names[@]} -gt 0 ] || mapfile -t names < <(find "$work" -name '*.example' -printf '%f\n' | sed 's/\.example$//' | sort)
  for name in "${names[@]}"; do
    from=$(date +%s)
    # shellcheck disable=SC2086  # ARGS are words
    timeout "${LIMIT:-300}" "$bin" exec --quiet --gpu "${GPU:-rtx-3070}" "$work/$name" ${ARGS:---min-samples 3 --timeout 2} \
      >"$work/$name.out" 2>&1
    status=$?
    grep -q '^Fail:' "$work/$name.out" && status=1
    [ $status -eq 0 ] || failed=$((failed + 1))
    echo "$name: status $status, $(($(date +%s) - from)) s, $(grep -c '^| .*[0-9] ' "$work/$name.out") rows"
  done
  echo "${#names[@]} programs, $failed failed"
  [ $failed -eq 0 ]
}

case ${1:-} in
  build) [ $# -eq 5 ] && build "${@:2}" ;;
  run) [ $# -ge 2 ] && run "${@:2}" ;;
  *) sed -n '2,/^set -u/{/^#/p;}' "$0"; exit 2 ;;
esac
