/* Reference of heat2d in integers: after step s cells count units of 4^-s. */
#include "../common/ref.h"

enum { W = 32, BLOCKS = 2, STEPS = 5 };

int main(int argc, char **argv)
{
    static int64_t now[BLOCKS][W][W], next[BLOCKS][W][W];
    static float plate[BLOCKS][W][W];

    ref_init(argc, argv);
    for (unsigned i = 0; i < BLOCKS * W * W; i++) {
        int64_t v = ref_uniform_int(204, i, 0, 1000);
        now[i / W / W][i / W % W][i % W] = v;
        plate[i / W / W][i / W % W][i % W] = (float)v;
    }
    REF_WRITE("plate_in.bin", plate);
    for (int s = 0; s < STEPS; s++) {
        for (int b = 0; b < BLOCKS; b++)
            for (int y = 0; y < W; y++)
                for (int x = 0; x < W; x++)
                    next[b][y][x] = x == 0 || x == W - 1 || y == 0 || y == W - 1
                                        ? 4 * now[b][y][x]
                                        : now[b][y - 1][x] + now[b][y + 1][x] +
                                              now[b][y][x - 1] + now[b][y][x + 1];
        memcpy(now, next, sizeof now);
    }
    for (int b = 0; b < BLOCKS; b++)
        for (int y = 0; y < W; y++)
            for (int x = 0; x < W; x++)
                plate[b][y][x] = (float)((double)now[b][y][x] / 1024.0); /* 4^STEPS */
    REF_WRITE("plate.bin", plate);
    return 0;
}
