#!/usr/bin/env bash
# tables.sh [NAME...]: runs the sweeps of studies/ (all, or those named) and writes what they print to docs/studies/NAME.md.
#
# Some minutes; inputs of the kernels come from `make refs`. BIN: the program (build/warpstep); JOBS: runs at a time (2).
set -eu
cd "$(dirname "$0")/../.."
BIN=${BIN:-build/warpstep}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
if [ $# -eq 0 ]; then
  for file in studies/*.sweep; do
    name=$(basename "$file" .sweep)
    [ "$name" = first ] || set -- "$@" "$name"
  done
fi
mkdir -p docs/studies
for name; do
  "$BIN" sweep "studies/$name.sweep" --jobs "${JOBS:-2}" --out "$out/$name.sqlite" >"$out/$name.txt"
  {
    printf '# %s\n\n' "$(sed -n 's/^name = "\(.*\)";/\1/p' "studies/$name.sweep")"
    # shellcheck disable=SC2016  # backquotes of Markdown
    printf 'Printed by `warpstep sweep studies/%s.sweep`; what it says is in [studies.md](../studies.md).\n\n```\n' "$name"
    sed -n '/: cycles of \[1\]/,$p' "$out/$name.txt"
    # shellcheck disable=SC2016
    printf '```\n'
  } >"$out/$name.md"
  mv "$out/$name.md" "docs/studies/$name.md"
done
