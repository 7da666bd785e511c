/* The runtime interface as a program compiled by nvcc uses it: its constructors register the fat binary, kernels and variables
 * (here tests/data/fat.fatbin). Expected values: CUDA Runtime API reference; results by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cuda_rig.h"

void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
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
CUresult cudaDeviceReset(void);
CUresult cudaMemcpyAsync_ptsz(void *, const void *, size_t, int, CUstream);
CUresult cudaStreamQuery_ptsz(CUstream);
CUresult cudaStreamSynchronize_ptsz(CUstream);

/* What nvcc leaves in the program. */
static struct {
  int magic, version;
  void *data, *name;
} wrapper = {0x466243b1, 1, NULL, NULL};
static char stub_add, stub_pick, nobody, var_table, var_scale; /* host addresses that stand for device code and data */

static int program_start(void **state)
{
  static char text[1 << 20];
  FILE *f = fopen(WS_SOURCE_DIR "/tests/data/fat.fatbin", "rb");
  (void)state;
  if (!f || !fread(text, 1, sizeof text, f)) return 1;
  fclose(f);
  wrapper.data = text;
  void **handle = __cudaRegisterFatBinary(&wrapper);
  __cudaRegisterFunction(handle, &stub_add, "fat_add", "fat_add", -1, NULL, NULL, NULL, NULL, NULL);
  __cudaRegisterFunction(handle, &stub_pick, "no_such_kernel", "no_such_kernel", -1, NULL, NULL, NULL, NULL, NULL);
  __cudaRegisterVar(handle, &var_table, "table", "table", 0, 16, 0, 0);
  __cudaRegisterVar(handle, &var_scale, "scale", "scale", 0, 8, 1, 0);
  __cudaRegisterFatBinaryEnd(handle);
  return 0;
}

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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(devices), cmocka_unit_test(last_error), cmocka_unit_test(kernels_and_variables),
      cmocka_unit_test(bad_launches), cmocka_unit_test(configurations), cmocka_unit_test(what_a_kernel_says),
      cmocka_unit_test(memory), cmocka_unit_test(streams_and_events), cmocka_unit_test(stream_of_the_thread),
      cmocka_unit_test(reset),
  };
  cuda_options("gpu=rtx-3070\nquiet=1\nmode=functional");
  return cmocka_run_group_tests(tests, program_start, NULL);
}
