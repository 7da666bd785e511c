cd $T && $W run ~-/kernels/vecadd/vecadd.launch --quiet --json a.json && $W diff a.json a.json --fail-above 0
