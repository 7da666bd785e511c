#!/usr/bin/env bash
# tests/settings/run.sh: a sample of tests/settings/sweep.py, for make test; all of it is for the night:
#   tests/settings/sweep.py --pairs 2000; tests/settings/sweep.py --gpu h200 --kernels cluster_reduce,tex_shapes
set -u
cd "$(dirname "$0")/../.." || exit 2
BIN=$(realpath "${BIN:-build/warpstep}")
export BIN
failed=0
if tests/settings/sweep.py --sample 61 --pairs 200; then echo "ok settings sample"; else
  echo "not ok settings sample"
  failed=1
fi
echo "settings: $((1 - failed)) passed, $failed failed"
[ $failed -eq 0 ]
