#!/usr/bin/env bash
# Sessions of `warpstep debug`: tests/debug/run.sh [NAME...], see run.py.
cd "$(dirname "$0")/../.." && exec python3 tests/debug/run.py "$@"
