#!/usr/bin/env bash
# Pipeline files (warpstep run --pipeline): the rules of their format, and what they say of stages and waits, read by a reader
# of our own (kanata.py).
#
#   tests/pipeline/run.sh
#
# BIN names the program (build/warpstep). `make refs` need not have run.
set -u
cd "$(dirname "$0")/../.." || exit 2
W=${BIN:-build/warpstep}
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
failed=0
export PYTHONDONTWRITEBYTECODE=1

# verdict NAME STATUS
verdict() {
  if [ "$2" -eq 0 ]; then echo "ok pipeline $1"; else
    echo "not ok pipeline $1"
    sed 's/^/# /' "$scratch/said"
    failed=1
  fi
}

# pipeline FILE RUN-ARGUMENT...
pipeline() {
  local file=$1
  shift
  "$W" run "$@" --no-check --quiet --pipeline "$file" --json "$scratch/json" >"$scratch/said" 2>&1
}
check() { python3 tests/pipeline/check.py "$@" >"$scratch/said" 2>&1; }

# Latencies are the test's own, so that a table of the program cannot answer for its timing.
"$W" asm tests/pipeline/known.sass -o "$scratch/known.cubin" >"$scratch/said" 2>&1 || exit 2
known=("$scratch/known.cubin" --gpu rtx-3070 --block 32 --buf out:u32:1 --arg out --set icache.perfect=true --set const.perfect=true)
for lat in '4 13 16' '6 9 23'; do
  read -r fma pred sfu <<<"$lat"
  pipeline "$scratch/known.kanata" "${known[@]}" --set "lat.fma=$fma" --set "lat.pred=$pred" --set "lat.sfu=$sfu" &&
    check known "$scratch/known.kanata" "$fma" "$pred" "$sfu"
  verdict "known control bits, lat.fma=$fma lat.pred=$pred lat.sfu=$sfu" $?
done

# All warps of kernels of different kinds: as many instructions as the report counts, every cycle between two has a reason.
while read -r kernel gpu ctas; do
  pipeline "$scratch/$kernel.kanata" "kernels/$kernel/$kernel.launch" --gpu "$gpu" --pipeline-warps all &&
    check rules "$scratch/$kernel.kanata" "$scratch/json" "$ctas"
  verdict "$kernel on $gpu" $?
done <<'END'
sgemm_tiled rtx-3070 12
reduce_shfl a100 8
bfs rtx-2080ti 1
bulk_pipeline h200 8
END

# The same file for any number of host threads; parts of a file are parts of the whole.
whole=$scratch/reduce_shfl.kanata
some() { pipeline "$scratch/some" kernels/reduce_shfl/reduce_shfl.launch --gpu a100 "$@"; }
some --pipeline-warps all --threads 2 && cmp "$scratch/some" "$whole" >"$scratch/said" 2>&1
verdict 'two host threads' $?
some --pipeline-warps 1,3.0-1 --pipeline-cycles 3000:4000 && check part "$scratch/some" "$whole" 'cta (1 |3 warp [01]:)' 3000 4000 -
verdict 'some warps in some cycles' $?
some --pipeline-sm 2 && check part "$scratch/some" "$whole" . 0 1000000000 'SM 2,'
verdict 'one SM' $?
some && check part "$scratch/some" "$whole" 'cta 0 ' 0 1000000000 -
verdict 'the first CTA unless told otherwise' $?

# What does not fit is said.
loop='--kernel saxpy_loop --gpu rtx-3070 --grid 552 --block 128 --buf y:f32:70656 --arg y --arg f32:1 --arg f32:1 --arg i32:60'
# shellcheck disable=SC2086 # words on purpose
pipeline /dev/null kernels/saxpy_loop/saxpy_loop.sm_86.cubin $loop --pipeline-warps all && grep -q 'more instructions are not in' "$scratch/said"
verdict 'more than the file holds' $?

exit "$failed"
