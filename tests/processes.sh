# shellcheck shell=bash disable=SC2034 # its variables are for who reads it
# What tests/mps, tests/ranks and tests/share begin with: `. tests/processes.sh SUITE`, run from the repository root. Gives bin, nvcc,
# scratch (removed at the end), failed, ok, not_ok, refused, lacks_programs. Not a test of its own.
# BIN: the program (build/warpstep), NVCC: the compiler.

suite=$1
bin=$(realpath "${BIN:-build/warpstep}")
nvcc=${NVCC:-$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)}
if [ ! -x "$bin" ]; then
  echo "tests/$suite/run.sh: no $bin; run make first" >&2
  exit 2
fi
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
failed=0

ok() { echo "ok $suite $1"; }
not_ok() {
  echo "not ok $suite $1: $2"
  failed=$((failed + 1))
}

# What is wrong with the options needs no program: one line, status 2.
refused() { # NAME LINE OPTION...
  local line
  line=$("$bin" exec "${@:3}" /bin/true 2>&1 >/dev/null)
  if [ $? -eq 2 ] && [[ $line == *"$2"* ]] && [ "$(wc -l <<<"$line")" = 1 ]; then ok "$1"; else not_ok "$1" "$line"; fi
}

# Why programs cannot be built and run here; nothing: they can.
lacks_programs() {
  [ -x "$nvcc" ] || { echo "no nvcc" && return; }
  [ -f "$(dirname "$bin")/cuda/libwarpstep-cuda.so" ] || echo "no shim libraries beside $bin"
}
