#!/usr/bin/env bash
# Assembled programs: the microbenchmarks of this folder, timed, against published measurements, and
# compiled kernels that were disassembled and assembled again, against their CPU references.
#
#   tests/asm/run.sh
#
# BIN names the program (build/warpstep). `make refs` must have run.
set -u
cd "$(dirname "$0")/../.." || exit 2

BIN=${BIN:-build/warpstep}
if [ ! -x "$BIN" ]; then
  echo "tests/asm/run.sh: no $BIN; run make first" >&2
  exit 2
fi
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
passed=0 failed=0

verdict() { # NAME REASON: no reason: it passed
  if [ -z "$2" ]; then
    passed=$((passed + 1))
    echo "ok asm $1"
  else
    failed=$((failed + 1))
    echo "not ok asm $1: $2"
  fi
}

# run FILE KERNEL ARGS...: one warp (THREADS: 32), timed (GPU: rtx-3070); a buffer of two words is its only argument.
run() {
  local file=$1 kernel=$2
  shift 2
  "$BIN" run "$out/$file.cubin" --kernel "$kernel" --gpu "${GPU:-rtx-3070}" --grid 1 --block "${THREADS:-32}" --quiet \
    --buf out:u32:2:zero --arg out "$@" 2>&1
}

# clocks FILE KERNEL MIN [MAX]: out[0], a difference of two clock reads, lies in [MIN, MAX].
clocks() {
  local got reason=''
  got=$(run "$1" "$2" --print-buf out:1)
  got=${got##*= }
  case $got in
  '' | *[!0-9]*) reason="printed '$got'" ;;
  *) [ "$got" -ge "$3" ] && [ "$got" -le "${4:-$3}" ] || reason="$got cycles, expected $3${4:+ to $4}" ;;
  esac
  verdict "$1 $2" "$reason"
}

# statistic FILE KERNEL NAME WANT
statistic() {
  local got
  got=$(run "$1" "$2" --json - | sed -n "s/^ *\"$3\": \([0-9]*\).*/\1/p" | head -n 1)
  if [ "$got" = "$4" ]; then verdict "$1 $2" ''; else verdict "$1 $2" "$3 is '$got', expected $4"; fi
}

for source in tests/asm/*.sass; do
  name=$(basename "$source" .sass)
  why=$("$BIN" asm "$source" -o "$out/$name.cubin" 2>&1)
  verdict "assemble $name" "$why"
done

# Huerta et al., MICRO 2025: Listing 1, Listing 2, the stall counter and yield bit, clock reads,
# Listing 4. Stalls above 11 without yield last one or two cycles.
clocks read_ports odd_odd 5
clocks read_ports even_odd 6
clocks read_ports even_even 7
clocks stall_count stall_1 5
clocks stall_count stall_4 8
clocks stall_count stall_8 12
clocks stall_yield plain 2
clocks stall_yield yield 3
clocks stall_yield stall_11 12
clocks stall_yield stall_15 16
clocks stall_yield big_no_yield 2 3
clocks stall_yield zero_yield 46
clocks clock_pair clock_pair 2
statistic reuse example_1 rfc_hits 1
statistic reuse example_2 rfc_hits 2
statistic reuse example_3 rfc_hits 1
statistic reuse example_4 rfc_hits 0
# Of 32 lanes that read one word, twice: a sector of one line.
statistic scope cta l1_hit_sectors 1
statistic scope cta strong_insts 0
statistic scope gpu l1_hit_sectors 0
statistic scope gpu strong_insts 2
for kernel in early in_time; do
  got=$(run bypass $kernel --print-buf out:1)
  if [ "$got" = 'out[0..0] = 1' ]; then why=''; else why="printed '$got'"; fi
  verdict "bypass $kernel" "$why"
done

# An address: not zero where the launch has the workspace.
got=$(GPU=titan-v run grid_workspace both --print-buf out:1)
if [[ $got = 'out[0..0] = '[1-9]* ]]; then why=''; else why="printed '$got'"; fi
verdict "grid_workspace both" "$why"

# drained KERNEL MODE: out[0] is 7, and the checker finds nothing.
drained() {
  local got
  got=$(run drain "$1" --hazards "$2" --print-buf out:1)
  if [ "$got" = 'out[0..0] = 7' ]; then verdict "drain $1 $2" ''; else verdict "drain $1 $2" "printed '$got'"; fi
}
for mode in check emulate; do
  drained strong $mode
  drained weak $mode
  THREADS=512 drained doubles $mode # a queue at the SM's FP64 unit
  THREADS=512 drained overwritten $mode # … and at its shared memory
done

# Groups of copies: DEPBAR waits for one that was closed without a counter as for one with SB0.
got=$(run drain copies --print-buf out:1) want=$(run drain copies_named --print-buf out:1)
if [[ $got = 'out[0..0] = '[1-9]* && $got = "$want" ]]; then why=''; else why="printed '$got', with a counter '$want'"; fi
verdict "drain copies" "$why"
why=$(THREADS=64 run drain copies --check racecheck | grep -m 1 -i 'race reported\|was not waited')
verdict "drain copies, races" "$why"
run drain strong --pipeline "$out/drain.kanata" >/dev/null
grep -q 'control bits: stall 0, yield until it is done$' "$out/drain.kanata" && why='' || why="the pipeline's text names counters"
verdict "drain pipeline" "$why"

# The same with the register values of silicon: Listing 2 (R5 = 2 and 6, here as FP32), Listing 3 (a fault).
emulated() { # FILE KERNEL WORD WANT
  local got
  got=$(run "$1" "$2" --hazards emulate --print-buf out:2 | sed 's/.*= //' | cut -d ' ' -f "$3")
  if [ "$got" = "$4" ]; then verdict "$1 $2 emulated" ''; else verdict "$1 $2 emulated" "printed '$got', expected $4"; fi
}
emulated stall_count stall_1 2 $((0x40000000))
emulated stall_count stall_4 2 $((0x40c00000))
emulated bypass in_time 1 1
got=$(run bypass early --hazards emulate)
status=$?
if [ $status -eq 3 ] && [[ $got == *'illegal address'*early+0x60* ]]; then why=''; else why="exit $status: $got"; fi
verdict 'bypass early emulated' "$why"

got=$("$BIN" run "$out/axpy.cubin" --gpu rtx-3070 --grid 2 --block 64 --quiet --buf x:f32:100:iota \
  --buf y:f32:100:const,value=1 --buf z:f32:100 --arg u32:99 --arg f32:2 --arg x --arg y --arg z \
  --print-buf z:100 2>&1)
want=$(for i in $(seq 0 98); do printf ' %d' $((2 * i + 1)); done)
if [ "${got#*=}" = "$want 0" ]; then why=''; else why="printed '$got'"; fi
verdict 'axpy result' "$why"

# reassembled KERNEL SM: assembled from its own disassembly, it still computes what it must.
reassembled() {
  local launch=kernels/$1/$1.launch cubin=kernels/$1/$1.sm_$2.cubin why=''
  mkdir -p "$out/kernels/$1"
  sed "s|\"\.\./\.\./build|\"$PWD/build|" "$launch" >"$out/kernels/$1/$1.launch"
  why=$("$BIN" disasm --asm "$cubin" 2>&1 >"$out/$1.sass" &&
    "$BIN" asm "$out/$1.sass" -o "$out/kernels/$1/$1.sm_$2.cubin" 2>&1 &&
    "$BIN" run "$out/kernels/$1/$1.launch" --gpu "$3" --functional --quiet 2>&1 >/dev/null) && why=''
  verdict "$1 sm_$2 reassembled" "$why"
}
for kernel in vecadd reduce_shfl printf_demo recursion func_ptr jump_table const_mem cp_async fp64_math \
  mma_f16 hist_shared atomics; do
  reassembled $kernel 86 rtx-3070
done
for kernel in sgemm_tiled recursion func_ptr printf_demo mma_ldmatrix; do
  reassembled $kernel 80 a100
  reassembled $kernel 90 h200
done
for kernel in narrow_pack tex_offset; do
  reassembled $kernel 100 b200
  reassembled $kernel 120 rtx-5070ti
done

# plain KERNEL SM: without --asm, the text still assembles to the same words: targets are addresses. What
# the usual notation of sm_80 to sm_89 leaves out (memory descriptors) is replaced by NOP and not compared.
nop_memory() {
  sed 's/^\(  [0-9a-f]*\)  .* \(LD\|ST\|ATOM\|RED\|CCTL\|DISCARD\)[A-Z0-9.]* .*/\1  [S01] NOP ;/'
}
plain() {
  local cubin=kernels/$1/$1.sm_$2.cubin why=''
  {
    echo ".target sm_$2"
    echo ".kernel $1"
    "$BIN" disasm "$cubin" | grep '^  ' | if [ "$2" -ge 90 ]; then cat; else nop_memory; fi
  } >"$out/plain.sass"
  "$BIN" asm "$out/plain.sass" -o "$out/plain.cubin" >"$out/plain.log" 2>&1 || why=$(cat "$out/plain.log")
  words() {
    "$BIN" disasm --hex "$1" | sed -n 's/^  \([0-9a-f]*\)  \([0-9a-f]\{32\}\)  .*/\1 \2/p' |
      if [ "$2" -ge 90 ]; then cat; else grep -Fwf "$out/kept"; fi
  }
  sed -n '/ NOP ;$/!s/^  \([0-9a-f]\{4\}\)  .*/\1/p' "$out/plain.sass" >"$out/kept"
  words "$cubin" "$2" >"$out/words.old"
  words "$out/plain.cubin" "$2" >"$out/words.new" 2>/dev/null
  [ -s "$out/words.old" ] || why='nothing to compare'
  [ -n "$why" ] || why=$(cmp "$out/words.old" "$out/words.new" 2>&1)
  verdict "$1 sm_$2 plain disassembly assembled" "$why"
}
for kernel in scan cholesky recursion softmax jump_table; do
  for sm in 80 86 90; do plain $kernel $sm; done
done

echo "asm: $passed passed, $failed failed"
[ $failed -eq 0 ]
