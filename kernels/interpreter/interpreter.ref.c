/* Reference of interpreter: the same little machine, one thread at a time. */
#include "../common/ref.h"

enum { THREADS = 64, STEPS = 20 };

static uint32_t reverse(uint32_t v)
{
    uint32_t r = 0;
    for (int i = 0; i < 32; i++, v >>= 1)
        r = r << 1 | (v & 1);
    return r;
}

static uint32_t popcount(uint32_t v)
{
    uint32_t n = 0;
    for (; v; v >>= 1)
        n += v & 1;
    return n;
}

int main(int argc, char **argv)
{
    static uint32_t out[3][THREADS];

    ref_init(argc, argv);
    for (uint32_t t = 0; t < THREADS; t++) {
        uint32_t a = t, b = 1, m = 5 * t;
        for (uint32_t k = 0; k < STEPS; k++) {
            int64_t op = ref_uniform_int(71, (t + k) % 64, 0, 15);
            if (op == 0)
                a = a + b;
            else if (op == 1)
                a = a ^ b * 8;
            else if (op == 2)
                b = 7 * a + 1;
            else if (op == 3)
                m = a;
            else if (op == 4)
                a = m + b;
            else if (op == 5)
                b = popcount(a) + k;
            else if (op == 6)
                a = a / (b | 1);
            else if (op == 7)
                for (uint32_t j = b % 8; j > 0; j--)
                    a = 3 * a + j;
            else if (op == 8)
                a = reverse(a) ^ k;
            else if (op == 9)
                b = b - m / 4;
            else if (op == 10)
                m = m ^ (a + b);
            else if (op == 11)
                a = a >> b % 16;
            else if (op == 12)
                b = a > b ? a : b;
            else if (op == 13)
                a = (uint32_t)((uint64_t)a * b >> 32) + 13;
            else if (op == 14)
                b = ~b;
            else {
                a = a % (k + 3);
                b = b + 1;
            }
        }
        out[0][t] = a;
        out[1][t] = b;
        out[2][t] = m;
    }
    REF_WRITE("out.bin", out);
    return 0;
}
