$W run kernels/vecadd/vecadd.launch --gpu rtx-3070 --quiet --no-check --timeline $T/t --timeline-cycles 99999999:
