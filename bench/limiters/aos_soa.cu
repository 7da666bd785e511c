/* CUDA C++ Best Practices Guide, strided accesses: one member of an array of structures of 32 bytes, against the same
 * member in an array of its own. Loads bypass L1, so that no line is met twice. */
struct particle { float mass, rest[7]; };

extern "C" __global__ void aos_soa_slow(const particle *p, const float *mass, float *out, int steps)
{
    unsigned threads = gridDim.x * blockDim.x, t = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    for (int i = 0; i < steps; i++)
        sum += __ldcg(&p[i * threads + t].mass);
    out[t] = sum;
}

extern "C" __global__ void aos_soa_fast(const particle *p, const float *mass, float *out, int steps)
{
    unsigned threads = gridDim.x * blockDim.x, t = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    for (int i = 0; i < steps; i++)
        sum += __ldcg(&mass[i * threads + t]);
    out[t] = sum;
}
