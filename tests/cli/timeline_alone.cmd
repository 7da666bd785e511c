$W run kernels/vecadd/vecadd.launch --gpu rtx-3070 --timeline-cycles 10:20
