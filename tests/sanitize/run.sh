#!/usr/bin/env bash
# Planted defects are found, and nothing else: tests/sanitize/run.sh [NAME...], see run.py.
cd "$(dirname "$0")/../.." && exec python3 tests/sanitize/run.py "$@"
