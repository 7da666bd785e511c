#!/usr/bin/env bash
# Microbenchmark windows against silicon and the published core study: every file of data/windows/ and
# data/paper/ (docs/probe.md). One case per file; a window that differs, or a known gap that is closed,
# fails it. Then that the verdicts can fail, and that written programs give the same cycles.
#
#   tests/probe/run.sh
#
# BIN names the program (build/warpstep), JOBS the number of cases at a time (2).
set -u
cd "$(dirname "$0")/../.." || exit 2

export BIN=${BIN:-build/warpstep}
if [ ! -x "$BIN" ]; then
  echo "tests/probe/run.sh: no $BIN; run make first" >&2
  exit 2
fi
SCRATCH=$(mktemp -d) || exit 2
export SCRATCH
trap 'rm -rf "$SCRATCH"' EXIT

check() { # NAME STATUS: 0 passes
  if [ "$2" -eq 0 ]; then echo "ok probe $1"; else echo "not ok probe $1"; fi
}

windows() { # FILE
  local out name
  name=$(basename "$1" .windows)
  if out=$("$BIN" probe "$1" 2>&1); then
    echo "ok probe $name: $(tail -n 1 <<<"$out")"
  else
    echo "not ok probe $name: $(grep -E 'DIFFERS|closed|^warpstep' <<<"$out" | tr -s ' ' | head -n 3 | tr '\n' ';')"
  fi
}

# All of data/paper/, every window printed.
paper() {
  local out lines
  out=$("$BIN" probe --paper 2>&1)
  check "--paper: $(tail -n 1 <<<"$out")" $?
  lines=$(grep -cE '^(LD|ST|listing|figure)' <<<"$out")
  check '--paper prints every window' $((lines != $(cat data/paper/*.windows | grep -c 'name = ')))
}

# A machine with a shorter memory queue does not give Table 1.
short_queue() {
  "$BIN" probe data/paper/table-1.windows --set mem.queue_entries=4 >/dev/null 2>&1
  check 'a short queue is seen' $(($? != 1))
}

# Parameters found from cycles alone are those of the preset.
parameters() { # GPU: all tests but `banks-all`, which takes half a minute
  local out
  out=$("$BIN" probe --gpu "$1" 2>&1)
  check "tests on $1: $(tail -n 1 <<<"$out")" $?
}

# Volta takes warps in turn and has a small L0, which `constants` (a greedy warp holds the port) and `icache` do not expect.
volta() {
  local out tests
  mapfile -t tests < <("$BIN" probe --list | awk '{ print $1 }' | grep -vxE 'constants|icache|banks-all')
  out=$("$BIN" probe --gpu titan-v "${tests[@]}" 2>&1)
  check "tests on titan-v: $(tail -n 1 <<<"$out")" $?
}

# Blind: with one parameter changed the same programs give the changed value, and nothing else differs.
infers() { # KEY=VALUE TEST VALUE NAME...: the test finds VALUE under NAME
  local out name="${*:4}"
  out=$("$BIN" probe "$2" --set "$1") && grep -qE "^$name +$3 " <<<"$out"
  check "$2 with $1" $?
}

unknown_test() {
  "$BIN" probe nonsense >/dev/null 2>&1
  check 'an unknown test is an error' $(($? != 2))
}

# A program written out runs from its launch file and stores the clock reads the window took.
emitted() {
  local first second
  "$BIN" probe data/paper/table-2.windows --emit "$SCRATCH/emit" >/dev/null
  "$BIN" run "$SCRATCH/emit/LDS.32_regular__RAW_WAW.launch" --gpu rtx-a6000 --quiet --print-buf out:2 >"$SCRATCH/out"
  read -r first second < <(sed 's/.*= //' "$SCRATCH/out")
  check 'an emitted program gives 24 cycles' $((second - first != 24))
}

# The programs of a test, run one by one on another machine, tell its parameters: --from reads what they stored.
stored() {
  local launch name out
  "$BIN" probe queue stream --emit "$SCRATCH/programs" >/dev/null
  mkdir "$SCRATCH/silicon"
  for launch in "$SCRATCH"/programs/*.launch; do
    name=$(basename "$launch" .launch)
    "$BIN" run "$launch" --gpu rtx-a6000 --set mem.queue_entries=7 --set l0i.stream_lines=4 --quiet \
      --out "$SCRATCH/silicon/$name" >/dev/null || break
  done
  out=$("$BIN" probe queue stream --from "$SCRATCH/silicon" 2>&1)
  grep -qE '^memory instructions in the queue +7 ' <<<"$out" &&
    grep -qE '^lines the prefetcher runs ahead +4 ' <<<"$out"
  check 'tests read what another machine stored' $?
}
export -f check windows paper short_queue parameters volta infers unknown_test emitted stored

# One case a line, long ones first: a function above and its arguments.
cases() {
  local gpu file
  for gpu in rtx-a6000 rtx-3070 a100 rtx-2080ti h200 b200 rtx-5070ti rtx-4090 b300; do echo "parameters $gpu"; done
  for file in data/windows/*.windows; do echo "windows $file"; done
  printf '%s\n' volta paper short_queue stored emitted unknown_test
  sed -n 's/^#: //p' "$0"
}
#: infers mem.queue_entries=7 queue 7 memory instructions in the queue
#: infers mem.arbiter_interval=3 arbiter 12 cycles per load, 4 sub-cores
#: infers lat.sfu=21 latency 21 latency of MUFU
#: infers pipe.interval.sfu=4 intervals 4 cycles per MUFU
#: infers issue.stall0_yield_cycles=55 stalls 55 stall 0, yield
#: infers issue.big_stall_from=13 stalls 12 stall 12
#: infers issue.depbar_cycles=3 control 3 least stall of DEPBAR that holds
#: infers issue.policy=gto policy gto issue policy
#: infers issue.policy=lrr policy lrr issue policy
#: infers issue.policy=oldest policy oldest issue policy
#: infers lat.bar=30 barrier 30 CTA barrier, 32 warps
#: infers regfile.banks=4 banks 4 register banks
#: infers regfile.cache=false reuse 0 operand slots with a cached value of their own
#: infers l0i.stream_lines=4 stream 4 lines the prefetcher runs ahead
#: infers fetch.ibuffer_entries=5 ibuffer 5 instruction buffer of a warp
#: infers const.fl_bytes=1024 constants 1024 L0 FL .operands., bytes
#: infers const.vl_bytes=4096 constants 4096 L0 VL .LDC., bytes
#: infers const.line=128 constants 128 L0 VL .LDC., line
#: infers issue.const_miss_switch_cycles=9 constants 9 constant miss, cycles until another warp issues
#: infers l1.bytes_per_cycle=32 conflicts 4 cycles per wavefront
#: infers l1i.miss_latency=300 icache 298 jump to a line of L2, more than of L0
#: infers l0i.bytes=32768 icache 32 L0 instruction cache, KiB
#: infers l1i.latency=60 icache 60 jump to a line of L1, more than of L0

# shellcheck disable=SC2016 # $1 belongs to the inner shell
cases | xargs -d '\n' -n 1 -P "${JOBS:-2}" bash -c 'eval "$1"' run | tee "$SCRATCH/verdicts"
passed=$(grep -c '^ok ' "$SCRATCH/verdicts")
failed=$(grep -c '^not ok ' "$SCRATCH/verdicts")
expected=$(($(cases | wc -l) + 1)) # paper has two
echo "probe: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -eq "$expected" ]
