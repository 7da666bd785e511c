#!/usr/bin/env bash
# The runner's summary (tools/run-tests.sh): what it counts, and that tests which cannot run are said to be skipped, with
# the reason.
#
#   tests/summary/run.sh
#
# BIN names the program (build/warpstep).
set -u
cd "$(dirname "$0")/../.." || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
failed=0

# check NAME STATUS
check() {
  if [ "$2" -eq 0 ]; then echo "ok summary $1"; else
    echo "not ok summary $1"
    sed 's/^/# /' "$scratch/said"
    failed=1
  fi
}

# program NAME STATUS LINE...: one that prints these lines.
program() {
  local file=$scratch/$1 status=$2
  shift 2
  { echo '#!/bin/sh' && printf "echo '%s'\n" "$@" && echo "exit $status"; } >"$file"
  chmod +x "$file"
}

runner() { tools/run-tests.sh "$@" >"$scratch/said" 2>&1; }
says() { grep -qxF -- "$1" "$scratch/said"; }
closes() { [ "$(tail -n 1 "$scratch/said")" = "$1" ]; }

program good 0 'ok 1 - a' 'ok 2 - b'
program bad 1 'ok 1 - a' 'not ok 2 - b'
program part 0 'ok a' 'ok b # SKIP no compiler' 'ok c # SKIP no compiler' 'ok d # SKIP no Python' 'ok e # SKIP'
program cmocka 0 '1..3' '# skipped: no compiler' 'not ok 1 # SKIP case' 'ok 2 - b' 'not ok 3 # SKIP other'
program none 0 'hello'
program crash 139 'ok 1 - a'

runner "$scratch/good" && closes '2 passed, 0 failed, 0 skipped'
check 'all pass' $?
! runner "$scratch/good" "$scratch/bad" && closes '3 passed, 1 failed, 0 skipped' && says 'not ok 2 - b'
check 'one fails' $?
runner "$scratch/part" && closes '1 passed, 0 failed, 4 skipped' && says "skipped: 2 of $scratch/part: no compiler" &&
  says "skipped: 1 of $scratch/part: no Python" && says "skipped: 1 of $scratch/part: no reason given"
check 'skipped cases have reasons' $?
runner "$scratch/cmocka" "$scratch/part" && closes '2 passed, 0 failed, 6 skipped' &&
  says "skipped: 1 of $scratch/cmocka: no compiler" && says "skipped: 1 of $scratch/cmocka: no reason given"
check "cmocka's skipped cases" $?
! runner "$scratch/none" && closes '0 passed, 1 failed, 0 skipped'
check 'a program without cases fails' $?
! runner "$scratch/crash" && closes '1 passed, 1 failed, 0 skipped'
check 'a crash fails' $?

# A machine without a compiler for CUDA, without Python packages.
printf '#!/bin/sh\nNVCC=none exec tests/exec/run.sh vecadd streams\n' >"$scratch/exec" && chmod +x "$scratch/exec"
cases=$(find tests/exec/cases \( -name 'streams-[0-9]*' -o -name 'vecadd-[0-9]*' \) | wc -l)
runner "$scratch/exec" && grep -qE "^skipped: 4 of $scratch/exec: no (nvcc|shim libraries)" "$scratch/said" &&
  closes "$cases passed, 0 failed, 4 skipped"
check 'programs without nvcc' $?
printf '#!/bin/sh\nexit 1\n' >"$scratch/python" && chmod +x "$scratch/python"
PYTHON=$scratch/python runner tests/clients/run.sh && grep -q '^skipped: .* of tests/clients/run.sh: ' "$scratch/said" &&
  tail -n 1 "$scratch/said" | grep -qE '^0 passed, 0 failed, [1-9][0-9]* skipped$'
check 'clients without packages' $?
exit $failed
