// Managed, pinned, mapped and registered memory: one pointer for host and device, or two.
#include "check.h"
#include <vector>

struct node {
  node *next;
  int value;
};

__global__ void twice(int *p, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] *= 2;
}

__global__ void sum_list(const node *at, int *out)
{
  for (*out = 0; at; at = at->next) *out += at->value;
}

int main()
{
  const int n = 1000;
  int *m, *pinned, *mapped, *device;
  cudaPointerAttributes a;

  CUDA(cudaMallocManaged(&m, n * 4));
  for (int i = 0; i < n; i++) m[i] = i;
  CUDA(cudaMemPrefetchAsync(m, n * 4, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0));
  twice<<<4, 256>>>(m, n);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; i++) CHECK(m[i] == 2 * i);
  CUDA(cudaPointerGetAttributes(&a, m + 5));
  CHECK(a.type == cudaMemoryTypeManaged && a.devicePointer == m + 5 && a.hostPointer == m + 5);

  // a list built by the host, walked by the device
  node *list[10];
  for (int i = 0; i < 10; i++) {
    CUDA(cudaMallocManaged(&list[i], sizeof(node)));
    list[i]->value = i * i;
    list[i]->next = i ? list[i - 1] : nullptr;
  }
  sum_list<<<1, 1>>>(list[9], m);
  CUDA(cudaDeviceSynchronize());
  CHECK(m[0] == 285);

  CUDA(cudaHostAlloc(&mapped, n * 4, cudaHostAllocMapped));
  for (int i = 0; i < n; i++) mapped[i] = 3 * i;
  CUDA(cudaHostGetDevicePointer(&device, mapped, 0));
  twice<<<4, 256>>>(device, n);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; i++) CHECK(mapped[i] == 6 * i);
  CUDA(cudaPointerGetAttributes(&a, mapped));
  CHECK(a.type == cudaMemoryTypeHost);

  CUDA(cudaMallocHost(&pinned, n * 4));
  CUDA(cudaMalloc(&device, n * 4));
  for (int i = 0; i < n; i++) pinned[i] = -i;
  CUDA(cudaMemcpy(device, pinned, n * 4, cudaMemcpyDefault));
  twice<<<4, 256>>>(device, n);
  CUDA(cudaMemcpy(pinned, device, n * 4, cudaMemcpyDefault));
  for (int i = 0; i < n; i++) CHECK(pinned[i] == -2 * i);

  // the program's own memory, at any address
  std::vector<int> own(n + 3, 1);
  int *inside = own.data() + 1;
  CUDA(cudaHostRegister(inside, n * 4, cudaHostRegisterMapped));
  CHECK(cudaHostRegister(inside + 1, 4, 0) == cudaErrorHostMemoryAlreadyRegistered);
  CUDA(cudaHostGetDevicePointer(&device, inside, 0));
  for (int round = 1; round <= 3; round++) {
    inside[0] = 5; // between launches the host's changes count
    twice<<<4, 256>>>(device, n);
    CUDA(cudaDeviceSynchronize());
    CHECK(inside[0] == 10);
    for (int i = 1; i < n; i++) CHECK(inside[i] == 1 << round);
  }
  CHECK(own[0] == 1 && own[n + 1] == 1);
  CUDA(cudaMemset(device, 0, 8));
  CHECK(inside[0] == 0 && inside[1] == 0 && inside[2] == 8);
  CUDA(cudaHostUnregister(inside));
  CHECK(cudaHostUnregister(inside) == cudaErrorHostMemoryNotRegistered);

  CUDA(cudaPointerGetAttributes(&a, own.data()));
  CHECK(a.type == cudaMemoryTypeUnregistered);
  CUDA(cudaFree(m));
  CUDA(cudaFreeHost(mapped));
  CUDA(cudaFreeHost(pinned));
}
