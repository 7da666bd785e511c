// How a process ends, and what its children have: the ways of docs/sharing.md, "Several processes".
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

__global__ void fill(int *p, int v)
{
  p[threadIdx.x] = v + threadIdx.x;
}

static bool works(int v)
{
  int *p, got[64];
  if (cudaMalloc(&p, sizeof got) != cudaSuccess) return false;
  fill<<<1, 64>>>(p, v);
  if (cudaMemcpy(got, p, sizeof got, cudaMemcpyDeviceToHost) != cudaSuccess) return false;
  for (int i = 0; i < 64; i++)
    if (got[i] != v + i) return false;
  return cudaFree(p) == cudaSuccess;
}

// The error of the runtime's calls in a forked child, as its status.
static int in_child(void)
{
  int status, n;
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    if (cudaGetDeviceCount(&n) == cudaSuccess) _exit(works(3) ? 0 : 99);
    int *p;
    const cudaError_t r = cudaMalloc(&p, 4);
    fill<<<1, 1>>>(p, 0);
    if (cudaGetLastError() != r || cudaDeviceSynchronize() != r) _exit(98);
    exit(r);
  }
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// A child may have the GPU where its parent has had no CUDA so far; behind that it has none, and both go on.
static int forks()
{
  if (in_child() != 0 || !works(5)) return 1;
  for (int i = 0; i < 3; i++)
    if (in_child() != cudaErrorInitializationError || !works(i)) return 2;
  return 0;
}

// CUDA comes up in one thread while another one forks: a child is of before or of behind it, and does not wait.
static int early_forks()
{
  std::thread t([] { works(1); });
  int bad = 0;
  for (int i = 0; i < 20; i++) {
    const int r = in_child();
    bad += r != 0 && r != cudaErrorInitializationError;
  }
  t.join();
  return bad;
}

// A child that its parent ends, idle or at work, is dead of the signal.
__global__ void endless(volatile int *p)
{
  while (*p == 0) continue;
}

static int killed(bool busy)
{
  int ready[2], status;
  char c;
  if (pipe(ready)) return 1;
  const pid_t child = fork();
  if (child == 0) {
    int *p;
    if (!works(4) || cudaMalloc(&p, 4) || cudaMemset(p, 0, 4) || write(ready[1], "r", 1) != 1) _exit(1);
    if (busy) endless<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    for (;;) pause();
  }
  close(ready[1]);
  if (read(ready[0], &c, 1) != 1) return 2;
  usleep(100000);
  kill(child, SIGTERM);
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM ? 0 : 3;
}

// The thread that began the process has ended, and with it what /proc/self shows.
static int first_thread_ends()
{
  std::thread([] {
    usleep(50000);
    exit(works(7) ? 0 : 1);
  }).detach();
  pthread_exit(nullptr);
}

int main(int argc, char **argv)
{
  const char *how = argc > 1 ? argv[1] : "";
  alarm(200);
  if (!strcmp(how, "forks")) return forks();
  if (!strcmp(how, "early")) return early_forks();
  if (!strcmp(how, "killed")) return killed(false) || killed(true) || !works(6);
  if (!strcmp(how, "first")) return first_thread_ends();
  if (!works(2)) return 1;
  if (!strcmp(how, "chain")) { // its own handler calls what was there before, with what it knows
    static void (*before)(int);
    before = signal(SIGTERM, [](int n) { before(n); });
    raise(SIGTERM);
    for (;;) pause();
  }
  if (!strcmp(how, "called")) { // by a function of a stream
    cudaLaunchHostFunc(0, [](void *) { raise(SIGTERM); }, nullptr);
    cudaDeviceSynchronize();
  }
  if (!strcmp(how, "_exit")) _exit(7);
  if (!strcmp(how, "_Exit")) std::thread([] { _Exit(7); }).join();
  if (!strcmp(how, "quick_exit")) quick_exit(7);
  if (!strcmp(how, "throw")) throw 7;
  if (!strcmp(how, "alarmed")) { // in the middle of anything
    signal(SIGALRM, [](int) { _exit(7); });
    ualarm(20000, 0);
    for (;;) free(malloc(100));
  }
  if (!strcmp(how, "raise")) raise(atoi(argv[2]));
  if (!strcmp(how, "kill")) kill(getpid(), atoi(argv[2]));
  abort(); // reached by "abort" alone
}
