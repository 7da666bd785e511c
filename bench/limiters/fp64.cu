/* CUDA C++ Best Practices Guide: constants without an f. A polynomial evaluated in double precision, against single. */
template <typename REAL>
__device__ void polynomial(const float *in, float *out, int n)
{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    REAL x = in[t & 255], v = 0;

#pragma unroll 8
    for (int i = 0; i < n; i++)
        v = v * x + (REAL)0.5;
    out[t] = (float)v;
}

extern "C" __global__ void fp64_slow(const float *in, float *out, int n)
{
    polynomial<double>(in, out, n);
}

extern "C" __global__ void fp64_fast(const float *in, float *out, int n)
{
    polynomial<float>(in, out, n);
}
