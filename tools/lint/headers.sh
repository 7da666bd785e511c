#!/usr/bin/env bash
# Every header compiles alone (with gcc, where it is), many in one command; clang, where it is, reads the headers of each folder one after another, for
# what a compiler says of them.
set -u

flags=(-std=c17 -D_GNU_SOURCE -DSEM_LEVEL=v1 -fopenmp-simd -Isrc -Iinclude -Wall -Wextra -Werror -fsyntax-only -Wno-unused-function -x c)

alone() { # each is a source file of its own here
  local cc=gcc
  command -v gcc >/dev/null || cc=clang
  find src include -name '*.h' -print0 | xargs -0 -P "$(nproc)" -n 50 "$cc" "${flags[@]}" -Wno-unused-const-variable 2>&1
}

# sem_int.h has names that the parts of other kinds of numbers have, too: no source file includes both.
together() {
  local folder
  find src include -name '*.h' -printf '%h\n' | sort -u | while read -r folder; do
    find "$folder" -maxdepth 1 -name '*.h' ! -name sem_int.h -printf '#include "%p"\n' | sort | clang "${flags[@]}" -I. - 2>&1
  done
  clang "${flags[@]}" -Wno-unused-const-variable src/func/sass/sem_int.h 2>&1
}

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
done
out+=$(alone | head -n 20)
command -v clang >/dev/null && out+=$(together | head -n 20)
[ -z "$out" ] || {
  printf '%s\n' "$out"
  exit 1
}
