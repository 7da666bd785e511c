#!/usr/bin/env bash
# Microbenchmark windows against silicon and the published core study: every file of data/windows/ and
# data/paper/ (docs/probe.md). One case per file; a window that differs, or a known gap that is closed,
# fails it. Then that the verdicts can fail, and that written programs give the same cycles.
#
#   tests/probe/run.sh
#
# BIN names the program (build/warpstep).
set -u
cd "$(dirname "$0")/../.." || exit 2

BIN=${BIN:-build/warpstep}
if [ ! -x "$BIN" ]; then
  echo "tests/probe/run.sh: no $BIN; run make first" >&2
  exit 2
fi
passed=0 failed=0
for file in data/windows/*.windows data/paper/*.windows; do
  name=$(basename "$file" .windows)
  if out=$("$BIN" probe "$file" 2>&1); then
    passed=$((passed + 1))
    echo "ok probe $name: $(tail -n 1 <<<"$out")"
  else
    failed=$((failed + 1))
    echo "not ok probe $name: $(grep -E 'DIFFERS|closed|^warpstep' <<<"$out" | tr -s ' ' | head -n 3 | tr '\n' ';')"
  fi
done
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

check() { # NAME STATUS: 0 passes
  if [ "$2" -eq 0 ]; then passed=$((passed + 1)) && echo "ok probe $1"; else
    failed=$((failed + 1)) && echo "not ok probe $1"; fi
}

# A machine with a shorter memory queue does not give Table 1.
"$BIN" probe data/paper/table-1.windows --set mem.queue_entries=4 >/dev/null 2>&1
check 'a short queue is seen' $(($? != 1))
"$BIN" probe --paper >"$scratch/log" 2>&1
lines=$(grep -cE '^(LD|ST|listing|figure)' "$scratch/log")
check '--paper prints every window' $((lines != $(cat data/paper/*.windows | grep -c 'name = ')))

# Parameters found from cycles alone are those of the preset; a changed one is found as well.
for gpu in rtx-a6000 a100 rtx-2080ti h200; do
  "$BIN" probe --infer --gpu $gpu >"$scratch/log" 2>&1
  status=$?
  check "--infer, $gpu: $(tail -n 1 "$scratch/log")" $status
done
infers() { # KEY=VALUE TEST NAME VALUE: the test finds VALUE under NAME
  "$BIN" probe --infer "$2" --set "$1" | grep -qE "^$3 +$4 "
  check "--infer $2 with $1" $?
}
infers mem.queue_entries=7 queue mem.queue_entries 7
infers mem.arbiter_interval=3 arbiter 'cycles per load, 4 sub-cores' 12
infers lat.sfu=21 latency 'latency of MUFU' 21
infers regfile.banks=4 banks 'register banks' 4
infers issue.stall0_yield_cycles=55 stalls 'stall 0, yield' 55

# A program written out runs from its launch file and stores the clock reads the window took.
"$BIN" probe data/paper/table-2.windows --emit "$scratch/emit" >/dev/null
"$BIN" run "$scratch/emit/LDS.32_regular__RAW_WAW.launch" --gpu rtx-a6000 --quiet --print-buf out:2 >"$scratch/out"
read -r first second < <(sed 's/.*= //' "$scratch/out")
check 'an emitted program gives 1 + 24 cycles' $((second - first != 25))

echo "probe: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
