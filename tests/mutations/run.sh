#!/usr/bin/env bash
# Broken control bits: a few of the variants of mutate.py, of kernels in which every class changes results.
# All hazard classes must change some result under --hazards emulate, and --hazards check must report each.
#
#   tests/mutations/run.sh [--full]
#
# --full: 1,000 variants over all kernels and targets. BIN names the program (build/warpstep), JOBS the
# number of runs at a time (2). `make refs` must have run.
set -u
cd "$(dirname "$0")/../.." || exit 2

BIN=${BIN:-build/warpstep}
if [ ! -x "$BIN" ]; then
  echo "tests/mutations/run.sh: no $BIN; run make first" >&2
  exit 2
fi
export BIN
if [ "${1:-}" = --full ]; then
  set --
else
  set -- --count 60 --least 12,1 --kernels cp_async,tex_shapes,sort_bitonic,smith_waterman,launch_bounds,conv,fp_root \
    80:a100 86:rtx-3070 90:h200
fi
if out=$(tests/mutations/mutate.py "$@" 2>&1); then
  echo "ok mutations: $(tail -n 1 <<<"$out" | tr -s ' ')"
else
  echo "not ok mutations: $(tail -n 1 <<<"$out" | tr -s ' ')"
  printf '%s\n' "$out"
  exit 1
fi
printf '%s\n' "$out"
