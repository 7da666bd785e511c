/* Reference of vector_ldst, byte by byte. */
#include "../common/ref.h"

static uint8_t in[11264], out[13312];

static void copy(size_t at, size_t bytes)
{
    memcpy(out + at, in + at, 64 * bytes);
}

int main(int argc, char **argv)
{
    static const size_t size[] = {4, 4, 8, 8, 16, 8, 16, 12, 3};
    static int64_t extended[64];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)ref_uniform_int(328, i, 0, 255);
    copy(0, 1);
    copy(64, 2);
    for (size_t k = 0; k < sizeof size / sizeof size[0]; k++)
        copy((k + 1) * 1024, size[k]);
    for (int t = 0; t < 64; t++) {
        const uint8_t *s = in + 10240 + 16 * t;
        memcpy(out + 10240 + 8 * t, in + 10240 + 8 * (63 - t), 8);
        int64_t z = s[4] + 256 * s[5];
        z = z > 32767 ? z - 65536 : z;
        extended[t] = (s[1] > 127 ? s[1] - 256 : s[1]) + 65536 * (int64_t)s[2] +
                      4294967296 * z - (s[6] + 256 * s[7]);
        for (int b = 0; b < 4; b++) {
            int at = t % 48 * 4 + b; /* the first 64 bytes, then 64 halfwords */
            int half = (at - 128) / 2 * 1000;
            uint8_t v = (uint8_t)(at < 64 ? at * 3 : at % 2 ? half >> 8 & 255 : half & 255);
            if (at >= 64 && at < 128)
                v = in[10240 + at];
            out[11264 + 4 * t + b] = v;
        }
        out[12288 + 8 * t + t % 4 * 2] = (uint8_t)t;
    }
    REF_WRITE("out.bin", out);
    REF_WRITE("extended.bin", extended);
    return 0;
}
