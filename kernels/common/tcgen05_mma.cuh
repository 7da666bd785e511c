/* Products into tensor memory, each described by a record that the reference program writes, with the matrices as they
 * lie in shared and tensor memory: one CTA, or pair of CTAs, for each. Dumps D, whose lanes hold something before. */
#ifndef TCGEN05_MMA_CUH
#define TCGEN05_MMA_CUH

#include "tcgen05.cuh"

enum { KIND_F16, KIND_I8, KIND_F8F6F4, KIND_MXF8F6F4, KIND_MXF4, KIND_MXF4NVF4 };
enum { D_COLUMNS = 64, A_AT = 128, SCALES_AT = 160, A_WORDS = 8, SCALE_WORDS = 16, LANES = 128, ALLOCATED = 256 };

struct product {
    unsigned kind, idesc, add, a_in_tmem, shift;
    unsigned d_lane;        /* where D begins */
    unsigned a[2], b[2];    /* descriptors without the start of the shared memory */
    unsigned mask[8];       /* lanes of D that stay */
    unsigned scale_b;       /* column of B's scales, from SCALES_AT on */
    unsigned meta;          /* column of a sparse A's metadata, from SCALES_AT on */
    unsigned zeros[2];      /* zero-column mask of B that stays */
    unsigned unused[10];
};

struct image {
    uint4 shared[24576 / 16];
    unsigned a[LANES][A_WORDS], scales[LANES][SCALE_WORDS];
};

#define MMA_ONE(KIND, A, ACODE, SCALED)                                                                            \
    asm volatile("{.reg .pred p; setp.ne.b32 p, %4, 0;\n"                                                            \
                 "tcgen05.mma.cta_group::1.kind::" KIND " [%0], " ACODE ", %2, %3, {%5, %6, %7, %8}, p" SCALED ";}" ::    \
                     "r"(d), A, "l"(b), "r"(p.idesc), "r"(p.add), "r"(p.mask[0]), "r"(p.mask[1]), "r"(p.mask[2]),      \
                 "r"(p.mask[3])                                                                                     \
                 : "memory")
#define MMA_PAIR(KIND, A, ACODE, SCALED)                                                                           \
    asm volatile("{.reg .pred p; setp.ne.b32 p, %4, 0;\n"                                                            \
                 "tcgen05.mma.cta_group::2.kind::" KIND                                                             \
                 " [%0], " ACODE ", %2, %3, {%5, %6, %7, %8, %9, %10, %11, %12}, p" SCALED ";}" ::"r"(d),               \
                 A, "l"(b), "r"(p.idesc), "r"(p.add), "r"(p.mask[0]), "r"(p.mask[1]), "r"(p.mask[2]),                  \
                 "r"(p.mask[3]), "r"(p.mask[4]), "r"(p.mask[5]), "r"(p.mask[6]), "r"(p.mask[7])                        \
                 : "memory")
#define MMA_SCALED(GROUP, KIND, A, ACODE)                                                                           \
    asm volatile("{.reg .pred p; setp.ne.b32 p, %4, 0;\n"                                                            \
                 "tcgen05.mma.cta_group::" GROUP ".kind::" KIND " [%0], " ACODE ", %2, %3, [%5], [%6], p;}" ::"r"(d),   \
                 A, "l"(b), "r"(p.idesc), "r"(p.add), "r"(sa), "r"(sb)                                                 \
                 : "memory")

template <int CTAS> __device__ void multiply(const product &p, unsigned tmem, unsigned start)
{
    u64 a = ((u64)p.a[1] << 32 | p.a[0]) + (start >> 4), b = ((u64)p.b[1] << 32 | p.b[0]) + (start >> 4);
    unsigned d = tmem + (p.d_lane << 16), at = tmem + A_AT, sa = tmem + SCALES_AT, sb = sa + p.scale_b;
    if (CTAS == 1 && !p.a_in_tmem) {
        if (p.kind == KIND_F16 && !p.shift) MMA_ONE("f16", "l"(a), "%1", "");
        if (p.kind == KIND_F16 && p.shift) MMA_ONE("f16", "l"(a), "%1", ", 3");
        if (p.kind == KIND_I8) MMA_ONE("i8", "l"(a), "%1", "");
        if (p.kind == KIND_F8F6F4) MMA_ONE("f8f6f4", "l"(a), "%1", "");
        if (p.kind == KIND_MXF8F6F4) MMA_SCALED("1", "mxf8f6f4.block_scale", "l"(a), "%1");
        if (p.kind == KIND_MXF4) MMA_SCALED("1", "mxf4.block_scale", "l"(a), "%1");
        if (p.kind == KIND_MXF4NVF4) MMA_SCALED("1", "mxf4nvf4.block_scale.scale_vec::4X", "l"(a), "%1");
    }
    if (CTAS == 1 && p.a_in_tmem) {
        if (p.kind == KIND_F16) MMA_ONE("f16", "r"(at), "[%1]", "");
        if (p.kind == KIND_I8) MMA_ONE("i8", "r"(at), "[%1]", "");
        if (p.kind == KIND_F8F6F4) MMA_ONE("f8f6f4", "r"(at), "[%1]", "");
        if (p.kind == KIND_MXF8F6F4) MMA_SCALED("1", "mxf8f6f4.block_scale", "r"(at), "[%1]");
        if (p.kind == KIND_MXF4) MMA_SCALED("1", "mxf4.block_scale", "r"(at), "[%1]");
    }
    if (CTAS == 2 && !p.a_in_tmem) {
        if (p.kind == KIND_F16) MMA_PAIR("f16", "l"(a), "%1", "");
        if (p.kind == KIND_I8) MMA_PAIR("i8", "l"(a), "%1", "");
        if (p.kind == KIND_F8F6F4) MMA_PAIR("f8f6f4", "l"(a), "%1", "");
        if (p.kind == KIND_MXF8F6F4) MMA_SCALED("2", "mxf8f6f4.block_scale", "l"(a), "%1");
        if (p.kind == KIND_MXF4) MMA_SCALED("2", "mxf4.block_scale", "l"(a), "%1");
    }
    if (CTAS == 2 && p.a_in_tmem && p.kind == KIND_F16) MMA_PAIR("f16", "r"(at), "[%1]", "");
}

/* The same with a sparse A, whose metadata is at `meta`. */
#define SPARSE_ONE(KIND, A, ACODE)                                                                                  \
    asm volatile("{.reg .pred p; setp.ne.b32 p, %4, 0;\n"                                                            \
                 "tcgen05.mma.sp.cta_group::1.kind::" KIND " [%0], " ACODE ", %2, [%9], %3, {%5, %6, %7, %8}, p;}" ::"r"( \
                     d),                                                                                            \
                 A, "l"(b), "r"(p.idesc), "r"(p.add), "r"(p.mask[0]), "r"(p.mask[1]), "r"(p.mask[2]),                  \
                 "r"(p.mask[3]), "r"(meta)                                                                           \
                 : "memory")
#define SPARSE_PAIR(KIND, A, ACODE)                                                                                 \
    asm volatile("{.reg .pred p; setp.ne.b32 p, %4, 0;\n"                                                            \
                 "tcgen05.mma.sp.cta_group::2.kind::" KIND                                                          \
                 " [%0], " ACODE ", %2, [%13], %3, {%5, %6, %7, %8, %9, %10, %11, %12}, p;}" ::"r"(d),                 \
                 A, "l"(b), "r"(p.idesc), "r"(p.add), "r"(p.mask[0]), "r"(p.mask[1]), "r"(p.mask[2]),                  \
                 "r"(p.mask[3]), "r"(p.mask[4]), "r"(p.mask[5]), "r"(p.mask[6]), "r"(p.mask[7]), "r"(meta)             \
                 : "memory")
#define SPARSE_SCALED(GROUP, KIND, A, ACODE)                                                                        \
    asm volatile("{.reg .pred p; setp.ne.b32 p, %4, 0;\n"                                                            \
                 "tcgen05.mma.sp.cta_group::" GROUP ".kind::" KIND                                                   \
                 " [%0], " ACODE ", %2, [%7], %3, [%5], [%6], p;}" ::"r"(d),                                           \
                 A, "l"(b), "r"(p.idesc), "r"(p.add), "r"(sa), "r"(sb), "r"(meta)                                     \
                 : "memory")

template <int CTAS> __device__ void multiply_sparse(const product &p, unsigned tmem, unsigned start)
{
    u64 a = ((u64)p.a[1] << 32 | p.a[0]) + (start >> 4), b = ((u64)p.b[1] << 32 | p.b[0]) + (start >> 4);
    unsigned d = tmem + (p.d_lane << 16), at = d + A_AT, sa = tmem + SCALES_AT, sb = sa + p.scale_b;
    unsigned meta = d + SCALES_AT + p.meta;
    if (CTAS == 1 && !p.a_in_tmem) {
        if (p.kind == KIND_F16) SPARSE_ONE("f16", "l"(a), "%1");
        if (p.kind == KIND_I8) SPARSE_ONE("i8", "l"(a), "%1");
        if (p.kind == KIND_F8F6F4) SPARSE_ONE("f8f6f4", "l"(a), "%1");
        if (p.kind == KIND_MXF8F6F4) SPARSE_SCALED("1", "mxf8f6f4.block_scale", "l"(a), "%1");
        if (p.kind == KIND_MXF4) SPARSE_SCALED("1", "mxf4.block_scale", "l"(a), "%1");
        if (p.kind == KIND_MXF4NVF4) SPARSE_SCALED("1", "mxf4nvf4.block_scale.scale_vec::4X", "l"(a), "%1");
    }
    if (CTAS == 1 && p.a_in_tmem) {
        if (p.kind == KIND_F16) SPARSE_ONE("f16", "r"(at), "[%1]");
        if (p.kind == KIND_F8F6F4) SPARSE_ONE("f8f6f4", "r"(at), "[%1]");
        if (p.kind == KIND_MXF4) SPARSE_SCALED("1", "mxf4.block_scale", "r"(at), "[%1]");
    }
    if (CTAS == 2) {
        if (p.kind == KIND_F16) SPARSE_PAIR("f16", "l"(a), "%1");
        if (p.kind == KIND_I8) SPARSE_PAIR("i8", "l"(a), "%1");
        if (p.kind == KIND_F8F6F4) SPARSE_PAIR("f8f6f4", "l"(a), "%1");
        if (p.kind == KIND_MXF8F6F4) SPARSE_SCALED("2", "mxf8f6f4.block_scale", "l"(a), "%1");
        if (p.kind == KIND_MXF4) SPARSE_SCALED("2", "mxf4.block_scale", "l"(a), "%1");
        if (p.kind == KIND_MXF4NVF4) SPARSE_SCALED("2", "mxf4nvf4.block_scale.scale_vec::4X", "l"(a), "%1");
    }
}

/* The same with B that stays in the unit (.ws), of one CTA. */
#define STATIONARY(SPARSE, KIND, A, ACODE, META, MASK)                                                              \
    asm volatile("{.reg .pred p; setp.ne.b32 p, %4, 0;\n"                                                            \
                 "tcgen05.mma.ws" SPARSE ".cta_group::1.kind::" KIND " [%0], " ACODE ", %2, " META "%3, p" MASK ";}" ::    \
                     "r"(d), A, "l"(b), "r"(p.idesc), "r"(p.add), "r"(meta), "l"(zeros)                                \
                 : "memory")

#define STATIONARY_KINDS(SPARSE, A, ACODE, META, MASK)                                                              \
    if (p.kind == KIND_F16) STATIONARY(SPARSE, "f16", A, ACODE, META, MASK);                                          \
    if (p.kind == KIND_I8) STATIONARY(SPARSE, "i8", A, ACODE, META, MASK);                                            \
    if (p.kind == KIND_F8F6F4) STATIONARY(SPARSE, "f8f6f4", A, ACODE, META, MASK)

__device__ inline void multiply_stationary(const product &p, unsigned tmem, unsigned start)
{
    u64 a = ((u64)p.a[1] << 32 | p.a[0]) + (start >> 4), b = ((u64)p.b[1] << 32 | p.b[0]) + (start >> 4);
    u64 zeros = (u64)p.zeros[1] << 32 | p.zeros[0];
    unsigned d = tmem, at = d + A_AT, meta = d + SCALES_AT + p.meta;
    bool sparse = p.idesc >> 2 & 1;
    if (!sparse && !p.a_in_tmem && !zeros) {
        STATIONARY_KINDS("", "l"(a), "%1", "", "");
    } else if (!sparse && !p.a_in_tmem) {
        STATIONARY_KINDS("", "l"(a), "%1", "", ", %6");
    } else if (!sparse && !zeros) {
        STATIONARY_KINDS("", "r"(at), "[%1]", "", "");
    } else if (!sparse) {
        STATIONARY_KINDS("", "r"(at), "[%1]", "", ", %6");
    } else if (!p.a_in_tmem && !zeros) {
        STATIONARY_KINDS(".sp", "l"(a), "%1", "[%5], ", "");
    } else if (!p.a_in_tmem) {
        STATIONARY_KINDS(".sp", "l"(a), "%1", "[%5], ", ", %6");
    }
}

__device__ inline void cluster_barrier()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* 128 threads, each a lane. */
enum form { DENSE, SPARSE, STATIONARY_B };

template <int CTAS, form FORM = DENSE>
__device__ void run_product(const product *products, const image *images, const unsigned *before, unsigned *after,
                            unsigned char *shared, unsigned *where, u64 *done)
{
    const product p = products[blockIdx.x / CTAS];
    const image *im = images + blockIdx.x;
    unsigned t = threadIdx.x, r[32];
    for (unsigned i = t; i < sizeof im->shared / 16; i += LANES)
        ((uint4 *)shared)[i] = im->shared[i];
    if (t == 0) barrier_init(done, 1);
    if (t < 32) tmem_allocate<CTAS>(where, ALLOCATED);
    shared_written();
    tmem_barrier();
    unsigned tmem = *where, own = own_lanes(tmem);
    for (int c = 0; c < D_COLUMNS; c += 32) {
        for (int i = 0; i < 32; i++)
            r[i] = before[(blockIdx.x * LANES + t) * D_COLUMNS + c + i];
        tmem_store32(own + c, r);
    }
    for (int i = 0; i < 32; i++)
        r[i] = i < A_WORDS ? im->a[t][i] : 0;
    tmem_store32(own + A_AT, r);
    for (int i = 0; i < 32; i++)
        r[i] = i < SCALE_WORDS ? im->scales[t][i] : 0;
    tmem_store32(own + SCALES_AT, r);
    tmem_barrier();
    if (CTAS == 2) cluster_barrier();
    if (t < 32 && elect_one() && (CTAS == 1 || blockIdx.x % CTAS == 0)) {
        if (FORM == SPARSE)
            multiply_sparse<CTAS>(p, tmem, shared_address(shared));
        else if (FORM == STATIONARY_B)
            multiply_stationary(p, tmem, shared_address(shared));
        else
            multiply<CTAS>(p, tmem, shared_address(shared));
        if (CTAS == 1)
            asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
                             shared_address(done))
                         : "memory");
        else
            asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::
                             "r"(shared_address(done)), "h"((unsigned short)3)
                         : "memory");
    }
    barrier_wait(done, 0);
    fence_after();
    for (int c = 0; c < D_COLUMNS; c += 32) {
        tmem_load32(own + c, r);
        for (int i = 0; i < 32; i++)
            after[(blockIdx.x * LANES + t) * D_COLUMNS + c + i] = r[i];
    }
    tmem_barrier();
    if (CTAS == 2) cluster_barrier();
    if (t < 32) tmem_free<CTAS>(tmem, ALLOCATED);
}

#endif
