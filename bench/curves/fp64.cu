// FP64 on one SM against warps and chains of dependent operations: what RRZE-HPC/gpu-benches (cuda-incore) asks, in code
// of our own; tools/curves/curves.py runs it. A round is 1,024 multiply-adds or 128 other operations of each thread,
// unrolled as there.

enum { MULTIPLY_ADDS = 1024, ROOTS = 128 };

template <unsigned CHAINS> __device__ void multiply_adds(double start, double *out, unsigned rounds)
{
#pragma unroll 1
  for (unsigned r = 0; r < rounds; r++) {
    double x[CHAINS];
#pragma unroll
    for (unsigned c = 0; c < CHAINS; c++) x[c] = start + threadIdx.x + r + c;
#pragma unroll
    for (unsigned i = 0; i < MULTIPLY_ADDS / CHAINS; i++)
#pragma unroll
      for (unsigned c = 0; c < CHAINS; c++) x[c] = x[c] * 0.9 + 0.5;
#pragma unroll
    for (unsigned c = 0; c < CHAINS; c++)
      if (x[c] > 22313.0) out[0] = x[c];
  }
}

extern "C" __global__ void __launch_bounds__(1024) fma1(double s, double *o, unsigned r) { multiply_adds<1>(s, o, r); }
extern "C" __global__ void __launch_bounds__(1024) fma2(double s, double *o, unsigned r) { multiply_adds<2>(s, o, r); }
extern "C" __global__ void __launch_bounds__(1024) fma4(double s, double *o, unsigned r) { multiply_adds<4>(s, o, r); }
extern "C" __global__ void __launch_bounds__(1024) fma8(double s, double *o, unsigned r) { multiply_adds<8>(s, o, r); }

extern "C" __global__ void __launch_bounds__(1024) roots(double start, double *out, unsigned rounds)
{
#pragma unroll 1
  for (unsigned r = 0; r < rounds; r++) {
    double x = start + threadIdx.x + r;
    for (unsigned i = 0; i < ROOTS; i++) x = sqrt(x + 0.2);
    out[threadIdx.x + r] = x;
  }
}
