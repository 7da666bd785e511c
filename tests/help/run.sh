#!/usr/bin/env bash
# Every example of every help text, and every line of docs/commands.md, run as it stands there (run.py says how).
cd "$(dirname "$0")/../.." && exec python3 tests/help/run.py "$@"
