/*
 * Parameters of 6,032 bytes, more than the 4,352 from which on compilers describe and place them in another way:
 * a structure that stays a parameter and is read through a pointer, uniform and divergent indices, one past it.
 */
struct table {
    double scale;
    unsigned word[1500];
};

__device__ __noinline__ unsigned pick(const unsigned *word, unsigned i)
{
    return word[i * 37 % 1500];
}

extern "C" __global__ void huge_params(char before, const __grid_constant__ struct table t, short after, double *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    double v = t.scale * t.word[i * 29 % 1500] + pick(t.word, i);

    v += t.word[1499] + before + after;
    for (int k = 0; k < 1500; k += 250)
        v += t.word[k + blockIdx.x];
    out[i] = v;
}
