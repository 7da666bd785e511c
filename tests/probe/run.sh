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

# Parameters found from cycles alone are those of the preset, on every family of targets; `banks-all` takes half a
# minute and runs when it is named.
for gpu in rtx-a6000 a100 rtx-2080ti h200 b200 rtx-5070ti; do
  quick='intervals latency stalls control policy barrier reuse stream ibuffer constants queue arbiter access conflicts'
  [ $gpu = rtx-a6000 ] && quick=
  # shellcheck disable=SC2086
  "$BIN" probe $quick --gpu $gpu >"$scratch/log" 2>&1
  status=$?
  check "tests on $gpu: $(tail -n 1 "$scratch/log")" $status
done
# Blind: with one parameter changed the same programs give the changed value, and nothing else differs.
infers() { # KEY=VALUE TEST NAME VALUE: the test finds VALUE under NAME
  "$BIN" probe "$2" --set "$1" >"$scratch/log" && grep -qE "^$3 +$4 " "$scratch/log"
  check "$2 with $1" $?
}
infers mem.queue_entries=7 queue 'memory instructions in the queue' 7
infers mem.arbiter_interval=3 arbiter 'cycles per load, 4 sub-cores' 12
infers lat.sfu=21 latency 'latency of MUFU' 21
infers pipe.interval.sfu=4 intervals 'cycles per MUFU' 4
infers issue.stall0_yield_cycles=55 stalls 'stall 0, yield' 55
infers issue.big_stall_from=13 stalls 'stall 12' 12
infers issue.depbar_cycles=3 control 'least stall of DEPBAR that holds' 3
infers issue.policy=gto policy 'issue policy' gto
infers issue.policy=lrr policy 'issue policy' lrr
infers issue.policy=oldest policy 'issue policy' oldest
infers lat.bar=30 barrier 'CTA barrier, 32 warps' 30
infers regfile.banks=4 banks 'register banks' 4
infers regfile.cache=false reuse 'operand slots with a cached value of their own' 0
infers l0i.stream_lines=4 stream 'lines the prefetcher runs ahead' 4
infers fetch.ibuffer_entries=5 ibuffer 'instruction buffer of a warp' 5
infers const.fl_bytes=1024 constants 'L0 FL .operands., bytes' 1024
infers const.vl_bytes=4096 constants 'L0 VL .LDC., bytes' 4096
infers const.line=128 constants 'L0 VL .LDC., line' 128
infers issue.const_miss_switch_cycles=9 constants 'constant miss, cycles until another warp issues' 9
infers l0i.bytes=32768 icache 'L0 instruction cache, KiB' 32
infers l1i.latency=60 icache 'jump to a line of L1, more than of L0' 60
"$BIN" probe nonsense >/dev/null 2>&1
check 'an unknown test is an error' $(($? != 2))

# A program written out runs from its launch file and stores the clock reads the window took.
"$BIN" probe data/paper/table-2.windows --emit "$scratch/emit" >/dev/null
"$BIN" run "$scratch/emit/LDS.32_regular__RAW_WAW.launch" --gpu rtx-a6000 --quiet --print-buf out:2 >"$scratch/out"
read -r first second < <(sed 's/.*= //' "$scratch/out")
check 'an emitted program gives 1 + 24 cycles' $((second - first != 25))


# The programs of a test, run one by one on another machine, tell its parameters: --from reads what they stored.
"$BIN" probe queue stream --emit "$scratch/programs" >/dev/null
mkdir "$scratch/silicon"
for launch in "$scratch"/programs/*.launch; do
  name=$(basename "$launch" .launch)
  "$BIN" run "$launch" --gpu rtx-a6000 --set mem.queue_entries=7 --set l0i.stream_lines=4 --quiet \
    --out "$scratch/silicon/$name" >/dev/null || break
done
"$BIN" probe queue stream --from "$scratch/silicon" >"$scratch/log" 2>&1
grep -qE '^memory instructions in the queue +7 ' "$scratch/log" && grep -qE '^lines the prefetcher runs ahead +4 ' "$scratch/log"
check 'tests read what another machine stored' $?

echo "probe: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
