/*
 * MD5 of one padded block per thread, fully unrolled: immediates in IADD3, constant
 * rotations, LOP3.
 */
#define STEP(f, a, b, c, d, k, s, t)                                                               \
    a += (f) + m[k] + t;                                                                           \
    a = (a << s | a >> (32 - s)) + b
#define F(b, c, d) (((c ^ d) & b) ^ d)
#define G(b, c, d) (((b ^ c) & d) ^ c)
#define H(b, c, d) (b ^ c ^ d)
#define I(b, c, d) (c ^ (b | ~d))
#define FOUR(f, k0, k1, k2, k3, s0, s1, s2, s3, t0, t1, t2, t3)                                    \
    STEP(f(b, c, d), a, b, c, d, k0, s0, t0);                                                      \
    STEP(f(a, b, c), d, a, b, c, k1, s1, t1);                                                      \
    STEP(f(d, a, b), c, d, a, b, k2, s2, t2);                                                      \
    STEP(f(c, d, a), b, c, d, a, k3, s3, t3)

extern "C" __global__ void md5(const uint4 *message, uint4 *digest)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476, m[16];

#pragma unroll
    for (int j = 0; j < 4; j++) {
        uint4 v = message[4 * i + j];
        m[4 * j] = v.x;
        m[4 * j + 1] = v.y;
        m[4 * j + 2] = v.z;
        m[4 * j + 3] = v.w;
    }
    FOUR(F, 0, 1, 2, 3, 7, 12, 17, 22, 0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee);
    FOUR(F, 4, 5, 6, 7, 7, 12, 17, 22, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501);
    FOUR(F, 8, 9, 10, 11, 7, 12, 17, 22, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be);
    FOUR(F, 12, 13, 14, 15, 7, 12, 17, 22, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821);
    FOUR(G, 1, 6, 11, 0, 5, 9, 14, 20, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa);
    FOUR(G, 5, 10, 15, 4, 5, 9, 14, 20, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8);
    FOUR(G, 9, 14, 3, 8, 5, 9, 14, 20, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed);
    FOUR(G, 13, 2, 7, 12, 5, 9, 14, 20, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a);
    FOUR(H, 5, 8, 11, 14, 4, 11, 16, 23, 0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c);
    FOUR(H, 1, 4, 7, 10, 4, 11, 16, 23, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70);
    FOUR(H, 13, 0, 3, 6, 4, 11, 16, 23, 0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05);
    FOUR(H, 9, 12, 15, 2, 4, 11, 16, 23, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665);
    FOUR(I, 0, 7, 14, 5, 6, 10, 15, 21, 0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039);
    FOUR(I, 12, 3, 10, 1, 6, 10, 15, 21, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1);
    FOUR(I, 8, 15, 6, 13, 6, 10, 15, 21, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1);
    FOUR(I, 4, 11, 2, 9, 6, 10, 15, 21, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391);
    digest[i] = make_uint4(a + 0x67452301, b + 0xefcdab89, c + 0x98badcfe, d + 0x10325476);
}
