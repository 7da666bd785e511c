/*
 * Bit manipulation in 32 and 64 bits: reverse, population count, leading zeros, first
 * set, n-th set bit, funnel shifts clamped and wrapped, bit-field insert and extract,
 * byte reversal, Morton codes.
 */
typedef unsigned long long u64;

extern "C" __global__ void bit_tricks(const u64 *in, u64 *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    u64 v = in[i], *o = out + i;
    unsigned lo = (unsigned)v, hi = (unsigned)(v >> 32), r;

    o[0] = __brevll(v);
    o[n] = (u64)__popcll(v) << 32 | (unsigned)__popc(lo);
    o[2 * n] = (u64)__clzll((long long)v) << 32 | (unsigned)__clz((int)lo);
    o[3 * n] = (u64)__ffsll((long long)v) << 32 | (unsigned)__ffs((int)lo);
    o[4 * n] = __fns(lo, 0, (int)(hi % 33));
    o[5 * n] = (u64)__funnelshift_l(lo, hi, hi) << 32 | __funnelshift_r(lo, hi, hi);
    o[6 * n] = (u64)__funnelshift_lc(lo, hi, hi % 64) << 32 | __funnelshift_rc(lo, hi, hi % 64);
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(lo), "r"(hi % 40), "r"(hi >> 8 & 63));
    o[7 * n] = r;
    asm("bfi.b32 %0, %1, %2, %3, %4;"
        : "=r"(r)
        : "r"(lo), "r"(hi), "r"(hi % 40), "r"(lo >> 8 & 63));
    o[8 * n] = r;
    o[9 * n] = __byte_perm(lo, hi, 0x0123) | (u64)__byte_perm(lo, hi, lo & 0x7777) << 32;
    unsigned m = lo & 0xffff; /* spread to the even bits */
    m = (m | m << 8) & 0x00ff00ff;
    m = (m | m << 4) & 0x0f0f0f0f;
    m = (m | m << 2) & 0x33333333;
    o[10 * n] = (m | m << 1) & 0x55555555;
    asm("bfind.s32 %0, %1;" : "=r"(r) : "r"(lo));
    o[11 * n] = r;
    asm("bfind.shiftamt.u32 %0, %1;" : "=r"(r) : "r"(lo));
    o[12 * n] = r;
    o[13 * n] = v << (hi & 63) ^ v >> (lo & 63);
    o[14 * n] = (u64)((long long)v >> (hi & 63));
    asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(lo), "r"(hi % 48)); /* clamps beyond 31 */
    o[15 * n] = r;
    asm("shr.s32 %0, %1, %2;" : "=r"(r) : "r"(lo), "r"(hi % 48));
    o[16 * n] = r;
}
