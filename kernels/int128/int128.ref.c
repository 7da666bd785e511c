/* Reference of int128: schoolbook arithmetic on digits of 16 bits, division bit by bit. */
#include "../common/ref.h"

enum { N = 64, ROWS = 19, DIGITS = 16 };

struct wide {
    uint32_t d[DIGITS]; /* 16 bits each, least significant first */
};

static struct wide make(uint64_t hi, uint64_t lo)
{
    struct wide w = {{0}};

    for (int i = 0; i < 4; i++) {
        w.d[i] = lo >> 16 * i & 0xffff;
        w.d[4 + i] = hi >> 16 * i & 0xffff;
    }
    return w;
}

static uint64_t word(struct wide w, int at)
{
    uint64_t v = 0;

    for (int i = 4; i-- > 0;)
        v = v << 16 | w.d[4 * at + i];
    return v;
}

static struct wide add(struct wide a, struct wide b, uint32_t carry, uint32_t flip)
{
    for (int i = 0; i < DIGITS; i++) {
        carry += a.d[i] + (b.d[i] ^ flip);
        a.d[i] = carry & 0xffff;
        carry >>= 16;
    }
    return a;
}

static struct wide mul(struct wide a, struct wide b)
{
    struct wide r = {{0}};

    for (int i = 0; i < DIGITS; i++) {
        uint32_t carry = 0;
        for (int j = 0; i + j < DIGITS; j++) {
            carry += r.d[i + j] + a.d[i] * b.d[j];
            r.d[i + j] = carry & 0xffff;
            carry >>= 16;
        }
    }
    return r;
}

static int bit(struct wide a, int i)
{
    return a.d[i / 16] >> i % 16 & 1;
}

static int below(struct wide a, struct wide b)
{
    for (int i = DIGITS; i-- > 0;)
        if (a.d[i] != b.d[i])
            return a.d[i] < b.d[i];
    return 0;
}

static struct wide divide(struct wide a, struct wide b, struct wide *rest)
{
    struct wide q = {{0}}, r = {{0}};

    for (int i = 128; i-- > 0;) {
        r = add(r, r, 0, 0);
        r.d[0] |= (uint32_t)bit(a, i);
        if (!below(r, b)) {
            r = add(r, b, 1, 0xffff);
            q.d[i / 16] |= 1u << i % 16;
        }
    }
    *rest = r;
    return q;
}

int main(int argc, char **argv)
{
    static uint64_t in[N][4], out[ROWS][N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++) {
        for (uint64_t k = 0; k < 4; k++)
            in[i][k] = ref_splitmix64(372 + k, i) >> (i % 5 * 13 * k % 60);
        if (i < 4)
            in[i][0] = in[i][1] = UINT64_MAX - i;
        uint64_t a = in[i][0], b = in[i][1], c = in[i][2], d = in[i][3] | 1, k = 0, part;
        struct wide x = make(a, b), y = make(c, d), rest, zero = {{0}};
        part = word(mul(make(0, a), make(0, b)), 1);
        out[k++][i] = part;
        /* signed: take the other factor off for each negative one */
        out[k++][i] = part - (a >> 63 ? b : 0) - (b >> 63 ? a : 0);
        out[k++][i] = word(divide(make(0, a), make(0, d), &rest), 0);
        out[k++][i] = word(rest, 0);
        uint64_t e = d >> 20 | 1; /* positive */
        part = word(divide(make(0, a >> 63 ? -a : a), make(0, e), &rest), 0);
        out[k++][i] = a >> 63 ? -part : part;
        out[k++][i] = word(add(x, y, 0, 0), 0);
        out[k++][i] = word(add(x, y, 0, 0), 1);
        out[k++][i] = word(add(x, y, 1, 0xffff), 1);
        out[k++][i] = word(mul(x, y), 0);
        out[k++][i] = word(mul(x, y), 1);
        out[k++][i] = word(divide(x, make(0, d), &rest), 0);
        out[k++][i] = word(divide(x, make(0, d), &rest), 1);
        divide(x, y, &rest);
        out[k++][i] = word(rest, 0);
        struct wide s = x;
        for (uint64_t n = c & 127; n > 0; n--)
            s = add(s, s, 0, 0);
        out[k++][i] = word(s, 1);
        for (unsigned n = 0; n < 64; n++) {
            unsigned from = n + (d & 127);
            out[k][i] |= (uint64_t)bit(x, from > 127 ? 127 : (int)from) << n;
        }
        k++;
        out[k++][i] = a >> 63 != c >> 63 ? a >> 63 : (uint64_t)below(x, y);
        struct wide p = zero, q = zero;
        for (int n = 0; n < 16; n++) {
            const uint64_t v[4] = {a, b, c, d};
            p.d[n] = v[n / 4] >> 16 * (n % 4) & 0xffff;
            q.d[n] = v[3 - n / 4] >> 16 * (n % 4) & 0xffff;
        }
        p = add(p, q, 0, 0);
        out[k++][i] = word(p, 0) ^ word(p, 1) ^ word(p, 2);
        out[k++][i] = word(p, 3);
        /* hi: upper half of the product, plus c, plus the carry out of the lower sum */
        part = (a & 0xffffffff) * (b & 0xffffffff);
        uint64_t low = (part & 0xffffffff) + (c & 0xffffffff);
        out[k][i] = ((part >> 32) + (c & 0xffffffff) + (low >> 32)) << 32 | (low & 0xffffffff);
    }
    REF_WRITE("in.bin", in);
    REF_WRITE("out.bin", out);
    return 0;
}
