// What programs with green contexts share: groups of SMs, and kernels that say where they ran.
#pragma once
#include <set>
#include <vector>

#include "driver_check.h"

static void check(bool right, const char *what)
{
  if (right) return;
  printf("wrong: %s\n", what);
  exit(1);
}

struct group {
  CUdevResource sms;
  CUgreenCtx green;
  CUcontext context;
  CUstream stream;
};

// Green contexts of groups of at least `least` SMs each; as many as were asked for.
static std::vector<group> groups_of(CUdevice device, unsigned n, unsigned least, CUdevResource *rest)
{
  CUdevResource all, part[64];
  std::vector<group> g(n);
  unsigned got = n;
  CU(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
  CU(cuDevSmResourceSplitByCount(part, &got, &all, rest, 0, least));
  check(got == n, "groups of the split");
  for (unsigned i = 0; i < n; i++) {
    CUdevResourceDesc d;
    g[i].sms = part[i];
    CU(cuDevResourceGenerateDesc(&d, &part[i], 1));
    CU(cuGreenCtxCreate(&g[i].green, d, device, CU_GREEN_CTX_DEFAULT_STREAM));
    CU(cuCtxFromGreenCtx(&g[i].context, g[i].green));
    CU(cuGreenCtxStreamCreate(&g[i].stream, g[i].green, CU_STREAM_NON_BLOCKING, 0));
  }
  return g;
}

static __device__ unsigned sm_id()
{
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

// Each CTA says on which SM it runs, and stays for so many cycles. Shared memory for it lets an SM hold one of them.
__global__ void stay(unsigned *sm, long long cycles)
{
  extern __shared__ char filler[];
  long long begin = clock64();
  if (threadIdx.x == 0) sm[blockIdx.x] = sm_id(), filler[0] = 1;
  while (clock64() - begin < cycles) continue;
}

static std::set<unsigned> distinct(const unsigned *sm, unsigned n)
{
  return std::set<unsigned>(sm, sm + n);
}

// Dynamic shared memory, of which two do not fit an SM.
static unsigned alone_in_sm(int device)
{
  cudaDeviceProp p;
  CUDA(cudaGetDeviceProperties(&p, device));
  unsigned bytes = (unsigned)(p.sharedMemPerMultiprocessor / 2 + 2048) / 1024 * 1024;
  CUDA(cudaFuncSetAttribute(stay, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  return bytes;
}
