#!/usr/bin/env bash
# Timeline files (--timeline of run and exec): a reader of our own (perfetto_trace.py) reads them back, and what they say is held
# against reports, events and the source of the program.
#
#   tests/timeline/run.sh
#
# BIN names the program (build/warpstep). Needs no nvcc: the program uses the driver interface. Perfetto's own description of
# the format is asked where its Python package is installed, else that case is skipped.
set -u
cd "$(dirname "$0")/../.." || exit 2
W=${BIN:-build/warpstep}
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
failed=0
export PYTHONDONTWRITEBYTECODE=1

# verdict NAME STATUS [WHY-SKIPPED]: status 77 with a reason is a skipped case.
verdict() {
  if [ "$2" -eq 77 ] && [ -n "${3:-}" ]; then echo "ok timeline $1 # SKIP $3"
  elif [ "$2" -eq 0 ]; then echo "ok timeline $1"; else
    echo "not ok timeline $1"
    sed 's/^/# /' "$scratch/said"
    failed=1
  fi
}
check() { python3 tests/timeline/check.py "$@" >"$scratch/said" 2>&1; }

# One launch, with all warps.
while read -r kernel gpu; do
  "$W" run "kernels/$kernel/$kernel.launch" --gpu "$gpu" --quiet --no-check --timeline "$scratch/$kernel" --timeline-warps all \
    --json "$scratch/json" >"$scratch/said" 2>&1 && check run "$scratch/$kernel" "$scratch/json"
  verdict "run $kernel on $gpu" $?
done <<'END'
sgemm_tiled rtx-3070
reduce_shfl a100
bulk_pipeline h200
END
"$W" run kernels/sgemm_tiled/sgemm_tiled.launch --gpu rtx-3070 --quiet --no-check --timeline "$scratch/two" --timeline-warps all \
  --threads 2 >"$scratch/said" 2>&1 && cmp "$scratch/two" "$scratch/sgemm_tiled" >"$scratch/said" 2>&1
verdict 'two host threads' $?
check library "$scratch/sgemm_tiled"
verdict "Perfetto's own description" $? 'no Python package perfetto'

# A program.
lacking=''
[ -f "$(dirname "$W")/cuda/libwarpstep-cuda.so" ] || lacking="no shim libraries beside $W"
ldd "$(dirname "$W")/cuda/libwarpstep-cuda.so" 2>/dev/null | grep -q 'lib[au]san' && lacking='a program without sanitizers cannot load these'
program() { # FILE OPTION...
  local file=$1
  shift
  [ -z "$lacking" ] || return 77
  "$W" exec --gpu rtx-3070 --quiet --json "$scratch/json" --timeline "$file" "$@" "$scratch/program" \
    kernels/vecadd/vecadd.sm_86.cubin >"$scratch/out" 2>"$scratch/said"
}
"${CC:-cc}" -std=gnu11 -o "$scratch/program" tests/timeline/program.c -ldl >"$scratch/said" 2>&1 || exit 2
program "$scratch/whole" --timeline-warps 0 && check exec "$scratch/whole" "$scratch/json" "$scratch/out"
verdict 'exec' $? "$lacking"
program "$scratch/part" --timeline-sms 0-2 --timeline-us 20:62 && check part "$scratch/part" "$scratch/whole" 3 20000 62000
verdict 'exec, some SMs and some time' $? "$lacking"
"${CC:-cc}" -std=gnu11 -o "$scratch/pair" tests/timeline/pair.c -ldl >"$scratch/said" 2>&1 || exit 2
two_gpus() {
  [ -z "$lacking" ] || return 77
  "$W" exec --machine 2x-rtx-3090-nvlink --quiet --json "$scratch/json" --timeline "$scratch/gpus" "$scratch/pair" \
    kernels/vecadd/vecadd.sm_86.cubin >"$scratch/said" 2>&1 && check pair "$scratch/gpus" "$scratch/json"
}
two_gpus
verdict 'exec, two GPUs' $? "$lacking"
two_processes() { # the first to end takes the names that were given, the second has its number behind them
  [ -z "$lacking" ] || return 77
  "$W" exec --gpu rtx-3070 --quiet --json "$scratch/json-both" --timeline "$scratch/both" --timeline-warps 0 sh -c '"$@" && exec "$@"' sh \
    "$scratch/program" kernels/vecadd/vecadd.sm_86.cubin >"$scratch/out" 2>"$scratch/said" || return
  for suffix in '' '.*'; do
    # shellcheck disable=SC2086 # the number is not known
    check exec "$scratch/both"$suffix "$scratch/json-both"$suffix "$scratch/out" || return
  done
}
touch "$scratch/both" # of an earlier run: replaced
sleep 0.02
two_processes
verdict 'exec, two processes' $? "$lacking"

exit "$failed"
