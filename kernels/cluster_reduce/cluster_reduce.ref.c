/* Reference of cluster_reduce: sums, counts of negative numbers, largest numbers of segments; places of CTAs from the
 * definitions of the special registers. */
#include "../common/ref.h"

enum { GX = 6, GY = 4, CX = 3, CY = 2, SEGMENTS = GX / CX * GY / CY, LENGTH = 6 * 512 };

static int32_t x[SEGMENTS * LENGTH], counts[SEGMENTS], largest[SEGMENTS];
static int64_t sums[SEGMENTS];
static uint32_t places[GY][GX][16];

int main(int argc, char **argv)
{
    ref_init(argc, argv);
    for (int s = 0; s < SEGMENTS; s++) {
        largest[s] = INT32_MIN;
        for (int i = 0; i < LENGTH; i++) {
            int32_t v = (int32_t)ref_splitmix64(7, (uint64_t)(s * LENGTH + i)); /* of all sizes */
            x[s * LENGTH + i] = v;
            sums[s] += v;
            counts[s] += v < 0;
            if (v > largest[s]) largest[s] = v;
        }
    }
    for (uint32_t j = 0; j < GY; j++)
        for (uint32_t i = 0; i < GX; i++) {
            uint32_t rank = i % CX + CX * (j % CY);
            const uint32_t p[16] = {i / CX, j / CY, 0, GX / CX, GY / CY, 1, i % CX, j % CY, 0, CX, CY, 1,
                                    rank, CX * CY, 1, (rank + 1) % (CX * CY)};
            memcpy(places[j][i], p, sizeof p);
        }
    REF_WRITE("x.bin", x);
    REF_WRITE("sums.bin", sums);
    REF_WRITE("counts.bin", counts);
    REF_WRITE("largest.bin", largest);
    REF_WRITE("places.bin", places);
    return 0;
}
