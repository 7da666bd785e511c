$W run kernels/vecadd/vecadd.launch --frobnicate
