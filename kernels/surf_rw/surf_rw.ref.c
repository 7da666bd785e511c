/* Reference of surf_rw. Boundary modes (PTX ISA, suld): zero reads nothing and drops writes, clamp takes
 * the nearest place where the access fits. */
#include <stdbool.h>

#include "../common/ref.h"

enum { LANES = 32 };

struct surface {
    uint8_t byte[512];
    int row, rows, slices; /* bytes, rows per slice, slices */
};

static void fill(struct surface *s, uint64_t seed, int row, int rows, int slices)
{
    s->row = row, s->rows = rows, s->slices = slices;
    for (int i = 0; i < row * rows * slices; i++)
        s->byte[i] = (uint8_t)ref_uniform_int(seed, (uint64_t)i, 0, 255);
}

static int limit(int v, int last)
{
    return v < 0 ? 0 : v > last ? last : v;
}

/* Place of an access, or NULL outside. */
static uint8_t *at(struct surface *s, int x, int y, int z, int bytes, bool clamp)
{
    bool inside = x >= 0 && x + bytes <= s->row && y >= 0 && y < s->rows && z >= 0 && z < s->slices;
    if (!inside && !clamp)
        return NULL;
    x = limit(x, s->row - bytes), y = limit(y, s->rows - 1), z = limit(z, s->slices - 1);
    return &s->byte[(z * s->rows + y) * s->row + x];
}

static void load(struct surface *s, int x, int y, int z, int bytes, bool clamp, void *to)
{
    const uint8_t *p = at(s, x, y, z, bytes, clamp);
    memset(to, 0, (size_t)bytes);
    if (p)
        memcpy(to, p, (size_t)bytes);
}

static void store(struct surface *s, int x, int y, int z, int bytes, bool clamp, const void *from)
{
    uint8_t *p = at(s, x, y, z, bytes, clamp);
    if (p)
        memcpy(p, from, (size_t)bytes);
}

static int word(struct surface *s, int x, int y, int z, bool clamp)
{
    int32_t v;
    load(s, x, y, z, 4, clamp, &v);
    return v;
}

static void reads(int32_t *o, int i, struct surface *line, struct surface *flat,
                  struct surface *cube, struct surface *layered)
{
    int x = i - 8;
    uint8_t u8;
    int8_t s8;
    int16_t s16;
    int32_t v[4];
    load(line, x * 3, 0, 0, 1, false, &u8), o[0] = u8;
    load(line, x * 3, 0, 0, 1, true, &s8), o[1] = s8;
    load(line, x * 4, 0, 0, 2, false, &s16), o[2] = s16;
    o[3] = word(line, x * 4, 0, 0, true);
    load(line, x * 8, 0, 0, 8, false, v), o[4] = v[0] ^ v[1];
    load(line, x * 16, 0, 0, 16, true, v), o[5] = v[0] ^ v[1] ^ v[2] ^ v[3];
    o[6] = word(line, (i & 15) * 4, 0, 0, false);
    o[7] = word(flat, x * 4, i / 4 - 2, 0, false);
    o[8] = word(flat, x * 4, i / 4 - 2, 0, true);
    o[9] = word(cube, (i & 3) * 4, i >> 2 & 3, i / 8 - 1, true);
    o[10] = word(layered, (i & 7) * 4, i >> 3, 1, false);
}

static void writes(int i, struct surface *flat, struct surface *cube, struct surface *layered)
{
    int32_t v = i + 1000, four[4] = {i, i + 1, i + 2, i + 3}, two[2] = {i, -i}, square = i * i;
    int16_t half = (int16_t)(i + 2000);
    uint8_t byte = (uint8_t)(i + 30);
    store(flat, (i - 8) * 4, 5, 0, 4, false, &v);
    store(flat, i * 2, 6, 0, 2, false, &half);
    store(flat, i, 7, 0, 1, true, &byte);
    if (i < 4)
        store(flat, i * 16, 4, 0, 16, false, four);
    if (i < 8)
        store(cube, (i & 1) * 8, i >> 1, 3, 8, false, two);
    store(layered, (i & 7) * 4, i >> 3, 2, 4, false, &square);
}

int main(int argc, char **argv)
{
    static struct surface line, flat, cube, layered;
    static int32_t out[LANES][16], counts[16];

    ref_init(argc, argv);
    fill(&line, 1, 64, 1, 1);
    fill(&flat, 2, 64, 8, 1);
    fill(&cube, 3, 16, 4, 4);
    fill(&layered, 4, 32, 4, 3);
    for (int i = 0; i < 16; i++)
        counts[i] = -50;
    for (int i = 0; i < LANES; i++)
        reads(out[i], i, &line, &flat, &cube, &layered);
    for (int i = 0; i < LANES; i++) {
        writes(i, &flat, &cube, &layered);
        counts[i & 7] += i;
        if (counts[8 + (i & 3)] < i - 40)
            counts[8 + (i & 3)] = i - 40;
        counts[12] = (int32_t)((uint32_t)counts[12] | 1u << i);
    }
    REF_WRITE("out.bin", out);
    ref_write("flat.bin", flat.byte, 512);
    ref_write("cube.bin", cube.byte, 256);
    ref_write("layered.bin", layered.byte, 384);
    REF_WRITE("counts.bin", counts);
    return 0;
}
