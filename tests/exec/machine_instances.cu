// Instances of GPUs of a machine (--machine dgx-a100 --mig 1:3g.40gb,1g.10gb,3:1g.10gb): NVML sees all GPUs, two of them cut;
// a process sees one instance and no GPU beside it, or whole GPUs (NVIDIA's MIG user guide, "CUDA Device Enumeration"). The
// same profile takes the same time on either GPU. Each child is this program again.
#include <cstring>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "nvml_calls.h"

enum { GPUS = 8, N = 3, NOT_FOUND = 6 };
static const struct { unsigned gpu, number; } wanted[N] = {{1, 0}, {1, 1}, {3, 0}};
static std::string uuid[N], gpu_uuid[GPUS];

static void nvml()
{
  unsigned n, current, pending, of[GPUS] = {};
  nvmlDevice_t gpu[GPUS], mig, again;
  char text[96];
  CHECK(nvmlInit_v2() == 0 && nvmlDeviceGetCount_v2(&n) == 0 && n == GPUS);
  for (unsigned i = 0; i < GPUS; i++) {
    CHECK(nvmlDeviceGetHandleByIndex_v2(i, &gpu[i]) == 0 && nvmlDeviceGetUUID(gpu[i], text, sizeof text) == 0);
    gpu_uuid[i] = text;
  }
  for (unsigned i = 0; i < N; i++) {
    const unsigned g = wanted[i].gpu;
    CHECK(nvmlDeviceGetMigDeviceHandleByIndex(gpu[g], wanted[i].number, &mig) == 0);
    CHECK(nvmlDeviceGetDeviceHandleFromMigDeviceHandle(mig, &again) == 0 && again == gpu[g]);
    CHECK(nvmlDeviceGetUUID(mig, text, sizeof text) == 0 && nvmlDeviceGetHandleByUUID(text, &again) == 0 && again == mig);
    uuid[i] = text;
    of[g]++;
  }
  for (unsigned i = 0; i < GPUS; i++) {
    CHECK(nvmlDeviceGetMigMode(gpu[i], &current, &pending) == 0 && current == (of[i] > 0) && pending == current);
    CHECK(nvmlDeviceGetMigDeviceHandleByIndex(gpu[i], of[i], &mig) == NOT_FOUND);
  }
}

__global__ void read(const float4 *from, float *to, int n)
{
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += from[i].x + from[i].w;
  to[blockIdx.x * blockDim.x + threadIdx.x] = s;
}

struct answer {
  int devices, peers, sms, bus, ns; // of device 0: SMs, PCI bus, ns for 2 MiB
  char name[128];
};

static void measure(answer *a)
{
  cudaDeviceProp p;
  cudaEvent_t begin, over;
  float4 *from;
  float *to, ms;
  enum { MIB = 1 << 20 };
  if (cudaGetDeviceCount(&a->devices) != cudaSuccess || a->devices == 0) return;
  if (a->devices > 1) CUDA(cudaDeviceCanAccessPeer(&a->peers, 0, 1));
  CUDA(cudaGetDeviceProperties(&p, 0));
  strcpy(a->name, p.name);
  a->sms = p.multiProcessorCount;
  a->bus = p.pciBusID;
  CUDA(cudaMalloc(&from, 2 * MIB));
  CUDA(cudaMalloc(&to, 1 * MIB));
  CUDA(cudaEventCreate(&begin));
  CUDA(cudaEventCreate(&over));
  CUDA(cudaEventRecord(begin));
  read<<<p.multiProcessorCount, 512>>>(from, to, 2 * MIB / 16);
  CUDA(cudaEventRecord(over));
  CUDA(cudaEventSynchronize(over));
  CUDA(cudaEventElapsedTime(&ms, begin, over));
  a->ns = (int)(ms * 1e6f);
}

static answer one(const char *visible)
{
  int fd[2], status = 0;
  answer a = {};
  CHECK(pipe(fd) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(fd[1], 3);
    if (visible) setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    execl("/proc/self/exe", "machine_instances", "child", (char *)NULL);
    _exit(1);
  }
  close(fd[1]);
  CHECK(read(fd[0], &a, sizeof a) == sizeof a);
  close(fd[0]);
  waitpid(child, &status, 0);
  CHECK(status == 0);
  return a;
}

static bool is_of(const answer &a, const answer &b)
{
  return a.devices == 1 && !strcmp(a.name, b.name) && a.sms == b.sms && a.bus == b.bus && a.ns == b.ns;
}

int main(int argc, char **argv)
{
  if (argc > 1) {
    answer a = {};
    measure(&a);
    return write(3, &a, sizeof a) != sizeof a;
  }
  nvml_load();
  nvml();
  answer of[N];
  const int sms[N] = {42, 14, 14}; // the guide's table of an A100
  for (unsigned i = 0; i < N; i++) {
    of[i] = one(uuid[i].c_str());
    CHECK(of[i].devices == 1 && of[i].sms == sms[i] && strstr(of[i].name, i ? "MIG 1g.10gb" : "MIG 3g.40gb"));
  }
  CHECK(of[0].bus == of[1].bus && of[1].bus != of[2].bus && of[1].ns == of[2].ns && of[1].ns > of[0].ns);
  CHECK(is_of(one(NULL), of[0]) && is_of(one("1"), of[0]) && is_of(one("3"), of[2]) && is_of(one("0,3"), of[2]));
  CHECK(is_of(one(("MIG-" + gpu_uuid[1] + "/2/0").c_str()), of[1]) && is_of(one(("2," + uuid[1]).c_str()), of[1]));
  const answer whole = one("2,0");
  CHECK(whole.devices == 2 && whole.peers == 1 && whole.sms == 108 && !strstr(whole.name, "MIG") && whole.ns < of[0].ns);
  CHECK(one(gpu_uuid[1].c_str()).devices == 0 && one(gpu_uuid[0].c_str()).devices == 1);
  puts("machine_instances: ok");
}
