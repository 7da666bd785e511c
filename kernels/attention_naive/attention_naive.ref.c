/* Reference of attention_naive in double. */
#include "../common/ref.h"

enum { SEQ = 32, DIM = 16 };

int main(int argc, char **argv)
{
    static float q[SEQ][DIM], k[SEQ][DIM], out[SEQ][DIM];

    ref_init(argc, argv);
    for (unsigned i = 0; i < SEQ; i++)
        for (unsigned d = 0; d < DIM; d++) {
            q[i][d] = (float)ref_uniform_int(230, i * DIM + d, -8, 8) / 4.0f;
            k[i][d] = (float)ref_uniform_int(231, i * DIM + d, -8, 8) / 4.0f;
        }
    for (unsigned i = 0; i < SEQ; i++) {
        double sum = 0, o[DIM] = {0};
        for (unsigned j = 0; j <= i; j++) {
            double s = 0;
            for (unsigned d = 0; d < DIM; d++)
                s += (double)q[i][d] * (double)k[j][d];
            double w = exp(s / 4);
            sum += w;
            for (unsigned d = 0; d < DIM; d++)
                o[d] += w * (double)(float)ref_uniform(232, j * DIM + d, -1.0, 1.0);
        }
        for (unsigned d = 0; d < DIM; d++)
            out[i][d] = (float)(o[d] / sum);
    }
    REF_WRITE("q.bin", q);
    REF_WRITE("k.bin", k);
    REF_WRITE("out.bin", out);
    return 0;
}
