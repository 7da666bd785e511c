/* Reference of lea_shift: multiplications and floor divisions in 128 bits. */
#include "../common/ref.h"

enum { N = 128, ROWS = 16 };

typedef __int128 wide;

static wide floor_div(wide a, wide b)
{
    wide q = a / b;
    return q * b > a ? q - 1 : q;
}

static wide power(unsigned n)
{
    wide r = 1;

    while (n-- > 0)
        r *= 2;
    return r;
}

int main(int argc, char **argv)
{
    static int32_t in[2 * N];
    static uint64_t out[ROWS][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < 2 * N; i++)
        in[i] = (int32_t)(uint32_t)ref_splitmix64(383, i);
    in[0] = INT32_MIN;
    in[1] = INT32_MAX;
    in[2] = -1;
    for (int i = 0; i < N; i++) {
        wide a = in[i], b = (uint32_t)in[i + N], ua = (uint32_t)in[i];
        /* an or of fields that overlap nowhere is a sum: b >> 12 fills 20 bits */
        wide l = a * power(20) + b / 4096, ul = (uint64_t)l;
        unsigned s = (unsigned)(b % 64);
        const wide r[ROWS] = {
            a, a * 12 + 8, a * 8 + l, l + a * 32,
            (wide)((uint64_t)(a / 8) ^ (uint64_t)(a % 16 * power(32))),
            l / 4096, l % 1024, a + b / power(27), (wide)(uint32_t)(b * 8 + a),
            (wide)(uint32_t)(ua / power(29) + b), ul * power(s), ul / power(s),
            floor_div(l, power(35)), (wide)(int32_t)(a * 9) + (wide)(uint32_t)(b * 17),
            (b * 4 + ua) / 2,
            (wide)((uint64_t)(a / 7) ^ (uint64_t)(b / 1000 * power(32))),
        };
        for (int k = 0; k < ROWS; k++)
            out[k][i] = (uint64_t)r[k];
    }
    REF_WRITE("in.bin", in);
    REF_WRITE("out.bin", out);
    return 0;
}
