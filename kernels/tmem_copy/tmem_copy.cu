/*
 * tcgen05.cp (sm_100a): every shape from shared to tensor memory, also of packed elements of 4 and 6 bits, with
 * and without swizzle; tcgen05.shift. One CTA, four warps, which then dump all lanes.
 */
#include "../common/tcgen05.cuh"

enum { COLUMNS = 32, LANES = 128, BYTES = 8192, COPIES = 10 };

#define COPY(SHAPE)                                                                                                \
    asm volatile("tcgen05.cp.cta_group::1." SHAPE " [%0], %1;" ::"r"(at), "l"(matrix) : "memory")

/* Rows of 16 or 32 bytes: groups of eight behind each other. */
__device__ u64 matrix_at(const void *p, unsigned leading, unsigned stride, unsigned swizzle)
{
    return (u64)(shared_address(p) >> 4) | (u64)(leading >> 4) << 16 | (u64)(stride >> 4) << 32 | (u64)1 << 46 |
           (u64)swizzle << 61;
}

template <int WHICH> __device__ void copy(unsigned at, const unsigned char *shared)
{
    u64 matrix = WHICH == 0 || WHICH == 8 ? matrix_at(shared, 2048, 128, 0)
                 : WHICH == 7 ? matrix_at(shared, 16, 256, 6)
                              : matrix_at(shared, 0, 128, 0);
    if (WHICH == 0 || WHICH == 7) COPY("128x256b");
    if (WHICH == 1) COPY("128x128b");
    if (WHICH == 2) COPY("64x128b.warpx2::02_13");
    if (WHICH == 3) COPY("64x128b.warpx2::01_23");
    if (WHICH == 4) COPY("32x128b.warpx4");
    if (WHICH == 5) COPY("128x128b.b8x16.b4x16_p64");
    if (WHICH == 8) COPY("4x256b");
    if (WHICH == 9) asm volatile("tcgen05.shift.cta_group::1.down [%0];" ::"r"(at) : "memory");
    if (WHICH == 6) COPY("32x128b.warpx4.b8x16.b6x16_p32");
}

template <int WHICH> __device__ void one(unsigned tmem, const unsigned char *shared, unsigned *out, u64 *done)
{
    unsigned r[COLUMNS];
    for (int c = 0; c < COLUMNS; c++)
        r[c] = threadIdx.x << 16 | c;
    tmem_store32(own_lanes(tmem), r);
    tmem_barrier();
    if (threadIdx.x < 32 && elect_one()) {
        copy<WHICH>(tmem + 8 + (WHICH == 8 ? 31 << 16 : WHICH == 9 ? 64 << 16 : 0), shared);
        asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%0];" ::"l"(done) : "memory");
    }
    barrier_wait(done, WHICH % 2);
    fence_after();
    tmem_load32(own_lanes(tmem), r);
    for (int c = 0; c < COLUMNS; c++)
        out[(WHICH * LANES + threadIdx.x) * COLUMNS + c] = r[c];
    tmem_barrier();
}

extern "C" __global__ void tmem_copy(const uint4 *in, unsigned *out)
{
    __shared__ __align__(1024) unsigned char shared[BYTES];
    __shared__ unsigned where;
    __shared__ u64 done;
    for (int i = threadIdx.x; i < BYTES / 16; i += blockDim.x)
        ((uint4 *)shared)[i] = in[i];
    if (threadIdx.x == 0) barrier_init(&done, 1);
    if (threadIdx.x < 32) tmem_allocate(&where, COLUMNS);
    shared_written();
    tmem_barrier();
    one<0>(where, shared, out, &done);
    one<1>(where, shared, out, &done);
    one<2>(where, shared, out, &done);
    one<3>(where, shared, out, &done);
    one<4>(where, shared, out, &done);
    one<5>(where, shared, out, &done);
    one<6>(where, shared, out, &done);
    one<7>(where, shared, out, &done);
    one<8>(where, shared, out, &done);
    one<9>(where, shared, out, &done);
    if (threadIdx.x < 32) tmem_free(where, COLUMNS);
}
