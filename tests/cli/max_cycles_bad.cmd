$W run kernels/vecadd/vecadd.launch --max-cycles 0
