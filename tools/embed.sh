#!/bin/sh
# embed.sh HEADER [NAME FILE...] [-- NAME FILE...]...: C source of a `const struct html_asset NAME` for each NAME, with the
# bytes of its files one behind the other; without files it has none. Only tools that POSIX has.
set -eu
header=$1
shift
printf '#include "%s"\n' "$header"
while [ $# -gt 0 ]; do
  name=$1
  shift
  printf '\nstatic const unsigned char %s_bytes[] = {\n' "$name"
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    od -An -v -tx1 "$1" | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'
    shift
  done
  [ $# -eq 0 ] || shift
  # The last byte is no part of it: an array has one at least.
  printf '0};\nconst struct html_asset %s = {%s_bytes, sizeof %s_bytes - 1};\n' "$name" "$name" "$name"
done
