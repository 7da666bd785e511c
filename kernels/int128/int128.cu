/*
 * Wide integers: carry chains by the compiler and by add.cc, 64 x 64 to 128 bits,
 * 128-bit multiplication, division and shifts, 256-bit sums.
 */
typedef unsigned long long u64;
typedef unsigned __int128 u128;

extern "C" __global__ void int128(const u64 *in, u64 *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    u64 a = in[4 * i], b = in[4 * i + 1], c = in[4 * i + 2], d = in[4 * i + 3] | 1, *o = out + i;
    u128 x = (u128)a << 64 | b, y = (u128)c << 64 | d, r;

    o[0] = __umul64hi(a, b);
    o[n] = (u64)__mul64hi((long long)a, (long long)b);
    o[2 * n] = a / d;
    o[3 * n] = a % d;
    o[4 * n] = (u64)((long long)a / (long long)(d >> 20 | 1));
    r = x + y;
    o[5 * n] = (u64)r;
    o[6 * n] = (u64)(r >> 64);
    r = x - y;
    o[7 * n] = (u64)(r >> 64);
    r = x * y;
    o[8 * n] = (u64)r;
    o[9 * n] = (u64)(r >> 64);
    r = x / d;
    o[10 * n] = (u64)r;
    o[11 * n] = (u64)(r >> 64);
    o[12 * n] = (u64)(x % y);
    r = x << (c & 127);
    o[13 * n] = (u64)(r >> 64);
    o[14 * n] = (u64)((__int128)x >> (d & 127));
    o[15 * n] = (__int128)x < (__int128)y;
    u64 s0, s1, s2, s3; /* (a, b, c, d) + (d, c, b, a), least significant first */
    asm("add.cc.u64 %0, %4, %7;\n\taddc.cc.u64 %1, %5, %6;\n\taddc.cc.u64 %2, %6, %5;\n\t"
        "addc.u64 %3, %7, %4;"
        : "=&l"(s0), "=&l"(s1), "=&l"(s2), "=&l"(s3)
        : "l"(a), "l"(b), "l"(c), "l"(d));
    o[16 * n] = s0 ^ s1 ^ s2;
    o[17 * n] = s3;
    unsigned lo, hi; /* 32-bit multiply-add with carry */
    asm("mad.lo.cc.u32 %0, %2, %3, %4;\n\tmadc.hi.u32 %1, %2, %3, %4;"
        : "=&r"(lo), "=r"(hi)
        : "r"((unsigned)a), "r"((unsigned)b), "r"((unsigned)c));
    o[18 * n] = (u64)hi << 32 | lo;
}
