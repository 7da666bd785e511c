$W run kernels/vecadd/vecadd.launch --threads 0
