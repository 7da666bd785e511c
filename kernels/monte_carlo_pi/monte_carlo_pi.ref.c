/* Reference of monte_carlo_pi: the distance in floating point, exact for 16-bit coordinates. */
#include "../common/ref.h"

int main(int argc, char **argv)
{
    uint32_t inside[1] = {0};

    ref_init(argc, argv);
    for (uint64_t i = 0; i < 256; i++) {
        uint64_t x = i * 2862933555777941757u + 1;
        for (int r = 0; r < 20; r++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            double u = (double)(x >> 48) / 65536, v = (double)(x >> 32 & 0xffff) / 65536;
            inside[0] += u * u + v * v < 1;
        }
    }
    if (fabs(4.0 * inside[0] / 5120 - acos(-1.0)) > 0.1)
        return 1; /* four standard deviations */
    REF_WRITE("inside.bin", inside);
    return 0;
}
