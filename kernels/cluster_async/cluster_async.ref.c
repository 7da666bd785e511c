/* Reference of cluster_async: rows go round the ring, sums and maxima are of what the CTA in front had. */
#include "../common/ref.h"

enum { CTAS = 8, RING = 4, THREADS = 64, ROUNDS = 3 };

static uint32_t x[CTAS][THREADS], marks[CTAS][6];
static uint64_t v[CTAS][THREADS];

static int other(int c, int step)
{
    return c / RING * RING + (c + step + RING) % RING;
}

static void go_round(uint32_t k)
{
    uint64_t old[CTAS][THREADS];
    memcpy(old, v, sizeof old);
    for (int c = 0; c < CTAS; c++) {
        int from = other(c, -1), front = other(c, 1);
        for (int t = 0; t < THREADS; t++) {
            uint32_t seen = (uint32_t)old[front][t];
            marks[c][4] += seen;
            if (seen > marks[c][5]) marks[c][5] = seen;
            v[c][t] = (old[from][t] + k) * 3 + k;
        }
        marks[c][0] = (uint32_t)(from % RING);
        marks[c][1] = k;
        marks[c][2] = (uint32_t)old[from][5];
        marks[c][3] = RING;
    }
}

int main(int argc, char **argv)
{
    ref_init(argc, argv);
    for (int i = 0; i < CTAS * THREADS; i++) {
        x[i / THREADS][i % THREADS] = (uint32_t)ref_splitmix64(9, (uint64_t)i);
        v[i / THREADS][i % THREADS] = x[i / THREADS][i % THREADS];
    }
    for (uint32_t k = 0; k < ROUNDS; k++) go_round(k);
    REF_WRITE("x.bin", x);
    REF_WRITE("out.bin", v);
    REF_WRITE("marks.bin", marks);
    return 0;
}
