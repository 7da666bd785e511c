#!/usr/bin/env bash
# PTX arithmetic against exact results: 400 forms of sm_86 by chance, without time (tools/ptx/check.py has over 1,000, on every
# target). Without ptxas it is skipped.
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
if out=$(tools/ptx/check.py --sm 86 --count 400 --runner "$bin run --functional" 2>&1); then
  echo "ok ptx: $(tail -n 1 <<<"$out")"
else
  echo "not ok ptx: $(tail -n 1 <<<"$out")"
  printf '%s\n' "$out"
  exit 1
fi
