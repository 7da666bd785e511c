/* Reference of tex_level_fetch: a texel outside the image is zero (PTX ISA, "tex" with integer coordinates and
 * clamp_to_border); an offset is added to the coordinates. */
#include "../common/ref.h"

enum { LANES = 64, RESULTS = 8, CHANNELS = 4 };

struct size {
    int x, y, z;
};

static void fetch(float to[CHANNELS], struct size n, int x, int y, int z)
{
    int inside = x >= 0 && x < n.x && y >= 0 && y < n.y && z >= 0 && z < n.z;
    for (int c = 0; c < CHANNELS; c++)
        to[c] = inside ? (float)ref_uniform(1, (uint64_t)(((z * n.y + y) * n.x + x) * CHANNELS + c), -1.0, 1.0) : 0;
}

int main(int argc, char **argv)
{
    static const struct size line = {64, 1, 1}, image = {8, 8, 1}, volume = {4, 4, 4}, lines = {16, 1, 4};
    static int32_t at[LANES][4];
    static float out[LANES][RESULTS][CHANNELS];

    ref_init(argc, argv);
    for (int i = 0; i < LANES; i++) {
        int32_t *p = at[i];
        for (int k = 0; k < 3; k++)
            p[k] = (int32_t)ref_uniform_int(2 + (uint64_t)k, (uint64_t)i, -1, 4 + 5 * (i % 2));
        p[2] = p[2] > 7 ? 7 : p[2];
        p[3] = (int32_t)ref_uniform_int(5, (uint64_t)i, 0, 3);
        fetch(out[i][0], line, p[0], 0, 0);
        fetch(out[i][1], image, p[0], p[1], 0);
        fetch(out[i][2], volume, p[0], p[1], p[2]);
        fetch(out[i][3], lines, p[0], 0, p[3]);
        fetch(out[i][4], volume, p[0], p[1], p[3]);
        fetch(out[i][5], volume, p[0] + 1, p[1] - 2, p[3]);
        fetch(out[i][6], image, p[0] + p[2], p[1] + p[2], 0);
        fetch(out[i][7], volume, p[0], p[1], p[3]);
    }
    REF_WRITE("at.bin", at);
    REF_WRITE("out.bin", out);
    return 0;
}
