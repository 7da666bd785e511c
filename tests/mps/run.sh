#!/usr/bin/env bash
# Clients of the Multi-Process Service (exec --share mps, docs/sharing.md): how long their kernels and copies take beside each other, by
# formulas; limits, protection, errors; kernels that launch kernels; the same on every run and for any number of host threads.
# Programs: program.cu, children.cu; for managed memory swing.cu and crowd.cu of tests/managed.
#
#   tests/mps/run.sh    BIN: the program (build/warpstep), NVCC: the compiler
set -u
cd "$(dirname "$0")/../.." || exit 2

# shellcheck source=tests/processes.sh
. tests/processes.sh mps

refused "a machine" "not with --machine" --share mps --machine dgx-a100
refused "without time" "not with --functional" --share mps --functional
refused "strict polls" "not with --spin strict" --share mps --spin strict

lacking=$(lacks_programs)
[ -r "/proc/self/task/$$/children" ] || [ -r "/proc/$$/task/$$/children" ] || lacking="no /proc/PID/task/TID/children"
if [ -n "$lacking" ]; then
  echo "ok mps programs # SKIP $lacking"
  exit $failed
fi
"$nvcc" -arch=sm_86 -std=c++14 -cudart shared -o "$scratch/program" tests/mps/program.cu -lcuda >"$scratch/log" 2>&1 ||
  not_ok build "$(grep -m 1 error "$scratch/log")"
"$nvcc" -arch=sm_86 -std=c++14 -w -cudart shared -rdc=true -o "$scratch/children" tests/mps/children.cu -lcudadevrt >"$scratch/log" 2>&1 ||
  not_ok "build children" "$(grep -m 1 error "$scratch/log")"
for source in swing crowd; do
  "$nvcc" -arch=sm_86 -std=c++14 -cudart shared -o "$scratch/$source" "tests/managed/$source.cu" >"$scratch/log" 2>&1 ||
    not_ok "build $source" "$(grep -m 1 error "$scratch/log")"
done
program=program

# one NAME OPTION... -- ARGUMENT...: what the processes print, sorted, in NAME.out.
one() {
  local name=$1 options=()
  shift
  while [ "$1" != -- ]; do options+=("$1") && shift; done
  shift
  timeout 300 "$bin" exec --gpu rtx-3070 --quiet "${options[@]}" "$scratch/$program" "$@" 2>"$scratch/$name.err" |
    sort >"$scratch/$name.out"
  [ "${PIPESTATUS[0]}" = 0 ] || echo "failed: $(head -n 1 "$scratch/$name.err")" >>"$scratch/$name.out"
}
says() { # NAME LINE...: these, sorted
  local name=$1 text
  shift
  text=$(cat "$scratch/$name.out")
  if [ "$text" = "$(printf '%s\n' "$@")" ]; then ok "$name"; else not_ok "$name" "$(tr '\n' ';' <<<"$text")"; fi
}
us() { # NAME WHICH: its time
  sed -n "s/^$2: \([0-9.]*\) us.*/\1/p" "$scratch/$1.out"
}
near() { # NAME GOT WANTED WITHIN: microseconds
  if awk -v a="$2" -v b="$3" -v w="$4" 'BEGIN { exit !(a != "" && a - b <= w && b - a <= w) }'; then ok "$1"; else not_ok "$1" "$2 us, expected $3"; fi
}
sum() { awk "BEGIN { print $1 }"; }

# Kernels of one CTA for an SM, of which there are 46, that spin ten microseconds.
one none -- spin 1 46 10
one alone --share mps -- spin 1 46 10
if cmp -s "$scratch/none.out" "$scratch/alone.out"; then ok "alone as without"; else not_ok "alone as without" "$(cat "$scratch/alone.out")"; fi
alone=$(us alone 0)
one halves --share mps -- spin 2 23 10
near "halves overlap, first" "$(us halves 0)" "$alone" 0.3
near "halves overlap, second" "$(us halves 1)" "$alone" 0.3
one wholes --share mps -- spin 2 46 10
near "wholes in line, first" "$(us wholes 0)" "$alone" 0.3
near "wholes in line, second" "$(us wholes 1)" "$(sum "$alone + 10")" 1.2

# Active threads: 46 CTAs on 23 SMs are two waves; 30 per cent are 13.8 SMs, rounded up.
export CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50
one half --share mps -- spin 1 46 10
near "half of the SMs" "$(us half 0)" "$(sum "$alone + 10")" 0.7
one parts --share mps -- spin 2 46 10
near "two halves, first" "$(us parts 0)" "$(us half 0)" 0.3
near "two halves, second" "$(us parts 1)" "$(us half 0)" 0.3
CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=30
one fourteen --share mps -- spin 1 14 10
near "14 SMs" "$(us fourteen 0)" "$alone" 0.3
one fifteen --share mps -- spin 1 15 10
near "no 15th SM" "$(us fifteen 0)" "$(sum "$alone + 10")" 0.7
CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=x
one percentage --share mps -- spin 1 1 1
if grep -q "PERCENTAGE=x: a percentage" "$scratch/percentage.err"; then ok "no percentage"; else not_ok "no percentage" "$(cat "$scratch/percentage.err")"; fi
unset CUDA_MPS_ACTIVE_THREAD_PERCENTAGE
one context --share mps -- context
if [ "$(cut -d, -f1,2 "$scratch/context.out")" = "$(printf '%s\n' "asked for 10, has 10" "asked for 1000, has 46" "supported 1, 46 SMs")" ]; then
  ok "contexts of some SMs"
else
  not_ok "contexts of some SMs" "$(tr '\n' ';' <"$scratch/context.out")"
fi
near "20 CTAs on 10 SMs" "$(sed -n 's/.*has 10, \(.*\) us/\1/p' "$scratch/context.out")" "$(sum "$alone + 10")" 0.8

# Below normal: its second wave goes behind the CTAs of a client that comes some microseconds later.
one priority --share mps -- priority 46 10
near "normal priority" "$(us priority 1)" "$(sum "$alone + 10")" 1.2
near "priority below normal" "$(us priority 0)" "$(sum "$alone + 20")" 1.6

# DRAM: two that read as much as one alone does take as long, from when the first of them begins. Copies: one engine for both.
one sixteen --share mps -- read 1 16
one eight --share mps -- read 2 8
near "DRAM is shared" "$(us eight 0)" "$(us sixteen 0)" "$(sum "$(us sixteen 0) * 0.03")"
one two --share mps -- copy 1 2
one twos --share mps -- copy 2 2
near "an engine is shared" "$(us twos 1)" "$(sum "2 * $(us two 0)")" 1

one values --share mps -- values
says values "0: 0 wrong" "1: 0 wrong" "kernel of factor 3" "kernel of factor 4"
one fault --share mps -- fault
says fault "0: cudaErrorIllegalAddress" "1: cudaErrorIllegalAddress" "2: cudaErrorMpsServerNotReady" "3: cudaSuccess"
one nvml --share mps -- nvml
says nvml "0: 16 and 32 MiB" "1: 16 and 32 MiB"
one memory --share mps -- memory
says memory "0: cudaSuccess, 50 % left" "1: cudaErrorMemoryAllocation, 50 % left"
CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0=2G,1=1M one limit --share mps -- memory
says limit "0: cudaErrorMemoryAllocation, 25 % left" "1: cudaErrorMemoryAllocation, 25 % left"
one clients --share mps -- clients 49
says clients "cudaErrorMpsMaxClientsReached"

# Managed memory (tests/managed/swing.cu, crowd.cu): one driver has that of all clients. A client alone has the times and counts that it has without the
# service. Two that each change a page in turn with the GPU move it eight times each way and have it pinned (tests/managed/check_thrash.py says why);
# each has its own counts. With less memory than both want, blocks of both make room.
managed() { # NAME OPTION... -- COMMAND: NAME.json*
  local name=$1 options=()
  shift
  while [ "$1" != -- ]; do options+=("$1") && shift; done
  rm -f "$scratch/$name.json"*
  (cd "$scratch" && timeout 300 "$bin" exec --gpu rtx-3070 --set gpu.sms=8 --quiet "${options[@]}" --json "$name.json" bash -c "$2") >"$scratch/$name.out" 2>"$scratch/$name.err" ||
    echo "failed: $(head -n 1 "$scratch/$name.err")" >>"$scratch/$name.out"
}
most() { # NAME KEY: the largest of its processes
  sed -n "s/^ *\"$2\": \([0-9]*\),*$/\1/p" "$scratch/$1.json"* | sort -n | tail -n 1
}
turns="h:0$(printf ' 0:0 h:0%.0s' {1..12})"
managed turns_none -- "exec ./swing 3 $turns 0:1 h:2 b:30"
managed turns_alone --share mps -- "exec ./swing 3 $turns 0:1 h:2 b:30"
if cmp -s "$scratch/turns_none.json" "$scratch/turns_alone.json"; then ok "managed memory of a client alone as without"; else not_ok "managed memory of a client alone as without" "$(diff "$scratch/turns_none.json" "$scratch/turns_alone.json" | head -n 4)"; fi
managed turns_two --share mps -- "./swing 1 $turns & ./swing 1 $turns & wait"
says turns_two right right
if [ "$(most turns_two pinned_bytes) $(most turns_two migrated_to_gpu_bytes) $(most turns_two migrated_to_host_bytes)" = "4096 32768 32768" ]; then
  ok "managed memory of two clients thrashes as of one"
else
  not_ok "managed memory of two clients thrashes as of one" "$(most turns_two pinned_bytes) $(most turns_two migrated_to_gpu_bytes)"
fi
for threads in 1 3; do
  managed "crowd$threads" --share mps --threads "$threads" --set gpu.memory_mib=7 -- "./crowd 1 4 1 & ./crowd 1 4 2 & wait"
  cat "$scratch/crowd$threads.json"* | grep -v waited_in_own_code | sort >"$scratch/crowd$threads.all"
done
says crowd1 right right
if [ "$(most crowd1 evictions)" -gt 0 ]; then ok "managed memory of clients makes room"; else not_ok "managed memory of clients makes room" "no evictions"; fi
if cmp -s "$scratch/crowd1.all" "$scratch/crowd3.all"; then ok "managed memory of clients: the same for one and three host threads"; else not_ok "managed memory of clients: the same for one and three host threads" "$(diff "$scratch/crowd1.all" "$scratch/crowd3.all" | head -n 4)"; fi

# When CTAs of clients are on which SM, and their copies: a file for each, which are one file one behind the other. The same on every run.
timelines() { # NAME OPTION... -- ARGUMENT...: NAME.all of all, NAME.sums
  rm -f "$scratch/timeline"*
  one "$1" --share mps --timeline "$scratch/timeline" --timeline-warps 0 "${@:2}"
  cat "$scratch/timeline"* >"$scratch/$1.all"
  cksum "$scratch/timeline"* | cut -d' ' -f1,2 | sort >"$scratch/$1.sums"
}
shows() { # NAME LINE CHECK ARGUMENT...: tests/timeline/check.py says this line of NAME.all
  local line
  line=$(PYTHONDONTWRITEBYTECODE=1 python3 tests/timeline/check.py "$3" "$scratch/$1.all" "${@:4}" 2>&1)
  if [ "$line" = "$2" ]; then ok "timeline: $1"; else not_ok "timeline: $1" "$line"; fi
}
each() { for _ in $(seq 46); do printf '%s ' "$1"; done | sed 's/ $//'; } # how many CTAs each SM had
timelines three -- spin 3 46 10
shows three "$(each 3)" clients 46 1 10
timelines three-again --threads 2 -- spin 3 46 10
if [ "$(wc -l <"$scratch/three.sums")" = 3 ] && cmp -s "$scratch/three.sums" "$scratch/three-again.sums"; then ok "timeline: the same again"; else not_ok "timeline: the same again" "$(cat "$scratch/three.sums")"; fi
CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50 timelines parted -- spin 2 46 10
shows parted "$(each 2)" clients 46 1 10
timelines ladder -- ladder 3 46 10
shows ladder "$(each 3)" clients 46 3 10 10
timelines copies -- copy 2 2
shows copies "" engines 2097152

# Kernels that launch kernels: what they fire and forget, what comes behind their tail, shares SMs with that of other clients.
program=children
one launched -- spin 1 46 10
one launched-alone --share mps -- spin 1 46 10
if cmp -s "$scratch/launched.out" "$scratch/launched-alone.out"; then ok "children alone as without"; else not_ok "children alone as without" "$(cat "$scratch/launched-alone.out")"; fi
launched=$(us launched 0)
one launched-halves --share mps -- spin 2 23 10
near "halves by children overlap, first" "$(us launched-halves 0)" "$launched" 0.4
near "halves by children overlap, second" "$(us launched-halves 1)" "$launched" 0.4
one launched-wholes --share mps -- spin 2 46 10
near "wholes by children in line, first" "$(us launched-wholes 0)" "$launched" 0.4
near "wholes by children in line, second" "$(us launched-wholes 1)" "$(sum "$launched + 10")" 1.4
if [ "$(cut -d, -f2 "$scratch/launched-wholes.out")" = "$(printf ' 1046\n 1046')" ]; then ok "tails come last"; else not_ok "tails come last" "$(cat "$scratch/launched-wholes.out")"; fi
one tree --share mps -- tree 3 5
says tree "0: sum right, 0 wrong" "1: sum right, 0 wrong" "2: sum right, 0 wrong"
one waiting --share mps -- wait 2
says waiting "0: 14" "1: 16"
one killed --share mps -- killed
if grep -q '^1: .* us, 1008$' "$scratch/killed.out"; then ok "beside a client that was killed"; else not_ok "beside a client that was killed" "$(cat "$scratch/killed.out")"; fi
for n in 1 2 3; do
  rm -f "$scratch/json"*
  timeout 300 "$bin" exec --gpu rtx-3070 --quiet --threads $n --share mps --json "$scratch/json" "$scratch/children" tree 3 4 >/dev/null 2>&1
  sort "$scratch/json"* | grep -e _ps -e cycles -e _sectors -e _bytes -e insts -e parent >"$scratch/family$n"
done
if grep -q parent "$scratch/family1" && cmp -s "$scratch/family1" "$scratch/family2" && cmp -s "$scratch/family1" "$scratch/family3"; then
  ok "children: the same with 1, 2 and 3 threads"
else
  not_ok "children: the same with 1, 2 and 3 threads" "$(diff "$scratch/family1" "$scratch/family2" | head -n 3 | tr '\n' ' ')"
fi
program=program

# Programs that check themselves, as clients: the device's heap, grid.sync(), launches by kernels.
for name in heap grid_sync device_launch device_random; do
  # shellcheck disable=SC2046 # options, several to a word of the file
  "$nvcc" -arch=sm_86 -std=c++14 -w -cudart shared -L"$(dirname "$nvcc")/../lib64/stubs" $(cat "tests/exec/$name.flags" 2>/dev/null) \
    -o "$scratch/$name" "tests/exec/$name.cu" >"$scratch/log" 2>&1
  if timeout 300 "$bin" exec --gpu rtx-3070 --quiet --share mps "$scratch/$name" >"$scratch/log" 2>&1; then
    ok "$name"
  else
    not_ok "$name" "$(head -n 2 "$scratch/log" | tr '\n' ' ')"
  fi
done

# A client that is alone has what it has without the service: stalls, what bounds its kernels, the page. Kernels that ran beside
# others have no stalls. (The server's clock has gone on behind copies, so that kernels begin at another point of DRAM's refreshes and of
# L2's clock: numbers differ by some hundredths of a per cent, words do not.)
for way in '' '--share mps'; do
  # shellcheck disable=SC2086
  timeout 300 "$bin" exec --gpu rtx-3070 --quiet $way --html "$scratch/page" --json "$scratch/one" "$scratch/program" spin 1 46 10 >/dev/null 2>"$scratch/log"
  for file in page one; do sed -E 's/"([a-z]*_ps|dram_read_wait|read_wait_mean)": *[0-9.]+//g; s/"usage":\{[^}]*\}/"usage"/g' "$scratch/$file" >"$scratch/$file.${way##* }"; done
done
alike() { # FILE FILE: the same words, numbers within 0.3 %; else one line that says where
  python3 - "$@" <<'P'
import re, sys
a, b = (re.split(r"(\d+(?:\.\d+)?)", open(f, encoding="utf-8").read()) for f in sys.argv[1:])
far = [(x, y) for x, y in zip(a[1::2], b[1::2]) if abs(float(x) - float(y)) > 0.003 * float(x) + 1.5]
if a[::2] != b[::2] or far:
    sys.exit(f"other words, or numbers far from each other: {far[:3]}")
P
}
if grep -q long_scoreboard "$scratch/one." && grep -q '"limiter"' "$scratch/one." && why=$(alike "$scratch/one." "$scratch/one.mps" 2>&1); then
  ok "alone: stalls as without"
else
  not_ok "alone: stalls as without" "$why $(head -n 1 "$scratch/log")"
fi
if grep -q '"usage"' "$scratch/page." && why=$(alike "$scratch/page." "$scratch/page.mps" 2>&1); then ok "alone: the page as without"; else not_ok "alone: the page as without" "$why $(head -n 1 "$scratch/log")"; fi
rm -f "$scratch/json"*
timeout 300 "$bin" exec --gpu rtx-3070 --quiet --share mps --json "$scratch/json" "$scratch/program" spin 2 23 10 >/dev/null 2>&1
if grep -q '"together"' "$scratch/json"* && ! grep -q '"slot"' "$scratch/json"*; then ok "beside: no stalls"; else not_ok "beside: no stalls" "$(cat "$scratch/json"* | head -n 3)"; fi

# The same for any number of host threads.
for n in 1 2 3; do
  rm -f "$scratch/json"*
  timeout 300 "$bin" exec --gpu rtx-3070 --quiet --threads $n --share mps --json "$scratch/json" "$scratch/program" values 2>&1 | sort \
    >"$scratch/threads$n"
  sort "$scratch/json"* | grep -e _ps -e cycles -e _sectors -e _bytes -e insts >>"$scratch/times$n"
done
if [ -s "$scratch/times1" ] && cmp -s "$scratch/times1" "$scratch/times2" && cmp -s "$scratch/times1" "$scratch/times3"; then
  ok "the same with 1, 2 and 3 threads"
else
  not_ok "the same with 1, 2 and 3 threads" "$(diff "$scratch/times1" "$scratch/times2" | head -n 3 | tr '\n' ' ')"
fi
[ $failed -eq 0 ]
