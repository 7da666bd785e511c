/* Reference of mma_scaled: products by definition (OCP Microscaling formats). Values are chosen so that no sum rounds:
 * FP8 from 0.5 to 1.875, FP4 up to 3, powers of two from 1/4 to 4, E4M3 scales from 0.5 to 3.75. */
#include <math.h>

#include "../common/ref.h"

enum { M = 16, N = 8, PRODUCTS = 10 };

static uint8_t fp8[1024], fp4[512], packed[1024], at[512], e8[96], e4m3[96];

static double e4m3_value(uint8_t v)
{
    double x = ldexp(8 + (v & 7), (v >> 3 & 15) - 10);
    return v & 0x80 ? -x : x;
}

static double e2m1_value(uint8_t v)
{
    static const double value[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    return v & 8 ? -value[v & 7] : value[v & 7];
}

static double e8_value(uint8_t v)
{
    return ldexp(1, v - 127);
}

static double fp8_element(const uint8_t *p, int k)
{
    return e4m3_value(p[k]);
}

static double fp4_element(const uint8_t *p, int k)
{
    return e2m1_value(p[k] >> 2);
}

static double packed_element(const uint8_t *p, int k)
{
    return e2m1_value(p[k / 2] >> 4 * (k % 2) & 15);
}

typedef double element_fn(const uint8_t *p, int k);
typedef double scale_fn(uint8_t v);

/* Rows of A and columns of B of 32 bytes, k elements in `blocks` scaled ones. */
static void product(float d[M][N], const uint8_t *a, element_fn *ea, const uint8_t *b, element_fn *eb, int k, int blocks,
                    const uint8_t *s, scale_fn *value, double c)
{
    for (int i = 0; i < M; i++)
        for (int n = 0; n < N; n++) {
            double sum = c;
            for (int j = 0; j < k; j++) {
                int block = j / (k / blocks);
                sum += ea(a + i * 32, j) * eb(b + n * 32, j) * value(s[i * blocks + block]) * value(s[64 + n * blocks + block]);
            }
            d[i][n] = (float)sum;
        }
}

/* A's bytes are pairs of elements; scales for 128 / blocks of B's. */
static void sparse_packed(float d[M][N], int blocks, const uint8_t *s, scale_fn *value)
{
    for (int i = 0; i < M; i++)
        for (int n = 0; n < N; n++) {
            double sum = 3;
            for (int j = 0; j < 64; j++) {
                int pair = j / 4 * 4 + at[i * 32 + j / 2], block = j / (64 / blocks);
                sum += packed_element(packed + i * 32, j) * packed_element(packed + 512 + n * 64, 2 * pair + j % 2) *
                       value(s[i * blocks + block]) * value(s[64 + n * blocks + block]);
            }
            d[i][n] = (float)sum;
        }
}

static void sparse(float d[M][N])
{
    for (int i = 0; i < M; i++)
        for (int n = 0; n < N; n++) {
            double sum = 0;
            for (int j = 0; j < 32; j++)
                sum += e4m3_value(fp8[i * 32 + j]) * e4m3_value(fp8[512 + n * 64 + j / 2 * 4 + at[i * 32 + j]]);
            d[i][n] = (float)(sum * e8_value(e8[i]) * e8_value(e8[64 + n]));
        }
}

static uint8_t code(uint64_t seed, int i, int64_t min, int64_t max, int sign)
{
    uint8_t v = (uint8_t)ref_uniform_int(seed, (uint64_t)i, min, max);
    return ref_uniform_int(seed + 100, (uint64_t)i, 0, 1) ? (uint8_t)(v | sign) : v;
}

static void fill(void)
{
    for (int i = 0; i < 1024; i++)
        fp8[i] = code(1, i, 0x30, 0x3f, 0x80);
    for (int i = 0; i < 512; i++)
        fp4[i] = (uint8_t)(code(2, i, 0, 5, 8) << 2);
    for (int i = 0; i < 1024; i++)
        packed[i] = (uint8_t)(code(3, i, 0, 5, 8) | code(4, i, 0, 5, 8) << 4);
    for (int i = 0; i < 512; i += 2) {
        at[i] = (uint8_t)ref_uniform_int(5, (uint64_t)i, 0, 2);
        at[i + 1] = (uint8_t)ref_uniform_int(6, (uint64_t)i, at[i] + 1, 3);
    }
    for (int i = 0; i < 96; i++) {
        e8[i] = (uint8_t)ref_uniform_int(7, (uint64_t)i, 125, 129);
        e4m3[i] = (uint8_t)ref_uniform_int(8, (uint64_t)i, 0x30, 0x47);
    }
}

int main(int argc, char **argv)
{
    static float d[PRODUCTS][M][N];

    ref_init(argc, argv);
    fill();
    product(d[0], fp8, fp8_element, fp8 + 512, fp8_element, 32, 1, e8, e8_value, 0);
    product(d[1], fp8, fp8_element, fp8 + 512, fp8_element, 32, 1, e8, e8_value, 0);
    product(d[2], fp4, fp4_element, fp8 + 512, fp8_element, 32, 1, e8, e8_value, -2.5);
    for (int i = 3; i < 5; i++)
        product(d[i], packed, packed_element, packed + 512, packed_element, 64, 2, e8, e8_value, 3);
    for (int i = 5; i < 7; i++)
        product(d[i], packed, packed_element, packed + 512, packed_element, 64, 4, e4m3, e4m3_value, 3);
    sparse_packed(d[7], 4, e4m3, e4m3_value);
    sparse_packed(d[8], 2, e8, e8_value);
    sparse(d[9]);
    REF_WRITE("fp8.bin", fp8);
    REF_WRITE("fp4.bin", fp4);
    REF_WRITE("packed.bin", packed);
    REF_WRITE("at.bin", at);
    REF_WRITE("e8.bin", e8);
    REF_WRITE("e4m3.bin", e4m3);
    REF_WRITE("d.bin", d);
    return 0;
}
