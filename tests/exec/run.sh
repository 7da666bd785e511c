#!/usr/bin/env bash
# Unmodified CUDA programs: every tests/exec/*.cu is compiled with nvcc, with the shared and with the
# static runtime, and run by `warpstep exec`. A program checks its own results and exits with 0; beside
# it may lie
#   NAME.expect  what its stdout, or its stderr after a line "--- stderr", must contain, line by line
#   NAME.args    options of warpstep exec
#   NAME.flags   further options of nvcc
#   NAME.library.cu  a shared library with the static runtime inside; the program gets its path as LIBRARY
# Without nvcc nothing can be compiled: one line says so and the tests are skipped.
#
#   tests/exec/run.sh [NAME...]      BIN: the program (build/warpstep), NVCC: the compiler
set -u
cd "$(dirname "$0")/../.." || exit 2

bin=${BIN:-build/warpstep}
nvcc=${NVCC:-$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)}
if [ ! -x "$bin" ]; then
  echo "tests/exec/run.sh: no $bin; run make first" >&2
  exit 2
fi
if [ ! -f "$(dirname "$bin")/cuda/libwarpstep-cuda.so" ]; then
  echo "exec: no shim libraries beside $bin (sanitizer builds have none), skipped"
  exit 0
fi
if [ -z "$nvcc" ]; then
  echo "exec: no nvcc, skipped"
  exit 0
fi

here=tests/exec
stubs=$(dirname "$nvcc")/../lib64/stubs # libcuda.so to link with
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

# expects FILE STDOUT STDERR: each line of FILE is a part of a line, in this order.
expects() {
  local text=$2 line at=1 found
  while IFS= read -r line; do
    if [ "$line" = "--- stderr" ]; then
      text=$3 at=1
      continue
    fi
    found=$(tail -n "+$at" "$text" | grep -nF -m 1 -- "$line" | cut -d: -f1)
    if [ -z "$found" ]; then
      echo "missing: $line"
      return 1
    fi
    at=$((at + found))
  done <"$1"
}

# run_one NAME KIND PROGRAM
run_one() {
  local base=$here/$1 why='' options=()
  [ -f "$base.args" ] && read -ra options <"$base.args"
  timeout 300 "$bin" exec "${options[@]}" "$3" >"$scratch/out" 2>"$scratch/err"
  local status=$?
  if [ $status -ne 0 ]; then
    why="exit status $status: $(tail -n 1 "$scratch/out") $(head -n 1 "$scratch/err")"
  elif [ -f "$base.expect" ]; then
    why=$(expects "$base.expect" "$scratch/out" "$scratch/err")
  fi
  if [ -z "$why" ]; then
    echo "ok exec $1 $2"
    return
  fi
  echo "not ok exec $1 $2: $why"
  return 1
}

# Our declarations of the interfaces are those of the toolkit's headers.
layouts() {
  local cc; read -ra cc <<<"${CC:-gcc}"
  local flags=(-std=c17 -D_GNU_SOURCE -Wno-unused-value)
  "${cc[@]}" "${flags[@]}" -Isrc -o "$scratch/ours" "$here/layouts.c" &&
    "${cc[@]}" "${flags[@]}" -DTOOLKIT -I "$(dirname "$nvcc")/../include" -o "$scratch/theirs" \
      "$here/layouts.c" || return
  diff <("$scratch/ours") <("$scratch/theirs") >"$scratch/diff"
}

failed=0
if [ $# -eq 0 ]; then
  if layouts; then
    echo "ok exec layouts"
  else
    echo "not ok exec layouts: $(head -n 3 "$scratch/diff" 2>/dev/null)"
    failed=1
  fi
fi
[ $# -gt 0 ] || for f in "$here"/*.cu; do
  case $f in *.library.cu) ;; *) set -- "$@" "$(basename "$f" .cu)" ;; esac
done
for name; do
  flags=()
  [ -f "$here/$name.flags" ] && read -ra flags <"$here/$name.flags"
  if [ -f "$here/$name.library.cu" ]; then
    "$nvcc" -arch=sm_86 -shared -Xcompiler -fPIC -o "$scratch/$name.so" "$here/$name.library.cu" || failed=$((failed + 1))
    flags+=("-DLIBRARY=\"$scratch/$name.so\"")
  fi
  for kind in shared static; do
    program=$scratch/$name.$kind
    if ! "$nvcc" -arch=sm_86 -cudart "$kind" "${flags[@]}" -L "$stubs" -o "$program" "$here/$name.cu" \
      >"$scratch/log" 2>&1; then
      echo "not ok exec $name $kind: $(grep -m 1 error "$scratch/log")"
      failed=$((failed + 1))
      continue
    fi
    run_one "$name" "$kind" "$program" || failed=$((failed + 1))
  done
done
[ $failed -eq 0 ]
