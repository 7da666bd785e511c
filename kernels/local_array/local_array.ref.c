/* Reference of local_array. */
#include "../common/ref.h"

enum { THREADS = 128, SWAPS = 24 };

int main(int argc, char **argv)
{
    static uint32_t out[THREADS];

    ref_init(argc, argv);
    for (uint32_t i = 0; i < THREADS; i++) {
        uint32_t x = (uint32_t)ref_uniform_int(98, i, 0, 2000000000), where[16];
        uint8_t bytes[32];

        /* follow where each number goes, instead of what each slot holds */
        for (uint32_t k = 0; k < 16; k++)
            where[k] = k;
        for (uint32_t s = 0; s < SWAPS; s++) {
            uint32_t p = x % 16, q = x / 16 % 16;
            for (uint32_t k = 0; k < 16; k++)
                where[k] = where[k] == p ? q : where[k] == q ? p : where[k];
            x = x * 1664525u + 1013904223u;
            x ^= x >> 16;
        }
        for (uint32_t number = 0; number < 16; number++)
            for (uint32_t k = where[number]; k < 32; k += 16)
                bytes[(7 * k + i) % 32] = (uint8_t)(number * 13 + k);
        for (uint32_t k = 0; k < 32; k++)
            out[i] = out[i] * 31 + bytes[k];
    }
    REF_WRITE("out.bin", out);
    return 0;
}
