#!/usr/bin/env bash
# Memory curves against measured silicon, quick set: see tools/curves/curves.py. BIN names the program.
set -u
cd "$(dirname "$0")/../.." || exit 2
exec tools/curves/curves.py "$@"
