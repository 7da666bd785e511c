// Instances of one A100 beside each other (exec --mig with a list): NVML sees the GPU and all of them, as NVIDIA's MIG user guide
// and the NVML reference say; CUDA sees one, the first or the one that CUDA_VISIBLE_DEVICES names. Processes on two instances
// take the time that each takes alone: they share nothing. Each child is this program again.
#include <cstring>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "nvml_calls.h"

enum { SUCCESS = 0, INVALID = 2, NOT_FOUND = 6 };

// The guide's table of an A100 40GB: SMs as nvidia-smi has them, eighths of memory, slices of SMs, copy engines.
static const struct { const char *profile; int sms, eighths; unsigned slices, engines; } wanted[] = {
    {"3g.20gb", 42, 4, 3, 3}, {"2g.10gb", 28, 2, 2, 2}, {"1g.5gb", 14, 1, 1, 1}, {"1g.5gb", 14, 1, 1, 1}};
enum { N = 4 };

static std::string uuid[N], gpu_uuid;

static void nvml()
{
  unsigned n, current = 7, pending = 7;
  nvmlDevice_t gpu, again, mig[N];
  char text[96];
  unsigned long long memory[3];
  CHECK(nvmlInit_v2() == SUCCESS);
  CHECK(nvmlDeviceGetCount_v2(&n) == SUCCESS && n == 1);
  CHECK(nvmlDeviceGetHandleByIndex_v2(0, &gpu) == SUCCESS);
  CHECK(nvmlDeviceGetName(gpu, text, sizeof text) == SUCCESS && !strstr(text, "MIG") && strstr(text, "NVIDIA A100"));
  CHECK(nvmlDeviceGetMemoryInfo(gpu, memory) == SUCCESS && memory[0] == 40ull << 30);
  CHECK(nvmlDeviceGetMigMode(gpu, &current, &pending) == SUCCESS && current == 1 && pending == 1);
  CHECK(nvmlDeviceGetMaxMigDeviceCount(gpu, &n) == SUCCESS && n == 7);
  CHECK(nvmlDeviceIsMigDeviceHandle(gpu, &n) == SUCCESS && n == 0);
  CHECK(nvmlDeviceGetUUID(gpu, text, sizeof text) == SUCCESS && !strncmp(text, "GPU-", 4));
  gpu_uuid = text;
  for (unsigned i = 0; i < N; i++) {
    CHECK(nvmlDeviceGetMigDeviceHandleByIndex(gpu, i, &mig[i]) == SUCCESS);
    CHECK(nvmlDeviceIsMigDeviceHandle(mig[i], &n) == SUCCESS && n == 1);
    CHECK(nvmlDeviceGetDeviceHandleFromMigDeviceHandle(mig[i], &again) == SUCCESS && again == gpu);
    CHECK(nvmlDeviceGetName(mig[i], text, sizeof text) == SUCCESS);
    CHECK(std::string(text) == std::string("NVIDIA A100-PCIE-40GB MIG ") + wanted[i].profile);
    CHECK(nvmlDeviceGetUUID(mig[i], text, sizeof text) == SUCCESS && !strncmp(text, "MIG-", 4) && strlen(text) == 40);
    uuid[i] = text;
    for (unsigned k = 0; k < i; k++) CHECK(uuid[k] != uuid[i]);
    CHECK(nvmlDeviceGetHandleByUUID(text, &again) == SUCCESS && again == mig[i]);
    CHECK(nvmlDeviceGetMemoryInfo(mig[i], memory) == SUCCESS && memory[0] == (40ull << 30) * wanted[i].eighths / 8);
    CHECK(nvmlDeviceGetGpuInstanceId(mig[i], &n) == SUCCESS && nvmlDeviceGetComputeInstanceId(mig[i], &n) == SUCCESS && n == 0);
    struct {
      unsigned sms, copy, decoders, encoders, jpeg, ofa, gpu_slices, compute_slices;
      unsigned long long mb;
    } a;
    CHECK(nvmlDeviceGetAttributes_v2(mig[i], &a) == SUCCESS && a.sms == (unsigned)wanted[i].sms && a.copy == wanted[i].engines);
    CHECK(a.gpu_slices == wanted[i].slices && a.compute_slices == wanted[i].slices && a.mb == 40960ull * wanted[i].eighths / 8);
    CHECK(nvmlDeviceGetCurrPcieLinkWidth(mig[i], &n) == INVALID); // of GPUs alone
  }
  CHECK(nvmlDeviceGetMigDeviceHandleByIndex(gpu, N, &again) == NOT_FOUND);
  CHECK(nvmlDeviceGetMigDeviceHandleByIndex(gpu, 7, &again) == INVALID);
  CHECK(nvmlDeviceGetMigDeviceHandleByIndex(mig[0], 0, &again) == INVALID);
  CHECK(nvmlDeviceGetGpuInstanceId(gpu, &n) == INVALID);
}

__global__ void read(const float4 *from, float *to, int n)
{
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += from[i].x + from[i].w;
  to[blockIdx.x * blockDim.x + threadIdx.x] = s;
}

// In a child: what its instance takes to read 8 MiB, ns; -1: it sees no device. `text`: how it names itself.
static int measure(char *name)
{
  int n = 0;
  if (cudaGetDeviceCount(&n) != cudaSuccess || n == 0) return -1;
  CHECK(n == 1);
  cudaDeviceProp p;
  CUDA(cudaGetDeviceProperties(&p, 0));
  strcpy(name, p.name);
  float4 *from;
  float *to;
  enum { MIB = 1 << 20 };
  CUDA(cudaMalloc(&from, 8 * MIB));
  CUDA(cudaMalloc(&to, 4 * MIB));
  cudaEvent_t a, b;
  CUDA(cudaEventCreate(&a));
  CUDA(cudaEventCreate(&b));
  CUDA(cudaEventRecord(a));
  read<<<2 * p.multiProcessorCount, 512>>>(from, to, 8 * MIB / 16);
  CUDA(cudaEventRecord(b));
  CUDA(cudaEventSynchronize(b));
  float ms;
  CUDA(cudaEventElapsedTime(&ms, a, b));
  return (int)(ms * 1e6f);
}

struct answer {
  int ns;
  char name[128];
};

struct child {
  pid_t pid;
  int fd;
};

static child start(const char *visible)
{
  int fd[2];
  CHECK(pipe(fd) == 0);
  child c = {fork(), fd[0]};
  if (c.pid == 0) {
    dup2(fd[1], 3);
    if (visible) setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    execl("/proc/self/exe", "instances", "child", (char *)NULL);
    _exit(1);
  }
  close(fd[1]);
  return c;
}

static answer end(const child &c)
{
  answer a = {};
  int status = 0;
  CHECK(read(c.fd, &a, sizeof a) == sizeof a);
  close(c.fd);
  waitpid(c.pid, &status, 0);
  CHECK(status == 0);
  return a;
}

static answer one(const char *visible)
{
  return end(start(visible));
}

int main(int argc, char **argv)
{
  if (argc > 1) {
    answer a = {};
    a.ns = measure(a.name);
    return write(3, &a, sizeof a) != sizeof a;
  }
  nvml_load();
  nvml();
  const std::string end_of[N] = {"MIG 3g.20gb", "MIG 2g.10gb", "MIG 1g.5gb", "MIG 1g.5gb"};
  int alone[N];
  for (unsigned i = 0; i < N; i++) {
    const answer a = one(uuid[i].c_str());
    alone[i] = a.ns;
    CHECK(a.ns > 0 && std::string(a.name).find(end_of[i]) != std::string::npos);
  }
  CHECK(alone[2] == alone[3]);
  CHECK(alone[2] > 1.5 * alone[1] && alone[1] > 1.5 * alone[0]); // DRAM's rate is 1, 2 and 4 eighths
  // By other names: the first without any, by number, by the beginning of its UUID, as older drivers have it; one of several that are named.
  CHECK(std::string(one(NULL).name).find(end_of[0]) != std::string::npos);
  CHECK(std::string(one("0").name).find(end_of[0]) != std::string::npos);
  CHECK(std::string(one(("MIG-" + gpu_uuid + "/2/0").c_str()).name).find(end_of[1]) != std::string::npos);
  CHECK(std::string(one((uuid[1] + "," + uuid[0]).c_str()).name).find(end_of[1]) != std::string::npos);
  CHECK(one("MIG-00000000-0000-0000-0000-000000000000").ns == -1 && one("").ns == -1 && one("1").ns == -1);
  // Two at once.
  const child first = start(uuid[0].c_str()), second = start(uuid[2].c_str());
  const answer a = end(first), b = end(second);
  CHECK(a.ns == alone[0] && b.ns == alone[2]);
  puts("instances: ok");
}
