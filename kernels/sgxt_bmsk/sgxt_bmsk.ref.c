/* Reference of sgxt_bmsk after the PTX manual, bit by bit. */
#include "../common/ref.h"

enum { N = 128 };

static uint32_t extend(uint32_t v, uint32_t bits, int is_signed)
{
    uint32_t r = 0;

    for (uint32_t k = 0; k < 32; k++) {
        uint32_t from = k < bits ? k : bits - 1;
        r |= (k < bits || (is_signed && bits > 0) ? v >> from & 1 : 0) << k;
    }
    return r;
}

static uint32_t mask(uint32_t first, uint32_t width)
{
    uint32_t r = 0;

    for (uint32_t k = 0; k < 32; k++)
        r |= (uint32_t)(k >= first && k < first + width) << k;
    return r;
}

int main(int argc, char **argv)
{
    static uint32_t in[3][N], out[8][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        uint32_t v = in[0][i] = (uint32_t)ref_splitmix64(388, i);
        uint32_t s = in[1][i] = (uint32_t)ref_uniform_int(389, i, 0, 40);
        uint32_t w = in[2][i] = (uint32_t)ref_uniform_int(390, i, 0, 40);
        out[0][i] = extend(v, s > 32 ? 32 : s, 1);
        out[1][i] = extend(v, s > 32 ? 32 : s, 0);
        out[2][i] = extend(v, s % 32, 1);
        out[3][i] = extend(v, s % 32, 0);
        out[4][i] = mask(s > 32 ? 32 : s, w > 32 ? 32 : w);
        out[5][i] = mask(s % 32, w % 32);
        out[6][i] = extend(v, 19, 1);
        out[7][i] = extend(v, 8, 1) + extend(w, 16, 1);
    }
    REF_WRITE("in.bin", in);
    REF_WRITE("out.bin", out);
    return 0;
}
