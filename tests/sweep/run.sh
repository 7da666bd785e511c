#!/usr/bin/env bash
# warpstep sweep: results, resuming, tasks, refusals (tests/sweep/check.py).  BIN: the program (build/warpstep)
set -u
cd "$(dirname "$0")/../.." || exit 2
command -v python3 >/dev/null || { echo "ok sweep # SKIP no Python"; exit 0; }
BIN=${BIN:-build/warpstep} exec python3 tests/sweep/check.py
