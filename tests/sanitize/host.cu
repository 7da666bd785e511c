/* Planted defects that need a host. `host NAME_bad` has the defect, `host NAME_ok` is right; a second argument says how the process
 * ends (_exit, exec, kill) or that two children do the work (fork). What must be found (run.py):
 *   // host NAME | tool | text of the report */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OK(call)                                                                        \
  do {                                                                                  \
    if ((call) != cudaSuccess) return printf("failed: %s\n", #call), 2;                 \
  } while (0)

__global__ void sum(const unsigned *x, unsigned *y) { y[threadIdx.x] = x[threadIdx.x] + 1; }
__global__ void fill(unsigned *x) { x[threadIdx.x] = threadIdx.x; }

static unsigned *x, *y, *z;

// host use_after_free | memcheck | is inside a freed allocation
static int use_after_free(bool bad)
{
  OK(cudaFree(z));
  sum<<<1, 64>>>(bad ? z : x, y);
  z = nullptr;
  return 0;
}

// host write_after_free | memcheck | Invalid __global__ write of size 4
static int write_after_free(bool bad)
{
  if (!bad) fill<<<1, 64>>>(z);
  OK(cudaFree(z));
  if (bad) fill<<<1, 64>>>(z);
  z = nullptr;
  return 0;
}

// host async_free | memcheck | is inside a freed allocation
static int async_free(bool bad)
{
  unsigned *p;
  OK(cudaMallocAsync(&p, 256, 0));
  if (!bad) fill<<<1, 64>>>(p);
  OK(cudaFreeAsync(p, 0));
  if (bad) fill<<<1, 64>>>(p);
  return 0;
}

// host managed_end | memcheck | bytes after the nearest allocation
static int managed_end(bool bad)
{
  unsigned *m;
  OK(cudaMallocManaged(&m, 256));
  fill<<<1, 64>>>(m + (bad ? 1 : 0));
  OK(cudaDeviceSynchronize());
  OK(cudaFree(m));
  return 0;
}

// host host_pointer | memcheck | Invalid __global__ write of size 4
static int host_pointer(bool bad)
{
  static unsigned on_host[64];
  fill<<<1, 64>>>(bad ? on_host : y);
  return 0;
}

// host never_written | initcheck | Uninitialized __global__ memory read of size 4
static int never_written(bool bad)
{
  if (!bad) fill<<<1, 64>>>(z);
  sum<<<1, 64>>>(z, y);
  return 0;
}

// host part_written | initcheck | by thread (16,0,0) in block (0,0,0)
static int part_written(bool bad)
{
  OK(cudaMemset(z, 0, bad ? 64 : 256));
  sum<<<1, 64>>>(z, y);
  return 0;
}

// host copied_unwritten | initcheck | by thread (32,0,0) in block (0,0,0)
static int copied_unwritten(bool bad)
{
  unsigned *from;
  OK(cudaMalloc(&from, 256));
  OK(cudaMemset(from, 1, bad ? 128 : 256));
  OK(cudaMemcpy(z, from, 256, cudaMemcpyDeviceToDevice));
  sum<<<1, 64>>>(z, y);
  OK(cudaFree(from));
  return 0;
}

// host never_freed | memcheck | Leaked 256 bytes
static int never_freed(bool bad)
{
  if (bad) z = nullptr;
  return 0;
}

static int in_two_children()
{
  for (int i = 0; i < 2; i++)
    if (!fork()) return 1;
  while (wait(nullptr) > 0) continue;
  return 0;
}

int main(int argc, char **argv)
{
  const struct { const char *name; int (*run)(bool); } list[] = {
    {"use_after_free", use_after_free}, {"write_after_free", write_after_free}, {"async_free", async_free},
    {"managed_end", managed_end}, {"host_pointer", host_pointer}, {"never_written", never_written},
    {"part_written", part_written}, {"copied_unwritten", copied_unwritten}, {"never_freed", never_freed},
  };
  const char *end = argc > 2 ? argv[2] : "";
  if (argc < 2) return 2;
  if (!strcmp(end, "none") || (!strcmp(end, "fork") && !in_two_children())) return 0;
  OK(cudaMalloc(&x, 256));
  OK(cudaMalloc(&y, 256));
  OK(cudaMalloc(&z, 256));
  OK(cudaMemset(x, 0, 256));
  for (const auto &c : list) {
    size_t n = strlen(c.name);
    if (strncmp(argv[1], c.name, n) || argv[1][n] != '_') continue;
    if (c.run(!strcmp(argv[1] + n, "_bad"))) return 2;
    OK(cudaDeviceSynchronize());
    if (!strcmp(end, "_exit")) _exit(0);
    if (!strcmp(end, "kill")) raise(SIGKILL);
    if (!strcmp(end, "exec")) execlp("true", "true", nullptr);
    if (z) OK(cudaFree(z));
    OK(cudaFree(y));
    OK(cudaFree(x));
    return 0;
  }
  return 2;
}
