#!/usr/bin/env bash
# Every header compiles alone, with every compiler at hand.
set -u

flags=(-std=c17 -D_GNU_SOURCE -DSEM_LEVEL=v1 -fopenmp-simd -Isrc -Iinclude -Wall -Wextra -Werror)
compile() {
  local cc=$1 header=$2
  shift 2
  printf '#include "%s"\n' "${header#*/}" |
    "$cc" "$@" -fsyntax-only -Wno-unused-function -x c - 2>&1 |
    sed "s|^|$header alone ($cc): |" | head -n 3
}
export -f compile

# The public header also in C++ and in plain C99, without our flags.
public() {
  printf '#include <%s>\n' "${2#include/}" |
    "$1" "${@:3}" -Iinclude -pedantic-errors -Wall -Wextra -Werror -fsyntax-only - 2>&1 |
    sed "s|^|$2 alone ($1 ${*:3}): |" | head -n 3
}

out=
for cc in gcc clang; do
  if ! command -v "$cc" >/dev/null; then
    echo "headers: no $cc here, skipped"
    continue
  fi
  for header in include/*/*.h; do
    out+=$(public "$cc" "$header" -x c -std=c99)
    out+=$(public "$cc" "$header" -x c++ -std=c++11)
  done
  out+=$(find src include -name '*.h' -print0 |
    xargs -0 -P "$(nproc)" -I{} bash -c 'compile "$@"' compile "$cc" {} "${flags[@]}")
done
[ -z "$out" ] || {
  printf '%s\n' "$out"
  exit 1
}
