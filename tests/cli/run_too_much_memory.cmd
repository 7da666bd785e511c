$W run kernels/vecadd/vecadd.sm_86.cubin --buf x:f32:4000000000 --arg x --arg x --arg x --arg u32:4
