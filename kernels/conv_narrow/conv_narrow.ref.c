/* Reference of conv_narrow: rounding and clamping in double. */
#include "../common/ref.h"

enum { N = 128 };

static int32_t clamp(double x, double lo, double hi)
{
    return (int32_t)(x < lo ? lo : x > hi ? hi : x);
}

/* the low bits of r, signed */
static int32_t low(int32_t r, int bits)
{
    int32_t range = 1 << bits, v = (int32_t)((uint32_t)r % (uint32_t)range);
    return v >= range / 2 ? v - range : v;
}

int main(int argc, char **argv)
{
    static const float edge[] = {
        0.0f, -0.0f, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 127.5f, 128.0f, -128.5f, -129.0f, 255.5f,
        256.0f, 32767.4f, 32767.5f, -32768.5f, 65535.5f, 65536.0f, 70000.0f, 1e9f, -1e9f, 3e38f,
        -INFINITY, INFINITY, 0.75f,
    };
    enum { EDGES = sizeof edge / sizeof edge[0] };
    static float in[N], f[9][N];
    static int32_t o[9][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        in[i] = (float)ldexp(ref_uniform(391, i, -1.0, 1.0), (int)ref_uniform_int(392, i, -2, 24));
        if (i < EDGES)
            in[i] = edge[i];
        double x = (double)in[i], h = ref_from_f16(ref_f16((long double)x));
        int32_t r = clamp(x, -1e9, 1e9);
        o[0][i] = clamp(rint(x), -32768, 32767);
        o[1][i] = clamp(trunc(x), 0, 65535);
        o[2][i] = clamp(trunc(x), -128, 127);
        o[3][i] = clamp(floor(x), 0, 255);
        o[4][i] = clamp(ceil(x), -32768, 32767);
        o[5][i] = clamp(rint(h), -32768, 32767);
        o[6][i] = isinf(h) ? (h > 0 ? INT32_MAX : INT32_MIN) : (int32_t)rint(h);
        o[7][i] = clamp(r, -128, 127);
        o[8][i] = clamp(r, 0, 65535);
        f[0][i] = (float)low(r, 8);
        f[1][i] = (float)((uint32_t)r >> 8 & 255);
        f[2][i] = (float)low(r, 16);
        f[3][i] = (float)((r & 255) + low((int32_t)floor(r / 8.0), 16));
        f[4][i] = (float)fmin(fmax(rint(x), 0), 1);
        f[5][i] = (float)ceil(x);
        f[6][i] = (float)floor(h);
        f[7][i] = (float)ref_from_f16(ref_f16((long double)low(r, 16)));
        long double t = ref_round((long double)fmin(fmax(x, 0), 1), 11, -24, truncl);
        f[8][i] = (float)t;
    }
    REF_WRITE("in.bin", in);
    REF_WRITE("out.bin", o);
    REF_WRITE("fout.bin", f);
    return 0;
}
