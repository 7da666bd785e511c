#!/usr/bin/env bash
# The commands of README, the tutorial, the recipes and other pages, run as they stand there (run.py says how). `make refs` must have run.
# run.sh --update writes what they print now into the pages: after a change of simulated numbers. Read the diff.
cd "$(dirname "$0")/../.." && exec python3 tests/docs/run.py "$@"
