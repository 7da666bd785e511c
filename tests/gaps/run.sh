#!/usr/bin/env bash
# The hazard table is tight: in a few kernels the compiler's smallest distances from producers to consumers are those of gap.*, and
# none is smaller (docs/blocks/hazard.md; `make gaps` does all kernels and targets).
#
#   tests/gaps/run.sh
#
# BIN names the program (build/warpstep). `make refs` must have run.
set -u
cd "$(dirname "$0")/../.." || exit 2

export BIN=${BIN:-build/warpstep}
if out=$(tools/gaps.py --kernels aes128,assert_holds,atomics,barriers,bfs,big_params,cholesky,coop_groups,divergence,dot_int4,warp_intrinsics \
  --tight 22 86:rtx-3070); then
  echo "ok gaps: $(tail -n 1 <<<"$out" | tr -s ' ')"
else
  echo "not ok gaps: $(tail -n 1 <<<"$out" | tr -s ' ')"
  printf '%s\n' "$out"
  exit 1
fi
