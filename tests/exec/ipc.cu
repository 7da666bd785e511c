// Memory and events of another process: handles through a socket, descriptors of memory and of a pool with them.
#include "check.h"
#include <cuda.h>
#include <cstring>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#define DRIVER(call) CHECK((call) == CUDA_SUCCESS)

const int N = 3 << 20; // ints: several pages, neither beginning nor ending on one

struct message {
  cudaIpcMemHandle_t memory, small;
  cudaIpcEventHandle_t event, late;
  cudaMemPoolPtrExportData pooled;
};

static void send_all(int socket, const void *data, size_t bytes, const int *fds, int n)
{
  char control[CMSG_SPACE(2 * sizeof(int))] = {};
  iovec io = { const_cast<void *>(data), bytes };
  msghdr m = {};
  m.msg_iov = &io, m.msg_iovlen = 1;
  if (n) {
    m.msg_control = control, m.msg_controllen = CMSG_SPACE(n * sizeof(int));
    cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(n * sizeof(int));
    memcpy(CMSG_DATA(c), fds, n * sizeof(int));
  }
  CHECK(sendmsg(socket, &m, 0) == (ssize_t)bytes);
}

static void receive_all(int socket, void *data, size_t bytes, int *fds, int n)
{
  char control[CMSG_SPACE(2 * sizeof(int))] = {};
  iovec io = { data, bytes };
  msghdr m = {};
  m.msg_iov = &io, m.msg_iovlen = 1;
  m.msg_control = control, m.msg_controllen = sizeof control;
  CHECK(recvmsg(socket, &m, MSG_WAITALL) == (ssize_t)bytes);
  if (n) memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&m)), n * sizeof(int));
}

__global__ void add(int *p, int n, int v)
{
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) p[i] += v;
}

__global__ void iota(int *p, int n)
{
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) p[i] = i;
}

static void check_all(const int *p, int n, int first, int step)
{
  std::vector<int> h(n);
  CUDA(cudaMemcpy(h.data(), p, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) CHECK(h[i] == first + step * i);
}

static CUdeviceptr map(CUmemGenericAllocationHandle h, size_t bytes)
{
  CUdeviceptr p;
  CUmemAccessDesc access = { { CU_MEM_LOCATION_TYPE_DEVICE, 0 }, CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
  DRIVER(cuMemAddressReserve(&p, bytes, 0, 0, 0));
  DRIVER(cuMemMap(p, bytes, 0, h, 0));
  DRIVER(cuMemSetAccess(p, bytes, &access, 1));
  return p;
}

__global__ void hold(const volatile int *flag)
{
  while (!*flag) continue;
}

// Opens what the parent shares, adds to all of it, and shares something itself.
static int child(int socket)
{
  message m;
  int fds[2], *p, *again, *small, *pooled, *own;
  char word = 0;
  receive_all(socket, &m, sizeof m, fds, 2);

  CUDA(cudaIpcOpenMemHandle((void **)&p, m.memory, cudaIpcMemLazyEnablePeerAccess));
  CUDA(cudaIpcOpenMemHandle((void **)&again, m.memory, cudaIpcMemLazyEnablePeerAccess));
  CHECK(again == p);
  CUDA(cudaIpcOpenMemHandle((void **)&small, m.small, cudaIpcMemLazyEnablePeerAccess));
  cudaPointerAttributes a;
  CUDA(cudaPointerGetAttributes(&a, p));
  CHECK(a.type == cudaMemoryTypeDevice);
  cudaEvent_t event, late;
  CUDA(cudaIpcOpenEventHandle(&late, m.late)); /* was recorded before it was exported, behind what waits for the parent */
  CHECK(cudaEventQuery(late) == cudaErrorNotReady);
  send_all(socket, &word, 1, NULL, 0);
  CUDA(cudaEventSynchronize(late));
  CUDA(cudaIpcOpenEventHandle(&event, m.event));
  CUDA(cudaStreamWaitEvent(0, event, 0));
  check_all(p, N, 0, 1);
  add<<<100, 256>>>(p, N, 5);
  add<<<1, 32>>>(small, 10, 70);
  CUDA(cudaEventRecord(event));
  CUDA(cudaEventSynchronize(event));

  CUmemGenericAllocationHandle h;
  DRIVER(cuMemImportFromShareableHandle(&h, (void *)(uintptr_t)fds[0], CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  CUdeviceptr mapped = map(h, 2 << 20);
  add<<<1, 256>>>((int *)mapped, 1000, -3);

  cudaMemPool_t pool;
  CUDA(cudaMemPoolImportFromShareableHandle(&pool, (void *)(uintptr_t)fds[1], cudaMemHandleTypePosixFileDescriptor, 0));
  CUDA(cudaMemPoolImportPointer((void **)&pooled, pool, &m.pooled));
  close(fds[0]), close(fds[1]);
  CHECK(cudaMallocFromPoolAsync(&again, 4, pool, 0) == cudaErrorInvalidValue);
  add<<<1, 256>>>(pooled, 1000, 9);
  CUDA(cudaFreeAsync(pooled, 0));
  memset(&m.pooled, 0, sizeof m.pooled);
  CHECK(cudaMemPoolImportPointer((void **)&pooled, pool, &m.pooled) == cudaErrorInvalidValue);

  CUDA(cudaMalloc(&own, N * sizeof(int)));
  iota<<<100, 256>>>(own, N);
  CUDA(cudaIpcGetMemHandle(&m.memory, own));
  CUDA(cudaDeviceSynchronize());
  send_all(socket, &m, sizeof m, NULL, 0);
  receive_all(socket, &word, 1, NULL, 0);
  check_all(own, N, 1000, 1); /* the parent added to it */

  CUDA(cudaIpcCloseMemHandle(p));
  check_all(p, 1, 5, 1); /* it was opened twice */
  CUDA(cudaIpcCloseMemHandle(p));
  CHECK(cudaIpcCloseMemHandle(p) == cudaErrorInvalidValue);
  CHECK(cudaFree(small) == cudaErrorInvalidValue);
  CHECK(cudaFreeAsync(small, 0) == cudaErrorInvalidValue);
  CUDA(cudaIpcCloseMemHandle(small));
  return 0;
}

int main(int argc, char **argv)
{
  if (argc > 1) return child(atoi(argv[1]));
  int sockets[2], fds[2], *before, *p, *small, *after, *theirs;
  message m;
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
  pid_t pid = fork();
  if (pid == 0) {
    char text[16];
    snprintf(text, sizeof text, "%d", sockets[1]);
    execl("/proc/self/exe", argv[0], text, (char *)NULL);
    _exit(127);
  }

  int ipc_events, descriptors;
  CUDA(cudaDeviceGetAttribute(&ipc_events, cudaDevAttrIpcEventSupport, 0));
  CUDA(cudaDeviceGetAttribute(&descriptors, cudaDevAttrMemoryPoolSupportedHandleTypes, 0));
  CHECK(ipc_events == 1 && (descriptors & cudaMemHandleTypePosixFileDescriptor));

  CUDA(cudaMalloc(&before, 1000 * sizeof(int))); /* neighbours on the same pages */
  CUDA(cudaMalloc(&p, N * sizeof(int)));
  CUDA(cudaMalloc(&small, 10 * sizeof(int)));
  CUDA(cudaMalloc(&after, 1000 * sizeof(int)));
  iota<<<1, 256>>>(before, 1000);
  iota<<<100, 256>>>(p, N);
  iota<<<1, 256>>>(after, 1000);
  CUDA(cudaIpcGetMemHandle(&m.memory, p));
  CUDA(cudaIpcGetMemHandle(&m.small, small));
  iota<<<1, 32>>>(small, 10);
  CHECK(cudaIpcOpenMemHandle((void **)&theirs, m.memory, cudaIpcMemLazyEnablePeerAccess) == cudaErrorDeviceUninitialized);

  cudaEvent_t event, plain;
  CHECK(cudaEventCreateWithFlags(&event, cudaEventInterprocess) == cudaErrorInvalidValue);
  CUDA(cudaEventCreate(&plain));
  CHECK(cudaIpcGetEventHandle(&m.event, plain) == cudaErrorInvalidResourceHandle);
  CUDA(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
  CUDA(cudaEventRecord(event));
  CUDA(cudaIpcGetEventHandle(&m.event, event));

  CUmemAllocationProp props = {};
  props.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 };
  CUmemGenericAllocationHandle h, closed;
  DRIVER(cuMemCreate(&closed, 2 << 20, &props, 0));
  CHECK(cuMemExportToShareableHandle(fds, closed, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0) == CUDA_ERROR_INVALID_VALUE);
  props.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  DRIVER(cuMemCreate(&h, 2 << 20, &props, 0));
  DRIVER(cuMemExportToShareableHandle(&fds[0], h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CUdeviceptr mapped = map(h, 2 << 20);
  iota<<<1, 256>>>((int *)mapped, 1000);

  cudaMemPool_t pool;
  cudaMemPoolProps pool_props = {};
  pool_props.allocType = cudaMemAllocationTypePinned;
  pool_props.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  pool_props.location = { cudaMemLocationTypeDevice, 0 };
  CUDA(cudaMemPoolCreate(&pool, &pool_props));
  CUDA(cudaMemPoolExportToShareableHandle(&fds[1], pool, cudaMemHandleTypePosixFileDescriptor, 0));
  int *pooled;
  CUDA(cudaMallocFromPoolAsync(&pooled, 1000 * sizeof(int), pool, 0));
  iota<<<1, 256>>>(pooled, 1000);
  CUDA(cudaMemPoolExportPointer(&m.pooled, pooled));
  CHECK(cudaMemPoolExportPointer(&m.pooled, p) == cudaErrorInvalidValue);
  CUDA(cudaDeviceSynchronize());

  cudaStream_t other;
  cudaEvent_t late;
  int *flag;
  char word;
  CUDA(cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped));
  *flag = 0;
  CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  CUDA(cudaEventCreateWithFlags(&late, cudaEventInterprocess | cudaEventDisableTiming));
  hold<<<1, 1, 0, other>>>(flag);
  CUDA(cudaEventRecord(late, other));
  CUDA(cudaIpcGetEventHandle(&m.late, late));

  send_all(sockets[0], &m, sizeof m, fds, 2);
  close(fds[0]), close(fds[1]), close(sockets[1]);
  receive_all(sockets[0], &word, 1, NULL, 0);
  *(volatile int *)flag = 1;
  receive_all(sockets[0], &m, sizeof m, NULL, 0);
  CUDA(cudaStreamWaitEvent(0, event, 0));
  check_all(p, N, 5, 1);
  check_all(small, 10, 70, 1);
  check_all((int *)mapped, 1000, -3, 1);
  check_all(pooled, 1000, 9, 1);
  check_all(before, 1000, 0, 1);
  check_all(after, 1000, 0, 1);

  CUDA(cudaIpcOpenMemHandle((void **)&theirs, m.memory, cudaIpcMemLazyEnablePeerAccess));
  add<<<100, 256>>>(theirs, N, 1000);
  CUDA(cudaDeviceSynchronize());
  send_all(sockets[0], "x", 1, NULL, 0);
  int status = 1;
  CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  check_all(theirs, N, 1000, 1); /* memory stays while it is open */
  CUDA(cudaIpcCloseMemHandle(theirs));
  CHECK(cudaIpcOpenMemHandle((void **)&theirs, m.memory, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess);
  CUDA(cudaFree(p));
}
