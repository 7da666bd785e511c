/* Reference of tex_shapes. Cube faces: CUDA C++ Programming Guide, "Cubemap Textures"; order of a gather's
 * texels: the same, "Texture Gather" (lower left first, counterclockwise). */
#include "../common/ref.h"
#include "../common/ref_texture.h"

enum { LANES = 32, N = 24 };

static double vox(long i)
{
    return (float)ref_uniform(1, (uint64_t)i, -1.0, 1.0);
}

static uint8_t ints(long i)
{
    return (uint8_t)ref_uniform_int(3, (uint64_t)i, 0, 255);
}

/* Rows of `row` texels; z slices of `slice`. */
static double plane(struct ref_axis x, struct ref_axis y, long row, long base)
{
    double low = ref_mix(vox(base + y.lo * row + x.lo), vox(base + y.lo * row + x.hi), x.a);
    double high = ref_mix(vox(base + y.hi * row + x.lo), vox(base + y.hi * row + x.hi), x.a);
    return ref_mix(low, high, y.a);
}

static float volume(double x, double y, double z)
{
    struct ref_axis ax = ref_linear(REF_WRAP, x * 8, 8), ay = ref_linear(REF_MIRROR, y * 4, 4);
    struct ref_axis az = ref_linear(REF_CLAMP, z * 4, 4);
    return (float)ref_mix(plane(ax, ay, 8, az.lo * 32), plane(ax, ay, 8, az.hi * 32), az.a);
}

static float line(double x, int layer)
{
    struct ref_axis a = ref_linear(REF_MIRROR, x * 32, 32);
    long base = (layer > 3 ? 3 : layer) * 32;
    return (float)ref_mix(vox(base + a.lo), vox(base + a.hi), a.a);
}

static float sheet(double x, double y, int layer)
{
    return (float)plane(ref_linear(REF_WRAP, x * 8, 8), ref_linear(REF_WRAP, y * 4, 4), 8,
                        (layer > 3 ? 3 : layer) * 32);
}

static float cube(float x, float y, float z)
{
    /* face, s and t by major axis */
    float v[3] = {x, y, z}, a[3] = {fabsf(x), fabsf(y), fabsf(z)};
    int major = a[0] >= a[1] && a[0] >= a[2] ? 0 : a[1] >= a[2] ? 1 : 2;
    bool minus = v[major] < 0;
    float s[3] = {minus ? z : -z, x, minus ? -x : x}, t[3] = {-y, minus ? -z : z, -y};
    long i = ref_texel(REF_CLAMP, floor((s[major] / a[major] + 1) / 2 * 4.0), 4);
    long k = ref_texel(REF_CLAMP, floor((t[major] / a[major] + 1) / 2 * 4.0), 4);
    return (float)vox((2 * major + minus) * 16 + k * 4 + i);
}

static void image(float *o, double x, double y)
{
    struct ref_axis ax = ref_linear(REF_CLAMP, x * 12, 12), ay = ref_linear(REF_CLAMP, y * 8, 8);
    o[4] = (float)vox(ay.hi * 16 + ax.lo), o[5] = (float)vox(ay.hi * 16 + ax.hi);
    o[6] = (float)vox(ay.lo * 16 + ax.hi), o[7] = (float)vox(ay.lo * 16 + ax.lo);
    ax = ref_nearest(REF_CLAMP, x * 12, 12), ay = ref_nearest(REF_CLAMP, y * 8, 8);
    o[8] = o[9] = (float)vox(ay.lo * 16 + ax.lo);
}

static void fetches(float *o, int32_t *n, int i)
{
    int at = i - 4, back = 27 - i;
    bool in = at >= 0 && at < N, back_in = back >= 0 && back < N;
    for (int k = 0; k < 2; k++)
        o[12 + k] = in ? (float)ref_from_f16(ref_f16(ref_uniform(2, (uint64_t)(2 * at + k), -1.0, 1.0))) : 0;
    double s8 = (int8_t)ints(i) / 127.0, u16 = (ints(2 * i) + 256 * ints(2 * i + 1)) / 65535.0;
    o[14] = i >= N ? 0 : i & 1 ? (float)(s8 < -1 ? -1 : s8) : (float)u16;
    n[0] = in ? (int16_t)(ints(2 * at) + 256 * ints(2 * at + 1)) : 0;
    n[1] = in ? ints(4 * at) + 3 * ints(4 * at + 1) + 5 * ints(4 * at + 2) + 7 * ints(4 * at + 3) : 0;
    n[2] = back_in ? (int16_t)(ints(2 * back) + 256 * ints(2 * back + 1)) : 0;
}

int main(int argc, char **argv)
{
    static float out[LANES][16];
    static int32_t iout[LANES][4];

    ref_init(argc, argv);
    for (int i = 0; i < LANES; i++) {
        float x = (float)ref_uniform(4, (uint64_t)i, -1.0, 2.0), y = (float)ref_uniform(5, (uint64_t)i, -1.0, 2.0);
        float z = (float)ref_uniform(6, (uint64_t)i, -1.0, 2.0), *o = out[i];
        int layer = i % 5;
        o[0] = o[11] = volume(x, y, z);
        o[1] = line(x, layer);
        o[15] = line(y, layer);
        o[2] = o[10] = sheet(x, y, layer);
        o[3] = cube(x - 0.5f, y - 0.5f, z - 0.5f);
        image(o, x, y);
        fetches(o, iout[i], i);
        iout[i][3] = layer;
    }
    REF_WRITE("out.bin", out);
    REF_WRITE("iout.bin", iout);
    return 0;
}
