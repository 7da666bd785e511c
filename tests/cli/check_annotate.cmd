$W run kernels/vecadd/vecadd.launch --gpu rtx-3070 --check all --annotate
