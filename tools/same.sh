#!/usr/bin/env bash
# Do two commits give the same results, simulated times and counters, at the same cost? For changes that shall not
# change what the simulator says: a restructuring, a faster loop.
#
#   tools/same.sh [OPTION...] OLD NEW     OLD, NEW: a commit, or the folder of a tree in which `make` has run
#
# Cases, options and what is compared: tools/same.py --help. A commit is built once, in build/same/tree/COMMIT, and
# what it said is kept in build/same/said, so that the second comparison with it only runs NEW.
# Status: 0 the same, 1 something differs, 2 it could not be found out.
set -u
cd "$(dirname "$0")/.." || exit 2

cache=build/same
mkdir -p "$cache/tree" || exit 2

# build_tree COMMIT FOLDER
build_tree() {
  [ ! -e "$2/.built" ] || return 0
  echo "building $1" >&2
  rm -rf "$2"
  mkdir -p "$2"
  if git archive "$1" | tar -x -C "$2" && make -C "$2" all "-j${JOBS:-2}" >"$2.log" 2>&1; then
    touch "$2/.built"
    return
  fi
  echo "tools/same.sh: $1 does not build: $(tail -n 1 "$2.log")" >&2
  return 1
}

# tree_of COMMIT-OR-FOLDER: prints the folder of a built tree.
tree_of() {
  local commit tree
  if [ -d "$1" ]; then
    [ -x "$1/build/warpstep" ] || { echo "tools/same.sh: no $1/build/warpstep; run make there first" >&2; return 1; }
    (cd "$1" && pwd)
    return
  fi
  commit=$(git rev-parse -q --verify "$1^{commit}") || { echo "tools/same.sh: no commit or folder $1" >&2; return 1; }
  tree=$cache/tree/$commit
  build_tree "$commit" "$tree" || return
  (cd "$tree" && pwd)
}

options=() trees=()
while [ $# -gt 0 ]; do
  case $1 in
  -h | --help) exec python3 tools/same.py --help ;;
  --quick | --no-*) options+=("$1") ;;
  -*)
    options+=("$1" "${2:?$1 wants a value}")
    shift
    ;;
  *) trees+=("$1") ;;
  esac
  shift
done
if [ ${#trees[@]} -ne 2 ]; then
  echo "usage: tools/same.sh [OPTION...] OLD NEW; tools/same.sh --help" >&2
  exit 2
fi
old=$(tree_of "${trees[0]}") && new=$(tree_of "${trees[1]}") || exit 2
make -s refs "-j${JOBS:-2}" >/dev/null || { echo "tools/same.sh: make refs failed" >&2; exit 2; }
exec python3 tools/same.py --cache "$cache" "${options[@]}" "$old" "$new"
