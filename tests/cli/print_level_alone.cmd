$W run kernels/vecadd/vecadd.launch --gpu rtx-3070 --print-level info
