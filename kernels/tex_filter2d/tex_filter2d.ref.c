/* Reference of tex_filter2d. */
#include "../common/ref.h"
#include "../common/ref_texture.h"

enum { W = 16, H = 8, N = 256, CHANNELS = 4 };

typedef double texel_fn(long x, long y, int channel);

static double border_value;

static double image(long x, long y, int channel)
{
    (void)channel;
    return x < 0 || y < 0 ? border_value : (float)ref_uniform(1, (uint64_t)(y * W + x), -1.0, 1.0);
}

static double bytes(long x, long y, int channel)
{
    return (double)ref_uniform_int(2, (uint64_t)((y * W + x) * CHANNELS + channel), 0, 255) / 255.0;
}

static double srgb(long x, long y, int channel)
{
    double c = bytes(x, y, channel);
    if (channel == 3)
        return c;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static float sample(texel_fn *t, struct ref_axis x, struct ref_axis y, int channel)
{
    double top = ref_mix(t(x.lo, y.lo, channel), t(x.hi, y.lo, channel), x.a);
    double bottom = ref_mix(t(x.lo, y.hi, channel), t(x.hi, y.hi, channel), x.a);
    return (float)ref_mix(top, bottom, y.a);
}

static float linear(texel_fn *t, enum ref_address mode, double x, double y, int channel)
{
    return sample(t, ref_linear(mode, x * W, W), ref_linear(mode, y * H, H), channel);
}

int main(int argc, char **argv)
{
    static float out[6][N], colour[2][N][CHANNELS];

    ref_init(argc, argv);
    for (int i = 0; i < N; i++) {
        double x = (float)ref_uniform(3, (uint64_t)i, -2.0, 2.5);
        double y = (float)ref_uniform(4, (uint64_t)i, -2.0, 2.5);
        out[0][i] = linear(image, REF_WRAP, x, y, 0);
        out[1][i] = linear(image, REF_CLAMP, x, y, 0);
        out[2][i] = linear(image, REF_MIRROR, x, y, 0);
        border_value = 0.25;
        out[3][i] = linear(image, REF_BORDER, x, y, 0);
        out[4][i] = linear(image, REF_CLAMP, x, y, 0);
        out[5][i] = sample(image, ref_nearest(REF_MIRROR, x * W, W), ref_nearest(REF_WRAP, y * H, H), 0);
        for (int c = 0; c < CHANNELS; c++) {
            colour[0][i][c] = linear(bytes, REF_WRAP, x, y, c);
            colour[1][i][c] = linear(srgb, REF_CLAMP, x, y, c);
        }
    }
    REF_WRITE("out.bin", out);
    REF_WRITE("colour.bin", colour);
    return 0;
}
