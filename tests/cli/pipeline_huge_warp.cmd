$W run kernels/vecadd/vecadd.launch --gpu rtx-3070 --pipeline $T/p --pipeline-warps 99999999999999999999
