$W run kernels/vecadd/vecadd.launch --set sm.colour=3 --functional
