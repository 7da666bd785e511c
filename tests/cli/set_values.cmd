# Values that there cannot be, alone or together: one line, nothing runs.
for s in dram.t.refi=0 l2.mshr_entries=32769 l1.line=64 l1.sector=64 l2.line=256 l2.sector=16; do
  $W run kernels/vecadd/vecadd.launch --no-check --quiet --set $s
  echo $?
done
