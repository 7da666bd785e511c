/* Every warp adds to each of 32 words: words of one line, whose atomics meet at one L2 slice, against words of as many lines. */
__device__ void add(float *out, int apart)
{
    for (int i = 0; i < 32; i++)
        atomicAdd(&out[i * apart], (float)(threadIdx.x & 3));
}

extern "C" __global__ void contention_slow(float *out)
{
    add(out, 1);
}

extern "C" __global__ void contention_fast(float *out)
{
    add(out, 32);
}
