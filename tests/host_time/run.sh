#!/usr/bin/env bash
# Host code that takes time (exec --host-time): what events see of it against the processor time that the program itself
# measures; a record, changed by hand, replayed.
#
#   tests/host_time/run.sh      BIN: the program (build/warpstep), NVCC: the compiler
set -u
cd "$(dirname "$0")/../.." || exit 2
bin=${BIN:-build/warpstep}
NVCC=${NVCC:-nvcc}
if ! command -v "$NVCC" >/dev/null; then
  echo "ok host time # SKIP no nvcc (NVCC names it)"
  exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if ! "$NVCC" -arch=sm_86 -std=c++14 -cudart shared -o "$scratch/busy" tests/host_time/busy.cu >"$scratch/log" 2>&1; then
  echo "not ok host time: $(grep -m 1 error "$scratch/log")"
  exit 1
fi
status=0

# says OPTIONS... -- ARGUMENTS...: "BUSY SEEN" of a run
says() {
  local options=()
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  "$bin" exec --quiet --set gpu.sms=2 "${options[@]}" "$scratch/busy" "$@" 2>"$scratch/err" |
    awk '$1 == "busy" { busy = $2 } $1 == "seen" { print busy, $2 }'
}

# case NAME CONDITION-OF-AWK "BUSY SEEN"
case_of() {
  if awk -v ok=1 "{ busy = \$1; seen = \$2 } END { exit !(NR == 1 && ($2)) }" <<<"$3"; then
    echo "ok host time: $1"
  else
    echo "not ok host time: $1: '$3' $(head -n 1 "$scratch/err")"
    status=1
  fi
}

case_of "calls alone take a few microseconds" "seen < 50000" "$(says --host-time calls -- 20000000)"
case_of "measured: as much as the program says" "seen > 0.98 * busy && seen < 1.02 * busy + 200000" \
  "$(says --host-time measured -- 20000000)"
case_of "measured, half of it" "seen > 0.49 * busy && seen < 0.51 * busy + 200000" \
  "$(says --host-time measured,0.5 -- 20000000)"
case_of "two threads at the same time: not the sum" "seen > 0.98 * busy && seen < 1.3 * busy" \
  "$(says --host-time measured -- 20000000 two)"

says --host-time "record=$scratch/gaps" -- 3000000 >"$scratch/recorded"
calls=$(($(wc -l <"$scratch/gaps") - 1))
if [ "$(head -n 1 "$scratch/gaps")" = "warpstep-host-time 1" ] && [ "$calls" -gt 5 ]; then
  echo "ok host time: a record of $calls calls"
else
  echo "not ok host time: the record: $(head -n 1 "$scratch/gaps")"
  status=1
fi
# Every gap is 1,000 ns, but one of 7 ms, the longest: before the second event.
awk 'NR == FNR { if (FNR > 1 && $2 > most) { most = $2; at = FNR } next }
     FNR == 1 { print; next } { print $1, (FNR == at ? 7000000 : 1000) }' "$scratch/gaps" "$scratch/gaps" >"$scratch/made"
case_of "replayed: what the file says, whatever the program takes" "seen > 7000000 && seen < 7050000" \
  "$(says --host-time "replay=$scratch/made" -- 100)"
for n in 1 2 3; do
  "$bin" exec --quiet --set gpu.sms=2 --threads "$n" --host-time "replay=$scratch/gaps" --json "$scratch/$n.json" \
    "$scratch/busy" "$((n * 1000))" >/dev/null 2>&1
  grep -v '"\(host_seconds\|seconds\|threads\|version\|command\)"' "$scratch/$n.json" >"$scratch/$n.txt"
done
if [ -s "$scratch/1.txt" ] && cmp -s "$scratch/1.txt" "$scratch/2.txt" && cmp -s "$scratch/1.txt" "$scratch/3.txt"; then
  echo "ok host time: replays are the same to the byte, for 1, 2 and 3 threads"
else
  echo "not ok host time: replays differ"
  status=1
fi

# report OPTION LINE: what the table says of it; no LINE: nothing.
report() {
  local line
  line=$("$bin" exec --set gpu.sms=2 --host-time "$1" "$scratch/busy" 1000 2>&1 >/dev/null | grep '^host time: ')
  if [ "$line" = "$2" ]; then
    echo "ok host time: the table says where it came from (${1%%=*})"
  else
    echo "not ok host time: the table of ${1%%=*} says '$line'"
    status=1
  fi
}
report measured "host time: measured, other times on every run (docs/exec-time.md)"
report "replay=$scratch/gaps" "host time: replayed (docs/exec-time.md)"
report calls ""

# refused TEXT OPTION
refused() {
  if ! "$bin" exec --host-time "$2" "$scratch/busy" >/dev/null 2>"$scratch/err" && grep -qF "$1" "$scratch/err"; then
    echo "ok host time: $2 is refused"
  else
    echo "not ok host time: $2: $(head -n 1 "$scratch/err")"
    status=1
  fi
}
cd "$scratch" || exit 2
bin=$OLDPWD/$bin
[ -x "$bin" ] || bin=${BIN:-$bin}
refused "choose calls, measured" never
refused "not a number up to" measured,-1
refused "not a number up to" measured,1e9
printf 'warpstep-host-time 1\n0 5\n0 -5\n' >bad
refused "bad:3: not 'THREAD NS'" replay=bad
printf 'warpstep-host-time 1\n4000000000 5\n' >thread
refused "thread:2: not 'THREAD NS'" replay=thread
echo nothing >other
refused "not a file of --host-time record" replay=other
refused "No such file" replay=none
exit $status
