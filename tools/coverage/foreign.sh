#!/usr/bin/env bash
# How much of machine code that is not ours this build understands: tools/coverage/foreign.sh DIR...
#
# Every cubin (*.cubin, *.fatbin, *.o) under the folders is loaded, and each instruction word decoded,
# printed, assembled again and looked up in the executable set. Prints one block per target: images,
# words, shares, then each gap with a sample (warpstep isa --check). Status 1: there is a gap.
# BIN names the program (build/warpstep).
set -u
BIN=${BIN:-$(dirname "$0")/../../build/warpstep}
if [ $# -eq 0 ]; then
  echo "usage: tools/coverage/foreign.sh DIR..." >&2
  exit 2
fi
mapfile -d '' -t files < <(find "$@" -type f \( -name '*.cubin' -o -name '*.fatbin' -o -name '*.o' \) \
  -print0 | sort -z)
if [ ${#files[@]} -eq 0 ]; then
  echo "tools/coverage/foreign.sh: no cubins under $*" >&2
  exit 2
fi
exec "$BIN" isa --check "${files[@]}"
