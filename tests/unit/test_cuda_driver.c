/* Driver interface: initialisation, devices, contexts, limits, errors, look-up; and every entry point with nothing but
 * zeros. Expected values: CUDA Driver API reference; CUDA C++ Programming Guide, technical specifications of compute
 * capability 8.6; NVIDIA's data of the GeForce RTX 3070. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cuda/driver/driver_entries.h"
#include "cuda_rig.h"

CUresult cuDriverGetVersion(int *);
CUresult cuDeviceGet(CUdevice *, int);
CUresult cuDeviceGetCount(int *);
CUresult cuDeviceGetName(char *, int, CUdevice);
CUresult cuDeviceGetPCIBusId(char *, int, CUdevice);
CUresult cuDeviceGetByPCIBusId(CUdevice *, const char *);
CUresult cuDeviceTotalMem_v2(size_t *, CUdevice);
CUresult cuDeviceGetAttribute(int *, int, CUdevice);
CUresult cuDeviceComputeCapability(int *, int *, CUdevice);
CUresult cuDeviceCanAccessPeer(int *, CUdevice, CUdevice);
CUresult cuDevicePrimaryCtxRetain(CUcontext *, CUdevice);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice);
CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned *, int *);
CUresult cuCtxPushCurrent_v2(CUcontext);
CUresult cuCtxPopCurrent_v2(CUcontext *);
CUresult cuCtxGetDevice(CUdevice *);
CUresult cuCtxGetFlags(unsigned *);
CUresult cuCtxGetId(CUcontext, unsigned long long *);
CUresult cuCtxGetApiVersion(CUcontext, unsigned *);
CUresult cuCtxGetLimit(size_t *, int);
CUresult cuCtxSetLimit(int, size_t);
CUresult cuCtxGetStreamPriorityRange(int *, int *);
CUresult cuGetErrorName(CUresult, const char **);
CUresult cuGetErrorString(CUresult, const char **);
CUresult cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);
CUresult cuCtxCreate_v3(CUcontext *, const void *, int, unsigned, CUdevice);
CUresult cuGraphLaunch_ptsz(CUgraphExec, CUstream);

typedef CUresult any_call(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                          uintptr_t, uintptr_t, uintptr_t, uintptr_t);

static CUresult call_with_zeros(const struct entry *e)
{
  return ((any_call *)e->address)(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

static bool one_of(const char *name, const char *const *list)
{
  for (; *list; list++)
    if (strcmp(name, *list) == 0) return true;
  return false;
}

/* "If any cu* function is called before cuInit, CUDA_ERROR_NOT_INITIALIZED": but for those that say nothing of a device. */
static void before_init(void **state)
{
  (void)state;
  static const char *const free_of_it[] = {"cuInit", "cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString",
                                           "cuGetProcAddress", "cuGetProcAddress_v2", "cuGetExportTable", NULL};
  unsigned n = 0;
  for (unsigned i = 0; i < n_driver_entries; i++) {
    const struct entry *e = &driver_entries[i];
    if (!e->served || one_of(e->symbol, free_of_it)) continue;
    CUresult r = call_with_zeros(e);
    n += r == CUDA_ERROR_NOT_INITIALIZED;
    if (r != CUDA_ERROR_NOT_INITIALIZED && r != CUDA_ERROR_INVALID_VALUE && r != CUDA_ERROR_INVALID_HANDLE)
      fail_msg("%s: %d before cuInit", e->symbol, (int)r);
  }
  assert_true(n > 300);
  assert_int_equal(cuInit(1), CUDA_ERROR_INVALID_VALUE); /* "Currently, the Flags parameter must be 0" */
  CUdevice device;
  assert_int_equal(cuDeviceGet(&device, 0), CUDA_ERROR_NOT_INITIALIZED);
  OK(cuInit(0));
  OK(cuInit(0));
}

static void no_context(void **state)
{
  CUdeviceptr p;
  CUcontext c = (CUcontext)1;
  CUstream stream;
  size_t bytes;
  (void)state;
  OK(cuCtxGetCurrent(&c));
  assert_null(c);
  assert_int_equal(cuMemAlloc_v2(&p, 4), CUDA_ERROR_INVALID_CONTEXT);
  assert_int_equal(cuStreamCreate(&stream, 0), CUDA_ERROR_INVALID_CONTEXT);
  assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
  assert_int_equal(cuCtxGetLimit(&bytes, LIMIT_STACK_SIZE), CUDA_ERROR_INVALID_CONTEXT);
  assert_int_equal(cuCtxPopCurrent_v2(&c), CUDA_ERROR_INVALID_CONTEXT);
}

static void devices(void **state)
{
  CUdevice d = 7;
  int n = 0, major = 0, minor = 0;
  char text[64], cut[4];
  size_t bytes;
  (void)state;
  OK(cuDeviceGetCount(&n));
  assert_int_equal(n, 1);
  assert_int_equal(cuDeviceGetCount(NULL), CUDA_ERROR_INVALID_VALUE);
  OK(cuDeviceGet(&d, 0));
  assert_int_equal(d, 0);
  assert_int_equal(cuDeviceGet(&d, 1), CUDA_ERROR_INVALID_DEVICE);
  assert_int_equal(cuDeviceGet(&d, -1), CUDA_ERROR_INVALID_DEVICE);
  OK(cuDeviceGetName(text, sizeof text, 0));
  assert_non_null(strstr(text, "3070"));
  OK(cuDeviceGetName(cut, sizeof cut, 0)); /* at most len, with its end */
  assert_int_equal(strlen(cut), sizeof cut - 1);
  assert_int_equal(cuDeviceGetName(text, 0, 0), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuDeviceGetName(text, sizeof text, 1), CUDA_ERROR_INVALID_DEVICE);
  OK(cuDeviceGetPCIBusId(text, sizeof text, 0)); /* domain:bus:device.function */
  d = 5;
  OK(cuDeviceGetByPCIBusId(&d, text));
  assert_int_equal(d, 0);
  assert_int_equal(cuDeviceGetByPCIBusId(&d, "ffff:ff:ff.0"), CUDA_ERROR_INVALID_DEVICE);
  OK(cuDeviceTotalMem_v2(&bytes, 0));
  assert_int_equal(bytes >> 30, 8);
  OK(cuDeviceComputeCapability(&major, &minor, 0));
  assert_int_equal(10 * major + minor, 86);
  OK(cuDeviceCanAccessPeer(&n, 0, 0));
  assert_int_equal(n, 0);
  OK(cuDriverGetVersion(&n));
  assert_true(n >= 12000);
  assert_int_equal(cuDriverGetVersion(NULL), CUDA_ERROR_INVALID_VALUE);
}

/* Numbers of CUdevice_attribute. */
static void device_attributes(void **state)
{
  static const struct {
    int attribute, value;
  } row[] = {
      {1, 1024}, {2, 1024}, {3, 1024}, {4, 64},            /* threads per block; block x, y, z */
      {5, 2147483647}, {6, 65535}, {7, 65535},             /* grid x, y, z */
      {8, 49152}, {9, 65536}, {10, 32}, {12, 65536},       /* shared per block, constant, warp, registers per block */
      {13, 1725000}, {16, 46}, {31, 1}, {36, 7000000}, {37, 256}, /* clock kHz, SMs, concurrent kernels, memory clock, bus */
      {38, 4194304}, {39, 1536}, {41, 1},                  /* L2, threads per SM, unified addressing */
      {75, 8}, {76, 6}, {81, 102400}, {82, 65536}, {83, 1}, {95, 1}, {97, 101376}, {106, 16}, {111, 1024},
  };
  int v;
  (void)state;
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    OK(cuDeviceGetAttribute(&v, row[i].attribute, 0));
    if (v != row[i].value) fail_msg("attribute %d: %d, not %d", row[i].attribute, v, row[i].value);
  }
  assert_int_equal(cuDeviceGetAttribute(&v, 0, 0), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuDeviceGetAttribute(&v, 100000, 0), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuDeviceGetAttribute(NULL, 1, 0), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuDeviceGetAttribute(&v, 1, 1), CUDA_ERROR_INVALID_DEVICE);
}

/* A stack per thread: create pushes, pop gives the one below back. */
static void contexts(void **state)
{
  CUcontext a, b, c;
  unsigned flags, version;
  unsigned long long id_a, id_b;
  CUdevice d = 3;
  (void)state;
  OK(cuCtxCreate_v2(&a, 4, 0));
  OK(cuCtxCreate_v2(&b, 0, 0));
  assert_ptr_not_equal(a, b);
  OK(cuCtxGetCurrent(&c));
  assert_ptr_equal(c, b);
  OK(cuCtxPopCurrent_v2(&c));
  assert_ptr_equal(c, b);
  OK(cuCtxGetCurrent(&c));
  assert_ptr_equal(c, a);
  OK(cuCtxGetFlags(&flags));
  assert_int_equal(flags & 7, 4); /* CU_CTX_SCHED_BLOCKING_SYNC */
  OK(cuCtxPushCurrent_v2(b));
  OK(cuCtxGetCurrent(&c));
  assert_ptr_equal(c, b);
  OK(cuCtxGetId(a, &id_a));
  OK(cuCtxGetId(b, &id_b));
  assert_true(id_a != id_b); /* unique for the life of the program */
  OK(cuCtxGetApiVersion(b, &version));
  assert_true(version >= 3010);
  OK(cuCtxGetDevice(&d));
  assert_int_equal(d, 0);
  OK(cuCtxSetCurrent(a)); /* replaces the top */
  OK(cuCtxGetCurrent(&c));
  assert_ptr_equal(c, a);
  OK(cuCtxSetCurrent(NULL)); /* pops it */
  OK(cuCtxGetCurrent(&c));
  assert_ptr_equal(c, a);
  OK(cuCtxDestroy_v2(b));
  assert_int_equal(cuCtxPushCurrent_v2(b), CUDA_ERROR_INVALID_CONTEXT);
  assert_int_equal(cuCtxSetCurrent(b), CUDA_ERROR_INVALID_CONTEXT);
  assert_int_equal(cuCtxDestroy_v2(b), CUDA_ERROR_INVALID_CONTEXT);
  OK(cuCtxDestroy_v2(a));
  OK(cuCtxGetCurrent(&c));
  assert_null(c);
  assert_int_equal(cuCtxCreate_v2(NULL, 0, 0), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuCtxCreate_v2(&a, 0, 1), CUDA_ERROR_INVALID_DEVICE);
}

static void primary_context(void **state)
{
  CUcontext a, b;
  unsigned flags;
  int active;
  (void)state;
  OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
  assert_int_equal(active, 0);
  assert_int_equal(cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
  OK(cuDevicePrimaryCtxRetain(&a, 0));
  OK(cuDevicePrimaryCtxRetain(&b, 0));
  assert_ptr_equal(a, b);
  OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
  assert_int_equal(active, 1);
  assert_int_equal(cuCtxDestroy_v2(a), CUDA_ERROR_INVALID_CONTEXT); /* it is released, never destroyed */
  OK(cuDevicePrimaryCtxRelease_v2(0));
  OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
  assert_int_equal(active, 1);
  OK(cuDevicePrimaryCtxRelease_v2(0)); /* as often as it was retained, and no more */
  assert_int_equal(cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
  assert_int_equal(cuDevicePrimaryCtxRetain(&a, 1), CUDA_ERROR_INVALID_DEVICE);
}

/* Defaults of the reference; what was set is read back, at least as much. */
static void limits(void **state)
{
  CUcontext c;
  size_t bytes;
  int least = 1, greatest = 1;
  (void)state;
  OK(cuCtxCreate_v2(&c, 0, 0));
  OK(cuCtxGetLimit(&bytes, LIMIT_STACK_SIZE));
  assert_int_equal(bytes, 1024);
  OK(cuCtxGetLimit(&bytes, LIMIT_MALLOC_HEAP));
  assert_int_equal(bytes, 8 << 20);
  OK(cuCtxSetLimit(LIMIT_MALLOC_HEAP, 32 << 20));
  OK(cuCtxGetLimit(&bytes, LIMIT_MALLOC_HEAP));
  assert_int_equal(bytes, 32 << 20);
  OK(cuCtxSetLimit(LIMIT_STACK_SIZE, 4096));
  OK(cuCtxGetLimit(&bytes, LIMIT_STACK_SIZE));
  assert_int_equal(bytes, 4096);
  assert_int_equal(cuCtxSetLimit(1000, 1), CUDA_ERROR_UNSUPPORTED_LIMIT);
  assert_int_equal(cuCtxGetLimit(&bytes, 1000), CUDA_ERROR_UNSUPPORTED_LIMIT);
  assert_int_equal(cuCtxGetLimit(NULL, LIMIT_STACK_SIZE), CUDA_ERROR_INVALID_VALUE);
  OK(cuCtxGetStreamPriorityRange(&least, &greatest)); /* numerically lower is more urgent */
  assert_int_equal(least, 0);
  assert_true(greatest < least);
  OK(cuCtxDestroy_v2(c));
}

static void error_texts(void **state)
{
  static const struct {
    CUresult code;
    const char *name;
  } row[] = {{CUDA_SUCCESS, "CUDA_SUCCESS"}, {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
             {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"}, {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY"},
             {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"}, {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
             {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN"}};
  const char *text;
  (void)state;
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    OK(cuGetErrorName(row[i].code, &text));
    assert_string_equal(text, row[i].name);
    OK(cuGetErrorString(row[i].code, &text));
    assert_true(strlen(text) > 3);
  }
  text = "not cleared";
  assert_int_equal(cuGetErrorName((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
  assert_null(text); /* "*pStr will be set to the NULL address" */
  assert_int_equal(cuGetErrorString((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
}

static void look_up(void **state)
{
  void *fn = NULL;
  int status = -1;
  (void)state;
  OK(cuGetProcAddress_v2("cuMemAlloc", &fn, 13000, 0, &status));
  assert_ptr_equal(fn, (void *)cuMemAlloc_v2); /* the newest form of that version */
  assert_int_equal(status, 0);
  OK(cuGetProcAddress_v2("cuCtxCreate", &fn, 12000, 0, &status)); /* of 11.4 to 12.4: five parameters */
  assert_ptr_equal(fn, (void *)cuCtxCreate_v3);
  OK(cuGetProcAddress_v2("cuGraphLaunch", &fn, 13000, 2, &status)); /* for per-thread default streams */
  assert_ptr_equal(fn, (void *)cuGraphLaunch_ptsz);
  assert_int_equal(cuGetProcAddress_v2("cuNoSuchThing", &fn, 13000, 0, &status), CUDA_ERROR_NOT_FOUND);
  assert_int_equal(status, 1); /* CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND */
  assert_null(fn);
  assert_int_equal(cuGetProcAddress_v2(NULL, &fn, 13000, 0, &status), CUDA_ERROR_INVALID_VALUE);
}

/* With a context and zeros for all arguments: never a crash, never "unknown error" or "invalid context"; what needs
 * somewhere to put an answer, or a handle, says so. */
static void nothing_but_zeros(void **state)
{
  static const char *const succeed[] = {"cuInit", "cuCtxSynchronize", "cuStreamSynchronize", "cuStreamQuery", "cuMemFree_v2", NULL};
  CUcontext c;
  unsigned errors = 0;
  (void)state;
  OK(cuCtxCreate_v2(&c, 0, 0));
  for (unsigned i = 0; i < n_driver_entries; i++) {
    const struct entry *e = &driver_entries[i];
    if (!e->served || strncmp(e->symbol, "cuDevicePrimaryCtx", 18) == 0) continue;
    if (strncmp(e->symbol, "cuStreamBeginCapture", 20) == 0 && strstr(e->symbol, "_ptsz")) continue; /* they do begin one */
    CUresult r = call_with_zeros(e);
    bool of_context = strncmp(e->symbol, "cuCtx", 5) == 0 || strncmp(e->symbol, "cuGreenCtx", 10) == 0 ||
                      strstr(e->symbol, "Peer"); /* zero is no context */
    if (r == CUDA_ERROR_UNKNOWN || r == CUDA_ERROR_NOT_INITIALIZED || (r == CUDA_ERROR_INVALID_CONTEXT && !of_context))
      fail_msg("%s: %d", e->symbol, (int)r);
    errors += r != CUDA_SUCCESS;
    if (one_of(e->symbol, succeed)) OK(r);
    OK(cuCtxSetCurrent(c));
  }
  assert_true(errors > 250);
  OK(cuCtxDestroy_v2(c));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(before_init), cmocka_unit_test(no_context),        cmocka_unit_test(devices),
      cmocka_unit_test(device_attributes), cmocka_unit_test(contexts),    cmocka_unit_test(primary_context),
      cmocka_unit_test(limits),      cmocka_unit_test(error_texts),       cmocka_unit_test(look_up),
      cmocka_unit_test(nothing_but_zeros),
  };
  cuda_options("gpu=rtx-3070\nquiet=1\nmode=functional");
  return cmocka_run_group_tests(tests, NULL, NULL);
}
