#!/usr/bin/env bash
# Unmodified CUDA programs: every tests/exec/*.cu is compiled with nvcc, linked with the shared and with
# the static runtime, and run by `warpstep exec`. A program checks its own results and exits with 0; beside
# it may lie
#   NAME.expect   what its stdout, or its stderr after a line "--- stderr", must contain, line by line
#   NAME.args     options of warpstep exec, a line for each run; with the static runtime, of which only the calls' way to us
#                differs, the first line alone
#   NAME.flags    further options of nvcc; without -std=… there the program is compiled as C++14. Cooperative groups alone are
#                C++14 with -D_CG_LIMIT_INCLUDED_DEPENDENCIES, which leaves out libcu++: a third of the time (groups.cu has it all)
#   NAME.arch     options of nvcc that choose the architecture, else -arch=sm_86
#   NAME.part1.cu, … sources compiled with -dc: the program gets PARTS, before .part1.o, .part1.cubin,
#                .part1.fatbin … and, with all objects, .a
#   NAME.lib.cu  a shared library with the static runtime inside; the program gets its path as LIBRARY
#   NAME.captures options of warpstep capture for the cases below
# Launches captured from the same programs (capture.sh wrote cases/NAME-NUMBER-KERNEL.case when the
# program had found its results right) are replayed with and without time; this needs no nvcc. Without nvcc
# they are all there is: every program is a skipped case, with the reason.
#
#   tests/exec/run.sh [NAME...]      BIN: the program (build/warpstep), NVCC: the compiler, NVCC_KEPT: folder of what it made (build/nvcc)
#   tests/exec/run.sh --build DIR    only compiles them, to DIR/NAME.shared and DIR/NAME.static
set -u
cd "$(dirname "$0")/../.." || exit 2

bin=${BIN:-build/warpstep}
nvcc=${NVCC:-$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)}
if [ ! -x "$bin" ]; then
  echo "tests/exec/run.sh: no $bin; run make first" >&2
  exit 2
fi
here=tests/exec
programs=1 lacking='' # without programs: what is missing
if [ ! -f "$(dirname "$bin")/cuda/libwarpstep-cuda.so" ]; then
  programs='' lacking="no shim libraries beside $bin (of the sanitizer builds only asan has them)"
elif [ ! -x "$nvcc" ]; then
  programs='' lacking="no nvcc"
fi
# Shims built with the address sanitizer (MODE=asan) need its runtime in front of the C library of a program without it.
# Leaks are not looked for: programs leave their context, and what belongs to it, to the end of the process.
sanitized=() limit=300
asan=$(readelf -d "$(dirname "$bin")/cuda/libwarpstep-cuda.so" 2>/dev/null | grep -o 'libasan[^]]*')
if [ -n "$asan" ]; then
  sanitized=("LD_PRELOAD=$asan" "ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0:${ASAN_OPTIONS:-}") limit=1200
fi
stubs=$(dirname "$nvcc")/../lib64/stubs # libcuda.so to link with
if [ "${1:-}" = --build ]; then
  export BUILD_ONLY=$2
  shift 2
fi
if [ -n "${BUILD_ONLY:-}" ]; then
  scratch=$BUILD_ONLY
else
  scratch=$(mktemp -d) || exit 2
  trap 'rm -rf "$scratch"' EXIT
fi

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

# run_one NAME KIND PROGRAM: one that ran into the limit is not run again, which would take as long.
run_one() {
  local runs=('') line options bad=0
  [ -f "$here/$1.args" ] && mapfile -t runs <"$here/$1.args"
  [ "$2" = shared ] || runs=("${runs[0]}")
  for line in "${runs[@]}"; do
    read -ra options <<<"$line"
    run_with "$1" "$2" "$3" "${options[@]}" || bad=$?
    [ "$bad" -lt 2 ] || break
  done
  return $bad
}

# run_with NAME KIND PROGRAM [OPTION...]: 1: it failed, 2: it had not ended after the limit
run_with() {
  local base=$here/$1 why='' options=("${@:4}")
  env "${sanitized[@]}" timeout "$limit" "$bin" exec "${options[@]}" "$3" >"$scratch/out" 2>"$scratch/err"
  local status=$?
  if [ $status -eq 124 ]; then
    echo "not ok exec $1 $2: had not ended after $limit s: warpstep exec ${options[*]}"
    return 2
  elif [ $status -ne 0 ]; then
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

# replay CASE: with time and without. A launch that faulted must fault again.
replay() {
  local name want=0 mode status
  name=$(basename "$1" .case)
  head -n 2 "$1" | grep -aq '"fault":0,' || want=3
  for mode in "--functional" "--threads 1"; do
    # shellcheck disable=SC2086 # one or two words
    "$bin" run "$1" $mode --quiet >"$scratch/out" 2>"$scratch/err"
    status=$?
    if [ $status -ne $want ]; then
      echo "not ok exec replay $name $mode: exit status $status: $(head -n 1 "$scratch/err")"
      return 1
    fi
  done
  echo "ok exec replay $name"
}

# parts NAME: objects, an archive, cubins and fat binaries for the program to link at run time.
parts() {
  local source base
  [ -f "$here/$1.part1.cu" ] && [ ! -f "$scratch/$1.a" ] || return 0
  for source in "$here/$1".part?.cu; do
    base=$scratch/$(basename "$source" .cu)
    "$nvcc" -arch=sm_86 -std=c++14 -dc -o "$base.o" "$source" &&
      "$nvcc" -arch=sm_86 -std=c++14 -rdc=true -cubin -o "$base.cubin" "$source" &&
      "$nvcc" -arch=sm_86 -std=c++14 -rdc=true -fatbin -o "$base.fatbin" "$source" || return
  done
  ar rcs "$scratch/$1.a" "$scratch/$1".part?.o
}

# compile OBJECT SOURCE OPTION...: by nvcc, which takes longer than most programs; what it made is kept in build/nvcc for the next time that
# the same compiler gets the same options, source and files of the tree that it includes. Options that name a folder of this run alone are
# none to keep something for. What nobody has asked for in a week goes.
kept=${NVCC_KEPT:-build/nvcc} compiler=''
compile() {
  local name files as
  if [[ "${*:3}" = *"$scratch"* ]]; then
    "$nvcc" "${@:3}" -c -o "$1" "$2"
    return
  fi
  compiler=${compiler:-$(realpath "$nvcc" && "$nvcc" --version && "${CXX:-g++}" --version)}
  files=$("${CXX:-g++}" -D__CUDACC__ -MM -MG -x c++ "$2" | grep -oE '[^ ]+/[^ ]+') || return
  name=$({ printf '%s\n' "$compiler" "${@:2}" && xargs cat <<<"$files"; } | sha256sum)
  as=$kept/${name:0:32}.o
  if [ ! -f "$as" ]; then
    mkdir -p "$kept" && find "$kept" -name '*.o*' -mtime +7 -delete
    "$nvcc" "${@:3}" -c -o "$as.$$.o" "$2" && mv "$as.$$.o" "$as" || return
  fi
  touch "$as"
  cp "$as" "$1"
}

# build NAME KIND: compiled once, linked with this runtime. As C++14: for C++17 nvcc takes nearly twice as long for a small program
# (its front end fills tables of 128 MiB). Device code is linked only where there is some to link.
build() {
  local flags=() object=$scratch/$1.o library=$here/$1.lib.cu arch=(-arch=sm_86) device=(--no-device-link)
  [ -f "$here/$1.arch" ] && read -ra arch <"$here/$1.arch"
  [ -f "$here/$1.flags" ] && read -ra flags <"$here/$1.flags"
  [[ " ${flags[*]} " = *' -std='* ]] || flags+=(-std=c++14)
  [[ " ${flags[*]} " != *' -rdc=true '* ]] || device=()
  [ -f "$library" ] && flags+=("-DLIBRARY=\"$scratch/$1.so\"")
  [ -f "$here/$1.part1.cu" ] && flags+=("-DPARTS=\"$scratch/$1\"")
  parts "$1" || return
  [ ! -f "$library" ] || [ -f "$scratch/$1.so" ] ||
    "$nvcc" "${arch[@]}" -std=c++14 -shared -Xcompiler -fPIC -o "$scratch/$1.so" "$library" || return
  [ -f "$object" ] ||
    compile "$object" "$here/$1.cu" "${arch[@]}" "${flags[@]}" || return
  "$nvcc" "${arch[@]}" "${device[@]}" -cudart "$2" "${flags[@]}" -L "$stubs" -o "$scratch/$1.$2" "$object"
}

failed=0
all=''
[ $# -gt 0 ] || all=1
if [ -n "$all" ] && [ -z "$programs" ]; then
  echo "ok exec layouts # SKIP $lacking"
  echo "ok exec modes # SKIP $lacking"
fi
if [ -n "$all" ] && [ -n "$programs" ] && [ -z "${BUILD_ONLY:-}" ]; then
  if layouts; then
    echo "ok exec layouts"
  else
    echo "not ok exec layouts: $(head -n 3 "$scratch/diff" 2>/dev/null)"
    failed=1
  fi
fi
if [ -n "$all" ]; then
  for f in "$here"/*.cu; do
    case $f in *.lib.cu | *.part?.cu) ;; *) set -- "$@" "$(basename "$f" .cu)" ;; esac
  done
  # Each of so many processes takes every n-th program: most of the time goes to the compiler.
  jobs=$(nproc 2>/dev/null || echo 2) pids=()
  for ((i = 0; i < jobs; i++)); do
    mine=()
    for ((k = i + 1; k <= $#; k += jobs)); do mine+=("${!k}"); done
    [ ${#mine[@]} -gt 0 ] || continue
    BIN=$bin NVCC=$nvcc "$here/run.sh" "${mine[@]}" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || failed=$((failed + 1)); done
  set --
fi
for name; do
  for kind in shared static; do
    if [ -z "$programs" ]; then
      echo "ok exec $name $kind # SKIP $lacking"
      continue
    fi
    if ! build "$name" "$kind" >"$scratch/log" 2>&1; then
      echo "not ok exec $name $kind: $(grep -m 1 error "$scratch/log")"
      failed=$((failed + 1))
      continue
    fi
    [ -z "${BUILD_ONLY:-}" ] || continue
    run_one "$name" "$kind" "$scratch/$name.$kind" || failed=$((failed + 1))
    rm -f "$scratch/$name.$kind"
  done
  [ -z "${BUILD_ONLY:-}" ] || continue
  rm -f "$scratch/$name.o" "$scratch/$name.so" "$scratch/$name.a" "$scratch/$name".part*
  for c in "$here/cases/$name"-[0-9]*.case; do
    [ -f "$c" ] || continue
    replay "$c" || failed=$((failed + 1))
  done
done
if [ -n "$all" ] && [ -n "$programs" ] && [ -z "${BUILD_ONLY:-}" ]; then
  BIN=$bin NVCC=$nvcc "$here/modes.sh" "$scratch" || failed=$((failed + 1))
fi
[ $failed -eq 0 ]
