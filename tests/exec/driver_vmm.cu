// Virtual memory management: reserved addresses, memory mapped to them, access, aliases, errors.
#include "driver_check.h"

__global__ void add(int *p, int n, int v)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += v;
}

static CUmemAllocationProp on_device()
{
  CUmemAllocationProp p = {};
  p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  return p;
}

static void give_access(CUdeviceptr p, size_t bytes, CUmemAccess_flags flags)
{
  CUmemAccessDesc d = {};
  d.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  d.flags = flags;
  CU(cuMemSetAccess(p, bytes, &d, 1));
}

static unsigned long long access_of(CUdeviceptr p)
{
  CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  unsigned long long flags = 77;
  CU(cuMemGetAccess(&flags, &here, p));
  return flags;
}

// Two pieces of memory behind each other, used as one array.
static void one_array_of_two(size_t page)
{
  CUmemAllocationProp prop = on_device();
  CUmemGenericAllocationHandle half[2];
  CUdeviceptr p;
  size_t before, now, total;
  CU(cuMemGetInfo(&before, &total));
  CU(cuMemAddressReserve(&p, 4 * page, 0, 0, 0));
  CU(cuMemGetInfo(&now, &total));
  CHECK(now == before); // addresses take no memory
  for (int i = 0; i < 2; i++) CU(cuMemCreate(&half[i], page, &prop, 0));
  CU(cuMemGetInfo(&now, &total));
  CHECK(before - now == 2 * page);
  CHECK(cuMemMap(p + 4 * page, page, 0, half[0], 0) == CUDA_ERROR_INVALID_VALUE); // not reserved
  CHECK(cuMemMap(p, 2 * page, 0, half[0], 0) == CUDA_ERROR_INVALID_VALUE);        // more than there is
  for (int i = 0; i < 2; i++) CU(cuMemMap(p + i * page, page, 0, half[i], 0));
  CHECK(cuMemMap(p, page, 0, half[1], 0) == CUDA_ERROR_INVALID_VALUE);            // taken
  CHECK(cuMemsetD8(p, 0, page) == CUDA_ERROR_INVALID_VALUE);                      // no access yet
  CHECK(access_of(p) == CU_MEM_ACCESS_FLAGS_PROT_NONE);
  give_access(p, 2 * page, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  CHECK(access_of(p + page) == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  for (int i = 0; i < 2; i++) CU(cuMemRelease(half[i])); // mappings keep it
  CHECK(cuMemRelease(half[0]) == CUDA_ERROR_INVALID_VALUE);

  int n = 2 * page / sizeof(int), *host = (int *)malloc(2 * page), wrong = 0;
  CU(cuMemsetD32(p, 5, n));
  add<<<(n + 255) / 256, 256>>>((int *)p, n, 2);
  CU(cuMemcpyDtoH(host, p, 2 * page));
  for (int i = 0; i < n; i++) wrong += host[i] != 7;
  CHECK(wrong == 0);
  free(host);

  cudaPointerAttributes a;
  CUDA(cudaPointerGetAttributes(&a, (void *)(p + page)));
  CHECK(a.type == cudaMemoryTypeDevice && a.hostPointer == NULL);
  CHECK(cuMemFree(p) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemUnmap(p, page / 2) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemAddressFree(p, 4 * page) == CUDA_ERROR_INVALID_VALUE); // still in use
  CU(cuMemUnmap(p, 2 * page));
  CU(cuMemGetInfo(&now, &total));
  CHECK(now == before);
  CU(cuMemAddressFree(p, 4 * page));
  CHECK(cuMemAddressFree(p, 4 * page) == CUDA_ERROR_INVALID_VALUE);
}

// The same memory at two addresses, and what its handle says.
static void two_addresses(size_t page)
{
  CUmemAllocationProp prop = on_device(), back;
  CUmemGenericAllocationHandle h, again;
  CUdeviceptr p[2];
  prop.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC; // a wish that is not met
  CU(cuMemCreate(&h, page, &prop, 0));
  CU(cuMemGetAllocationPropertiesFromHandle(&back, h));
  CHECK(back.type == CU_MEM_ALLOCATION_TYPE_PINNED && back.allocFlags.compressionType == 0);
  for (int i = 0; i < 2; i++) {
    CU(cuMemAddressReserve(&p[i], page, 8 * page, 0, 0));
    CHECK(p[i] % (8 * page) == 0);
    CU(cuMemMap(p[i], page, 0, h, 0));
    give_access(p[i], page, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  }
  CHECK(p[0] != p[1]);
  CU(cuMemRetainAllocationHandle(&again, (void *)p[1]));
  CHECK(again == h);
  int v = 40;
  CU(cuMemcpyHtoD(p[0], &v, sizeof v));
  add<<<1, 32>>>((int *)p[1], 1, 2);
  CU(cuMemcpyDtoH(&v, p[0], sizeof v));
  CHECK(v == 42);
  for (int i = 0; i < 2; i++) {
    CU(cuMemRelease(h));
    CU(cuMemUnmap(p[i], page));
    CU(cuMemAddressFree(p[i], page));
  }
  CHECK(cuMemRelease(h) == CUDA_ERROR_INVALID_VALUE);
}

// A kernel must not reach what is no longer accessible.
static void no_access(size_t page)
{
  CUmemAllocationProp prop = on_device();
  CUmemGenericAllocationHandle h;
  CUdeviceptr p;
  CU(cuMemAddressReserve(&p, page, 0, 0, 0));
  CU(cuMemCreate(&h, page, &prop, 0));
  CU(cuMemMap(p, page, 0, h, 0));
  give_access(p, page, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  add<<<1, 32>>>((int *)p, 32, 1);
  CU(cuCtxSynchronize());
  give_access(p, page, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  add<<<1, 32>>>((int *)p, 32, 1);
  CHECK(cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
}

int main()
{
  CUmemAllocationProp prop = on_device();
  CUdevice device;
  size_t page;
  int has;
  CUDA(cudaFree(0));
  CU(cuCtxGetDevice(&device));
  CU(cuDeviceGetAttribute(&has, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device));
  CHECK(has == 1);
  CU(cuMemGetAllocationGranularity(&page, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CHECK(page >= 4096 && (page & (page - 1)) == 0);
  CUmemGenericAllocationHandle h;
  CHECK(cuMemCreate(&h, page / 2, &prop, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemCreate(&h, page << 30, &prop, 0) == CUDA_ERROR_OUT_OF_MEMORY);
  prop.location.id = 1;
  CHECK(cuMemCreate(&h, page, &prop, 0) == CUDA_ERROR_INVALID_DEVICE);
  one_array_of_two(page);
  two_addresses(page);
  no_access(page);
}
