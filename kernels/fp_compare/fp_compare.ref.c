/* Reference of fp_compare: from less, equal, greater and unordered. */
#include "../common/ref.h"

enum { N = 256 };

static uint32_t compare(double x, double y)
{
    int un = isnan(x) || isnan(y), lt = x < y, eq = x == y, gt = x > y, k = 0;
    uint32_t bits = 0;
    const int ordered[6] = {eq, lt || gt, lt, lt || eq, gt, gt || eq};

    for (int u = 0; u < 2; u++)
        for (int i = 0; i < 6; i++)
            bits |= (uint32_t)(ordered[i] || (u && un)) << k++;
    bits |= (uint32_t)!un << 12 | (uint32_t)un << 13;
    return bits;
}

static double flush(double x)
{
    return fabs(x) < 0x1p-126 ? 0 : x;
}

int main(int argc, char **argv)
{
    static const float in[16] = {
        0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, -NAN, 0x1p-149f, -0x1p-149f,
        0x1.8p-127f, 0x1p-126f, 1.0f + 0x1p-23f, 65504.0f, 1e-6f, -2.5f,
    };
    static uint32_t out[6][N];
    static float ones[N];

    ref_init(argc, argv);
    for (int i = 0; i < N; i++) {
        double x = (double)in[i / 16], y = (double)in[i % 16];
        int a = x > 0, lt = x < y;
        out[0][i] = out[2][i] = compare(x, y);
        out[1][i] = compare(flush(x), flush(y));
        out[3][i] = compare(ref_from_f16(ref_f16((long double)x)),
                            ref_from_f16(ref_f16((long double)y)));
        out[4][i] = !lt ? UINT32_MAX : 0;
        out[5][i] = (uint32_t)(lt && a) | (uint32_t)(!lt && a) << 1;
        ones[i] = lt ? 1.0f : 0.0f;
    }
    REF_WRITE("in.bin", in);
    REF_WRITE("out.bin", out);
    REF_WRITE("ones.bin", ones);
    return 0;
}
