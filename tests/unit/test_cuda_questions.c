/* Small questions of the driver interface about devices, contexts, functions and launches. Expected values: CUDA Driver API
 * reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cuda_rig.h"

CUresult cuDeviceGetAttribute(int *, int, CUdevice);
CUresult cuDeviceComputeCapability(int *, int *, CUdevice);
CUresult cuDeviceGetUuid(CUuuid *, CUdevice);
CUresult cuDeviceGetUuid_v2(CUuuid *, CUdevice);
CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *, int, unsigned, CUdevice);
CUresult cuDeviceGetExecAffinitySupport(int *, int, CUdevice);
CUresult cuCtxCreate_v3(CUcontext *, const void *, int, unsigned, CUdevice);
CUresult cuCtxPushCurrent_v2(CUcontext);
CUresult cuCtxPopCurrent_v2(CUcontext *);
CUresult cuCtxGetDevice(CUdevice *);
CUresult cuCtxGetDevice_v2(CUdevice *, CUcontext);
CUresult cuCtxGetFlags(unsigned *);
CUresult cuCtxSetFlags(unsigned);
CUresult cuCtxGetId(CUcontext, unsigned long long *);
CUresult cuCtxGetApiVersion(CUcontext, unsigned *);
CUresult cuCtxSynchronize_v2(CUcontext);
CUresult cuCtxGetStreamPriorityRange(int *, int *);
CUresult cuLaunchKernelEx(const CUlaunchConfig *, CUfunction, void **, void **);
CUresult cuFuncGetAttribute(int *, int, CUfunction);
CUresult cuFuncSetAttribute(CUfunction, int, int);
CUresult cuKernelGetAttribute(int *, int, CUkernel, CUdevice);
CUresult cuKernelSetAttribute(int, int, CUkernel, CUdevice);
CUresult cuFuncSetCacheConfig(CUfunction, int);
CUresult cuKernelSetCacheConfig(CUkernel, int, CUdevice);
CUresult cuFuncSetSharedMemConfig(CUfunction, int);
CUresult cuFuncGetModule(CUmodule *, CUfunction);
CUresult cuKernelGetLibrary(CUlibrary *, CUkernel);
CUresult cuFuncGetName(const char **, CUfunction);
CUresult cuKernelGetName(const char **, CUkernel);
CUresult cuFuncGetParamInfo(CUfunction, size_t, size_t *, size_t *);
CUresult cuKernelGetParamInfo(CUkernel, size_t, size_t *, size_t *);
CUresult cuFuncIsLoaded(int *, CUfunction);
CUresult cuFuncLoad(CUfunction);
CUresult cuOccupancyMaxActiveClusters(int *, CUfunction, const CUlaunchConfig *);
CUresult cuOccupancyMaxPotentialClusterSize(int *, CUfunction, const CUlaunchConfig *);

#define INVALID(call) assert_int_equal(call, CUDA_ERROR_INVALID_VALUE)

static void about_the_device(void **state)
{
  CUuuid a, b;
  int major = 0, minor = 0, most = 0, n = 7;
  size_t texels = 0;
  (void)state;
  OK(cuDeviceComputeCapability(&major, &minor, 0));
  assert_true(major == 8 && minor == 6);
  INVALID(cuDeviceComputeCapability(NULL, &minor, 0));
  INVALID(cuDeviceComputeCapability(&major, NULL, 0));
  assert_int_equal(cuDeviceComputeCapability(&major, &minor, 1), CUDA_ERROR_INVALID_DEVICE);
  OK(cuDeviceGetUuid(&a, 0));
  OK(cuDeviceGetUuid_v2(&b, 0));
  assert_memory_equal(&a, &b, sizeof a);
  INVALID(cuDeviceGetUuid(NULL, 0));
  OK(cuDeviceGetAttribute(&most, 69, 0)); /* CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH */
  for (unsigned channels = 0; channels < 6; channels++) {
    CUresult r = cuDeviceGetTexture1DLinearMaxWidth(&texels, FORMAT_U8, channels, 0);
    assert_int_equal(r, channels == 1 || channels == 2 || channels == 4 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
  }
  assert_true(texels == (size_t)most && most > 0);
  INVALID(cuDeviceGetTexture1DLinearMaxWidth(&texels, 0, 1, 0));
  INVALID(cuDeviceGetTexture1DLinearMaxWidth(NULL, FORMAT_U8, 1, 0));
  assert_int_equal(cuDeviceGetTexture1DLinearMaxWidth(&texels, FORMAT_U8, 1, 1), CUDA_ERROR_INVALID_DEVICE);
  OK(cuDeviceGetExecAffinitySupport(&n, 0, 0));
  assert_int_equal(n, 0);
  INVALID(cuDeviceGetExecAffinitySupport(&n, 1, 0));
}

static void about_contexts(void **state)
{
  CUcontext mine, c, gone, got;
  CUdevice d = 7;
  unsigned flags = 9, version = 0;
  unsigned long long id = 0, other = 0;
  int least = 9, greatest = 9;
  (void)state;
  OK(cuCtxGetCurrent(&mine));
  OK(cuCtxCreate_v3(&c, NULL, 0, 4, 0));
  OK(cuCtxGetFlags(&flags));
  assert_int_equal(flags & 4, 4);
  OK(cuCtxSetFlags(1));
  OK(cuCtxGetFlags(&flags));
  assert_int_equal(flags & 7, 1);
  INVALID(cuCtxSetFlags(0x100));
  INVALID(cuCtxGetFlags(NULL));
  OK(cuCtxGetId(NULL, &id)); /* the current one */
  OK(cuCtxGetId(c, &other));
  assert_true(id == other && id);
  OK(cuCtxGetId(mine, &other));
  assert_true(id != other);
  INVALID(cuCtxGetId(c, NULL));
  OK(cuCtxGetDevice(&d));
  assert_int_equal(d, 0);
  d = 7;
  OK(cuCtxGetDevice_v2(&d, mine));
  assert_int_equal(d, 0);
  OK(cuCtxGetDevice_v2(&d, NULL));
  OK(cuCtxGetApiVersion(c, &version));
  assert_true(version >= 12000);
  OK(cuCtxSynchronize_v2(c));
  OK(cuCtxSynchronize_v2(NULL));
  OK(cuCtxGetStreamPriorityRange(&least, &greatest));
  assert_true(least == 0 && greatest == -5);
  OK(cuCtxPopCurrent_v2(&got));
  assert_ptr_equal(got, c);
  OK(cuCtxGetCurrent(&got));
  assert_ptr_equal(got, mine);
  OK(cuCtxPushCurrent_v2(c));
  OK(cuCtxGetCurrent(&got));
  assert_ptr_equal(got, c);
  OK(cuCtxDestroy_v2(c));
  gone = c;
  OK(cuCtxSetCurrent(mine));
  assert_int_equal(cuCtxGetId(gone, &id), CUDA_ERROR_INVALID_CONTEXT);
  assert_int_equal(cuCtxGetDevice_v2(&d, gone), CUDA_ERROR_INVALID_CONTEXT);
  assert_int_equal(cuCtxSynchronize_v2(gone), CUDA_ERROR_INVALID_CONTEXT);
  assert_int_equal(cuCtxPushCurrent_v2(gone), CUDA_ERROR_INVALID_CONTEXT);
  assert_int_equal(cuCtxDestroy_v2(gone), CUDA_ERROR_INVALID_CONTEXT);
}

/* vecadd(const float *, const float *, float *, int): parameters at 0, 8, 16 and 24. */
static void about_functions(void **state)
{
  static const size_t at[] = {0, 8, 16, 24}, bytes[] = {8, 8, 8, 4};
  CUmodule m, got;
  CUlibrary library;
  CUfunction f = cuda_vecadd(&m), none = (CUfunction)(void *)&got;
  const char *name;
  size_t offset, size;
  int v = 0;
  (void)state;
  for (size_t i = 0; i < 4; i++) {
    OK(cuFuncGetParamInfo(f, i, &offset, &size));
    assert_true(offset == at[i] && size == bytes[i]);
    OK(cuKernelGetParamInfo(f, i, &offset, NULL));
    assert_true(offset == at[i]);
  }
  INVALID(cuFuncGetParamInfo(f, 4, &offset, &size));
  INVALID(cuFuncGetParamInfo(f, 0, NULL, &size));
  assert_int_equal(cuFuncGetParamInfo(none, 0, &offset, &size), CUDA_ERROR_INVALID_HANDLE);
  OK(cuFuncGetName(&name, f));
  assert_string_equal(name, "vecadd");
  OK(cuKernelGetName(&name, f));
  assert_string_equal(name, "vecadd");
  INVALID(cuFuncGetName(NULL, f));
  assert_int_equal(cuFuncGetName(&name, none), CUDA_ERROR_INVALID_HANDLE);
  OK(cuFuncGetModule(&got, f));
  assert_ptr_equal(got, m);
  OK(cuKernelGetLibrary(&library, f));
  assert_ptr_equal(library, m);
  INVALID(cuFuncGetModule(NULL, f));
  assert_int_equal(cuFuncGetModule(&got, none), CUDA_ERROR_INVALID_HANDLE);
  OK(cuKernelGetAttribute(&v, FUNC_MAX_THREADS, f, 0));
  assert_int_equal(v, 1024);
  assert_int_equal(cuKernelGetAttribute(&v, FUNC_MAX_THREADS, f, 1), CUDA_ERROR_INVALID_DEVICE);
  INVALID(cuFuncGetAttribute(NULL, FUNC_MAX_THREADS, f));
  INVALID(cuFuncGetAttribute(&v, 99, f));
  assert_int_equal(cuFuncGetAttribute(&v, FUNC_MAX_THREADS, none), CUDA_ERROR_INVALID_HANDLE);
  OK(cuKernelSetAttribute(FUNC_MAX_DYNAMIC_SHARED, 60000, f, 0));
  OK(cuFuncGetAttribute(&v, FUNC_MAX_DYNAMIC_SHARED, f));
  assert_int_equal(v, 60000);
  assert_int_equal(cuKernelSetAttribute(FUNC_MAX_DYNAMIC_SHARED, 60000, f, 1), CUDA_ERROR_INVALID_DEVICE);
  assert_int_equal(cuFuncSetAttribute(none, FUNC_MAX_DYNAMIC_SHARED, 60000), CUDA_ERROR_INVALID_HANDLE);
  INVALID(cuFuncSetAttribute(f, FUNC_MAX_DYNAMIC_SHARED, 200000)); /* more than the 99 KB a block can have */
  OK(cuFuncSetCacheConfig(f, 1));
  OK(cuKernelSetCacheConfig(f, 1, 0));
  assert_int_equal(cuKernelSetCacheConfig(f, 1, 1), CUDA_ERROR_INVALID_DEVICE);
  assert_int_equal(cuFuncSetCacheConfig(none, 1), CUDA_ERROR_INVALID_HANDLE);
  OK(cuFuncSetSharedMemConfig(f, 2));
  INVALID(cuFuncSetSharedMemConfig(f, 3));
  assert_int_equal(cuFuncSetSharedMemConfig(none, 2), CUDA_ERROR_INVALID_HANDLE);
  OK(cuFuncLoad(f));
  v = 0;
  OK(cuFuncIsLoaded(&v, f));
  assert_int_equal(v, 1);
  OK(cuModuleUnload(m));
}

/* z = x + y by a configuration with attributes; clusters are of sm_90 and later. */
static void launches_by_configuration(void **state)
{
  CUmodule m;
  CUfunction f = cuda_vecadd(&m);
  unsigned n = 64;
  CUdeviceptr x = cuda_floats(n, 0, 1), z = cuda_floats(n, 0, 0);
  void *args[] = {&x, &x, &z, &n};
  float out[64];
  CUlaunchAttribute a[2] = {{.id = LAUNCH_ATTR_IGNORE}, {.id = LAUNCH_ATTR_PRIORITY, .value = {.priority = -1}}};
  CUlaunchConfig c = {.grid = {1, 1, 1}, .block = {64, 1, 1}, .attr = a, .n_attrs = 2};
  int clusters = 7;
  (void)state;
  OK(cuLaunchKernelEx(&c, f, args, NULL));
  OK(cuMemcpyDtoH_v2(out, z, sizeof out));
  for (int i = 0; i < 64; i++) assert_true(out[i] == 2 * (float)i);
  INVALID(cuLaunchKernelEx(NULL, f, args, NULL));
  INVALID(cuLaunchKernelEx(&c, f, args, args)); /* one or the other */
  c.attr = NULL;
  INVALID(cuLaunchKernelEx(&c, f, args, NULL));
  c.n_attrs = 0;
  assert_int_equal(cuLaunchKernelEx(&c, (CUfunction)(void *)a, args, NULL), CUDA_ERROR_INVALID_HANDLE);
  INVALID(cuOccupancyMaxActiveClusters(NULL, f, &c));
  INVALID(cuOccupancyMaxActiveClusters(&clusters, f, NULL));
  INVALID(cuOccupancyMaxPotentialClusterSize(NULL, f, &c));
  assert_int_equal(cuOccupancyMaxActiveClusters(&clusters, (CUfunction)(void *)a, &c), CUDA_ERROR_INVALID_HANDLE);
  OK(cuMemFree_v2(x));
  OK(cuMemFree_v2(z));
  OK(cuModuleUnload(m));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(about_the_device), cmocka_unit_test(about_contexts), cmocka_unit_test(about_functions),
      cmocka_unit_test(launches_by_configuration),
  };
  return cmocka_run_group_tests(tests, cuda_setup, NULL);
}
