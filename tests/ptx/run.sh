#!/usr/bin/env bash
# PTX against exact results, without time: 400 forms of arithmetic of sm_86 by chance (tools/ptx/check.py has over 1,000, on every
# target), 60 of products and moves of matrices (tools/ptx/matrices.py), 12 of warpgroup products in any layout
# (tools/ptx/warpgroup.py); conversions to and from FP8, FP6, FP4 and by random bits of sm_100a, products with factors of blocks of sm_120a,
# four products at once of sm_75. Without ptxas it is skipped.
#
#   tests/ptx/run.sh      BIN: the program (build/warpstep)
set -u
cd "$(dirname "$0")/../.." || exit 2

bin=${BIN:-build/warpstep}
PATH=$PATH:/usr/local/cuda/bin
if ! command -v ptxas >/dev/null; then
  echo "ok ptx # SKIP no ptxas"
  exit 0
fi
failed=0

# compare NAME PROGRAM [OPTION...]
compare() {
  local name=$1 out
  shift
  if out=$("$@" --runner "$bin run --functional" 2>&1); then
    echo "ok $name: $(tail -n 1 <<<"$out")"
  else
    echo "not ok $name: $(tail -n 1 <<<"$out")"
    printf '%s\n' "$out"
    failed=1
  fi
}

compare ptx tools/ptx/check.py --sm 86 --count 400
compare "ptx matrices" tools/ptx/matrices.py --sm 86 --count 60 --blocks 2
compare "ptx narrow" tools/ptx/check.py --sm 100a --forms 'e[2345]m|ue8m0|cvt\.rs'
compare "ptx factors" tools/ptx/matrices.py --sm 120a --forms block_scale --count 24 --blocks 1
compare "ptx quads" tools/ptx/matrices.py --sm 75 --forms m8n8k4.*f16 --blocks 1
compare "ptx warpgroups" tools/ptx/warpgroup.py --count 12
exit $failed
