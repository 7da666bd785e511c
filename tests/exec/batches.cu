// Batches of copies, of plain memory and of arrays, by both interfaces; in a stream that captures, too.
#include <cstring>

#include "driver_check.h"

enum { N = 64, W = 8, H = 4 };

static int *device(int n)
{
  int *p;
  CUDA(cudaMalloc(&p, n * sizeof(int)));
  CUDA(cudaMemset(p, 0, n * sizeof(int)));
  return p;
}

static void linear(cudaStream_t st)
{
  int h[2][N], back[2][N], *a = device(N), *b = device(N);
  for (int i = 0; i < N; i++) h[0][i] = i, h[1][i] = -i;
  void *to[] = {a, b}, *home[] = {back[0], back[1]};
  const void *from[] = {h[0], h[1]}, *device_from[] = {b, a};
  size_t bytes[] = {sizeof h[0], sizeof h[0] / 2}, first[] = {0, 1}, all = 0;
  cudaMemcpyAttributes attr[2] = {};
  attr[0].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
  attr[1].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  CUDA(cudaMemcpyBatchAsync(to, from, bytes, 2, attr, first, 2, st));
  memset(back, 0, sizeof back);
  CUDA(cudaMemcpyBatchAsync(home, device_from, bytes, 2, attr, &all, 1, st));
  CUDA(cudaStreamSynchronize(st));
  for (int i = 0; i < N; i++) CHECK(back[0][i] == (i < N / 2 ? -i : 0) && back[1][i] == (i < N / 2 ? i : 0));
  // What the call must refuse: sets out of order, one too many, no order of access, the legacy stream.
  size_t wrong[] = {1, 0};
  CHECK(cudaMemcpyBatchAsync(to, from, bytes, 2, attr, wrong, 2, st) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyBatchAsync(to, from, bytes, 1, attr, first, 2, st) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyBatchAsync(to, from, bytes, 2, attr, first, 2, cudaStreamLegacy) == cudaErrorInvalidValue);
  attr[1].srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
  CHECK(cudaMemcpyBatchAsync(to, from, bytes, 2, attr, first, 2, st) == cudaErrorInvalidValue);
}

// The form before CUDA 13 says which copy cannot be done.
static void which_failed(cudaStream_t st)
{
  typedef CUresult (*first_form)(CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t, size_t *,
                                 CUstream);
  first_form copy;
  CUdriverProcAddressQueryResult found;
  CU(cuGetProcAddress("cuMemcpyBatchAsync", (void **)&copy, 12080, CU_GET_PROC_ADDRESS_DEFAULT, &found));
  int *a = device(N), *b = device(N);
  CUdeviceptr to[] = {(CUdeviceptr)a, (CUdeviceptr)b}, from[] = {(CUdeviceptr)b, (CUdeviceptr)a};
  size_t bytes[] = {N * sizeof(int), 2 * N * sizeof(int) + (size_t(1) << 40)}, first = 0, bad = 99;
  CUmemcpyAttributes attr = {};
  attr.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  CHECK(copy(to, from, bytes, 2, &attr, &first, 1, &bad, st) == CUDA_ERROR_INVALID_VALUE && bad == 1);
  CHECK(copy(to, from, bytes, 0, &attr, &first, 1, &bad, st) == CUDA_ERROR_INVALID_VALUE && bad == SIZE_MAX);
  CU(cuMemcpyBatchAsync(to, from, bytes, 1, &attr, &first, 1, st));
}

// A picture goes into a part of an array, and from there into rows that are longer.
static void boxes(cudaStream_t st)
{
  float h[H][W], back[H][2 * W] = {};
  cudaArray_t array;
  cudaChannelFormatDesc texel = cudaCreateChannelDesc<float>();
  for (int i = 0; i < W * H; i++) h[i / W][i % W] = i + 1;
  CUDA(cudaMallocArray(&array, &texel, 2 * W, 2 * H));
  cudaMemcpy3DBatchOp op[2] = {};
  op[0].src.type = cudaMemcpyOperandTypePointer;
  op[0].src.op.ptr.ptr = h;
  op[0].dst.type = cudaMemcpyOperandTypeArray;
  op[0].dst.op.array.array = array;
  op[0].dst.op.array.offset = {3, 2, 0};
  op[0].extent = make_cudaExtent(W, H, 1);
  op[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  CUDA(cudaMemcpy3DBatchAsync(1, op, 0, st));
  op[1] = op[0];
  op[1].src = op[0].dst;
  op[1].dst = op[0].src;
  op[1].dst.op.ptr.ptr = back;
  op[1].dst.op.ptr.rowLength = 2 * W;
  CUDA(cudaMemcpy3DBatchAsync(1, &op[1], 0, st));
  CUDA(cudaStreamSynchronize(st));
  for (int y = 0; y < H; y++)
    for (int x = 0; x < 2 * W; x++) CHECK(back[y][x] == (x < W ? h[y][x] : 0));
  op[0].dst.op.array.offset.x = 2 * W;
  CHECK(cudaMemcpy3DBatchAsync(1, op, 0, st) == cudaErrorInvalidValue);
  op[0].extent.depth = 0;
  CHECK(cudaMemcpy3DBatchAsync(1, op, 0, st) == cudaErrorInvalidValue);
}

static void captured(cudaStream_t st)
{
  int *a = device(N), *b = device(N), h[N];
  void *to[] = {a, b};
  const void *from[] = {b, a};
  size_t bytes[] = {N, N}, first = 0, nodes;
  cudaMemcpyAttributes attr = {};
  cudaGraph_t graph;
  attr.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  CUDA(cudaMemset(b, 7, N * sizeof(int)));
  CUDA(cudaStreamBeginCapture(st, cudaStreamCaptureModeGlobal));
  CUDA(cudaMemcpyBatchAsync(to, from, bytes, 2, &attr, &first, 1, st));
  CUDA(cudaStreamEndCapture(st, &graph));
  CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 2);
  CUDA(cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost));
  CHECK(h[0] == 0);
}

// Managed memory: prefetched to several places, discarded.
static void managed(cudaStream_t st)
{
  int *a, *b, place;
  CUDA(cudaMallocManaged(&a, 1 << 16));
  CUDA(cudaMallocManaged(&b, 1 << 16));
  void *p[] = {a, b};
  size_t bytes[] = {1 << 16, 1 << 16}, first[] = {0, 1};
  cudaMemLocation to[2] = {{cudaMemLocationTypeDevice, 0}, {cudaMemLocationTypeHost, 0}};
  CUDA(cudaMemPrefetchBatchAsync(p, bytes, 2, to, first, 2, 0, st));
  CUDA(cudaMemRangeGetAttribute(&place, 4, cudaMemRangeAttributeLastPrefetchLocation, a, 1 << 16));
  CHECK(place == 0);
  CUDA(cudaMemRangeGetAttribute(&place, 4, cudaMemRangeAttributeLastPrefetchLocation, b, 1 << 16));
  CHECK(place == cudaCpuDeviceId);
  CUDA(cudaMemDiscardBatchAsync(p, bytes, 2, 0, st));
  CUDA(cudaMemDiscardAndPrefetchBatchAsync(p, bytes, 2, to, first, 1, 0, st));
  CUDA(cudaMemRangeGetAttribute(&place, 4, cudaMemRangeAttributeLastPrefetchLocation, b, 1 << 16));
  CHECK(place == 0);
  bytes[1]++;
  CHECK(cudaMemDiscardBatchAsync(p, bytes, 2, 0, st) == cudaErrorInvalidValue);
  CHECK(cudaMemPrefetchBatchAsync(p, bytes, 1, to, first, 2, 0, st) == cudaErrorInvalidValue);
}

int main()
{
  cudaStream_t st;
  CUDA(cudaStreamCreate(&st));
  linear(st);
  which_failed(st);
  boxes(st);
  captured(st);
  managed(st);
  printf("right\n");
}
