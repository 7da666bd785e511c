/* Reference of atomics: each word's final value from what all threads contribute. */
#include "../common/ref.h"

enum { BLOCKS = 2, THREADS = 128, N = BLOCKS * THREADS, W = 14, D = 11 };

static const uint32_t w_init[W] = {5, 0, 0, 0, 0xffffffffu, 0, 0, 0, 0xffffffffu, 0, 0, 7, 1, 0};
static const uint64_t d_init[D] = {5, 0, 0, UINT64_MAX, 0, UINT64_MAX, 0, 0, 7, 1, 0};

static uint32_t value(unsigned i)
{
    return (uint32_t)ref_uniform_int(110, i, 1, 1000);
}

/* contributions of threads first .. first + count - 1; sets bit (i - bias) */
static void words(uint32_t *w, uint64_t *d, unsigned first, unsigned count, unsigned bias)
{
    int32_t min = 0, max = 0;
    int64_t min64 = 0, max64 = 0;
    float real = 0;
    double real64 = 0;

    memcpy(w, w_init, sizeof w_init);
    memcpy(d, d_init, sizeof d_init);
    w[6] = count % 100;
    w[7] = (100 - count % 100) % 100;
    w[11] = 42;
    d[8] = 0x4200000042;
    for (unsigned i = first; i < first + count; i++) {
        uint32_t v = value(i);
        int32_t s = (int32_t)v - 500;
        uint64_t x = (uint64_t)v * 0x100000001u;
        int64_t sx = (int64_t)x - ((int64_t)1 << 41);

        w[0] += v;
        w[1] -= v;
        min = s < min ? s : min;
        max = s > max ? s : max;
        w[4] = v < w[4] ? v : w[4];
        w[5] = v > w[5] ? v : w[5];
        w[8] &= ~(1u << v % 16);
        w[9] |= 1u << (i - bias) % 32;
        w[10] ^= v * 2654435761u;
        w[12] = 3 * w[12] + 1;
        real += (float)(v % 8) - 3.0f;

        d[0] += x;
        min64 = sx < min64 ? sx : min64;
        max64 = sx > max64 ? sx : max64;
        d[3] = x < d[3] ? x : d[3];
        d[4] = x > d[4] ? x : d[4];
        d[5] &= ~((uint64_t)1 << v % 32);
        d[6] |= (uint64_t)1 << (i - bias) % 64;
        d[7] ^= x * 0x9E3779B97F4A7C15u;
        d[9] = 5 * d[9] + 1;
        real64 += (double)v * 0.25;
    }
    w[2] = (uint32_t)min;
    w[3] = (uint32_t)max;
    memcpy(&w[13], &real, sizeof real);
    d[1] = (uint64_t)min64;
    d[2] = (uint64_t)max64;
    memcpy(&d[10], &real64, sizeof real64);
}

int main(int argc, char **argv)
{
    static const uint32_t tickets_init[3] = {0, 0, N}, tickets[3] = {N, N, 0};
    static uint32_t w[2 * W], shared_out[BLOCKS][W], init[2 * W], mark[3 * N];
    static uint64_t d[2 * D], shared_out64[BLOCKS][D], init64[2 * D];
    uint16_t h[2];
    unsigned low = 0, high = 0;

    ref_init(argc, argv);
    for (unsigned k = 0; k < 2; k++) {
        memcpy(init + W * k, w_init, sizeof w_init);
        memcpy(init64 + D * k, d_init, sizeof d_init);
        memcpy(w + W * k, w_init, sizeof w_init);
        memcpy(d + D * k, d_init, sizeof d_init);
    }
    words(w, d, 0, N, 0);
    for (unsigned b = 0; b < BLOCKS; b++)
        words(shared_out[b], shared_out64[b], b * THREADS, THREADS, b * THREADS);
    for (unsigned i = 0; i < N; i++) {
        low += value(i) % 4;
        high += value(i) % 2;
    }
    h[0] = ref_f16(low);
    h[1] = ref_f16(-(long double)high);
    for (unsigned i = 0; i < 3 * N; i++)
        mark[i] = 1;
    REF_WRITE("w_init.bin", init);
    REF_WRITE("d_init.bin", init64);
    REF_WRITE("w.bin", w);
    REF_WRITE("d.bin", d);
    REF_WRITE("h.bin", h);
    REF_WRITE("tickets_init.bin", tickets_init);
    REF_WRITE("tickets.bin", tickets);
    REF_WRITE("mark.bin", mark);
    REF_WRITE("shared_out.bin", shared_out);
    REF_WRITE("shared_out64.bin", shared_out64);
    return 0;
}
