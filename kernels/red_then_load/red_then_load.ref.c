/* Reference of red_then_load: the words are private, so each evolves alone. */
#include "../common/ref.h"

enum { N = 512, ROUNDS = 8 };

int main(int argc, char **argv)
{
    static uint32_t words[N], seen[N];

    ref_init(argc, argv);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t w = 7 + 3 * i, state[3 * ROUNDS], n = 0;
        for (uint32_t k = 0; k < ROUNDS; k++) {
            state[n++] = w = w + i + k;
            state[n++] = w = w ^ (1u << (8 + k % 8));
            w = w + 1;
            state[n++] = w = w > 500 ? w : 500;
        }
        words[i] = w;
        for (uint32_t k = 0; k < n; k++)
            seen[i] = seen[i] * 31 + state[k];
    }
    REF_WRITE("words.bin", words);
    REF_WRITE("seen.bin", seen);
    return 0;
}
