/* Reference of minmax: by comparison of keys that order the bit patterns. */
#include "../common/ref.h"

enum { N = 256 };

static double pick(double x, double y, int greater, int keep_nan)
{
    if (isnan(x) || isnan(y))
        return keep_nan || (isnan(x) && isnan(y)) ? NAN : isnan(x) ? y : x;
    if (x == y)
        return (signbit(x) != 0) == greater ? y : x;
    return (x > y) == greater ? x : y;
}

static double flush(double x)
{
    return fabs(x) < 0x1p-126 ? copysign(0, x) : x;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int main(int argc, char **argv)
{
    static const float in[16] = {
        0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, -NAN, 0x1p-149f, -0x1p-149f,
        0x1.8p-127f, 0x1p-126f, 0.25f, 65504.0f, 1e-6f, -2.5f,
    };
    static float f[8][N];
    static double d[2][N];
    static int32_t iin[N], o[8][N];
    static int64_t l[2][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++)
        iin[i] = (int32_t)(uint32_t)ref_splitmix64(385, i) >> i % 4 * 8;
    iin[0] = INT32_MIN + 1;
    iin[1] = INT32_MAX;
    for (int i = 0; i < N; i++) {
        double x = (double)in[i / 16], y = (double)in[i % 16];
        int32_t a = iin[i], b = iin[N - 1 - i];
        f[0][i] = (float)pick(x, y, 0, 0);
        f[1][i] = (float)pick(x, y, 1, 0);
        f[2][i] = (float)pick(x, y, 0, 1);
        f[3][i] = (float)pick(x, y, 1, 1);
        f[4][i] = (float)pick(flush(x), flush(y), 1, 0);
        f[5][i] = isnan(x) ? -1.0f : (float)(x < -1 ? -1 : x > 1 ? 1 : x);
        double product = x * y;
        f[6][i] = (float)(product > 1 ? 1 : product > 0 ? product : 0);
        f[7][i] = (float)pick(-x, fabs(y), 1, 0);
        d[0][i] = pick(x, y, 0, 0);
        d[1][i] = pick(x, y, 1, 0);
        o[0][i] = (int32_t)least(a, b);
        o[1][i] = (int32_t)most(a, b);
        o[2][i] = (int32_t)(uint32_t)least((uint32_t)a, (uint32_t)b);
        o[3][i] = (int32_t)(uint32_t)most((uint32_t)a, (uint32_t)b);
        o[4][i] = (int32_t)least(most(a, -1000), 100000);
        o[5][i] = (int32_t)most(most(a, b), a ^ b);
        o[6][i] = (int32_t)most(least(a, b), 0);
        o[7][i] = (int32_t)(llabs(a) + least((int16_t)a, (int16_t)b));
        int64_t p = a * INT64_C(33554432) | b, q = b * INT64_C(33554432) | a;
        l[0][i] = least(p, q);
        l[1][i] = (uint64_t)p > (uint64_t)q ? p : q;
    }
    REF_WRITE("in.bin", in);
    REF_WRITE("iin.bin", iin);
    REF_WRITE("f.bin", f);
    REF_WRITE("d.bin", d);
    REF_WRITE("o.bin", o);
    REF_WRITE("l.bin", l);
    return 0;
}
