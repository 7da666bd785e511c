/* Harris, "Optimizing Parallel Reduction in CUDA": a strided index, whose accesses meet in few banks, against sequential
 * addressing. */
extern "C" __global__ void reduce_banks_slow(const int *in, int *out)
{
    extern __shared__ int part[];
    unsigned t = threadIdx.x;

    part[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        unsigned i = 2 * s * t;
        if (i < blockDim.x)
            part[i] += part[i + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}

extern "C" __global__ void reduce_banks_fast(const int *in, int *out)
{
    extern __shared__ int part[];
    unsigned t = threadIdx.x;

    part[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s)
            part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}
