#!/usr/bin/env bash
# Foreign CUDA programs under `warpstep exec --functional`: builds them with nvcc, runs them,
# and prints one row per program (tab separated, a header first):
#
#   suite program builds runs verifies seconds cause
#
#   builds    yes, no
#   runs      yes, no (no success status), time (over the limit), waived (the program says that it
#             cannot run on this GPU), - (not built)
#   verifies  passed, failed (what the program says about its own results), - (it does not say)
#   seconds   processor time of the run, program and simulator together
#   defects   only with CHECK: errors that the sanitizer counts, warnings behind a slash; with a + when the
#             run was stopped at its limit: those of launches that had ended
#
#   tools/compat/run.sh SUITE=FOLDER...       the checked-out repository of a suite:
#     samples    NVIDIA/cuda-samples          polybench  sgrauerg/polybenchGpu
#     rodinia    yuhc/gpu-rodinia             hecbench   Scientific-Computing-Lab/gpuFLOPBench
#     sanitizer  NVIDIA/compute-sanitizer-samples      cccl, libcudacxx   NVIDIA/cccl (examples; tests of libcu++)
#     cub, thrust  NVIDIA/cccl (samples of their own tests)      cutlass  NVIDIA/cutlass (examples for ARCH: sm_75, sm_80, sm_90a)
#     bght  owensgroup/BGHT   slabhash  owensgroup/SlabHash   prk  ParRes/Kernels   indigo2  burtscher/Indigo2Suite (single.list)
#
# Environment: BIN (build/warpstep), NVCC, ARCH (the target: sm_86), LIMIT (processor seconds of a run where the suite's
# list has none: 60), BUILD_LIMIT (seconds that nvcc has for a program: 600), JOBS (2), ONLY (extended regular expression: names of programs), CUDART (the linked runtime, shared
# or static: shared), OUT (folder for the output of each program, build/compat), REBUILD (1: also what is built, as another
# target wants), CHECK (tools of the sanitizer, such as all: programs run under `warpstep sanitize --tool CHECK`, their
# reports in NAME.reports of OUT; build/compat-check), CHECK_OPTIONS (more of its options, words), DEFINES (options
# for nvcc, words), SIZE (of PolyBench's arrays in each dimension, points of Rodinia's
# streamcluster; theirs), CATCH2 (folder where Catch2 3 is installed, for cub and thrust: /usr), LAUNCH (2: tests of cub launch
# through graphs where they can: 0). Programs are built inside the folders; for reports with source lines DEFINES=-lineinfo REBUILD=1.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck disable=SC1091  # checked by itself
. "$here/suites.sh"

root=$(cd "$here/../.." && pwd)
BIN=$(realpath "${BIN:-$root/build/warpstep}")
NVCC=${NVCC:-$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)}
CHECK=${CHECK-}
OUT=${OUT:-$root/build/compat${CHECK:+-check}}
export CHECK CHECK_OPTIONS=${CHECK_OPTIONS-} DEFINES=${DEFINES-} SIZE=${SIZE-}
export BIN NVCC OUT LIMIT=${LIMIT:-60} BUILD_LIMIT=${BUILD_LIMIT:-600} ONLY=${ONLY:-.} CUDART=${CUDART:-shared}
export CATCH2=${CATCH2:-/usr} LAUNCH=${LAUNCH:-0}
export REBUILD=${REBUILD:-0} ARCH=${ARCH:-sm_86}
WALL=20 # real seconds per processor second before a run counts as hanging

# What the program says about its results: passed, failed, or - when it says nothing.
verdict() {
  if grep -qE '\b(FAIL|FAILED|INCORRECT)\b|: Failed\b|[Mm]ismatch(es)? |[Tt]est failed|Percent: [1-9]' "$1"; then
    echo failed
  elif grep -qE '\b(PASS|PASSED|Pass|OK|SUCCESS|succeeded|CORRECT)\b|[Pp]assed|Percent: 0$|[Ss]uccess|validates|[Vv]erified|All good' "$1"; then
    echo passed
  else
    echo -
  fi
}

# why_not_built LOG
why_not_built() {
  local header
  header=$(grep -oE '[A-Za-z0-9_./]+(: No such file|\": No such file|" \(no such file)|cannot find -l[^: ]+' \
    "$1" | head -n 1 | sed 's/[":].*//')
  if [ -n "$header" ]; then
    echo "needs $header"
  else
    echo "compile: $(grep -m 1 -iE 'error|undefined' "$1" | sed 's/.*error[: ]*//' | cut -c 1-90)"
  fi
}

# why_failed STATUS STDOUT STDERR: the class of the first cause that is seen.
why_failed() {
  local missing fault
  missing=$(grep -hoE '[A-Za-z0-9_]+ is not served|linking[^;]* is not served' "$3" | head -n 3 |
    sed 's/ is not served//' | paste -sd ' ')
  fault=$(grep -hm 1 -E '^(warpstep|exec)[^:]*: .*(fault|illegal|unknown|unsupported|not implemented|cannot)' \
    "$3" | cut -c 1-110)
  if [ -n "$missing" ]; then
    echo "not served: $missing"
  elif [ -n "$fault" ]; then
    echo "$fault"
  elif grep -qhiE 'cannot open|could not open|unable to open|no such file|error opening|unable to find' \
    "$2" "$3"; then
    echo "input data"
  elif grep -qh 'error while loading shared libraries' "$3"; then
    echo "library: $(grep -oE 'lib[a-zA-Z_]+\.so[.0-9]*' "$3" | head -n 1)"
  else
    echo "status $1: $(cat "$3" "$2" | grep -iE 'error|fail|not' | head -n 1 | cut -c 1-90)"
  fi
}

# defects REPORTS: what the sanitizer counts, "3" or "3/2" with warnings.
defects() {
  local errors warnings
  errors=$(sed -n 's/^========= ERROR SUMMARY: \([0-9]*\) error.*/\1/p' "$1" | tail -n 1)
  warnings=$(sed -n 's/^========= WARNING SUMMARY: \([0-9]*\) warning.*/\1/p' "$1" | tail -n 1)
  echo "${errors:-0}${warnings:+/$warnings}"
}

# one SUITE FOLDER PROGRAM: its row.
one() {
  local suite=$1 folder=$2 name=$3 log=$OUT/$1/${3//\//_}
  local row=("$suite" "$name")
  mkdir -p "$OUT/$suite"
  # shellcheck disable=SC2016  # the inner shell expands
  if ! timeout "$BUILD_LIMIT" bash -c '. "$0"; cd "$2" && "build_$1" "$3"' "$here/suites.sh" "$suite" "$folder" "$name" \
    >"$log.build" 2>&1 </dev/null; then
    (IFS=$'\t'; echo "${row[*]}	no	-	-	-${CHECK:+	-}	$(why_not_built "$log.build")")
    return
  fi
  local command status seconds runs verified cause='' limit found='' way=(exec --functional --quiet)
  limit=$(listed "$suite" "$name" 3)
  limit=${limit:-$LIMIT}
  command=$(cd "$folder" && "command_$suite" "$name")
  # shellcheck disable=SC2206  # options are words
  [ -n "$CHECK" ] && way=(sanitize --tool "$CHECK" --error-exitcode 0 --log-file "$log.reports" $CHECK_OPTIONS)
  TIMEFORMAT='%U %S'
  seconds=$( { time (
    cd "$folder" || exit
    ulimit -t "$limit"
    # shellcheck disable=SC2086  # the command is words
    timeout $((limit * WALL)) "$BIN" "${way[@]}" $command >"$log.out" 2>"$log.err" </dev/null
  ); } 2>&1 | tail -n 1 | awk '{ printf "%.1f", $1 + $2 }'; exit "${PIPESTATUS[0]}")
  status=$?
  verified=$(verdict "$log.out")
  case $status in
  0) runs=yes ;;
  124) runs='time' verified=- cause="over $((limit * WALL)) s of real time" ;;
  137 | 152) runs='time' verified=- cause="over $limit s" ;;
  *) runs=no cause=$(why_failed "$status" "$log.out" "$log.err") ;;
  esac
  if [ "$suite $status" = "samples 2" ] && ! grep -q '^warpstep:' "$log.err"; then
    runs=waived verified=- # EXIT_WAIVED of the samples' headers
  fi
  [ "$runs $verified" = "yes failed" ] && cause=$(why_failed 0 "$log.out" "$log.err")
  [ -n "$CHECK" ] && found="	$(defects "$log.reports")$([ "$runs" != 'time' ] || echo +)"
  (IFS=$'\t'; echo "${row[*]}	yes	$runs	$verified	$seconds$found	$cause")
}

if [ "${1-}" = --one ]; then
  shift
  one "$@"
  exit
fi
if [ $# -eq 0 ] || [ ! -x "$BIN" ] || [ -z "$NVCC" ]; then
  sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2
  exit 2
fi

tools=$(mktemp -d) || exit 2
trap 'rm -rf "$tools"' EXIT
make_toolkit "$tools"
export TOOLKIT=$tools
printf 'suite\tprogram\tbuilds\truns\tverifies\tseconds%s\tcause\n' "${CHECK:+	defects}"
for argument; do
  suite=${argument%%=*} folder=$(realpath "${argument#*=}")
  "list_$suite" "$folder" | awk -F '\t' -v only="$ONLY" '$2 ~ only' |
    while IFS=$'\t' read -r at name; do printf '%s\0%s\0%s\0' "$suite" "$at" "$name"; done |
    xargs -0 -r -n 3 -P "${JOBS:-2}" "$0" --one
done
