/*
 * Bitonic sort of 512 key-value pairs per CTA in shared memory.  Every compare
 * and exchange step ends in a barrier; the direction is a predicate per thread.
 */
#define N 512

extern "C" __global__ void sort_bitonic(unsigned *key, unsigned *value)
{
    __shared__ unsigned k[N], v[N];
    unsigned base = blockIdx.x * N;

    for (unsigned i = threadIdx.x; i < N; i += blockDim.x) {
        k[i] = key[base + i];
        v[i] = value[base + i];
    }
    __syncthreads();
    for (unsigned size = 2; size <= N; size *= 2)
        for (unsigned stride = size / 2; stride > 0; stride /= 2) {
            unsigned i = 2 * threadIdx.x - (threadIdx.x & (stride - 1)), j = i + stride;
            bool up = (i & size) == 0;
            if ((k[i] > k[j]) == up) {
                unsigned t = k[i];
                k[i] = k[j];
                k[j] = t;
                t = v[i];
                v[i] = v[j];
                v[j] = t;
            }
            __syncthreads();
        }
    for (unsigned i = threadIdx.x; i < N; i += blockDim.x) {
        key[base + i] = k[i];
        value[base + i] = v[i];
    }
}
