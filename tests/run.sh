#!/usr/bin/env bash
# Corpus: every kernel of kernels/ on every architecture, function-only and timed (with the hazard checker) with one and with two
# host threads. A case passes when the exit status is 0 (results match the CPU reference) and, for
# two threads, when the JSON is byte-identical to that of one thread. On sm_86, and those of kernels/selection everywhere, the GPU has
# all its SMs, as it has for clusters; else 16, for these grids are small and to build a hundred idle SMs takes longer than to simulate the others.
#
#   tests/run.sh [--quick | --emulate] [--tap] [KERNEL...]
#
# --quick: function-only, sm_86. --emulate: with the values silicon gives when control bits are wrong, instead (docs/blocks/emulate.md). --tap (or CMOCKA_MESSAGE_OUTPUT=TAP): print passing cases, too.
# BIN names the program (build/warpstep), JOBS the number of runs at a time (2), LIMIT the seconds one
# run may take (300). `make refs` must have run.
set -u
cd "$(dirname "$0")/.." || exit 2

export BIN=${BIN:-build/warpstep} LIMIT=${LIMIT:-300}
jobs=${JOBS:-2}
quick='' emulate='' tap=''
[ "${CMOCKA_MESSAGE_OUTPUT:-}" = TAP ] && tap=1
while [ $# -gt 0 ]; do
  case $1 in
  --quick) quick=1 ;;
  --emulate) emulate=1 ;;
  --tap) tap=1 ;;
  -*)
    echo "usage: tests/run.sh [--quick | --emulate] [--tap] [KERNEL...]" >&2
    exit 2
    ;;
  *) break ;;
  esac
  shift
done
if [ ! -x "$BIN" ]; then
  echo "tests/run.sh: no $BIN; run make first" >&2
  exit 2
fi

out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
export OUT=$out QUICK=$quick EMULATE=$emulate

# verdict NAME STATUS LOG [REASON]: one line for one case.
verdict() {
  if [ "$2" -eq 0 ] && [ -z "${4:-}" ]; then
    echo "ok $1"
    return
  fi
  local reason=${4:-}
  if [ -z "$reason" ]; then
    case $2 in
    124) reason="no end after $LIMIT s" ;;
    3) reason="exit 3: $(sed -n 's/^ *what *//p; s/^ *instruction */ at /p' "$3" | tr '\n' ' ')" ;;
    *) reason="exit $2: $(grep -m 1 warpstep "$3" || tail -n 1 "$3")" ;;
    esac
  fi
  echo "not ok $1: $reason" | tr -s ' '
}

# run_case LAUNCH SM PRESET: all modes of one kernel on one architecture.
run_case() {
  local launch=$1 sm=$2 preset=$3 name status
  name=$(basename "$launch" .launch)
  local base=$OUT/$name.sm_$sm

  run_mode() { # NAME ARGS...
    local mode=$1
    shift
    timeout "$LIMIT" "$BIN" run "$launch" --gpu "$preset" --quiet --json "$base.$mode.json" "$@" \
      >"$base.$mode.log" 2>&1
    status=$?
  }
  if [ -n "$EMULATE" ]; then
    run_mode emulate --threads 1 --hazards emulate
    verdict "$name sm_$sm emulate" "$status" "$base.emulate.log"
    return
  fi
  run_mode functional --functional
  verdict "$name sm_$sm functional" "$status" "$base.functional.log"
  [ -n "$QUICK" ] && return
  local size=(--set gpu.sms=16)
  [[ $sm = 86 || " $selected " = *" $name "* || $(<"$launch") = *cluster* ]] && size=()
  run_mode timed --threads 1 --hazards check "${size[@]}"
  verdict "$name sm_$sm timed" "$status" "$base.timed.log"
  [ "$status" -eq 0 ] || return
  run_mode threads --threads 2 "${size[@]}"
  if [ "$status" -eq 0 ] && ! cmp -s "$base.timed.json" "$base.threads.json"; then
    verdict "$name sm_$sm threads" 1 - "differs from one thread: $(
      diff "$base.timed.json" "$base.threads.json" | sed -n 's/^> *//p' | head -1
    )"
  else
    verdict "$name sm_$sm threads" "$status" "$base.threads.log"
  fi
}
export -f run_case verdict

{ read -r further && read -r selected; } <kernels/selection
export selected
# built_for LAUNCH SM: NAME.targets lists the architectures of a kernel that not all can run; for the targets of
# kernels/selection few are built.
built_for() {
  local base=${1%.launch}
  case " $further " in *" sm_$2 "*)
    [ -f "$base.sm_$2.cubin" ]
    return
    ;;
  esac
  [ ! -f "$base.targets" ] || grep -qwE "sm_$2a?" "$base.targets"
}

if [ $# -gt 0 ]; then
  launches=()
  for k; do launches+=("kernels/$k/$k.launch"); done
else
  launches=(kernels/*/*.launch)
fi
archs=('70 v100' '75 rtx-2080ti' '80 a100' '86 rtx-3070' '90 h200' '100 b200' '120 rtx-5070ti'
  '72 xavier' '87 jetson-orin' '89 rtx-4090' '103 b300' '110 jetson-thor' '121 gb10')
[ -n "$quick" ] && archs=('86 rtx-3070')
for arch in "${archs[@]}"; do
  for launch in "${launches[@]}"; do
    read -r sm preset <<<"$arch"
    built_for "$launch" "$sm" || continue
    printf '%s\0%s\0%s\0' "$launch" "$sm" "$preset"
  done
done | xargs -0 -n 3 -P "$jobs" bash -c 'run_case "$@"' run |
  tee "$out/verdicts" | if [ -n "$tap" ]; then cat; else grep --line-buffered '^not ok'; fi

passed=$(grep -c '^ok ' "$out/verdicts")
failed=$(grep -c '^not ok ' "$out/verdicts")
# Names of executed instructions: the keys of "mix" in the function-only runs.
covered=$(sed -n '/"mix": {/,/}/p' "$out"/*.functional.json 2>/dev/null |
  sed -n 's/^ *"\([^"]*\)": [0-9].*/\1/p' | sort -u | wc -l)
echo "${#launches[@]} kernels, ${#archs[@]} architectures, $covered different instructions executed"
echo "corpus: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
