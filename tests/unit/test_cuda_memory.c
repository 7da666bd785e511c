/* Memory of the driver interface: allocations and what they say of themselves, copies, fills, pools, virtual memory
 * management. Expected values: CUDA Driver API reference, sections Memory Management, Unified Addressing, Stream Ordered Memory
 * Allocator, Virtual Memory Management. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

#include "cuda_rig.h"

CUresult cuMemAllocPitch_v2(CUdeviceptr *, size_t *, size_t, size_t, unsigned);
CUresult cuMemHostAlloc(void **, size_t, unsigned);
CUresult cuMemFreeHost(void *);
CUresult cuMemHostRegister_v2(void *, size_t, unsigned);
CUresult cuMemHostUnregister(void *);
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *, void *, unsigned);
CUresult cuMemHostGetFlags(unsigned *, void *);
CUresult cuMemAllocManaged(CUdeviceptr *, size_t, unsigned);
CUresult cuMemGetInfo_v2(size_t *, size_t *);
CUresult cuMemGetAddressRange_v2(CUdeviceptr *, size_t *, CUdeviceptr);
CUresult cuPointerGetAttribute(void *, int, CUdeviceptr);
CUresult cuPointerGetAttributes(unsigned, const int *, void **, CUdeviceptr);
CUresult cuPointerSetAttribute(const void *, int, CUdeviceptr);
CUresult cuMemPoolGetAccess(int *, CUmemoryPool, const CUmemLocation *);
CUresult cuMemcpy(CUdeviceptr, CUdeviceptr, size_t);
CUresult cuMemcpyDtoD_v2(CUdeviceptr, CUdeviceptr, size_t);
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *);
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *);
CUresult cuMemsetD16_v2(CUdeviceptr, unsigned short, size_t);
CUresult cuMemsetD2D8_v2(CUdeviceptr, size_t, unsigned char, size_t, size_t);
CUresult cuMemsetD2D16_v2(CUdeviceptr, size_t, unsigned short, size_t, size_t);
CUresult cuMemsetD2D32_v2(CUdeviceptr, size_t, unsigned, size_t, size_t);
CUresult cuMemAllocAsync(CUdeviceptr *, size_t, CUstream);
CUresult cuMemFreeAsync(CUdeviceptr, CUstream);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *, size_t, CUmemoryPool, CUstream);
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *, CUdevice);
CUresult cuDeviceGetMemPool(CUmemoryPool *, CUdevice);
CUresult cuDeviceSetMemPool(CUdevice, CUmemoryPool);
CUresult cuMemPoolCreate(CUmemoryPool *, const CUmemPoolProps *);
CUresult cuMemPoolDestroy(CUmemoryPool);
CUresult cuMemPoolGetAttribute(CUmemoryPool, int, void *);
CUresult cuMemPoolSetAttribute(CUmemoryPool, int, void *);
CUresult cuMemPoolTrimTo(CUmemoryPool, size_t);
CUresult cuMemGetAllocationGranularity(size_t *, const CUmemAllocationProp *, int);
CUresult cuMemAddressReserve(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long);
CUresult cuMemAddressFree(CUdeviceptr, size_t);
CUresult cuMemCreate(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long);
CUresult cuMemRelease(CUmemGenericAllocationHandle);
CUresult cuMemMap(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long);
CUresult cuMemUnmap(CUdeviceptr, size_t);
CUresult cuMemSetAccess(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t);
CUresult cuMemGetAccess(unsigned long long *, const CUmemLocation *, CUdeviceptr);

static void allocations(void **state)
{
  CUdeviceptr p, q, base;
  size_t free_before, free_after, total, bytes;
  (void)state;
  OK(cuMemGetInfo_v2(&free_before, &total));
  assert_int_equal(total >> 30, 8);
  assert_true(free_before <= total);
  OK(cuMemAlloc_v2(&p, 100 << 20));
  OK(cuMemGetInfo_v2(&free_after, &total));
  assert_true(free_before - free_after >= 100 << 20 && free_before - free_after < 104 << 20);
  OK(cuMemAlloc_v2(&q, 1));
  assert_int_equal(p % 256, 0); /* "suitably aligned for any kind of variable": 256 bytes (Programming Guide) */
  assert_int_equal(q % 256, 0);
  assert_true(q >= p + (100 << 20) || q < p);
  OK(cuMemGetAddressRange_v2(&base, &bytes, p + 12345));
  assert_int_equal(base, p);
  assert_int_equal(bytes, 100 << 20);
  OK(cuMemGetAddressRange_v2(NULL, &bytes, q)); /* either is optional */
  assert_int_equal(bytes, 1);
  assert_int_equal(cuMemAlloc_v2(&q, 0), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemAlloc_v2(NULL, 4), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemAlloc_v2(&base, (size_t)9 << 30), CUDA_ERROR_OUT_OF_MEMORY);
  assert_int_equal(cuMemAlloc_v2(&base, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY);
  assert_int_equal(cuMemFree_v2(p + 256), CUDA_ERROR_INVALID_VALUE); /* not what cuMemAlloc gave */
  OK(cuMemFree_v2(p));
  assert_int_equal(cuMemFree_v2(p), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemGetAddressRange_v2(&base, &bytes, p), CUDA_ERROR_NOT_FOUND);
  OK(cuMemFree_v2(0)); /* nothing happens */
  OK(cuMemFree_v2(q));
  OK(cuMemGetInfo_v2(&free_after, &total));
  assert_int_equal(free_after, free_before);
  assert_int_equal(cuMemGetInfo_v2(NULL, &total), CUDA_ERROR_INVALID_VALUE);
}

static void pitched(void **state)
{
  CUdeviceptr p;
  size_t pitch, bytes;
  (void)state;
  for (size_t width = 1; width < 3000; width = width * 3 + 1) {
    OK(cuMemAllocPitch_v2(&p, &pitch, width, 7, 4));
    assert_true(pitch >= width && pitch < width + 512);
    assert_int_equal(pitch % 32, 0); /* CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT of all GPUs served */
    OK(cuMemGetAddressRange_v2(NULL, &bytes, p));
    assert_true(bytes >= 6 * pitch + width && bytes <= 7 * pitch);
    OK(cuMemFree_v2(p));
  }
  static const unsigned bad[] = {0, 1, 2, 3, 5, 12, 32}; /* "ElementSizeBytes may be 4, 8, or 16" */
  for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_int_equal(cuMemAllocPitch_v2(&p, &pitch, 64, 4, bad[i]), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemAllocPitch_v2(&p, &pitch, 0, 4, 4), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemAllocPitch_v2(&p, &pitch, 64, 0, 4), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemAllocPitch_v2(&p, NULL, 64, 4, 4), CUDA_ERROR_INVALID_VALUE);
}

static void host_memory(void **state)
{
  void *h;
  CUdeviceptr d;
  unsigned flags = 9;
  char *own = aligned_alloc(4096, 8192);
  (void)state;
  OK(cuMemHostAlloc(&h, 1000, HOST_ALLOC_MAPPED | HOST_ALLOC_PORTABLE));
  memset(h, 1, 1000);
  OK(cuMemHostGetFlags(&flags, h));
  assert_int_equal(flags, HOST_ALLOC_MAPPED | HOST_ALLOC_PORTABLE);
  OK(cuMemHostGetDevicePointer_v2(&d, h, 0));
  assert_int_equal(cuMemHostGetDevicePointer_v2(&d, h, 1), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemHostAlloc(&h, 10, 8), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemFreeHost(h));
  assert_int_equal(cuMemFreeHost(h), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemHostGetFlags(&flags, own), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemHostRegister_v2(own, 8192, 0));
  assert_int_equal(cuMemHostRegister_v2(own, 8192, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  OK(cuMemHostUnregister(own));
  assert_int_equal(cuMemHostUnregister(own), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  assert_int_equal(cuMemHostRegister_v2(own, 0, 0), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemHostRegister_v2(NULL, 8192, 0), CUDA_ERROR_INVALID_VALUE);
  free(own);
}

/* CUpointer_attribute: 1 context, 2 memory type, 3 device pointer, 4 host pointer, 7 buffer id, 8 managed, 9 device
 * ordinal, 11 range start, 12 range size, 13 mapped. */
static void pointer_attributes(void **state)
{
  CUdeviceptr d, m, start, dp;
  CUcontext current, of;
  void *h, *hp;
  unsigned type;
  int managed = 9, ordinal = 9;
  unsigned long long id_d, id_m;
  size_t size;
  (void)state;
  OK(cuCtxGetCurrent(&current));
  OK(cuMemAlloc_v2(&d, 1000));
  OK(cuMemAllocManaged(&m, 1000, MANAGED_GLOBAL));
  OK(cuMemHostAlloc(&h, 1000, 0));
  OK(cuPointerGetAttribute(&type, 2, d + 10));
  assert_int_equal(type, MEM_DEVICE);
  OK(cuPointerGetAttribute(&type, 2, (CUdeviceptr)(uintptr_t)h));
  assert_int_equal(type, MEM_HOST);
  OK(cuPointerGetAttribute(&of, 1, d));
  assert_ptr_equal(of, current);
  OK(cuPointerGetAttribute(&dp, 3, d + 8));
  assert_int_equal(dp, d + 8);
  OK(cuPointerGetAttribute(&hp, 4, (CUdeviceptr)(uintptr_t)h + 4));
  assert_ptr_equal(hp, (char *)h + 4);
  assert_int_equal(cuPointerGetAttribute(&hp, 4, d), CUDA_ERROR_INVALID_VALUE); /* no host pointer */
  OK(cuPointerGetAttribute(&managed, 8, m));
  assert_int_equal(managed, 1);
  OK(cuPointerGetAttribute(&managed, 8, d));
  assert_int_equal(managed & 0xff, 0);
  OK(cuPointerGetAttribute(&ordinal, 9, d));
  assert_int_equal(ordinal, 0);
  OK(cuPointerGetAttribute(&start, 11, d + 999));
  assert_int_equal(start, d);
  OK(cuPointerGetAttribute(&size, 12, d + 999));
  assert_int_equal(size, 1000);
  OK(cuPointerGetAttribute(&id_d, 7, d));
  OK(cuPointerGetAttribute(&id_m, 7, m));
  assert_true(id_d != id_m);
  assert_int_equal(cuPointerGetAttribute(&type, 2, 0x10), CUDA_ERROR_INVALID_VALUE);
  assert_true(cuPointerGetAttribute(&type, 9999, d) != CUDA_SUCCESS);
  assert_int_equal(cuPointerGetAttribute(NULL, 2, d), CUDA_ERROR_INVALID_VALUE);
  void *out[2] = {&type, &start};
  static const int which[2] = {2, 11};
  OK(cuPointerGetAttributes(2, which, out, d + 1));
  assert_int_equal(type, MEM_DEVICE);
  assert_int_equal(start, d);
  type = 77;
  OK(cuPointerGetAttributes(1, which, out, 0x10)); /* unknown pointers give zero here, no error */
  assert_int_equal(type, 0);
  assert_int_equal(cuMemAllocManaged(&m, 1000, 3), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemAllocManaged(&m, 0, MANAGED_GLOBAL), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemFree_v2(d));
  OK(cuMemFreeHost(h));
}

/* 6 copies return when done, 10 export by cudaIpc, 14 kinds of handles, 15 RDMA, 16 access, 17 pool, 18 and 19 mapping,
 * 20 memory, 21 decompression. */
static uint64_t pointer_value(int which, CUdeviceptr p)
{
  uint64_t v = UINT64_MAX;
  OK(cuPointerGetAttribute(&v, which, p));
  const bool word = which == 6 || which == 10 || which == 15 || which == 16 || which == 21;
  assert_true(!word || v >> 32 == UINT32_MAX); /* no more than a word was written */
  return word ? (uint32_t)v : v;
}

static void pointer_origins(void **state)
{
  enum { FD = 1, READ_WRITE = 3 };
  const CUmemLocation here = {LOCATION_DEVICE, 0}, host = {LOCATION_HOST, 0};
  const CUmemAllocationProp prop = {.type = 1, .handle_types = FD, .location = here};
  const CUmemAccessDesc access = {here, READ_WRITE};
  const unsigned yes = 1;
  CUmemGenericAllocationHandle h;
  CUmemoryPool pool;
  CUdeviceptr d, a, range;
  size_t unit;
  void *pinned;
  int flags = 7;
  (void)state;
  OK(cuMemAlloc_v2(&d, 1000));
  OK(cuMemAllocAsync(&a, 1000, NULL));
  OK(cuMemHostAlloc(&pinned, 1000, 0));
  OK(cuDeviceGetDefaultMemPool(&pool, 0));
  assert_int_equal(pointer_value(17, a + 5), (uintptr_t)pool);
  assert_int_equal(pointer_value(17, d), 0);
  assert_int_equal(pointer_value(10, d), 1);
  assert_int_equal(pointer_value(10, a), 0);
  assert_int_equal(pointer_value(10, (uintptr_t)pinned), 0);
  assert_int_equal(pointer_value(6, d), 0);
  OK(cuPointerSetAttribute(&yes, 6, d));
  assert_int_equal(pointer_value(6, d + 1), 1);
  assert_int_equal(pointer_value(16, d), READ_WRITE);
  assert_int_equal(pointer_value(16, (uintptr_t)pinned), READ_WRITE);
  assert_int_equal(pointer_value(14, d), 0);
  assert_int_equal(pointer_value(15, d) + pointer_value(21, d), 0);
  assert_int_equal(pointer_value(18, d + 1), 1000);
  assert_int_equal(pointer_value(19, d + 1), d);
  assert_int_equal(pointer_value(20, d + 1), pointer_value(7, d));
  OK(cuMemPoolGetAccess(&flags, pool, &host)); /* of a GPU's memory none */
  assert_int_equal(flags, 0);
  OK(cuMemPoolGetAccess(&flags, pool, &here));
  assert_int_equal(flags, READ_WRITE);
  OK(cuMemGetAllocationGranularity(&unit, &prop, 0));
  OK(cuMemAddressReserve(&range, unit, 0, 0, 0));
  OK(cuMemCreate(&h, unit, &prop, 0));
  OK(cuMemMap(range, unit, 0, h, 0));
  OK(cuMemSetAccess(range, unit, &access, 1));
  assert_int_equal(pointer_value(14, range + 9), FD);
  assert_int_equal(pointer_value(16, range), READ_WRITE);
  assert_int_equal(pointer_value(18, range + 9), unit);
  assert_int_equal(pointer_value(19, range + 9), range);
  OK(cuMemUnmap(range, unit));
  OK(cuMemRelease(h));
  OK(cuMemAddressFree(range, unit));
  OK(cuMemFreeAsync(a, NULL));
  OK(cuMemFree_v2(d));
  OK(cuMemFreeHost(pinned));
}

enum { N = 64 };

static void copies(void **state)
{
  CUdeviceptr a, b;
  uint8_t in[N], out[N];
  (void)state;
  for (unsigned i = 0; i < N; i++) in[i] = (uint8_t)(i * 7 + 1);
  OK(cuMemAlloc_v2(&a, N));
  OK(cuMemAlloc_v2(&b, N));
  OK(cuMemcpyHtoD_v2(a, in, N));
  OK(cuMemsetD8_v2(b, 0xee, N));
  OK(cuMemcpyDtoD_v2(b + 1, a + 2, 5));
  OK(cuMemcpyDtoH_v2(out, b, N));
  for (unsigned i = 0; i < N; i++) assert_int_equal(out[i], i >= 1 && i < 6 ? in[i + 1] : 0xee);
  OK(cuMemcpy(b, (CUdeviceptr)(uintptr_t)in, N)); /* by the addresses */
  OK(cuMemcpy((CUdeviceptr)(uintptr_t)out, b, N));
  assert_memory_equal(in, out, N);
  OK(cuMemcpyHtoD_v2(a, in, 0));
  assert_int_equal(cuMemcpyHtoD_v2(a, in, N + 1), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemcpyDtoH_v2(out, a + 1, N), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemcpyHtoD_v2(a, NULL, N), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemcpyHtoD_v2(0x10, in, N), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemFree_v2(a));
  OK(cuMemFree_v2(b));
}

static void fills(void **state)
{
  CUdeviceptr p;
  uint8_t out[N];
  (void)state;
  OK(cuMemAlloc_v2(&p, N));
  OK(cuMemsetD32_v2(p, 0x04030201, N / 4));
  OK(cuMemsetD16_v2(p + 8, 0xbbaa, 2));
  OK(cuMemsetD8_v2(p + 15, 0xcc, 1));
  OK(cuMemcpyDtoH_v2(out, p, N));
  static const uint8_t want[] = {1, 2, 3, 4, 1, 2, 3, 4, 0xaa, 0xbb, 0xaa, 0xbb, 1, 2, 3, 0xcc, 1, 2, 3, 4};
  assert_memory_equal(out, want, sizeof want);
  OK(cuMemsetD8_v2(p, 0, N));
  OK(cuMemsetD2D8_v2(p, 16, 0x11, 3, 2));       /* three bytes of two rows of 16 */
  OK(cuMemsetD2D16_v2(p + 4, 16, 0x2233, 2, 3)); /* two halfwords of three */
  OK(cuMemsetD2D32_v2(p + 8, 16, 0x44556677, 1, 4));
  OK(cuMemcpyDtoH_v2(out, p, N));
  for (unsigned row = 0; row < 4; row++) {
    uint8_t line[16] = {0};
    if (row < 2) memset(line, 0x11, 3);
    if (row < 3) memcpy(line + 4, (const uint8_t[]){0x33, 0x22, 0x33, 0x22}, 4);
    memcpy(line + 8, (const uint8_t[]){0x77, 0x66, 0x55, 0x44}, 4);
    assert_memory_equal(out + 16 * row, line, 16);
  }
  assert_int_equal(cuMemsetD32_v2(p + 2, 0, 1), CUDA_ERROR_INVALID_VALUE); /* "must be four byte aligned" */
  assert_int_equal(cuMemsetD16_v2(p + 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemsetD8_v2(p, 0, N + 1), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemsetD32_v2(p, 0, N), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemFree_v2(p));
}

/* Rows of 5 bytes out of a pitch of 8 into a pitch of 16, with offsets on both sides. */
static void rectangles(void **state)
{
  CUdeviceptr p;
  uint8_t in[N], out[N];
  (void)state;
  for (unsigned i = 0; i < N; i++) in[i] = (uint8_t)(i + 1);
  OK(cuMemAlloc_v2(&p, N));
  OK(cuMemsetD8_v2(p, 0, N));
  CUDA_MEMCPY2D c = {.src_x = 2, .src_y = 1, .src_type = MEM_HOST, .src_host = in, .src_pitch = 8, .dst_x = 3, .dst_y = 1,
                     .dst_type = MEM_DEVICE, .dst_device = p, .dst_pitch = 16, .width = 5, .height = 3};
  OK(cuMemcpy2D_v2(&c));
  OK(cuMemcpyDtoH_v2(out, p, N));
  for (unsigned y = 0; y < 4; y++)
    for (unsigned x = 0; x < 16; x++)
      assert_int_equal(out[16 * y + x], y >= 1 && x >= 3 && x < 8 ? in[8 * y + x - 1] : 0);
  c.dst_pitch = 4;
  assert_int_equal(cuMemcpy2D_v2(&c), CUDA_ERROR_INVALID_VALUE); /* narrower than the row */
  c.dst_pitch = 16, c.height = 4;
  assert_int_equal(cuMemcpy2D_v2(&c), CUDA_ERROR_INVALID_VALUE); /* past the end */
  assert_int_equal(cuMemcpy2D_v2(NULL), CUDA_ERROR_INVALID_VALUE);
  CUDA_MEMCPY3D d = {.src_type = MEM_HOST, .src_host = in, .src_pitch = 4, .src_height = 3, .dst_type = MEM_DEVICE,
                     .dst_device = p, .dst_pitch = 8, .dst_height = 4, .width = 2, .height = 2, .depth = 2, .src_z = 1};
  OK(cuMemsetD8_v2(p, 0, N));
  OK(cuMemcpy3D_v2(&d));
  OK(cuMemcpyDtoH_v2(out, p, N));
  for (unsigned i = 0; i < N; i++) {
    unsigned x = i % 8, y = i / 8 % 4, z = i / 32;
    assert_int_equal(out[i], x < 2 && y < 2 ? in[(z + 1) * 12 + y * 4 + x] : 0);
  }
  assert_int_equal(cuMemcpy3D_v2(NULL), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemFree_v2(p));
}

/* CUmemPool_attribute: 4 release threshold, 5 reserved now, 6 highest, 7 used now, 8 highest. */
static void pools(void **state)
{
  CUmemoryPool first, pool, got;
  CUmemPoolProps props = {.alloc_type = 1, .location = {LOCATION_DEVICE, 0}};
  CUdeviceptr p, q;
  uint64_t v, threshold = 1 << 20;
  (void)state;
  OK(cuDeviceGetDefaultMemPool(&first, 0));
  OK(cuDeviceGetMemPool(&got, 0));
  assert_ptr_equal(got, first);
  OK(cuMemPoolCreate(&pool, &props));
  OK(cuDeviceSetMemPool(0, pool));
  OK(cuDeviceGetMemPool(&got, 0));
  assert_ptr_equal(got, pool);
  OK(cuMemPoolGetAttribute(pool, 7, &v));
  assert_int_equal(v, 0);
  OK(cuMemAllocAsync(&p, 1000, NULL));
  OK(cuMemAllocFromPoolAsync(&q, 3000, pool, NULL));
  OK(cuMemPoolGetAttribute(pool, 7, &v));
  assert_true(v >= 4000 && v < 4000 + 2 * 512);
  OK(cuMemPoolGetAttribute(pool, 5, &v));
  assert_true(v >= 4000);
  OK(cuMemFreeAsync(p, NULL));
  OK(cuMemFreeAsync(q, NULL));
  OK(cuStreamSynchronize(NULL));
  OK(cuMemPoolGetAttribute(pool, 7, &v));
  assert_int_equal(v, 0);
  OK(cuMemPoolGetAttribute(pool, 8, &v));
  assert_true(v >= 4000);
  v = 0;
  OK(cuMemPoolSetAttribute(pool, 8, &v)); /* the high mark can be put back to zero, to nothing else */
  OK(cuMemPoolGetAttribute(pool, 8, &v));
  assert_int_equal(v, 0);
  v = 1;
  assert_int_equal(cuMemPoolSetAttribute(pool, 8, &v), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemPoolSetAttribute(pool, 4, &threshold));
  OK(cuMemPoolGetAttribute(pool, 4, &v));
  assert_int_equal(v, threshold);
  OK(cuMemPoolTrimTo(pool, 0));
  assert_int_equal(cuMemPoolGetAttribute(pool, 99, &v), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemPoolDestroy(first), CUDA_ERROR_INVALID_VALUE); /* the default pool cannot be destroyed */
  assert_int_equal(cuMemAllocAsync(&p, 0, NULL), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemFreeAsync(0x10, NULL), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemPoolDestroy(pool));
  OK(cuDeviceGetMemPool(&got, 0)); /* it was the current one: the default one is again */
  assert_ptr_equal(got, first);
  assert_int_equal(cuMemPoolCreate(NULL, &props), CUDA_ERROR_INVALID_VALUE);
  props.location.id = 1;
  assert_int_equal(cuMemPoolCreate(&pool, &props) == CUDA_SUCCESS, 0);
}

/* Reserve, create, map, allow, use; unmap, release, give back. */
static void virtual_memory(void **state)
{
  CUmemAllocationProp prop = {.type = 1, .location = {LOCATION_DEVICE, 0}};
  CUmemAccessDesc access = {.location = {LOCATION_DEVICE, 0}, .flags = 3};
  CUmemGenericAllocationHandle a, b;
  CUdeviceptr range;
  size_t unit;
  unsigned long long flags;
  uint32_t out = 0;
  (void)state;
  OK(cuMemGetAllocationGranularity(&unit, &prop, 0));
  assert_int_equal(unit, 2 << 20); /* of all GPUs served, as the driver says */
  assert_int_equal(cuMemAddressReserve(&range, unit + 1, 0, 0, 0), CUDA_ERROR_INVALID_VALUE); /* whole units */
  assert_int_equal(cuMemAddressReserve(&range, 4 * unit, 3 * unit, 0, 0), CUDA_ERROR_INVALID_VALUE); /* powers of two */
  assert_int_equal(cuMemAddressReserve(NULL, 4 * unit, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemAddressReserve(&range, 4 * unit, 0, 0, 0));
  assert_int_equal(range % unit, 0);
  OK(cuMemCreate(&a, unit, &prop, 0));
  OK(cuMemCreate(&b, unit, &prop, 0));
  assert_int_equal(cuMemCreate(&b, unit + 1, &prop, 0), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemMap(range, unit, 0, a, 0));
  assert_int_equal(cuMemMap(range, unit, 0, b, 0), CUDA_ERROR_INVALID_VALUE); /* taken */
  assert_int_equal(cuMemMap(range + 4 * unit, unit, 0, b, 0), CUDA_ERROR_INVALID_VALUE); /* not reserved */
  OK(cuMemMap(range + unit, unit, 0, b, 0));
  OK(cuMemSetAccess(range, 2 * unit, &access, 1));
  OK(cuMemGetAccess(&flags, &access.location, range));
  assert_int_equal(flags, 3);
  OK(cuMemsetD32_v2(range + unit - 4, 77, 2)); /* over the seam */
  OK(cuMemcpyDtoH_v2(&out, range + unit, 4));
  assert_int_equal(out, 77);
  OK(cuMemUnmap(range, 2 * unit));
  OK(cuMemMap(range + 2 * unit, unit, 0, b, 0)); /* the same memory at another address */
  OK(cuMemSetAccess(range + 2 * unit, unit, &access, 1));
  out = 0;
  OK(cuMemcpyDtoH_v2(&out, range + 2 * unit, 4));
  assert_int_equal(out, 77);
  assert_int_equal(cuMemAddressFree(range, 4 * unit), CUDA_ERROR_INVALID_VALUE); /* still mapped */
  OK(cuMemUnmap(range + 2 * unit, unit));
  OK(cuMemRelease(a));
  OK(cuMemRelease(b));
  assert_int_equal(cuMemRelease(b), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemAddressFree(range, 4 * unit));
  assert_int_equal(cuMemAddressFree(range, 4 * unit), CUDA_ERROR_INVALID_VALUE);
}

/* What a pointer into registered memory says, of the program's address as of the GPU's. */
static void registered_at(CUdeviceptr at, char *host, CUdeviceptr device, size_t offset, size_t bytes)
{
  CUdeviceptr p, start;
  void *h;
  unsigned type;
  size_t size;
  OK(cuPointerGetAttribute(&type, 2, at));
  assert_int_equal(type, MEM_HOST);
  OK(cuPointerGetAttribute(&p, 3, at));
  assert_int_equal(p, device + offset);
  OK(cuPointerGetAttribute(&h, 4, at));
  assert_ptr_equal(h, host + offset);
  OK(cuPointerGetAttribute(&start, 11, at));
  assert_int_equal(start, device);
  OK(cuPointerGetAttribute(&size, 12, at));
  assert_int_equal(size, bytes);
}

static void registered_addresses(void **state)
{
  enum { BYTES = 5000, HALF = BYTES / 2 };
  char *own = malloc(BYTES);
  char *part[2] = {own, own + HALF};
  CUdeviceptr d[2], p;
  size_t size;
  unsigned type;
  (void)state;
  for (unsigned i = 0; i < 2; i++) {
    OK(cuMemHostRegister_v2(part[i], HALF, 0)); /* one behind the other: they do not overlap */
    OK(cuMemHostGetDevicePointer_v2(&d[i], part[i], 0));
  }
  assert_int_equal(cuMemHostRegister_v2(own + HALF - 1, 1, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  for (unsigned i = 0; i < 2; i++)
    for (unsigned k = 0; k < 3; k++) {
      const size_t offset = k == 0 ? 0 : k == 1 ? 1 : HALF - 1;
      registered_at((CUdeviceptr)(uintptr_t)part[i] + offset, part[i], d[i], offset, HALF);
      registered_at(d[i] + offset, part[i], d[i], offset, HALF);
      OK(cuMemHostGetDevicePointer_v2(&p, part[i] + offset, 0));
      assert_int_equal(p, d[i] + offset);
      OK(cuMemGetAddressRange_v2(&p, &size, d[i] + offset));
      assert_true(p == d[i] && size == HALF);
    }
  assert_int_equal(cuPointerGetAttribute(&type, 2, (CUdeviceptr)(uintptr_t)own + BYTES), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuPointerGetAttribute(&type, 2, d[1] + HALF), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemHostUnregister(part[0]));
  assert_int_equal(cuPointerGetAttribute(&type, 2, d[0]), CUDA_ERROR_INVALID_VALUE);
  registered_at(d[1], part[1], d[1], 0, HALF);
  OK(cuMemHostUnregister(part[1]));
  free(own);
}

/* Kernels see what the program wrote before the launch, and the program what they wrote, whatever its size. */
static void registered_memory_is_shared(void **state)
{
  enum { FLOATS = 9000, SPARE = 4 }; /* more than is compared at once */
  float *x = malloc((FLOATS + 2 * SPARE) * sizeof *x), *z = malloc((FLOATS + 2 * SPARE) * sizeof *z);
  CUmodule module;
  CUdeviceptr dx, dz, y = cuda_floats(FLOATS, 1, 2);
  unsigned n = FLOATS;
  (void)state;
  CUfunction f = cuda_vecadd(&module);
  for (unsigned i = 0; i < FLOATS + 2 * SPARE; i++) x[i] = (float)i, z[i] = -1;
  OK(cuMemHostRegister_v2(x + SPARE, FLOATS * sizeof *x, 0));
  OK(cuMemHostRegister_v2(z + SPARE, FLOATS * sizeof *z, 0));
  OK(cuMemHostGetDevicePointer_v2(&dx, x + SPARE, 0));
  OK(cuMemHostGetDevicePointer_v2(&dz, z + SPARE, 0));
  void *params[] = {&dx, &y, &dz, &n};
  for (unsigned round = 0; round < 2; round++) {
    if (round) x[SPARE] = 100, x[SPARE + FLOATS / 2] = 200, x[SPARE + FLOATS - 1] = 300;
    OK(cuLaunchKernel(f, (FLOATS + 255) / 256, 1, 1, 256, 1, 1, 0, NULL, params, NULL));
    OK(cuCtxSynchronize());
    for (unsigned i = 0; i < FLOATS; i++) {
      if (z[SPARE + i] != x[SPARE + i] + 1 + 2 * (float)i) fail_msg("round %u, element %u: %g", round, i, (double)z[SPARE + i]);
    }
    for (unsigned i = 0; i < SPARE; i++) assert_true(z[i] == -1 && z[SPARE + FLOATS + i] == -1);
  }
  OK(cuMemHostUnregister(x + SPARE));
  OK(cuMemHostUnregister(z + SPARE));
  OK(cuMemFree_v2(y));
  OK(cuModuleUnload(module));
  free(x);
  free(z);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(registered_addresses), cmocka_unit_test(registered_memory_is_shared),
      cmocka_unit_test(allocations), cmocka_unit_test(pitched), cmocka_unit_test(host_memory),
      cmocka_unit_test(pointer_attributes), cmocka_unit_test(pointer_origins), cmocka_unit_test(copies), cmocka_unit_test(fills),
      cmocka_unit_test(rectangles), cmocka_unit_test(pools), cmocka_unit_test(virtual_memory),
  };
  return cmocka_run_group_tests(tests, cuda_setup, NULL);
}
