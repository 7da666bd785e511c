#!/usr/bin/env bash
# Captures launches of the programs of this folder into cases/, which run.sh replays where there is no nvcc:
# those that NAME.captures chooses, else the first two. A program's cases are only kept when it has found its
# own results right.
#
#   tests/exec/capture.sh [NAME...]      BIN, NVCC as for run.sh
set -u
cd "$(dirname "$0")/../.." || exit 2

bin=${BIN:-build/warpstep}
nvcc=${NVCC:-$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)}
here=tests/exec
if [ ! -x "$bin" ] || [ -z "$nvcc" ]; then
  echo "tests/exec/capture.sh: needs $bin and nvcc" >&2
  exit 2
fi
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$here/cases"

failed=0
[ $# -gt 0 ] || for f in "$here"/*.cu; do
  case $f in *.lib.cu | *.part?.cu) ;; *) set -- "$@" "$(basename "$f" .cu)" ;; esac
done
for name; do
  flags=() options=(--launches 1..2)
  [ -f "$here/$name.flags" ] && read -ra flags <"$here/$name.flags"
  [ -f "$here/$name.captures" ] && read -ra options <"$here/$name.captures"
  [ ${#options[@]} -gt 0 ] || continue
  rm -rf "$scratch/cases"
  if "$nvcc" -arch=sm_86 -cudart shared "${flags[@]}" -L "$(dirname "$nvcc")/../lib64/stubs" \
    -o "$scratch/program" "$here/$name.cu" >"$scratch/log" 2>&1 &&
    "$bin" capture -o "$scratch/cases" "${options[@]}" "$scratch/program" >"$scratch/log" 2>&1; then
    rm -f "$here/cases/$name"-[0-9]*.case
    for c in "$scratch"/cases/*.case; do [ ! -f "$c" ] || cp "$c" "$here/cases/$name-$(basename "$c")"; done
  else
    echo "$name: $(tail -n 1 "$scratch/log")"
    failed=$((failed + 1))
  fi
done
[ $failed -eq 0 ]
