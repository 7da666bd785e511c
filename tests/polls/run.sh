#!/usr/bin/env bash
# Programs that look at memory which kernels write, without calls in between (exec --spin strict): what they see, and all
# that is reported, is the same on every run and for any number of threads; each look takes its simulated time. And the
# report says what may make times differ.
#
#   tests/polls/run.sh      BIN: the program (build/warpstep), NVCC: the compiler, RUNS: of each case (3)
set -u
cd "$(dirname "$0")/../.." || exit 2
bin=${BIN:-build/warpstep}
NVCC=${NVCC:-$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)}
if [ ! -x "$NVCC" ]; then
  echo "ok polls # SKIP no nvcc (NVCC names it)"
  exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if ! "$NVCC" -arch=sm_86 -std=c++14 -cudart shared -o "$scratch/polls" tests/polls/polls.cu >"$scratch/log" 2>&1; then
  echo "not ok polls: $(grep -m 1 error "$scratch/log")"
  exit 1
fi
status=0

verdict() { # NAME WHY: no WHY, no failure
  if [ -z "$2" ]; then
    echo "ok polls: $1"
  else
    echo "not ok polls: $1: $2"
    status=1
  fi
}

# one THREADS CASE [OPTION...]: all that a run says, without the machine's own times, to $scratch/now
one() {
  timeout 100 "$bin" exec --spin strict --set gpu.sms=4 --threads "$1" --report "$scratch/table" --json "$scratch/json" \
    "${@:3}" "$scratch/polls" "$2" >"$scratch/out" 2>"$scratch/err" || return
  cat "$scratch/out" "$scratch/err" "$scratch/table" >"$scratch/now"
  grep -v '"\(host_seconds\|seconds\|threads\|version\|command\)"' "$scratch/json" >>"$scratch/now"
}

# same CASE [OPTION...]
same() {
  local run threads why=''
  rm -f "$scratch/first"
  for ((run = 0; run < ${RUNS:-3}; run++)); do
    for threads in 1 2 3; do
      if ! one "$threads" "$@"; then
        why="ends badly: $(tail -n 1 "$scratch/out") $(head -n 1 "$scratch/err")"
      elif [ ! -f "$scratch/first" ]; then
        cp "$scratch/now" "$scratch/first"
      elif ! cmp -s "$scratch/now" "$scratch/first"; then
        why="run $run with $threads threads differs: $(diff "$scratch/first" "$scratch/now" | sed -n 2p)"
      fi
    done
  done
  verdict "$* is the same on every run, for 1, 2 and 3 threads" "$why"
}

for name in flag handshake managed managed_handshake other_thread threads copy atomic swap wide edge string buffers calls \
  functions callers own_handler; do
  same "$name"
done
same handshake --machine 2x-rtx-3090-nvlink
same calls --machine 2x-rtx-3090-nvlink
same handshake --machine 2x-rtx-3090-nvlink --functional

# The kernel's time by the looks: 20,000 cycles more are 20,000 / 1.725 GHz / host.poll_ns looks more.
looks() { # CYCLES NS
  "$bin" exec --quiet --spin strict --set gpu.sms=4 --set "host.poll_ns=$2" "$scratch/polls" flag "$1" 2>"$scratch/err" |
    awk '$1 == "looks" { print $2 }'
}
by_formula() { # NS
  local few more
  few=$(looks 20000 "$1") more=$(looks 40000 "$1")
  awk -v few="$few" -v more="$more" -v ns="$1" 'BEGIN {
    want = 20000 / 1.725 / ns
    if (few > 0 && more - few > want - 2 && more - few < want + 2) exit
    printf "%s and %s looks, %.1f more asked\n", few, more, want
  }'
}
verdict "a look takes host.poll_ns: 100" "$(by_formula 100)"
verdict "a look takes host.poll_ns: 40" "$(by_formula 40)"

one 1 forks
verdict "a child that is forked beside a function of a stream ends" "$(grep -q '^PASS' "$scratch/out" || tail -n 2 "$scratch/out" "$scratch/err")"

# What may make times differ is said.
one 1 computes
says() { # FILE TEXT: nothing, when it does
  grep -q "$2" "$1" || echo "no '$2' in: $(tail -n 3 "$1")"
}
verdict "a thread that computes for long is waited for no more, and the report says so" \
  "$(says "$scratch/table" '^1 times a thread of the program went on computing'; says "$scratch/json" '"graces": 1')"
"$bin" exec --set gpu.sms=4 --report "$scratch/table" --json "$scratch/json" "$scratch/polls" flag >"$scratch/out" 2>&1
verdict "without it a program that spins is found, and the report says so" \
  "$(says "$scratch/table" '^the program waited in its own code'
    says "$scratch/json" '"waited_in_own_code": true'; grep '"polls"' "$scratch/json")"
verdict "another word than strict or evidence is refused" \
  "$("$bin" exec --spin never true >"$scratch/out" 2>&1 && echo "it is not"; grep -q "evidence or strict" "$scratch/out" ||
    head -n 1 "$scratch/out")"
exit $status
