/*
 * Reference of half_math: computed in long double and rounded once.  A product
 * of two halves is exact there, and so is every sum that decides a rounding.
 */
#include "../common/ref.h"

enum { N = 256, NH = 10, NB = 6 };

int main(int argc, char **argv)
{
    static const double edge[] = {
        0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN, 65504.0, -65504.0, 0x1p-24, -0x1p-24,
        0x1p-14, 0x1.ffcp-15, 2048.0, 0.5, 0x1.004p0,
    };
    enum { EDGES = sizeof edge / sizeof edge[0] };
    static uint16_t in[6][N], oh[NH][N], ob[NB][N];
    static uint32_t flags[N / 2];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        for (uint64_t k = 0; k < 3; k++) {
            double v = ref_uniform(60 + k, i, -4.0, 4.0);
            double w = ref_uniform(63 + k, i, -4.0, 4.0);
            if (i < 96)
                v = w = edge[(i * (k + 1) + i / 16 * (2 * k + 1)) % EDGES];
            else if (i < 128)
                v = ldexp(v, (int)ref_uniform_int(66 + k, i, -14, 10));
            in[k][i] = ref_f16((long double)v);
            in[3 + k][i] = ref_bf16((long double)w);
        }
        long double x = (long double)ref_from_f16(in[0][i]);
        long double y = (long double)ref_from_f16(in[1][i]);
        long double z = (long double)ref_from_f16(in[2][i]);
        long double fma = x * y + z;

        oh[0][i] = ref_f16(x + y);
        oh[1][i] = ref_f16(x - y);
        oh[2][i] = ref_f16(x * y);
        oh[3][i] = ref_f16(fma);
        oh[4][i] = ref_f16(fma < 0 ? 0.0L : fma);
        oh[5][i] = ref_f16(fminl(x, y));
        oh[6][i] = ref_f16(fmaxl(x, y));
        oh[7][i] = ref_f16(x < y ? 1.0L : 0.0L);
        oh[8][i] = ref_f16(-fabsl(x));

        long double p = (long double)ref_from_bf16(in[3][i]);
        long double q = (long double)ref_from_bf16(in[4][i]);
        long double r = (long double)ref_from_bf16(in[5][i]);
        ob[0][i] = ref_bf16(p + q);
        ob[1][i] = ref_bf16(p * q);
        ob[2][i] = ref_bf16(p * q + r);
        ob[3][i] = ref_bf16(fminl(p, q));
        ob[4][i] = ref_bf16(fmaxl(p, q));
        ob[5][i] = ref_bf16(p >= q ? 1.0L : 0.0L);
    }
    for (unsigned i = 0; i < N / 2; i++) {
        double x[2], y[2], z[2];
        for (unsigned k = 0; k < 2; k++) {
            x[k] = ref_from_f16(in[0][2 * i + k]);
            y[k] = ref_from_f16(in[1][2 * i + k]);
            z[k] = ref_from_f16(in[2][2 * i + k]);
        }
        oh[9][2 * i] = ref_f16((long double)x[1]);
        oh[9][2 * i + 1] = ref_f16((long double)(y[0] + z[1]));
        uint32_t f = (x[0] > y[0] ? 0xffffu : 0) | (x[1] > y[1] ? 0xffff0000u : 0);
        f ^= x[0] == y[0] && x[1] == y[1] ? 1u << 4 : 0;
        f ^= !(x[0] >= z[0]) && !(x[1] >= z[1]) ? 1u << 8 : 0;
        f ^= isnan(x[0]) ? 1u << 12 : 0;
        flags[i] = f;
    }
    REF_WRITE("a.bin", in[0]);
    REF_WRITE("b.bin", in[1]);
    REF_WRITE("c.bin", in[2]);
    REF_WRITE("ba.bin", in[3]);
    REF_WRITE("bb.bin", in[4]);
    REF_WRITE("bc.bin", in[5]);
    REF_WRITE("oh.bin", oh);
    REF_WRITE("ob.bin", ob);
    REF_WRITE("flags.bin", flags);
    return 0;
}
