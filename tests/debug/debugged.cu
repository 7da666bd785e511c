// What the sessions of run.py debug. debugged.sm_86.cubin.xz is made by `nvcc -cubin -arch=sm_86 -lineinfo`, debugged_g by -G instead.
// Lines with a mark are found by it.
__device__ int square(int x)
{
  return x * x; // MARK square
}

__device__ __noinline__ int twice(int x)
{
  return 2 * x + 1; // MARK twice
}

// out[i] = a(i) + a(i+1) for even i, a(i) - (2 a(i-1) + 1) for odd, with a(i) = i² + 3
extern "C" __global__ void work(int *out, int n)
{
  __shared__ int part[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = square(i) + 3; // MARK value
  part[threadIdx.x] = value; // MARK part
  __syncthreads();
  if (threadIdx.x % 2 == 0)
    value += part[threadIdx.x + 1]; // MARK even
  else
    value -= twice(part[threadIdx.x - 1]); // MARK odd
  if (i < n)
    out[i] = value; // MARK out
}

__device__ __noinline__ int factorial(int n)
{
  if (n < 2) return 1; // MARK bottom
  return n * factorial(n - 1); // MARK recurse
}

extern "C" __global__ void deep(int *out)
{
  out[threadIdx.x] = factorial(threadIdx.x % 8);
}

// Each thread adds to one word; local memory by an index that is not known.
extern "C" __global__ void count(int *out, int n)
{
  volatile int mine[16];
  for (int k = 0; k < 16; k++) mine[k] = k * threadIdx.x;
  for (int k = 0; k < n; k++) atomicAdd(out, mine[k % 16]); // MARK add
}
