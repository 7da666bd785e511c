$W run kernels/vecadd/vecadd.launch --quiet=1
