// Memory operations of streams: writes, waits of all kinds whose value is there or comes later, from another stream, from the
// host, from another thread; what is behind them waits too, in the order of the program.
#include <thread>
#include <unistd.h>

#include "driver_check.h"

__global__ void add(int *p, int n)
{
  p[threadIdx.x] += n;
}

__global__ void store(unsigned *p, unsigned value)
{
  *p = value;
}

static unsigned *words()
{
  unsigned *p;
  CUDA(cudaMalloc(&p, 64));
  CUDA(cudaMemset(p, 0, 64));
  CUDA(cudaDeviceSynchronize()); // other streams do not wait for the fill
  return p;
}

static unsigned read(const void *p)
{
  unsigned v;
  CUDA(cudaMemcpy(&v, p, sizeof v, cudaMemcpyDeviceToHost));
  return v;
}

static CUdeviceptr at(const void *p)
{
  return (CUdeviceptr)p;
}

static void at_once(cudaStream_t s)
{
  unsigned *p = words();
  unsigned long long wide;
  CU(cuStreamWriteValue32(s, at(p), 0xfffffff0u, 0));
  CU(cuStreamWriteValue64(s, at(p + 2), 1ull << 40, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
  CU(cuStreamWaitValue32(s, at(p), 0xffffffe0u, CU_STREAM_WAIT_VALUE_GEQ)); // the difference has a sign
  CU(cuStreamWaitValue32(s, at(p), 0x10, CU_STREAM_WAIT_VALUE_AND));
  CU(cuStreamWaitValue64(s, at(p + 2), 1ull << 40, CU_STREAM_WAIT_VALUE_EQ));
  CUDA(cudaStreamSynchronize(s));
  CUDA(cudaMemcpy(&wide, p + 2, sizeof wide, cudaMemcpyDeviceToHost));
  CHECK(read(p) == 0xfffffff0u && wide == 1ull << 40);
  CU(cuStreamWaitValue32(s, at(p), 0x0f, CU_STREAM_WAIT_VALUE_AND)); // none of these bits is there
  CHECK(cudaStreamQuery(s) == cudaErrorNotReady);
  CU(cuStreamWriteValue32(0, at(p), 0xfffffff1u, 0));
  CUDA(cudaStreamSynchronize(s));
}

// A wait, a kernel and an event behind it; another stream that waits for the event; then the value.
static void later(cudaStream_t a, cudaStream_t b, cudaStream_t c)
{
  unsigned *flag = words();
  int *p = (int *)words(), calls = 0;
  cudaEvent_t e;
  CUDA(cudaEventCreate(&e));
  CU(cuStreamWaitValue32(a, at(flag), 1, CU_STREAM_WAIT_VALUE_EQ));
  add<<<1, 1, 0, a>>>(p, 1);
  CUDA(cudaEventRecord(e, a));
  CUDA(cudaStreamWaitEvent(b, e, 0));
  CUDA(cudaMemcpyAsync(p + 1, p, 4, cudaMemcpyDeviceToDevice, b));
  CUDA(cudaLaunchHostFunc(b, [](void *n) { ++*(int *)n; }, &calls));
  CUDA(cudaStreamAddCallback(b, [](cudaStream_t, cudaError_t, void *n) { ++*(int *)n; }, &calls, 0));
  CHECK(cudaStreamQuery(a) == cudaErrorNotReady && cudaStreamQuery(b) == cudaErrorNotReady);
  CHECK(cudaEventQuery(e) == cudaErrorNotReady && calls == 0);
  add<<<1, 1, 0, c>>>(p + 2, 5); // does not wait
  CUDA(cudaStreamSynchronize(c));
  store<<<1, 1, 0, c>>>(flag, 1); // a kernel gives the value
  CUDA(cudaStreamSynchronize(b));
  CHECK(cudaEventQuery(e) == cudaSuccess && calls == 2);
  CHECK(read(p) == 1 && read(p + 1) == 1 && read(p + 2) == 5);
}

// Two streams that take turns: each waits for what the other writes.
static void ping_pong(cudaStream_t a, cudaStream_t b)
{
  unsigned *turn = words();
  int *p = (int *)words();
  for (unsigned i = 1; i <= 8; i++) {
    CU(cuStreamWaitValue32(b, at(turn), 2 * i - 1, CU_STREAM_WAIT_VALUE_GEQ));
    add<<<1, 1, 0, b>>>(p, 1);
    CU(cuStreamWriteValue32(b, at(turn), 2 * i, 0));
  }
  CHECK(cudaStreamQuery(b) == cudaErrorNotReady);
  for (unsigned i = 1; i <= 8; i++) {
    add<<<1, 1, 0, a>>>(p, 100);
    CU(cuStreamWriteValue32(a, at(turn), 2 * i - 1, 0));
    CU(cuStreamWaitValue32(a, at(turn), 2 * i, CU_STREAM_WAIT_VALUE_GEQ));
  }
  CUDA(cudaDeviceSynchronize());
  CHECK(read(p) == 808 && read(turn) == 16);
}

// The host writes into pinned memory, then another thread does while this one waits.
static void by_host(cudaStream_t a)
{
  volatile unsigned *h;
  int *p = (int *)words();
  CUDA(cudaMallocHost((void **)&h, 64));
  h[0] = h[1] = 0;
  CU(cuStreamWaitValue32(a, at((void *)h), 3, CU_STREAM_WAIT_VALUE_GEQ));
  add<<<1, 1, 0, a>>>(p, 1);
  CHECK(cudaStreamQuery(a) == cudaErrorNotReady);
  h[0] = 4;
  CUDA(cudaStreamSynchronize(a));
  CU(cuStreamWaitValue32(a, at((void *)h), ~4u, CU_STREAM_WAIT_VALUE_NOR)); // no bit of 4 is missing: waits
  CUDA(cudaLaunchHostFunc(a, [](void *q) { ((volatile unsigned *)q)[1] = 7; }, (void *)h));
  std::thread other([h] { usleep(20000), h[0] = 0; });
  CUDA(cudaStreamSynchronize(a));
  other.join();
  CHECK(h[1] == 7 && read(p) == 1);
}

// Blocking streams and the legacy one wait for each other, in the order of the calls.
static void legacy(cudaStream_t free_one)
{
  unsigned *flag = words();
  int *p = (int *)words();
  cudaStream_t a, b;
  CUDA(cudaStreamCreate(&a));
  CUDA(cudaStreamCreate(&b));
  CU(cuStreamWaitValue32(a, at(flag), 1, CU_STREAM_WAIT_VALUE_GEQ));
  add<<<1, 1, 0, a>>>(p, 1);
  CUDA(cudaMemcpyAsync(p + 1, p, 4, cudaMemcpyDeviceToDevice, 0)); // behind a
  add<<<1, 1, 0, b>>>(p + 1, 10);                                  // behind the copy
  add<<<1, 1, 0, a>>>(p, 100);                                     // likewise: the copy must not see it
  CHECK(cudaStreamQuery(b) == cudaErrorNotReady && cudaStreamQuery(cudaStreamLegacy) == cudaErrorNotReady);
  CU(cuStreamWriteValue32(free_one, at(flag), 1, 0));
  CUDA(cudaDeviceSynchronize());
  CHECK(read(p) == 101 && read(p + 1) == 11);
  CUDA(cudaStreamDestroy(a));
  CUDA(cudaStreamDestroy(b));
}

// Memory that is freed in the stream, and a graph, behind a wait.
static void graphs_and_memory(cudaStream_t a, cudaStream_t b)
{
  unsigned *flag = words(), *out = words(), *temporary;
  cudaGraph_t g;
  cudaGraphExec_t x;
  CUDA(cudaStreamBeginCapture(b, cudaStreamCaptureModeGlobal));
  CU(cuStreamWriteValue32(b, at(out + 1), 77, 0));
  CU(cuStreamWaitValue32(b, at(out + 1), 77, CU_STREAM_WAIT_VALUE_EQ));
  CUDA(cudaStreamEndCapture(b, &g));
  CUDA(cudaGraphInstantiate(&x, g, 0));
  size_t n;
  CUgraphNode node;
  CUgraphNodeType type;
  CU(cuGraphGetNodes(g, nullptr, &n));
  CHECK(n == 2);
  n = 1;
  CU(cuGraphGetNodes(g, &node, &n));
  CU(cuGraphNodeGetType(node, &type));
  CHECK(type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  CUDA_BATCH_MEM_OP_NODE_PARAMS params = {};
  CU(cuGraphBatchMemOpNodeGetParams(node, &params));
  CHECK(params.count == 1 && params.paramArray[0].writeValue.value == 77);

  CU(cuStreamWaitValue32(a, at(flag), 1, CU_STREAM_WAIT_VALUE_GEQ));
  CUDA(cudaMallocAsync(&temporary, 64, a));
  store<<<1, 1, 0, a>>>(temporary, 9);
  CUDA(cudaMemcpyAsync(out, temporary, 4, cudaMemcpyDeviceToDevice, a));
  CUDA(cudaFreeAsync(temporary, a));
  CUDA(cudaGraphLaunch(x, a));
  CHECK(read(out) == 0 && read(out + 1) == 0);
  CU(cuStreamWriteValue32(b, at(flag), 1, 0));
  CUDA(cudaStreamSynchronize(a));
  CHECK(read(out) == 9 && read(out + 1) == 77);
  CUDA(cudaGraphExecDestroy(x));
  CUDA(cudaGraphDestroy(g));
}

static void batches(cudaStream_t a, cudaStream_t b)
{
  unsigned *p = words();
  CUstreamBatchMemOpParams op[4] = {};
  op[0].writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, at(p), {1}, 0, 0};
  op[1].waitValue = {CU_STREAM_MEM_OP_WAIT_VALUE_64, at(p + 2), {}, CU_STREAM_WAIT_VALUE_EQ, 0};
  op[1].waitValue.value64 = 1ull << 33;
  op[2].memoryBarrier = {CU_STREAM_MEM_OP_BARRIER, 0};
  op[3].writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, at(p + 1), {2}, 0, 0};
  CU(cuStreamBatchMemOp(a, 4, op, 0));
  CHECK(read(p) == 1 && read(p + 1) == 0);
  CU(cuStreamWriteValue64(b, at(p + 2), 1ull << 33, 0));
  CUDA(cudaStreamSynchronize(a));
  CHECK(read(p + 1) == 2);
  // What is refused: no operations, other flags, addresses that do not fit or are nobody's.
  CHECK(cuStreamBatchMemOp(a, 0, op, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuStreamBatchMemOp(a, 1, op, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuStreamWriteValue32(a, at(p) + 2, 0, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuStreamWriteValue64(a, at(p) + 4, 0, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuStreamWriteValue32(a, 64, 0, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuStreamWriteValue32((CUstream)p, at(p), 0, 0) == CUDA_ERROR_INVALID_HANDLE);
}

// Both forms by name, and what the attributes promise.
static void found()
{
  int can;
  void *first, *second;
  CUdriverProcAddressQueryResult status;
  CU(cuGetProcAddress("cuStreamWaitValue32", &first, 8000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  CU(cuGetProcAddress("cuStreamWaitValue32", &second, 11070, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  CHECK(first && second && first != second);
  CU(cuDeviceGetAttribute(&can, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 0));
  CHECK(can == 1);
}

// Simulated time: what waited starts when the value was written.
static void time_of(cudaStream_t a, cudaStream_t b)
{
  unsigned *flag = words();
  cudaEvent_t start, written, behind;
  float to_write, to_end;
  char *big;
  CUDA(cudaMalloc(&big, 8 << 20));
  CUDA(cudaEventCreate(&start));
  CUDA(cudaEventCreate(&written));
  CUDA(cudaEventCreate(&behind));
  CU(cuStreamWaitValue32(a, at(flag), 1, CU_STREAM_WAIT_VALUE_GEQ));
  CUDA(cudaEventRecord(behind, a));
  CUDA(cudaEventRecord(start, b));
  CUDA(cudaMemsetAsync(big, 1, 8 << 20, b));
  CU(cuStreamWriteValue32(b, at(flag), 1, 0));
  CUDA(cudaEventRecord(written, b));
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaEventElapsedTime(&to_write, start, written));
  CUDA(cudaEventElapsedTime(&to_end, start, behind));
  CHECK(to_write > 0.005f && to_end > 0.99f * to_write);
}

// An event behind all work of a context, and all its streams behind an event.
static void of_contexts(cudaStream_t a, cudaStream_t b)
{
  CUcontext c;
  cudaEvent_t before, all, after;
  char *big;
  float ms;
  CU(cuCtxGetCurrent(&c));
  CUDA(cudaMalloc(&big, 8 << 20));
  CUDA(cudaEventCreate(&before));
  CUDA(cudaEventCreate(&all));
  CUDA(cudaEventCreate(&after));
  CUDA(cudaEventRecord(before, b));
  CUDA(cudaMemsetAsync(big, 1, 8 << 20, a));
  CU(cuCtxRecordEvent(c, all));
  CU(cuCtxWaitEvent(c, all));
  CUDA(cudaEventRecord(after, b)); // b had nothing to do
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaEventElapsedTime(&ms, before, all));
  CHECK(ms > 0.005f);
  CUDA(cudaEventElapsedTime(&ms, all, after));
  CHECK(ms >= 0);
}

int main()
{
  cudaStream_t a, b, c;
  CUDA(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  CUDA(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  CUDA(cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking));
  at_once(a);
  later(a, b, c);
  ping_pong(a, b);
  by_host(a);
  legacy(c);
  graphs_and_memory(a, b);
  batches(a, b);
  found();
  time_of(a, b);
  of_contexts(a, b);
  printf("right\n");
}
