/* Reference of coop_groups: groups as loops over their members. */
#include "../common/ref.h"

enum { N = 128 };

int main(int argc, char **argv)
{
    static int32_t v[N], out[9][N], odd_count[1];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++)
        v[i] = (int32_t)ref_uniform_int(321, i, -99, 99);
    for (int i = 0; i < N; i++) {
        int warp = i / 32 * 32, rank = 0, odd = 0, first = 0;
        uint32_t match = 0, ballot = 0;
        /* a shuffle beyond the tile gives the thread its own value */
        out[0][i] = v[i ^ 3] + 10 * v[i % 4 == 3 ? i : i + 1];
        out[2][i] = INT32_MIN;
        for (int j = warp; j < warp + 32; j++) {
            if (j / 4 == i / 4) {
                out[1][i] += v[j];
                ballot |= (uint32_t)(v[j] > 0) << j % 4;
            }
            out[2][i] = v[j] > out[2][i] ? v[j] : out[2][i];
            out[3][i] += j / 8 == i / 8 && j < i ? v[j] : 0;
            match |= (uint32_t)(v[j] % 4 == v[i] % 4) << j % 32;
            if (v[j] % 2 != 0) {
                if (odd == 0) first = v[j];
                rank += j < i;
                odd++;
            }
            out[7][i] += (v[j] & 3) == (v[i] & 3) ? v[j] : 0;
        }
        out[4][i] = (int32_t)(match ^ ballot);
        if (v[i] % 2 != 0) {
            out[5][i] = odd * 100 + rank;
            out[6][i] = first;
            odd_count[0]++;
        }
    }
    for (int i = 0; i < N; i++)
        out[8][i] = out[1][i ^ 33];
    REF_WRITE("out.bin", out);
    REF_WRITE("odd_count.bin", odd_count);
    return 0;
}
