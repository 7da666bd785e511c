// One of two sources that need each other.
__device__ int offset = 100;
extern __device__ int scale(int);

extern "C" __global__ void fill(int *p)
{
  p[threadIdx.x] = scale(threadIdx.x) + offset;
}
