$W run kernels/vecadd/vecadd.sm_86.cubin --functional --arg x --arg x --arg x --arg u32:1
