$W run kernels/vecadd/vecadd.sm_86.cubin --functional --block 2048 --buf x:f32:64:iota --buf y:f32:64:const,value=0.5 --buf z:f32:64 --arg x --arg y --arg z --arg u32:64
