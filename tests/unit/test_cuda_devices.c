/* Several GPUs by the driver interface: devices, contexts, streams and events of each, peer access and copies, mappings and
 * pools for a peer, a reset of one. Expected codes: CUDA Driver API reference; times: docs/machines.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_rig.h"

CUresult cudaGetDeviceCount(int *);
CUresult cudaSetDevice(int);
CUresult cudaMalloc(void **, size_t);
CUresult cudaFreeHost(void *);

CUresult cuDeviceGetCount(int *);
CUresult cuDeviceGetAttribute(int *, int, CUdevice);
CUresult cuDeviceGetUuid(CUuuid *, CUdevice);
CUresult cuDeviceGetPCIBusId(char *, int, CUdevice);
CUresult cuDeviceGetByPCIBusId(CUdevice *, const char *);
CUresult cuDeviceCanAccessPeer(int *, CUdevice, CUdevice);
CUresult cuDeviceGetP2PAttribute(int *, int, CUdevice, CUdevice);
CUresult cuDevicePrimaryCtxRetain(CUcontext *, CUdevice);
CUresult cuDevicePrimaryCtxReset_v2(CUdevice);
CUresult cuCtxGetDevice(CUdevice *);
CUresult cuCtxEnablePeerAccess(CUcontext, unsigned);
CUresult cuCtxDisablePeerAccess(CUcontext);
CUresult cuMemGetInfo_v2(size_t *, size_t *);
CUresult cuPointerGetAttribute(void *, int, CUdeviceptr);
CUresult cuMemcpyPeerAsync(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream);
CUresult cuMemcpy(CUdeviceptr, CUdeviceptr, size_t);
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned);
CUresult cuEventElapsedTime_v2(float *, CUevent, CUevent);
CUresult cuMemPoolCreate(CUmemoryPool *, const CUmemPoolProps *);
CUresult cuMemPoolSetAccess(CUmemoryPool, const CUmemAccessDesc *, size_t);
CUresult cuMemPoolGetAccess(int *, CUmemoryPool, CUmemLocation *);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *, size_t, CUmemoryPool, CUstream);

enum { N = 4096, ORDINAL = 9, PCI_BUS = 33 };

static CUcontext on[2]; /* the primary contexts */

static int two_gpus(void **state)
{
  (void)state;
  cuda_options("machine=2x-rtx-3090-nvlink\nquiet=1\nmode=functional");
  if (cuInit(0) != CUDA_SUCCESS) return 1;
  for (int i = 0; i < 2; i++)
    if (cuDevicePrimaryCtxRetain(&on[i], i) != CUDA_SUCCESS) return 1;
  return cuCtxSetCurrent(on[0]) != CUDA_SUCCESS;
}

static CUresult vecadd(CUfunction f, CUdeviceptr x, CUdeviceptr y, CUdeviceptr z, CUstream stream)
{
  int n = N;
  void *args[] = { &x, &y, &z, &n };
  return cuLaunchKernel(f, N / 256, 1, 1, 256, 1, 1, 0, stream, args, NULL);
}

static void devices(void **state)
{
  int n = 0, bus;
  CUuuid u[2];
  char id[20];
  CUdevice d;
  (void)state;
  OK(cuDeviceGetCount(&n));
  assert_int_equal(n, 2);
  for (int i = 0; i < 2; i++) {
    OK(cuDeviceGetUuid(&u[i], i));
    OK(cuDeviceGetAttribute(&bus, PCI_BUS, i));
    OK(cuDeviceGetPCIBusId(id, sizeof id, i));
    assert_int_equal(strtol(id + 5, NULL, 16), bus);
    OK(cuDeviceGetByPCIBusId(&d, id));
    assert_int_equal(d, i);
    OK(cuDeviceGetByPCIBusId(&d, id + 5)); /* without its domain */
    assert_int_equal(d, i);
  }
  assert_memory_not_equal(&u[0], &u[1], sizeof u[0]);
  assert_int_equal(cuDeviceGetUuid(&u[0], 2), CUDA_ERROR_INVALID_DEVICE);
  assert_int_equal(cuDeviceGetByPCIBusId(&d, "0000:77:00.0"), CUDA_ERROR_INVALID_DEVICE);
}

static void memory_of_each(void **state)
{
  size_t left[2], total;
  CUdeviceptr p;
  CUdevice d;
  int ordinal = -1;
  (void)state;
  OK(cuCtxSetCurrent(on[1]));
  OK(cuCtxGetDevice(&d));
  assert_int_equal(d, 1);
  OK(cuMemAlloc_v2(&p, 64 << 20));
  OK(cuPointerGetAttribute(&ordinal, ORDINAL, p));
  assert_int_equal(ordinal, 1);
  for (int i = 0; i < 2; i++) {
    OK(cuCtxSetCurrent(on[i]));
    OK(cuMemGetInfo_v2(&left[i], &total));
  }
  assert_int_equal(left[0] - left[1], 64 << 20);
  OK(cuMemFree_v2(p));
}

static void streams_and_events(void **state)
{
  CUstream s[2];
  CUevent e[2];
  float ms;
  (void)state;
  for (int i = 0; i < 2; i++) {
    OK(cuCtxSetCurrent(on[i]));
    OK(cuStreamCreate(&s[i], 0));
    OK(cuEventCreate(&e[i], 0));
    OK(cuEventRecord(e[i], s[i]));
  }
  assert_int_equal(cuEventRecord(e[0], s[1]), CUDA_ERROR_INVALID_HANDLE);
  OK(cuStreamWaitEvent(s[1], e[0], 0)); /* waits, queries and synchronisation go across devices */
  OK(cuStreamSynchronize(s[0]));
  OK(cuStreamSynchronize(s[1]));
  OK(cuEventQuery(e[0]));
  assert_int_equal(cuEventElapsedTime_v2(&ms, e[0], e[1]), CUDA_ERROR_INVALID_HANDLE);
  OK(cuCtxSetCurrent(on[0]));
  CUmodule m;
  CUfunction f = cuda_vecadd(&m);
  CUdeviceptr x = cuda_floats(N, 0, 1);
  assert_int_equal(vecadd(f, x, x, x, s[1]), CUDA_ERROR_INVALID_HANDLE);
  OK(vecadd(f, x, x, x, s[0]));
  OK(cuCtxSynchronize());
  OK(cuModuleUnload(m));
  OK(cuMemFree_v2(x));
}

/* 64 MiB over four NVLinks of 14,063 MB/s with 12 bytes around 128: docs/machines.md. */
static void copies(void **state)
{
  enum { BYTES = 64 << 20 };
  const double rate = 4 * 14063e6 * 256 / 272; /* packets of copy engines behind their headers */
  CUdeviceptr from, to;
  CUstream s;
  CUevent a, b;
  float ms, back[2];
  (void)state;
  OK(cuCtxSetCurrent(on[0]));
  OK(cuMemAlloc_v2(&from, BYTES));
  OK(cuMemsetD32_v2(from, 0x3fc00000, BYTES / 4)); /* 1.5 */
  OK(cuStreamCreate(&s, 0));
  OK(cuEventCreate(&a, 0));
  OK(cuEventCreate(&b, 0));
  OK(cuCtxSetCurrent(on[1]));
  OK(cuMemAlloc_v2(&to, BYTES));
  for (int direct = 0; direct < 2; direct++) {
    OK(cuCtxSetCurrent(on[0]));
    if (direct) OK(cuCtxEnablePeerAccess(on[1], 0));
    OK(cuEventRecord(a, s));
    OK(cuMemcpyPeerAsync(to, on[1], from, on[0], BYTES, s));
    OK(cuEventRecord(b, s));
    OK(cuStreamSynchronize(s));
    OK(cuEventElapsedTime_v2(&ms, a, b));
    if (direct) assert_true(ms * 1e-3 > BYTES / rate && ms * 1e-3 < 1.01 * BYTES / rate);
    else assert_true(ms * 1e-3 > 2 * BYTES / rate); /* through the host, over PCI Express */
  }
  OK(cuCtxDisablePeerAccess(on[1]));
  OK(cuMemcpyDtoH_v2(back, to + BYTES - 8, 8));
  assert_true(back[0] == 1.5f && back[1] == 1.5f);
  OK(cuMemFree_v2(from));
  OK(cuMemFree_v2(to));
}

static void peers(void **state)
{
  int v = 7;
  (void)state;
  OK(cuCtxSetCurrent(on[0]));
  OK(cuDeviceCanAccessPeer(&v, 0, 1));
  assert_int_equal(v, 1);
  OK(cuDeviceCanAccessPeer(&v, 1, 1));
  assert_int_equal(v, 0);
  assert_int_equal(cuDeviceCanAccessPeer(&v, 0, 2), CUDA_ERROR_INVALID_DEVICE);
  OK(cuDeviceGetP2PAttribute(&v, 3, 0, 1)); /* NVLink has all atomics */
  assert_int_equal(v, 1);
  static const int of_a_link[] = {0, 1, 1, 1, 0}; /* rank: the best there is; access, atomics, arrays; only some atomics */
  for (int i = 0; i < 5; i++) {
    v = 9;
    OK(cuDeviceGetP2PAttribute(&v, i + 1, i % 2, 1 - i % 2));
    assert_int_equal(v, of_a_link[i]);
  }
  assert_int_equal(cuDeviceGetP2PAttribute(&v, 0, 0, 1), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuDeviceGetP2PAttribute(&v, 6, 0, 1), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuDeviceGetP2PAttribute(NULL, 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuDeviceGetP2PAttribute(&v, 2, 0, 2), CUDA_ERROR_INVALID_DEVICE);
  assert_int_equal(cuDeviceGetP2PAttribute(&v, 2, -1, 1), CUDA_ERROR_INVALID_DEVICE);
  assert_int_equal(cuDeviceGetP2PAttribute(&v, 3, 1, 1), CUDA_ERROR_INVALID_DEVICE);
  assert_int_equal(cuCtxEnablePeerAccess(on[1], 1), CUDA_ERROR_INVALID_VALUE);
  assert_int_equal(cuCtxEnablePeerAccess(on[0], 0), CUDA_ERROR_INVALID_CONTEXT);
  OK(cuCtxEnablePeerAccess(on[1], 0));
  assert_int_equal(cuCtxEnablePeerAccess(on[1], 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  OK(cuCtxDisablePeerAccess(on[1]));
  assert_int_equal(cuCtxDisablePeerAccess(on[1]), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
}

/* A kernel of GPU 0 adds what GPU 1 has, in memory of both. */
static void kernels_reach_peers(void **state)
{
  CUmodule m;
  float got[N];
  (void)state;
  OK(cuCtxSetCurrent(on[1]));
  CUdeviceptr there = cuda_floats(N, 1, 2), later;
  OK(cuCtxSetCurrent(on[0]));
  CUfunction f = cuda_vecadd(&m);
  CUdeviceptr here = cuda_floats(N, 10, 1);
  OK(cuCtxEnablePeerAccess(on[1], 0));
  OK(cuCtxSetCurrent(on[1]));
  OK(cuMemAlloc_v2(&later, N * sizeof(float))); /* access is to what is allocated later, too */
  OK(cuCtxSetCurrent(on[0]));
  OK(vecadd(f, here, there, later, NULL));
  OK(cuCtxSynchronize());
  OK(cuMemcpyDtoH_v2(got, later, sizeof got));
  for (int i = 0; i < N; i++) assert_true(got[i] == 11.0f + 3.0f * (float)i);
  OK(cuCtxDisablePeerAccess(on[1]));
  OK(cuMemFree_v2(later));
  OK(cuMemFree_v2(there));
  OK(cuModuleUnload(m));
}

CUresult cuGraphCreate(CUgraph *, unsigned);
CUresult cuGraphDestroy(CUgraph);
CUresult cuGraphAddKernelNode_v2(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS *);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *, CUgraph, unsigned long long);
CUresult cuGraphLaunch(CUgraphExec, CUstream);
CUresult cuGraphExecDestroy(CUgraphExec);

/* How long a graph of device 0 takes whose two kernels, which wait for nothing, are on these devices. */
static float pair_takes(const unsigned device[2])
{
  enum { LONG = 4096 }; /* CTAs, most with nothing to add */
  CUgraph g;
  CUgraphExec x;
  CUmodule m[2];
  CUevent e[2];
  CUdeviceptr p[2];
  CUgraphNode node;
  int n = N;
  float ms = 0;
  OK(cuCtxSetCurrent(on[0]));
  OK(cuGraphCreate(&g, 0));
  for (int i = 0; i < 2; i++) {
    OK(cuCtxSetCurrent(on[device[i]]));
    CUfunction f = cuda_vecadd(&m[i]);
    p[i] = cuda_floats(N, 0, 1);
    void *args[] = {&p[i], &p[i], &p[i], &n};
    OK(cuCtxSetCurrent(on[0]));
    OK(cuGraphAddKernelNode_v2(&node, g, NULL, 0, &(CUDA_KERNEL_NODE_PARAMS){.function = f, .grid = {LONG, 1, 1},
                                                                              .block = {256, 1, 1}, .params = args}));
    OK(cuEventCreate(&e[i], 0));
  }
  OK(cuGraphInstantiateWithFlags(&x, g, 0));
  OK(cuEventRecord(e[0], NULL));
  OK(cuGraphLaunch(x, NULL));
  OK(cuEventRecord(e[1], NULL));
  OK(cuCtxSynchronize());
  OK(cuEventElapsedTime_v2(&ms, e[0], e[1]));
  OK(cuGraphExecDestroy(x));
  OK(cuGraphDestroy(g));
  for (int i = 0; i < 2; i++) {
    OK(cuModuleUnload(m[i]));
    OK(cuMemFree_v2(p[i]));
    OK(cuEventDestroy_v2(e[i]));
  }
  return ms;
}

/* Kernels of a graph run on their own GPU, wherever the graph was made: two GPUs take half as long as one after the other. */
static void graph_of_two_gpus(void **state)
{
  (void)state;
  const float one = pair_takes((const unsigned[2]){0, 0}), both = pair_takes((const unsigned[2]){0, 1});
  const float other = pair_takes((const unsigned[2]){1, 1});
  assert_true(one > 0 && both < 0.75f * one && both > 0.25f * one);
  assert_true(other > 0.9f * one && other < 1.1f * one);
}

static void pools_for_peers(void **state)
{
  const CUmemPoolProps props = { .alloc_type = 1, .location = { LOCATION_DEVICE, 1 } };
  CUmemAccessDesc d = { { LOCATION_DEVICE, 0 }, 3 };
  CUmemLocation zero = { LOCATION_DEVICE, 0 };
  CUmemoryPool pool;
  CUdeviceptr p;
  CUmodule m;
  float got[2];
  int flags = 7;
  (void)state;
  OK(cuCtxSetCurrent(on[1]));
  OK(cuMemPoolCreate(&pool, &props));
  OK(cuMemPoolGetAccess(&flags, pool, &zero));
  assert_int_equal(flags, 0);
  OK(cuMemAllocFromPoolAsync(&p, N * sizeof(float), pool, NULL));
  OK(cuMemPoolSetAccess(pool, &d, 1));
  OK(cuMemPoolGetAccess(&flags, pool, &zero));
  assert_int_equal(flags, 3);
  OK(cuCtxSetCurrent(on[0]));
  CUfunction f = cuda_vecadd(&m);
  CUdeviceptr x = cuda_floats(N, 1, 1);
  OK(vecadd(f, x, x, p, NULL));
  OK(cuCtxSynchronize());
  OK(cuMemcpyDtoH_v2(got, p, sizeof got));
  assert_true(got[0] == 2 && got[1] == 4);
  d.flags = 0;
  OK(cuMemPoolSetAccess(pool, &d, 1));
  OK(cuMemPoolGetAccess(&flags, pool, &zero));
  assert_int_equal(flags, 0);
}

static void reset_of_one(void **state)
{
  float got[2];
  (void)state;
  OK(cuCtxSetCurrent(on[1]));
  CUdeviceptr kept = cuda_floats(2, 5, 1);
  OK(cuCtxSetCurrent(on[0]));
  CUdeviceptr gone = cuda_floats(2, 5, 1);
  OK(cuDevicePrimaryCtxReset_v2(0));
  assert_int_equal(cuMemFree_v2(gone), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemcpyDtoH_v2(got, kept, sizeof got));
  assert_true(got[0] == 5 && got[1] == 6);
}

/* In a process of its own, which has no GPU yet. CUDA programming guide, CUDA_VISIBLE_DEVICES: only the devices listed
 * are visible; the count is 0 also where the call says that there is none. */
static void none_visible(void **state)
{
  int status, n = 7;
  (void)state;
  const pid_t child = fork();
  if (child == 0) {
    void *p;
    cuda_options("machine=2x-rtx-3090-nvlink\nquiet=1\nmode=functional");
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    if (cudaGetDeviceCount(&n) != CUDA_ERROR_NO_DEVICE || n != 0) _exit(1);
    if (cuInit(0) != CUDA_ERROR_NO_DEVICE) _exit(2);
    if (n = 7, cuDeviceGetCount(&n) != CUDA_ERROR_NO_DEVICE || n != 0) _exit(3);
    if (cudaSetDevice(0) != CUDA_ERROR_NO_DEVICE || cudaMalloc(&p, 4) != CUDA_ERROR_NO_DEVICE) _exit(4);
    _exit(cudaFreeHost(&n) == CUDA_ERROR_NO_DEVICE ? 0 : 5);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

/* stderr goes to a file until said_until. */
static FILE *said_from(int *before)
{
  FILE *to = tmpfile();
  assert_non_null(to);
  fflush(stderr);
  *before = dup(2);
  dup2(fileno(to), 2);
  return to;
}

static const char *said_until(FILE *to, int before)
{
  static char text[4096];
  fflush(stderr);
  dup2(before, 2);
  close(before);
  rewind(to);
  text[fread(text, 1, sizeof text - 1, to)] = '\0';
  fclose(to);
  return text;
}

/* The last one: the fault stays. Of a GPU's memory GPU 0 may use what a pool shows it, also when peer access to all of
 * it came and went, and not what lies behind that. */
static void no_access_faults(void **state)
{
  const CUmemPoolProps props = { .alloc_type = 1, .location = { LOCATION_DEVICE, 1 } };
  const CUmemAccessDesc shown = { { LOCATION_DEVICE, 0 }, 3 };
  enum { APART = 8 << 20 };
  CUmemoryPool pool;
  CUdeviceptr seen, between;
  CUmodule m;
  (void)state;
  OK(cuCtxSetCurrent(on[1]));
  OK(cuMemPoolCreate(&pool, &props));
  OK(cuMemPoolSetAccess(pool, &shown, 1));
  OK(cuMemAllocFromPoolAsync(&seen, N * sizeof(float), pool, NULL));
  OK(cuMemAlloc_v2(&between, APART));
  CUdeviceptr there = cuda_floats(N, 0, 1);
  assert_true(there > seen + APART); /* pages of their own */
  OK(cuCtxSetCurrent(on[0]));
  OK(cuCtxEnablePeerAccess(on[1], 0));
  OK(cuCtxDisablePeerAccess(on[1]));
  CUfunction f = cuda_vecadd(&m);
  CUdeviceptr here = cuda_floats(N, 0, 1);
  OK(vecadd(f, here, here, seen, NULL));
  OK(cuCtxSynchronize());
  int err;
  FILE *to = said_from(&err);
  CUresult r = vecadd(f, here, there, here, NULL);
  if (r == CUDA_SUCCESS) r = cuCtxSynchronize();
  const char *said = said_until(to, err);
  assert_int_equal(r, CUDA_ERROR_ILLEGAL_ADDRESS);
  if (!strstr(said, "no memory at 0x") || !strstr(said, " is 0 bytes into buffer") ||
      !strstr(said, "of GPU 1, whose memory GPU 0 cannot access") || strstr(said, "not near"))
    fail_msg("%s", said);
}

/* In a process of its own: what lies behind the memory of a peer, with access to all of it, is nobody's; access to
 * peers is not what was missing. */
static void behind_a_peer(void **state)
{
  int status;
  (void)state;
  pid_t child = fork();
  if (child == 0) {
    CUmodule m;
    int err;
    if (two_gpus(NULL) || cuCtxSetCurrent(on[1])) _exit(1);
    CUdeviceptr there = cuda_floats(N, 0, 1);
    if (cuCtxSetCurrent(on[0]) || cuCtxEnablePeerAccess(on[1], 0)) _exit(2);
    CUfunction f = cuda_vecadd(&m);
    CUdeviceptr here = cuda_floats(N, 0, 1);
    if (vecadd(f, here, there, here, NULL) || cuCtxSynchronize()) _exit(3);
    FILE *to = said_from(&err);
    CUresult r = vecadd(f, here, there + (256 << 20), here, NULL);
    if (r == CUDA_SUCCESS) r = cuCtxSynchronize();
    const char *said = said_until(to, err);
    if (r != CUDA_ERROR_ILLEGAL_ADDRESS || !strstr(said, "no memory at 0x") || !strstr(said, "of GPU 1\n")) _exit(4);
    _exit(strstr(said, "cannot access") ? 5 : 0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
  const struct CMUnitTest before[] = { cmocka_unit_test(none_visible), cmocka_unit_test(behind_a_peer) };
  if (cmocka_run_group_tests(before, NULL, NULL)) return 1;
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(devices), cmocka_unit_test(memory_of_each), cmocka_unit_test(streams_and_events),
    cmocka_unit_test(copies), cmocka_unit_test(peers), cmocka_unit_test(kernels_reach_peers),
    cmocka_unit_test(graph_of_two_gpus), cmocka_unit_test(pools_for_peers), cmocka_unit_test(reset_of_one), cmocka_unit_test(no_access_faults),
  };
  return cmocka_run_group_tests(tests, two_gpus, NULL);
}
