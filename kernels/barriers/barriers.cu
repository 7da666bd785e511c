/*
 * CTA barriers: two named barriers each joining half of the CTA, a producer and
 * consumer pair with bar.arrive and bar.sync, and the reducing barriers behind
 * __syncthreads_count, _and and _or.
 */
static __device__ void bar_sync(unsigned id, unsigned threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

static __device__ void bar_arrive(unsigned id, unsigned threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

#define FULL 3
#define EMPTY 4

extern "C" __global__ void barriers(const int *in, int *out, unsigned rounds)
{
    __shared__ int half_data[128], box[64];
    unsigned t = threadIdx.x, n = blockDim.x; /* 128 */
    unsigned half = t / 64, i = blockIdx.x * n + t;
    int x = in[i];
    int *o = out + 6 * i;

    /* each half rotates its values, the first a different number of times */
    half_data[t] = x;
    for (unsigned k = 0; k < (half == 0 ? 3 : 5); k++) {
        bar_sync(1 + half, 64);
        int next = half_data[half * 64 + (t + 1) % 64];
        bar_sync(1 + half, 64);
        half_data[t] = next;
    }
    o[0] = half_data[t]; /* one's own word */
    __syncthreads();

    int sum = 0;
    if (half == 0) {
        for (unsigned k = 0; k < rounds; k++) {
            bar_sync(EMPTY, 128);
            box[t] = x + (int)k;
            bar_arrive(FULL, 128);
        }
    } else {
        bar_arrive(EMPTY, 128);
        for (unsigned k = 0; k < rounds; k++) {
            bar_sync(FULL, 128);
            sum = sum * 3 + box[(t + k) % 64];
            if (k + 1 < rounds)
                bar_arrive(EMPTY, 128);
        }
    }
    o[1] = sum;

    o[2] = __syncthreads_count(x & 1);
    o[3] = __syncthreads_and(x < 990);
    o[4] = __syncthreads_or(x % 101 == 0);
    o[5] = __syncthreads_count(t < 100 && x > 500);
}
