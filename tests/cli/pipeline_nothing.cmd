$W run kernels/vecadd/vecadd.launch --gpu rtx-3070 --quiet --no-check --pipeline $T/p --pipeline-warps 1000
