#!/usr/bin/env bash
# Every output about a launch, for a matrix product, a reduction and a breadth-first search of the corpus, and for launches of Triton and
# Numba that were captured from the programs beside them: --annotate, --details, --what-if, diff, --html, --timeline, --pipeline, each
# held against the counters of the same launch. Nsight Compute's pages are of programs: tests/ncu.
#
#   tests/outputs/run.sh
#
# BIN names the program (build/warpstep).
set -u
cd "$(dirname "$0")/../.." || exit 2
W=${BIN:-build/warpstep}
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
failed=0
export PYTHONDONTWRITEBYTECODE=1

verdict() { # NAME STATUS
  if [ "$2" -eq 0 ]; then echo "ok outputs $1"; else
    echo "not ok outputs $1"
    sed 's/^/# /' "$scratch/said"
    failed=1
  fi
}
run() { "$W" run "$file" --gpu rtx-3070 --no-check --quiet "$@" 2>"$scratch/said"; }
check() { # FOLDER ARGUMENT...
  local folder=$1
  shift
  python3 "tests/$folder/check.py" "$@" >"$scratch/said" 2>&1
}

json=$scratch/run.json text=$scratch/text
while read -r file ctas source; do
  name=$(basename "${file%.*}")
  # shellcheck disable=SC2086 # there may be no source
  run --annotate --json "$json" >"$text" && check outputs annotate "$text" "$json" $source
  verdict "$name: annotate" $?
  run --details --json "$json" >"$text" && check outputs details "$text" "$json"
  verdict "$name: details" $?
  run --what-if launch,l1_misses --json "$scratch/what_if.json" >"$text" && check outputs what_if "$text" "$scratch/what_if.json"
  verdict "$name: what-if" $?
  run --set l1.perfect=true --json "$scratch/perfect.json" && "$W" diff "$json" "$scratch/perfect.json" >"$text" 2>"$scratch/said" &&
    check outputs diff "$text" "$json" "$scratch/perfect.json"
  verdict "$name: diff" $?
  run --html "$scratch/html" --json "$json" && check html data "$scratch/html" "$json"
  verdict "$name: html" $?
  run --timeline "$scratch/timeline" --timeline-warps all --json "$json" && check timeline run "$scratch/timeline" "$json"
  verdict "$name: timeline" $?
  run --pipeline "$scratch/pipeline" --pipeline-warps all --json "$json" && check pipeline rules "$scratch/pipeline" "$json" "$ctas"
  verdict "$name: pipeline" $?
  # What runs again must not be what is written.
  run --timeline "$scratch/again" --timeline-warps all --what-if launch >"$text" && cmp "$scratch/again" "$scratch/timeline" >"$scratch/said" 2>&1
  verdict "$name: timeline with what-if" $?
done <<'END'
kernels/sgemm_tiled/sgemm_tiled.launch 12
kernels/reduce_shfl/reduce_shfl.launch 8
kernels/bfs/bfs.launch 1
tests/outputs/triton_softmax.case 20 triton_softmax.py
tests/outputs/numba_saxpy.case 4 numba_saxpy.py
END
exit "$failed"
