/*
 * Levenshtein distance by Myers' bit-parallel method, one pair of strings of up to 64
 * characters per thread: 64-bit additions with carries, shifts and logic; the match
 * masks are built in local memory.
 */
typedef unsigned long long u64;

extern "C" __global__ void edit_distance(const unsigned char *a, const unsigned char *b,
                                         const int *len, int *distance)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, m = len[2 * i], n = len[2 * i + 1];
    u64 match[8] = {}, plus = ~0ull, minus = 0, top = 1ull << (m - 1);
    int d = m;

    for (int k = 0; k < m; k++)
        match[a[64 * i + k] & 7] |= 1ull << k;
    for (int k = 0; k < n; k++) {
        u64 eq = match[b[64 * i + k] & 7];
        u64 v = eq | minus, h = ((eq & plus) + plus ^ plus) | eq;
        u64 up = minus | ~(h | plus), down = plus & h;
        d += (up & top) != 0;
        d -= (down & top) != 0;
        up = up << 1 | 1;
        down <<= 1;
        plus = down | ~(v | up);
        minus = up & v;
    }
    distance[i] = d;
}
