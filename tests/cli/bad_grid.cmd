$W run kernels/vecadd/vecadd.sm_86.cubin --functional --grid 1,2,3,4
