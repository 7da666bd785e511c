#!/usr/bin/env bash
# Products into tensor memory by shape against a B200, every ninth of 264: see tools/tmem/shapes.py. BIN names the program.
set -u
cd "$(dirname "$0")/../.." || exit 2
exec tools/tmem/shapes.py --every 9 "$@"
