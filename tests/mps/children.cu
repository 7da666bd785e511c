/* Clients of the Multi-Process Service whose kernels launch kernels. Each prints a line "WHICH: ..." of what it measured or found;
 * tests/mps/run.sh compares these with formulas.
 *
 *   children spin N CTAS US    N processes, each with a kernel of one thread that fires and forgets one of CTAS CTAs, one for an SM, that
 *                              spins US microseconds, and launches one behind its tail: how long, and what the tail has seen
 *   children tree N DEPTH      N processes, each with a tree of kernels DEPTH deep in the streams of their parents; leaves count
 *   children wait N            N processes, each with a kernel that waits for what its child writes
 *   children killed            two: the first is killed while its kernel calls the device runtime, for ever; the second spins a second later
 */
#include <csignal>
#include <string>
#include "processes.h"

__global__ void spin(long long cycles, int *ctas)
{
  const long long start = clock64();
  while (clock64() - start < cycles) continue;
  if (threadIdx.x == 0) atomicAdd(ctas, 1);
}

__global__ void see(const int *ctas, int *seen) { *seen = 1000 + *ctas; }

__global__ void parent(int ctas, long long cycles, int *done, int *seen)
{
  spin<<<ctas, 32, 64 << 10, cudaStreamFireAndForget>>>(cycles, done);
  see<<<1, 1, 0, cudaStreamTailLaunch>>>(done, seen);
}

static int spin_for(int which, const struct start *s, int ctas, double us, int later = 0)
{
  int *done, *seen, khz, host = 0;
  cudaEvent_t a, b;
  float took;
  CHECK(cudaMalloc(&done, sizeof *done));
  CHECK(cudaMalloc(&seen, sizeof *seen));
  CHECK(cudaMemset(done, 0, sizeof *done));
  CHECK(cudaMemset(seen, 0, sizeof *seen));
  CHECK(cudaFuncSetAttribute(spin, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
  CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
  CHECK(cudaEventCreate(&a));
  CHECK(cudaEventCreate(&b));
  CHECK(cudaDeviceSynchronize());
  meet(s);
  usleep(later);
  CHECK(cudaEventRecord(a));
  parent<<<1, 1>>>(ctas, (long long)(us * khz / 1000), done, seen);
  CHECK(cudaEventRecord(b));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaEventElapsedTime(&took, a, b));
  CHECK(cudaMemcpy(&host, seen, sizeof host, cudaMemcpyDeviceToHost));
  printf("%d: %.2f us, %d\n", which, took * 1000, host);
  return 0;
}

/* Both children in one stream of the thread's, the second behind an event of the first; each node's number from its heap. */
__global__ void tree(int node, int depth, unsigned long long *sum, int *bad)
{
  int *number, device = -1;
  cudaStream_t s;
  if (cudaMalloc(&number, sizeof *number) != cudaSuccess) { atomicAdd(bad, 1); return; }
  *number = node;
  if (!depth) atomicAdd(sum, (unsigned long long)*number);
  if (cudaFree(number) != cudaSuccess || cudaGetDevice(&device) != cudaSuccess || device != 0) atomicAdd(bad, 1);
  if (!depth) return;
  if (cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) != cudaSuccess) atomicAdd(bad, 1);
  for (int i = 0; i < 2; i++) tree<<<1, 1, 0, s>>>(2 * node + i, depth - 1, sum, bad);
  tree<<<1, 2048, 0, s>>>(0, 0, sum, bad); /* too large */
  if (cudaGetLastError() != cudaErrorInvalidConfiguration || cudaGetLastError() != cudaSuccess) atomicAdd(bad, 1);
  if (cudaStreamDestroy(s) != cudaSuccess) atomicAdd(bad, 1);
}

static int grow(int which, const struct start *s, int depth)
{
  unsigned long long *sum, host = 0, want = 0;
  int *bad, faults = -1;
  CHECK(cudaMalloc(&sum, sizeof *sum));
  CHECK(cudaMalloc(&bad, sizeof *bad));
  CHECK(cudaMemset(sum, 0, sizeof *sum));
  CHECK(cudaMemset(bad, 0, sizeof *bad));
  CHECK(cudaDeviceSynchronize());
  meet(s);
  tree<<<1, 1>>>(which + 1, depth, sum, bad);
  CHECK(cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&faults, bad, sizeof faults, cudaMemcpyDeviceToHost));
  for (unsigned long long i = 0, n = 1ull << depth; i < n; i++) want += n * (which + 1) + i;
  printf("%d: %s, %d wrong\n", which, host == want ? "sum right" : "sum wrong", faults);
  return 0;
}

__global__ void call(void)
{
  for (int value;;) cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0);
}

static int killed(int which, const struct start *s)
{
  if (which == 0) {
    CHECK(cudaDeviceSynchronize());
    meet(s);
    call<<<1, 1>>>();
    const pid_t me = getpid();
    if (fork() == 0) { /* while it waits */
      usleep(500 * 1000);
      kill(me, SIGKILL);
      _exit(0);
    }
    CHECK(cudaDeviceSynchronize());
    return 1;
  }
  return spin_for(which, s, 8, 10, 1000 * 1000);
}

__global__ void tell(volatile int *flag, int value) { *flag = value; }

__global__ void await(volatile int *flag, int value)
{
  tell<<<1, 1>>>(flag, value);
  while (*flag != value) continue;
  *flag += value;
}

static int wait_for_child(int which, const struct start *s)
{
  int *flag, host = 0;
  CHECK(cudaMalloc(&flag, sizeof *flag));
  CHECK(cudaMemset(flag, 0, sizeof *flag));
  CHECK(cudaDeviceSynchronize());
  meet(s);
  await<<<1, 1>>>(flag, 7 + which);
  CHECK(cudaMemcpy(&host, flag, sizeof host, cudaMemcpyDeviceToHost));
  printf("%d: %d\n", which, host);
  return 0;
}

int main(int argc, char **argv)
{
  const std::string what = argc > 1 ? argv[1] : "";
  const int n = argc > 2 ? atoi(argv[2]) : 0, x = argc > 3 ? atoi(argv[3]) : 0;
  const double us = argc > 4 ? atof(argv[4]) : 0;
  if (what == "spin") return processes(n, [=](int i, const struct start *s) { return spin_for(i, s, x, us); });
  if (what == "tree") return processes(n, [=](int i, const struct start *s) { return grow(i, s, x); });
  if (what == "wait") return processes(n, wait_for_child);
  if (what == "killed") return !processes(2, killed); /* one of them did not end well */
  return 2;
}
