/* Reference of warp_intrinsics: loops over lanes. */
#include "../common/ref.h"

enum { N = 128, ROWS = 18 };

int main(int argc, char **argv)
{
    static uint32_t v[N], out[ROWS][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++)
        v[i] = (uint32_t)ref_uniform_int(382, i, 0, UINT32_MAX);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t base = i / 32 * 32, lane = i % 32, low = UINT32_MAX, and_ = UINT32_MAX, or_ = 0;
        uint32_t part = 0, all = 1, any = 0, ballot4 = 0;
        int32_t high = INT32_MIN;
        for (uint32_t l = 0; l < 32; l++) {
            uint32_t w = v[base + l], bit = 1u << l;
            out[4][i] ^= w;
            out[5][i] |= w % 5 == v[i] % 5 ? bit : 0;
            out[6][i] |= w % 3 == v[i] % 3 && w % 2 == v[i] % 2 ? bit : 0;
            ballot4 |= (w & 4) && (w & 8) ? bit : 0;
            if (l % 3 != lane % 3)
                continue;
            part |= bit;
            out[0][i] += w;
            low = w < low ? w : low;
            high = (int32_t)w > high ? (int32_t)w : high;
            and_ &= w | 0xff;
            or_ |= w & 0xff;
            out[14][i] |= w & 1 ? bit : 0;
            all &= w > 99;
            any |= w % 16 == 3;
        }
        out[1][i] = low;
        out[2][i] = (uint32_t)high;
        out[3][i] = and_ ^ or_;
        out[7][i] = part + 1;
        out[8][i] = 0; /* no two warps of random words are uniform */
        out[9][i] = v[base + (lane * 5 + 3) % 32];
        out[10][i] = v[i / 8 * 8 + (lane * 5 + 3) % 8];
        out[11][i] = v[lane % 16 < 3 ? i : i - 3];
        out[12][i] = v[lane % 8 + v[i] % 8 > 7 ? i : i + v[i] % 8];
        out[13][i] = v[base + (lane ^ 21)];
        out[15][i] = all | any << 1;
        out[16][i] = v[i] & 4 ? ballot4 : 0;
        out[17][i] = v[i ^ 1];
    }
    REF_WRITE("out.bin", out);
    return 0;
}
