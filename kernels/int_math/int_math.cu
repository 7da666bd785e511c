/*
 * Integer arithmetic that has no single obvious instruction or has a special
 * one: division and remainder by variables (32 bits: I2F/MUFU.RCP sequences; 64
 * bits: called subroutines), POPC, FLO, BREV, IMAD.HI, 64-bit and funnel
 * shifts, PRMT, IDP.4A, VABSDIFF, IMNMX, bit-field extract and insert.
 */
typedef long long i64;
typedef unsigned long long u64;

extern "C" __global__ void int_math(const unsigned *a, const unsigned *b, const u64 *c,
                                    const u64 *d, unsigned *out32, u64 *out64, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = a[i], y = b[i];
    int sx = (int)x, sy = (int)y;
    u64 p = c[i], q = d[i];
    i64 sp = (i64)p, sq = (i64)q;
    unsigned s = y & 63, t;

    unsigned *o = out32 + i;
    o[0 * n] = x / y;
    o[1 * n] = x % y;
    o[2 * n] = (unsigned)(sx / sy);
    o[3 * n] = (unsigned)(sx % sy);
    o[4 * n] = __popc(x);
    o[5 * n] = __clz(x);
    o[6 * n] = __brev(x);
    o[7 * n] = __ffs(x);
    o[8 * n] = __umulhi(x, y);
    o[9 * n] = (unsigned)__mulhi(sx, sy);
    o[10 * n] = __funnelshift_l(x, y, s);  /* shift modulo 32 */
    o[11 * n] = __funnelshift_r(x, y, s);
    o[12 * n] = __funnelshift_lc(x, y, s); /* shift clamped to 32 */
    o[13 * n] = __funnelshift_rc(x, y, s);
    o[14 * n] = __byte_perm(x, y, y >> 3);
    o[15 * n] = (unsigned)__dp4a(sx, sy, 12345);
    o[16 * n] = __dp4a(x, y, 54321u);
    o[17 * n] = __usad(x, y, 7u);
    o[18 * n] = __sad(sx, sy, 7u);
    o[19 * n] = (unsigned)min(sx, sy);
    o[20 * n] = (unsigned)max(sx, sy);
    o[21 * n] = min(x, y);
    o[22 * n] = max(x, y);
    /* position and length of the bit field from different bits of y */
    unsigned pos = y & 31, len = (y >> 8) & 31;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(t) : "r"(x), "r"(pos), "r"(len));
    o[23 * n] = t;
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(t) : "r"(x), "r"(pos), "r"(len));
    o[24 * n] = t;
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(t) : "r"(y), "r"(x), "r"(pos), "r"(len));
    o[25 * n] = t;
    o[26 * n] = __popcll(p);
    o[27 * n] = __clzll((i64)p);
    o[28 * n] = __ffsll((i64)p);
    o[29 * n] = __vabsdiffu4(x, y);

    u64 *w = out64 + i;
    w[0 * n] = p / q;
    w[1 * n] = p % q;
    w[2 * n] = (u64)(sp / sq);
    w[3 * n] = (u64)(sp % sq);
    w[4 * n] = __umul64hi(p, q);
    w[5 * n] = (u64)__mul64hi(sp, sq);
    w[6 * n] = p << s;
    w[7 * n] = p >> s;
    w[8 * n] = (u64)(sp >> s);
    w[9 * n] = p * q;
    w[10 * n] = (u64)min(sp, sq);
    w[11 * n] = max(p, q);
    w[12 * n] = __brevll(p);
    w[13 * n] = (u64)sx * (u64)sy + p; /* IMAD.WIDE */
    w[14 * n] = p - q;
}
