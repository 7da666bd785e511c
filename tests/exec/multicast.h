// What the programs about multicast objects share: a team of GPUs, its object, its memory.
#pragma once
#include "driver_check.h"
#include <cstdint>
#include <cstring>
#include <vector>

struct team {
  int n;
  size_t bytes;
  CUmemGenericAllocationHandle object;
  std::vector<CUmemGenericAllocationHandle> memory;
  std::vector<CUdeviceptr> own; // of each GPU
  CUdeviceptr all;              // the object's, for kernels of every one of them
  std::vector<cudaStream_t> stream;
};

static CUmemAccessDesc access_of_gpu(int gpu)
{
  CUmemAccessDesc d = {};
  d.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  d.location.id = gpu;
  d.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return d;
}

static CUmemAllocationProp memory_of_gpu(int gpu)
{
  CUmemAllocationProp p = {};
  p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  p.location.id = gpu;
  return p;
}

static team make_team(int n, size_t granules)
{
  team t = {};
  CUmulticastObjectProp prop = {};
  std::vector<CUmemAccessDesc> access;
  size_t granule = 0;
  t.n = n;
  prop.numDevices = n;
  prop.size = 1;
  CU(cuMulticastGetGranularity(&granule, &prop, CU_MULTICAST_GRANULARITY_MINIMUM));
  t.bytes = prop.size = granules * granule;
  CU(cuMulticastCreate(&t.object, &prop));
  for (int i = n - 1; i >= 0; i--) CU(cuMulticastAddDevice(t.object, i));
  t.memory.resize(n), t.own.resize(n), t.stream.resize(n);
  for (int i = 0; i < n; i++) {
    const CUmemAllocationProp m = memory_of_gpu(i);
    const CUmemAccessDesc d = access_of_gpu(i);
    CUDA(cudaSetDevice(i));
    CUDA(cudaStreamCreate(&t.stream[i]));
    CU(cuMemCreate(&t.memory[i], t.bytes, &m, 0));
    CU(cuMemAddressReserve(&t.own[i], t.bytes, 0, 0, 0));
    CU(cuMemMap(t.own[i], t.bytes, 0, t.memory[i], 0));
    CU(cuMemSetAccess(t.own[i], t.bytes, &d, 1));
    CU(cuMulticastBindMem(t.object, 0, t.memory[i], 0, t.bytes, 0));
    access.push_back(d);
  }
  CU(cuMemAddressReserve(&t.all, t.bytes, 0, 0, 0));
  CU(cuMemMap(t.all, t.bytes, 0, t.object, 0));
  CU(cuMemSetAccess(t.all, t.bytes, access.data(), n));
  return t;
}

static void end_team(team &t)
{
  CU(cuMemUnmap(t.all, t.bytes));
  CU(cuMemAddressFree(t.all, t.bytes));
  for (int i = 0; i < t.n; i++) {
    CU(cuMulticastUnbind(t.object, i, 0, t.bytes));
    CU(cuMemUnmap(t.own[i], t.bytes));
    CU(cuMemAddressFree(t.own[i], t.bytes));
    CU(cuMemRelease(t.memory[i]));
    CUDA(cudaStreamDestroy(t.stream[i]));
  }
  CU(cuMemRelease(t.object));
}

static void finish(const team &t)
{
  for (int i = 0; i < t.n; i++) {
    CUDA(cudaSetDevice(i));
    CUDA(cudaStreamSynchronize(t.stream[i]));
  }
}
