/* Reference of bulk_fill: zeros where fills lie, and bytes whose bit of the mask is set are copied. */
#include <string.h>

#include "../common/ref.h"

enum { CTAS = 12, WORDS = 1024, BYTES = WORDS * 4, FILLS = 4, CHUNK = 16 };

static uint32_t fills[CTAS][FILLS][2], masks[CTAS][2], before[CTAS][WORDS], y[CTAS][WORDS];

int main(int argc, char **argv)
{
    ref_init(argc, argv);
    for (int c = 0; c < CTAS; c++) {
        for (int k = 0; k < FILLS; k++) { /* each in a quarter of its own; of the first CTA none, of the second all of it */
            const int start = k * BYTES / FILLS, units = BYTES / FILLS / 8;
            const int from = c < 2 ? 0 : (int)ref_uniform_int(21, (uint64_t)(c * FILLS + k), 0, units - 1);
            const int most = units - from;
            fills[c][k][0] = (uint32_t)(start + 8 * from);
            fills[c][k][1] = c == 0 ? 0 : c == 1 ? 8 * (uint32_t)units : 8 * (uint32_t)ref_uniform_int(22, (uint64_t)(c * FILLS + k), 0, most);
        }
        for (int h = 0; h < 2; h++) masks[c][h] = (uint32_t)ref_uniform_int(23, (uint64_t)(2 * c + h), 0, 0xffff);
    }
    masks[0][0] = 0xffff, masks[0][1] = 0, masks[2][0] = 0x8001, masks[2][1] = 0x7ffe;
    for (int c = 0; c < CTAS; c++) {
        unsigned char shared[BYTES], *to = (unsigned char *)y[c];
        for (int i = 0; i < BYTES; i++) shared[i] = (unsigned char)(i / 4 % 255 + 1);
        for (int k = 0; k < FILLS; k++) memset(shared + fills[c][k][0], 0, fills[c][k][1]);
        for (int i = 0; i < WORDS; i++) y[c][i] = before[c][i] = 0xa5000000u + (uint32_t)(c * WORDS + i);
        for (int i = 0; i < BYTES; i++)
            if (masks[c][i / (BYTES / 2)] >> i % CHUNK & 1) to[i] = shared[i];
    }
    REF_WRITE("fills.bin", fills);
    REF_WRITE("masks.bin", masks);
    REF_WRITE("before.bin", before);
    REF_WRITE("y.bin", y);
    return 0;
}
