# The bytes behind a null pointer; an address that is near nothing.
for a in 0 16 0x123456789abc; do
  $W run kernels/vecadd/vecadd.sm_86.cubin --functional --block 32 --buf y:f32:64 --buf z:f32:64 \
    --arg u64:$a --arg y --arg z --arg u32:32 2>&1 | grep "^  address"
done
