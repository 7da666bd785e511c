#!/usr/bin/env bash
# setup.sh [test]: installs the distribution's packages the build needs, if any is missing. Does nothing, quickly,
# when all are there. Exit status 1 with the list of packages when they cannot be installed.
# What can be done without (a chart library; with `test`, a browser for the tests of pages) is tried once for each checkout,
# and a line says when it is not there.
set -u

# A probe knows more than a package list: any way of having the library is fine.
probe() {
  printf '#include <%s>\nint main(void) { return 0; }\n' "$1" |
    "${CC:-gcc}" -x c -include stddef.h -include stdarg.h -include stdint.h -include setjmp.h \
      -o /dev/null - "$2" 2>/dev/null
}

missing=()
need() { missing+=("$@"); }

command -v make >/dev/null || need make
command -v python3 >/dev/null || need python3
command -v g++ >/dev/null || need g++ # the public header is C++, too
command -v pkg-config >/dev/null || need pkg-config
if command -v "${CC:-gcc}" >/dev/null && probe stdio.h -lm; then
  probe libelf.h -lelf || need libelf-dev
  probe lz4.h -llz4 || need liblz4-dev
  probe zstd.h -lzstd || need libzstd-dev
  probe lzma.h -llzma || need liblzma-dev
  probe libconfig.h -lconfig || need libconfig-dev
  probe jansson.h -ljansson || need libjansson-dev
  probe sqlite3.h -lsqlite3 || need libsqlite3-dev
  probe cmocka.h -lcmocka || need libcmocka-dev
  probe mpfr.h -lmpfr || need libmpfr-dev
else
  need gcc libc6-dev binutils libelf-dev liblz4-dev libzstd-dev liblzma-dev libconfig-dev libjansson-dev libsqlite3-dev libcmocka-dev libmpfr-dev
fi

wanted=()
[ -f /usr/share/javascript/dygraphs/dygraph.min.js ] || wanted+=(libjs-dygraphs)
[ "${1:-}" != test ] || command -v chromium >/dev/null || wanted+=(chromium)
[ "${1:-}" != test ] || command -v gdb >/dev/null || wanted+=(gdb)
tried=build/setup.wanted
[ "${wanted[*]:-}" = "$(cat "$tried" 2>/dev/null)" ] && wanted=()
[ $((${#missing[@]} + ${#wanted[@]})) -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  as_root=(sudo -n)
  if ! command -v sudo >/dev/null; then
    as_root=(false)
  fi
fi
# install PACKAGE...: false when it cannot, with the reason on stdout.
install() {
  local log
  command -v apt-get >/dev/null || return 1
  echo "setup: installing $*"
  log=$(mktemp)
  if { "${as_root[@]}" apt-get update && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "$@"; } >"$log" 2>&1; then
    rm -f "$log"
    return 0
  fi
  tail -n 5 "$log"
  rm -f "$log"
  return 1
}
if [ ${#wanted[@]} -gt 0 ] && ! install "${wanted[@]}"; then
  echo "setup: going on without ${wanted[*]}"
  mkdir -p build && echo "${wanted[*]}" >"$tried"
fi
[ ${#missing[@]} -eq 0 ] || install "${missing[@]}" && exit 0
echo "setup: missing packages (Debian names): ${missing[*]}" >&2
echo "setup: install them and run the command again" >&2
exit 1
