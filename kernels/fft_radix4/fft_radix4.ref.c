/* Reference of fft_radix4: the defining sum in long double. */
#include "../common/ref.h"

enum { N = 256 };

int main(int argc, char **argv)
{
    static double out[N][2], twiddle[N][2];
    const long double pi = acosl(-1.0L);

    ref_init(argc, argv);
    for (uint64_t k = 0; k < N; k++) {
        long double re = 0, im = 0;
        for (uint64_t n = 0; n < N; n++) {
            long double x = (long double)ref_uniform(221, 2 * n, -1.0, 1.0);
            long double y = (long double)ref_uniform(221, 2 * n + 1, -1.0, 1.0);
            long double angle = -2 * pi * (long double)(k * n % N) / N;
            re += x * cosl(angle) - y * sinl(angle);
            im += x * sinl(angle) + y * cosl(angle);
        }
        out[k][0] = (double)re;
        out[k][1] = (double)im;
        twiddle[k][0] = (double)cosl(-2 * pi * (long double)k / N);
        twiddle[k][1] = (double)sinl(-2 * pi * (long double)k / N);
    }
    REF_WRITE("out.bin", out);
    REF_WRITE("twiddle.bin", twiddle);
    return 0;
}
