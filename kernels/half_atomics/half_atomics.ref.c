/* Reference of half_atomics: integer sums. */
#include "../common/ref.h"

int main(int argc, char **argv)
{
    static uint16_t h[6], h2[6], b[6], b2[6];
    static float f[16];
    static double d[136], old[128];
    int64_t one[6] = {0}, low[3] = {0}, odd[3] = {0}, three[8] = {0}, all[8] = {0};

    ref_init(argc, argv);
    for (uint64_t i = 0; i < 128; i++) {
        int64_t v = ref_uniform_int(380, i, -3, 4);
        uint64_t s = i / 64 * 4 + i % 4;
        one[i % 6] += v;
        low[i % 3] += v;
        odd[i % 3] += v & 1;
        three[s] += v & 3;
        all[s] += v;
        d[8 + i] = 1.5 * (double)v;
    }
    for (int k = 0; k < 6; k++) {
        h[k] = ref_f16((long double)one[k]);
        b[k] = ref_bf16((long double)one[k]);
        h2[k] = ref_f16((long double)(k % 2 ? -low[k / 2] : low[k / 2]));
        b2[k] = ref_bf16((long double)(k % 2 ? odd[k / 2] : low[k / 2]));
    }
    for (int k = 0; k < 8; k++) {
        f[k / 4 * 8 + k % 4] = (float)all[k] / 4.0f;
        f[k / 4 * 8 + 4 + k % 4] = (float)(three[k] * 1000 + all[k]);
        d[k] = (double)all[k] / 8;
    }
    REF_WRITE("h.bin", h);
    REF_WRITE("h2.bin", h2);
    REF_WRITE("b.bin", b);
    REF_WRITE("b2.bin", b2);
    REF_WRITE("f.bin", f);
    REF_WRITE("d.bin", d);
    REF_WRITE("old.bin", old);
    return 0;
}
