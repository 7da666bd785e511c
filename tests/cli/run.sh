#!/usr/bin/env bash
# Golden tests of the command line: tests/cli/run.sh [--update] [NAME...]
#
# A test is NAME.cmd, a shell script run from the repository root. $W is the program, $T a scratch
# directory, removed afterwards. Beside it lie the expectations:
#   NAME.exit    exit status; no file: 0
#   NAME.stdout  what it prints, line by line; no file: nothing
#   NAME.stderr  the same for errors
# A line of these files is a shell pattern (* ? [...]; \ before a character takes it literally); a line
# "..." stands for any number of lines. --update rewrites the files of tests that fail with what was
# printed, literally: look at the difference before you keep it.
# BIN names the program (build/warpstep).
set -u
cd "$(dirname "$0")/../.." || exit 2

W=$(realpath "${BIN:-build/warpstep}")
export W
update=''
if [ "${1:-}" = --update ]; then
  update=1
  shift
fi
if [ ! -x "$W" ]; then
  echo "tests/cli/run.sh: no $W; run make first" >&2
  exit 2
fi
here=tests/cli
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

# matches PATTERNS TEXT: both files, line by line; prints the first difference.
matches() {
  local -a want got
  local w=0 g=0
  mapfile -t want <"$1"
  mapfile -t got <"$2"
  while [ $w -lt ${#want[@]} ]; do
    if [ "${want[w]}" = ... ]; then
      w=$((w + 1))
      [ $w -eq ${#want[@]} ] && return 0
      # shellcheck disable=SC2053 # a pattern on purpose
      while [ $g -lt ${#got[@]} ] && ! [[ ${got[g]} == ${want[w]} ]]; do g=$((g + 1)); done
    fi
    if [ $g -ge ${#got[@]} ]; then
      echo "line $((g + 1)) is missing, expected: ${want[w]}"
      return 1
    fi
    # shellcheck disable=SC2053
    if ! [[ ${got[g]} == ${want[w]} ]]; then
      echo "line $((g + 1)) is: ${got[g]}, expected: ${want[w]}"
      return 1
    fi
    w=$((w + 1)) g=$((g + 1))
  done
  [ $g -eq ${#got[@]} ] && return 0
  echo "line $((g + 1)) was not expected: ${got[g]}"
  return 1
}

# literal TEXT FILE: TEXT as patterns that match only itself; no file when it is empty.
literal() {
  rm -f "$2"
  [ -s "$1" ] && sed 's/[][*?\\]/\\&/g' "$1" >"$2"
}

run_test() {
  local name=$1 why='' status stream want_status=0
  local base=$here/$name
  export T=$scratch/$name
  mkdir -p "$T"
  bash "$base.cmd" >"$scratch/stdout" 2>"$scratch/stderr" </dev/null
  status=$?
  [ -f "$base.exit" ] && want_status=$(cat "$base.exit")
  [ "$status" -eq "$want_status" ] || why="exit status $status, expected $want_status"
  for stream in stderr stdout; do
    local file=$base.$stream
    [ -f "$file" ] || file=/dev/null
    [ -n "$why" ] || why=$(matches "$file" "$scratch/$stream") || why="$stream: $why"
  done
  if [ -z "$why" ]; then
    echo "ok cli $name"
    return
  fi
  echo "not ok cli $name: $why"
  if [ -n "$update" ]; then
    literal "$scratch/stdout" "$base.stdout"
    literal "$scratch/stderr" "$base.stderr"
    if [ "$status" -eq 0 ]; then rm -f "$base.exit"; else echo "$status" >"$base.exit"; fi
  fi
  return 1
}

all=''
[ $# -gt 0 ] || all=1
[ $# -gt 0 ] || for f in "$here"/*.cmd; do set -- "$@" "$(basename "$f" .cmd)"; done
failed=0
for name; do run_test "$name" || failed=$((failed + 1)); done
echo "cli: $(($# - failed)) passed, $failed failed"
[ -z "$all" ] || BIN=${BIN:-build/warpstep} "$here/outputs.sh" || failed=$((failed + 1))
[ $failed -eq 0 ]
