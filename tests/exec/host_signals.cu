// Signals that functions of the program raise while a stream calls them (cudaLaunchHostFunc, cudaStreamAddCallback) are handled
// before `raise` returns, those that the program had blocked stay blocked, and one that nobody handles ends the process.
#include "check.h"
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t handled;
static int seen_inside, blocked_inside;

static void handler(int) { handled = handled + 1; }

static void CUDART_CB raises(void *)
{
  raise(SIGUSR1);
  raise(SIGTERM);
  seen_inside = handled;
  raise(SIGUSR2); // blocked by the thread that gave this function
  blocked_inside = handled;
}

static void CUDART_CB ends(void *) { raise(SIGTERM); }

static void inside()
{
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  signal(SIGUSR1, handler), signal(SIGTERM, handler), signal(SIGUSR2, handler);
  sigprocmask(SIG_BLOCK, &blocked, nullptr);
  cudaStream_t s;
  CUDA(cudaStreamCreate(&s));
  CUDA(cudaLaunchHostFunc(s, raises, nullptr));
  CUDA(cudaStreamSynchronize(s));
  CHECK(seen_inside == 2);
  CHECK(blocked_inside == 2);
}

static void unhandled()
{
  pid_t child = fork(); // before CUDA comes up
  int status;
  if (child == 0) {
    signal(SIGTERM, SIG_DFL);
    cudaStream_t s;
    CUDA(cudaStreamCreate(&s));
    CUDA(cudaLaunchHostFunc(s, ends, nullptr));
    cudaStreamSynchronize(s);
    _exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

int main()
{
  unhandled();
  inside();
  puts("host_signals: all right");
  return 0;
}
