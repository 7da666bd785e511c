/* Reference of atomics64. */
#include "../common/ref.h"

int main(int argc, char **argv)
{
    static int64_t in[128];
    static uint64_t r[140], product[1] = {1};
    double top[1] = {-1e300};
    int64_t low = INT64_MAX, high = INT64_MIN;
    uint64_t shared_max[2] = {0}, shared_min[2] = {UINT64_MAX, UINT64_MAX}, shared_xor[2] = {0};

    ref_init(argc, argv);
    r[0] = r[2] = INT64_MAX;
    r[1] = (uint64_t)INT64_MIN;
    r[4] = UINT64_MAX;
    REF_WRITE("r_in.bin", r);
    for (uint64_t i = 0; i < 128; i++) {
        int64_t v = in[i] = (int64_t)ref_splitmix64(381, i) >> i % 20;
        uint64_t u = (uint64_t)v, b = i / 64;
        low = v < low ? v : low;
        high = v > high ? v : high;
        r[2] = u < r[2] ? u : r[2];
        r[3] = u > r[3] ? u : r[3];
        r[4] &= u | 0xff;
        r[5] |= u & 0xf0f0f0f0f0f0f0f0u;
        r[6] ^= u;
        r[7] += u;
        r[8 + i] = u;
        r[136] += u;
        shared_max[b] = u > shared_max[b] ? u : shared_max[b];
        shared_min[b] = u < shared_min[b] ? u : shared_min[b];
        shared_xor[b] ^= u * 3;
        top[0] = (double)v > top[0] ? (double)v : top[0];
        product[0] *= u | 1;
    }
    r[0] = (uint64_t)low;
    r[1] = (uint64_t)high;
    r[137] = shared_max[0] + shared_max[1];
    r[138] = shared_min[0] + shared_min[1];
    r[139] = shared_xor[0] + shared_xor[1];
    REF_WRITE("in.bin", in);
    REF_WRITE("r.bin", r);
    REF_WRITE("top.bin", top);
    REF_WRITE("product.bin", product);
    return 0;
}
