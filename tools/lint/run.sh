#!/usr/bin/env bash
# run.sh BUILD: all checks of the tree, each a script of this folder. BUILD holds the objects.
# Prints what is wrong; status 1 when anything is.
set -u

build=${1:-build}
here=tools/lint
status=0

check() {
  local what=$1
  shift
  if ! "$@"; then
    echo "lint: $what failed"
    status=1
  fi
}

check "dependency rule" python3 "$here/deps.py"
check "headers" "$here/headers.sh"
check "writable globals" python3 "$here/globals.py" "$build"
check "symbols" python3 "$here/symbols.py" "$build"
check "tags" python3 "$here/tags.py"
check "circles" python3 "$here/circles.py" "$build"
check "sizes" python3 "$here/sizes.py"
check "tables" python3 "$here/tables.py"
check "presets" python3 "$here/presets.py"
check "boxes" python3 "$here/boxes.py"
check "links" python3 "$here/links.py"
check "pages" python3 "$here/pages.py"
check "corpus" python3 "$here/corpus.py"
check "words" "$here/words.sh"
check "scripts" "$here/scripts.sh"
[ "$status" -eq 0 ] && echo "lint: clean"
exit "$status"
