#!/usr/bin/env bash
# The machine at its limits: every queue at capacity 1 (or the least it can have) still finishes with the
# right results, and 1, 2, 3 and 7 host threads give the same JSON. BIN names the program. `make refs`
# must have run.
set -u
cd "$(dirname "$0")/../.." || exit 2
W=${BIN:-build/warpstep}
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
failed=0

verdict() { # STATUS NAME
  if [ "$1" -eq 0 ]; then
    echo "ok stress $2"
  else
    failed=$((failed + 1))
    echo "not ok stress $2"
    cat "$out/log"
  fi
}

one=()
for s in fetch.ibuffer_entries=1 mem.queue_entries=1 mem.pending_entries=1 l1.mshr_entries=128 \
  l1.mshr_merges=1 l2.mshr_entries=1 l2.mshr_merges=1 dram.read_queue=1 dram.write_queue=2 \
  dram.write_high=1 dram.write_low=0 dram.row_hits_max=1 noc.sm_queue=1 \
  noc.sm_buffer=1 l2.queue=1 copy.queue_entries=1; do
  one+=(--set "$s")
done
for gpu in rtx-3070 a100 h200; do
  for k in vecadd atomics hist_global transpose_naive cp_async; do
    timeout 300 "$W" run "kernels/$k/$k.launch" --gpu $gpu --quiet "${one[@]}" >"$out/log" 2>&1
    verdict $? "queues of one: $k on $gpu"
  done
done
timeout 300 "$W" run kernels/bulk_pipeline/bulk_pipeline.launch --gpu h200 --quiet "${one[@]}" >"$out/log" 2>&1
verdict $? "queues of one: bulk_pipeline on h200"

same_numbers() { # NAME KERNEL GPU OPTIONS...: for each number of threads
  local name=$1 k=$2 gpu=$3 t status
  shift 3
  for t in 1 2 3 7; do
    timeout 300 "$W" run "kernels/$k/$k.launch" --gpu "$gpu" --quiet --threads $t \
      --json "$out/$t.json" "$@" >"$out/log" 2>&1
    status=$?
    [ $status -eq 0 ] && { cmp "$out/1.json" "$out/$t.json" >"$out/log" 2>&1 || status=1; }
    verdict $status "$t threads: $k on $gpu$name"
  done
}

# Two L2 partitions, atomics in any order, streams; ports of SMs that stand still.
for gpu in rtx-3070 a100; do
  for k in stream_triad hist_global grid_barrier; do same_numbers '' $k $gpu; done
  same_numbers ', full slices' transpose_naive $gpu --set l2.queue=2 --set noc.sm_buffer=20
done
same_numbers '' bulk_pipeline h200
# Without time, CTAs on several threads.
for k in sgemm_tiled stream_triad; do
  for t in 1 2 3 7; do
    "$W" run "bench/$k.launch" --functional --no-check --quiet --threads $t --json "$out/$t.json" >"$out/log" 2>&1 &&
      cmp "$out/1.json" "$out/$t.json" >"$out/log" 2>&1
    verdict $? "$t threads, function-only: $k"
  done
done
[ $failed -eq 0 ]
