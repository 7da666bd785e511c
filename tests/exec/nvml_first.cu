// A process that has asked NVML alone has not started CUDA: its children that are forked have GPUs, and which of them are visible is read
// when CUDA starts (CUDA programming guide, "Environment variables"; NVML has no context). Python packages ask NVML first for this.
#include "nvml_calls.h"
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

__global__ void fill(int *to)
{
  to[threadIdx.x] = 3 * threadIdx.x + 1;
}

static void use_gpu()
{
  int *on_gpu, got[32];
  CHECK(cudaMalloc(&on_gpu, sizeof got) == cudaSuccess);
  fill<<<1, 32>>>(on_gpu);
  CHECK(cudaMemcpy(got, on_gpu, sizeof got, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (int i = 0; i < 32; i++) CHECK(got[i] == 3 * i + 1);
}

// In a child: of two GPUs the one that it asks for.
static void child(const char *visible)
{
  int n = 0;
  unsigned all = 0;
  setenv("CUDA_VISIBLE_DEVICES", visible, 1);
  CHECK(nvmlDeviceGetCount_v2(&all) == 0 && all == 2);
  CHECK(cudaGetDeviceCount(&n) == cudaSuccess && n == 1);
  use_gpu();
}

static void in_child(const char *visible)
{
  const pid_t pid = fork();
  if (!pid) child(visible), exit(0);
  int status;
  CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main()
{
  unsigned n = 0;
  int seen = 0;
  nvml_load();
  CHECK(nvmlInit_v2() == 0 && nvmlDeviceGetCount_v2(&n) == 0 && n == 2);
  in_child("0");
  in_child("1");
  use_gpu();
  CHECK(cudaGetDeviceCount(&seen) == cudaSuccess && seen == 2);
  const pid_t pid = fork(); // now it is too late
  if (!pid) _exit(cudaFree(0) == cudaErrorInitializationError ? 0 : 1);
  int status;
  CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
