#!/bin/sh
# The tables of entry points against cuda.h (entries.py); skipped without a toolkit.
cd "$(dirname "$0")/../.." && exec python3 tests/cuda/entries.py
