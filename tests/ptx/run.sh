#!/usr/bin/env bash
# PTX against exact results, without time: 400 forms of arithmetic of sm_86 by chance (tools/ptx/check.py has over 1,000, on every
# target), 60 of products and moves of matrices (tools/ptx/matrices.py), 12 of warpgroup products in any layout
# (tools/ptx/warpgroup.py). Without ptxas it is skipped.
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
compare "ptx warpgroups" tools/ptx/warpgroup.py --count 12
exit $failed
