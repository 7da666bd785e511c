/* Reference of tmem_move: the lane and column of each thread's registers (PTX ISA, tcgen05.ld). */
#include "../common/ref.h"

enum { COLUMNS = 32, LANES = 128, SHAPES = 5, REGISTERS = 4, WARP = 32 };

static struct {
    uint32_t dump[2 * SHAPES][LANES][COLUMNS], loaded[2 * SHAPES][LANES][REGISTERS];
    uint32_t allocated; /* aligned to their sizes, and apart */
} out = {.allocated = 1};

static uint32_t value(unsigned shape, unsigned thread, unsigned r)
{
    return (shape + 1) * 0x01000193u ^ (thread * 4 + r) * 0x9e3779b1u;
}

/* A row of eight registers' worth of bits in a group of four threads, for the shapes of 16 lanes: 64, 128 or 256 bits
 * wide in each of two groups of eight lanes. */
static void place(unsigned shape, unsigned t, unsigned r, unsigned *lane, unsigned *column)
{
    switch (shape) {
    case 0: *lane = t, *column = r; break;
    case 1: *lane = t / 4 + (t % 2 ? 8 : 0), *column = 2 * r + t / 2 % 2; break;
    case 2: *lane = t / 4 + (r % 2 ? 8 : 0), *column = r / 2 * 4 + t % 4; break;
    case 3: *lane = t / 4 + (r & 2 ? 8 : 0), *column = t % 4 * 2 + r % 2; break;
    default: *lane = t % 16, *column = r; break;
    }
}

int main(int argc, char **argv)
{
    ref_init(argc, argv);
    for (unsigned s = 0; s < 2 * SHAPES; s++) {
        unsigned packed = s >= SHAPES, shape = s % SHAPES;
        for (unsigned l = 0; l < LANES; l++)
            for (unsigned c = 0; c < COLUMNS; c++)
                out.dump[s][l][c] = l << 16 | 0x8000 | c;
        for (unsigned thread = 0; thread < LANES; thread++)
            for (unsigned r = 0; r < REGISTERS; r++) {
                unsigned lane, column, v = value(s, thread, r);
                place(shape, thread % WARP, r, &lane, &column);
                lane += thread / WARP * WARP + (packed && shape ? 16 : 0);
                column = column * (1 + packed) + (shape == 4 && thread % WARP >= 16 ? 16 : 0);
                out.dump[s][lane][column] = packed ? v & 0xffff : v;
                if (packed) out.dump[s][lane][column + 1] = v >> 16;
                out.loaded[s][thread][r] = packed ? (0x8000 | column) | (0x8000 | (column + 1)) << 16
                                              : lane << 16 | 0x8000 | column;
            }
    }
    ref_write("out.bin", &out, sizeof out);
    return 0;
}
