/*
 * tcgen05.mma (sm_100a), one CTA for each product: kinds f16, tf32, i8 and f8f6f4 in their formats, A and B contiguous
 * along k or along rows, with every swizzle, A in tensor memory, lanes of D that stay, D scaled, negated factors. What is
 * multiplied is in the records and images of tmem_mma.ref.c.
 */
#include "../common/tcgen05_mma.cuh"

extern "C" __global__ void tmem_mma(const product *products, const image *images, const unsigned *before, unsigned *after)
{
    __shared__ __align__(1024) unsigned char shared[sizeof(((image *)0)->shared)];
    __shared__ unsigned where;
    __shared__ u64 done;
    run_product<1>(products, images, before, after, shared, &where, &done);
}
