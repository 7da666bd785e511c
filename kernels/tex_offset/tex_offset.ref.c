/* Reference of tex_offset. An offset moves the coordinate in texels before the address mode applies: PTX ISA,
 * "tex"; order of a gather's texels: CUDA C++ Programming Guide, "Texture Gather" (lower left first,
 * counterclockwise). Texels outside an image that is fetched with integers are 0. */
#include "../common/ref.h"
#include "../common/ref_texture.h"

enum { LANES = 32, RESULTS = 24, W = 16, H = 8 };

static double vox(long i)
{
    return (float)ref_uniform(1, (uint64_t)i, -1.0, 1.0);
}

/* Rows of `row` texels from `base`. */
static double plane(struct ref_axis x, struct ref_axis y, long row, long base)
{
    double low = ref_mix(vox(base + y.lo * row + x.lo), vox(base + y.lo * row + x.hi), x.a);
    double high = ref_mix(vox(base + y.hi * row + x.lo), vox(base + y.hi * row + x.hi), x.a);
    return ref_mix(low, high, y.a);
}

static float line(enum ref_address mode, double x, int dx, long n, long base)
{
    struct ref_axis a = ref_linear(mode, x * (double)n + dx, n);
    return (float)ref_mix(vox(base + a.lo), vox(base + a.hi), a.a);
}

static float image(double x, double y, int dx, int dy)
{
    return (float)plane(ref_linear(REF_WRAP, x * W + dx, W), ref_linear(REF_MIRROR, y * H + dy, H), W, 0);
}

static float volume(const double p[3], int dx, int dy, int dz)
{
    struct ref_axis x = ref_linear(REF_WRAP, p[0] * 8 + dx, 8), y = ref_linear(REF_MIRROR, p[1] * 4 + dy, 4);
    struct ref_axis z = ref_linear(REF_CLAMP, p[2] * 4 + dz, 4);
    return (float)ref_mix(plane(x, y, 8, z.lo * 32), plane(x, y, 8, z.hi * 32), z.a);
}

static float sheet(double x, double y, int layer, int dx, int dy)
{
    return (float)plane(ref_linear(REF_WRAP, x * 8 + dx, 8), ref_linear(REF_WRAP, y * 4 + dy, 4), 8, layer * 32);
}

static float fetch(long x, long y)
{
    return x < 0 || x >= W || y < 0 || y >= H ? 0 : (float)vox(y * W + x);
}

static void gather(float o[4], double x, double y, int dx, int dy)
{
    struct ref_axis ax = ref_linear(REF_WRAP, x * W + dx, W), ay = ref_linear(REF_MIRROR, y * H + dy, H);
    o[0] = (float)vox(ay.hi * W + ax.lo), o[1] = (float)vox(ay.hi * W + ax.hi);
    o[2] = (float)vox(ay.lo * W + ax.hi), o[3] = (float)vox(ay.lo * W + ax.lo);
}

static void lane(float *o, int i)
{
    double p[3];
    int d[3];
    for (int k = 0; k < 3; k++) {
        p[k] = (float)ref_uniform(2 + (uint64_t)k, (uint64_t)i, -1.0, 2.0);
        d[k] = (int)ref_uniform_int(5, (uint64_t)(3 * i + k), -8, 7);
    }
    int layer = i % 4, col = i % 16, row = i / 8;
    o[0] = line(REF_CLAMP, p[0], -3, 128, 0);
    o[1] = o[12] = line(REF_CLAMP, p[0], d[0], 128, 0);
    o[2] = image(p[0], p[1], 7, -8);
    o[3] = o[10] = o[11] = image(p[0], p[1], d[0], d[1]);
    o[4] = volume(p, -1, 2, 5);
    o[5] = volume(p, d[0], d[1], d[2]);
    o[6] = line(REF_MIRROR, p[0], 4, 32, layer * 32);
    o[7] = line(REF_MIRROR, p[0], d[0], 32, layer * 32);
    o[8] = sheet(p[0], p[1], layer, 1, -1);
    o[9] = sheet(p[0], p[1], layer, d[0], d[1]);
    o[13] = fetch(col + d[0], row + d[1]);
    o[14] = fetch(col - 2, row + 3);
    o[15] = volume(p, -8, 7, -8);
    gather(o + 16, p[0], p[1], -8, 7);
    gather(o + 20, p[0], p[1], d[0], d[1]);
}

int main(int argc, char **argv)
{
    static float out[LANES][RESULTS];

    ref_init(argc, argv);
    for (int i = 0; i < LANES; i++)
        lane(out[i], i);
    REF_WRITE("out.bin", out);
    return 0;
}
