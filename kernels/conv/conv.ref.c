/*
 * Reference of conv: every conversion is a rounding of an exact long double
 * value to a grid, followed by clamping.
 */
#include <float.h>

#include "../common/ref.h"

_Static_assert(LDBL_MANT_DIG >= 64, "long double must hold any 64-bit integer");

enum { N = 96, N32 = 23, N64 = 18, NF = 26, ND = 13, NH = 8, NB = 2 };

typedef long double (*Round)(long double);

/* the order of the rows: nearest, to zero, up, down */
static const Round mode[4] = {rintl, truncl, ceill, floorl};

/*
 * PTX: a result out of range clamps; NaN gives 0, but 1 << 63 for 64-bit
 * destinations and 1 << 31 (clamped to the type's own bits) from f64 to 32 bits.
 */
static uint64_t to_int(long double x, Round round, int bits, int is_signed, int from_f64)
{
    long double max = ldexpl(1.0L, is_signed ? bits - 1 : bits) - 1.0L;
    long double min = is_signed ? -ldexpl(1.0L, bits - 1) : 0.0L;

    if (isnan(x)) {
        if (bits == 64)
            return (uint64_t)1 << 63;
        return from_f64 ? (uint64_t)1 << 31 : 0;
    }
    x = round(x);
    x = x > max ? max : x < min ? min : x;
    return x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
}

/* rounded to a format; what exceeds max becomes max or infinity by direction */
static long double to_real(long double x, Round round, int digits, int qmin, long double max)
{
    long double r = ref_round(x, digits, qmin, round);

    if (isinf(x) || !(fabsl(r) > max))
        return r;
    if (round == rintl || (round == ceill && x > 0) || (round == floorl && x < 0))
        return copysignl(INFINITY, x);
    return copysignl(max, x);
}

static float to_f32(long double x, Round round)
{
    return (float)to_real(x, round, 24, -149, FLT_MAX);
}

static double to_f64(long double x, Round round)
{
    return (double)to_real(x, round, 53, -1074, DBL_MAX);
}

static uint16_t to_f16(long double x, Round round)
{
    return ref_f16(to_real(x, round, 11, -24, 65504.0L));
}

static uint16_t to_bf16(long double x, Round round)
{
    return ref_bf16(to_real(x, round, 8, -133, 0x1.fep127L));
}

int main(int argc, char **argv)
{
    static const double edge[] = {
        0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.49999997, 1.0 + 0x1p-23, -3.75, 100.25,
        NAN, INFINITY, -INFINITY, 0x1p-149, -0x1p-149, 0x1.8p-140, 127.5, 255.5, 32767.5,
        65503.9, 65504.0, 65519.9, 65520.0, -65535.0, 65536.0, 0x1p-25, 0x1.8p-25, 0x1.4p-16,
        2147483520.0, 2147483647.0, 2147483647.5, 2147483648.0, -2147483648.0, -2147483649.0,
        4294967040.0, 4294967295.0, 4294967295.5, 4294967296.0, -1.0, -0.75,
        0x1.fffffep62, 0x1p63, -0x1p63, -0x1.2p63, 0x1.fffffep63, 0x1p64, 1e30, -1e30,
        3.4e38, 0x1.fffffefp127, 0x1p128, -1e300, 1e-40, 1e-46, 1e-320, 0x1.fe8p127,
    };
    static const int64_t edge_int[] = {
        0, 1, -1, 127, 128, -128, -129, 255, 256, 32767, 32768, -32769, 65535, 65519, 65520, 2049,
        2051, 16777217, 16777219, -16777217, INT32_MAX, INT32_MIN, UINT32_MAX, INT64_MAX, INT64_MIN,
        INT64_C(1) << 53, (INT64_C(1) << 53) + 1, -(INT64_C(1) << 53) - 3,
    };
    enum { EDGES = sizeof edge / sizeof edge[0], INT_EDGES = sizeof edge_int / sizeof edge_int[0] };
    static float f[N], of[NF][N];
    static double d[N], od[ND][N];
    static int64_t l[N];
    static uint16_t h[N], b[N], oh[NH][N], ob[NB][N];
    static uint32_t o32[N32][N];
    static uint64_t o64[N64][N];

    ref_init(argc, argv);
    for (unsigned i = 0; i < N; i++) {
        d[i] = i < EDGES ? edge[i]
                         : ldexp(ref_uniform(50, i, -1.0, 1.0), (int)ref_uniform_int(51, i, -20, 70));
        f[i] = to_f32((long double)d[i], rintl);
        l[i] = i < INT_EDGES ? edge_int[i] : (int64_t)ref_splitmix64(52, i) >> (i % 8 * 8);
        h[i] = i < 48 ? to_f16((long double)d[i], rintl) : (uint16_t)ref_splitmix64(53, i);
        b[i] = i < 48 ? to_bf16((long double)d[i], rintl) : (uint16_t)ref_splitmix64(54, i);

        long double x = (long double)f[i], y = (long double)d[i], v = (long double)l[i];
        long double uv = (long double)(uint64_t)l[i];
        int32_t s = (int32_t)(uint32_t)l[i];
        long double sv = (long double)s, su = (long double)(uint32_t)s;
        long double hv = (long double)ref_from_f16(h[i]);

        for (unsigned m = 0; m < 4; m++) {
            o32[m][i] = (uint32_t)to_int(x, mode[m], 32, 1, 0);
            o32[4 + m][i] = (uint32_t)to_int(x, mode[m], 32, 0, 0);
            o32[8 + m][i] = (uint32_t)to_int(y, mode[m], 32, 1, 1);
            o32[12 + m][i] = (uint32_t)to_int(y, mode[m], 32, 0, 1);
            o64[m][i] = to_int(x, mode[m], 64, 1, 0);
            o64[4 + m][i] = to_int(x, mode[m], 64, 0, 0);
            o64[8 + m][i] = to_int(y, mode[m], 64, 1, 1);
            o64[12 + m][i] = to_int(y, mode[m], 64, 0, 1);
            of[m][i] = to_f32(y, mode[m]);
            of[4 + m][i] = to_f32(v, mode[m]);
            of[8 + m][i] = to_f32(uv, mode[m]);
            of[12 + m][i] = to_f32(sv, mode[m]);
            od[m][i] = to_f64(v, mode[m]);
            oh[m][i] = to_f16(x, mode[m]);
        }
        o32[16][i] = (uint32_t)to_int(hv, rintl, 32, 1, 0);
        o32[17][i] = (uint32_t)to_int(hv, floorl, 32, 1, 0);
        o32[18][i] = (uint32_t)to_int(hv, truncl, 32, 0, 0);
        o32[19][i] = (uint32_t)(int8_t)(uint8_t)(uint64_t)l[i];
        o32[20][i] = (uint8_t)(uint64_t)l[i];
        o32[21][i] = (uint32_t)(int16_t)(uint16_t)(uint64_t)l[i];
        o32[22][i] = (uint16_t)(uint64_t)l[i];
        o64[16][i] = (uint64_t)(int64_t)s;
        o64[17][i] = (uint32_t)s;
        of[16][i] = to_f32(su, rintl);
        of[17][i] = to_f32(su, truncl);
        of[18][i] = (float)(int8_t)(uint8_t)(uint64_t)l[i];
        of[19][i] = (float)(uint16_t)(uint64_t)l[i];
        of[20][i] = (float)rintl(x);
        of[21][i] = (float)floorl(x);
        of[22][i] = (float)ceill(x);
        of[23][i] = (float)truncl(x);
        of[24][i] = (float)hv;
        of[25][i] = (float)ref_from_bf16(b[i]);
        od[4][i] = to_f64(uv, rintl);
        od[5][i] = to_f64(uv, truncl);
        od[6][i] = (double)s;
        od[7][i] = (double)(uint32_t)s;
        od[8][i] = (double)f[i];
        od[9][i] = (double)rintl(y);
        od[10][i] = (double)floorl(y);
        od[11][i] = (double)ceill(y);
        od[12][i] = (double)truncl(y);
        oh[4][i] = to_f16(y, rintl);
        oh[5][i] = to_f16(sv, rintl);
        oh[6][i] = to_f16(su, rintl);
        oh[7][i] = to_f16((long double)(int16_t)(uint16_t)(uint64_t)l[i], rintl);
        ob[0][i] = to_bf16(x, rintl);
        ob[1][i] = to_bf16(x, truncl);
    }
    REF_WRITE("f.bin", f);
    REF_WRITE("d.bin", d);
    REF_WRITE("l.bin", l);
    REF_WRITE("h.bin", h);
    REF_WRITE("b.bin", b);
    REF_WRITE("o32.bin", o32);
    REF_WRITE("o64.bin", o64);
    REF_WRITE("of.bin", of);
    REF_WRITE("od.bin", od);
    REF_WRITE("oh.bin", oh);
    REF_WRITE("ob.bin", ob);
    return 0;
}
