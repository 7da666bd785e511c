/*
 * Cache operators and hints: ld.ca, cg, cs, lu and cv, ld.nc, eviction priorities,
 * prefetches, st.wb, cg, cs and wt.  They change timing, never
 * values.
 */
#define LD(op, to, at) asm volatile("ld.global." op " %0, [%1];" : "=r"(to) : "l"(at) : "memory")
#define ST(op, at, v) asm volatile("st.global." op " [%0], %1;" ::"l"(at), "r"(v) : "memory")

extern "C" __global__ void cache_ops(const unsigned *in, unsigned *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v[8], sum = 0;
    const unsigned *p = in + i;

    asm volatile("prefetch.global.L2 [%0];" ::"l"(p + 5 * n));
    asm volatile("prefetch.global.L1 [%0];" ::"l"(p + 6 * n));
    LD("ca.u32", v[0], p);
    LD("cg.u32", v[1], p + n);
    LD("cs.u32", v[2], p + 2 * n);
    LD("lu.u32", v[3], p + 3 * n);
    LD("cv.u32", v[4], p + 4 * n);
    LD("nc.u32", v[5], p + 5 * n);
    LD("L1::evict_last.u32", v[6], p + 6 * n);
    LD("L1::no_allocate.L2::128B.u32", v[7], p + 7 * n);
    for (int k = 0; k < 8; k++)
        sum = sum * 31 + v[k];
    ST("wb.u32", out + i, v[0] ^ sum);
    ST("cg.u32", out + n + i, v[1] ^ sum);
    ST("cs.u32", out + 2 * n + i, v[2] ^ sum);
    ST("wt.u32", out + 3 * n + i, v[3] ^ sum);
    ST("L1::evict_first.u32", out + 4 * n + i, v[4] ^ sum);
    LD("cv.u32", v[0], out + n + i); /* its own store */
    out[5 * n + i] = v[0] + sum;
}
