#!/usr/bin/env bash
# The Python package as its users have it: the wheel of `make wheel`, unpacked away from the source tree (check.py).
set -u
cd "$(dirname "$0")/../.." || exit 2
root=$PWD
if [ -n "${MODE:-}" ] || ! command -v python3 >/dev/null; then
  echo "ok python package # SKIP a build with sanitizers, or no Python"
  exit 0
fi
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
library=$(readlink -f build/libwarpstep.so)
wheel=$(python3 tools/python/wheel.py "$library" presets "$scratch") || { echo "not ok python wheel: it cannot be made"; exit 1; }
# As pip does it, which may not be there.
python3 -m zipfile -e "$wheel" "$scratch/site" || { echo "not ok python wheel: it cannot be unpacked"; exit 1; }
cd "$scratch" && env -u WARPSTEP_PRESETS PYTHONPATH="$scratch/site" PYTHONDONTWRITEBYTECODE=1 ROOT="$root" python3 "$root/tests/python/check.py"
