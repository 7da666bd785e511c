/* Reference of memory_order: the CTAs one after the other. */
#include "../common/ref.h"

int main(int argc, char **argv)
{
    static uint32_t flag[1] = {4}, message[64], total[3], seen[4][64];

    ref_init(argc, argv);
    for (uint32_t t = 0; t < 64; t++)
        message[t] = (uint32_t)ref_uniform_int(326, t, 0, UINT32_MAX);
    for (uint32_t b = 0; b < 4; b++)
        for (uint32_t t = 0; t < 64; t++) {
            uint32_t v = seen[b][t] = message[t];
            message[t] = v * 3 + b;
            total[0] += v & 0xff;
            total[1]++;
            total[2] = v > total[2] ? v : total[2];
        }
    REF_WRITE("flag.bin", flag);
    REF_WRITE("message.bin", message);
    REF_WRITE("total.bin", total);
    REF_WRITE("seen.bin", seen);
    return 0;
}
