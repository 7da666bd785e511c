__device__ int factor = 7;

__device__ int scale(int x)
{
  return factor * x;
}

extern "C" __global__ void count(int *p)
{
  p[threadIdx.x] = threadIdx.x + factor;
}
