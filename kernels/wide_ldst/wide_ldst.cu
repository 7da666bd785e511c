// Loads and stores of 256 bits: whole, some words only, both halves apart, negative offsets, FP64 and
// integers, weak and strong, in part of a warp.
typedef unsigned long long u64;

struct oct {
    unsigned w[8];
};

#define OCT_OUT(v)                                                                                 \
    "=r"(v.w[0]), "=r"(v.w[1]), "=r"(v.w[2]), "=r"(v.w[3]), "=r"(v.w[4]), "=r"(v.w[5]),            \
        "=r"(v.w[6]), "=r"(v.w[7])
#define OCT_IN(v)                                                                                  \
    "r"(v.w[0]), "r"(v.w[1]), "r"(v.w[2]), "r"(v.w[3]), "r"(v.w[4]), "r"(v.w[5]), "r"(v.w[6]),     \
        "r"(v.w[7])

__device__ oct load(const void *p)
{
    oct v;
    asm volatile("ld.global.v8.b32 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8];" : OCT_OUT(v) : "l"(p) : "memory");
    return v;
}

__device__ oct load_strong(const void *p)
{
    oct v;
    asm volatile("ld.relaxed.gpu.global.v8.b32 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8+-32];" : OCT_OUT(v)
                 : "l"(p) : "memory");
    return v;
}

__device__ void store(void *p, oct v)
{
    asm volatile("st.global.v8.b32 [%8], {%0,%1,%2,%3,%4,%5,%6,%7};" ::OCT_IN(v), "l"(p) : "memory");
}

__device__ void store_strong(void *p, oct v)
{
    asm volatile("st.relaxed.sys.global.v8.b32 [%8+-64], {%0,%1,%2,%3,%4,%5,%6,%7};" ::OCT_IN(v), "l"(p)
                 : "memory");
}

extern "C" __global__ void wide_ldst(const char *in, char *out, double *sums, unsigned *some)
{
    unsigned t = threadIdx.x;
    double a, b, c, d;
    unsigned x, y, z;

    // Consecutive lanes, 32 bytes each.
    store(out + 32 * t, load(in + 32 * t));
    // Reversed lanes and words, strong.
    oct v = load_strong(in + 32 * (64 - t));
    for (int i = 0; i < 4; i++) {
        unsigned w = v.w[i];
        v.w[i] = v.w[7 - i];
        v.w[7 - i] = w;
    }
    store_strong(out + 2048 + 64 + 32 * t, v);
    // Every third lane, scattered.
    if (t % 3 == 0)
        store(out + 4096 + 32 * (t * 7 % 64), load(in + 32 * (t * 5 % 64)));
    // Four doubles.
    asm volatile("ld.global.L1::evict_first.v4.f64 {%0,%1,%2,%3}, [%4];"
                 : "=d"(a), "=d"(b), "=d"(c), "=d"(d) : "l"(in + 2048 + 32 * t));
    sums[t] = (a - b) * c + d;
    // Some words of the eight, and the upper half alone.
    asm volatile("ld.global.v8.b32 {%0,_,_,_,_,%1,_,%2}, [%3];" : "=r"(x), "=r"(y), "=r"(z)
                 : "l"(in + 32 * t));
    some[2 * t] = x ^ y * 3 ^ z * 5;
    u64 p, q;
    asm volatile("ld.global.v4.b64 {_,_,%0,%1}, [%2];" : "=l"(p), "=l"(q) : "l"(in + 32 * t));
    some[2 * t + 1] = (unsigned)(p >> 7 ^ q);
}
