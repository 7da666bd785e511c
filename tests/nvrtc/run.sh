#!/usr/bin/env bash
# tools/nvrtc/driver_ptxas.py with a PTX compiler of the test's own (compiler.c): what it passes on, and that a library which is none,
# or does not keep its word, ends with one line and leaves no file.
#
#   tests/nvrtc/run.sh
#
# CC names the compiler (cc).
set -u
cd "$(dirname "$0")/../.." || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
failed=0
export PYTHONDONTWRITEBYTECODE=1

verdict() { # NAME STATUS
  if [ "$2" -eq 0 ]; then echo "ok nvrtc $1"; else
    echo "not ok nvrtc $1"
    sed 's/^/# /' "$scratch/said"
    failed=1
  fi
}
# assemble LIBRARY PTX-TEXT OUTPUT OPTION...
assemble() {
  printf %s "$2" >"$scratch/a.ptx"
  python3 tools/nvrtc/driver_ptxas.py --library "$1" -arch=sm_70 "${@:4}" -o "$3" "$scratch/a.ptx" >"$scratch/said" 2>&1
}
# refused TEXT: status 1, one line with the text, and no file
refused() {
  [ "$status" -eq 1 ] && [ "$(wc -l <"$scratch/said")" -eq 1 ] && grep -q "^driver_ptxas.py: .*$1" "$scratch/said" &&
    [ -z "$(find "$scratch" -name 'out*')" ]
}

"${CC:-cc}" -shared -fPIC -o "$scratch/compiler.so" tests/nvrtc/compiler.c || exit 2
echo 'int nothing;' | "${CC:-cc}" -shared -fPIC -x c -o "$scratch/other.so" - || exit 2

assemble "$scratch/compiler.so" cubin "$scratch/out" -O0 --maxrregcount=32 &&
  [ "$(tail -c +2 "$scratch/out")" = 'ELF --gpu-name=sm_70 -O0 --maxrregcount=32' ]
verdict 'options go to the assembler' $?
rm -f "$scratch/out"

while read -r name library ptx text; do
  assemble "$scratch/$library" "$ptx" "$scratch/out"
  status=$?
  refused "$text"
  verdict "$name" $?
done <<'END'
log compiler.so fails line 1: bad$
empty compiler.so empty no cubin
huge compiler.so huge no cubin
lost compiler.so lost no cubin
no-compiler other.so cubin no assembler, it has no nvPTXCompilerCreate
no-library a.ptx cubin file too short
no-file nothing.so cubin No such file
END

mkdir "$scratch/folder" && assemble "$scratch/compiler.so" cubin "$scratch/folder"
status=$?
[ "$status" -eq 1 ] && [ -z "$(find "$scratch" -name 'folder?*')" ]
verdict 'what cannot be written leaves nothing' $?

exit "$failed"
