#!/usr/bin/env bash
# Fetches CUDA's static runtime of each release from PyPI (nvidia-cuda-runtime, 3 MB a release), of which libcudart_static.a is kept. By these archives `warpstep exec`
# finds the runtime in programs and libraries that were stripped (docs/exec.md, "Which programs"; decision 23). Releases of one version differ (13.4.49 and 13.4.92), so that
# all of them are wanted.
#
#   tools/runtime_archives.sh FOLDER       then: export WARPSTEP_CUDART=FOLDER
#
# PYTHON: an interpreter with pip (python3). Releases that are there already are left alone; those whose wheel has no archive are passed over.
set -u
if [ $# -ne 1 ]; then
  sed -n 's/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
python=${PYTHON:-python3}
mkdir -p "$1" || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
if ! "$python" -m pip --version >/dev/null 2>&1; then
  echo "tools/runtime_archives.sh: $python has no pip; PYTHON names another interpreter" >&2
  exit 2
fi

# fetch PACKAGE RELEASE
fetch() {

  [ -e "$folder/$2/libcudart_static.a" ] && return
  rm -rf "$scratch/wheel"
  "$python" -m pip download -q --no-deps -d "$scratch/wheel" "$1==$2" >/dev/null 2>&1 || return
  "$python" - "$scratch"/wheel/*.whl "$scratch/archive" <<'END' || return
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    names = [n for n in wheel.namelist() if n.endswith("/libcudart_static.a")]
    if not names:
        sys.exit(1)
    open(sys.argv[2], "wb").write(wheel.read(names[0]))
END
  mkdir -p "$folder/$2" && mv "$scratch/archive" "$folder/$2/libcudart_static.a" && echo "$1 $2"
}

folder=$1
for package in nvidia-cuda-runtime-cu12 nvidia-cuda-runtime; do
  releases=$("$python" -m pip index versions "$package" 2>/dev/null | sed -n 's/^Available versions: //p')
  for release in ${releases//,/ }; do
    fetch "$package" "$release"
  done
done
[ -n "$(ls "$folder")" ] || { echo "tools/runtime_archives.sh: nothing was fetched (is PyPI reached?)" >&2; exit 1; }
