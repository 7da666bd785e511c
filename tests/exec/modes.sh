#!/usr/bin/env bash
# What `warpstep exec` and `warpstep capture` do beside running a program: called by run.sh.
#
#   tests/exec/modes.sh SCRATCH      BIN: the program, NVCC: the compiler
set -u
cd "$(dirname "$0")/../.." || exit 2
here=tests/exec/modes
scratch=$1
failed=0

# report NAME WHY: an empty WHY is a success.
report() {
  if [ -z "$2" ]; then
    echo "ok exec mode $1"
  else
    echo "not ok exec mode $1: $2"
    failed=$((failed + 1))
  fi
}

# says FILE TEXT: what is missing, if it is.
says() {
  grep -qF -- "$2" "$1" || echo "'$2' is missing: $(head -n 3 "$1" | tr '\n' ' ')"
}

for p in "$here"/*.cu; do
  if ! "$NVCC" -arch=sm_86 -std=c++14 --no-device-link -cudart shared -L "$(dirname "$NVCC")/../lib64/stubs" -o "$scratch/$(basename "$p" .cu)" "$p" -lcuda >"$scratch/log" 2>&1; then
    echo "not ok exec mode $(basename "$p" .cu): $(grep -m 1 error "$scratch/log")"
    exit 1
  fi
done

# Ctrl-C in a kernel that never ends: where it is, dead of that signal (for a shell status 130), and the launches so far in both files.
ctrl_c() {
  rm -f "$scratch/spin.json" "$scratch/spin.txt"
  python3 - "$scratch" "$BIN" "$1" "$scratch/spin" 2>&1 <<'P'
import json, signal, subprocess, sys, time
at = sys.argv[1] + "/spin"
p = subprocess.Popen([sys.argv[2], "exec", "--json", at + ".json", "--report", at + ".txt"] + sys.argv[3:], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                     text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
while p.stdout.readline() != "running\n": pass
time.sleep(0.3)  # the launch follows at once
p.send_signal(signal.SIGINT)
err = p.communicate(timeout=60)[1]
if p.returncode != -signal.SIGINT: print("status", p.returncode)
for text in ["stopped by signal 2 (Ctrl-C)", "1 warp at _Z4spinPViPi+"]:
    if text not in err: print(text, "is missing:", err[:200])
if "2 kernel launches" not in open(at + ".txt").read(): print("2 kernel launches is missing in the report")
names = [l["kernel"] for l in json.load(open(at + ".json"))["launches"]]
if names != ["_Z7warm_upPi", "_Z4spinPViPi"]: print("launches in the JSON:", names)
P
}
report "ctrl-c --functional" "$(ctrl_c --functional | head -n 1)"
report "ctrl-c --timed" "$(ctrl_c --timed | head -n 1)"

# The host waits for a stream that waits for a value: ended from outside, the program says which. (--foreground: one signal, as
# a second one ends it at once.)
waiting() {
  timeout --foreground --preserve-status -s TERM 3 "$BIN" exec "$scratch/waiting" >"$scratch/out" 2>"$scratch/err"
  [ $? -eq 143 ] || echo "not status 143"
  says "$scratch/out" running
  says "$scratch/err" "stopped by signal 15"
  says "$scratch/err" "== 0x5 (they are 0x0), with 1 operation behind it"
}
report "waiting stream" "$(waiting | head -n 1)"

limits() {
  "$BIN" exec --max-instructions 100000 --functional "$scratch/spin" >"$scratch/out" 2>"$scratch/err"
  says "$scratch/out" "cudaErrorLaunchTimeout"
  says "$scratch/err" "reached the limit of --max-instructions"
  "$BIN" exec --max-cycles 30000 "$scratch/spin" >"$scratch/out" 2>"$scratch/err"
  says "$scratch/out" "cudaErrorLaunchTimeout"
  says "$scratch/err" "reached the limit of --max-cycles"
}
report limits "$(limits | head -n 1)"

# Launches chosen by number or by name are timed as ever; the others run without time and do the same work.
chosen() {
  local c
  "$BIN" exec --quiet --json "$scratch/all.json" "$scratch/pair" 2>&1
  for c in 'count 01' '^triad$ 10' '_Z5triad.* 10' '2 01' '1..1 10' '2..9 01' '1,2 11' '2.. 01'; do
    "$BIN" exec --quiet --time-kernels "${c% *}" --json "$scratch/some.json" "$scratch/pair" 2>&1
    python3 - "$scratch/all.json" "$scratch/some.json" "$c" <<'P'
import json, sys
all, some = (json.load(open(f))["launches"] for f in sys.argv[1:3])
timed = "".join(str(int(l["timed"])) for l in some)
if timed != sys.argv[3].split()[1]: print(sys.argv[3], "timed:", timed)
for a, b in zip(all, some):
    for key in ("kernel", "warp_insts", "thread_insts", "work"):
        if a[key] != b[key]: print(sys.argv[3], key, "differ:", a[key], b[key])
    if ("cycles" in b) != b["timed"]: print(sys.argv[3], "cycles of a launch that was not timed")
if some[0]["timed"] and some[0]["cycles"] != all[0]["cycles"]: print(sys.argv[3], "first launch:", some[0]["cycles"], all[0]["cycles"])
P
  done
  "$BIN" exec --time-kernels sort "$scratch/pair" >"$scratch/out" 2>"$scratch/err" || echo "exit status $?"
  says "$scratch/err" "none of the 2 launches is one that --time-kernels names"
}
report "chosen launches" "$(chosen | head -n 1)"

# The program ends, with a report, once the last of them is done; what it would print later does not come.
stop() {
  "$BIN" exec --time-kernels 2..3 --stop-after-timed --report "$scratch/stop.txt" --json "$scratch/stop.json" "$scratch/repeat" \
    >"$scratch/out" 2>"$scratch/err" || echo "exit status $?"
  [ ! -s "$scratch/out" ] || echo "the program went on: $(head -n 1 "$scratch/out")"
  [ ! -s "$scratch/err" ] || echo "it said: $(head -n 1 "$scratch/err")"
  says "$scratch/stop.txt" "3 kernel launches"
  says "$scratch/stop.txt" "2 launches timed"
  python3 -c 'import json, sys; print(*[int(l["timed"]) for l in json.load(open(sys.argv[1]))["launches"]])' "$scratch/stop.json" >"$scratch/out"
  says "$scratch/out" "0 1 1"
}
report "stop after timed" "$(stop | head -n 1)"

# Reports lie where they were asked for, whatever folder the program changes to; '-' is stdout.
reports() {
  local bin; bin=$(realpath "$BIN")
  mkdir -p "$scratch/elsewhere"
  (cd "$scratch" && "$bin" exec --report table --json list bash -c "cd elsewhere && ../repeat") >"$scratch/out" 2>&1 ||
    echo "exit status $?"
  says "$scratch/table" "40 kernel launches"
  says "$scratch/list" '"kernel": "_Z7collatzPjj"'
  "$BIN" exec --functional --quiet --json - "$scratch/repeat" >"$scratch/out" 2>"$scratch/err"
  says "$scratch/out" '"kernel": "_Z7collatzPjj"'
  [ ! -s "$scratch/err" ] || echo "not quiet: $(head -n 1 "$scratch/err")"
}
report reports "$(reports | head -n 1)"

# A program that makes no CUDA call: one line says so, but when quiet, and when a process that it started had kernels.
unused() {
  "$BIN" exec "$scratch/unused" >"$scratch/out" 2>"$scratch/err" || echo "exit status $?"
  says "$scratch/err" "warpstep: no kernel launches on rtx-3070: the program did not use the GPU"
  [ "$(cat "$scratch/out" "$scratch/err" | wc -l)" -eq 1 ] || echo "more than a line: $(tail -n 1 "$scratch/err")"
  "$BIN" exec --quiet "$scratch/unused" >"$scratch/out" 2>&1
  [ ! -s "$scratch/out" ] || echo "not quiet: $(head -n 1 "$scratch/out")"
  "$BIN" exec bash -c "$scratch/unused launch; true" >"$scratch/out" 2>&1
  says "$scratch/out" "warpstep: 1 kernel launch "
  ! grep "did not use" "$scratch/out"
}
report "unused GPU" "$(unused | head -n 1)"

# Children of a process that has had CUDA, or has it just now; a first thread that ended; signals of the program's own, from
# which it does not come back.
processes() {
  local mode how status
  for mode in --functional --timed; do
    for how in forks early killed first "raise 15" "raise 2" "kill 15" "chain 15" "called 15" _exit _Exit alarmed quick_exit throw abort; do
      # shellcheck disable=SC2086 # one or two words
      "$BIN" exec $mode --quiet --json "$scratch/processes.json" "$scratch/processes" $how >"$scratch/out" 2>"$scratch/err"
      status=$?
      case $how in
      *15) [ $status -eq 143 ] || echo "$mode $how: exit status $status" ;;
      *exit | *Exit | alarmed) [ $status -eq 7 ] || echo "$mode $how: exit status $status" ;;
      throw | abort) [ $status -eq 134 ] || echo "$mode $how: exit status $status" ;;
      *2) [ $status -eq 130 ] || echo "$mode $how: exit status $status" ;;
      *) [ $status -eq 0 ] || echo "$mode $how: exit status $status: $(head -n 1 "$scratch/err")" ;;
      esac
      says "$scratch/processes.json" '"kernel": "_Z4fillPii"'
      rm -f "$scratch"/processes.json*
    done
  done
}
report "processes, their children and their ends" "$(processes | head -n 1)"

# One that is there already is replaced, whatever clock its time is of (files may be noted later than the system's coarse clock
# says); what another process of the same program has written stays.
replaced() {
  rm -f "$scratch"/again.json* "$scratch"/both.json*
  echo old >"$scratch/again.json" && touch -d '2 seconds' "$scratch/again.json"
  "$BIN" exec --functional --quiet --json "$scratch/again.json" "$scratch/repeat" >"$scratch/out" 2>&1 || echo "exit status $?"
  says "$scratch/again.json" '"kernel": "_Z7collatzPjj"'
  set -- "$scratch"/again.json*
  [ $# -eq 1 ] || echo "not one file: $*"
  "$BIN" exec --functional --quiet --json "$scratch/both.json" bash -c "$scratch/repeat; $scratch/repeat" >"$scratch/out" 2>&1 ||
    echo "exit status $?"
  says "$scratch/both.json" '"kernel": "_Z7collatzPjj"'
  set -- "$scratch"/both.json*
  [ $# -eq 2 ] || echo "not two files: $*"
}
report "a report that is replaced" "$(replaced | head -n 1)"

# full COMMAND...: with files of 1 KiB at most, but what it says.
full() {
  { (ulimit -f 1; exec "$@") >"$scratch/out"; } 2>&1 | cat >"$scratch/err"
  return "${PIPESTATUS[0]}"
}

# Outputs that cannot be written: said, exit status 2 unless the program has one of its own, nothing is left.
lost() {
  local out=$scratch/lost option status
  rm -rf "$out"
  mkdir "$out"
  for option in --json --report; do
    "$BIN" exec --functional --quiet $option /dev/full "$scratch/repeat" >"$scratch/out" 2>"$scratch/err"
    status=$?
    [ $status -eq 2 ] || echo "$option /dev/full: exit status $status"
    says "$scratch/err" "/dev/full: cannot write"
    full "$BIN" exec --functional --quiet $option "$out/file" "$scratch/repeat"
    status=$?
    [ $status -eq 2 ] || echo "$option on a full disk: exit status $status"
    says "$scratch/err" "$out/file: cannot write"
    says "$scratch/out" ""
  done
  for option in --html --timeline; do
    "$BIN" exec --time-kernels 1..1 --quiet $option /dev/full "$scratch/repeat" >"$scratch/out" 2>"$scratch/err"
    status=$?
    [ $status -eq 2 ] || echo "$option /dev/full: exit status $status"
    says "$scratch/err" "/dev/full: cannot write"
    full "$BIN" exec --time-kernels 1..1 --quiet $option "$out/file" "$scratch/repeat"
    status=$?
    [ $status -eq 2 ] || echo "$option on a full disk: exit status $status"
    says "$scratch/err" "$out/file: cannot write"
  done
  full "$BIN" ncu --launch-count 1 -o "$out/file" "$scratch/repeat"
  status=$?
  [ $status -eq 2 ] || echo "ncu -o on a full disk: exit status $status"
  says "$scratch/err" "File too large"
  "$BIN" sanitize "$scratch/repeat" 2>"$scratch/err" >/dev/full
  status=$?
  [ $status -eq 2 ] || echo "sanitize to a full device: exit status $status"
  says "$scratch/err" "stdout: cannot write"
  full "$BIN" capture -o "$out/cases" --launches 1..2 "$scratch/repeat"
  status=$?
  [ $status -eq 2 ] || echo "capture on a full disk: exit status $status"
  says "$scratch/err" ".case: cannot write"
  full "$BIN" exec --functional --quiet --trace "$out/traces" "$scratch/repeat"
  status=$?
  [ $status -eq 2 ] || echo "trace on a full disk: exit status $status"
  says "$scratch/err" "cannot write"
  [ -z "$(find "$out" -type f)" ] || echo "left: $(find "$out" -type f | head -n 2 | tr '\n' ' ')"
}
report lost "$(lost | head -n 1)"

# What the program wrote to its stdout stays when the report goes there, too.
to_stdout() {
  local log=$scratch/log
  echo before >"$log"
  # shellcheck disable=SC2016 # the inner shell's $0
  "$BIN" exec --functional --quiet --json /dev/stdout bash -c 'echo mine; exec "$0"' "$scratch/repeat" >>"$log" || echo "exit status $?"
  [ "$(head -n 2 "$log" | tr '\n' ' ')" = "before mine " ] || echo "lost: $(head -n 1 "$log")"
  says "$log" '"kernel": "_Z7collatzPjj"'
}
report "to stdout" "$(to_stdout | head -n 1)"

# What is not there: the call fails and is named, once; the instruction faults and is named.
unsupported() {
  local mode
  "$BIN" exec "$scratch/unsupported" >"$scratch/out" 2>"$scratch/err" || echo "exit status $?"
  [ "$(grep -c cudaErrorNotSupported "$scratch/out")" -eq 2 ] || echo "not two errors: $(tr '\n' ' ' <"$scratch/out")"
  [ "$(grep -c 'cudaDestroyExternalMemory is not served' "$scratch/err")" -eq 1 ] || echo "not named once"
  says "$scratch/out" cudaSuccess
  for mode in --functional --timed; do
    "$BIN" exec $mode "$scratch/unsupported" instruction >"$scratch/out" 2>"$scratch/err" || echo "exit status $?"
    says "$scratch/out" cudaErrorNotSupported
    says "$scratch/err" "not simulated: opcode 0x59f, SURED.D.2D.MIN.SD32"
    says "$scratch/err" "at _Z9formattedy+0x"
    says "$scratch/err" "2  formatted"
  done
}
report unsupported "$(unsupported | head -n 1)"

# Kernels that share SMs: the same for any number of threads, what each executes is what it executes alone, and together they
# take less time than one behind the other.
side_by_side() {
  local t
  "$BIN" exec --quiet --set gpu.sms=8 --json "$scratch/alone.json" "$scratch/pair" 2>&1
  for t in 1 2 3 7; do
    "$BIN" exec --quiet --set gpu.sms=8 --threads $t --json "$scratch/pair$t.json" "$scratch/pair" together 2>&1
    cmp "$scratch/pair1.json" "$scratch/pair$t.json" 2>&1
  done
  python3 - "$scratch/alone.json" "$scratch/pair1.json" <<'P'
import json, sys
alone, both = (json.load(open(f))["launches"] for f in sys.argv[1:])
for a, b in zip(alone, both):
    for key in ("kernel", "warp_insts", "thread_insts", "work"):
        if a[key] != b[key]: print(key, "differ:", a[key], b[key])
    if b.get("together") != 2 or "together" in a: print("together:", a.get("together"), b.get("together"))
# Their own sectors: three arrays of 2^15 words; one array, and 16 CTAs whose two warps each update four sectors.
for b, sectors in zip(both, (3 * (1 << 15) * 4 // 32, (1 << 15) * 4 // 32 + 16 * 2 * 4 * 2)):
    if b["l2_sectors"] != sectors: print("L2 sectors:", b["l2_sectors"], "for", sectors)
if both[1]["start_ps"] >= both[0]["end_ps"]: print("they do not overlap")
if both[1]["end_ps"] >= alone[1]["end_ps"]: print("no time is saved")
P
}
report "side by side" "$(side_by_side | head -n 1)"

# Two warps that wait at different barriers.
deadlock() {
  local mode
  for mode in --functional --timed; do
    "$BIN" exec $mode "$scratch/deadlock" >"$scratch/out" 2>"$scratch/err"
    says "$scratch/out" "cudaErrorLaunchTimeout"
    says "$scratch/err" "deadlock"
    says "$scratch/err" "(at a barrier)"
  done
}
report deadlock "$(deadlock | head -n 1)"

# 40 launches alike, of which 3, then 4, 8, 16, 32 are timed, and two behind each that executed a twentieth less or more
# than all timed ones before it (docs/exec.md); the sum of all lies in the interval that is printed.
sampling() {
  "$BIN" exec --sample-launches 3 --json "$scratch/some.json" "$scratch/repeat" >"$scratch/out" 2>"$scratch/err"
  cp "$scratch/err" "$scratch/sampled"
  "$BIN" exec --json "$scratch/all.json" "$scratch/repeat" >"$scratch/out" 2>&1
  python3 - "$scratch/some.json" "$scratch/all.json" "$scratch/sampled" <<'P'
import json, re, sys
some, all = (json.load(open(p))["launches"] for p in sys.argv[1:3])
timed, more = {}, 0  # number of a launch -> what it executed; how many are still to be timed
for k, insts in enumerate((l["warp_insts"] for l in all), 1):
    regular = k <= 3 or k & (k - 1) == 0
    if regular or more: timed[k] = insts
    elif insts < 0.95 * min(timed.values()) or insts > 1.05 * max(timed.values()): more = 2; continue
    if not regular: more = max(more - 1, 0)
if not {1, 2, 3, 4, 8, 16, 32} < timed.keys(): print("by the rule only", sorted(timed))
for k, l in enumerate(some, 1):
    if l["timed"] != (k in timed) or l.get("estimated", False) == (k in timed): print("launch", k, "timed:", l["timed"])
said = open(sys.argv[3]).read()
for text in f"{len(timed)} of 40 launches timed", f"{40 - len(timed)} launches estimated":
    if text not in said: print(text, "is missing:", said[:200])
total, error = map(int, re.search(r"estimated: total (\d+) cycles \+- (\d+)", said).groups())
sum_of_all = sum(l["cycles"] for l in all)
if abs(total - sum_of_all) > error: print("estimated", total, "+-", error, "cycles; all timed", sum_of_all)
if error > 0.2 * total: print("the error is too large to be of use:", error)
P
}
report sampling "$(sampling | head -n 1)"

# A launch without time that faults is no estimated one: of seven, 1, 2 and 4 are timed, 3, 5 and 6 estimated.
sampled_fault() {
  "$BIN" exec --sample-launches 1 --json "$scratch/late.json" "$scratch/late_fault" >"$scratch/out" 2>"$scratch/err"
  says "$scratch/out" cudaErrorIllegalAddress
  says "$scratch/err" "3 of 7 launches timed"
  says "$scratch/err" "3 launches estimated"
  python3 - "$scratch/late.json" <<'P'
import json, sys
kind = ["timed" if l["timed"] else "estimated" if l.get("estimated") else "neither" for l in json.load(open(sys.argv[1]))["launches"]]
if kind != ["timed", "timed", "estimated", "timed", "estimated", "estimated", "neither"]: print(kind)
P
}
report "sampling, a fault" "$(sampled_fault | head -n 1)"

# A part of the CTAs is timed: all results are right, and the time of all lies in the interval, also where the CTAs that are
# not timed do more than the others: sampled_ctas PROGRAM SMS N CTAS WIDEST, the widest interval that is of use.
sampled_ctas() {
  "$BIN" exec --set "gpu.sms=$2" --sample-ctas "$3" --json "$scratch/some.json" "$scratch/$1" >"$scratch/out" 2>"$scratch/err"
  says "$scratch/out" right
  says "$scratch/err" "from $4 CTAs"
  "$BIN" exec --set "gpu.sms=$2" --json "$scratch/all.json" "$scratch/$1" >"$scratch/out" 2>&1
  python3 - "$scratch/some.json" "$scratch/all.json" "$5" <<'P'
import json, sys
some, all = (json.load(open(p))["launches"][0] for p in sys.argv[1:3])
if some["warp_insts"] != all["warp_insts"]: print("warp instructions", some["warp_insts"], all["warp_insts"])
if abs(some["cycles"] - all["cycles"]) > some["error_cycles"]: print("estimated", some["cycles"], "+-", some["error_cycles"], "all timed", all["cycles"])
if some["error_cycles"] > float(sys.argv[3]) * all["cycles"]: print("the error is too large to be of use:", some["error_cycles"])
P
}
report "sampled CTAs" "$(sampled_ctas waves 46 1 2216 0.4 | head -n 1)"
report "sampled CTAs, uneven" "$(sampled_ctas uneven 8 1200 1200 0.4 | head -n 1)"

# Clocks, events and the report agree, with and without time; without, a launch takes 32 cycles for each warp instruction
# behind the latency of its start.
clocks() {
  local mode
  for mode in --timed --functional; do
    "$BIN" exec $mode --quiet --json "$scratch/clocks.json" "$scratch/clocks" >"$scratch/out" 2>&1 || echo "$mode: exit status $?"
    says "$scratch/out" agree
  done
  python3 - "$scratch/clocks.json" "$("$BIN" gpus --resolve rtx-3070 | sed -n 's/^ *launch.latency_cycles *=* *\([0-9]*\).*/\1/p')" \
    "$("$BIN" gpus --resolve rtx-3070 | sed -n 's/^ *gpu.clock_khz *=* *\([0-9]*\).*/\1/p')" <<'P'
import json, sys
latency, khz = map(int, sys.argv[2:])
for l in json.load(open(sys.argv[1]))["launches"]:
    took, want = l["end_ps"] - l["start_ps"], (latency + 32 * l["warp_insts"]) * 1e9 / khz
    if abs(took - want) > 0.002 * want: print("took", took, "ps, not", want)
    if l["timed"]: print("timed")
P
}
report clocks "$(clocks | head -n 1)"

# The same bytes on every run: host and GPU wait for each other, streams overlap, and one has priority.
handshake() {
  local n
  for n in 1 1 2 3; do
    timeout 120 "$BIN" exec --quiet --threads $n --json "$scratch/json" "$scratch/handshake" >"$scratch/out" 2>"$scratch/err" ||
      echo "exit status $?: $(head -n 1 "$scratch/err")"
    cat "$scratch/out" >>"$scratch/json"
    [ -f "$scratch/first" ] || cp "$scratch/json" "$scratch/first"
    cmp -s "$scratch/first" "$scratch/json" || echo "$n threads give other bytes: $(diff "$scratch/first" "$scratch/json" | head -n 2 | tr '\n' ' ')"
  done
  rm -f "$scratch/first"
}
report handshake "$(handshake | head -n 1)"

progress() {
  "$BIN" exec --progress --max-instructions 400000000 --functional "$scratch/spin" >/dev/null 2>"$scratch/err"
  says "$scratch/err" "launch 2 _Z4spinPViPi: CTAs 0 of 1"
}
report progress "$(progress | head -n 1)"

# Starting costs little because nothing is made before it is needed: a program that registers kernels and does not
# use CUDA gets by without a GPU that does not exist.
start() {
  local dir; dir=$(dirname "$BIN")/cuda
  WARPSTEP_EXEC=gpu=none LD_LIBRARY_PATH=$dir LD_PRELOAD=$dir/libwarpstep-cuda.so "$scratch/idle" >"$scratch/out" 2>"$scratch/err" ||
    echo "exit status $?"
  says "$scratch/out" "nothing done"
  [ ! -s "$scratch/err" ] || echo "it said: $(head -n 1 "$scratch/err")"
  WARPSTEP_EXEC=gpu=none LD_LIBRARY_PATH=$dir LD_PRELOAD=$dir/libwarpstep-cuda.so "$scratch/idle" use >"$scratch/out" 2>"$scratch/err"
  says "$scratch/out" "cudaErrorNoDevice"
  says "$scratch/err" "no preset 'none'"
}
report "start on demand" "$(start | head -n 1)"

# A captured launch replays on the GPU it was captured on and on another; damage of any kind is refused.
capture() {
  local c
  rm -rf "$scratch/cases"
  "$BIN" capture -o "$scratch/cases" --launches 2..3 "$scratch/repeat" >"$scratch/out" 2>"$scratch/err"
  [ "$(wc -l <"$scratch/cases/manifest.txt")" -eq 2 ] || echo "not two lines in the manifest"
  c=$(echo "$scratch"/cases/0003-*.case)
  "$BIN" run "$c" >"$scratch/out" 2>&1 || echo "replay failed"
  says "$scratch/out" "all 1 match"
  "$BIN" run "$c" --gpu rtx-a6000 --quiet || echo "replay on another GPU failed"
  "$BIN" run "$c" --gpu h100 --quiet 2>"$scratch/err"
  [ $? -eq 2 ] || echo "code for sm_86 ran on sm_90"
  "$BIN" capture -o "$scratch/cases" "$scratch/repeat" 2>"$scratch/err"
  says "$scratch/err" "holds captured launches already"
  python3 - "$BIN" "$c" "$scratch/damaged.case" <<'P'
import random, subprocess, sys
program, source, copy = sys.argv[1:4]
data = open(source, "rb").read()
random.seed(1)
for what in ["flip"] * 25 + ["cut"] * 5 + ["longer"]:
    bad = bytearray(data)
    if what == "flip": bad[random.randrange(len(bad))] ^= 1 << random.randrange(8)
    elif what == "cut": del bad[random.randrange(len(bad)):]
    else: bad += b"x"
    open(copy, "wb").write(bad)
    r = subprocess.run([program, "run", copy, "--functional", "--quiet"], capture_output=True)
    if r.returncode != 2: print(what, "was not refused: status", r.returncode)
P
}
report capture "$(capture | head -n 1)"

# A program that asks about its work again and again, and does nothing else, comes to an end without time.
asks() {
  timeout 60 "$BIN" exec --functional --quiet "$scratch/asks" >"$scratch/out" 2>"$scratch/err" || echo "exit status $?"
  says "$scratch/out" right
}
report "asks --functional" "$(asks | head -n 1)"

# Processes that capture into one folder at the same time: every launch of each of them has its file and its line.
crowd() {
  rm -rf "$scratch/crowd"
  # shellcheck disable=SC2016 # the inner shell's variables
  "$BIN" capture -o "$scratch/crowd" bash -c 'pids=(); for i in 1 2 3 4; do "$0" & pids+=($!); done; for p in "${pids[@]}"; do wait "$p" || exit; done' \
    "$scratch/repeat" >"$scratch/out" 2>"$scratch/err" || echo "exit status $?: $(head -n 1 "$scratch/err")"
  python3 - "$scratch/crowd" <<'P'
import os, sys
lines = [l.split() for l in open(sys.argv[1] + "/manifest.txt")]
if len(lines) != 160: print(len(lines), "lines of 160")
if any(len(l) != 6 for l in lines): print("a line is not whole")
if {l[0] for l in lines} | {"manifest.txt"} != set(os.listdir(sys.argv[1])): print("the list does not name what is there")
if any(os.path.getsize(sys.argv[1] + "/" + l[0]) != int(l[1]) for l in lines): print("a file has another size")
P
}
report "capture, four processes" "$(crowd | head -n 1)"
[ $failed -eq 0 ]
