/* Reference of fft_radix2: the defining sum in double. */
#include "../common/ref.h"

enum { N = 256, BLOCKS = 2 };

int main(int argc, char **argv)
{
    static float out[BLOCKS][N][2];
    const double pi = acos(-1.0);

    ref_init(argc, argv);
    for (uint64_t b = 0; b < BLOCKS; b++)
        for (uint64_t k = 0; k < N; k++) {
            double re = 0, im = 0;
            for (uint64_t n = 0; n < N; n++) {
                double x = (double)(float)ref_uniform(220, 2 * (b * N + n), -1.0, 1.0);
                double y = (double)(float)ref_uniform(220, 2 * (b * N + n) + 1, -1.0, 1.0);
                double angle = -2 * pi * (double)(k * n % N) / N;
                re += x * cos(angle) - y * sin(angle);
                im += x * sin(angle) + y * cos(angle);
            }
            out[b][k][0] = (float)re;
            out[b][k][1] = (float)im;
        }
    REF_WRITE("out.bin", out);
    return 0;
}
