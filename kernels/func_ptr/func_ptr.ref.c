/* Reference of func_ptr; gcd by Stein's method instead of Euclid's. */
#include "../common/ref.h"

enum { BLOCKS = 4, THREADS = 32, ROUNDS = 5 };

static int32_t gcd(int32_t a, int32_t b)
{
    if (a == 0 || b == 0)
        return a + b;
    if (a % 2 == 0 && b % 2 == 0)
        return 2 * gcd(a / 2, b / 2);
    if (a % 2 == 0)
        return gcd(a / 2, b);
    if (b % 2 == 0)
        return gcd(a, b / 2);
    return a > b ? gcd(a - b, b) : gcd(b - a, a);
}

static int32_t apply(unsigned op, int32_t a, int32_t b)
{
    switch (op) {
    case 0:
        return a + b;
    case 1:
        return a - b;
    case 2:
        return a * b;
    default:
        return gcd(a, b);
    }
}

int main(int argc, char **argv)
{
    static int32_t out[BLOCKS * THREADS];

    ref_init(argc, argv);
    for (unsigned i = 0; i < BLOCKS * THREADS; i++) {
        int32_t a = (int32_t)ref_uniform_int(96, i, 1, 1000);
        int32_t b = (int32_t)ref_uniform_int(97, i, 1, 1000);
        int32_t v = apply(i / THREADS % 4, a, b);
        for (unsigned k = 0; k < ROUNDS; k++)
            v = apply((i + k) % 4, v & 0x3ff, b);
        out[i] = v;
    }
    REF_WRITE("out.bin", out);
    return 0;
}
