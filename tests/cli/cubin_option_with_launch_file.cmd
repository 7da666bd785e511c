$W run kernels/vecadd/vecadd.launch --grid 3
