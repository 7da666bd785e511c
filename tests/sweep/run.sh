#!/usr/bin/env bash
# warpstep sweep: results, resuming, tasks, refusals (tests/sweep/check.py).  BIN: the program (build/warpstep)
set -u
cd "$(dirname "$0")/../.." || exit 2
BIN=${BIN:-build/warpstep} exec python3 tests/sweep/check.py
