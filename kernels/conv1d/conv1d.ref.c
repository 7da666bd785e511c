/* Reference of conv1d, in integers. */
#include "../common/ref.h"

enum { N = 1024, TAPS = 17 };

int main(int argc, char **argv)
{
    static float in[N + TAPS - 1], tap[TAPS], out[N];

    ref_init(argc, argv);
    for (unsigned k = 0; k < TAPS; k++)
        tap[k] = (float)ref_uniform_int(223, k, -50, 50);
    for (unsigned i = 0; i < N + TAPS - 1; i++)
        in[i] = (float)ref_uniform_int(224, i, -999, 999);
    for (unsigned i = 0; i < N; i++) {
        int64_t sum = 0;
        for (unsigned k = 0; k < TAPS; k++)
            sum += ref_uniform_int(223, k, -50, 50) * ref_uniform_int(224, i + k, -999, 999);
        out[i] = (float)sum;
    }
    REF_WRITE("in.bin", in);
    REF_WRITE("tap.bin", tap);
    REF_WRITE("out.bin", out);
    return 0;
}
