// FP64 on one SM against warps and chains of dependent operations: what RRZE-HPC/gpu-benches (cuda-incore) asked when its
// table was published (49feab8d), in code of our own; tools/curves/curves.py runs it. A round is 128 operations of each
// thread, unrolled as there; multiply-adds of CHAINS chains are as many as go into 128 without a rest. The stores are
// volatile because later compilers make one store of all chains, with a second comparison for each: what is published
// has two FP64 operations a chain beside the multiply-adds, its first sum and one comparison.

enum { OPERATIONS = 128 };

template <unsigned CHAINS> __device__ void multiply_adds(double start, double *out, unsigned rounds)
{
#pragma unroll 1
  for (unsigned r = 0; r < rounds; r++) {
    double x[CHAINS];
#pragma unroll
    for (unsigned c = 0; c < CHAINS; c++) x[c] = start + threadIdx.x + r + c;
#pragma unroll
    for (unsigned i = 0; i < OPERATIONS / CHAINS; i++)
#pragma unroll
      for (unsigned c = 0; c < CHAINS; c++) x[c] = x[c] * 0.9 + 0.5;
#pragma unroll
    for (unsigned c = 0; c < CHAINS; c++)
      if (x[c] > 22313.0) *(volatile double *)out = x[c];
  }
}

extern "C" __global__ void __launch_bounds__(1024) fma1(double s, double *o, unsigned r) { multiply_adds<1>(s, o, r); }
extern "C" __global__ void __launch_bounds__(1024) fma2(double s, double *o, unsigned r) { multiply_adds<2>(s, o, r); }
extern "C" __global__ void __launch_bounds__(1024) fma3(double s, double *o, unsigned r) { multiply_adds<3>(s, o, r); }
extern "C" __global__ void __launch_bounds__(1024) fma4(double s, double *o, unsigned r) { multiply_adds<4>(s, o, r); }
extern "C" __global__ void __launch_bounds__(1024) fma5(double s, double *o, unsigned r) { multiply_adds<5>(s, o, r); }
extern "C" __global__ void __launch_bounds__(1024) fma6(double s, double *o, unsigned r) { multiply_adds<6>(s, o, r); }
extern "C" __global__ void __launch_bounds__(1024) fma7(double s, double *o, unsigned r) { multiply_adds<7>(s, o, r); }
extern "C" __global__ void __launch_bounds__(1024) fma8(double s, double *o, unsigned r) { multiply_adds<8>(s, o, r); }

extern "C" __global__ void __launch_bounds__(1024) roots(double start, double *out, unsigned rounds)
{
#pragma unroll 1
  for (unsigned r = 0; r < rounds; r++) {
    double x = start + threadIdx.x + r;
    for (unsigned i = 0; i < OPERATIONS; i++) x = sqrt(x + 0.2);
    out[threadIdx.x + r] = x;
  }
}
