/*
 * tcgen05.mma.ws and .ws.sp (sm_100a), one CTA for each product: 128, 64 and 32 rows, whose columns lie in one, two and
 * four parts, some with columns of B that are zero and columns that begin further right. What is multiplied is in the records and images of tmem_mma_ws.ref.c.
 */
#include "../common/tcgen05_mma.cuh"

extern "C" __global__ void
    tmem_mma_ws(const product *products, const image *images, const unsigned *before, unsigned *after)
{
    __shared__ __align__(1024) unsigned char shared[sizeof(((image *)0)->shared)];
    __shared__ unsigned where;
    __shared__ u64 done;
    run_product<1, STATIONARY_B>(products, images, before, after, shared, &where, &done);
}
