#!/usr/bin/env bash
# Runs the commands of docs/python.md exactly as they stand there, a section at a time, in a folder of its own: installs packages, so it is
# not part of make test. Where it may, it hides /usr/local/cuda* first (in a mount namespace of its own).
#
#   tests/clients/page.sh [Numba|CuPy|Triton|tinygrad ...]
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -gt 0 ] || set -- Numba CuPy Triton tinygrad
if [ -z "${PAGE_HIDDEN-}" ] && unshare -m true 2>/dev/null; then
  PAGE_HIDDEN=1 exec unshare -m "$0" "$@"
fi
if [ -n "${PAGE_HIDDEN-}" ]; then
  for d in /usr/local/cuda-*; do [ ! -d "$d" ] || mount -t tmpfs none "$d"; done
fi
unset CUDA_HOME CUDA_PATH LD_LIBRARY_PATH
PATH=$(tr : '\n' <<<"$PATH" | grep -v cuda | paste -sd :)
command -v nvcc >/dev/null || command -v ptxas >/dev/null || echo "# no toolkit is found"
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
failed=0
for section; do
  mkdir "$scratch/$section"
  {
    echo 'set -e'
    # shellcheck disable=SC2016 # the section's shell expands it
    printf 'export PATH=%q:$PATH\n' "$root/build"
    awk -v want="## $section" '/^## / { on = $0 == want } /^```/ { inside = on && $0 == "```sh"; next } inside' "$root/docs/python.md"
  } >"$scratch/$section.sh"
  if (cd "$scratch/$section" && bash "../$section.sh" >out 2>&1) && grep -q '^right' "$scratch/$section/out" &&
    grep -qE '^warpstep: [1-9][0-9]* kernel launches' "$scratch/$section/out"; then
    echo "ok page $section: $(grep -E '^warpstep: [0-9]+ kernel' "$scratch/$section/out")"
  else
    echo "not ok page $section: $(tail -n 3 "$scratch/$section/out" | tr '\n' ';')"
    failed=1
  fi
done
exit $failed
