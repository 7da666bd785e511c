/* Every lane adds nothing (which the compiler cannot know) to 32 words: all lanes to the same words of one line, whose updates follow each
 * other at one L2 slice, against words of each lane's own in as many lines. */
__device__ void add(float *out, int apart, int lane)
{
    for (int i = 0; i < 32; i++)
        atomicAdd(&out[i * apart + lane], (float)blockIdx.y);
}

extern "C" __global__ void contention_slow(float *out)
{
    add(out, 1, 0);
}

extern "C" __global__ void contention_fast(float *out)
{
    add(out, 32, threadIdx.x & 31);
}
