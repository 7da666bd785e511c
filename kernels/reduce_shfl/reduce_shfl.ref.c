/* Reference of reduce_shfl: plain loops over each warp and CTA. */
#include "../common/ref.h"

enum { BLOCKS = 8, THREADS = 256, N = BLOCKS * THREADS };

int main(int argc, char **argv)
{
    static float block_sum[BLOCKS], block_max[BLOCKS];
    static int32_t total, ops[N / 32][6];

    ref_init(argc, argv);
    for (unsigned b = 0; b < BLOCKS; b++) {
        double sum = 0, max = -INFINITY;
        for (unsigned i = b * THREADS; i < (b + 1) * THREADS; i++) {
            double x = (double)(float)ref_uniform(8, i, -4.0, 4.0);
            sum += x;
            max = fmax(max, x);
        }
        block_sum[b] = (float)sum;
        block_max[b] = (float)max;
    }
    for (unsigned w = 0; w < N / 32; w++) {
        int32_t min = INT32_MAX, max = INT32_MIN;
        uint32_t umin = UINT32_MAX, and = UINT32_MAX, or = 0, xor = 0;
        for (unsigned i = 32 * w; i < 32 * w + 32; i++) {
            int32_t v = (int32_t)ref_uniform_int(9, i, -1000000, 1000000);
            uint32_t u = (uint32_t)v;
            total += v;
            min = v < min ? v : min;
            max = v > max ? v : max;
            umin = u < umin ? u : umin;
            and &= u | 0xff00u;
            or |= u & 0x55555555u;
            xor ^= u;
        }
        ops[w][0] = min;
        ops[w][1] = max;
        ops[w][2] = (int32_t)umin;
        ops[w][3] = (int32_t)and;
        ops[w][4] = (int32_t)or;
        ops[w][5] = (int32_t)xor;
    }
    REF_WRITE("block_sum.bin", block_sum);
    REF_WRITE("block_max.bin", block_max);
    ref_write("total.bin", &total, sizeof total);
    REF_WRITE("warp_ops.bin", ops);
    return 0;
}
