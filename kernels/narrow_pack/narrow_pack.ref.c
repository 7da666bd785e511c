/*
 * Reference of narrow_pack: the nearest of all numbers of a format, which are computed from its definition (OCP 8-bit
 * Floating Point, OCP Microscaling Formats). What NaN and overflow become where a format has no pattern for them:
 * documentation of the functions in the headers.
 */
#include "../common/ref.h"
#include <stdbool.h>

enum { N = 512, WORDS = 19 };

/* `most` is the pattern of the largest number, `nan` and `over` what NaN and overflow without saturation become. */
struct format {
    int exp, frac, bias;
    unsigned most, nan, over;
};
static const struct format e2m1 = {2, 1, 1, 0x7, 0x7, 0x7}, e2m3 = {2, 3, 1, 0x1f, 0x1f, 0x1f};
static const struct format e3m2 = {3, 2, 3, 0x1f, 0x1f, 0x1f}, e4m3 = {4, 3, 7, 0x7e, 0x7f, 0x7f};
static const struct format e5m2 = {5, 2, 15, 0x7b, 0x7f, 0x7c};

enum { NEAREST, TO_ZERO, OPEN }; /* OPEN: nearest without saturation */

static double magnitude(const struct format *f, unsigned code)
{
    int e = (int)(code >> f->frac), units = (int)(code & ((1u << f->frac) - 1));
    return e == 0 ? ldexp(units, 1 - f->bias - f->frac) : ldexp(units + (1 << f->frac), e - f->bias - f->frac);
}

/* Value of a pattern, of which `most` and everything below are numbers. */
static double value(const struct format *f, unsigned code)
{
    unsigned sign = 1u << (f->exp + f->frac), mag = code & (sign - 1);
    double v = mag <= f->most ? magnitude(f, mag) : mag == f->over && f->over != f->nan ? (double)INFINITY : (double)NAN;
    return code & sign ? -v : v;
}

static unsigned encode(const struct format *f, double x, int how)
{
    unsigned sign = signbit(x) ? 1u << (f->exp + f->frac) : 0, best = 0;
    double mag = fabs(x);

    if (isnan(x))
        return f->nan;
    if (mag >= magnitude(f, f->most + 1)) /* the next number, if the format went on */
        return sign | (how == OPEN ? f->over : f->most);
    for (unsigned code = 1; code <= f->most + 1; code++) {
        double below = mag - magnitude(f, code - 1), above = magnitude(f, code) - mag;
        bool up = how == TO_ZERO ? above <= 0 : above < below || (above == below && code % 2 == 0);
        if (up)
            best = code;
    }
    if (best > f->most)
        best = how == OPEN ? f->over : f->most;
    return sign | best;
}

static unsigned pair(const struct format *f, const double v[2], int how)
{
    unsigned shift = f->exp + f->frac == 3 ? 4 : 8;
    return encode(f, v[0], how) | encode(f, v[1], how) << shift;
}

/* E8M0: 2^(code - 127). */
static unsigned power(double x, bool up, bool saturate)
{
    int e;

    if (isnan(x))
        return 255;
    double mag = fabs(x);
    if (mag <= 0x1p-127)
        return 0;
    if (isinf(x))
        return saturate ? 254 : 255;
    e = (frexp(mag, &e), e - 1) + 127;
    e += up && mag > ldexp(1, e - 127);
    return (unsigned)(e > 254 ? saturate ? 254 : 255 : e);
}

static unsigned powers(const double v[2], bool up, bool saturate)
{
    return power(v[0], up, saturate) | power(v[1], up, saturate) << 8;
}

static unsigned unpack(const struct format *f, unsigned low, unsigned high)
{
    return ref_f16(value(f, low)) | (unsigned)ref_f16(value(f, high)) << 16;
}

static unsigned unpack_power(unsigned code)
{
    return ref_bf16(code == 255 ? (long double)NAN : ldexpl(1, (int)code - 127));
}

static void from_float(const double v[2], uint32_t out[])
{
    out[0] = pair(&e2m1, v, NEAREST) | pair(&e2m1, v, TO_ZERO) << 16;
    out[1] = pair(&e2m3, v, NEAREST) | pair(&e3m2, v, NEAREST) << 16;
    out[2] = pair(&e4m3, v, NEAREST) | pair(&e5m2, v, NEAREST) << 16;
    out[3] = pair(&e4m3, v, OPEN) | pair(&e5m2, v, OPEN) << 16;
    out[4] = powers(v, false, true) | powers(v, true, true) << 16;
    out[5] = powers(v, false, false) | powers(v, true, false) << 16;
}

static void from_others(const double v[2], uint32_t out[])
{
    double d = isnan(v[0]) ? 0 : v[0] * (1 + 0x1p-40);
    double h[2] = {ref_from_f16(ref_f16(v[0])), ref_from_f16(ref_f16(v[1]))};
    double b[2] = {ref_from_bf16(ref_bf16(v[0])), ref_from_bf16(ref_bf16(v[1]))};

    out[0] = encode(&e2m1, d, NEAREST) | encode(&e2m3, d, NEAREST) << 8 | encode(&e3m2, d, NEAREST) << 16;
    out[1] = encode(&e4m3, d, NEAREST) | encode(&e5m2, d, OPEN) << 16;
    out[2] = pair(&e4m3, h, NEAREST) | pair(&e5m2, h, NEAREST) << 16;
    out[3] = pair(&e2m3, h, NEAREST) | pair(&e3m2, h, NEAREST) << 16;
    out[4] = pair(&e2m1, h, NEAREST) | pair(&e2m1, b, NEAREST) << 16;
    out[5] = pair(&e4m3, b, NEAREST) | powers(b, true, true) << 16;
}

static void back(unsigned i, uint32_t out[])
{
    out[0] = unpack(&e4m3, i & 255, ~i & 255);
    out[1] = unpack(&e5m2, i & 255, ~i & 255);
    out[2] = unpack(&e2m3, i & 63, ~i & 63);
    out[3] = unpack(&e3m2, i & 63, ~i & 63);
    out[4] = unpack(&e2m1, i & 15, i >> 4 & 15);
    out[5] = unpack_power(i & 255) | unpack_power(~i & 255) << 16;
}

/* Numbers and ties of the formats, wide exponents, special operands. */
static float operand(uint64_t i)
{
    static const float special[] = {
        0.0f, -0.0f, NAN, INFINITY, -INFINITY, 3.4e38f, -3.4e38f, 0x1p127f, 0x1.000002p127f, 0x1p-126f, 0x1p-127f,
        0x1.8p-127f, 0x1p-128f, 0x1p-149f, 0x1.fffffep-127f, 448.0f, 464.0f, 0x1.d00002p8f, 480.0f, -464.0f, 57344.0f,
        61440.0f, 0x1.e00002p15f, 65536.0f, -61440.0f, 7.75f, 30.0f, 5.0f, 7.0f, 0x1p-10f, 0x1.000002p-10f, 0x1p-17f,
    };
    enum { SPECIALS = sizeof special / sizeof special[0] };
    float sign = i % 2 ? -1.0f : 1.0f;

    if (i < 128)
        return sign * (float)i / 16.0f;
    if (i < 256)
        return sign * (float)(i - 128) / 4.0f;
    if (i < 384)
        return ldexpf(sign * (float)(16 + (i % 16)), (int)(i / 16 % 8) * 5 - 25);
    if (i < 384 + SPECIALS)
        return special[i - 384];
    return (float)ldexp(ref_uniform(1, i, -1.0, 1.0), (int)ref_uniform_int(2, i, -20, 20));
}

int main(int argc, char **argv)
{
    static float in[N];
    static uint32_t out[WORDS][N];
    uint32_t column[WORDS];

    ref_init(argc, argv);
    for (unsigned i = 0; i < N; i++)
        in[i] = operand(i);
    for (unsigned i = 0; i < N; i++) {
        double v[2] = {(double)in[i], (double)in[(i + 1) % N]};
        from_float(v, column);
        from_others(v, column + 6);
        back(i, column + 12);
        column[18] = 0;
        for (unsigned k = 0; k < 8; k++)
            column[18] |= encode(&e2m1, (double)in[(i + k) % N], NEAREST) << 4 * k;
        for (int w = 0; w < WORDS; w++)
            out[w][i] = column[w];
    }
    REF_WRITE("in.bin", in);
    REF_WRITE("out.bin", out);
    return 0;
}
