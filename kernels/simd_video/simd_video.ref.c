/* Reference of simd_video: lane by lane in wide integers. */
#include "../common/ref.h"

enum { N = 128, OPS = 36 };

enum op {
    ADD, SUB, ADDSAT, SUBSAT, ABSDIFF, AVG, HADD, MAX, MIN, GT, LE, LT, GE, NEG, ABS, ABSSAT, SAD
};

static int64_t clamp(int64_t v, int64_t lo, int64_t hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

static uint32_t simd(enum op op, int bits, int is_signed, uint32_t x, uint32_t y)
{
    const int64_t range = INT64_C(1) << bits;
    const int64_t lo = is_signed ? -range / 2 : 0, hi = lo + range - 1;
    uint32_t result = 0, sum = 0;

    for (int at = 0; at < 32; at += bits) {
        int64_t a = (x >> at) % range, b = (y >> at) % range, v = 0;
        a -= is_signed && a > hi ? range : 0;
        b -= is_signed && b > hi ? range : 0;
        switch (op) {
        case ADD: v = a + b; break;
        case SUB: v = a - b; break;
        case ADDSAT: v = clamp(a + b, lo, hi); break;
        case SUBSAT: v = clamp(a - b, lo, hi); break;
        case ABSDIFF: case SAD: v = llabs(a - b); break;
        /* rounded: ties up for unsigned, away from zero for signed lanes */
        case AVG: v = a + b >= 0 ? (a + b + 1) / 2 : (a + b - 1) / 2; break;
        case HADD: v = (a + b) / 2; break;
        case MAX: v = a > b ? a : b; break;
        case MIN: v = a < b ? a : b; break;
        case GT: v = a > b ? -1 : 0; break;
        case LE: v = a <= b ? -1 : 0; break;
        case LT: v = a < b ? -1 : 0; break;
        case GE: v = a >= b ? -1 : 0; break;
        case NEG: v = -a; break;
        case ABS: v = llabs(a); break;
        case ABSSAT: v = clamp(llabs(a), lo, hi); break;
        }
        sum += (uint32_t)v;
        result |= (uint32_t)(v & (range - 1)) << at;
    }
    return op == SAD ? sum : result;
}

/* 1 per equal (or different) lane */
static uint32_t set(int bits, int equal, uint32_t x, uint32_t y)
{
    uint32_t r = 0;

    for (int at = 0; at < 32; at += bits)
        r |= (uint32_t)(((x ^ y) >> at) % (1u << bits) == 0 ? equal : !equal) << at;
    return r;
}

int main(int argc, char **argv)
{
    static uint32_t a[N], b[N], out[OPS][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        uint32_t x = a[i] = (uint32_t)ref_splitmix64(370, i);
        uint32_t y = b[i] = (uint32_t)ref_splitmix64(371, i);
        if (i % 4 == 0) /* equal lanes and extreme ones */
            y = b[i] = (x & 0x00ffff00) | 0x80000080;
        if (i % 8 == 0)
            x = a[i] = (x & 0x00ffff00) | 0x7f000080;
        const uint32_t r[OPS] = {
            simd(ADD, 8, 0, x, y), simd(SUB, 8, 0, x, y), simd(ADDSAT, 8, 0, x, y),
            simd(ADDSAT, 8, 1, x, y), simd(SUBSAT, 8, 0, x, y), simd(SUBSAT, 8, 1, x, y),
            simd(ABSDIFF, 8, 0, x, y), simd(ABSDIFF, 8, 1, x, y), simd(AVG, 8, 0, x, y),
            simd(HADD, 8, 0, x, y), simd(MAX, 8, 0, x, y), simd(MIN, 8, 1, x, y),
            simd(GT, 8, 0, x, y), simd(LE, 8, 1, x, y), set(8, 1, x, y), simd(NEG, 8, 1, x, y),
            simd(ABS, 8, 1, x, y), simd(ABSSAT, 8, 1, x, y), simd(SAD, 8, 0, x, y),
            simd(SAD, 8, 1, x, y), simd(ADD, 16, 0, x, y), simd(SUB, 16, 0, x, y),
            simd(ADDSAT, 16, 0, x, y), simd(ADDSAT, 16, 1, x, y), simd(SUBSAT, 16, 1, x, y),
            simd(ABSDIFF, 16, 0, x, y), simd(MAX, 16, 1, x, y), simd(MIN, 16, 0, x, y),
            simd(LT, 16, 0, x, y), simd(GE, 16, 1, x, y), set(16, 0, x, y), simd(AVG, 16, 1, x, y),
            simd(NEG, 16, 1, x, y), simd(SAD, 16, 0, x, y),
            (uint32_t)(x > y ? x - y : y - x) + 5,
            (uint32_t)llabs((int64_t)(int32_t)x - (int32_t)y) + 5,
        };
        for (int k = 0; k < OPS; k++)
            out[k][i] = r[k];
    }
    REF_WRITE("a.bin", a);
    REF_WRITE("b.bin", b);
    REF_WRITE("out.bin", out);
    return 0;
}
