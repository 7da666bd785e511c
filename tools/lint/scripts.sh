#!/usr/bin/env bash
# Shell scripts are clean under shellcheck, Python scripts compile.
set -u

status=0
mapfile -d '' shell < <(find .ci tools tests kernels bench -type f \( -name '*.sh' -o -path '.ci/run' \) -print0 2>/dev/null)
if command -v shellcheck >/dev/null; then
  shellcheck "${shell[@]}" || status=1
else
  echo "scripts: no shellcheck here, skipped"
  for s in "${shell[@]}"; do bash -n "$s" || status=1; done
fi
find tools tests kernels bench -name '*.py' -print0 2>/dev/null |
  xargs -0 -r python3 -c '
import ast, sys
for path in sys.argv[1:]:
    ast.parse(open(path).read(), path)' || status=1
exit "$status"
