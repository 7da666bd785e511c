/* Reference of special_regs: every answer is 1. */
#include "../common/ref.h"

int main(int argc, char **argv)
{
    static uint32_t out[9 * 96 * 16];

    ref_init(argc, argv);
    for (unsigned i = 0; i < sizeof out / sizeof out[0]; i++) out[i] = 1;
    REF_WRITE("out.bin", out);
    return 0;
}
