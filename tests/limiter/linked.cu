/* Kernels on memory of the host, of another GPU and of their own (tests/limiter/run.sh has what bounds them). */
#include <cstdio>
#include <cstdlib>

static void check(cudaError_t e)
{
  if (e == cudaSuccess) return;
  fprintf(stderr, "linked: %s\n", cudaGetErrorString(e));
  exit(1);
}

__global__ void stream(const float4 *from, float *sum, int n)
{
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (int i = first; i < n; i += gridDim.x * blockDim.x) s += from[i].x + from[i].y + from[i].z + from[i].w;
  sum[first] = s;
}

__global__ void fill(float4 *to, int n)
{
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) to[i] = make_float4(i, 1, 2, 3);
}

__global__ void chase(const int *next, int *last, int steps)
{
  int at = 0;
  for (int i = 0; i < steps; i++) at = next[at];
  *last = at;
}

int main()
{
  enum { N = 1 << 17, CTAS = 164, THREADS = 256, HOPS = 100, APART = 64 };
  float4 *host, *peer, *own;
  float *sum;
  check(cudaSetDevice(1));
  check(cudaMalloc(&peer, N * sizeof *peer));
  check(cudaSetDevice(0));
  check(cudaDeviceEnablePeerAccess(1, 0));
  check(cudaMallocHost(&host, N * sizeof *host));
  check(cudaMalloc(&own, N * sizeof *own));
  check(cudaMalloc(&sum, CTAS * THREADS * sizeof *sum));
  int *ring = (int *)host;

  stream<<<CTAS, THREADS>>>(host, sum, N);
  check(cudaDeviceSynchronize());
  fill<<<CTAS, THREADS>>>(host, N);
  check(cudaDeviceSynchronize());
  for (int i = 0; i < HOPS; i++) ring[i * APART] = (i + 1) % HOPS * APART;
  chase<<<CTAS / 2, 32>>>(ring, (int *)sum, HOPS);
  check(cudaDeviceSynchronize());
  stream<<<CTAS, THREADS>>>(peer, sum, N);
  check(cudaDeviceSynchronize());
  stream<<<CTAS, THREADS>>>(own, sum, N);
  check(cudaDeviceSynchronize());
}
