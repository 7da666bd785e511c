#!/usr/bin/env bash
# run-tests.sh PROGRAM...: runs test programs and counts their cases.
#
# A program prints lines "ok …" and "not ok …" (TAP; cmocka does so on request). Output is shown only of programs that
# fail. A case that cannot run here is "ok NAME # SKIP reason" ("not ok" likewise, which is what cmocka's skip() gives, without a reason: print
# a line "# skipped: reason" before it). Skipped cases are listed by program and reason; the last line is
# "N passed, N failed, N skipped"; status 1 when any failed. TIMES=1: before it, what each program cost, the dearest first.
set -u

export TEST_LIMIT=${TEST_LIMIT:-1200} # seconds for one program
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

run_one() {
  local log=$1/$2.log program=$3
  local TIMEFORMAT='%R %U %S'
  {
    time {
      CMOCKA_MESSAGE_OUTPUT=TAP timeout "$TEST_LIMIT" "$program" >"$log" 2>&1
      echo $? >"$1/$2.status"
    }
  } 2>"$1/$2.time"
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

# skips LOG: the reason of each skipped case.
skips() {
  awk '/^# skipped: / { said = substr($0, 12); next }
    /^(not )?ok .*# SKIP/ {
      # cmocka has the name of the case behind SKIP
      why = $0 ~ /^not ok [0-9]+ # SKIP/ ? (said != "" ? said : "no reason given") : substr($0, index($0, "# SKIP") + 7)
      print why == "" ? "no reason given" : why
      said = ""
    }' "$1"
}

passed=0
failed=0
skipped=0
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
  while read -r count why; do
    echo "skipped: $count of ${names[i]}: $why"
    skipped=$((skipped + count))
  done < <(skips "$log" | sort | uniq -c) >>"$out/skipped"
done
# What the corpus covered, also when all is well.
grep -hE '^([0-9]+ kernels|# semantics), ' "$out"/*.log 2>/dev/null | sed 's/^# //'
cat "$out/skipped" 2>/dev/null
if [ -n "${TIMES:-}" ]; then
  for ((i = 0; i < n; i++)); do
    echo "$(cat "$out/$i.time") ${names[i]}"
  done | awk '{ printf "%8.1f s of the processor, %7.1f s passed: %s\n", $2 + $3, $1, $4 }' | sort -rn
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
