#!/usr/bin/env bash
# Every preset: its figures beside those that vendors print (tools/validation/peaks.py), and a kernel of its target
# function-only and timed, against the CPU reference. BIN names the program, JOBS the runs at a time. `make refs` must have run.
set -u
cd "$(dirname "$0")/../.." || exit 2
export BIN=${BIN:-build/warpstep}
failed=0

verdict() { # STATUS NAME
  if [ "$1" -eq 0 ]; then echo "ok boards $2"; else
    echo "not ok boards $2"
    failed=1
  fi
}

tools/validation/peaks.py --tap
verdict $? "figures of vendors"

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cp presets/*.cfg "$scratch"
sed -i 's/clock_khz  *= (2520000/clock_khz = (2235000/' "$scratch/rtx-4090.cfg"
tools/validation/peaks.py --presets "$scratch" | grep -q '^not ok board rtx-4090 tflops: 73'
verdict $? "a wrong clock is refused"
sed 's/^name = .*/name = ("Nobody", "guess");/' presets/rtx-4080.cfg >"$scratch/rtx-9999.cfg"
tools/validation/peaks.py --presets "$scratch" | grep -q 'rtx-9999: data/boards/peaks.csv has nothing'
verdict $? "a board without a figure is refused"

# saxpy-like traffic, then products of tensor cores: what boards of one architecture differ in.
# shellcheck disable=SC2317 # called by xargs
run_board() { # PRESET KERNEL
  local launch=kernels/$2/$2.launch
  "$BIN" run "$launch" --gpu "$1" --quiet --functional >/dev/null 2>&1 &&
    "$BIN" run "$launch" --gpu "$1" --quiet --threads 1 --hazards check >/dev/null 2>&1
  local status=$?
  if [ "$status" -eq 0 ]; then echo "ok boards $1 runs $2"; else echo "not ok boards $1 runs $2: status $status"; fi
}
export -f run_board
"$BIN" gpus | awk 'NR > 1 { print $1, "vecadd"; print $1, "wmma_f16" }' |
  xargs -P "${JOBS:-2}" -n 2 bash -c 'run_board "$@"' run | tee "$scratch/runs"
! grep -q '^not ok' "$scratch/runs" && grep -q '^ok' "$scratch/runs"
verdict $? "all presets run"
exit $failed
