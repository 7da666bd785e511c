#!/usr/bin/env bash
# No path of somebody's machine, no merge marker, no trailing blank in what is or will be tracked.
set -u

# Written so that this file does not match itself.
paths='(^|[^A-Za-z0-9_./])/(wor[k]|far[m]|roo[t]|hom[e])/'
markers='^(<{7}|>{7}|={7})( |$)'
if git rev-parse -q --git-dir >/dev/null 2>&1; then
  list=(git ls-files -z -co --exclude-standard)
else
  list=(find . -type f -not -path './build/*' -print0)
fi

bad=$("${list[@]}" | xargs -0 grep -nIE "$paths|$markers" 2>/dev/null)
bad+=$("${list[@]}" | grep -zE '\.([ch]|def|inc|py|sh|md|mk|cfg)$' |
  xargs -0 grep -nIE '[[:blank:]]+$' 2>/dev/null | sed 's/$/<- trailing blank/')
[ -z "$bad" ] || {
  printf '%s\n' "$bad"
  exit 1
}
