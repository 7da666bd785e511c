#!/usr/bin/env bash
# Code that is decoded when it is needed: launches beside kernels that would not decode, the launch of one of those, and
# jumps into code that no launch has asked for, which are the same without and with time and on any number of threads.
#
#   tests/lazy/run.sh
#
# BIN names the program (build/warpstep).
set -u
cd "$(dirname "$0")/../.." || exit 2

BIN=${BIN:-build/warpstep}
if [ ! -x "$BIN" ]; then
  echo "tests/lazy/run.sh: no $BIN; run make first" >&2
  exit 2
fi
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
failed=0
ctas=96 threads=64

verdict() { # NAME REASON: no reason: it passed
  [ -z "$2" ] || failed=1
  if [ -z "$2" ]; then echo "ok lazy $1"; else echo "not ok lazy $1: $2"; fi
}

# launch KERNEL OPTION...: its buffer is $out/out.bin, its JSON $out/json, what it says $out/log.
launch() {
  local kernel=$1
  shift
  rm -f "$out/out.bin" "$out/json"
  "$BIN" run "$out/kernels.cubin" --kernel "$kernel" --gpu rtx-3070 --grid $ctas --block $threads --quiet \
    --buf out:u32:$((ctas * threads)):zero --arg out --out "$out" --json "$out/json" "$@" >"$out/log" 2>&1
}

# words EVEN ODD: what threads of CTAs of an even and of an odd number wrote.
words() {
  od -v -An -tu4 -w4 "$out/out.bin" | awk -v even="$1" -v odd="$2" -v n=$threads -v all=$((ctas * threads)) '
    $1 != (int((NR - 1) / n) % 2 ? odd : even) { print "word " NR - 1 " is " $1; exit }
    END { if (NR != all) print NR " words" }'
}

# same_on_threads NAME: JSON of the last run and of the first of this name.
same_on_threads() {
  [ -e "$out/$1.json" ] || cp "$out/json" "$out/$1.json"
  cmp -s "$out/json" "$out/$1.json" || echo "JSON differs from that of one thread"
}

# runs KERNEL EVEN ODD
runs() {
  local mode n why
  for mode in --functional ''; do
    for n in 1 2 3; do
      # shellcheck disable=SC2086
      if launch "$1" $mode --threads $n; then why=$(words "$2" "$3")$(same_on_threads "$1$mode"); else why=$(head -n 1 "$out/log"); fi
      verdict "$1 ${mode:-timed} $n" "$why"
    done
  done
}

# A word that is no instruction is named when it is to be executed.
refuses() {
  local mode want='what         broken+0x10: no such instruction: opcode 0xdef'
  for mode in --functional ''; do
    # shellcheck disable=SC2086
    launch broken $mode
    local status=$? why=''
    [ $status -eq 3 ] || why="exit $status"
    grep -q "$want" "$out/log" || why="$why $(head -n 2 "$out/log" | tr '\n' ' ')"
    verdict "broken ${mode:-timed}" "$why"
  done
}

why=$("$BIN" asm tests/lazy/kernels.sass -o "$out/kernels.cubin" 2>&1)
verdict assemble "$why"
runs good 17 17
runs jumps 34 51
refuses
exit $failed
