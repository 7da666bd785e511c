/*
 * Reference of md5 after RFC 1321, with the sine table computed.  The first message
 * is empty; its digest is checked against the RFC's.
 */
#include "../common/ref.h"

enum { N = 128 };

static const int shift[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

static void md5(const uint8_t *m, uint8_t *digest)
{
    const uint32_t start[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    uint32_t s[4];

    memcpy(s, start, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t b = s[1], c = s[2], d = s[3], f, w;
        int k;
        switch (i / 16) {
        case 0:
            f = (b & c) | (~b & d), k = i;
            break;
        case 1:
            f = (b & d) | (c & ~d), k = (5 * i + 1) % 16;
            break;
        case 2:
            f = b ^ c ^ d, k = (3 * i + 5) % 16;
            break;
        default:
            f = c ^ (b | ~d), k = 7 * i % 16;
        }
        memcpy(&w, m + 4 * k, sizeof w);
        f += s[0] + w + (uint32_t)floorl(fabsl(sinl(i + 1)) * 0x1p32L);
        int r = shift[i / 16][i % 4];
        s[0] = d;
        s[3] = c;
        s[2] = b;
        s[1] = b + (f << r | f >> (32 - r));
    }
    for (int i = 0; i < 4; i++)
        s[i] += start[i];
    memcpy(digest, s, sizeof s);
}

int main(int argc, char **argv)
{
    static uint8_t message[N][64], digest[N][16];
    static const uint8_t empty[4] = {0xd4, 0x1d, 0x8c, 0xd9};

    ref_init(argc, argv);
    for (unsigned i = 0; i < N; i++) {
        unsigned length = i % 56;
        for (unsigned j = 0; j < length; j++)
            message[i][j] = (uint8_t)ref_splitmix64(281, i * 64 + j);
        message[i][length] = 0x80;
        message[i][56] = (uint8_t)(8 * length);
        message[i][57] = (uint8_t)(8 * length >> 8);
        md5(message[i], digest[i]);
    }
    if (memcmp(digest[0], empty, sizeof empty)) {
        fprintf(stderr, "md5.ref: wrong digest of the empty message\n");
        return 1;
    }
    REF_WRITE("message.bin", message);
    REF_WRITE("digest.bin", digest);
    return 0;
}
