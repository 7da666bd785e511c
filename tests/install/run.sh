#!/usr/bin/env bash
# The installed package: make install into a folder of its own, then everything from there alone. Prints "ok
# install NAME" or "not ok install NAME: why".
#
# Skipped (with success) for MODE builds, which make no library. BIN names the program (build/warpstep).
set -u
cd "$(dirname "$0")/../.." || exit 2

bin=${BIN:-build/warpstep}
if [ "$bin" != build/warpstep ]; then
  echo "ok install # SKIP libraries are only made by the plain build"
  exit 0
fi
root=$(mktemp -d) || exit 2
trap 'rm -rf "$root"' EXIT
passed=0 failed=0

verdict() { # NAME REASON: no reason: it passed
  if [ -z "$2" ]; then
    passed=$((passed + 1))
    echo "ok install $1"
  else
    failed=$((failed + 1))
    echo "not ok install $1: $(tr '\n' ' ' <<<"$2" | tail -c 300)"
  fi
}

# check NAME COMMAND...: passes when the command succeeds; else its output is the reason.
check() {
  local name=$1 out
  shift
  if out=$("$@" 2>&1); then verdict "$name" ''; else verdict "$name" "${out:-failed}"; fi
}

say_if_not_empty() { [ -z "$1" ] || { printf '%s\n' "$1"; return 1; }; }

# Staged below DESTDIR, as a distribution does, then moved: only relative places may matter afterwards. The
# prefix stays what it was, so that nothing has to be built again.
stage=$root/stage
unset MAKEFLAGS MFLAGS MAKELEVEL
check 'make install' make -s CC="${CC:-gcc}" install DESTDIR="$stage"
usr=$root/usr
mv "$(dirname "$(dirname "$(find "$stage" -path '*/bin/warpstep')")")" "$usr" 2>/dev/null
want="bin/warpstep include/warpstep/warpstep.h include/warpstep/region.h lib/libwarpstep.a lib/libwarpstep.so lib/pkgconfig/warpstep.pc"
want+=" share/man/man1/warpstep.1 share/warpstep/presets/common.cfg share/warpstep/presets/rtx-3070.cfg"
missing=$(cd "$usr" && for f in $want; do [ -f "$f" ] || echo "no $f"; done)
check 'files' say_if_not_empty "$missing"

# The program, with nothing of the source tree: other folder, no environment.
cp kernels/vecadd/vecadd.sm_86.cubin "$root/"
in_root() { (cd "$root" && env -i PATH="$usr/bin:/usr/bin:/bin" "$@"); }
check 'presets are found' in_root warpstep gpus --resolve rtx-3070
cp presets/rtx-3070.cfg "$usr/share/warpstep/presets/only-here.cfg"
check 'not those of the source tree' in_root warpstep gpus --resolve only-here
rm "$usr/share/warpstep/presets/only-here.cfg"
check 'program' in_root warpstep run vecadd.sm_86.cubin --quiet --block 32 --buf x:f32:32 \
  --buf y:f32:32 --buf z:f32:32 --arg x --arg y --arg z --arg u32:32

# Measured data: suites and the kernels they name, windows by name.
check 'validate' in_root warpstep validate --quiet --suite textbook-rtx-2080ti --only '^gather-262144$'
check 'published values' in_root warpstep probe --paper
check 'nvidia-smi' in_root warpstep exec --quiet --gpu l4 nvidia-smi -L
check 'windows by name' in_root warpstep probe rtx-3060-shared.windows
data_elsewhere() { in_root env WARPSTEP_PRESETS="$root/presets" warpstep probe rtx-3060-shared.windows; }
cp -r "$usr/share/warpstep/presets" "$root/presets"
check 'data beside the program, presets elsewhere' data_elsewhere
rm -r "$root/presets"

# A built tree that was copied has all it needs, too, and takes nothing from where it was built.
copy=$root/copy
mkdir -p "$copy/build/cuda" "$copy/bench"
cp -r presets data "$copy/"
cp -r bench/validation "$copy/bench/"
cp "$bin" "$copy/build/"
cp presets/rtx-3070.cfg "$copy/presets/only-here.cfg"
in_copy() { (cd "$root" && env -i PATH=/usr/bin:/bin "$copy/build/warpstep" "$@"); }
check 'copied tree: presets' in_copy gpus --resolve only-here
check 'copied tree: validate' in_copy validate --quiet --suite textbook-rtx-2080ti --only '^gather-262144$'
rm -r "$copy"

# Every document and datum that a help text, a message or the manual names is in the tree and in the package.
named=$( (strings -n 6 "$usr/bin/warpstep" "$usr/lib/warpstep/libwarpstep-cuda.so"
  sed 's,\\,,g' "$usr/share/man/man1/warpstep.1") | grep -oE '\b(docs|data)/[A-Za-z0-9_/.-]*[A-Za-z0-9_]|\b[A-Z]+\.md\b' | sort -u)
absent=$(for f in $named; do
  [ -e "$f" ] || [ "$f" = README.md ] || echo "no $f in the tree"
  [ -e "$usr/share/doc/warpstep/$f" ] || [ -e "$usr/share/warpstep/$f" ] || echo "no $f in the package"
done)
check 'named documents' say_if_not_empty "$absent"
check 'documents are named at all' grep -q docs/exec.md <<<"$named"
# Links between the installed documents.
absent=$(cd "$usr/share/doc/warpstep" && find . -name '*.md' | while read -r f; do
  grep -oE '\]\([A-Za-z0-9_./-]+\.md[#)]' "$f" | sed 's/^](//; s/[#)]$//' | while read -r to; do
    [ -e "$(dirname "$f")/$to" ] || echo "$f links to $to"
  done
done)
check 'links of the documents' say_if_not_empty "$absent"

# The library: only what warpstep.h declares is visible, under its soname.
exported=$(nm -D --defined-only "$usr/lib/libwarpstep.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
declared=$(grep -o '\bws_[a-z_]*(' "$usr/include/warpstep/warpstep.h" | tr -d '(' | sort -u)
declared=$(comm -12 <(echo "$declared") <(sed -n 's/^WS_API.*\(ws_[a-z_]*\)(.*/\1/p' "$usr/include/warpstep/warpstep.h" | sort -u))
check 'exported names' diff <(echo "$declared") <(echo "$exported")
static=$(nm -g --defined-only "$usr/lib/libwarpstep.a" | awk 'NF == 3 { print $3 }' | sort)
check 'names of the static library' diff <(echo "$declared") <(echo "$static")
abi=$(sed -n 's/^#define WS_ABI_VERSION //p' "$usr/include/warpstep/warpstep.h")
soname=$(readelf -d "$usr/lib/libwarpstep.so" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')
check 'soname' test "$soname" = "libwarpstep.so.$abi"

# The header in C99 and C++ without extensions, and its struct initialisers.
for lang in 'c -std=c99' 'c++ -std=c++11'; do
  # shellcheck disable=SC2086 # two words on purpose
  check "header in $lang" gcc -x $lang -pedantic-errors -Wall -Wextra -Werror -I "$usr/include" -fsyntax-only - <<'CODE'
#include <warpstep/warpstep.h>
#include <warpstep/warpstep.h>
int main(void)
{
  ws_error e = WS_ERROR_INIT;
  struct ws_device_options o = WS_DEVICE_OPTIONS_INIT;
  struct ws_launch l = WS_LAUNCH_INIT;
  struct ws_counter c = WS_COUNTER_INIT;
  struct ws_fault f = WS_FAULT_INIT;
  struct ws_place p = WS_PLACE_INIT;
  return e.size && o.size && l.size && c.size && f.size && p.size ? 0 : 1;
}
CODE
done

# The example, built from the installed files through pkg-config.
export PKG_CONFIG_PATH=$usr/lib/pkgconfig
pc=(pkg-config --define-variable=prefix="$usr" --define-variable=exec_prefix="$usr"
  --define-variable=libdir="$usr/lib" --define-variable=includedir="$usr/include")
cp examples/vecadd.c "$root/"
read -ra flags <<<"$("${pc[@]}" --cflags --libs warpstep)"
check 'example builds' gcc -std=c99 -Wall -Wextra -Werror "$root/vecadd.c" "${flags[@]}" -o "$root/vecadd"
run_example() { in_root env LD_LIBRARY_PATH="$usr/lib" "./$1" vecadd.sm_86.cubin rtx-3070; }
check 'example runs' run_example vecadd
cp examples/outer_memory.c "$root/"
check 'co-simulation builds' gcc -std=c99 -Wall -Wextra -Werror "$root/outer_memory.c" "${flags[@]}" -o "$root/outer_memory"
run_outer() { in_root env LD_LIBRARY_PATH="$usr/lib" ./outer_memory vecadd.sm_86.cubin rtx-3070 "$1"; }
check 'co-simulation runs' run_outer 100
slower=$(for ns in 100 400; do run_outer $ns | sed -n 's/ ns;.*//p'; done | paste -sd ' ' | awk '$2 < $1 + 300 { print "from", $1, "to", $2, "ns" }')
check 'a slower memory takes longer' say_if_not_empty "$slower"
read -ra flags <<<"$("${pc[@]}" --static --cflags --libs warpstep | sed 's/-lwarpstep/-l:libwarpstep.a/')"
check 'example builds, static' gcc -std=c99 "$root/vecadd.c" "${flags[@]}" -o "$root/vecadd-static"
run_static() { in_root env WARPSTEP_PRESETS="$usr/share/warpstep/presets" ./vecadd-static vecadd.sm_86.cubin rtx-3070; }
check 'example runs, static' run_static
same=$(diff <(run_example vecadd 2>&1) <(run_static 2>&1) | head -n 3)
check 'both libraries tell the same' say_if_not_empty "$same"
# The command line computes the same cycles for the same launch.
cycles=$(in_root warpstep run vecadd.sm_86.cubin --gpu rtx-3070 --grid 4 --block 256 --quiet --buf x:f32:1000:iota \
  --buf y:f32:1000:const,value=0.5 --buf z:f32:1000 --arg x --arg y --arg z --arg u32:1000 --json - |
  sed -n 's/^ *"cycles": \([0-9]*\),/\1/p')
check 'cycles of the command line' test "$(run_example vecadd | sed -n 's/ cycles.*//p')" = "$cycles"

# The manual names every command and every option of the help.
man=$(sed 's,\\,,g' "$usr/share/man/man1/warpstep.1")
absent=$(for c in $(in_root warpstep help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
  grep -q "^.SS \"$c" <<<"$man" || echo "$c"
  for o in $(in_root warpstep help "$c" | sed -n 's/^  \(--[a-z-]*\).*/\1/p' | grep -v '^--help'); do
    grep -q "fB$o" <<<"$man" || echo "$c $o"
  done
done)
check 'manual' say_if_not_empty "$absent"
if command -v mandoc >/dev/null; then
  check 'manual is well formed' mandoc -T lint -W error "$usr/share/man/man1/warpstep.1"
elif command -v groff >/dev/null; then
  check 'manual is well formed' say_if_not_empty "$(groff -man -ww -z "$usr/share/man/man1/warpstep.1" 2>&1)"
else
  echo "ok install manual is well formed # SKIP neither mandoc nor groff"
fi

# uninstall leaves nothing behind.
make -s CC="${CC:-gcc}" install DESTDIR="$stage" >/dev/null 2>&1
make -s CC="${CC:-gcc}" uninstall DESTDIR="$stage" >/dev/null 2>&1
check 'make uninstall' say_if_not_empty "$(find "$stage" ! -type d)"

echo "install: $passed passed, $failed failed"
[ $failed -eq 0 ]
