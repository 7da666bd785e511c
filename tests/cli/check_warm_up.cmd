$W run kernels/vecadd/vecadd.launch --gpu rtx-3070 --check all --warm-up 1
