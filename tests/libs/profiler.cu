// libcupti: records of calls, kernels, copies and fills with simulated times, external correlation, callbacks, clocks of the
// program. Runs in time: a kernel that counts cycles has a duration that is known.
#include <cuda.h>
#include <cupti.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <string>

#include "checks.cuh"

enum { CYCLES = 50000 };

__global__ void spin(long long *out)
{
  const long long begin = clock64();
  long long now;
  do now = clock64();
  while (now - begin < CYCLES);
  if (threadIdx.x == 0) out[blockIdx.x] = now - begin;
}
__global__ void add(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x]++; }

// What was recorded, in copies.
struct seen {
  std::vector<CUpti_ActivityAPI> calls;
  std::vector<CUpti_ActivityKernel10> kernels;
  std::vector<CUpti_ActivityMemcpy6> copies;
  std::vector<CUpti_ActivityMemset4> fills;
  std::vector<CUpti_ActivityExternalCorrelation> externals;
  std::vector<CUpti_ActivitySynchronization2> syncs;
  int buffers = 0, ends = 0;
};
static seen now;
static size_t room = 1 << 16;

static void CUPTIAPI want(uint8_t **buffer, size_t *bytes, size_t *most)
{
  *buffer = (uint8_t *)malloc(room);
  *bytes = room;
  *most = 0;
}
template <typename R> static void keep(std::vector<R> &to, const CUpti_Activity *r) { R c; memcpy(&c, r, sizeof c), to.push_back(c); }
static void CUPTIAPI full(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid)
{
  CUpti_Activity *r = nullptr;
  now.buffers++;
  CUptiResult end;
  while ((end = cuptiActivityGetNextRecord(buffer, valid, &r)) == CUPTI_SUCCESS) {
    if (r->kind == CUPTI_ACTIVITY_KIND_RUNTIME || r->kind == CUPTI_ACTIVITY_KIND_DRIVER) keep(now.calls, r);
    else if (r->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) keep(now.kernels, r);
    else if (r->kind == CUPTI_ACTIVITY_KIND_MEMCPY) keep(now.copies, r);
    else if (r->kind == CUPTI_ACTIVITY_KIND_MEMSET) keep(now.fills, r);
    else if (r->kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) keep(now.externals, r);
    else if (r->kind == CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) keep(now.syncs, r);
    else check(false, "a kind of record");
  }
  now.ends += end == CUPTI_ERROR_MAX_LIMIT_REACHED;
  free(buffer);
}
static void flush()
{
  now = seen();
  check(cuptiActivityFlushAll(0) == CUPTI_SUCCESS, "flush");
  check(now.ends == now.buffers, "a buffer ends");
}

static const CUpti_ActivityAPI *call_of(uint32_t correlation)
{
  for (const CUpti_ActivityAPI &c : now.calls)
    if (c.correlationId == correlation) return &c;
  return nullptr;
}
static std::string name_of(const CUpti_ActivityAPI *c)
{
  const char *name = nullptr;
  if (!c) return "";
  cuptiGetCallbackName(c->kind == CUPTI_ACTIVITY_KIND_RUNTIME ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API, c->cbid, &name);
  return name ? name : "";
}
static uint64_t external_of(uint32_t correlation)
{
  for (const CUpti_ActivityExternalCorrelation &e : now.externals)
    if (e.correlationId == correlation) return e.externalId;
  return 0;
}

static void kernels(long long *spun, int *x, int mhz)
{
  cudaEvent_t from, to;
  cudaEventCreate(&from), cudaEventCreate(&to);
  cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 77);
  cudaEventRecord(from);
  spin<<<3, 64>>>(spun);
  cudaEventRecord(to);
  cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 78);
  add<<<dim3(5, 1, 1), dim3(32, 2, 1), 1024>>>(x);
  uint64_t id = 0;
  check(!cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &id) && id == 78, "pop");
  check(!cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &id) && id == 77, "pop");
  check(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &id) == CUPTI_ERROR_QUEUE_EMPTY, "an empty stack");
  cudaDeviceSynchronize();
  float ms;
  cudaEventElapsedTime(&ms, from, to);
  flush();
  check(now.kernels.size() == 2, "two kernels");
  if (now.kernels.size() != 2) return;
  const CUpti_ActivityKernel10 &k = now.kernels[0], &a = now.kernels[1];
  const double ns = (double)(k.end - k.start);
  check(ns >= CYCLES * 1e3 / mhz && ns < CYCLES * 1e3 / mhz + 5000, "a kernel takes the cycles that it counts");
  check(ns <= ms * 1e6 + 1 && ns > ms * 1e6 - 5000, "... and the time between two events");
  check(strstr(k.name, "spin") && strstr(a.name, "add"), "names of kernels");
  check(k.gridX == 3 && k.gridY == 1 && k.blockX == 64 && a.gridX == 5 && a.blockX == 32 && a.blockY == 2, "grids");
  check(a.dynamicSharedMemory == 1024 && k.dynamicSharedMemory == 0, "shared memory");
  cudaFuncAttributes f;
  cudaFuncGetAttributes(&f, spin);
  check(k.registersPerThread == f.numRegs, "registers");
  check(a.start >= k.end && a.end > a.start, "kernels of a stream follow each other");
  check(k.deviceId == 0 && k.correlationId != a.correlationId, "device, correlation");
  for (const CUpti_ActivityKernel10 *r : {&k, &a}) {
    const CUpti_ActivityAPI *c = call_of(r->correlationId);
    check(name_of(c) == "cudaLaunchKernel_v7000", "the call that launched it");
    check(c && c->start <= r->start && c->end >= c->start && c->returnValue == 0, "its times");
    check(external_of(r->correlationId) == (r == &k ? 77 : 78), "external correlation");
  }
  cudaEventDestroy(from), cudaEventDestroy(to);
}

static void memory(int *x)
{
  std::vector<int> pageable(1000);
  int *pinned;
  cudaMallocHost(&pinned, 4000);
  cudaMemcpy(x, pageable.data(), 4000, cudaMemcpyHostToDevice);
  cudaMemcpyAsync(pinned, x, 3000, cudaMemcpyDeviceToHost, 0);
  cudaMemcpy(x + 500, x, 400, cudaMemcpyDeviceToDevice);
  cudaMemset(x, 7, 2000);
  cudaDeviceSynchronize();
  flush();
  check(now.copies.size() == 3 && now.fills.size() == 1 && now.kernels.empty(), "three copies, a fill");
  if (now.copies.size() != 3 || now.fills.size() != 1) return;
  const uint64_t bytes[] = {4000, 3000, 400};
  const int kinds[] = {CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD};
  for (int i = 0; i < 3; i++) {
    const CUpti_ActivityMemcpy6 &c = now.copies[i];
    check(c.bytes == bytes[i] && c.copyKind == kinds[i] && c.end >= c.start, "a copy");
    check(name_of(call_of(c.correlationId)) == (i == 1 ? "cudaMemcpyAsync_v3020" : "cudaMemcpy_v3020"), "its call");
  }
  check(now.copies[0].srcKind == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE && now.copies[0].dstKind == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, "memory of a copy");
  check(now.copies[1].dstKind == CUPTI_ACTIVITY_MEMORY_KIND_PINNED, "pinned memory");
  check(now.fills[0].bytes == 2000 && name_of(call_of(now.fills[0].correlationId)) == "cudaMemset_v3020", "a fill");
  cudaFreeHost(pinned);
}

static void graph(int *x)
{
  cudaStream_t s;
  cudaGraph_t g;
  cudaGraphExec_t e;
  cudaStreamCreate(&s);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  add<<<2, 32, 0, s>>>(x), add<<<4, 32, 0, s>>>(x);
  cudaStreamEndCapture(s, &g);
  cudaGraphInstantiate(&e, g, 0);
  flush();
  check(now.kernels.empty(), "captured kernels do not run");
  cudaGraphLaunch(e, s);
  cudaStreamSynchronize(s);
  flush();
  check(now.kernels.size() == 2 && now.kernels[0].correlationId == now.kernels[1].correlationId &&
          name_of(call_of(now.kernels[0].correlationId)) == "cudaGraphLaunch_v10000", "kernels of a graph have its launch's number");
  uint32_t id = 0;
  check(!cuptiGetStreamId(nullptr, s, &id) && now.kernels.size() == 2 && now.kernels[0].streamId == id, "the stream's number");
  cudaGraphExecDestroy(e), cudaGraphDestroy(g), cudaStreamDestroy(s);
}

static void small_buffers(int *x)
{
  room = sizeof(CUpti_ActivityKernel10) + 64;
  flush();
  for (int i = 0; i < 10; i++) add<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  flush();
  check(now.kernels.size() == 10 && now.buffers >= 10, "small buffers");
  room = 8;
  flush();
  add<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  flush();
  size_t lost = 0;
  check(now.kernels.empty() && !cuptiActivityGetNumDroppedRecords(nullptr, 0, &lost) && lost >= 2, "too small a buffer");
  room = 1 << 16;
}

struct heard {
  std::map<std::string, int> enters, exits;
  uint32_t correlation = 0;
  int result = -1;
  uint64_t data = 0;
  bool again = false;
};
static void CUPTIAPI hear(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *what)
{
  heard *h = (heard *)user;
  const CUpti_CallbackData *d = (const CUpti_CallbackData *)what;
  check(domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API, "a domain");
  if (d->callbackSite == CUPTI_API_ENTER) {
    h->enters[d->functionName]++;
    h->correlation = d->correlationId;
    *d->correlationData = 4711;
  } else {
    h->exits[d->functionName]++;
    check(h->correlation == d->correlationId && *d->correlationData == 4711, "what a callback left is there at the exit");
    h->result = *(int *)d->functionReturnValue;
  }
  if (id == CUPTI_RUNTIME_TRACE_CBID_cudaMemset_v3020 && domain == CUPTI_CB_DOMAIN_RUNTIME_API) h->again = !cudaGetLastError();
}

static void callbacks(int *x)
{
  heard h;
  CUpti_SubscriberHandle s, other;
  check(!cuptiSubscribe(&s, hear, &h), "subscribe");
  check(cuptiSubscribe(&other, hear, &h) == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, "one subscriber");
  cudaMemset(x, 0, 4);
  check(h.enters.empty(), "nothing was asked for");
  check(!cuptiEnableCallback(1, s, CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000), "enable");
  cudaMemset(x, 0, 4);
  add<<<1, 32>>>(x);
  check(h.enters.size() == 1 && h.enters["cudaLaunchKernel"] == 1 && h.exits["cudaLaunchKernel"] == 1, "one function");
  check(!cuptiEnableDomain(1, s, CUPTI_CB_DOMAIN_RUNTIME_API) && !cuptiEnableDomain(1, s, CUPTI_CB_DOMAIN_DRIVER_API), "domains");
  cudaMemset(x, 0, 4);
  add<<<1, 32>>>(x);
  check(h.exits["cudaLaunchKernel"] == 2 && h.exits["cuLaunchKernel"] == 1, "the runtime launches by the driver");
  check(h.exits["cudaMemset"] == 1 && h.again, "a callback calls the runtime");
  void *p;
  const cudaError_t e = cudaMalloc(&p, (size_t)1 << 60);
  check(e != cudaSuccess && h.exits["cudaMalloc"] == 1 && h.result == e, "what a call returns");
  cudaGetLastError();
  cuCtxSynchronize();
  check(h.exits["cuCtxSynchronize"] == 1, "the driver");
  check(!cuptiUnsubscribe(s), "unsubscribe");
  const int before = h.enters["cudaMemset"];
  cudaMemset(x, 0, 4);
  check(h.enters["cudaMemset"] == before, "no callbacks any more");
}

// What the callbacks below heard.
struct arguments {
  cudaLaunchKernel_v7000_params launch = {};
  cudaMemcpy_v3020_params copy = {};
  cudaStreamSynchronize_v3020_params sync = {};
  std::string symbol;
  std::vector<std::pair<int, void *>> others; // domain * 100 + number, its stream
  int modules = 0;
};
static void CUPTIAPI hear_arguments(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *what)
{
  arguments *a = (arguments *)user;
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    const CUpti_ResourceData *r = (const CUpti_ResourceData *)what;
    if (id == CUPTI_CBID_RESOURCE_MODULE_LOADED) a->modules += ((const CUpti_ModuleResourceData *)r->resourceDescriptor)->moduleId != 0;
    else a->others.push_back({domain * 100 + id, r->resourceHandle.stream});
  } else if (domain == CUPTI_CB_DOMAIN_SYNCHRONIZE) {
    a->others.push_back({domain * 100 + id, ((const CUpti_SynchronizeData *)what)->stream});
  } else {
    const CUpti_CallbackData *d = (const CUpti_CallbackData *)what;
    if (id == CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000) a->launch = *(const cudaLaunchKernel_v7000_params *)d->functionParams, a->symbol = d->symbolName;
    if (id == CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020) a->copy = *(const cudaMemcpy_v3020_params *)d->functionParams;
    if (id == CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020) a->sync = *(const cudaStreamSynchronize_v3020_params *)d->functionParams;
  }
}

static void arguments_and_resources(int *x)
{
  arguments a;
  CUpti_SubscriberHandle s;
  cudaStream_t st;
  int h[2] = {};
  check(!cuptiSubscribe(&s, hear_arguments, &a), "subscribe");
  for (CUpti_CallbackId id : {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020,
                              CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020})
    check(!cuptiEnableCallback(1, s, CUPTI_CB_DOMAIN_RUNTIME_API, id), "enable");
  check(!cuptiEnableDomain(1, s, CUPTI_CB_DOMAIN_RESOURCE) && !cuptiEnableDomain(1, s, CUPTI_CB_DOMAIN_SYNCHRONIZE), "domains");
  cudaStreamCreate(&st);
  add<<<dim3(2, 3, 1), 32, 256, st>>>(x);
  check(a.launch.gridDim.x == 2 && a.launch.gridDim.y == 3 && a.launch.blockDim.x == 32 && a.launch.sharedMem == 256 && a.launch.stream == st,
        "arguments of a launch");
  check(a.launch.args && *(int **)a.launch.args[0] == x && a.symbol.find("add") != std::string::npos, "... its parameters and name");
  cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
  check(a.copy.dst == h && a.copy.src == x && a.copy.count == sizeof h && a.copy.kind == cudaMemcpyDeviceToHost, "... of a copy");
  cudaStreamSynchronize(st);
  check(a.sync.stream == st, "... of a synchronisation");
  cudaDeviceSynchronize();
  cudaStreamDestroy(st);
  const std::vector<std::pair<int, void *>> wanted = {
    {CUPTI_CB_DOMAIN_RESOURCE * 100 + CUPTI_CBID_RESOURCE_STREAM_CREATED, st},
    {CUPTI_CB_DOMAIN_SYNCHRONIZE * 100 + CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED, st},
    {CUPTI_CB_DOMAIN_SYNCHRONIZE * 100 + CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED, nullptr},
    {CUPTI_CB_DOMAIN_RESOURCE * 100 + CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, st}};
  check(a.others == wanted, "streams and synchronisation in order");
  check(!cuptiUnsubscribe(s), "unsubscribe");
}

static void synchronisation()
{
  cudaStream_t st;
  cudaEvent_t e;
  cudaStreamCreate(&st), cudaEventCreate(&e);
  flush();
  check(!cuptiActivityEnable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION), "enable a kind");
  cudaEventRecord(e, st);
  cudaStreamWaitEvent(nullptr, e, 0), cudaEventSynchronize(e), cudaStreamSynchronize(st), cudaDeviceSynchronize();
  flush();
  check(now.syncs.size() == 4, "four records");
  if (now.syncs.size() != 4) return;
  const CUpti_ActivitySynchronization2 &w = now.syncs[0], &ev = now.syncs[1], &sy = now.syncs[2], &c = now.syncs[3];
  const uint32_t none = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  uint32_t id = 0;
  cuptiGetStreamId(nullptr, st, &id);
  check(w.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT && ev.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE &&
          sy.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE && c.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE,
        "their types");
  check(sy.streamId == id && w.streamId != id && ev.streamId == none && c.streamId == none, "their streams");
  check(w.cudaEventId == ev.cudaEventId && sy.cudaEventId == none && c.cudaEventId == none, "their events");
  check(name_of(call_of(sy.correlationId)) == "cudaStreamSynchronize_v3020" && sy.returnValue == 0 && sy.end >= sy.start, "the call");
  check(!cuptiActivityDisable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION), "disable");
  cudaEventDestroy(e), cudaStreamDestroy(st);
}

// A clock of the program, of 2.5 GHz.
static uint64_t CUPTIAPI tick()
{
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)((t.tv_sec * 1000000000ll + t.tv_nsec) * 2.5);
}

static void clocks(long long *spun, int mhz)
{
  uint64_t t0 = 0, t1 = 0;
  cuptiGetTimestamp(&t0), cudaDeviceSynchronize(), cuptiGetTimestamp(&t1);
  check(t1 >= t0 && t1 - t0 < 1000000, "simulated time");
  check(!cuptiActivityRegisterTimestampCallback(tick), "a clock");
  flush();
  const uint64_t from = tick();
  spin<<<1, 32>>>(spun);
  cudaDeviceSynchronize();
  const uint64_t to = tick();
  flush();
  check(now.kernels.size() == 1, "a kernel");
  for (const CUpti_ActivityKernel10 &k : now.kernels) {
    const CUpti_ActivityAPI *c = call_of(k.correlationId);
    const double ticks = (double)(k.end - k.start), wanted = CYCLES * 2.5e3 / mhz;
    check(c && c->start > from && c->start <= to && k.start >= c->start && k.start < c->start + 100000, "times on the program's clock");
    check(ticks > 0.99 * wanted && ticks < 1.01 * wanted + 10000, "... and durations");
  }
}

int main()
{
  long long *spun;
  int *x, khz = 0;
  uint32_t version = 0;
  check(!cuptiGetVersion(&version) && version >= 130000, "version");
  check(!cuptiActivityRegisterCallbacks(want, full), "buffers");
  for (CUpti_ActivityKind k : {CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                               CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION})
    check(!cuptiActivityEnable(k), "enable a kind");
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_PC_SAMPLING) == CUPTI_ERROR_NOT_SUPPORTED, "a kind that is not there");
  cudaMalloc(&spun, 64), cudaMalloc(&x, 4096);
  cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0);
  kernels(spun, x, khz / 1000);
  memory(x);
  graph(x);
  small_buffers(x);
  callbacks(x);
  arguments_and_resources(x);
  synchronisation();
  clocks(spun, khz / 1000);
  check(!cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "disable");
  cudaDeviceSynchronize();
  flush();
  add<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  flush();
  check(now.kernels.empty() && !now.calls.empty(), "a kind that is off");
  check(!cuptiActivityEnableRuntimeApi(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, 0), "a function without records");
  add<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  flush();
  bool launches = false;
  for (const CUpti_ActivityAPI &c : now.calls) launches |= name_of(&c) == "cudaLaunchKernel_v7000";
  check(!launches && !now.calls.empty(), "its records do not come");
  check(!cuptiFinalize(), "the end");
  cudaMemset(x, 0, 4);
  flush();
  check(now.calls.empty() && now.kernels.empty(), "nothing is followed");
  printf("%d checks, %d wrong\n", cases, failures);
  return failures != 0;
}
