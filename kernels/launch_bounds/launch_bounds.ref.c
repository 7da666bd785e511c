/* Reference of launch_bounds, in unsigned arithmetic, which wraps by definition. */
#include "../common/ref.h"

enum { N = 80, T = 128 };

int main(int argc, char **argv)
{
    static uint32_t out[T];

    ref_init(argc, argv);
    for (unsigned t = 0; t < T; t++) {
        uint32_t v[N];
        for (unsigned k = 0; k < N; k++)
            v[k] = (uint32_t)ref_uniform_int(330, (k * T + t * 5) % (N * T), INT32_MIN, INT32_MAX);
        for (unsigned r = 1; r < 4; r++)
            for (unsigned k = 0; k < N; k++)
                v[k] = v[k] * v[(k * 5 + r) % N] + r;
        for (unsigned k = N; k-- > 0;)
            out[t] = out[t] * 7 + v[k];
    }
    REF_WRITE("out.bin", out);
    return 0;
}
