#!/usr/bin/env bash
# warpstep ncu: its CSV read as known readers do, against counters of exec and formulas (check.py); reports and what damages them;
# which launches are chosen; Numba and Triton where they are.
#
#   tests/ncu/run.sh
#
# BIN names the program (build/warpstep). A matrix product, a reduction and a breadth-first search of tests/exec are compiled with nvcc; without
# it they are skipped, and a program for the driver interface (tests/timeline/program.c) is all there is.
set -u
cd "$(dirname "$0")/../.." || exit 2
W=$(realpath "${BIN:-build/warpstep}")
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
failed=0
export PYTHONDONTWRITEBYTECODE=1
nvcc=${NVCC:-$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)}
FULL=(--set full --metrics "regex:^(sm|smsp|l1tex|lts|dram|gpu|gpc|launch|device|memory|derived)_,no_such_metric.sum"
  --metrics "dram__bytes.sum.per_second,dram__bytes.sum.peak_sustained,dram__bytes.sum.pct_of_peak_sustained_elapsed"
  --metrics "dram__bytes.avg.pct_of_peak_sustained_elapsed,dram__cycles_active.avg.pct_of_peak_sustained_elapsed"
  --metrics "sm__inst_executed.avg.per_cycle_elapsed")

# verdict NAME STATUS [WHY-SKIPPED]
verdict() {
  if [ -n "${3:-}" ]; then echo "ok ncu $1 # SKIP $3"
  elif [ "$2" -eq 0 ]; then echo "ok ncu $1"; else
    echo "not ok ncu $1"
    tail -n 5 "$scratch/said" | sed 's/^/# /'
    failed=1
  fi
}
check() { python3 tests/ncu/check.py "$@" >"$scratch/said" 2>&1; }
ncu() { "$W" ncu "$@" 2>"$scratch/said"; }

if [ ! -f "$(dirname "$W")/cuda/libwarpstep-cuda.so" ]; then
  echo "ok ncu # SKIP no shim libraries beside $W"
  exit 0
fi
if ldd "$(dirname "$W")/cuda/libwarpstep-cuda.so" 2>/dev/null | grep -q 'lib[au]san'; then
  echo 'ok ncu # SKIP a program without sanitizers cannot load these shims'
  exit 0
fi

# pages PROGRAM NAME: all pages of a report, each against the others.
pages() {
  local at=$scratch/$2
  ncu -f -o "$at" "${FULL[@]}" --gpu rtx-3070 "$1" >"$at.said" && ncu --import "$at.ncu-rep" --csv --page raw >"$at.raw" &&
    "$W" exec --gpu rtx-3070 --cold --quiet --json "$at.json" "$1" >/dev/null 2>"$scratch/said" && check raw "$at.raw" "$at.json"
  verdict "$2, raw page against exec" $?
  ncu --import "$at" --set full --csv >"$at.details" && check details "$at.details" tests/ncu/details.labels
  verdict "$2, details page" $?
  ncu --import "$at" --page source --csv -c 1 >"$at.sass" && ncu --import "$at" --page source --csv -c 1 --print-source cuda,sass \
    >"$at.lines" && check source "$at.sass" "$at.lines" "$at.raw"
  verdict "$2, source page" $?
  check pattern "$at.details" "$at.sass" "$at.raw"
  verdict "$2, rule of access patterns" $?
  [ "$2" != column_sums ] && return
  grep -q 'at L1TEX, 4.0 are used' "$at.details" # each lane reads 4 bytes of a sector of its own
  verdict "$2, bytes of a sector" $?
}
for source in tests/exec/{matmul,reduce,bfs}.cu examples/column_sums.cu; do
  name=$(basename "$source" .cu)
  if [ ! -x "$nvcc" ]; then
    verdict "$name" 0 'no nvcc'
    continue
  fi
  "$nvcc" -arch=sm_86 -std=c++14 -lineinfo -cudart shared -I tests/exec -o "$scratch/program_$name" "$source" >"$scratch/said" 2>&1
  pages "$scratch/program_$name" "$name"
done

# A program without nvcc: which launches are chosen.
"${CC:-cc}" -std=gnu11 -o "$scratch/program" tests/timeline/program.c -ldl >"$scratch/said" 2>&1 || exit 2
run() { ncu --gpu rtx-3070 --quiet --csv --page raw --metrics gpu__time_duration.sum "$@" "$scratch/program" kernels/vecadd/vecadd.sm_86.cubin; }
chosen() { # HOW-MANY OPTION...: so many launches are profiled
  local want=$1 got
  shift
  got=$(run "$@" | grep -c '^"[0-9]*","[0-9]*","program"')
  [ "$got" -eq "$want" ] || echo "$got launches for $*, not $want" >"$scratch/said"
  verdict "launches: ${*:-all}" $((got != want))
}
all=$("$W" exec --functional --gpu rtx-3070 --quiet --json - "$scratch/program" kernels/vecadd/vecadd.sm_86.cubin | grep -c '"kernel"')
chosen "$all"
chosen 2 -c 2
chosen $((all - 1)) --launch-skip 1
chosen $((all - 1)) --launch-skip-before-match 1
chosen "$all" -k vecadd
chosen "$all" --kernel-name regex:^vec
chosen 0 -k vecad
chosen 1 --kernel-id ::regex:.*add:2
chosen 0 --kernel-id 9:::
chosen 0 --profile-from-start no

# What is written, and where.
here=$scratch/files
mkdir "$here"
run --log-file "$here/log" -c 1 >"$scratch/out" && grep -q '^"ID","Process ID"' "$here/log" && ! grep -q '"ID"' "$scratch/out"
verdict 'log file' $?
NAME=two run -f -o "$here/%q{NAME}-%i" -c 1 >"$scratch/out" && [ -f "$here/two-1.ncu-rep" ] && NAME=two run -o "$here/%q{NAME}-%i" -c 1 >"$scratch/out" &&
  [ -f "$here/two-2.ncu-rep" ]
verdict 'names of reports' $?
! run -o "$here/two-1" -c 1 >"$scratch/out" && grep -q 'is there already; -f replaces it' "$scratch/said" && ! grep -q copy "$scratch/out"
verdict 'a report that is there' $?
one_line() { # TEXT OPTION...: an error of one line with this text
  local text=$1
  shift
  ! ncu "$@" >"$scratch/out" && [ "$(wc -l <"$scratch/said")" -eq 1 ] && grep -q -- "$text" "$scratch/said"
  verdict "error: $text" $?
}
one_line "unknown option '--pm-sampling'" --pm-sampling ./app
one_line 'no such section' --section Speed ./app
one_line 'not one of details|raw|source' --page session ./app
one_line 'not a number' --launch-skip x ./app
one_line 'No such file' --import "$here/none"

# Reports that are damaged or cut off are errors of one line, wherever it is.
python3 - "$W" "$here/two-1.ncu-rep" "$here/bad.ncu-rep" >"$scratch/said" 2>&1 <<'END'
import random, subprocess, sys
program, good, bad = sys.argv[1:]
whole = open(good, "rb").read()
rng = random.Random(1)
def attempt(data, what):
    open(bad, "wb").write(data)
    done = subprocess.run([program, "ncu", "--import", bad, "--page", "raw", "--csv"], capture_output=True)
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1 and not done.stdout, (what, done.returncode, done.stderr[:200])
for i in range(40):
    attempt(whole[:rng.randrange(len(whole))], "cut")
for i in range(60):
    at = rng.randrange(len(whole))
    attempt(whole[:at] + bytes([whole[at] ^ 1 << rng.randrange(8)]) + whole[at + 1:], "bit at %d" % at)
for at in range(16):  # a letter of the checksum in the other case, too
    attempt(whole[:at] + bytes([whole[at] ^ 32]) + whole[at + 1:], "checksum at %d" % at)
attempt(whole.split(b"\n")[0] + b"\n", "without its launch")
END
verdict 'damaged reports' $?

# Python packages.
python=${PYTHON:-$(command -v python3)}
for name in numba triton; do
  if ! "$python" -c "import numpy, importlib.util as u, sys; sys.exit(not u.find_spec('$name'))" 2>/dev/null; then
    verdict "$name" 0 "$python does not have it"
    continue
  fi
  ncu --gpu rtx-3070 --csv --page raw --set full -k regex:add_kernel -c 1 --log-file "$here/$name" "$python" -W ignore \
    "tests/clients/client_$name.py" >"$scratch/out" && grep -q '^"0",.*add_kernel' "$here/$name"
  verdict "$name" $?
done
exit $failed
