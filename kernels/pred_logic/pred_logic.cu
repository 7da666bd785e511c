/*
 * Predicates as data: many live ones, packed into a register and taken out again (P2R,
 * R2P), three-way logic (PLOP3), exclusive-or of conditions, selects, predicated
 * calls and returns.
 */
static __device__ __noinline__ unsigned mix(unsigned a, unsigned b)
{
    return a * 31 + (b >> 3);
}

extern "C" __global__ void pred_logic(const int *in, unsigned *out, int lo, int hi)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x, r = 0;
    int a = in[i], b = in[n + i], c = in[2 * n + i];
    bool p = a < b, q = b < c, s = c < a, t = a > lo, u = b < hi, v = (c & 1) != 0;
    bool w = a == b || b == c;

    r |= (p && q && !s) | ((p != q) != s) << 1 | ((p ? q : s) << 2);
    r |= ((p && q) || (q && s) || (s && p)) << 3 | (t && u && v) << 4 | (t != u) << 5;
    r |= (unsigned)(p + q + s + t + u + v + w) << 6;
    if (p && (t || u))
        r = mix(r, (unsigned)a);
    if (v ^ q)
        r = mix(r, (unsigned)b);
    else if (w || (s && !t))
        r ^= 0x55550000;
    unsigned packed = p | q << 1 | s << 2 | t << 3 | u << 4 | v << 5 | w << 6;
    packed = __shfl_xor_sync(~0u, packed, 1); /* the neighbour's conditions */
    for (int k = 0; k < 7; k++)
        if (packed >> k & 1)
            r += 0x01000000u + (unsigned)in[k];
    if (packed & 1)
        r ^= (unsigned)a;
    if (packed & 2)
        r += (unsigned)b;
    if (packed & 4)
        r ^= (unsigned)c << 7;
    if (packed & 8)
        r -= (unsigned)b >> 9;
    out[i] = r;
}
