$W run kernels/vecadd/vecadd.launch --html $T/x --json $T/x
