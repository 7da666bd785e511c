$W run kernels/vecadd/vecadd.sm_86.cubin --block 64 --buf y:f32:64 --buf z:f32:64 \
  --arg u64:0 --arg y --arg z --arg u32:64
