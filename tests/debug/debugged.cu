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

// Types: structures in structures, bases, fields of bits, unions, enumerations, pointers, references, arrays of arrays.
struct Vec { float x, y; };
struct Base { int id; };
struct Body : Base
{
  Vec at;
  double mass;
  int tag[3];
  Body *next;
  unsigned low : 3, high : 5;
  int negative : 4;
};
enum Colour { RED = 1, GREEN = 7 };
union Both { int i; float f; };
__device__ Body table[4];
__constant__ int scale = 3;

__device__ __noinline__ float weight(const Body &b, Vec *v)
{
  Both both;
  both.f = b.mass * v->x; // MARK weight
  return both.f + both.i * 0; // MARK both
}

extern "C" __global__ void typed(Body first, float *out)
{
  __shared__ int before[4];
  __shared__ Vec tile[32];
  int m[2][3];
  Colour colour = GREEN;
  Body mine = first, *p = &mine;
  for (int i = 0; i < 6; i++) m[i / 3][i % 3] = 10 * i + threadIdx.x;
  before[threadIdx.x % 4] = 1;
  tile[threadIdx.x].x = threadIdx.x;
  tile[threadIdx.x].y = -1;
  table[1].id = 77;
  p->next = &table[1];
  p->low = 5, p->high = 17, p->negative = -3;
  Vec v = {2.0f + threadIdx.x, 3.0f};
  __syncthreads();
  out[threadIdx.x] = weight(*p, &v) + m[1][2] + scale + colour + before[0] + tile[0].y; // MARK typed
}
