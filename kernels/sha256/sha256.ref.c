/*
 * Reference of sha256, byte by byte after FIPS 180-4; constants are computed as the
 * fractions of roots of primes.  The first digest is checked against the standard.
 */
#include "../common/ref.h"

enum { N = 64, BYTES = 119, PADDED = 128 };

static uint32_t key[64], initial[8];

static uint32_t fraction(long double x)
{
    return (uint32_t)((x - floorl(x)) * 0x1p32L);
}

static void constants(void)
{
    for (int p = 2, n = 0; n < 64; p++) {
        int prime = 1;
        for (int d = 2; d * d <= p; d++)
            prime &= p % d != 0;
        if (!prime)
            continue;
        if (n < 8)
            initial[n] = fraction(sqrtl((long double)p));
        key[n++] = fraction(cbrtl((long double)p));
    }
}

static uint32_t rotr(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void block(const uint8_t *m, uint32_t h[8])
{
    uint32_t w[64], s[8];

    for (int t = 0; t < 64; t++)
        if (t < 16)
            w[t] = (uint32_t)m[4 * t] << 24 | (uint32_t)m[4 * t + 1] << 16 |
                   (uint32_t)m[4 * t + 2] << 8 | m[4 * t + 3];
        else
            w[t] = (rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ w[t - 2] >> 10) + w[t - 7] +
                   (rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ w[t - 15] >> 3) + w[t - 16];
    memcpy(s, h, sizeof s);
    for (int t = 0; t < 64; t++) {
        uint32_t ch = 0, maj = 0;
        for (int i = 0; i < 32; i++) {
            uint32_t a = s[0] >> i & 1, b = s[1] >> i & 1, c = s[2] >> i & 1;
            ch |= ((s[4] >> i & 1) ? s[5] >> i & 1 : s[6] >> i & 1) << i;
            maj |= (a + b + c >= 2 ? 1u : 0u) << i;
        }
        uint32_t t1 = s[7] + (rotr(s[4], 6) ^ rotr(s[4], 11) ^ rotr(s[4], 25)) + ch + key[t] + w[t];
        uint32_t t2 = (rotr(s[0], 2) ^ rotr(s[0], 13) ^ rotr(s[0], 22)) + maj;
        memmove(s + 1, s, 7 * sizeof s[0]);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        h[i] += s[i];
}

int main(int argc, char **argv)
{
    static uint8_t message[N][PADDED], digest[N][32];
    static const uint8_t abc[4] = {0xba, 0x78, 0x16, 0xbf};

    ref_init(argc, argv);
    constants();
    for (unsigned i = 0; i < N; i++) {
        unsigned length = i ? BYTES : 3;
        for (unsigned j = 0; j < length; j++)
            message[i][j] = i ? (uint8_t)ref_splitmix64(280, i * BYTES + j) : (uint8_t)("abc"[j]);
        message[i][length] = 0x80;
        unsigned end = i ? 128 : 64;
        message[i][end - 2] = (uint8_t)(length * 8 >> 8);
        message[i][end - 1] = (uint8_t)(length * 8);
        /* the kernel hashes two blocks of every message; the second of "abc" is zeros */
        uint32_t h[8];
        memcpy(h, initial, sizeof h);
        block(message[i], h);
        if (i == 0)
            for (int j = 0; j < 4; j++)
                if ((uint8_t)(h[0] >> (24 - 8 * j)) != abc[j]) {
                    fprintf(stderr, "sha256.ref: wrong digest of \"abc\"\n");
                    return 1;
                }
        block(message[i] + 64, h);
        for (int j = 0; j < 32; j++)
            digest[i][j] = (uint8_t)(h[j / 4] >> (24 - j % 4 * 8));
    }
    REF_WRITE("message.bin", message);
    REF_WRITE("initial.bin", initial);
    REF_WRITE("round_key.bin", key);
    REF_WRITE("digest.bin", digest);
    return 0;
}
