// Green contexts in time: kernels in two of them run side by side, each in as many turns as its own SMs need, and neither
// waits for the other; in one of them they share its SMs.
#include "green.h"

static const long long CYCLES = 20000;
static unsigned *sm;
static unsigned room;
static double turn; // us that a CTA takes

static void launch(const group &g, unsigned ctas)
{
  stay<<<ctas, 32, room, g.stream>>>(sm, CYCLES);
}

static double us(cudaEvent_t from, cudaEvent_t to)
{
  float ms;
  CUDA(cudaEventElapsedTime(&ms, from, to));
  return ms * 1000;
}

// What `turns` CTAs one behind the other take: a CTA more than its cycles, a launch once.
static bool takes(double us, double turns)
{
  return us > turns * turn * 0.99 && us < turns * turn * 1.1 + 8;
}

// The times from the first start to the ends of both, where each has a stream of its own.
static void both(const group &a, unsigned ctas_a, cudaStream_t other, unsigned ctas_b, double *end_a, double *end_b)
{
  cudaEvent_t start, end[2];
  CUDA(cudaEventCreate(&start));
  for (cudaEvent_t &e : end) CUDA(cudaEventCreate(&e));
  CUDA(cudaEventRecord(start, a.stream));
  CUDA(cudaStreamWaitEvent(other, start, 0));
  stay<<<ctas_a, 32, room, a.stream>>>(sm, CYCLES);
  CUDA(cudaEventRecord(end[0], a.stream));
  stay<<<ctas_b, 32, room, other>>>(sm, CYCLES);
  CUDA(cudaEventRecord(end[1], other));
  CUDA(cudaDeviceSynchronize());
  *end_a = us(start, end[0]);
  *end_b = us(start, end[1]);
}

int main()
{
  int khz;
  double a, b;
  CUcontext primary;
  CUDA(cudaSetDevice(0));
  CUDA(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
  CUDA(cudaMallocManaged(&sm, 4096 * sizeof *sm));
  CU(cuCtxGetCurrent(&primary));
  turn = CYCLES * 1e3 / khz;
  room = alone_in_sm(0);
  std::vector<group> g = groups_of(0, 2, 8, NULL);
  const unsigned n = g[0].sms.sm.smCount;
  launch(g[0], 1); // code is in L2 from now on
  CUDA(cudaDeviceSynchronize());

  both(g[0], 5 * n, g[1].stream, 2 * n, &a, &b);
  check(takes(a, 5) && takes(b, 2), "two contexts side by side");
  both(g[0], 3 * n + 1, g[1].stream, n, &a, &b);
  check(takes(a, 4) && takes(b, 1), "a CTA more is a turn more, of its own context alone");

  CUstream second;
  CU(cuGreenCtxStreamCreate(&second, g[0].green, CU_STREAM_NON_BLOCKING, 0));
  both(g[0], 5 * n, second, 2 * n, &a, &b);
  check(takes(a, 5) && takes(b, 7), "two streams of one context share its SMs");

  // A kernel for all SMs waits for none but those that are left: its first turns are on the others.
  cudaStream_t plain;
  int sms;
  CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CUDA(cudaStreamCreateWithFlags(&plain, cudaStreamNonBlocking));
  both(g[0], 4 * n, plain, (unsigned)sms - n, &a, &b);
  check(takes(a, 4) && takes(b, 1), "a kernel of the primary context has the other SMs");

  // The other way round all SMs are taken first, and those of the group become free together.
  cudaEvent_t start, end;
  CUDA(cudaEventCreate(&start));
  CUDA(cudaEventCreate(&end));
  CUDA(cudaEventRecord(start, plain));
  CUDA(cudaStreamWaitEvent(g[0].stream, start, 0));
  stay<<<(unsigned)sms, 32, room, plain>>>(sm, CYCLES);
  launch(g[0], n);
  CUDA(cudaEventRecord(end, g[0].stream));
  CUDA(cudaDeviceSynchronize());
  check(takes(us(start, end), 2), "a context waits for SMs that a kernel has had before");

  for (group &x : g) CU(cuGreenCtxDestroy(x.green));
  printf("green contexts: right\n");
  return 0;
}
