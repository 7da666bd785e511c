$W isa --check kernels/vecadd/vecadd.sm_86.cubin kernels/vecadd/vecadd.sm_90.cubin
