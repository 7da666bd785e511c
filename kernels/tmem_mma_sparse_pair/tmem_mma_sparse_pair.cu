/*
 * tcgen05.mma.sp for pairs of CTAs (sm_100a), a cluster of two for each product: 256 and 128 rows. What is multiplied is
 * in the records and images of tmem_mma_sparse_pair.ref.c.
 */
#include "../common/tcgen05_mma.cuh"

extern "C" __global__ void __cluster_dims__(2)
    tmem_mma_sparse_pair(const product *products, const image *images, const unsigned *before, unsigned *after)
{
    __shared__ __align__(1024) unsigned char shared[sizeof(((image *)0)->shared)];
    __shared__ unsigned where;
    __shared__ u64 done;
    run_product<2, SPARSE>(products, images, before, after, shared, &where, &done);
}
