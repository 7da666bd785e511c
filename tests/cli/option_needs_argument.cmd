$W run kernels/vecadd/vecadd.launch --gpu
