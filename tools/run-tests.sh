#!/usr/bin/env bash
# run-tests.sh PROGRAM...: runs test programs and counts their cases.
#
# A program prints lines "ok …" and "not ok …" (TAP; cmocka does so on request). Output is shown
# only of programs that fail. The last line is "N passed, N failed"; status 1 when any failed.
set -u

export TEST_LIMIT=${TEST_LIMIT:-1200} # seconds for one program
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

run_one() {
  local log=$1/$2.log program=$3
  CMOCKA_MESSAGE_OUTPUT=TAP timeout "$TEST_LIMIT" "$program" >"$log" 2>&1
  echo $? >"$1/$2.status"
}
export -f run_one

n=0
names=()
for program; do
  case $program in */*) ;; *) program=./$program ;; esac
  names+=("$program")
  printf '%s\0%s\0%s\0' "$out" "$n" "$program"
  n=$((n + 1))
done >"$out/list"
[ -s "$out/list" ] && xargs -0 -n 3 -P "$jobs" bash -c 'run_one "$@"' run <"$out/list" 2>/dev/null

passed=0
failed=0
for ((i = 0; i < n; i++)); do
  log=$out/$i.log
  # A skipped case is neither; cmocka writes it as "not ok N # SKIP".
  ok=$(grep '^ok ' "$log" | grep -vc '# SKIP')
  bad=$(grep '^not ok ' "$log" | grep -vc '# SKIP')
  status=$(cat "$out/$i.status" 2>/dev/null || echo 255)
  # A crash, a sanitizer report or a missing plan is a failure of its own.
  [ "$status" -ne 124 ] || echo "stopped after $TEST_LIMIT s" >>"$log"
  if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
    bad=1
  elif [ "$status" -eq 0 ] && ! grep -qE '^(not )?ok ' "$log"; then
    echo "no test case in this output" >>"$log"
    bad=1
  fi
  if [ "$bad" -ne 0 ]; then
    printf -- '--- %s: %d of %d failed, exit status %d\n' "${names[i]}" "$bad" $((ok + bad)) "$status"
    grep -v '^ok ' "$log"
  fi
  passed=$((passed + ok))
  failed=$((failed + bad))
done
# What the corpus covered, also when all is well.
grep -hE '^([0-9]+ kernels|# semantics), ' "$out"/*.log 2>/dev/null | sed 's/^# //'
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
