#!/usr/bin/env bash
# Shell scripts are clean under shellcheck, Python scripts compile; what names its interpreter may be executed.
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
while read -r script; do
  echo "$script: begins with #! and is not executable (chmod +x)"
  status=1
done < <(find .ci tools tests kernels bench -type f \( -name '*.sh' -o -name '*.py' \) ! -perm -u+x -exec \
  awk 'FNR == 1 && /^#!/ { print FILENAME } { nextfile }' {} +)
exit "$status"
