$W run kernels/vecadd/vecadd.launch --functional --max-cycles 100
