#!/usr/bin/env bash
# RISC-V programs under `warpstep exec`: our own against qemu-user, the official riscv-tests, PolyBench/C against qemu-user.
#
# Programs are compiled by Debian's gcc-riscv64-linux-gnu. riscv-tests and PolyBench/C are not part of the tree: fetch.sh
# brings them to build/foreign; RISCV_TESTS and POLYBENCH name other places. What is missing is skipped.
set -u
cd "$(dirname "$0")/../.." || exit 1

BIN=${BIN:-build/warpstep}
CC=${RISCV_CC:-riscv64-linux-gnu-gcc}
SYSROOT=${RISCV_SYSROOT:-/usr/riscv64-linux-gnu}
RISCV_TESTS=${RISCV_TESTS:-build/foreign/riscv-tests}
POLYBENCH=${POLYBENCH:-build/foreign/polybench}
LIMIT="timeout -k 1 ${RV64_LIMIT:-60}"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failed=0

skip() {
  echo "ok $1 # SKIP $2"
}

# verdict NAME STATUS: ok when STATUS is 0.
verdict() {
  if [ "$2" -eq 0 ]; then echo "ok $1"; else
    echo "not ok $1"
    failed=1
  fi
}

# compare NAME PROGRAM ARGUMENT...: output and exit status as under qemu-user.
compare() {
  local name=$1 status expected
  shift
  echo "some input" | $LIMIT "$BIN" exec --sysroot "$SYSROOT" "$@" >"$out/ours" 2>&1
  status=$?
  echo "some input" | $LIMIT qemu-riscv64 -L "$SYSROOT" "$@" >"$out/theirs" 2>&1
  expected=$?
  [ "$status" -eq "$expected" ] && cmp "$out/ours" "$out/theirs" 2>&1
  verdict "$name" $?
}

own_programs() {
  local file name flags
  for file in tests/rv64/programs/*.c; do
    name=$(basename "$file" .c)
    flags=-static
    [ "$name" != library ] || flags=
    # shellcheck disable=SC2086
    "$CC" -std=gnu17 -O2 -w $flags -o "$out/$name" "$file" -lm -ldl -latomic || verdict "build $name" 1
    [ "$name" != faults ] || continue
    RV64_TEST=yes compare "program $name" "$out/$name" "two words" "" last
  done
}

# timed NAME MACHINE PROGRAM ARGUMENT...: the same output and exit status in time as without.
timed() {
  local name=$1 machine=$2 status expected
  shift 2
  echo "some input" | $LIMIT "$BIN" exec --sysroot "$SYSROOT" --quiet --machine "$machine" "$@" >"$out/timed" 2>&1
  status=$?
  echo "some input" | $LIMIT "$BIN" exec --sysroot "$SYSROOT" "$@" >"$out/untimed" 2>&1
  expected=$?
  [ "$status" -eq "$expected" ] && [ -s "$out/timed" ] && cmp "$out/timed" "$out/untimed" 2>&1
  verdict "$name" $?
}

# The cores of each machine; one with threads under every protocol and topology; reports, byte by byte.
cores() {
  local file name machine protocol topology
  for file in tests/rv64/programs/*.c; do
    name=$(basename "$file" .c)
    [ "$name" != faults ] || continue
    for machine in fused-rv64 split-rv64 c2c-rv64; do
      RV64_TEST=yes timed "$machine $name" "$machine" "$out/$name" "two words" "" last
    done
  done
  topology=crossbar
  for protocol in mi mesi hammer vi_hammer hsc; do
    sed -e "s/^  protocol = (\"[a-z]*\"/  protocol = (\"$protocol\"/" -e "s/^  topology = (\"[a-z]*\"/  topology = (\"$topology\"/" \
      presets/machines/fused-rv64.cfg >"$out/machine.cfg"
    grep -q "protocol = (\"$protocol\"" "$out/machine.cfg"
    verdict "a machine with $protocol" $?
    timed "$protocol threads" "$out/machine.cfg" "$out/threads"
    timed "$protocol atomics" "$out/machine.cfg" "$out/atomics"
    case $topology in crossbar) topology=ring ;; ring) topology=mesh ;; mesh) topology=clusters ;; *) topology=crossbar ;; esac
  done
  "$BIN" exec "$out/threads" >"$out/untimed" 2>&1
  "$BIN" exec --functional --quiet --machine fused-rv64 "$out/threads" >"$out/timed" 2>&1 && cmp "$out/timed" "$out/untimed" 2>&1
  verdict "a machine without time" $?
  for name in a b; do
    $LIMIT "$BIN" exec --machine fused-rv64 --json "$out/$name.json" --report "$out/$name.txt" "$out/threads" >"$out/text" 2>&1
  done
  grep -q '"insts": [1-9]' "$out/a.json" && cmp "$out/a.json" "$out/b.json" && cmp "$out/a.txt" "$out/b.txt"
  verdict "the same in time twice" $?
  "$BIN" exec --quiet --machine gh200 "$out/threads" >"$out/timed" 2>&1 && cmp "$out/timed" "$out/untimed" 2>&1
  verdict "a machine without a CPU" $?
}

# member FILE NAME: a number of a JSON document.
member() {
  sed -nE "s/^ *\"$2\": ([0-9]+),?\$/\1/p" "$1" | head -n 1
}

# Without time up to the region of interest, or so many instructions: the same output; the region takes what it takes in a run that is
# wholly in time, within a hundredth (caches are cold), and no less than its chain of 50,000 multiplications (3 cycles, at 2 GHz) and
# additions (1); only the rest is executed in time.
forward() {
  local whole part to
  for to in whole region 500000; do
    if [ $to = whole ]; then set --; else set -- --fast-forward $to; fi
    $LIMIT "$BIN" exec --quiet --machine fused-rv64 --json "$out/$to.json" "$@" "$out/region" >"$out/$to.out" 2>&1
    verdict "region: $to" $?
  done
  cmp "$out/whole.out" "$out/region.out" 2>&1 && cmp "$out/whole.out" "$out/500000.out" 2>&1
  verdict "region: the same output" $?
  whole=$(member "$out/whole.json" regions_ns) part=$(member "$out/region.json" regions_ns)
  [ "$(member "$out/region.json" regions)" -eq 1 ] && [ "$whole" -ge $((50000 * 4 / 2)) ] &&
    [ $((100 * (whole - part))) -lt "$whole" ] && [ $((100 * (part - whole))) -lt "$whole" ]
  verdict "region: its time" $?
  [ "$(member "$out/500000.json" forwarded_ps)" -eq 500000000 ] && [ "$(member "$out/whole.json" forwarded_ps)" -eq 0 ]
  verdict "region: from the 500000th instruction on" $?
  whole=$(member "$out/whole.json" insts) part=$(member "$out/region.json" insts)
  [ $((whole - part)) -ge 4000000 ] # four of each of the million turns before it
  verdict "region: only the rest is in time" $?
  $LIMIT "$BIN" exec --fast-forward region "$out/region" >"$out/text" 2>&1
  [ $? -eq 2 ] && grep -q 'needs cores in time' "$out/text"
  verdict "region: without time there is nothing to forward to" $?
}

# Random arithmetic: all registers, again and again. RV64_SEEDS programs.
random_programs() {
  local seed
  for seed in $(seq "${RV64_SEEDS:-20}"); do
    python3 tests/rv64/random_programs.py "$seed" >"$out/random.S" && "$CC" -nostdlib -static -o "$out/random" "$out/random.S" &&
      $LIMIT "$BIN" exec "$out/random" >"$out/ours" && $LIMIT qemu-riscv64 "$out/random" >"$out/theirs" &&
      [ -s "$out/ours" ] && cmp "$out/ours" "$out/theirs" 2>&1
    verdict "random arithmetic $seed" $?
  done
}

# fault WHAT STATUS PATTERN [OPTION...]: one line on stderr, and this exit status.
fault() {
  local what=$1 expected=$2 pattern=$3
  shift 3
  $LIMIT "$BIN" exec "$@" "$out/faults" "$what" >"$out/text" 2>&1
  [ $? -eq "$expected" ] && [ "$(wc -l <"$out/text")" -eq 1 ] && grep -qE "$pattern" "$out/text"
  verdict "fault $what" $?
}

faults() {
  fault load 139 'SIGSEGV: load at address 0x123, at pc 0x[0-9a-f]+ \(main \+ 0x'
  fault store 139 'SIGSEGV: store at address 0x[0-9a-f]+ not allowed, at pc .*\(main'
  fault jump 139 'SIGSEGV: instruction fetch at address 0x1000, at pc 0x1000$'
  fault illegal 132 'SIGILL: illegal instruction 0xffffffff at pc .*\(main'
  fault break 133 'SIGTRAP: breakpoint at pc .*\(main'
  fault misaligned 135 'SIGBUS: misaligned atomic at address'
  fault abort 134 'killed by SIGABRT at pc'
  fault kernel 139 'load at address 0xfffffffffffff000'
  fault stack 139 'store at address .*\(large_frame'
  fault memory 139 'the guest.s memory is full \(64 MiB, --memory\)' --memory 64
  fault stuck 3 'all threads of the program wait for each other'
  fault loop 5 'stopped after 100000 instructions' --max-instructions 100000
  local cores="--quiet --machine split-rv64"
  # shellcheck disable=SC2086
  for what in "load 139 SIGSEGV:.load.at.address.0x123,.at.pc.0x[0-9a-f]+.\(main" "store 139 store.at.address.0x[0-9a-f]+.not.allowed" \
    "jump 139 instruction.fetch.at.address.0x1000,.at.pc.0x1000$" "illegal 132 illegal.instruction.0xffffffff" \
    "misaligned 135 misaligned.atomic.at.address" "abort 134 killed.by.SIGABRT" "stuck 3 wait.for.each.other"; do
    fault $what $cores
  done
  # shellcheck disable=SC2086
  fault loop 5 'stopped after 100[0-9]{3} instructions' --max-instructions 100000 $cores
}

# Twice the same, threads included: turns do not depend on the host.
determinism() {
  local i
  for i in 1 2; do
    $LIMIT "$BIN" exec --max-instructions 3000000 "$out/threads" >"$out/run$i" 2>&1
  done
  cmp "$out/run1" "$out/run2" 2>&1
  verdict "the same twice" $?
}

official() {
  local folder file name
  if [ ! -d "$RISCV_TESTS/isa" ]; then
    skip "riscv-tests" "no riscv-tests: tests/rv64/fetch.sh"
    return
  fi
  for folder in rv64ui rv64um rv64ua rv64uf rv64ud rv64uc; do
    for file in "$RISCV_TESTS/isa/$folder"/*.S; do
      name=$folder-$(basename "$file" .S)
      "$CC" -march=rv64gc -mabi=lp64d -static -nostdlib -nostartfiles -no-pie -Wl,--build-id=none -Wl,--no-warn-rwx-segments \
        -Wl,-T,tests/rv64/env/link.ld -Itests/rv64/env -I"$RISCV_TESTS/isa/macros/scalar" -o "$out/test" "$file" &&
        $LIMIT "$BIN" exec "$out/test"
      verdict "$name" $?
      $LIMIT "$BIN" exec --quiet --machine fused-rv64 "$out/test"
      verdict "$name in time" $?
    done
  done
}

polybench() {
  local file name
  if [ ! -f "$POLYBENCH/utilities/benchmark_list" ]; then
    skip "PolyBench/C" "no PolyBench/C: tests/rv64/fetch.sh"
    return
  fi
  while read -r file; do
    name=$(basename "$file" .c)
    "$CC" -O2 -static -DSMALL_DATASET -DPOLYBENCH_DUMP_ARRAYS -I"$POLYBENCH/utilities" \
      -I"$POLYBENCH/$(dirname "$file")" -o "$out/$name" "$POLYBENCH/utilities/polybench.c" "$POLYBENCH/$file" -lm
    compare "PolyBench $name" "$out/$name"
  done <"$POLYBENCH/utilities/benchmark_list"
}

if ! command -v "$CC" >/dev/null; then
  skip "RISC-V programs" "no $CC: apt install gcc-riscv64-linux-gnu"
  exit 0
fi
official
if command -v qemu-riscv64 >/dev/null; then
  own_programs
  cores
  random_programs
  polybench
else
  skip "programs beside qemu-user" "no qemu-riscv64: apt install qemu-user"
  "$CC" -std=gnu17 -O2 -w -static -o "$out/threads" tests/rv64/programs/threads.c
  "$CC" -std=gnu17 -O2 -w -static -o "$out/faults" tests/rv64/programs/faults.c
  "$CC" -std=gnu17 -O2 -w -static -o "$out/region" tests/rv64/programs/region.c
fi
faults
determinism
forward
exit "$failed"
