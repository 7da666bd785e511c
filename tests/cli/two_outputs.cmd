$W run kernels/vecadd/vecadd.launch --gpu rtx-3070 --json $T/x --pipeline $T/./x
