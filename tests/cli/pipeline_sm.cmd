$W run kernels/vecadd/vecadd.launch --gpu rtx-3070 --pipeline $T/p --pipeline-sm 99
test ! -e $T/p || echo written
