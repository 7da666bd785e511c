#!/usr/bin/env bash
# Processes that have one GPU in turns (exec --share slices, docs/sharing.md): how long kernels of several take beside each other, by
# the formula of slices and switches, and the same on every run; refusals; contexts of one process, by
# the same formula. Programs: program.cu, contexts.cu.
#
#   tests/share/run.sh    BIN: the program (build/warpstep), NVCC: the compiler
set -u
cd "$(dirname "$0")/../.." || exit 2

# shellcheck source=tests/processes.sh
. tests/processes.sh share

refused "another way" "slices, mps or none" --share x
refused "a machine" "not with --machine" --share slices --machine dgx-a100
refused "without time" "not with --functional" --share slices --functional
refused "strict polls" "not with --spin strict" --share slices --spin strict

lacking=$(lacks_programs)
[ -r "/proc/self/task/$$/children" ] || [ -r "/proc/$$/task/$$/children" ] || lacking="no /proc/PID/task/TID/children"
if [ -n "$lacking" ]; then
  echo "ok share programs # SKIP $lacking"
  exit $failed
fi
"$nvcc" -arch=sm_86 -std=c++14 -cudart shared -o "$scratch/program" tests/share/program.cu >"$scratch/log" 2>&1 ||
  not_ok build "$(grep -m 1 error "$scratch/log")"

program=program
# one NAME OPTION... -- ARGUMENT...: what the processes print, and their JSON files, in NAME.
one() {
  local name=$1 options=()
  shift
  while [ "$1" != -- ]; do options+=("$1") && shift; done
  shift
  rm -rf "${scratch:?}/$name" && mkdir "$scratch/$name"
  timeout 300 "$bin" exec --gpu rtx-3070 --quiet --json "$scratch/$name/json" "${options[@]}" "$scratch/$program" "$@" \
    >"$scratch/$name.out" 2>"$scratch/$name.err"
  echo "status $?" >>"$scratch/$name.out"
}
says() { # NAME LINE...: in any order
  local line name=$1
  shift
  for line in "$@" "status 0"; do
    grep -qx "$line" "$scratch/$name.out" && continue
    not_ok "$name" "no '$line': $(tr '\n' ';' <"$scratch/$name.out") $(head -n 1 "$scratch/$name.err")"
    return
  done
  ok "$name"
}

one alone --share slices -- alone 3
says alone "process 0: 3.0 ms, 1"
one without -- alone 3
strip='import json, sys
d = json.load(open(sys.argv[1]))
for k in ("waits_for_others", "waited_for_others_ps"): d.pop(k, 0)
print(json.dumps(d, indent=1))'
if diff <(python3 -c "$strip" "$scratch/alone/json") <(python3 -c "$strip" "$scratch/without/json") >"$scratch/log"; then
  ok "alone as without"
else
  not_ok "alone as without" "$(head -n 3 "$scratch/log" | tr '\n' ' ')"
fi
one none -- pair 3 3
says none "process 0: 3.0 ms, 1" "process 1: 3.0 ms, 1"
one relay --share slices -- relay 1.5
says relay "process 0: 1.5 ms, 1" "process 1: 1.5 ms, 1"
one short --share slices -- pair 0.5 0.5 0.5
says short "process 0: 0.5 ms, 1" "process 1: 1.0 ms, 1" "process 2: 1.5 ms, 1"

# Slices of 1 ms, kernels of 2.5 slices: docs/sharing.md, "Time slices". A state is what the registers and shared memory of 46 SMs take
# at the rate of DRAM.
formula() { # NAME: waited by its processes, or its launches
  python3 - "$scratch/$1" "$(cat "$scratch/program.resolved")" <<'P'
import glob, json, sys
files = [json.load(open(f)) for f in glob.glob(sys.argv[1] + "/json*")]
value = {l.split()[0]: l.split()[1] for l in sys.argv[2].splitlines() if len(l.split()) > 1}
state = (int(value["sm.registers"]) * 4 + int(value["sm.shared_bytes"])) * int(value["gpu.sms"])
state *= 1e6 / (int(value["dram.bus_bits"]) * int(value["dram.pin_mbps"]) / 8)  # ps
slice_ps = 1e9
launches = [l for f in files for l in f["launches"]]
cycle = 1e12 / 1.725e9
begin = min(l["start_ps"] for l in launches)
waited = sorted(l["end_ps"] - begin - l["cycles"] * cycle for l in launches)
if len(files) > 1:
    waited = sorted(f["waited_for_others_ps"] for f in files)
want = [2 * slice_ps + 7 * state, None]
kernel = launches[0]["cycles"] * cycle
want[1] = 2 * slice_ps + (kernel - 2 * slice_ps) + 8 * state
bad = [(w, x) for w, x in zip(waited, want) if abs(w - x) > 4e6]  # four microseconds: the program's own starts
sys.exit(f"waited {waited}, expected {want}" if len(waited) != 2 or bad else 0)
P
}
"$bin" gpus --resolve rtx-3070 >"$scratch/program.resolved" 2>/dev/null
one pair --share slices --set host.timeslice_us=1000 -- pair 2.5 2.5
if why=$(formula pair 2>&1); then ok "slices by formula"; else not_ok "slices by formula" "$why"; fi
cat "$scratch"/pair/json* | grep _ps | sort >"$scratch/first"
one pair --share slices --set host.timeslice_us=1000 --timeline "$scratch/timeline" -- pair 2.5 2.5
cat "$scratch"/pair/json* | grep _ps | sort >"$scratch/second"
for file in "$scratch"/timeline*; do
  why=$(PYTHONDONTWRITEBYTECODE=1 python3 tests/timeline/check.py slices "$file" 2>&1) || break
done
if [ -z "$why" ]; then ok "timeline"; else not_ok "timeline" "$why"; fi
if cmp -s "$scratch/first" "$scratch/second"; then ok "the same again"; else not_ok "the same again" "other times"; fi

# Contexts of one process: contexts.cu.
"$nvcc" -arch=sm_86 -std=c++14 -cudart shared -lcuda -o "$scratch/contexts" tests/share/contexts.cu >"$scratch/log" 2>&1 ||
  not_ok "build contexts" "$(grep -m 1 error "$scratch/log")"
program=contexts
one contexts-short -- pair 0.5 0.5 0.5
says contexts-short "context 0: 0.5 ms, 1" "context 1: 1.0 ms, 1" "context 2: 1.5 ms, 1"
one contexts-flag -- flag
says contexts-flag "flags 1 1"
one contexts-green -- green 0.5
says contexts-green "primary 0.5 ms, 1" "green 0.5 ms, 1"
one contexts-fault -- fault
says contexts-fault "beside it: cudaErrorIllegalAddress" "fault: cudaErrorIllegalAddress"
one contexts-copies -- copies 2.5
says contexts-copies "copies beside the kernel, 1" "kernel 2.5 ms, 1"
one turns --set host.timeslice_us=1000 -- pair 2.5 2.5
if why=$(formula turns 2>&1); then ok "contexts by formula"; else not_ok "contexts by formula" "$why"; fi
one turns-again --set host.timeslice_us=1000 --threads 2 --timeline "$scratch/turns.timeline" -- pair 2.5 2.5
if cmp -s <(grep _ps "$scratch/turns/json") <(grep _ps "$scratch/turns-again/json"); then
  ok "contexts again"
else
  not_ok "contexts again" "other times"
fi
[ $failed -eq 0 ]
