/*
 * 64-bit atomics in global and shared memory: minima and maxima of both signs, logic,
 * addition, exchange, compare-and-swap loops (a double maximum, a product).
 */
typedef unsigned long long u64;

extern "C" __global__ void atomics64(const long long *in, u64 *r, double *top, u64 *product)
{
    __shared__ u64 s[4];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    long long v = in[i];
    u64 u = (u64)v;

    if (t < 4)
        s[t] = t == 2 ? ~0ull : 0;
    __syncthreads();
    atomicMin((long long *)&r[0], v);
    atomicMax((long long *)&r[1], v);
    atomicMin(&r[2], u);
    atomicMax(&r[3], u);
    atomicAnd(&r[4], u | 0xff);
    atomicOr(&r[5], u & 0xf0f0f0f0f0f0f0f0);
    atomicXor(&r[6], u);
    atomicAdd(&r[7], u);
    u64 mine = atomicExch(&r[8 + i], u); /* zero before */
    atomicAdd(&r[7], mine);
    atomicAdd(&s[0], u);
    atomicMax(&s[1], u);
    atomicMin(&s[2], u);
    atomicXor(&s[3], u * 3);

    u64 seen = *(volatile u64 *)top, assumed;
    do { /* maximum of doubles by compare-and-swap */
        assumed = seen;
        if (__longlong_as_double((long long)assumed) >= (double)v)
            break;
        seen = atomicCAS((u64 *)top, assumed, (u64)__double_as_longlong((double)v));
    } while (seen != assumed);
    seen = *(volatile u64 *)product;
    do {
        assumed = seen;
        seen = atomicCAS(product, assumed, assumed * (u | 1));
    } while (seen != assumed);
    __syncthreads();
    if (t < 4)
        atomicAdd(&r[136 + t], s[t]);
}
