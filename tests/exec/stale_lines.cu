// L1 keeps lines of the host's memory as they were (--set l1.remote=false: it does not): a plain load may see what was there before, until the
// thread acquires, its SM writes there or a kernel begins. What must be fresh then is: threads of a CTA behind a barrier, CTAs behind a barrier of
// the grid, a kernel behind the host.
#include "check.h"
#include <cooperative_groups.h>

__device__ unsigned load(const unsigned *p)
{
  unsigned v;
  asm volatile("ld.weak.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

// Loads, and says how many cycles pass until it is there. A function, so that its code is there before it counts.
__device__ __noinline__ unsigned timed(const unsigned *p, unsigned *v)
{
  const long long begin = clock64();
  *v = load(p);
  __threadfence_block();
  return unsigned(clock64() - begin);
}

// The host changes data[0] from 1 to 2 between two loads, and says so in flag[0]. out[6]: a load from L1, whatever the code's own cycles.
__global__ void litmus(const unsigned *data, volatile unsigned *flag, unsigned *out)
{
  for (int i = 0; i < 3; i++) out[6] = timed(out + 8, out + 7);
  out[0] = load(data);
  out[4] = timed(data + 1, out + 1); // of the same sector
  flag[0] = 1;
  while (flag[1] != 1);
  out[2] = load(data);
  __threadfence_system();
  out[5] = timed(data, out + 3);
}

// Keeps the GPU at work.
__global__ void hold(volatile unsigned *flag)
{
  while (!*flag);
}

// Every CTA, so every SM, looks at the same word.
__global__ void glance(const unsigned *data, unsigned *out)
{
  out[blockIdx.x] = load(data);
}

// Each thread reads 32 words of its own, one after the other: a sector holds eight.
__global__ void strided(const unsigned *data, unsigned *out)
{
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  for (unsigned k = 0; k < 32; k++) sum += load(data + i * 32 + k);
  out[i] = sum;
}

__device__ unsigned mix(unsigned x)
{
  x = (x ^ x >> 15) * 0x2c1b3c6du;
  return x ^ x >> 12;
}

// Loads that nobody waits for are on their way when the words they want are written, all of them within a CTA. What was written is read while it
// is on its way, and once more when it has long been there.
__global__ void exchange(unsigned *data, unsigned *wrong)
{
  const unsigned n = blockDim.x, t = threadIdx.x;
  unsigned *mine = data + blockIdx.x * n, old = 0;
  for (unsigned round = 1; round <= 24; round++) {
    const unsigned key = mix(round) % n;
    old += load(mine + (t * 7 + round) % n);
    if (round % 3 == 0) atomicExch(mine + (t ^ key), round * n + t);
    else mine[t ^ key] = round * n + t;
    old += load(mine + (t * 5 + round) % n);
    __syncthreads();
    const unsigned at = mix(t + round) % n, expected = round * n + (at ^ key);
    if (load(mine + at) != expected) atomicAdd(wrong, 1);
    __nanosleep(4000);
    if (load(mine + at) != expected) atomicAdd(wrong, 1);
    __syncthreads();
  }
  if (old == 12345) wrong[1] = old;
}

// The same between CTAs, which are on SMs of their own.
__global__ void exchange_grid(unsigned *data, unsigned *wrong)
{
  const unsigned n = blockDim.x * gridDim.x, t = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned round = 1; round <= 8; round++) {
    load(data + (t * 7 + round) % n);
    data[(t + round * blockDim.x) % n] = round * n + t;
    load(data + (t * 5 + round) % n);
    cooperative_groups::this_grid().sync();
    const unsigned at = mix(t + round) % n;
    if (load(data + at) != round * n + (at + n - round * blockDim.x % n) % n) atomicAdd(wrong, 1);
    cooperative_groups::this_grid().sync();
  }
}

int main()
{
  const unsigned n = 4 * 128;
  unsigned *data, *device, *out, seen[7];
  volatile unsigned *flag;
  CUDA(cudaHostAlloc(&data, n * 32 * 4, cudaHostAllocMapped));
  CUDA(cudaHostAlloc((void **)&flag, 64, cudaHostAllocMapped));
  CUDA(cudaMalloc(&out, n * 4));
  flag[0] = flag[1] = 0;
  data[0] = 1;
  litmus<<<1, 1>>>(data, flag, out);
  while (flag[0] != 1);
  data[0] = 2;
  flag[1] = 1;
  CUDA(cudaMemcpy(seen, out, sizeof seen, cudaMemcpyDeviceToHost));
  CHECK(seen[0] == 1 && seen[3] == 2 && (seen[2] == 1 || seen[2] == 2));
  printf("before %u, no fence %u, fence %u; again %s, behind the fence %s\n", seen[0], seen[2], seen[3],
         seen[4] < seen[6] + 200 ? "from L1" : "from afar", seen[5] < seen[6] + 200 ? "from L1" : "from afar");

  for (unsigned i = 0; i < n * 32; i++) data[i] = i;
  cudaEvent_t a, b;
  float ms;
  CUDA(cudaEventCreate(&a));
  CUDA(cudaEventCreate(&b));
  for (unsigned k = 1; k <= 2; k++) { // the host's changes count between launches
    CUDA(cudaEventRecord(a));
    strided<<<4, n / 4>>>(data, out);
    CUDA(cudaEventRecord(b));
    CUDA(cudaEventSynchronize(b));
    unsigned sum[n];
    CUDA(cudaMemcpy(sum, out, sizeof sum, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < n; i++) CHECK(sum[i] == k * (32 * 32 * i + 31 * 16));
    for (unsigned i = 0; i < n * 32; i++) data[i] *= 2;
  }
  CUDA(cudaEventElapsedTime(&ms, a, b));

  cudaStream_t beside, s; // kernels that begin beside another one, on all SMs
  unsigned all[200];
  CUDA(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking));
  CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  flag[2] = 0;
  hold<<<1, 1, 0, beside>>>(flag + 2);
  for (unsigned k = 1; k <= 3; k++) {
    data[0] = k;
    glance<<<200, 1, 0, s>>>(data, out);
    CUDA(cudaMemcpyAsync(all, out, sizeof all, cudaMemcpyDeviceToHost, s));
    CUDA(cudaStreamSynchronize(s));
    for (unsigned i = 0; i < 200; i++) CHECK(all[i] == k);
  }
  flag[2] = 1;
  CUDA(cudaDeviceSynchronize());

  for (unsigned i = 0; i < n; i++) data[i] = 0;
  CUDA(cudaMalloc(&device, 8));
  CUDA(cudaMemset(device, 0, 8));
  exchange<<<4, 128>>>(data, device);
  for (unsigned i = 0; i < n; i++) data[i] = 0;
  void *args[] = {&data, &device};
  CUDA(cudaLaunchCooperativeKernel(exchange_grid, 4, 128, args, 0, 0));
  CUDA(cudaMemcpy(seen, device, 4, cudaMemcpyDeviceToHost));
  CHECK(seen[0] == 0);
}
