// Copies and memory of the host in time: what links, copy engines and DRAM give, as formulas over the keys of the preset
// (rtx-3070: pcie.latency_ns 4000, pcie.h2d_mbps and d2h_mbps 28800, pcie.pageable_permille 400; DRAM of 448 GB/s of which
// 97.4 % can be used). Alone each is what its formula says; together they share what they use.
#include "check.h"

static const double latency = 4e3, link = 28.8, pageable = 0.4, dram = 448 * 0.974; // ns, bytes per ns
static const double call = 400; // ns: a call that waited, and the one that records the event behind it

static cudaStream_t first, second;
static cudaEvent_t mark[4];

// Vectors of 16 bytes, so that the GPU is never the bound.
__global__ void stream(float4 *to, const float4 *from, size_t n)
{
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (size_t)blockDim.x) to[i] = from[i];
}

__global__ void count(unsigned *words, unsigned n)
{
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd_system(&words[i % n], 1u);
  atomicMax_system(&words[n + i % n], i);
}

// Ends when `flag` is there; then reads what came before it.
__global__ void await(volatile unsigned *flag, const volatile unsigned *data, unsigned *got)
{
  while (!*flag) continue;
  __threadfence_system();
  *got = *data;
}

__global__ void spin(long long cycles)
{
  for (const long long begin = clock64(); clock64() - begin < cycles;) continue;
}

static void launch_stream(void *to, const void *from, size_t bytes)
{
  stream<<<184, 256, 0, first>>>((float4 *)to, (const float4 *)from, bytes / 16);
}

static double ns(cudaEvent_t from, cudaEvent_t to)
{
  float ms;
  CUDA(cudaEventElapsedTime(&ms, from, to));
  return ms * 1e6;
}

static bool near(double got, double want, double margin, const char *what)
{
  bool ok = got > want * (1 - margin) && got < want * (1 + margin);
  if (!ok) printf("%s: %.0f, not %.0f\n", what, got, want);
  return ok;
}

static double copied(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaEventRecord(mark[0], first));
  CUDA(cudaMemcpyAsync(to, from, bytes, kind, first));
  CUDA(cudaEventRecord(mark[1], first));
  CUDA(cudaDeviceSynchronize());
  return ns(mark[0], mark[1]);
}

static void fill(unsigned *p, size_t bytes, unsigned seed)
{
  for (size_t i = 0; i < bytes / 4; i++) p[i] = (unsigned)i * 2654435761u + seed;
}

static bool holds(const unsigned *p, size_t bytes, unsigned seed)
{
  for (size_t i = 0; i < bytes / 4; i++)
    if (p[i] != (unsigned)i * 2654435761u + seed) return false;
  return true;
}

static const size_t bytes = 4 << 20;
static unsigned *host, *other, *plain, *a, *b, *c, *d;

// Each alone, small and large.
static void copies_alone()
{
  for (size_t n = 1 << 10; n <= bytes; n *= 64) {
    fill(host, n, 1);
    CHECK(near(copied(a, host, n, cudaMemcpyHostToDevice), latency + n / link, 0.05, "to the device"));
    CHECK(near(copied(b, a, n, cudaMemcpyDeviceToDevice), 1e3 + 2 * n / dram, n > 1 << 16 ? 0.05 : 0.2, "inside"));
    CHECK(near(copied(other, b, n, cudaMemcpyDefault), latency + n / link, 0.05, "to the host"));
    CHECK(holds(other, n, 1));
    fill(plain, n, 2);
    CHECK(near(copied(a, plain, n, cudaMemcpyHostToDevice), latency + call + n / link / pageable, 0.05, "from pageable memory"));
    CHECK(near(copied(host, a, n, cudaMemcpyDeviceToHost), latency + n / link, 0.05, "to pinned memory"));
    CHECK(holds(host, n, 2));
    fill(plain, n, 3);
    CHECK(near(copied(plain, a, n, cudaMemcpyDeviceToHost), latency + call + n / link / pageable, 0.05, "to pageable memory"));
    CHECK(holds(plain, n, 2));
  }
}

// Each direction has its own engine and its own half of the link.
static void both_ways()
{
  fill(host, bytes, 3);
  CUDA(cudaMemset(b, 7, bytes));
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaEventRecord(mark[0], first));
  CUDA(cudaMemcpyAsync(a, host, bytes, cudaMemcpyHostToDevice, first));
  CUDA(cudaMemcpyAsync(other, b, bytes, cudaMemcpyDeviceToHost, second));
  CUDA(cudaEventRecord(mark[1], first));
  CUDA(cudaEventRecord(mark[2], second));
  CUDA(cudaDeviceSynchronize());
  CHECK(near(ns(mark[0], mark[1]), latency + bytes / link, 0.05, "there, beside back"));
  CHECK(near(ns(mark[0], mark[2]), latency + bytes / link, 0.05, "back, beside there"));
  for (size_t i = 0; i < bytes / 4; i++) CHECK(other[i] == 0x07070707);
  // Two the same way follow each other.
  CUDA(cudaEventRecord(mark[0], first));
  CUDA(cudaMemcpyAsync(b, host, bytes, cudaMemcpyHostToDevice, first));
  CUDA(cudaMemcpyAsync(c, host, bytes, cudaMemcpyHostToDevice, second));
  CUDA(cudaEventRecord(mark[1], second));
  CUDA(cudaDeviceSynchronize());
  CHECK(near(ns(mark[0], mark[1]), 2 * (latency + bytes / link), 0.05, "one behind the other"));
}

// A kernel reads or writes host memory as fast as the link carries whole lines, and not faster.
static void zero_copy(void *mapped)
{
  for (int out = 0; out < 2; out++) {
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaEventRecord(mark[0], first));
    if (out) launch_stream(mapped, a, bytes);
    else launch_stream(a, mapped, bytes);
    CUDA(cudaEventRecord(mark[1], first));
    CUDA(cudaDeviceSynchronize());
    double took = ns(mark[0], mark[1]), least = bytes / link;
    if (took < least || took > least * 1.05 + 2e3) printf("zero-copy %d: %.0f ns, not %.0f\n", out, took, least);
    CHECK(took >= least && took < least * 1.05 + 2e3); // 2 us: a launch and two ways
  }
}

static void zero_copy_of_all_kinds()
{
  unsigned *registered = (unsigned *)malloc(bytes), *mapped;
  fill(host, bytes, 5);
  zero_copy(host);
  CHECK(holds(host, bytes, 5));
  fill(registered, bytes, 6);
  CUDA(cudaHostRegister(registered, bytes, cudaHostRegisterMapped));
  CUDA(cudaHostGetDevicePointer((void **)&mapped, registered, 0));
  zero_copy(mapped);
  CHECK(holds(registered, bytes, 6));
  CUDA(cudaHostUnregister(registered));
  free(registered);
  // What the host lets go of is the GPU's again.
  unsigned *fresh;
  CUDA(cudaMalloc(&fresh, bytes));
  CUDA(cudaEventRecord(mark[0], first));
  launch_stream(fresh, a, bytes);
  CUDA(cudaEventRecord(mark[1], first));
  CUDA(cudaDeviceSynchronize());
  CHECK(ns(mark[0], mark[1]) < bytes / link / 3);
  CUDA(cudaFree(fresh));
}

static void atomics_at_home()
{
  const unsigned words = 64, threads = 4096;
  for (unsigned i = 0; i < 2 * words; i++) host[i] = 0;
  count<<<threads / 256, 256, 0, first>>>(host, words);
  CUDA(cudaDeviceSynchronize());
  for (unsigned i = 0; i < words; i++) {
    CHECK(host[i] == threads / words);
    CHECK(host[words + i] == threads - words + i);
  }
}

// What a kernel and a copy take from each other; 0: was not there.
struct beside {
  double kernel, copy;
};

static beside run_beside(bool kernel, bool copy)
{
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaEventRecord(mark[0], first));
  CUDA(cudaEventRecord(mark[2], second));
  if (kernel) launch_stream(b, a, bytes);
  CUDA(cudaEventRecord(mark[1], first));
  if (copy) CUDA(cudaMemcpyAsync(d, c, bytes, cudaMemcpyDeviceToDevice, second));
  CUDA(cudaEventRecord(mark[3], second));
  CUDA(cudaDeviceSynchronize());
  return {kernel ? ns(mark[0], mark[1]) : 0, copy ? ns(mark[2], mark[3]) : 0};
}

// Both are slower than alone; together they move no more bytes in a second than DRAM gives, and little less.
static void beside_a_kernel()
{
  beside kernel = run_beside(true, false), copy = run_beside(false, true), both = run_beside(true, true);
  CHECK(both.kernel > 1.2 * kernel.kernel);
  CHECK(both.copy > 1.2 * copy.copy);
  double all = both.kernel > both.copy ? both.kernel : both.copy;
  if (all > 1.15 * (kernel.kernel + copy.copy) || 4 * bytes / all > 448)
    printf("%.0f and %.0f alone, %.0f and %.0f together\n", kernel.kernel, copy.copy, both.kernel, both.copy);
  CHECK(all < 1.15 * (kernel.kernel + copy.copy));
  CHECK(4 * bytes / all < 448);
  // The link is not DRAM: a kernel on the GPU's own memory does not slow a copy from the host down.
  CUDA(cudaEventRecord(mark[0], second));
  for (int i = 0; i < 4; i++) launch_stream(b, a, bytes);
  CUDA(cudaMemcpyAsync(d, host, bytes, cudaMemcpyHostToDevice, second));
  CUDA(cudaEventRecord(mark[1], second));
  CUDA(cudaDeviceSynchronize());
  CHECK(near(ns(mark[0], mark[1]), latency + bytes / link, 0.1, "to the device, beside kernels"));
}

// A kernel and a copy both over the link: each gets a part of it.
static void share_the_link()
{
  CUDA(cudaEventRecord(mark[0], first));
  launch_stream(b, host, bytes);
  CUDA(cudaEventRecord(mark[1], first));
  CUDA(cudaMemcpyAsync(d, other, bytes, cudaMemcpyHostToDevice, second));
  CUDA(cudaEventRecord(mark[3], second));
  CUDA(cudaDeviceSynchronize());
  double kernel = ns(mark[0], mark[1]), copy = ns(mark[0], mark[3]), all = kernel > copy ? kernel : copy;
  CHECK(kernel > 1.3 * bytes / link || copy > 1.3 * bytes / link);
  CHECK(near(all, latency + 2 * bytes / link, 0.05, "two over one link"));
}

// What a stream copies arrives in its order, also for a kernel that is there all the time.
static void a_kernel_sees_copies()
{
  unsigned zero = 0, *flag = c, *data = c + 1024, *got = d, answer;
  CUDA(cudaMemcpy(flag, &zero, 4, cudaMemcpyHostToDevice));
  host[0] = 4711, host[1] = 1;
  await<<<1, 1, 0, first>>>(flag, data, got);
  CUDA(cudaMemcpyAsync(data, &host[0], 4, cudaMemcpyHostToDevice, second));
  CUDA(cudaMemcpyAsync(flag, &host[1], 4, cudaMemcpyHostToDevice, second));
  CUDA(cudaMemcpy(&answer, got, 4, cudaMemcpyDeviceToHost)); // waits for blocking streams
  CHECK(answer == 4711);
}

// Rows and planes, from any byte to any byte, beside a kernel and alone.
static void rows_and_planes()
{
  const size_t width = 100, height = 9, depth = 5, pitch = 128, slice = 128 * 11;
  unsigned char *from = (unsigned char *)host, *to = (unsigned char *)other, *device = (unsigned char *)c;
  for (int busy = 0; busy < 2; busy++) {
    fill(host, depth * slice + 64, 9);
    for (size_t i = 0; i < depth * slice + 64; i++) to[i] = 0xee;
    if (busy) launch_stream(b, a, bytes);
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(from + 3, pitch, width, slice / pitch);
    p.dstPtr = make_cudaPitchedPtr(device + 5, pitch, width, slice / pitch);
    p.extent = make_cudaExtent(width, height, depth);
    p.kind = cudaMemcpyHostToDevice;
    CUDA(cudaMemcpy3DAsync(&p, second));
    p.srcPtr = p.dstPtr, p.kind = cudaMemcpyDeviceToHost;
    p.dstPtr = make_cudaPitchedPtr(to + 1, pitch, width, slice / pitch);
    CUDA(cudaMemcpy3DAsync(&p, second));
    CUDA(cudaDeviceSynchronize());
    for (size_t z = 0; z < depth; z++)
      for (size_t y = 0; y < slice / pitch; y++)
        for (size_t x = 0; x < pitch; x++) {
          size_t at = z * slice + y * pitch + x;
          CHECK(to[1 + at] == (x < width && y < height ? from[3 + at] : 0xee));
        }
  }
  CUDA(cudaMemset2DAsync(device, 256, 0x5a, 33, 7, second));
  CUDA(cudaMemcpyAsync(to, device, 8 * 256, cudaMemcpyDeviceToHost, second));
  CUDA(cudaStreamSynchronize(second));
  for (size_t y = 0; y < 7; y++)
    for (size_t x = 0; x < 33; x++) CHECK(to[y * 256 + x] == 0x5a);
}

// Copies inside the GPU, of one stream after the other. Of those that wait the one of the stream with the highest priority
// begins first, also before the rest of the one that moves when it comes. graphs: they are nodes, which have the priority of the
// stream in which their graph is launched, and come some microseconds after each other. beside: a kernel, whose memory they share.
// In both cases their order counts alone.
static void by_priority(bool graphs, bool beside)
{
  enum { N = 4 };
  cudaGraph_t graph[N];
  cudaGraphExec_t exec[N];
  cudaStream_t streams[N];
  cudaEvent_t start, end[N];
  int least, greatest;
  CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  CUDA(cudaEventCreate(&start));
  for (int i = 0; i < N; i++) {
    CUDA(cudaStreamCreateWithPriority(&streams[i], cudaStreamNonBlocking, i == N - 1 ? greatest : least));
    CUDA(cudaEventCreate(&end[i]));
    cudaGraphNode_t node;
    CUDA(cudaGraphCreate(&graph[i], 0));
    CUDA(cudaGraphAddMemcpyNode1D(&node, graph[i], nullptr, 0, i % 2 ? c : a, i % 2 ? d : b, bytes, cudaMemcpyDeviceToDevice));
    CUDA(cudaGraphInstantiate(&exec[i], graph[i], 0));
  }
  fill(host, bytes, 17);
  CUDA(cudaMemcpy(b, host, bytes, cudaMemcpyHostToDevice));
  CUDA(cudaMemset(a, 0, bytes));
  CUDA(cudaDeviceSynchronize());
  if (beside) spin<<<1, 32, 0, first>>>(100000);
  CUDA(cudaEventRecord(start, streams[0]));
  for (int i = 0; i < N; i++) {
    if (graphs) CUDA(cudaGraphLaunch(exec[i], streams[i]));
    else CUDA(cudaMemcpyAsync(i % 2 ? c : a, i % 2 ? d : b, bytes, cudaMemcpyDeviceToDevice, streams[i]));
    CUDA(cudaEventRecord(end[i], streams[i]));
  }
  CUDA(cudaDeviceSynchronize());
  const int turn[N] = { 2, 3, 4, 1 };
  for (int i = 0; i < N && !beside && !graphs; i++)
    CHECK(near(ns(start, end[i]), turn[i] * 2 * bytes / dram, 0.3 / turn[i], "a copy in its turn"));
  CHECK(ns(start, end[3]) < ns(start, end[0]) && ns(start, end[0]) < ns(start, end[1]) && ns(start, end[1]) < ns(start, end[2]));
  CUDA(cudaMemcpy(other, a, bytes, cudaMemcpyDeviceToHost)); // the one that was interrupted is whole
  CHECK(memcmp(other, host, bytes) == 0);
  for (int i = 0; i < N; i++) {
    CUDA(cudaGraphExecDestroy(exec[i]));
    CUDA(cudaGraphDestroy(graph[i]));
  }
}

int main()
{
  CUDA(cudaStreamCreate(&first));
  CUDA(cudaStreamCreate(&second));
  for (cudaEvent_t &e : mark) CUDA(cudaEventCreate(&e));
  CUDA(cudaMallocHost(&host, bytes));
  CUDA(cudaHostAlloc(&other, bytes, cudaHostAllocMapped));
  plain = (unsigned *)malloc(bytes);
  for (unsigned **p : {&a, &b, &c, &d}) CUDA(cudaMalloc(p, bytes));
  copies_alone();
  both_ways();
  zero_copy_of_all_kinds();
  atomics_at_home();
  beside_a_kernel();
  for (int way = 0; way < 4; way++) by_priority(way & 1, way >> 1);
  share_the_link();
  a_kernel_sees_copies();
  rows_and_planes();
  puts("ok");
  return 0;
}
