/* Batches of copies, prefetches and discards of both interfaces; pools' attributes; memory that other processes can be given.
 * Expected values: CUDA Driver API and CUDA Runtime API references. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sys/mman.h>
#include <unistd.h>

#include "cuda_rig.h"

CUresult cuArray3DCreate_v2(CUarray *, const CUDA_ARRAY3D_DESCRIPTOR *);
CUresult cuArrayDestroy(CUarray);
CUresult cuMemcpy3DBatchAsync_v2(size_t, const CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream);
CUresult cuMemcpy3DBatchAsync(size_t, const CUDA_MEMCPY3D_BATCH_OP *, size_t *, unsigned long long, CUstream);
CUresult cudaMemcpy3DBatchAsync(size_t, const CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream);
CUresult cudaMemcpyBatchAsync(void *const *, const void *const *, const size_t *, size_t, const CUmemcpyAttributes *,
                              const size_t *, size_t, CUstream);
CUresult cudaMemPrefetchAsync(const void *, size_t, uint64_t, uint64_t, uint64_t);
CUresult cudaMemPrefetchBatchAsync(void **, const size_t *, size_t, const CUmemLocation *, const size_t *, size_t,
                                   unsigned long long, CUstream);
CUresult cudaMemDiscardBatchAsync(void **, const size_t *, size_t, unsigned long long, CUstream);
CUresult cudaMemDiscardAndPrefetchBatchAsync(void **, const size_t *, size_t, const CUmemLocation *, const size_t *, size_t,
                                             unsigned long long, CUstream);
CUresult cudaMemAdvise(const void *, size_t, int, uint64_t);
CUresult cuMemAllocManaged(CUdeviceptr *, size_t, unsigned);
CUresult cuMemPrefetchBatchAsync(const CUdeviceptr *, const size_t *, size_t, const CUmemLocation *, const size_t *, size_t,
                                 unsigned long long, CUstream);
CUresult cuMemDiscardBatchAsync(const CUdeviceptr *, const size_t *, size_t, unsigned long long, CUstream);
CUresult cuMemRangeGetAttribute(void *, size_t, int, CUdeviceptr, size_t);
CUresult cuMemRangeGetAttributes(void **, size_t *, int *, size_t, CUdeviceptr, size_t);
CUresult cuMemPoolCreate(CUmemoryPool *, const CUmemPoolProps *);
CUresult cuMemPoolDestroy(CUmemoryPool);
CUresult cuMemPoolGetAttribute(CUmemoryPool, int, void *);
CUresult cuMemPoolSetAttribute(CUmemoryPool, int, void *);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *, size_t, CUmemoryPool, CUstream);
CUresult cuMemFreeAsync(CUdeviceptr, CUstream);
CUresult cuMemGetAllocationGranularity(size_t *, const CUmemAllocationProp *, int);
CUresult cuMemAddressReserve(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long);
CUresult cuMemAddressFree(CUdeviceptr, size_t);
CUresult cuMemCreate(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long);
CUresult cuMemRelease(CUmemGenericAllocationHandle);
CUresult cuMemMap(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long);
CUresult cuMemUnmap(CUdeviceptr, size_t);
CUresult cuMemSetAccess(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t);
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *, void *);
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *, CUmemGenericAllocationHandle);
CUresult cuMemExportToShareableHandle(void *, CUmemGenericAllocationHandle, int, unsigned long long);
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *, void *, int);

enum { STREAM_ORDER = 1, ANY_ORDER = 3, FD = 1 };

#define INVALID(call) assert_int_equal(call, CUDA_ERROR_INVALID_VALUE)

static void pattern(uint8_t *p, unsigned n)
{
  for (unsigned i = 0; i < n; i++) p[i] = (uint8_t)(11 * i + i / 17);
}

/* Boxes of texels of four bytes: into an array of 4 x 3 x 2, out of it, and between memories with rows and layers of their own. */
static void boxes(void **state)
{
  const CUDA_ARRAY3D_DESCRIPTOR d = {.width = 4, .height = 3, .depth = 2, .format = FORMAT_U16, .channels = 2};
  uint8_t in[96], out[200];
  CUarray a;
  CUdeviceptr p;
  CUstream s;
  size_t bad = 7;
  (void)state;
  pattern(in, sizeof in);
  OK(cuStreamCreate(&s, 0));
  OK(cuArray3DCreate_v2(&a, &d));
  OK(cuMemAlloc_v2(&p, 200));
  OK(cuMemsetD8_v2(p, 0, 200));
  CUDA_MEMCPY3D_BATCH_OP op[] = {
      {.src = {.type = OPERAND_POINTER, .pointer = {.p = (CUdeviceptr)(uintptr_t)in}},
       .dst = {.type = OPERAND_ARRAY, .array = {.array = a}}, .extent = {4, 3, 2}, .order = STREAM_ORDER},
      /* the last two texels of rows 1 and 2 of slice 1, to rows of 5 texels */
      {.src = {.type = OPERAND_ARRAY, .array = {.array = a, .offset = {2, 1, 1}}},
       .dst = {.type = OPERAND_POINTER, .pointer = {.p = p, .row = 5, .layer = 2}}, .extent = {2, 2, 1}, .order = STREAM_ORDER},
      /* without an array extents are bytes: 3 bytes of 2 rows of 2 layers, rows of 20, layers of 3 rows */
      {.src = {.type = OPERAND_POINTER, .pointer = {.p = (CUdeviceptr)(uintptr_t)in}},
       .dst = {.type = OPERAND_POINTER, .pointer = {.p = p + 80, .row = 20, .layer = 3}}, .extent = {3, 2, 2}, .order = ANY_ORDER},
  };
  OK(cuMemcpy3DBatchAsync_v2(3, op, 0, s));
  OK(cuStreamSynchronize(s));
  OK(cuMemcpyDtoH_v2(out, p, 200));
  assert_memory_equal(out, in + 48 + 16 + 8, 8);
  assert_memory_equal(out + 20, in + 48 + 32 + 8, 8);
  assert_int_equal(out[8], 0);
  for (unsigned z = 0; z < 2; z++)
    for (unsigned y = 0; y < 2; y++) assert_memory_equal(out + 80 + 60 * z + 20 * y, in + 6 * z + 3 * y, 3);
  OK(cuMemsetD8_v2(p, 0, 200));
  OK(cudaMemcpy3DBatchAsync(2, op, 0, s));
  OK(cuStreamSynchronize(s));
  OK(cuMemcpyDtoH_v2(out, p, 200));
  assert_memory_equal(out + 20, in + 48 + 32 + 8, 8);
  /* what is wrong is named by its number */
  op[1].src.array.offset.x = 3;
  INVALID(cuMemcpy3DBatchAsync(3, op, &bad, 0, s));
  assert_int_equal(bad, 1);
  op[1].src.array.offset.x = (size_t)1 << 62; /* times four bytes: 64 bits are not enough */
  INVALID(cuMemcpy3DBatchAsync(3, op, &bad, 0, s));
  op[1].src.array.offset.x = 2, op[1].extent.width = ((size_t)1 << 62) + 2;
  INVALID(cuMemcpy3DBatchAsync(3, op, &bad, 0, s));
  op[1].extent.width = 2, op[1].dst.pointer.row = ((size_t)1 << 62) + 5;
  INVALID(cuMemcpy3DBatchAsync(3, op, &bad, 0, s));
  op[1].dst.pointer.row = 5, op[1].order = 4;
  INVALID(cuMemcpy3DBatchAsync(3, op, &bad, 0, s));
  op[1].order = STREAM_ORDER, op[1].flags = 2;
  INVALID(cuMemcpy3DBatchAsync(3, op, &bad, 0, s));
  op[1].flags = 1, op[1].src.type = 3;
  INVALID(cuMemcpy3DBatchAsync(3, op, &bad, 0, s));
  op[1].src.type = OPERAND_ARRAY, op[1].extent.depth = 0;
  INVALID(cuMemcpy3DBatchAsync(3, op, &bad, 0, s));
  assert_int_equal(bad, 1);
  INVALID(cuMemcpy3DBatchAsync(0, op, &bad, 0, s));
  assert_true(bad == SIZE_MAX); /* none of them */
  INVALID(cuMemcpy3DBatchAsync(1, NULL, &bad, 0, s));
  INVALID(cuMemcpy3DBatchAsync(1, op, &bad, 1, s));
  INVALID(cuMemcpy3DBatchAsync(1, op, &bad, 0, NULL)); /* not in the legacy stream */
  OK(cuMemcpy3DBatchAsync(1, op, &bad, 0, s));
  assert_true(bad == SIZE_MAX);
  OK(cuArrayDestroy(a));
  INVALID(cuMemcpy3DBatchAsync(1, op, &bad, 0, s));
  OK(cuStreamDestroy_v2(s));
  OK(cuMemFree_v2(p));
}

static void lines(void **state)
{
  uint8_t in[32], out[32];
  CUdeviceptr p;
  CUstream s;
  (void)state;
  pattern(in, sizeof in);
  OK(cuStreamCreate(&s, 0));
  OK(cuMemAlloc_v2(&p, 32));
  void *const dst[] = {(void *)(uintptr_t)(p + 12), (void *)(uintptr_t)p};
  const void *const src[] = {in, in + 20};
  const size_t bytes[] = {20, 12}, first[] = {0};
  const CUmemcpyAttributes a = {.order = STREAM_ORDER};
  OK(cudaMemcpyBatchAsync(dst, src, bytes, 2, &a, first, 1, s));
  OK(cuStreamSynchronize(s));
  OK(cuMemcpyDtoH_v2(out, p, 32));
  assert_memory_equal(out, in + 20, 12);
  assert_memory_equal(out + 12, in, 20);
  OK(cuStreamDestroy_v2(s));
  OK(cuMemFree_v2(p));
}

/* Where memory was last prefetched to: attributes 7 and 8, type and number (CUmem_range_attribute); 4 the old form. */
static void prefetches(void **state)
{
  const CUmemLocation to[] = {{LOCATION_DEVICE, 0}, {LOCATION_HOST, 0}};
  CUdeviceptr p[3];
  const size_t bytes[3] = {4096, 4096, 4096};
  size_t first[2] = {0, 2};
  int type = 0, id = 7, old = 7;
  CUstream s;
  (void)state;
  OK(cuStreamCreate(&s, 0));
  for (unsigned i = 0; i < 3; i++) OK(cuMemAllocManaged(&p[i], 4096, MANAGED_GLOBAL));
  OK(cuMemPrefetchBatchAsync(p, bytes, 3, to, first, 2, 0, s));
  for (unsigned i = 0; i < 3; i++) {
    void *answer[] = {&type, &id, &old};
    OK(cuMemRangeGetAttributes(answer, (size_t[]){4, 4, 4}, (int[]){7, 8, 4}, 3, p[i], 4096));
    assert_int_equal(type, i < 2 ? LOCATION_DEVICE : LOCATION_HOST);
    assert_int_equal(id, 0);
    assert_int_equal(old, i < 2 ? 0 : -1);
  }
  INVALID(cuMemRangeGetAttributes((void *[]){&type}, (size_t[]){3}, (int[]){7}, 1, p[0], 4096));
  first[1] = 0;
  INVALID(cuMemPrefetchBatchAsync(p, bytes, 3, to, first, 2, 0, s)); /* ascending */
  first[1] = 3;
  INVALID(cuMemPrefetchBatchAsync(p, bytes, 3, to, first, 2, 0, s)); /* there is no copy 3 */
  OK(cuMemDiscardBatchAsync(p, bytes, 3, 0, s));
  const size_t more[3] = {4096, 4097, 4096};
  assert_int_not_equal(cuMemDiscardBatchAsync(p, more, 3, 0, s), CUDA_SUCCESS);
  for (unsigned i = 0; i < 3; i++) OK(cuMemFree_v2(p[i]));
  OK(cuStreamDestroy_v2(s));
}

static int last_place(CUdeviceptr p)
{
  int type = 0;
  OK(cuMemRangeGetAttribute(&type, 4, 7, p, 4096));
  return type;
}

/* The runtime takes a location of CUDA 13 as its two words, or a device's number as before: -1 is the host. */
static void advice_by_the_runtime(void **state)
{
  const uint64_t device = LOCATION_DEVICE, host = LOCATION_HOST, before = (uint32_t)-1;
  const CUmemLocation to[] = {{LOCATION_HOST, 0}};
  CUdeviceptr p[2];
  int v = 7;
  CUstream s;
  (void)state;
  OK(cuStreamCreate(&s, 0));
  for (unsigned i = 0; i < 2; i++) OK(cuMemAllocManaged(&p[i], 4096, MANAGED_GLOBAL));
  void *const q = (void *)(uintptr_t)p[0];
  OK(cudaMemPrefetchAsync(q, 4096, device, 0, 0));
  assert_int_equal(last_place(p[0]), LOCATION_DEVICE);
  OK(cudaMemPrefetchAsync(q, 4096, host, 0, 0));
  assert_int_equal(last_place(p[0]), LOCATION_HOST);
  OK(cudaMemPrefetchAsync(q, 4096, 0, 0, 0)); /* device 0 */
  assert_int_equal(last_place(p[0]), LOCATION_DEVICE);
  OK(cudaMemPrefetchAsync(q, 4096, before, 0, 0));
  assert_int_equal(last_place(p[0]), LOCATION_HOST);
  assert_int_equal(last_place(p[1]), 0); /* never */
  OK(cudaMemPrefetchBatchAsync((void **)p, (size_t[]){4096, 4096}, 2, to, (size_t[]){0}, 1, 0, s));
  assert_int_equal(last_place(p[1]), LOCATION_HOST);
  OK(cudaMemDiscardAndPrefetchBatchAsync((void **)p, (size_t[]){4096, 4096}, 2, &(CUmemLocation){LOCATION_DEVICE, 0},
                                         (size_t[]){0}, 1, 0, s));
  assert_int_equal(last_place(p[1]), LOCATION_DEVICE);
  OK(cudaMemDiscardBatchAsync((void **)p, (size_t[]){4096, 4096}, 2, 0, s));
  assert_int_not_equal(cudaMemDiscardBatchAsync((void **)p, (size_t[]){4096, 4097}, 2, 0, s), CUDA_SUCCESS);
  OK(cudaMemAdvise(q, 4096, 3, device)); /* preferred location: attribute 2, in the old form */
  OK(cuMemRangeGetAttribute(&v, 4, 2, p[0], 4096));
  assert_int_equal(v, 0);
  OK(cudaMemAdvise(q, 4096, 3, host));
  OK(cuMemRangeGetAttribute(&v, 4, 2, p[0], 4096));
  assert_int_equal(v, -1);
  INVALID(cudaMemAdvise(q, 4096, 9, host));
  INVALID(cudaMemPrefetchAsync(q, 4097, device, 0, 0));
  for (unsigned i = 0; i < 2; i++) OK(cuMemFree_v2(p[i]));
  OK(cuStreamDestroy_v2(s));
}

/* CUmemPool_attribute: 1 to 3 what may be used again, 4 the threshold, 5 to 8 bytes reserved and used, now and at most. */
static void pools(void **state)
{
  const CUmemPoolProps props = {.alloc_type = 1, .location = {LOCATION_DEVICE, 0}};
  CUmemoryPool pool;
  CUdeviceptr a, b;
  CUstream s;
  uint64_t v;
  int on;
  (void)state;
  OK(cuStreamCreate(&s, 0));
  OK(cuMemPoolCreate(&pool, &props));
  for (int i = 1; i <= 3; i++) {
    OK(cuMemPoolGetAttribute(pool, i, &on));
    assert_int_equal(on, 1);
    OK(cuMemPoolSetAttribute(pool, i, &(int){0}));
    OK(cuMemPoolGetAttribute(pool, i, &on));
    assert_int_equal(on, 0);
  }
  OK(cuMemPoolSetAttribute(pool, 4, &(uint64_t){12345}));
  OK(cuMemPoolGetAttribute(pool, 4, &v));
  assert_int_equal(v, 12345);
  OK(cuMemAllocFromPoolAsync(&a, 1 << 20, pool, s));
  OK(cuMemAllocFromPoolAsync(&b, 3 << 20, pool, s));
  OK(cuMemFreeAsync(b, s));
  OK(cuStreamSynchronize(s));
  static const struct {
    int attribute;
    uint64_t mib;
  } want[] = {{5, 1}, {6, 4}, {7, 1}, {8, 4}};
  for (unsigned i = 0; i < 4; i++) {
    OK(cuMemPoolGetAttribute(pool, want[i].attribute, &v));
    if (v != want[i].mib << 20) fail_msg("attribute %d: %llu", want[i].attribute, (unsigned long long)v);
  }
  for (int i = 6; i <= 8; i += 2) { /* a high-water mark can be set to 0, which is what is used now */
    INVALID(cuMemPoolSetAttribute(pool, i, &(uint64_t){1}));
    OK(cuMemPoolSetAttribute(pool, i, &(uint64_t){0}));
    OK(cuMemPoolGetAttribute(pool, i, &v));
    assert_int_equal(v, 1 << 20);
  }
  INVALID(cuMemPoolSetAttribute(pool, 5, &(uint64_t){0}));
  INVALID(cuMemPoolGetAttribute(pool, 99, &v));
  INVALID(cuMemPoolGetAttribute(pool, 0, &v));
  OK(cuMemFreeAsync(a, s));
  OK(cuMemPoolDestroy(pool));
  OK(cuStreamDestroy_v2(s));
}

/* Memory behind a file descriptor, mapped a second time; files that are no whole pages are none. */
static void memory_by_files(void **state)
{
  const CUmemAllocationProp prop = {.type = 1, .handle_types = FD, .location = {LOCATION_DEVICE, 0}}, own = {
    .type = 1, .location = {LOCATION_DEVICE, 0}};
  const CUmemAccessDesc access = {.location = {LOCATION_DEVICE, 0}, .flags = 3};
  CUmemAllocationProp got;
  CUmemGenericAllocationHandle a, b, c;
  CUdeviceptr range;
  size_t unit;
  uint32_t word = 0;
  int fd = -1;
  (void)state;
  OK(cuMemGetAllocationGranularity(&unit, &prop, 0));
  OK(cuMemAddressReserve(&range, 2 * unit, 0, 0, 0));
  OK(cuMemCreate(&a, unit, &prop, 0));
  OK(cuMemExportToShareableHandle(&fd, a, FD, 0));
  assert_true(fd >= 0);
  OK(cuMemImportFromShareableHandle(&b, (void *)(uintptr_t)fd, FD));
  close(fd);
  OK(cuMemMap(range, unit, 0, a, 0));
  OK(cuMemMap(range + unit, unit, 0, b, 0));
  OK(cuMemSetAccess(range, 2 * unit, &access, 1));
  OK(cuMemsetD32_v2(range + 40, 77, 1));
  OK(cuMemcpyDtoH_v2(&word, range + unit + 40, 4));
  assert_int_equal(word, 77);
  OK(cuMemRetainAllocationHandle(&c, (void *)(uintptr_t)(range + 40)));
  assert_true(c == a);
  OK(cuMemGetAllocationPropertiesFromHandle(&got, c));
  assert_true(got.type == 1 && got.handle_types == FD && got.location.type == LOCATION_DEVICE);
  OK(cuMemRelease(c));
  INVALID(cuMemExportToShareableHandle(NULL, a, FD, 0));
  INVALID(cuMemImportFromShareableHandle(NULL, NULL, FD));
  INVALID(cuMemImportFromShareableHandle(&c, (void *)(uintptr_t)-1, FD));
  static const long odd[] = {0, 12345, 4096, -1};
  for (unsigned i = 0; i < 4; i++) {
    fd = memfd_create("odd", 0);
    assert_int_equal(ftruncate(fd, odd[i] < 0 ? (long)unit + 4096 : odd[i]), 0);
    INVALID(cuMemImportFromShareableHandle(&c, (void *)(uintptr_t)fd, FD));
    close(fd);
  }
  OK(cuMemCreate(&c, unit, &own, 0)); /* made without a word of handles */
  INVALID(cuMemExportToShareableHandle(&fd, c, FD, 0));
  OK(cuMemRelease(c));
  OK(cuMemUnmap(range, 2 * unit));
  OK(cuMemRelease(a));
  OK(cuMemRelease(b));
  OK(cuMemAddressFree(range, 2 * unit));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes), cmocka_unit_test(lines), cmocka_unit_test(prefetches),
      cmocka_unit_test(advice_by_the_runtime), cmocka_unit_test(pools),
      cmocka_unit_test(memory_by_files),
  };
  return cmocka_run_group_tests(tests, cuda_setup, NULL);
}
