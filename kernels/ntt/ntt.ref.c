/* Reference of ntt: the defining sum with 64-bit remainders. */
#include "../common/ref.h"

enum { N = 128, P = 998244353 };

static uint64_t power(uint64_t base, uint64_t e)
{
    uint64_t r = 1;

    for (; e; e >>= 1, base = base * base % P)
        if (e & 1)
            r = r * base % P;
    return r;
}

int main(int argc, char **argv)
{
    static uint32_t root[N / 2], out[N];
    uint64_t w = power(3, (P - 1) / N); /* 3 generates the multiplicative group */

    ref_init(argc, argv);
    for (uint64_t k = 0; k < N; k++) {
        uint64_t sum = 0;
        for (uint64_t n = 0; n < N; n++)
            sum += (uint64_t)ref_uniform_int(222, n, 0, P - 1) * power(w, k * n % N) % P;
        out[k] = (uint32_t)(sum % P);
        if (k < N / 2)
            root[k] = (uint32_t)((power(w, k) << 32) % P);
    }
    REF_WRITE("root.bin", root);
    REF_WRITE("out.bin", out);
    return 0;
}
