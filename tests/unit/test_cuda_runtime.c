/* The runtime interface as a program compiled by nvcc uses it: its constructors register the fat binary, kernels and variables
 * (here tests/data/fat.fatbin). Expected values: CUDA Runtime API reference; results by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cuda_program.h"

unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, CUstream);
CUresult __cudaPopCallConfiguration(dim3 *, dim3 *, size_t *, void *);
CUresult cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, CUstream);
CUresult cudaGetLastError(void);
CUresult cudaPeekAtLastError(void);
const char *cudaGetErrorName(CUresult);
const char *cudaGetErrorString(CUresult);
CUresult cudaGetDeviceCount(int *);
CUresult cudaGetDevice(int *);
CUresult cudaSetDevice(int);
CUresult cudaDeviceSynchronize(void);
CUresult cudaDeviceGetAttribute(int *, int, int);
CUresult cudaDriverGetVersion(int *);
CUresult cudaRuntimeGetVersion(int *);
CUresult cudaMalloc(void **, size_t);
CUresult cudaFree(void *);
CUresult cudaMallocHost(void **, size_t);
CUresult cudaFreeHost(void *);
CUresult cudaMallocPitch(void **, size_t *, size_t, size_t);
CUresult cudaMallocManaged(void **, size_t, unsigned);
CUresult cudaMemcpy(void *, const void *, size_t, int);
CUresult cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int);
CUresult cudaMemset(void *, int, size_t);
CUresult cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
CUresult cudaMemcpyFromSymbol(void *, const void *, size_t, size_t, int);
CUresult cudaGetSymbolAddress(void **, const void *);
CUresult cudaGetSymbolSize(size_t *, const void *);
CUresult cudaPointerGetAttributes(cudaPointerAttributes *, const void *);
CUresult cudaFuncGetAttributes(cudaFuncAttributes *, const void *);
CUresult cudaFuncSetAttribute(const void *, int, int);
CUresult cudaGetKernel(CUkernel *, const void *);
void __cudaUnregisterFatBinary(void **);
CUresult cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *, int, size_t);
CUresult cudaStreamCreate(CUstream *);
CUresult cudaStreamCreateWithFlags(CUstream *, unsigned);
CUresult cudaStreamDestroy(CUstream);
CUresult cudaStreamQuery(CUstream);
CUresult cudaStreamSynchronize(CUstream);
CUresult cudaStreamWaitEvent(CUstream, CUevent, unsigned);
CUresult cudaEventCreate(CUevent *);
CUresult cudaEventCreateWithFlags(CUevent *, unsigned);
CUresult cudaEventRecord(CUevent, CUstream);
CUresult cudaEventQuery(CUevent);
CUresult cudaEventSynchronize(CUevent);
CUresult cudaEventElapsedTime(float *, CUevent, CUevent);
CUresult cudaEventDestroy(CUevent);
CUresult cudaMemcpyAsync(void *, const void *, size_t, int, CUstream);
CUresult cudaInitDevice(int, unsigned, unsigned);
CUresult cudaSetValidDevices(int *, int);
CUresult cudaSetDeviceFlags(unsigned);
CUresult cudaGetDeviceFlags(unsigned *);
CUresult cudaChooseDevice(int *, const void *);
CUresult cudaDeviceGetStreamPriorityRange(int *, int *);
CUresult cudaDeviceGetTexture1DLinearMaxWidth(size_t *, const cudaChannelFormatDesc *, int);
CUresult cudaDeviceGetByPCIBusId(int *, const char *);
CUresult cudaDeviceGetPCIBusId(char *, int, int);
CUresult cudaGetDriverEntryPoint(const char *, void **, unsigned long long, int *);
CUresult cudaGetDriverEntryPointByVersion(const char *, void **, unsigned, unsigned long long, int *);
CUresult cudaGetDriverEntryPoint_ptsz(const char *, void **, unsigned long long, int *);
CUresult cudaLaunchKernelExC(const cudaLaunchConfig_t *, const void *, void **);
CUresult cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *, const void *, void **);
CUresult cudaLaunchCooperativeKernel(const void *, dim3, dim3, void **, size_t, CUstream);
CUresult cudaGetKernel(CUkernel *, const void *);
CUresult cudaGetFuncBySymbol(CUfunction *, const void *);
CUresult cudaFuncSetCacheConfig(const void *, int);
CUresult cudaFuncSetSharedMemConfig(const void *, int);
CUresult cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *, const void *, int, size_t, unsigned);
CUresult cudaOccupancyAvailableDynamicSMemPerBlock(size_t *, const void *, int, int);
CUresult cudaOccupancyMaxActiveClusters(int *, const void *, const cudaLaunchConfig_t *);
CUresult cudaFuncGetName(const char **, const void *);
CUresult cudaFuncGetParamInfo(const void *, size_t, size_t *, size_t *);
CUresult cudaKernelSetAttributeForDevice(CUkernel, int, int, int);
CUresult cudaMemset_ptds(void *, int, size_t);
CUresult cudaMemset2D_ptds(void *, size_t, int, size_t, size_t);
CUresult cudaMemcpy_ptds(void *, const void *, size_t, int);
CUresult cudaMemcpy2D_ptds(void *, size_t, const void *, size_t, size_t, size_t, int);
CUresult cudaMemsetAsync_ptsz(void *, int, size_t, CUstream);
CUresult cudaMemcpyToSymbol_ptds(const void *, const void *, size_t, size_t, int);
CUresult cudaMemcpyFromSymbol_ptds(void *, const void *, size_t, size_t, int);
CUresult cudaLaunchKernel_ptsz(const void *, dim3, dim3, void **, size_t, CUstream);
CUresult cudaDeviceReset(void);
CUresult cudaMemcpyAsync_ptsz(void *, const void *, size_t, int, CUstream);
CUresult cudaStreamQuery_ptsz(CUstream);
CUresult cudaStreamSynchronize_ptsz(CUstream);

/* No cudaInit: the first call makes device 0 current. */
static void devices(void **state)
{
  int n = 0;
  (void)state;
  OK(cudaGetDeviceCount(&n));
  assert_int_equal(n, 1);
  OK(cudaGetDevice(&n));
  assert_int_equal(n, 0);
  OK(cudaSetDevice(0));
  assert_int_equal(cudaSetDevice(1), CUDA_ERROR_INVALID_DEVICE);
  OK(cudaDeviceGetAttribute(&n, 16, 0));
  assert_int_equal(n, 46);
  assert_int_equal(cudaDeviceGetAttribute(&n, 16, 1), CUDA_ERROR_INVALID_DEVICE);
  OK(cudaRuntimeGetVersion(&n));
  assert_true(n >= 12000);
  OK(cudaDriverGetVersion(&n));
  assert_true(n >= 12000);
  cudaGetLastError();
}

/* cudaGetLastError gives the last error and forgets it, cudaPeekAtLastError does not; success leaves it as it is. */
static void last_error(void **state)
{
  void *p;
  (void)state;
  OK(cudaGetLastError());
  assert_int_equal(cudaMalloc(NULL, 4), CUDA_ERROR_INVALID_VALUE);
  OK(cudaMalloc(&p, 4));
  assert_int_equal(cudaPeekAtLastError(), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cudaPeekAtLastError(), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cudaGetLastError(), CUDA_ERROR_INVALID_VALUE);
  OK(cudaGetLastError());
  assert_int_equal(cudaMalloc(&p, (size_t)100 << 30), CUDA_ERROR_OUT_OF_MEMORY);
  assert_int_equal(cudaMemset(p, 0, 8), CUDA_ERROR_INVALID_VALUE); /* past its end; the later one counts */
  assert_int_equal(cudaGetLastError(), CUDA_ERROR_INVALID_VALUE);
  assert_string_equal(cudaGetErrorName(CUDA_SUCCESS), "cudaSuccess");
  assert_string_equal(cudaGetErrorName(CUDA_ERROR_INVALID_VALUE), "cudaErrorInvalidValue");
  assert_string_equal(cudaGetErrorName(CUDA_ERROR_OUT_OF_MEMORY), "cudaErrorMemoryAllocation");
  assert_string_equal(cudaGetErrorName(CUDA_ERROR_NOT_READY), "cudaErrorNotReady");
  assert_string_equal(cudaGetErrorString(CUDA_SUCCESS), "no error");
  assert_string_equal(cudaGetErrorName((CUresult)12345), "unrecognized error code");
  OK(cudaFree(p));
  OK(cudaFree(NULL));
}

enum { N = 8 };

/* p[i] += table[i & 3] * scale[n & 1] + *entry with entry = &table[2]. */
static void check_add(const int table[4], const int scale[2], int n)
{
  int v[N], *p;
  void *args[] = {&p, &n};
  OK(cudaMalloc((void **)&p, sizeof v));
  OK(cudaMemset(p, 0, sizeof v));
  OK(cudaLaunchKernel(&stub_add, (dim3){1, 1, 1}, (dim3){N, 1, 1}, args, 0, NULL));
  OK(cudaMemcpy(v, p, sizeof v, COPY_DEVICE_TO_HOST));
  for (int i = 0; i < N; i++) assert_int_equal(v[i], i < n ? table[i & 3] * scale[n & 1] + table[2] : 0);
  OK(cudaFree(p));
}

static void kernels_and_variables(void **state)
{
  int table[4] = {5, 6, 7, 8}, scale[2] = {3, 4}, got[4];
  size_t bytes;
  void *p;
  (void)state;
  check_add(table, scale, 8);
  check_add(table, scale, 5);
  OK(cudaMemcpyFromSymbol(got, &var_table, 16, 0, COPY_DEVICE_TO_HOST));
  assert_memory_equal(got, table, 16);
  table[1] = -3, table[2] = 40;
  OK(cudaMemcpyToSymbol(&var_table, &table[1], 8, 4, COPY_HOST_TO_DEVICE));
  scale[1] = -7;
  OK(cudaMemcpyToSymbol(&var_scale, scale, 8, 0, COPY_DEFAULT));
  check_add(table, scale, 7);
  OK(cudaGetSymbolSize(&bytes, &var_table));
  assert_int_equal(bytes, 16);
  OK(cudaGetSymbolAddress(&p, &var_table));
  OK(cudaMemcpy(got, p, 16, COPY_DEFAULT));
  assert_memory_equal(got, table, 16);
  assert_int_equal(cudaMemcpyToSymbol(&var_table, table, 16, 4, COPY_HOST_TO_DEVICE), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cudaMemcpyToSymbol(&var_table, table, 16, 0, COPY_DEVICE_TO_HOST), cudaErrorInvalidMemcpyDirection);
  assert_int_equal(cudaMemcpyToSymbol(&nobody, table, 4, 0, COPY_HOST_TO_DEVICE), cudaErrorInvalidSymbol);
  assert_int_equal(cudaGetSymbolAddress(&p, &nobody), cudaErrorInvalidSymbol);
  assert_int_equal(cudaGetSymbolSize(&bytes, &nobody), cudaErrorInvalidSymbol);
  cudaGetLastError();
}

static void bad_launches(void **state)
{
  int n = 0, *p = NULL;
  void *args[] = {&p, &n};
  const dim3 one = {1, 1, 1};
  (void)state;
  assert_int_equal(cudaLaunchKernel(&nobody, one, one, args, 0, NULL), cudaErrorInvalidDeviceFunction);
  assert_true(cudaLaunchKernel(&stub_pick, one, one, args, 0, NULL) != CUDA_SUCCESS);
  assert_int_equal(cudaLaunchKernel(&stub_add, one, (dim3){1025, 1, 1}, args, 0, NULL), cudaErrorInvalidConfiguration);
  assert_int_equal(cudaLaunchKernel(&stub_add, (dim3){0, 1, 1}, one, args, 0, NULL), cudaErrorInvalidConfiguration);
  cudaGetLastError();
}

/* <<<grid, block, shared, stream>>> is kept until the launch takes it. */
static void configurations(void **state)
{
  dim3 grid, block;
  size_t shared;
  CUstream stream, s;
  (void)state;
  OK(cudaStreamCreate(&s));
  assert_int_equal(__cudaPushCallConfiguration((dim3){1, 2, 3}, (dim3){4, 5, 6}, 7, s), 0);
  assert_int_equal(__cudaPushCallConfiguration((dim3){9, 1, 1}, (dim3){8, 1, 1}, 0, NULL), 0);
  OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
  assert_int_equal(grid.x, 9);
  assert_int_equal(block.x, 8);
  OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
  assert_true(grid.x == 1 && grid.y == 2 && grid.z == 3 && block.x == 4 && block.y == 5 && block.z == 6);
  assert_int_equal(shared, 7);
  assert_ptr_equal(stream, s);
  assert_int_equal(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaErrorMissingConfiguration);
  OK(cudaStreamDestroy(s));
  cudaGetLastError();
}

static void what_a_kernel_says(void **state)
{
  cudaFuncAttributes a;
  int ctas;
  (void)state;
  OK(cudaFuncGetAttributes(&a, &stub_add));
  assert_int_equal(a.max_threads, 1024);
  assert_int_equal(a.binary_version, 86);
  assert_int_equal(a.shared, 0);
  assert_int_equal(a.local, 0);
  assert_int_equal(a.max_dynamic_shared, 49152);
  assert_int_equal(cudaFuncGetAttributes(&a, &nobody), cudaErrorInvalidDeviceFunction);
  assert_int_equal(cudaFuncGetAttributes(NULL, &stub_add), CUDA_ERROR_INVALID_VALUE);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, &stub_add, 256, 0));
  assert_int_equal(ctas, 6);
  OK(cudaFuncSetAttribute(&stub_add, FUNC_MAX_DYNAMIC_SHARED, 65536));
  OK(cudaFuncGetAttributes(&a, &stub_add));
  assert_int_equal(a.max_dynamic_shared, 65536);
  assert_int_equal(cudaFuncSetAttribute(&stub_add, FUNC_NUM_REGS, 1), CUDA_ERROR_INVALID_VALUE);
  cudaGetLastError();
}

static void memory(void **state)
{
  char in[64], out[64] = {0};
  char *d, *h, *m;
  size_t pitch;
  cudaPointerAttributes a;
  (void)state;
  for (unsigned i = 0; i < sizeof in; i++) in[i] = (char)(3 * i + 1);
  OK(cudaMalloc((void **)&d, 64));
  OK(cudaMemcpy(d, in, 64, COPY_HOST_TO_DEVICE));
  OK(cudaMemset(d + 8, 0x5a, 4));
  OK(cudaMemcpy(out, d, 64, COPY_DEVICE_TO_HOST));
  memset(in + 8, 0x5a, 4);
  assert_memory_equal(in, out, 64);
  assert_int_equal(cudaMemcpy(out, d, 64, 7), cudaErrorInvalidMemcpyDirection);
  assert_int_equal(cudaMemcpy(out, d + 1, 64, COPY_DEVICE_TO_HOST), CUDA_ERROR_INVALID_VALUE);
  OK(cudaMemcpy2D(out, 8, d, 16, 4, 4, COPY_DEVICE_TO_HOST));
  for (unsigned i = 0; i < 4; i++) assert_memory_equal(out + 8 * i, in + 16 * i, 4);
  assert_int_equal(cudaMemcpy2D(out, 3, d, 16, 4, 4, COPY_DEVICE_TO_HOST), cudaErrorInvalidPitchValue);
  OK(cudaPointerGetAttributes(&a, d));
  assert_int_equal(a.type, 2);
  assert_ptr_equal(a.device_pointer, d);
  assert_null(a.host_pointer);
  OK(cudaMallocHost((void **)&h, 64));
  OK(cudaPointerGetAttributes(&a, h));
  assert_int_equal(a.type, 1);
  assert_ptr_equal(a.host_pointer, h);
  OK(cudaMallocManaged((void **)&m, 64, MANAGED_GLOBAL));
  OK(cudaPointerGetAttributes(&a, m));
  assert_int_equal(a.type, 3);
  m[5] = 77; /* the host reaches it */
  OK(cudaMemcpy(out, m, 64, COPY_DEFAULT));
  assert_int_equal(out[5], 77);
  OK(cudaPointerGetAttributes(&a, in));
  assert_int_equal(a.type, 0); /* unregistered */
  OK(cudaMallocPitch((void **)&h, &pitch, 100, 10));
  assert_true(pitch >= 100 && pitch % 32 == 0);
  OK(cudaFree(h));
  OK(cudaFree(m));
  OK(cudaFree(d));
  assert_int_equal(cudaFree(d), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cudaFreeHost(in), CUDA_ERROR_INVALID_VALUE);
  cudaGetLastError();
}

static void streams_and_events(void **state)
{
  enum { BYTES = 1 << 20 };
  CUstream a, b;
  CUevent from, to, plain;
  float ms = -1;
  char *d, *e;
  (void)state;
  OK(cudaMalloc((void **)&d, BYTES));
  OK(cudaMalloc((void **)&e, BYTES));
  OK(cudaStreamCreateWithFlags(&a, STREAM_NON_BLOCKING));
  OK(cudaStreamCreate(&b));
  OK(cudaEventCreate(&from));
  OK(cudaEventCreate(&to));
  OK(cudaEventCreateWithFlags(&plain, EVENT_DISABLE_TIMING));
  OK(cudaEventRecord(from, a));
  OK(cudaMemcpyAsync(d, e, BYTES, COPY_DEVICE_TO_DEVICE, a));
  OK(cudaEventRecord(to, a));
  assert_int_equal(cudaStreamQuery(a), CUDA_ERROR_NOT_READY);
  OK(cudaPeekAtLastError()); /* "not ready" is no error */
  OK(cudaStreamWaitEvent(b, to, 0));
  OK(cudaStreamSynchronize(b));
  OK(cudaEventQuery(to));
  OK(cudaEventElapsedTime(&ms, from, to));
  assert_true(ms > 0 && ms < 1);
  assert_int_equal(cudaEventElapsedTime(&ms, from, plain), CUDA_ERROR_INVALID_HANDLE);
  OK(cudaEventDestroy(plain));
  assert_int_equal(cudaEventRecord(plain, a), CUDA_ERROR_INVALID_HANDLE);
  OK(cudaEventSynchronize(to));
  OK(cudaStreamDestroy(a));
  OK(cudaStreamDestroy(b));
  OK(cudaDeviceSynchronize());
  cudaGetLastError();
}

/* --default-stream per-thread: the stream NULL is one of the thread's own, which others do not wait for; streams that are named
 * are those. */
static void stream_of_the_thread(void **state)
{
  enum { BYTES = 4 << 20 };
  CUstream s;
  char *d, *e;
  (void)state;
  OK(cudaMalloc((void **)&d, BYTES));
  OK(cudaMalloc((void **)&e, BYTES));
  OK(cudaStreamCreateWithFlags(&s, STREAM_NON_BLOCKING));
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpyAsync_ptsz(d, e, BYTES, COPY_DEVICE_TO_DEVICE, NULL));
  assert_int_equal(cudaStreamQuery(STREAM_PER_THREAD), CUDA_ERROR_NOT_READY);
  assert_int_equal(cudaStreamQuery_ptsz(NULL), CUDA_ERROR_NOT_READY);
  OK(cudaStreamSynchronize_ptsz(NULL));
  OK(cudaStreamQuery(STREAM_PER_THREAD));
  OK(cudaMemcpyAsync_ptsz(d, e, BYTES, COPY_DEVICE_TO_DEVICE, s));
  OK(cudaStreamQuery_ptsz(NULL));
  assert_int_equal(cudaStreamQuery_ptsz(s), CUDA_ERROR_NOT_READY);
  OK(cudaStreamSynchronize_ptsz(s));
  OK(cudaStreamDestroy(s));
  OK(cudaFree(d));
  OK(cudaFree(e));
}

/* One device, number 0. */
static void questions_about_devices(void **state)
{
  const cudaChannelFormatDesc word = {32, 0, 0, 0, 0}, none = {0, 0, 0, 0, 0};
  int n = 0, least = 7, greatest = 7, most = 0;
  unsigned flags = 0;
  size_t texels = 0;
  char id[20];
  (void)state;
  OK(cudaInitDevice(0, 0, 0));
  assert_int_equal(cudaInitDevice(1, 0, 0), CUDA_ERROR_INVALID_DEVICE);
  OK(cudaSetValidDevices(&n, 1));
  OK(cudaSetValidDevices(&n, 0));
  assert_int_equal(cudaSetValidDevices(&n, 2), CUDA_ERROR_INVALID_DEVICE);
  assert_int_equal(cudaSetValidDevices(&n, -1), CUDA_ERROR_INVALID_DEVICE);
  OK(cudaSetDeviceFlags(4)); /* blocking synchronisation; memory of the host is always mapped: 8 */
  OK(cudaGetDeviceFlags(&flags));
  assert_int_equal(flags, 12);
  OK(cudaSetDeviceFlags(0));
  assert_int_equal(cudaGetDeviceFlags(NULL), CUDA_ERROR_INVALID_VALUE);
  OK(cudaChooseDevice(&n, NULL));
  assert_int_equal(n, 0);
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  assert_true(least == 0 && greatest == -5);
  OK(cudaDeviceGetStreamPriorityRange(NULL, NULL));
  OK(cudaDeviceGetAttribute(&most, 69, 0)); /* cudaDevAttrMaxTexture1DLinearWidth */
  OK(cudaDeviceGetTexture1DLinearMaxWidth(&texels, &word, 0));
  assert_true(texels == (size_t)most && most > 0);
  assert_int_equal(cudaDeviceGetTexture1DLinearMaxWidth(&texels, &word, 1), CUDA_ERROR_INVALID_DEVICE);
  assert_int_equal(cudaDeviceGetTexture1DLinearMaxWidth(&texels, &none, 0), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cudaDeviceGetTexture1DLinearMaxWidth(NULL, &word, 0), CUDA_ERROR_INVALID_VALUE);
  OK(cudaDeviceGetPCIBusId(id, sizeof id, 0));
  n = 7;
  OK(cudaDeviceGetByPCIBusId(&n, id));
  assert_int_equal(n, 0);
  assert_int_equal(cudaDeviceGetByPCIBusId(&n, "0000:77:00.0"), CUDA_ERROR_INVALID_DEVICE);
  assert_int_equal(cudaDeviceGetByPCIBusId(NULL, id), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cudaDeviceGetByPCIBusId(&n, NULL), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cudaDeviceGetPCIBusId(id, (int)strlen(id) + 1, 0), CUDA_SUCCESS); /* just room */
  assert_int_equal(cudaDeviceGetPCIBusId(id, (int)strlen(id), 0), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cudaDeviceGetPCIBusId(id, sizeof id, 1), CUDA_ERROR_INVALID_DEVICE);
  assert_int_equal(cudaDeviceGetPCIBusId(NULL, 20, 0), CUDA_ERROR_INVALID_VALUE);
  cudaGetLastError();
}

/* Driver's entry points by name: cudaDriverEntryPointSuccess is 0, …SymbolNotFound 1. Flag 2: of a thread's own stream. */
static void entry_points(void **state)
{
  void *f = NULL, *own = NULL;
  int status = 7;
  (void)state;
  OK(cudaGetDriverEntryPoint("cuMemAlloc", &f, 0, &status));
  assert_ptr_equal(f, (void *)(uintptr_t)cuMemAlloc_v2);
  assert_int_equal(status, 0);
  OK(cudaGetDriverEntryPoint("cuNoSuchThing", &f, 0, &status));
  assert_int_equal(status, 1);
  assert_int_equal(cudaGetDriverEntryPoint("cuNoSuchThing", &f, 0, NULL), CUDA_ERROR_NOT_FOUND);
  OK(cudaGetDriverEntryPointByVersion("cuStreamQuery", &f, 12000, 1, &status));
  assert_ptr_equal(f, (void *)(uintptr_t)cuStreamQuery);
  OK(cudaGetDriverEntryPointByVersion("cuStreamQuery", &own, 12000, 2, &status));
  assert_ptr_not_equal(own, f);
  OK(cudaGetDriverEntryPoint_ptsz("cuStreamQuery", &f, 0, &status));
  assert_ptr_equal(f, own);
  OK(cudaGetDriverEntryPoint_ptsz("cuStreamQuery", &f, 1, &status)); /* the program says which */
  assert_ptr_not_equal(f, own);
  assert_int_equal(cudaGetDriverEntryPoint("cuMemAlloc", &f, 3, &status), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cudaGetDriverEntryPoint(NULL, &f, 0, &status), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cudaGetDriverEntryPoint("cuMemAlloc", NULL, 0, &status), CUDA_ERROR_INVALID_VALUE);
  cudaGetLastError();
}

/* Every way to launch fat_add on 8 zeros gives 5 * 3 + 7 and so on. */
static void ways_to_launch(void **state)
{
  const dim3 one = {1, 1, 1}, block = {N, 1, 1};
  int *p, n = N, v[N];
  void *args[] = {&p, &n};
  cudaLaunchConfig_t c = {.grid = one, .block = block};
  CUkernel k;
  CUfunction f;
  CUstream s;
  (void)state;
  OK(cudaStreamCreate(&s));
  OK(cudaGetKernel(&k, &stub_add));
  OK(cudaGetFuncBySymbol(&f, &stub_add));
  assert_ptr_equal(k, f);
  assert_int_equal(cudaGetKernel(NULL, &stub_add), CUDA_ERROR_INVALID_VALUE);
  OK(cudaMalloc((void **)&p, sizeof v));
  OK(cudaMemset(p, 0, sizeof v));
  OK(cudaLaunchKernelExC(&c, &stub_add, args));
  c.stream = s;
  OK(cudaLaunchKernelExC(&c, k, args)); /* handles are as good as host functions */
  c.stream = NULL;
  OK(cudaLaunchKernelExC_ptsz(&c, &stub_add, args));
  OK(cudaLaunchKernel_ptsz(&stub_add, one, block, args, 0, NULL));
  OK(cudaLaunchCooperativeKernel(&stub_add, one, block, args, 0, s));
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(v, p, sizeof v, COPY_DEVICE_TO_HOST));
  for (int i = 0; i < N; i++) assert_int_equal(v[i], 5 * ((5 + i % 4) * 3 + 7));
  assert_int_equal(cudaLaunchKernelExC(NULL, &stub_add, args), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cudaLaunchKernelExC_ptsz(NULL, &stub_add, args), CUDA_ERROR_INVALID_VALUE);
  c.n_attrs = 1; /* and no attributes */
  assert_int_equal(cudaLaunchKernelExC(&c, &stub_add, args), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cudaLaunchKernel(&stub_add, one, block, NULL, 0, NULL), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cudaLaunchKernel(&stub_add, one, block, args, (size_t)1 << 40, NULL), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cudaLaunchCooperativeKernel(&stub_add, (dim3){46 * 16 + 1, 1, 1}, (dim3){1024, 1, 1}, args, 0, NULL),
                   CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  OK(cudaStreamDestroy(s));
  assert_int_equal(cudaLaunchKernel(&stub_add, one, block, args, 0, s), CUDA_ERROR_INVALID_HANDLE);
  OK(cudaFree(p));
  cudaGetLastError();
}

/* Parameters of fat_add: a pointer, then an int. */
static void questions_about_kernels(void **state)
{
  const char *name;
  size_t at = 9, bytes = 9;
  int n = 0, clusters;
  cudaLaunchConfig_t c = {.grid = {8, 1, 1}, .block = {64, 1, 1}};
  CUkernel k;
  (void)state;
  OK(cudaFuncGetName(&name, &stub_add));
  assert_string_equal(name, "fat_add");
  assert_int_equal(cudaFuncGetName(NULL, &stub_add), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cudaFuncGetName(&name, &nobody), cudaErrorInvalidDeviceFunction);
  OK(cudaFuncGetParamInfo(&stub_add, 0, &at, &bytes));
  assert_true(at == 0 && bytes == 8);
  OK(cudaFuncGetParamInfo(&stub_add, 1, &at, NULL));
  assert_int_equal(at, 8);
  assert_int_equal(cudaFuncGetParamInfo(&stub_add, 2, &at, &bytes), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cudaFuncGetParamInfo(&stub_add, 0, NULL, &bytes), CUDA_ERROR_INVALID_VALUE);
  OK(cudaFuncSetCacheConfig(&stub_add, 1));
  assert_int_equal(cudaFuncSetCacheConfig(&nobody, 1), cudaErrorInvalidDeviceFunction);
  OK(cudaFuncSetSharedMemConfig(&stub_add, 2)); /* cudaSharedMemBankSizeEightByte */
  assert_int_equal(cudaFuncSetSharedMemConfig(&stub_add, 3), CUDA_ERROR_INVALID_VALUE);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, &stub_add, 256, 0, 1));
  assert_int_equal(n, 6); /* 1,536 threads */
  assert_int_equal(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, &stub_add, 256, 0, 2), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cudaOccupancyMaxActiveBlocksPerMultiprocessor(NULL, &stub_add, 256, 0), CUDA_ERROR_INVALID_VALUE);
  OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, &stub_add, 2, 128));
  assert_int_equal(bytes, 48 << 10); /* a launch may not have more unless it was asked for */
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, &stub_add, 128, bytes + 1));
  assert_int_equal(n, 0);
  OK(cudaFuncSetAttribute(&stub_add, FUNC_MAX_DYNAMIC_SHARED, 99 << 10));
  OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, &stub_add, 2, 128)); /* 100 KB, 1 KB of it the system's for each block */
  assert_int_equal(bytes, 49 << 10);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, &stub_add, 128, bytes + 1));
  assert_int_equal(n, 1);
  assert_int_equal(cudaOccupancyAvailableDynamicSMemPerBlock(NULL, &stub_add, 2, 128), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cudaOccupancyMaxActiveClusters(NULL, &stub_add, &c), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cudaOccupancyMaxActiveClusters(&clusters, &stub_add, NULL), CUDA_ERROR_INVALID_VALUE);
  OK(cudaGetKernel(&k, &stub_add));
  OK(cudaKernelSetAttributeForDevice(k, FUNC_MAX_DYNAMIC_SHARED, 50000, 0));
  assert_int_equal(cudaKernelSetAttributeForDevice(k, FUNC_MAX_DYNAMIC_SHARED, 50000, 1), CUDA_ERROR_INVALID_DEVICE);
  cudaFuncAttributes a;
  OK(cudaFuncGetAttributes(&a, &stub_add));
  assert_int_equal(a.max_dynamic_shared, 50000);
  OK(cudaFuncSetAttribute(&stub_add, FUNC_MAX_DYNAMIC_SHARED, 48 << 10)); /* as it was */
  cudaGetLastError();
}

/* Under names with _ptds: the same copies and fills, in the thread's own stream. */
static void copies_of_the_thread(void **state)
{
  uint8_t in[32], out[32], *p;
  int word = 77, got = 0;
  (void)state;
  for (unsigned i = 0; i < sizeof in; i++) in[i] = (uint8_t)(9 * i);
  OK(cudaMalloc((void **)&p, 32));
  OK(cudaMemset_ptds(p, 5, 32));
  OK(cudaMemcpy_ptds(p + 4, in, 8, COPY_HOST_TO_DEVICE));
  OK(cudaMemset2D_ptds(p + 16, 8, 6, 3, 2));
  OK(cudaMemsetAsync_ptsz(p + 31, 7, 1, NULL));
  OK(cudaMemcpy_ptds(out, p, 32, COPY_DEVICE_TO_HOST));
  for (unsigned i = 0; i < 32; i++)
    assert_int_equal(out[i], i >= 4 && i < 12 ? in[i - 4] : i == 31 ? 7 : (i >= 16 && i < 19) || (i >= 24 && i < 27) ? 6 : 5);
  OK(cudaMemcpy2D_ptds(out, 4, p, 16, 3, 2, COPY_DEVICE_TO_HOST));
  assert_true(out[0] == 5 && out[4] == 6 && out[6] == 6);
  OK(cudaMemcpyToSymbol_ptds(&var_table, &word, 4, 4, COPY_HOST_TO_DEVICE));
  OK(cudaMemcpyFromSymbol_ptds(&got, &var_table, 4, 4, COPY_DEVICE_TO_HOST));
  assert_int_equal(got, 77);
  word = 6;
  OK(cudaMemcpyToSymbol_ptds(&var_table, &word, 4, 4, COPY_HOST_TO_DEVICE));
  assert_int_equal(cudaMemcpy_ptds(NULL, p, 8, COPY_DEVICE_TO_HOST), CUDA_ERROR_INVALID_VALUE);
  OK(cudaFree(p));
  cudaGetLastError();
}

/* Everything of the device goes; the program's code is there again when it is next used, with its variables as they began. */
static void reset(void **state)
{
  void *p;
  (void)state;
  OK(cudaMalloc(&p, 4));
  OK(cudaDeviceReset());
  assert_int_equal(cudaFree(p), CUDA_ERROR_INVALID_VALUE);
  check_add((const int[]){5, 6, 7, 8}, (const int[]){3, 4}, 8);
}

/* Of two kernels that a host function was registered for the last one counts, until its binary goes: so it was when each
 * question walked along the lists. Between them a thousand others, which no table of a few holds. */
static void many_functions(void **state)
{
  enum { MANY = 1000 };
  static char others[MANY];
  cudaFuncAttributes a;
  CUkernel handle = NULL, again = NULL;
  (void)state;
  OK(cudaFuncGetAttributes(&a, &stub_add));
  OK(cudaGetKernel(&handle, &stub_add));
  OK(cudaFuncGetAttributes(&a, handle));
  void **more = __cudaRegisterFatBinary(&wrapper);
  __cudaRegisterFunction(more, &stub_add, "gone", "gone", -1, NULL, NULL, NULL, NULL, NULL);
  for (int i = 0; i < MANY; i++)
    __cudaRegisterFunction(more, &others[i], "fat_add", "fat_add", -1, NULL, NULL, NULL, NULL, NULL);
  assert_int_equal(cudaFuncGetAttributes(&a, &stub_add), cudaErrorInvalidDeviceFunction);
  for (int i = 0; i < MANY; i++) OK(cudaFuncGetAttributes(&a, &others[i]));
  OK(cudaFuncGetAttributes(&a, handle));
  OK(cudaGetKernel(&again, &others[MANY - 1]));
  assert_ptr_not_equal(again, handle);
  __cudaUnregisterFatBinary(more);
  OK(cudaFuncGetAttributes(&a, &stub_add));
  OK(cudaFuncGetAttributes(&a, handle));
  assert_int_equal(cudaFuncGetAttributes(&a, &others[0]), cudaErrorInvalidDeviceFunction);
  cudaGetLastError();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(devices), cmocka_unit_test(questions_about_devices), cmocka_unit_test(entry_points),
      cmocka_unit_test(last_error), cmocka_unit_test(ways_to_launch), cmocka_unit_test(questions_about_kernels),
      cmocka_unit_test(copies_of_the_thread), cmocka_unit_test(kernels_and_variables),
      cmocka_unit_test(bad_launches), cmocka_unit_test(configurations), cmocka_unit_test(what_a_kernel_says),
      cmocka_unit_test(memory), cmocka_unit_test(streams_and_events), cmocka_unit_test(stream_of_the_thread),
      cmocka_unit_test(many_functions), cmocka_unit_test(reset),
  };
  cuda_options("gpu=rtx-3070\nquiet=1\nmode=functional");
  return cmocka_run_group_tests(tests, program_start, NULL);
}
