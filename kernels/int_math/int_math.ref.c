/*
 * Reference of int_math: bit by bit or in a wider type, straight from the
 * definitions in the CUDA and PTX documentation.
 */
#include "../common/ref.h"

enum { N = 128, OPS32 = 30, OPS64 = 15 };

__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;

static uint32_t a[N], b[N], out32[OPS32][N];
static uint64_t c[N], d[N], out64[OPS64][N];

static unsigned bit(uint64_t v, unsigned i)
{
    return (unsigned)(v >> i) & 1;
}

static unsigned popcount(uint64_t v)
{
    unsigned n = 0;
    for (unsigned i = 0; i < 64; i++)
        n += bit(v, i);
    return n;
}

static unsigned leading_zeros(uint64_t v, unsigned width)
{
    unsigned n = 0;
    while (n < width && !bit(v, width - 1 - n))
        n++;
    return n;
}

static unsigned find_first_set(uint64_t v, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        if (bit(v, i))
            return i + 1;
    return 0;
}

static uint64_t reverse(uint64_t v, unsigned width)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < width; i++)
        r |= (uint64_t)bit(v, i) << (width - 1 - i);
    return r;
}

static uint32_t byte_of(uint32_t v, unsigned i)
{
    return v >> (8 * i) & 0xff;
}

static int32_t signed_byte_of(uint32_t v, unsigned i)
{
    int32_t u = (int32_t)byte_of(v, i);
    return u < 128 ? u : u - 256;
}

/* selectors 0 to 7 name a byte of y:x; bit 3 would replicate its sign */
static uint32_t byte_perm(uint32_t x, uint32_t y, uint32_t selector)
{
    uint64_t both = (uint64_t)y << 32 | x;
    uint32_t r = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned k = selector >> (4 * i) & 7;
        r |= (uint32_t)(both >> (8 * k) & 0xff) << (8 * i);
    }
    return r;
}

static uint32_t bfe(uint32_t v, unsigned pos, unsigned len, int is_signed)
{
    unsigned top = pos + len - 1 < 31 ? pos + len - 1 : 31;
    unsigned fill = is_signed && len > 0 ? bit(v, top) : 0;
    uint32_t r = 0;
    for (unsigned i = 0; i < 32; i++) {
        unsigned x = i < len && pos + i <= 31 ? bit(v, pos + i) : fill;
        r |= (uint32_t)x << i;
    }
    return r;
}

static uint32_t bfi(uint32_t field, uint32_t base, unsigned pos, unsigned len)
{
    for (unsigned i = 0; i < len && pos + i < 32; i++) {
        base &= ~(1u << (pos + i));
        base |= (uint32_t)bit(field, i) << (pos + i);
    }
    return base;
}

static void row32(unsigned i, uint32_t x, uint32_t y, uint64_t p)
{
    int64_t sx = (int32_t)x, sy = (int32_t)y;
    uint64_t both = (uint64_t)y << 32 | x;
    unsigned s = y & 63, s32 = s & 31, clamp = s < 32 ? s : 32;
    unsigned pos = y & 31, len = y >> 8 & 31;
    int32_t dot = 12345;
    uint32_t udot = 54321, absdiff = 0, k = 0;

    for (unsigned j = 0; j < 4; j++) {
        uint32_t xb = byte_of(x, j), yb = byte_of(y, j);
        dot += signed_byte_of(x, j) * signed_byte_of(y, j);
        udot += xb * yb;
        absdiff |= (xb > yb ? xb - yb : yb - xb) << (8 * j);
    }
    uint32_t row[OPS32];
    row[k++] = x / y;
    row[k++] = x % y;
    row[k++] = (uint32_t)(sx / sy);
    row[k++] = (uint32_t)(sx % sy);
    row[k++] = popcount(x);
    row[k++] = leading_zeros(x, 32);
    row[k++] = (uint32_t)reverse(x, 32);
    row[k++] = find_first_set(x, 32);
    row[k++] = (uint32_t)((uint64_t)x * y >> 32);
    row[k++] = (uint32_t)((uint64_t)(sx * sy) >> 32);
    row[k++] = (uint32_t)(both << s32 >> 32);
    row[k++] = (uint32_t)(both >> s32);
    row[k++] = (uint32_t)(both << clamp >> 32);
    row[k++] = (uint32_t)(both >> clamp);
    row[k++] = byte_perm(x, y, y >> 3);
    row[k++] = (uint32_t)dot;
    row[k++] = udot;
    row[k++] = (x > y ? x - y : y - x) + 7;
    row[k++] = (uint32_t)((sx > sy ? sx - sy : sy - sx) + 7);
    row[k++] = (uint32_t)(sx < sy ? sx : sy);
    row[k++] = (uint32_t)(sx > sy ? sx : sy);
    row[k++] = x < y ? x : y;
    row[k++] = x > y ? x : y;
    row[k++] = bfe(x, pos, len, 0);
    row[k++] = bfe(x, pos, len, 1);
    row[k++] = bfi(y, x, pos, len);
    row[k++] = popcount(p);
    row[k++] = leading_zeros(p, 64);
    row[k++] = find_first_set(p, 64);
    row[k++] = absdiff;
    for (k = 0; k < OPS32; k++)
        out32[k][i] = row[k];
}

static void row64(unsigned i, uint64_t p, uint64_t q, uint32_t x, uint32_t y)
{
    i128 sp = (int64_t)p, sq = (int64_t)q;
    unsigned s = y & 63, k = 0;

    uint64_t row[OPS64];
    row[k++] = p / q;
    row[k++] = p % q;
    row[k++] = (uint64_t)(sp / sq);
    row[k++] = (uint64_t)(sp % sq);
    row[k++] = (uint64_t)((u128)p * q >> 64);
    row[k++] = (uint64_t)((u128)(sp * sq) >> 64);
    row[k++] = p << s;
    row[k++] = p >> s;
    row[k++] = (uint64_t)((u128)sp >> s);
    row[k++] = (uint64_t)((u128)p * q);
    row[k++] = (uint64_t)(sp < sq ? sp : sq);
    row[k++] = p > q ? p : q;
    row[k++] = reverse(p, 64);
    row[k++] = (uint64_t)((int64_t)(int32_t)x * (int64_t)(int32_t)y) + p;
    row[k++] = p - q;
    for (k = 0; k < OPS64; k++)
        out64[k][i] = row[k];
}

int main(int argc, char **argv)
{
    static const uint32_t edge32[] = {0, 1, 2, 0xffffffffu, 0x80000000u, 0x7fffffffu, 0xffff0001u, 10};
    static const uint64_t edge64[] = {0, 1, 3, UINT64_MAX, (uint64_t)1 << 63, INT64_MAX,
                                      0xffffffff00000001u, 0xffffffffu};

    ref_init(argc, argv);
    for (unsigned i = 0; i < N; i++) {
        /* divisors of all magnitudes: shift random bits right */
        a[i] = (uint32_t)ref_splitmix64(40, i) >> (i % 5 * 4);
        b[i] = (uint32_t)ref_splitmix64(41, i) >> (i % 8 * 4);
        c[i] = ref_splitmix64(42, i) >> (i % 3 * 8);
        d[i] = ref_splitmix64(43, i) >> (i % 8 * 8);
        if (i < 64) {
            a[i] = edge32[i % 8];
            b[i] = edge32[i / 8];
            c[i] = edge64[i % 8];
            d[i] = edge64[i / 8];
        }
        if (b[i] == 0)
            b[i] = 7; /* division by zero is undefined */
        if (d[i] == 0)
            d[i] = 7;
        /* so is the one quotient that overflows */
        if (a[i] == 0x80000000u && b[i] == 0xffffffffu)
            b[i] = 0xfffffffeu;
        if (c[i] == (uint64_t)1 << 63 && d[i] == UINT64_MAX)
            d[i] = UINT64_MAX - 1;
        row32(i, a[i], b[i], c[i]);
        row64(i, c[i], d[i], a[i], b[i]);
    }
    REF_WRITE("a.bin", a);
    REF_WRITE("b.bin", b);
    REF_WRITE("c.bin", c);
    REF_WRITE("d.bin", d);
    REF_WRITE("out32.bin", out32);
    REF_WRITE("out64.bin", out64);
    return 0;
}
