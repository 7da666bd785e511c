// Which stream waits for which: the rules of the CUDA programming guide ("Streams", "Default Stream", "Events") as a table. In
// each case a kernel that takes its time comes first, then, in another stream or the same, an operation that either must
// come behind it or need not. "Need not" is checked as well: a simulator that orders too much would hide what programs do
// wrong, and here there is always room.
#include "check.h"

enum kind { LEGACY, BLOCKING, BLOCKING2, NON_BLOCKING, NON_BLOCKING2, PER_THREAD, KINDS };
static const char *const name[KINDS] = {"legacy", "blocking", "blocking 2", "non-blocking", "non-blocking 2", "per-thread"};

static cudaStream_t stream[KINDS];
static unsigned *flag;      // 1 when the first kernel has ended
static unsigned *seen;      // what the second operation saw
static unsigned *pinned;    // the same, by copies to the host

__global__ void first(unsigned *flag)
{
  long long end = clock64() + 15000;
  while (clock64() < end) __nanosleep(100);
  *(volatile unsigned *)flag = 1;
}

__global__ void second(const unsigned *flag, unsigned *seen)
{
  *seen = *(const volatile unsigned *)flag;
}

enum what { KERNEL, COPY, COPY_TO_HOST, WHATS };
static const char *const what_name[WHATS] = {"a kernel", "a copy on the device", "a copy to the host"};

static void issue(what w, cudaStream_t s)
{
  if (w == KERNEL) second<<<1, 1, 0, s>>>(flag, seen);
  if (w == COPY) CUDA(cudaMemcpyAsync(seen, flag, 4, cudaMemcpyDeviceToDevice, s));
  if (w == COPY_TO_HOST) CUDA(cudaMemcpyAsync(pinned, flag, 4, cudaMemcpyDeviceToHost, s));
}

static unsigned result(what w)
{
  unsigned v;
  CUDA(cudaDeviceSynchronize());
  if (w == COPY_TO_HOST) return *pinned;
  CUDA(cudaMemcpy(&v, seen, 4, cudaMemcpyDeviceToHost));
  return v;
}

static void clear()
{
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaMemset(flag, 0, 4));
  CUDA(cudaMemset(seen, 0xff, 4));
  *pinned = ~0u;
  CUDA(cudaDeviceSynchronize());
}

// CUDA programming guide, "Default Stream": the legacy stream waits for all blocking streams, and they for it.
static bool is_ordered(kind a, kind b)
{
  bool blocking_a = a != NON_BLOCKING && a != NON_BLOCKING2, blocking_b = b != NON_BLOCKING && b != NON_BLOCKING2;
  if (a == b) return true;
  return (a == LEGACY && blocking_b) || (b == LEGACY && blocking_a);
}

static int cases;

static void expect(bool ordered, unsigned saw, const char *a, const char *b, const char *w)
{
  cases++;
  if (saw == (ordered ? 1u : 0u)) return;
  printf("behind a kernel in %s, %s in %s: saw %u, %s expected\n", a, w, b, saw, ordered ? "order" : "no order");
  exit(1);
}

static void pairs()
{
  for (int a = 0; a < KINDS; a++)
    for (int b = 0; b < KINDS; b++)
      for (int w = 0; w < WHATS; w++) {
        clear();
        first<<<1, 1, 0, stream[a]>>>(flag);
        issue((what)w, stream[b]);
        expect(is_ordered((kind)a, (kind)b), result((what)w), name[a], name[b], what_name[w]);
      }
}

// An event orders what it is waited for in, whatever the streams are; one recorded before the kernel does not.
static void events()
{
  cudaEvent_t before, behind;
  CUDA(cudaEventCreate(&before));
  CUDA(cudaEventCreate(&behind));
  for (int a = BLOCKING; a < KINDS; a++)
    for (int b = BLOCKING; b < KINDS; b++) {
      if (a == b) continue;
      for (int late = 0; late < 2; late++) {
        clear();
        CUDA(cudaEventRecord(before, stream[a]));
        first<<<1, 1, 0, stream[a]>>>(flag);
        CUDA(cudaEventRecord(behind, stream[a]));
        CUDA(cudaStreamWaitEvent(stream[b], late ? behind : before, 0));
        issue(KERNEL, stream[b]);
        expect(late, result(KERNEL), name[a], name[b], late ? "a kernel behind its event" : "a kernel behind an earlier event");
      }
    }
}

// The legacy stream as a fence: what comes behind it in a blocking stream waits for what another one had before it.
static void fence()
{
  clear();
  first<<<1, 1, 0, stream[BLOCKING]>>>(flag);
  second<<<1, 1>>>(flag, seen + 1);
  issue(KERNEL, stream[BLOCKING2]);
  expect(true, result(KERNEL), "blocking", "blocking 2", "behind the legacy stream a kernel");
  clear();
  first<<<1, 1, 0, stream[NON_BLOCKING]>>>(flag);
  second<<<1, 1>>>(flag, seen + 1);
  issue(KERNEL, stream[BLOCKING2]);
  expect(false, result(KERNEL), "non-blocking", "blocking 2", "behind the legacy stream a kernel");
}

int main()
{
  CUDA(cudaStreamCreate(&stream[BLOCKING]));
  CUDA(cudaStreamCreate(&stream[BLOCKING2]));
  CUDA(cudaStreamCreateWithFlags(&stream[NON_BLOCKING], cudaStreamNonBlocking));
  CUDA(cudaStreamCreateWithFlags(&stream[NON_BLOCKING2], cudaStreamNonBlocking));
  stream[LEGACY] = cudaStreamLegacy;
  stream[PER_THREAD] = cudaStreamPerThread;
  CUDA(cudaMalloc(&flag, 4));
  CUDA(cudaMalloc(&seen, 8));
  CUDA(cudaMallocHost(&pinned, 4));
  first<<<1, 1>>>(flag); // its code is there
  issue(KERNEL, 0);
  pairs();
  events();
  fence();
  printf("%d cases\n", cases);
  return cases == 36 * 3 + 20 * 2 + 2 ? 0 : 1;
}
