#!/usr/bin/env bash
# Runs that are saved and go on from there (checkpoints.py). BIN names the program. `make refs` must have run.
cd "$(dirname "$0")/../.." || exit 2
exec python3 tests/checkpoint/checkpoints.py "${BIN:-build/warpstep}" "$@"
