/* Reference of nanosleep_clock: all five conditions hold in all threads. */
#include "../common/ref.h"

int main(int argc, char **argv)
{
    static uint32_t flags[128];

    ref_init(argc, argv);
    for (unsigned i = 0; i < 128; i++)
        flags[i] = 31;
    REF_WRITE("flags.bin", flags);
    return 0;
}
