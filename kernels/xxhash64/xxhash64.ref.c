/*
 * Reference of xxhash64 after the published specification, byte by byte; the hash of
 * the empty string is checked against the published value.
 */
#include "../common/ref.h"

enum { N = 128 };

static const uint64_t prime[6] = {0, 11400714785074694791u, 14029467366897019727u,
                                  1609587929392839161u, 9650029242287828579u, 2870177450012600261u};

static uint64_t read_le(uint64_t at, int bytes)
{
    uint64_t v = 0;

    for (int i = bytes; i-- > 0;)
        v = v * 256 + (uint64_t)ref_uniform_int(285, at + (uint64_t)i, 0, 255);
    return v;
}

static uint64_t rotate(uint64_t x, int n)
{
    unsigned __int128 v = (unsigned __int128)x << n;
    return (uint64_t)(v | v >> 64);
}

static uint64_t round_of(uint64_t acc, uint64_t word)
{
    return rotate(acc + word * prime[2], 31) * prime[1];
}

static uint64_t hash(uint64_t at, uint64_t length)
{
    uint64_t acc[4] = {prime[1] + prime[2], prime[2], 0, -prime[1]}, h = prime[5], done = 0;
    static const int turn[4] = {1, 7, 12, 18};

    if (length >= 32) {
        for (; done + 32 <= length; done += 32)
            for (uint64_t k = 0; k < 4; k++)
                acc[k] = round_of(acc[k], read_le(at + done + 8 * k, 8));
        h = 0;
        for (int k = 0; k < 4; k++)
            h += rotate(acc[k], turn[k]);
        for (int k = 0; k < 4; k++)
            h = (h ^ round_of(0, acc[k])) * prime[1] + prime[4];
    }
    h += length;
    for (; length - done >= 8; done += 8)
        h = rotate(h ^ round_of(0, read_le(at + done, 8)), 27) * prime[1] + prime[4];
    if (length - done >= 4) {
        h = rotate(h ^ read_le(at + done, 4) * prime[1], 23) * prime[2] + prime[3];
        done += 4;
    }
    for (; done < length; done++)
        h = rotate(h ^ read_le(at + done, 1) * prime[5], 11) * prime[1];
    h = (h ^ h >> 33) * prime[2];
    h = (h ^ h >> 29) * prime[3];
    return h ^ h >> 32;
}

int main(int argc, char **argv)
{
    static uint64_t out[N];

    ref_init(argc, argv);
    for (uint64_t i = 0; i < N; i++)
        out[i] = hash(64 * i, i % 64);
    if (out[0] != 0xef46db3751d8e999u) {
        fprintf(stderr, "xxhash64.ref: wrong hash of the empty string\n");
        return 1;
    }
    REF_WRITE("out.bin", out);
    return 0;
}
