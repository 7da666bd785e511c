// An instance of a GPU (exec --mig): its SMs, memory and L2 as NVIDIA's MIG user guide and nvidia-smi have them, all of its
// SMs at work, its share of the DRAM's rate. The device's name says which one it is.
#include <cstring>

#include "check.h"

struct profile {
  const char *name;
  int sms, slices, of; // of memory, L2 and DRAM
};

static const profile profiles[] = {
    {"A100-PCIE-40GB MIG 1g.5gb", 14, 1, 8},  {"A100-PCIE-40GB MIG 1g.10gb", 14, 2, 8},
    {"A100-PCIE-40GB MIG 2g.10gb", 28, 2, 8}, {"A100-PCIE-40GB MIG 3g.20gb", 42, 4, 8},
    {"A100-PCIE-40GB MIG 4g.20gb", 56, 4, 8}, {"A100-PCIE-40GB MIG 7g.40gb", 98, 8, 8},
};

// The whole GPU's: 40 GB, 40 MB, 1,555 GB/s.
static const double MEMORY = 40960., L2 = 40., RATE = 1555.;

__global__ void where(int *seen)
{
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (threadIdx.x == 0) atomicAdd(&seen[sm], 1);
  long long begin = clock64();
  while (clock64() - begin < 2000) {}
}

static int at_work(int sms)
{
  int *seen, there[1024], n = 0;
  CUDA(cudaMalloc(&seen, sizeof there));
  CUDA(cudaMemset(seen, 0, sizeof there));
  where<<<4 * sms, 1024>>>(seen);
  CUDA(cudaMemcpy(there, seen, sizeof there, cudaMemcpyDeviceToHost));
  for (int sm = 0; sm < 1024; sm++) n += there[sm] > 0;
  CUDA(cudaFree(seen));
  return n;
}

// GB/s that a copy inside the device reads and writes.
static double copy_rate(size_t bytes)
{
  char *a, *b;
  cudaEvent_t e[2];
  float ms;
  CUDA(cudaMalloc(&a, bytes));
  CUDA(cudaMalloc(&b, bytes));
  for (int i = 0; i < 2; i++) CUDA(cudaEventCreate(&e[i]));
  CUDA(cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice, 0));
  CUDA(cudaEventRecord(e[0]));
  CUDA(cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice, 0));
  CUDA(cudaEventRecord(e[1]));
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaEventElapsedTime(&ms, e[0], e[1]));
  return 2. * bytes / (ms * 1e6);
}

int main()
{
  cudaDeviceProp prop;
  int count = 0, aside = -1;
  const profile *is = nullptr;
  CUDA(cudaGetDeviceCount(&count));
  CHECK(count == 1);
  CUDA(cudaGetDeviceProperties(&prop, 0));
  for (const profile &p : profiles)
    if (strstr(prop.name, p.name)) is = &p;
  if (!is) {
    printf("%s: not an instance that is known here\n", prop.name);
    return 1;
  }
  const double share = (double)is->slices / is->of;
  CHECK(prop.multiProcessorCount == is->sms);
  CHECK(at_work(is->sms) == is->sms);
  CHECK(prop.totalGlobalMem == (size_t)(MEMORY * share) << 20);
  CHECK(prop.l2CacheSize == (int)(L2 * share * (1 << 20)));
  CUDA(cudaDeviceGetAttribute(&aside, cudaDevAttrMaxPersistingL2CacheSize, 0)); // the guide: not with instances
  CHECK(aside == 0);
  const double rate = copy_rate(64 << 20);
  printf("%s: %d SMs, %.0f GB/s\n", prop.name, is->sms, rate);
  CHECK(rate > 0.8 * RATE * share && rate < RATE * share);
  return 0;
}
