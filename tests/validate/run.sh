#!/usr/bin/env bash
# Validation rows of group quick against their recorded errors; then that a model made slower is caught. BIN names the
# program. `--record` in the place of the test: warpstep validate --suite S --record, and say in the commit why errors grew.
set -u
cd "$(dirname "$0")/../.." || exit 2
bin=${BIN:-build/warpstep}
failed=0

verdict() { # STATUS NAME
  if [ "$1" -eq 0 ]; then echo "ok validate $2"; else
    echo "not ok validate $2"
    failed=1
  fi
}

"$bin" validate --quiet
verdict $? "quick rows within their recorded errors"

# Half the clock doubles nearly all times.
"$bin" validate --quiet --suite textbook-rtx-2080ti --only '^vector_add-262144$' --set gpu.clock_khz=700000 >/dev/null
[ $? -eq 1 ]
verdict $? "a worse model is refused"

# docs/guesses.md lists every guess of a preset with the measurement that would settle it; a list that lacks one
# is refused.
guesses=tools/validation/guesses.py
"$guesses" --check
verdict $? "guesses are listed with their measurements"

tree=$(mktemp -d) || exit 2
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/data/validation"
cp -r presets docs "$tree"
cp data/validation/settle.csv "$tree/data/validation"
refused() { # TEXT: the list is refused with these words
  "$guesses" --check --root "$tree" 2>&1 | grep -q "$1"
}
"$guesses" --check --root "$tree"
verdict $? "the same tree elsewhere"
sed -i '0,/doc: [^"]*/s//guess/' "$tree/presets/rtx-3070.cfg"
refused 'does not list the guesses\|no measurement for'
verdict $? "a guess that is not listed is refused"
sed -i '0,/"guess"/s//"guess"  /' "$tree/presets/rtx-3070.cfg"
refused 'values are tagged guess'
verdict $? "a guess of another form is refused"
cp presets/rtx-3070.cfg "$tree/presets"
echo 'nowhere.,none' >>"$tree/data/validation/settle.csv"
refused 'no guess begins with nowhere'
verdict $? "a measurement of nothing is refused"
exit $failed
