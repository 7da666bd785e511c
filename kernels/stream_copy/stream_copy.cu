/*
 * Copy with 128-bit loads and stores, no arithmetic.  Benchmark of DRAM
 * bandwidth: raise n4 and the buffers for a long run.
 */
extern "C" __global__ void stream_copy(uint4 *__restrict__ out, const uint4 *__restrict__ in,
                                       unsigned n4)
{
    unsigned stride = gridDim.x * blockDim.x;

    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += stride)
        out[i] = in[i];
}
