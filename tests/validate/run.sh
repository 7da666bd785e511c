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
# Every guess of a preset names the measurement that would settle it.
tools/validation/guesses.py --check
verdict $? "guesses have a measurement"
exit $failed
