/*
 * tcgen05.mma with block scales (sm_100a), one CTA for each product: kinds mxf8f6f4, mxf4 and mxf4nvf4, each scale of a
 * word, A in tensor memory. What is multiplied is in the records and images of tmem_mma_scaled.ref.c.
 */
#include "../common/tcgen05_mma.cuh"

extern "C" __global__ void tmem_mma_scaled(const product *products, const image *images, const unsigned *before,
                                           unsigned *after)
{
    __shared__ __align__(1024) unsigned char shared[sizeof(((image *)0)->shared)];
    __shared__ unsigned where;
    __shared__ u64 done;
    run_product<1>(products, images, before, after, shared, &where, &done);
}
