/* Arrays, mipmaps, texture and surface objects of the driver interface; advice on managed memory, access to pools, batches of
 * copies. Expected values: CUDA Driver API reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cuda_rig.h"

CUresult cuArrayCreate_v2(CUarray *, const CUDA_ARRAY_DESCRIPTOR *);
CUresult cuArray3DCreate_v2(CUarray *, const CUDA_ARRAY3D_DESCRIPTOR *);
CUresult cuArrayDestroy(CUarray);
CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *, CUarray);
CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *, CUarray);
CUresult cuMipmappedArrayCreate(CUmipmappedArray *, const CUDA_ARRAY3D_DESCRIPTOR *, unsigned);
CUresult cuMipmappedArrayDestroy(CUmipmappedArray);
CUresult cuMipmappedArrayGetLevel(CUarray *, CUmipmappedArray, unsigned);
CUresult cuMemcpyHtoA_v2(CUarray, size_t, const void *, size_t);
CUresult cuMemcpyAtoH_v2(void *, CUarray, size_t, size_t);
CUresult cuMemcpyAtoA_v2(CUarray, size_t, CUarray, size_t, size_t);
CUresult cuMemcpyDtoA_v2(CUarray, size_t, CUdeviceptr, size_t);
CUresult cuMemcpyAtoD_v2(CUdeviceptr, CUarray, size_t, size_t);
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *);
CUresult cuTexObjectCreate(unsigned long long *, const CUDA_RESOURCE_DESC *, const CUDA_TEXTURE_DESC *,
                           const CUDA_RESOURCE_VIEW_DESC *);
CUresult cuTexObjectDestroy(unsigned long long);
CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *, unsigned long long);
CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *, unsigned long long);
CUresult cuSurfObjectCreate(unsigned long long *, const CUDA_RESOURCE_DESC *);
CUresult cuSurfObjectDestroy(unsigned long long);
CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *, unsigned long long);
CUresult cuMemAllocManaged(CUdeviceptr *, size_t, unsigned);
CUresult cuMemAdvise_v2(CUdeviceptr, size_t, int, CUmemLocation);
CUresult cuMemPrefetchAsync_v2(CUdeviceptr, size_t, CUmemLocation, unsigned, CUstream);
CUresult cuMemRangeGetAttribute(void *, size_t, int, CUdeviceptr, size_t);
CUresult cuStreamAttachMemAsync(CUstream, CUdeviceptr, size_t, unsigned);
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *, CUdevice);
CUresult cuMemPoolGetAccess(int *, CUmemoryPool, CUmemLocation *);
CUresult cuMemPoolSetAccess(CUmemoryPool, const CUmemAccessDesc *, size_t);
CUresult cuMemPoolTrimTo(CUmemoryPool, size_t);
CUresult cuMemcpyBatchAsync_v2(const CUdeviceptr *, const CUdeviceptr *, const size_t *, size_t, const CUmemcpyAttributes *,
                               const size_t *, size_t, CUstream);

enum { SURFACE = 2, LAYERED = 1, CUBE = 4 };

static void arrays(void **state)
{
  CUDA_ARRAY_DESCRIPTOR d = {.width = 20, .height = 6, .format = FORMAT_U16, .channels = 2}, got;
  CUDA_ARRAY3D_DESCRIPTOR d3 = {.width = 8, .height = 4, .depth = 3, .format = FORMAT_FLOAT, .channels = 1, .flags = SURFACE}, got3;
  CUarray a, b;
  CUdeviceptr p;
  uint8_t in[80], out[80];
  (void)state;
  for (unsigned i = 0; i < sizeof in; i++) in[i] = (uint8_t)(5 * i + 3);
  OK(cuArrayCreate_v2(&a, &d));
  OK(cuArrayGetDescriptor_v2(&got, a));
  assert_memory_equal(&got, &d, sizeof d);
  OK(cuArray3DGetDescriptor_v2(&got3, a));
  assert_true(got3.width == 20 && got3.height == 6 && got3.depth == 0 && got3.flags == 0);
  OK(cuArray3DCreate_v2(&b, &d3));
  OK(cuArray3DGetDescriptor_v2(&got3, b));
  assert_memory_equal(&got3, &d3, offsetof(CUDA_ARRAY3D_DESCRIPTOR, flags)); /* behind the flags there is padding */
  assert_int_equal(got3.flags, d3.flags);
  OK(cuArrayDestroy(b));
  assert_int_equal(cuArrayDestroy(b), CUDA_ERROR_INVALID_HANDLE);
  assert_int_equal(cuArrayGetDescriptor_v2(&got, b), CUDA_ERROR_INVALID_HANDLE);
  d.channels = 3;
  assert_int_equal(cuArrayCreate_v2(&b, &d), CUDA_ERROR_INVALID_VALUE); /* 1, 2 or 4 */
  d.channels = 2, d.format = 99;
  assert_int_equal(cuArrayCreate_v2(&b, &d), CUDA_ERROR_INVALID_VALUE);
  d.format = FORMAT_U16, d.width = 0;
  assert_int_equal(cuArrayCreate_v2(&b, &d), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuArrayCreate_v2(NULL, &d), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuArrayCreate_v2(&b, NULL), CUDA_ERROR_INVALID_VALUE);
  d3 = (CUDA_ARRAY3D_DESCRIPTOR){.width = 8, .height = 8, .depth = 5, .format = FORMAT_U8, .channels = 1, .flags = CUBE};
  assert_int_equal(cuArray3DCreate_v2(&b, &d3), CUDA_ERROR_INVALID_VALUE); /* six faces */
  d3.depth = 6;
  OK(cuArray3DCreate_v2(&b, &d3));
  OK(cuArrayDestroy(b));
  d3.depth = 0, d3.flags = LAYERED;
  assert_int_equal(cuArray3DCreate_v2(&b, &d3), CUDA_ERROR_INVALID_VALUE);
  /* rows of 80 bytes in and out */
  CUDA_MEMCPY2D c = {.src_type = MEM_HOST, .src_host = in, .src_pitch = 16, .dst_type = MEM_ARRAY, .dst_array = a, .dst_x = 8,
                     .dst_y = 1, .width = 16, .height = 5};
  OK(cuMemcpy2D_v2(&c));
  c = (CUDA_MEMCPY2D){.src_type = MEM_ARRAY, .src_array = a, .src_x = 12, .src_y = 2, .dst_type = MEM_HOST, .dst_host = out,
                      .dst_pitch = 20, .width = 12, .height = 4};
  OK(cuMemcpy2D_v2(&c));
  for (unsigned y = 0; y < 4; y++) assert_memory_equal(out + 20 * y, in + 16 * (y + 1) + 4, 12);
  c.src_x = 72;
  assert_int_equal(cuMemcpy2D_v2(&c), CUDA_ERROR_INVALID_VALUE);
  c.src_x = 12, c.height = 5;
  assert_int_equal(cuMemcpy2D_v2(&c), CUDA_ERROR_INVALID_VALUE);
  OK(cuArrayDestroy(a));
  d = (CUDA_ARRAY_DESCRIPTOR){.width = 20, .format = FORMAT_U8, .channels = 4}; /* one dimension: 80 bytes */
  OK(cuArrayCreate_v2(&a, &d));
  OK(cuArrayCreate_v2(&b, &d));
  OK(cuMemAlloc_v2(&p, 80));
  OK(cuMemcpyHtoA_v2(a, 0, in, 80));
  OK(cuMemcpyAtoA_v2(b, 4, a, 8, 40));
  OK(cuMemcpyAtoD_v2(p, b, 4, 40));
  OK(cuMemcpyDtoA_v2(b, 44, p, 36));
  OK(cuMemcpyAtoH_v2(out, b, 4, 76));
  assert_memory_equal(out, in + 8, 40);
  assert_memory_equal(out + 40, in + 8, 36);
  assert_int_equal(cuMemcpyHtoA_v2(a, 4, in, 80), CUDA_ERROR_INVALID_VALUE);
  OK(cuArrayDestroy(a));
  OK(cuArrayDestroy(b));
  OK(cuMemFree_v2(p));
}

/* Each level has half of the extents of the one before, rounded down, at least 1. */
static void mipmaps(void **state)
{
  CUDA_ARRAY3D_DESCRIPTOR d = {.width = 20, .height = 5, .format = FORMAT_U8, .channels = 1}, got;
  CUmipmappedArray m;
  CUarray level;
  static const size_t want[][2] = {{20, 5}, {10, 2}, {5, 1}, {2, 1}, {1, 1}};
  (void)state;
  OK(cuMipmappedArrayCreate(&m, &d, 5));
  for (unsigned i = 0; i < 5; i++) {
    OK(cuMipmappedArrayGetLevel(&level, m, i));
    OK(cuArray3DGetDescriptor_v2(&got, level));
    assert_int_equal(got.width, want[i][0]);
    assert_int_equal(got.height, want[i][1]);
    assert_int_equal(cuArrayDestroy(level), CUDA_ERROR_INVALID_HANDLE); /* the mipmap's */
  }
  assert_int_equal(cuMipmappedArrayGetLevel(&level, m, 5), CUDA_ERROR_INVALID_VALUE);
  OK(cuMipmappedArrayDestroy(m));
  assert_int_equal(cuMipmappedArrayDestroy(m), CUDA_ERROR_INVALID_HANDLE);
}

/* A view reads texels in another format of the same size. */
static void views(void **state)
{
  static const struct {
    int format;
    CUresult r;
  } of[] = {{0, CUDA_SUCCESS}, {0x16, CUDA_SUCCESS} /* one float */, {0x03, CUDA_SUCCESS} /* four bytes */,
            {0x0d, CUDA_SUCCESS} /* one 32-bit integer */, {0x01, CUDA_ERROR_NOT_SUPPORTED} /* one byte */,
            {0x18, CUDA_ERROR_NOT_SUPPORTED} /* four floats */, {0x19, CUDA_ERROR_NOT_SUPPORTED} /* compressed */,
            {99, CUDA_ERROR_NOT_SUPPORTED}, {-1, CUDA_ERROR_NOT_SUPPORTED}};
  CUDA_ARRAY3D_DESCRIPTOR d = {.width = 16, .height = 16, .format = FORMAT_FLOAT, .channels = 1};
  CUDA_RESOURCE_DESC r = {.type = RESOURCE_ARRAY};
  CUDA_TEXTURE_DESC t = {.flags = 1};
  unsigned long long tex;
  (void)state;
  OK(cuArray3DCreate_v2(&r.of.array, &d));
  for (unsigned i = 0; i < sizeof of / sizeof of[0]; i++) {
    const CUDA_RESOURCE_VIEW_DESC v = {.format = of[i].format, .width = 16, .height = 16};
    CUresult result = cuTexObjectCreate(&tex, &r, &t, &v);
    if (result != of[i].r) fail_msg("format %d: %d", of[i].format, (int)result);
    if (!result) OK(cuTexObjectDestroy(tex));
  }
  OK(cuArrayDestroy(r.of.array));
}

static void objects(void **state)
{
  CUDA_ARRAY3D_DESCRIPTOR d = {.width = 16, .height = 16, .format = FORMAT_FLOAT, .channels = 1, .flags = SURFACE};
  CUDA_RESOURCE_DESC r = {.type = RESOURCE_ARRAY}, got;
  CUDA_TEXTURE_DESC t = {.address = {1, 2, 3}, .filter = 1, .flags = TEXTURE_NORMALIZED}, got_t;
  unsigned long long tex, surf;
  CUdeviceptr p;
  (void)state;
  OK(cuArray3DCreate_v2(&r.of.array, &d));
  OK(cuTexObjectCreate(&tex, &r, &t, NULL));
  OK(cuTexObjectGetResourceDesc(&got, tex));
  assert_int_equal(got.type, RESOURCE_ARRAY);
  assert_ptr_equal(got.of.array, r.of.array);
  OK(cuTexObjectGetTextureDesc(&got_t, tex));
  assert_memory_equal(got_t.address, t.address, sizeof t.address);
  assert_int_equal(got_t.filter, 1);
  assert_int_equal(got_t.flags, TEXTURE_NORMALIZED);
  OK(cuSurfObjectCreate(&surf, &r));
  assert_true(surf != tex);
  OK(cuSurfObjectGetResourceDesc(&got, surf));
  assert_ptr_equal(got.of.array, r.of.array);
  assert_int_equal(cuTexObjectCreate(NULL, &r, &t, NULL), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuTexObjectCreate(&tex, NULL, &t, NULL), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuTexObjectCreate(&tex, &r, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
  OK(cuTexObjectDestroy(tex));
  assert_true(cuTexObjectGetResourceDesc(&got, tex) != CUDA_SUCCESS);
  OK(cuSurfObjectDestroy(surf));
  assert_true(cuSurfObjectGetResourceDesc(&got, surf) != CUDA_SUCCESS);
  OK(cuMemAlloc_v2(&p, 4096));
  CUDA_RESOURCE_DESC linear = {.type = RESOURCE_LINEAR};
  linear.of.linear.p = p, linear.of.linear.format = FORMAT_U32, linear.of.linear.channels = 1, linear.of.linear.bytes = 4096;
  OK(cuTexObjectCreate(&tex, &linear, &t, NULL));
  OK(cuTexObjectDestroy(tex));
  assert_int_equal(cuSurfObjectCreate(&surf, &linear), CUDA_ERROR_INVALID_VALUE); /* arrays only */
  CUDA_RESOURCE_DESC rows = {.type = RESOURCE_PITCHED};
  rows.of.pitched.p = p, rows.of.pitched.format = FORMAT_U8, rows.of.pitched.channels = 1;
  rows.of.pitched.width = 16, rows.of.pitched.height = 4, rows.of.pitched.pitch = 512;
  OK(cuTexObjectCreate(&tex, &rows, &t, NULL));
  OK(cuTexObjectDestroy(tex));
  rows.of.pitched.width = ((size_t)1 << 32) + 16; /* 2^17 is the most, not what 32 bits leave of it */
  assert_int_equal(cuTexObjectCreate(&tex, &rows, &t, NULL), CUDA_ERROR_INVALID_VALUE);
  rows.of.pitched.width = 16, rows.of.pitched.height = ((size_t)1 << 32) + 4;
  assert_int_equal(cuTexObjectCreate(&tex, &rows, &t, NULL), CUDA_ERROR_INVALID_VALUE);
  linear.of.linear.channels = 3;
  assert_int_equal(cuTexObjectCreate(&tex, &linear, &t, NULL), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemFree_v2(p));
  OK(cuArrayDestroy(r.of.array));
}

/* CUmem_advise 1 to 6; CUmem_range_attribute 1 to 8. Device numbers: -1 the host, -2 none. */
static void advice(void **state)
{
  const CUmemLocation device = {LOCATION_DEVICE, 0}, host = {LOCATION_HOST, 0}, other = {LOCATION_DEVICE, 1};
  CUdeviceptr m, d;
  int v, list[3];
  (void)state;
  OK(cuMemAllocManaged(&m, 8192, MANAGED_GLOBAL));
  OK(cuMemAlloc_v2(&d, 8192));
#define RANGE(attribute) (OK(cuMemRangeGetAttribute(&v, sizeof v, attribute, m, 8192)), v)
  assert_int_equal(RANGE(1), 0);
  assert_int_equal(RANGE(2), -2);
  assert_int_equal(RANGE(4), -2);
  OK(cuMemAdvise_v2(m, 8192, 1, device)); /* read mostly */
  assert_int_equal(RANGE(1), 1);
  OK(cuMemAdvise_v2(m, 8192, 2, device));
  assert_int_equal(RANGE(1), 0);
  OK(cuMemAdvise_v2(m, 8192, 3, device)); /* preferred location */
  assert_int_equal(RANGE(2), 0);
  assert_int_equal(RANGE(5), LOCATION_DEVICE);
  OK(cuMemAdvise_v2(m, 8192, 3, host));
  assert_int_equal(RANGE(2), -1);
  assert_int_equal(RANGE(5), LOCATION_HOST);
  OK(cuMemAdvise_v2(m, 8192, 4, device));
  assert_int_equal(RANGE(2), -2);
  OK(cuMemAdvise_v2(m, 8192, 5, host)); /* accessed by */
  OK(cuMemRangeGetAttribute(list, sizeof list, 3, m, 8192));
  assert_true(list[0] == -1 && list[1] == -2 && list[2] == -2);
  OK(cuMemAdvise_v2(m, 8192, 5, device));
  OK(cuMemRangeGetAttribute(list, sizeof list, 3, m, 8192));
  assert_true(list[0] + list[1] == -1 && list[2] == -2);
  OK(cuMemAdvise_v2(m, 8192, 6, host));
  OK(cuMemRangeGetAttribute(list, sizeof list, 3, m, 8192));
  assert_true(list[0] == 0 && list[1] == -2);
  OK(cuMemPrefetchAsync_v2(m, 4096, device, 0, NULL));
  assert_int_equal(RANGE(4), -2); /* not all of it */
  OK(cuMemRangeGetAttribute(&v, sizeof v, 4, m, 4096));
  assert_int_equal(v, 0);
  OK(cuMemAdvise_v2(m + 4096, 4096, 1, device)); /* of a part; what holds for all is asked for */
  assert_int_equal(RANGE(1), 0);
  OK(cuMemRangeGetAttribute(&v, sizeof v, 1, m + 4096, 4096));
  assert_int_equal(v, 1);
  OK(cuMemPrefetchAsync_v2(m, 8192, device, 0, NULL));
  assert_int_equal(RANGE(4), 0);
  assert_int_equal(RANGE(7), LOCATION_DEVICE);
  OK(cuMemPrefetchAsync_v2(m, 8192, host, 0, NULL));
  assert_int_equal(RANGE(4), -1);
  assert_int_equal(cuMemAdvise_v2(m, 8192, 0, device), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemAdvise_v2(m, 8192, 7, device), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemAdvise_v2(m, 8193, 1, device), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemAdvise_v2(m, 0, 1, device), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemAdvise_v2(d, 8192, 1, device), CUDA_ERROR_INVALID_VALUE); /* not managed */
  assert_int_equal(cuMemAdvise_v2(m, 8192, 3, other), CUDA_ERROR_INVALID_DEVICE);
  for (int type = 0; type < 7; type++) { /* device, host, a NUMA node, the current one: 1 to 4 */
    const CUmemLocation l = {type, 0};
    assert_int_equal(cuMemAdvise_v2(m, 8192, 5, l), type >= 1 && type <= 4 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
  }
  assert_int_equal(cuMemPrefetchAsync_v2(m, 8193, device, 0, NULL), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemRangeGetAttribute(&v, 3, 1, m, 8192), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemRangeGetAttribute(list, 8, 1, m, 8192), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemRangeGetAttribute(&v, 4, 99, m, 8192), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemRangeGetAttribute(NULL, 4, 1, m, 8192), CUDA_ERROR_INVALID_VALUE);
  CUstream s;
  OK(cuStreamCreate(&s, 0));
  OK(cuStreamAttachMemAsync(s, m, 0, 4)); /* single */
  OK(cuStreamAttachMemAsync(s, m, 8192, 1));
  assert_int_equal(cuStreamAttachMemAsync(s, m, 4096, 1), CUDA_ERROR_INVALID_VALUE); /* all of it or 0 */
  assert_int_equal(cuStreamAttachMemAsync(s, m, 0, 3), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuStreamAttachMemAsync(NULL, m, 0, 4), CUDA_ERROR_INVALID_VALUE);
  OK(cuStreamDestroy_v2(s));
#undef RANGE
}

static void access_to_pools(void **state)
{
  CUmemoryPool pool;
  CUmemLocation at = {LOCATION_DEVICE, 0};
  CUmemAccessDesc d = {.location = {LOCATION_DEVICE, 0}, .flags = 3};
  int flags = 0;
  (void)state;
  OK(cuDeviceGetDefaultMemPool(&pool, 0));
  OK(cuMemPoolGetAccess(&flags, pool, &at));
  assert_int_equal(flags, 3); /* the owner reads and writes */
  OK(cuMemPoolSetAccess(pool, &d, 1));
  d.flags = 0;
  assert_int_equal(cuMemPoolSetAccess(pool, &d, 1), CUDA_ERROR_INVALID_VALUE); /* which cannot be taken from it */
  d.flags = 3, d.location.id = 1;
  assert_int_equal(cuMemPoolSetAccess(pool, &d, 1), CUDA_ERROR_INVALID_DEVICE);
  assert_int_equal(cuMemPoolSetAccess(pool, NULL, 1), CUDA_ERROR_INVALID_VALUE);
  at.id = 1;
  assert_int_equal(cuMemPoolGetAccess(&flags, pool, &at), CUDA_ERROR_INVALID_DEVICE);
  at = (CUmemLocation){LOCATION_HOST, 0};
  OK(cuMemPoolGetAccess(&flags, pool, &at));
  assert_int_equal(flags, 0); /* a GPU's memory is none of the host's */
  assert_int_equal(cuMemPoolGetAccess(NULL, pool, &at), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemPoolTrimTo(pool, 0));
  assert_int_equal(cuMemPoolTrimTo((CUmemoryPool)&flags, 0), CUDA_ERROR_INVALID_VALUE);
}

static void batches(void **state)
{
  CUdeviceptr p;
  CUstream s;
  uint32_t in[4] = {1, 2, 3, 4}, out[4];
  (void)state;
  OK(cuMemAlloc_v2(&p, 16));
  OK(cuStreamCreate(&s, 0));
  const CUdeviceptr dst[2] = {p + 8, p}, src[2] = {(CUdeviceptr)(uintptr_t)in, (CUdeviceptr)(uintptr_t)&in[2]};
  const size_t bytes[2] = {8, 8};
  CUmemcpyAttributes a[2] = {{.order = 1}, {.order = 1}}; /* as the stream orders */
  size_t first[2] = {0, 1};
  OK(cuMemcpyBatchAsync_v2(dst, src, bytes, 2, a, first, 1, s));
  OK(cuStreamSynchronize(s));
  OK(cuMemcpyDtoH_v2(out, p, 16));
  assert_true(out[0] == 3 && out[1] == 4 && out[2] == 1 && out[3] == 2);
  OK(cuMemcpyBatchAsync_v2(dst, src, bytes, 2, a, first, 2, s));
  assert_int_equal(cuMemcpyBatchAsync_v2(dst, src, bytes, 2, a, first, 3, s), CUDA_ERROR_INVALID_VALUE); /* more than copies */
  assert_int_equal(cuMemcpyBatchAsync_v2(dst, src, bytes, 2, a, first, 0, s), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemcpyBatchAsync_v2(dst, src, bytes, 0, a, first, 1, s), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuMemcpyBatchAsync_v2(dst, src, bytes, 2, a, first, 1, NULL), CUDA_ERROR_INVALID_VALUE); /* no legacy stream */
  first[0] = 1;
  assert_int_equal(cuMemcpyBatchAsync_v2(dst, src, bytes, 2, a, first, 1, s), CUDA_ERROR_INVALID_VALUE); /* begins with 0 */
  first[0] = 0, first[1] = 0;
  assert_int_equal(cuMemcpyBatchAsync_v2(dst, src, bytes, 2, a, first, 2, s), CUDA_ERROR_INVALID_VALUE); /* ascending */
  first[1] = 2;
  assert_int_equal(cuMemcpyBatchAsync_v2(dst, src, bytes, 2, a, first, 2, s), CUDA_ERROR_INVALID_VALUE);
  first[1] = 1, a[1].order = 9;
  assert_int_equal(cuMemcpyBatchAsync_v2(dst, src, bytes, 2, a, first, 2, s), CUDA_ERROR_INVALID_VALUE);
  OK(cuStreamDestroy_v2(s));
  OK(cuMemFree_v2(p));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arrays), cmocka_unit_test(mipmaps), cmocka_unit_test(views), cmocka_unit_test(objects),
      cmocka_unit_test(advice), cmocka_unit_test(access_to_pools), cmocka_unit_test(batches),
  };
  return cmocka_run_group_tests(tests, cuda_setup, NULL);
}
