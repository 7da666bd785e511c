#!/usr/bin/env bash
# Benchmarks: M warp-instructions per second of simulated code, best of RUNS (3), function-only and
# timed, beside a calibration loop that tells how fast this machine is. Compare ratios to the
# calibration, never rates of two machines. Wants a quiet computer.
#
#   bench/run.sh [--quick] [NAME...]     BIN and RUNS may be set in the environment
#
# --quick: one run each, timed with one thread only.
set -u
cd "$(dirname "$0")/.." || exit 2

BIN=${BIN:-build/warpstep}
runs=${RUNS:-3}
gpu=rtx-3070
threads='1 2'
if [ "${1:-}" = --quick ]; then
  shift
  runs=1 threads=1
fi
if [ ! -x "$BIN" ]; then
  echo "bench/run.sh: no $BIN; run make first" >&2
  exit 2
fi
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT

# best FILE ARGS...: prints "RATE INSTS" of the fastest of the runs, in M/s and M.
best() {
  local file=$1
  shift
  for _ in $(seq "$runs"); do
    "$BIN" run "$file" --gpu "$gpu" --no-check --quiet --json "$out/j" --json-host "$@" \
      2>"$out/log" || { head -n 1 "$out/log" >&2; continue; }
    awk -F'[:,]' '/"warp_insts_per_second"/ { rate = $2 } /"warp_insts"/ && !n { n = $2 }
      END { printf "%.3f %.2f\n", rate / 1e6, n / 1e6 }' "$out/j"
  done | sort -n | tail -n 1
}

calibration=''
if ${CC:-gcc} -std=c17 -D_GNU_SOURCE -O2 -o "$out/calib" bench/calib.c; then
  calibration=$("$out/calib")
  echo "$calibration"
fi
step_ns=$(sed -n 's/.*integer \([0-9.]*\) ns.*/\1/p' <<<"$calibration")
[ $# -gt 0 ] || set -- fp32_loop fp32_long sgemm_tiled stream_triad load_loop
# the last column is the one to compare across machines: warp instructions simulated in the time of
# 1000 steps of the integer calibration loop
printf '%-14s %-12s %10s %12s %14s\n' benchmark mode 'M insts' 'M insts/s' 'insts/k steps'
status=0
for name; do
  # fp32_loop is too short to time without a clock, fp32_long too long with one; load_loop measures
  # the semantics alone
  modes=()
  [ "$name" != fp32_loop ] && modes+=(functional)
  case $name in
  fp32_long | load_loop) ;;
  *) for t in $threads; do modes+=("$t-thread"); done ;;
  esac
  for mode in "${modes[@]}"; do
    case $mode in
    functional) args=(--functional) ;;
    *) args=(--threads "${mode%-thread}") ;;
    esac
    read -r rate insts <<<"$(best "bench/$name.launch" "${args[@]}")"
    if [ -z "${rate:-}" ]; then
      status=1 rate=failed insts=-
    fi
    per_step=$(awk -v r="$rate" -v ns="${step_ns:-0}" 'BEGIN { printf "%.2f", r * ns }')
    printf '%-14s %-12s %10s %12s %14s\n' "$name" "$mode" "$insts" "$rate" "$per_step"
  done
done
exit $status
