#!/usr/bin/env bash
# The assembler's scheduler on compiled kernels: each is disassembled, stripped of its control
# information, scheduled and assembled again. It must give the right results (CPU reference), and the
# hazard checker must find nothing.
#
#   tests/schedule/run.sh [--report] [SM GPU [KERNEL...]]
#
# Default: every kernel, sm_86 on rtx-3070. --report: cycles of both, and their ratio, for each kernel.
# BIN names the program (build/warpstep), JOBS the number of runs at a time (2). `make refs` must have
# run.
set -u
cd "$(dirname "$0")/../.." || exit 2

export BIN=${BIN:-build/warpstep} LIMIT=${LIMIT:-300} REPORT=''
if [ ! -x "$BIN" ]; then
  echo "tests/schedule/run.sh: no $BIN; run make first" >&2
  exit 2
fi
[ "${1:-}" = --report ] && REPORT=1 && shift
SM=${1:-86} GPU=${2:-rtx-3070}
[ $# -ge 2 ] && shift 2
OUT=$(mktemp -d) || exit 2
export SM GPU OUT
trap 'rm -rf "$OUT"' EXIT

cycles() { # JSON
  grep -m 1 '"cycles"' "$1" | tr -dc 0-9
}

one() {
  local k=$1 dir=$OUT/$1 ours nvcc
  local cubin=$k.sm_$SM.cubin launch=kernels/$k/$k.launch
  mkdir -p "$dir" && cp "$launch" "$dir"
  if ! { "$BIN" disasm --asm "kernels/$k/$cubin" |
    sed 's/^  \[B[^]]*\] /  /; s/\.reuse//g' >"$dir/$k.sass" &&
    "$BIN" asm "$dir/$k.sass" -o "$dir/$cubin" --schedule "$GPU" &&
    timeout "$LIMIT" "$BIN" run "$dir/$k.launch" --data "build/ref/$k" --gpu "$GPU" \
      --hazards check --quiet --json "$dir/ours.json"; } >"$dir/log" 2>&1; then
    echo "not ok schedule $k sm_$SM: $(head -n 3 "$dir/log" | tr '\n' ' ')"
    return
  fi
  echo "ok schedule $k sm_$SM"
  [ -n "$REPORT" ] || return
  "$BIN" run "$launch" --gpu "$GPU" --quiet --json "$dir/nvcc.json" >/dev/null 2>&1
  ours=$(cycles "$dir/ours.json") nvcc=$(cycles "$dir/nvcc.json")
  echo "$k $nvcc $ours" |
    awk '{printf "%-20s %9d cycles, scheduled %9d: %.3f\n", $1, $2, $3, $3 / $2}'
}
export -f one cycles

# shellcheck disable=SC2016 # $1 belongs to the inner shell
for launch in kernels/*/*.launch; do
  k=$(basename "$launch" .launch)
  [ $# -gt 0 ] && [[ " $* " != *" $k "* ]] && continue
  [ -f "kernels/$k/$k.sm_$SM.cubin" ] && echo "$k"
done | xargs -P "${JOBS:-2}" -I '{}' bash -c 'one "$1"' run '{}' | tee "$OUT/verdicts"

passed=$(grep -c '^ok ' "$OUT/verdicts")
failed=$(grep -c '^not ok ' "$OUT/verdicts")
[ -z "$REPORT" ] || awk '/cycles,/ { n++; s += log($NF) }
  END { if (n) printf "geometric mean of %d kernels: %.3f of the cycles under nvcc\n", n, exp(s / n) }
  ' "$OUT/verdicts"
echo "schedule: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
