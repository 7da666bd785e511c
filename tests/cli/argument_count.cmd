$W run kernels/vecadd/vecadd.sm_86.cubin --functional --buf x:f32:64 --arg x
