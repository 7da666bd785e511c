/* Reference of nbody in double. */
#include "../common/ref.h"

enum { N = 128 };

int main(int argc, char **argv)
{
    static float body[N][4], acc[N][4];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++)
        for (uint64_t k = 0; k < 4; k++)
            body[i][k] = (float)ref_uniform_int(300, 4 * i + k, 0, 1024) / 1024.0f;
    for (int i = 0; i < N; i++) {
        double a[3] = {0};
        for (int j = 0; j < N; j++) {
            double d[3], r2 = 0.0625;
            for (int k = 0; k < 3; k++) {
                d[k] = (double)body[j][k] - (double)body[i][k];
                r2 += d[k] * d[k];
            }
            for (int k = 0; k < 3; k++)
                a[k] += (double)body[j][3] * d[k] / (r2 * sqrt(r2));
        }
        for (int k = 0; k < 3; k++)
            acc[i][k] = (float)a[k];
    }
    REF_WRITE("body.bin", body);
    REF_WRITE("acc.bin", acc);
    return 0;
}
