/* Processes that have one GPU in turns (exec --share slices): each runs kernels that spin for as many cycles as it is told, and
 * prints when they ended on the one time axis that all have (%globaltimer, as the GPU goes, and events).
 *
 *   program alone MS                  one process, one kernel of MS milliseconds
 *   program pair MS [MS...]           a process for each, started together; each prints its events' time
 *   program relay MS                  two processes, the second starts its kernel when the first has said so through a pipe
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>
#include <cuda_runtime.h>

#define CHECK(x)                                                                              \
  do {                                                                                        \
    cudaError_t e_ = (x);                                                                     \
    if (e_ != cudaSuccess) { printf("line %d: %s\n", __LINE__, cudaGetErrorString(e_)); exit(1); } \
  } while (0)

__global__ void spin(long long cycles, int *done)
{
  const long long start = clock64();
  while (clock64() - start < cycles) continue;
  *done = 1;
}

static int run(double ms, int which)
{
  int *done, khz, host = 0;
  cudaEvent_t a, b;
  float took;
  CHECK(cudaMalloc(&done, sizeof *done));
  CHECK(cudaMemset(done, 0, sizeof *done));
  CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
  CHECK(cudaEventCreate(&a));
  CHECK(cudaEventCreate(&b));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaEventRecord(a));
  spin<<<1, 32>>>((long long)(ms * khz), done);
  CHECK(cudaEventRecord(b));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaEventElapsedTime(&took, a, b));
  CHECK(cudaMemcpy(&host, done, sizeof host, cudaMemcpyDeviceToHost));
  printf("process %d: %.1f ms, %d\n", which, took, host);
  fflush(stdout);
  return host == 1 ? 0 : 1;
}

static int wait_for(int n)
{
  int bad = 0, status;
  for (int i = 0; i < n; i++) bad |= wait(&status) < 0 || status != 0;
  return bad;
}

static int pair(int n, char **ms)
{
  for (int i = 0; i < n; i++)
    if (fork() == 0) exit(run(atof(ms[i]), i));
  return wait_for(n);
}

static int relay(double ms)
{
  int pipes[2];
  char word = 0;
  if (pipe(pipes) != 0) return 1;
  if (fork() == 0) {
    const int bad = run(ms, 0);
    exit(bad || write(pipes[1], "x", 1) != 1);
  }
  if (fork() == 0) {
    CHECK(cudaFree(0));
    if (read(pipes[0], &word, 1) != 1) exit(1);
    exit(run(ms, 1));
  }
  return wait_for(2);
}

int main(int argc, char **argv)
{
  if (argc == 3 && strcmp(argv[1], "alone") == 0) return run(atof(argv[2]), 0);
  if (argc >= 3 && strcmp(argv[1], "pair") == 0) return pair(argc - 2, argv + 2);
  if (argc == 3 && strcmp(argv[1], "relay") == 0) return relay(atof(argv[2]));
  return 2;
}
