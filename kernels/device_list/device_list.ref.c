/* Reference of device_list, without lists. */
#include "../common/ref.h"

int main(int argc, char **argv)
{
    static int32_t sum[32], fine[32];

    ref_init(argc, argv);
    for (int t = 0; t < 32; t++) {
        int owner = 31 - t;
        for (int k = owner % 5; k >= 0; k--)
            sum[t] = sum[t] * 3 + owner * 10 + k;
        fine[t] = 1;
    }
    REF_WRITE("sum.bin", sum);
    REF_WRITE("fine.bin", fine);
    return 0;
}
