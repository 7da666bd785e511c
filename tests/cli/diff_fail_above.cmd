# One DRAM channel of sixteen: vecadd takes more cycles.
$W run kernels/stream_triad/stream_triad.launch --quiet --json $T/a.json &&
  $W run kernels/stream_triad/stream_triad.launch --quiet --set dram.channels=1 --set l2.slices=2 --json $T/b.json || exit 9
$W diff $T/b.json $T/a.json --fail-above 1 >/dev/null || exit 9
$W diff $T/a.json $T/b.json --fail-above 1 | grep dram.channels
exit ${PIPESTATUS[0]}
