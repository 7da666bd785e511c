/* Reference of bit_tricks, bit by bit. */
#include "../common/ref.h"

enum { N = 64, ROWS = 17 };

static int bit(uint64_t v, int64_t i)
{
    return i >= 0 && i < 64 ? v >> i & 1 : 0;
}

/* 32 bits of v from bit `from` on; bits outside 0..63 are `fill` */
static uint64_t window(uint64_t v, int64_t from, int fill)
{
    uint64_t r = 0;

    for (int k = 0; k < 32; k++)
        r |= (uint64_t)(from + k < 0 || from + k > 63 ? fill : bit(v, from + k)) << k;
    return r;
}

static int highest(uint64_t v)
{
    int h = -1;

    for (int k = 0; k < 64; k++)
        h = bit(v, k) ? k : h;
    return h;
}

int main(int argc, char **argv)
{
    static uint64_t in[N], out[ROWS][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        uint64_t v = ref_splitmix64(376, i) >> (i % 7 * 8);
        if (i < 6)
            v = (uint64_t[]){0, UINT64_MAX, 1, UINT64_C(1) << 63, 0x80000000, 0x7fffffff}[i];
        in[i] = v;
        uint64_t lo = v & 0xffffffff, hi = v >> 32, r = 0;
        uint64_t pop = 0, pop_lo = 0, first = 0, first_lo = 0;
        for (int k = 63; k >= 0; k--) {
            out[0][i] |= (uint64_t)bit(v, k) << (63 - k);
            pop += (uint64_t)bit(v, k);
            pop_lo += (uint64_t)(k < 32 && bit(v, k));
            first = bit(v, k) ? (uint64_t)k + 1 : first;
            first_lo = k < 32 && bit(v, k) ? (uint64_t)k + 1 : first_lo;
        }
        out[1][i] = pop << 32 | pop_lo;
        out[2][i] = (uint64_t)(63 - highest(v)) << 32 | (uint64_t)(31 - highest(lo));
        out[3][i] = first << 32 | first_lo;
        /* the (hi % 33)-th set bit upwards; offset 0 asks for bit 0 itself */
        out[4][i] = UINT32_MAX;
        uint64_t nth = hi % 33, seen = 0;
        if (nth == 0 && bit(lo, 0))
            out[4][i] = 0;
        for (int k = 0; k < 32 && nth > 0; k++)
            if (bit(lo, k) && ++seen == nth)
                out[4][i] = (uint64_t)k;
        out[5][i] = window(v, 32 - (int64_t)(hi % 32), 0) << 32 | window(v, (int64_t)(hi % 32), 0);
        int64_t clamped = hi % 64 > 32 ? 32 : (int64_t)(hi % 64);
        out[6][i] = window(v, 32 - clamped, 0) << 32 | window(v, clamped, 0);
        /* bfe.s32: sign from the field's last bit, or bit 31 beyond it */
        int64_t pos = (int64_t)(hi % 40), len = (int64_t)(hi >> 8 & 63);
        int64_t last = pos + len - 1 > 31 ? 31 : pos + len - 1;
        int sign = len == 0 ? 0 : bit(lo, last);
        for (int64_t k = 0; k < 32; k++)
            r |= (uint64_t)(k < len && pos + k <= 31 ? bit(lo, pos + k) : sign) << k;
        out[7][i] = r;
        len = (int64_t)(lo >> 8 & 63);
        r = hi;
        for (int64_t k = pos; k < pos + len && k < 32; k++)
            r = (r & ~(UINT64_C(1) << k)) | (uint64_t)bit(lo, k - pos) << k;
        out[8][i] = r;
        r = (lo & 255) << 24 | (lo >> 8 & 255) << 16 | (lo >> 16 & 255) << 8 | lo >> 24;
        for (int k = 0; k < 4; k++)
            r |= (v >> (lo >> 4 * k & 7) * 8 & 255) << (32 + 8 * k);
        out[9][i] = r;
        for (int k = 0; k < 16; k++)
            out[10][i] |= (uint64_t)bit(lo, k) << 2 * k;
        int top = highest(bit(lo, 31) ? ~lo & 0xffffffff : lo);
        out[11][i] = (uint32_t)top;
        out[12][i] = lo ? (uint32_t)(31 - highest(lo)) : UINT32_MAX;
        uint64_t left = 0, right = 0, arithmetic = 0;
        for (int64_t k = 0; k < 64; k++) {
            left |= (uint64_t)bit(v, k - (int64_t)(hi % 64)) << k;
            right |= (uint64_t)bit(v, k + (int64_t)(lo % 64)) << k;
            int64_t from = k + (int64_t)(hi % 64);
            arithmetic |= (uint64_t)bit(v, from > 63 ? 63 : from) << k;
        }
        out[13][i] = left ^ right;
        out[14][i] = arithmetic;
        out[15][i] = hi % 48 > 31 ? 0 : lo << hi % 48 & 0xffffffff;
        for (int64_t k = 0; k < 32; k++) {
            int64_t from = k + (int64_t)(hi % 48);
            out[16][i] |= (uint64_t)bit(lo, from > 31 ? 31 : from) << k;
        }
    }
    REF_WRITE("in.bin", in);
    REF_WRITE("out.bin", out);
    return 0;
}
