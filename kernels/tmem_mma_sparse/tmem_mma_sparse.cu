/*
 * tcgen05.mma.sp (sm_100a), one CTA for each product: a sparse A with its metadata in tensor memory, every kind, both
 * selected columns of metadata, A in tensor memory. What is multiplied is in the records and images of
 * tmem_mma_sparse.ref.c.
 */
#include "../common/tcgen05_mma.cuh"

extern "C" __global__ void
    tmem_mma_sparse(const product *products, const image *images, const unsigned *before, unsigned *after)
{
    __shared__ __align__(1024) unsigned char shared[sizeof(((image *)0)->shared)];
    __shared__ unsigned where;
    __shared__ u64 done;
    run_product<1, SPARSE>(products, images, before, after, shared, &where, &done);
}
