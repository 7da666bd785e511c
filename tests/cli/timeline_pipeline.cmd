$W run kernels/vecadd/vecadd.launch --gpu rtx-3070 --timeline $T/t --pipeline $T/p
