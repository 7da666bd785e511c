/* What a reset of the device takes away, part by part, and what a program leaves behind at its end. Expected values: CUDA Driver
 * API and CUDA Runtime API references (cudaDeviceReset: "all resources associated with the current device"); a handle that is gone
 * is as good as one that never was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_rig.h"

CUresult cudaDeviceReset(void);
CUresult cudaDeviceGetLimit(size_t *, int);
CUresult cudaDeviceSetLimit(int, size_t);
CUresult cudaMalloc(void **, size_t);
CUresult cudaMemcpy(void *, const void *, size_t, int);
CUresult cudaMemGetInfo(size_t *, size_t *);
CUresult cudaStreamBeginCapture(CUstream, int);
CUresult cudaStreamIsCapturing(CUstream, int *);
CUresult cudaStreamCreate(CUstream *);
CUresult cudaStreamSynchronize(CUstream);
CUresult cudaEventCreate(CUevent *);
CUresult cudaEventQuery(CUevent);
CUresult cudaGraphCreate(CUgraph *, unsigned);
CUresult cudaGraphDestroy(CUgraph);
CUresult cudaGraphInstantiateWithFlags(CUgraphExec *, CUgraph, unsigned long long);
CUresult cudaGraphLaunch(CUgraphExec, CUstream);
CUresult cudaGraphExecDestroy(CUgraphExec);
CUresult cudaGraphAddMemAllocNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUDA_MEM_ALLOC_NODE_PARAMS *);
CUresult cudaDeviceGetGraphMemAttribute(int, int, void *);
CUresult cudaMemPoolCreate(CUmemoryPool *, const CUmemPoolProps *);
CUresult cudaMemPoolTrimTo(CUmemoryPool, size_t);
CUresult cudaMemPoolDestroy(CUmemoryPool);
CUresult cudaMallocFromPoolAsync(void **, size_t, CUmemoryPool, CUstream);
CUresult cuArrayCreate_v2(CUarray *, const CUDA_ARRAY_DESCRIPTOR *);
CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *, CUarray);
CUresult cuTexObjectCreate(unsigned long long *, const CUDA_RESOURCE_DESC *, const CUDA_TEXTURE_DESC *,
                           const CUDA_RESOURCE_VIEW_DESC *);
CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *, unsigned long long);
CUresult cuIpcGetMemHandle(CUipcMemHandle *, CUdeviceptr);
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *, CUipcMemHandle, unsigned);
CUresult cuIpcCloseMemHandle(CUdeviceptr);
CUresult cuStreamWaitValue32_v2(CUstream, CUdeviceptr, uint32_t, unsigned);

static int runtime_setup(void **state)
{
  (void)state;
  cuda_options("gpu=rtx-3070\nquiet=1\nmode=functional");
  return cuInit(0) != CUDA_SUCCESS || cuCtxSetCurrent(NULL) != CUDA_SUCCESS;
}

static const CUmemPoolProps on_device = {.alloc_type = 1, .location = {LOCATION_DEVICE, 0}};

static void streams_and_events(void **state)
{
  CUstream stream;
  CUevent event;
  (void)state;
  OK(cudaStreamCreate(&stream));
  OK(cudaEventCreate(&event));
  OK(cudaDeviceReset());
  assert_int_equal(cudaStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
  assert_int_equal(cudaEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
}

/* A capture forbids the legacy stream what it would have to wait for; one that is gone forbids nothing. */
static void captures(void **state)
{
  enum { ACTIVE = 1 };
  CUstream stream;
  void *p;
  int status;
  char byte = 0;
  (void)state;
  OK(cudaMalloc(&p, 1));
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamBeginCapture(stream, 0));
  OK(cudaStreamIsCapturing(stream, &status));
  assert_int_equal(status, ACTIVE);
  OK(cudaDeviceReset());
  OK(cudaMalloc(&p, 1));
  OK(cudaMemcpy(p, &byte, 1, COPY_HOST_TO_DEVICE));
}

static void graphs(void **state)
{
  CUgraph g;
  CUgraphExec x;
  (void)state;
  OK(cudaGraphCreate(&g, 0));
  OK(cudaGraphInstantiateWithFlags(&x, g, 0));
  OK(cudaDeviceReset());
  assert_int_equal(cudaGraphExecDestroy(x), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cudaGraphDestroy(g), CUDA_ERROR_INVALID_VALUE);
}

static void memory_of_graphs(void **state)
{
  enum { USED = 0 };
  CUDA_MEM_ALLOC_NODE_PARAMS p = {.pool = on_device, .bytes = 1 << 20};
  CUgraph g;
  CUgraphNode node;
  CUgraphExec x;
  uint64_t used;
  (void)state;
  OK(cudaGraphCreate(&g, 0));
  OK(cudaGraphAddMemAllocNode(&node, g, NULL, 0, &p));
  OK(cudaGraphInstantiateWithFlags(&x, g, 0));
  OK(cudaGraphLaunch(x, NULL));
  OK(cudaDeviceGetGraphMemAttribute(0, USED, &used));
  assert_true(used >= p.bytes);
  OK(cudaDeviceReset());
  OK(cudaDeviceGetGraphMemAttribute(0, USED, &used));
  assert_int_equal(used, 0);
}

static void memory_and_pools(void **state)
{
  CUmemoryPool pool, closed;
  size_t before, after, total;
  void *p;
  (void)state;
  OK(cudaMemGetInfo(&before, &total));
  OK(cudaMalloc(&p, 1 << 20));
  OK(cudaMemPoolCreate(&pool, &on_device));
  OK(cudaMemPoolCreate(&closed, &on_device));
  OK(cudaMallocFromPoolAsync(&p, 1 << 20, pool, NULL));
  OK(cudaMallocFromPoolAsync(&p, 1 << 20, closed, NULL));
  OK(cudaMemPoolDestroy(closed)); /* goes with its last allocation */
  OK(cudaMemGetInfo(&after, &total));
  assert_int_equal(before - after, 3 << 20);
  OK(cudaDeviceReset());
  OK(cudaMemGetInfo(&after, &total));
  assert_int_equal(after, before);
  assert_int_equal(cudaMemPoolTrimTo(pool, 0), CUDA_ERROR_INVALID_VALUE);
}

static void modules(void **state)
{
  CUmodule m;
  CUfunction f;
  size_t bytes;
  (void)state;
  OK(cudaMemGetInfo(&bytes, &bytes)); /* the runtime has made its context */
  cuda_vecadd(&m);
  OK(cudaDeviceReset());
  assert_int_equal(cuModuleGetFunction(&f, m, "vecadd"), CUDA_ERROR_INVALID_HANDLE);
}

static void arrays_and_textures(void **state)
{
  CUDA_ARRAY_DESCRIPTOR d = {.width = 8, .height = 8, .format = FORMAT_FLOAT, .channels = 1};
  CUDA_RESOURCE_DESC r = {.type = RESOURCE_ARRAY};
  const CUDA_TEXTURE_DESC how = {.address = {1, 1, 1}};
  CUarray array;
  unsigned long long texture;
  size_t bytes;
  (void)state;
  OK(cudaMemGetInfo(&bytes, &bytes));
  OK(cuArrayCreate_v2(&array, &d));
  r.of.array = array;
  OK(cuTexObjectCreate(&texture, &r, &how, NULL));
  OK(cuTexObjectGetResourceDesc(&r, texture));
  OK(cudaDeviceReset());
  assert_int_equal(cuArrayGetDescriptor_v2(&d, array), CUDA_ERROR_INVALID_HANDLE);
  assert_int_equal(cuTexObjectGetResourceDesc(&r, texture), CUDA_ERROR_INVALID_VALUE);
}

/* "cudaLimitStackSize": 1 KiB before anyone says otherwise. */
static void limits(void **state)
{
  size_t stack;
  (void)state;
  OK(cudaDeviceSetLimit(LIMIT_STACK_SIZE, 4096));
  OK(cudaDeviceGetLimit(&stack, LIMIT_STACK_SIZE));
  assert_int_equal(stack, 4096);
  OK(cudaDeviceReset());
  OK(cudaDeviceGetLimit(&stack, LIMIT_STACK_SIZE));
  assert_int_equal(stack, 1024);
}

/* A stream that waits for a value nobody will write does not hold a reset up. */
static void streams_that_wait(void **state)
{
  CUstream stream;
  void *p;
  (void)state;
  OK(cudaMalloc(&p, 4));
  OK(cuMemsetD8_v2((CUdeviceptr)(uintptr_t)p, 0, 4));
  OK(cudaStreamCreate(&stream));
  alarm(60); /* else it would be held up for ever */
  OK(cuStreamWaitValue32_v2(stream, (CUdeviceptr)(uintptr_t)p, 1, MEM_WAIT_EQ));
  assert_int_equal(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  OK(cudaDeviceReset());
  OK(cuCtxSynchronize());
  alarm(0);
}

/* Another program: gives a handle of its memory, and has the memory until nobody writes to it any more. */
_Noreturn static void export_and_wait(void)
{
  CUcontext context;
  CUdeviceptr p;
  CUipcMemHandle handle;
  char end;
  cuda_options("gpu=rtx-3070\nquiet=1\nmode=functional");
  OK(cuInit(0));
  OK(cuCtxCreate_v2(&context, 0, 0));
  OK(cuMemAlloc_v2(&p, 1 << 20));
  assert_int_equal(cuIpcGetMemHandle(NULL, p), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuIpcGetMemHandle(&handle, 0), CUDA_ERROR_INVALID_VALUE);
  OK(cuIpcGetMemHandle(&handle, p));
  bool wrote = write(STDOUT_FILENO, &handle, sizeof handle) == sizeof handle;
  exit(!wrote || read(STDIN_FILENO, &end, 1) != 0);
}

static pid_t start(const char *how, int in, int out)
{
  fflush(NULL);
  pid_t child = fork();
  if (child) return child;
  if (in >= 0) dup2(in, STDIN_FILENO);
  if (out >= 0) dup2(out, STDOUT_FILENO);
  /* It ends with its GPU, as programs do; the leak check does not see through mapped arenas. */
  setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  execl(program_invocation_name, "a program", how, (char *)NULL); /* a child that is only forked has no GPU */
  _exit(1);
}

static void memory_of_other_processes(void **state)
{
  int to[2], from[2], status;
  CUipcMemHandle handle;
  CUdeviceptr p;
  size_t bytes;
  (void)state;
  OK(cudaMemGetInfo(&bytes, &bytes)); /* the runtime has made its context */
  assert_int_equal(pipe2(to, O_CLOEXEC) | pipe2(from, O_CLOEXEC), 0);
  pid_t child = start("export", to[0], from[1]);
  close(to[0]), close(from[1]);
  assert_int_equal(read(from[0], &handle, sizeof handle), sizeof handle);
  const unsigned word = 0x12345678;
  unsigned got = 0;
  for (unsigned i = 0; i < 2; i++) { /* the same memory again, when it was closed */
    OK(cuIpcOpenMemHandle_v2(&p, handle, 1));
    if (i == 0) OK(cuMemcpyHtoD_v2(p, &word, sizeof word));
    OK(cuMemcpyDtoH_v2(&got, p, sizeof got));
    assert_int_equal(got, word);
    OK(cuIpcCloseMemHandle(p));
    assert_int_equal(cuMemcpyDtoH_v2(&got, p, sizeof got), CUDA_ERROR_INVALID_VALUE);
  }
  OK(cuIpcOpenMemHandle_v2(&p, handle, 1));
  OK(cudaDeviceReset());
  assert_int_equal(cuIpcCloseMemHandle(p), CUDA_ERROR_INVALID_VALUE);
  close(to[1]), close(from[0]);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

/* A program that ends while launches wait for others, to run with them. */
_Noreturn static void launch_and_end(const char *report)
{
  char options[300];
  CUmodule m;
  CUcontext context;
  CUstream stream;
  unsigned n = 64;
  snprintf(options, sizeof options, "gpu=rtx-3070\nreport=%s", report);
  cuda_options(options);
  OK(cuInit(0));
  OK(cuCtxCreate_v2(&context, 0, 0));
  CUfunction f = cuda_vecadd(&m);
  CUdeviceptr x = cuda_floats(n, 0, 1);
  OK(cuStreamCreate(&stream, 0));
  OK(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, stream, (void *[]){&x, &x, &x, &n}, NULL));
  exit(0);
}

static void launches_that_wait_are_reported(void **state)
{
  char path[] = "/tmp/test_cuda_reset.XXXXXX", text[4096];
  int fd = mkstemp(path), status;
  (void)state;
  assert_true(fd >= 0);
  pid_t child = start(path, -1, -1);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  close(fd);
  unlink(path);
  assert_non_null(strstr(text, "vecadd"));
}

int main(int argc, char **argv)
{
  if (argc > 1 && strcmp(argv[1], "export") == 0) export_and_wait();
  if (argc > 1) launch_and_end(argv[1]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(launches_that_wait_are_reported),
      cmocka_unit_test_setup(streams_and_events, runtime_setup),
      cmocka_unit_test_setup(captures, runtime_setup),
      cmocka_unit_test_setup(graphs, runtime_setup),
      cmocka_unit_test_setup(memory_of_graphs, runtime_setup),
      cmocka_unit_test_setup(memory_and_pools, runtime_setup),
      cmocka_unit_test_setup(modules, runtime_setup),
      cmocka_unit_test_setup(arrays_and_textures, runtime_setup),
      cmocka_unit_test_setup(limits, runtime_setup),
      cmocka_unit_test_setup(streams_that_wait, runtime_setup),
      cmocka_unit_test_setup(memory_of_other_processes, runtime_setup),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
