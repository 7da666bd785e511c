#!/usr/bin/env bash
# The commands of README, the tutorial, the recipes and the profiler, run as they stand there (run.py says how). `make refs` must have run.
cd "$(dirname "$0")/../.." && exec python3 tests/docs/run.py "$@"
