#!/usr/bin/env bash
# Launches of green contexts, captured and replayed: they run on the same SMs again, whose numbers the kernel stores, in as
# many turns as these SMs need; the limiter knows no others.
#
#   tests/green_replay/run.sh      BIN: the program (build/warpstep), NVCC: the compiler
set -u
cd "$(dirname "$0")/../.." || exit 2
bin=${BIN:-build/warpstep}
NVCC=${NVCC:-$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)}
if [ ! -x "$NVCC" ]; then
  echo "ok green replay # SKIP no nvcc (NVCC names it)"
  exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if ! "$NVCC" -arch=sm_80 -cudart shared -Itests/exec -L "$(dirname "$NVCC")/../lib64/stubs" -o "$scratch/program" \
  tests/exec/green_contexts.cu -lcuda >"$scratch/log" 2>&1; then
  echo "not ok green replay: $(grep -m 1 error "$scratch/log")"
  exit 1
fi
status=0
verdict() { # NAME WHY: no WHY, no failure
  if [ -z "$2" ]; then
    echo "ok green replay: $1"
  else
    echo "not ok green replay: $1: $2"
    status=1
  fi
}

# Two launches of two contexts with 8 SMs each: 40 CTAs, then 16, of which an SM holds one.
"$bin" capture --gpu a100 --timed --launches 2..3 --stop-after-captured -o "$scratch/cases" "$scratch/program" \
  >"$scratch/log" 2>&1
for number in 2 3; do
  turns=$((number == 2 ? 5 : 2))
  if "$bin" run "$scratch/cases/000$number"-*.case --json "$scratch/json" >"$scratch/out" 2>&1; then
    verdict "launch $number: on the same SMs" ""
  else
    verdict "launch $number: on the same SMs" "$(tail -n 1 "$scratch/log"; grep Results "$scratch/out")"
  fi
  verdict "launch $number: in $turns turns of 20,000 cycles" "$(awk -v turns="$turns" '$1 == "time" {
      gsub(",", "", $2)
      if ($2 < turns * 20000 || $2 > turns * 20000 * 1.05 + 4000 || $0 !~ /on 8 SMs/) print
      found = 1
    }
    END { if (!found) print "no time" }' "$scratch/out")"
  verdict "launch $number: none of its SMs is empty" \
    "$(grep -E '"id": ?"(grid|tail|launch)"' "$scratch/json"; grep -q '"limiter"' "$scratch/json" || echo "no limiter")"
done
"$bin" run "$scratch"/cases/0003-*.case --set gpu.sms=8 >"$scratch/out" 2>&1
verdict "a GPU without these SMs is refused" \
  "$(grep -q 'captured on SM 8, among others; this GPU has 8' "$scratch/out" || tail -n 1 "$scratch/out")"
exit $status
