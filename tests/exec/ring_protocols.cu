// What libraries of collective operations do between GPUs, by programs of our own: an all-reduce round a ring of all GPUs of
// the machine, whose kernels wait for each other's words in peer memory, with the three protocols that NCCL describes:
//
//   lines   LL: 16 bytes hold two words of data and a flag beside each; a volatile store of all 16 carries its own flag
//   blocks  LL128: eight lanes store 128 bytes at once, of which the last 8 are the flag
//   simple  plain stores, a fence for the system, then a step counter
//
// then memory that is exported and imported by a file descriptor and mapped for the peer, pinned memory in which kernels of
// two GPUs meet, and a thread of the host that passes words on between them (a proxy). Sums are computed on the host.
#include <cstdint>
#include <cuda.h>
#include <sched.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "check.h"

#define OK(call)                                                                                          \
  do {                                                                                                    \
    int e_ = (int)(call);                                                                                 \
    if (e_ != 0) {                                                                                        \
      printf("line %d: %s: error %d\n", __LINE__, #call, e_);                                             \
      exit(1);                                                                                            \
    }                                                                                                     \
  } while (0)

enum { MAX_GPUS = 4, SLOTS = 2, THREADS = 96, ROUNDS = 2 };
enum protocol { LINES, BLOCKS, SIMPLE };

// Of one GPU: what its neighbours write.
struct mailbox {
  char *buffer;           // SLOTS slots, by the one before
  unsigned *tail, *head;  // steps that are in the buffer (simple); steps that the one behind has taken
};

struct ring {
  float *data;
  int floats, rank, n; // of a chunk; of the ring
  unsigned first;      // steps of earlier launches
  mailbox mine, next;
  unsigned *head_before; // of the one before: how far I have read
  size_t slot_bytes;
};

__device__ void wait_for(const unsigned *word, unsigned value)
{
  if (threadIdx.x == 0)
    while ((int)(*(volatile const unsigned *)word - value) < 0) {}
  __syncthreads();
}

template <int P> __device__ void send(const ring &r, char *slot, const float *from, unsigned flag)
{
  const int t = threadIdx.x, lane8 = t % 8;
  if (P == LINES)
    for (int i = t; i < r.floats / 2; i += THREADS)
      asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %2};" ::"l"(slot + 16 * i),
                   "r"(__float_as_uint(from[2 * i])), "r"(flag), "r"(__float_as_uint(from[2 * i + 1])) : "memory");
  if (P == BLOCKS) // 30 floats in a block
    for (int b = t / 8; b < r.floats / 30; b += THREADS / 8) {
      uint64_t v[2];
      for (int k = 0; k < 2; k++) {
        const int at = b * 30 + lane8 * 4 + 2 * k;
        v[k] = lane8 == 7 && k ? flag : (uint64_t)__float_as_uint(from[at + 1]) << 32 | __float_as_uint(from[at]);
      }
      asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(slot + 128 * b + 16 * lane8), "l"(v[0]), "l"(v[1]) : "memory");
    }
  if (P == SIMPLE) {
    for (int i = t; i < r.floats; i += THREADS) ((float *)slot)[i] = from[i];
    __syncthreads();
    if (t == 0) {
      __threadfence_system();
      *(volatile unsigned *)r.next.tail = flag;
    }
  }
}

__device__ void take(float *to, uint32_t bits, bool add)
{
  *to = add ? *to + __uint_as_float(bits) : __uint_as_float(bits);
}

template <int P> __device__ void receive(const ring &r, const char *slot, float *to, unsigned flag, bool add)
{
  const int t = threadIdx.x, lane8 = t % 8;
  if (P == LINES)
    for (int i = t; i < r.floats / 2; i += THREADS) {
      uint32_t a, fa, b, fb;
      do asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(fa), "=r"(b), "=r"(fb) : "l"(slot + 16 * i));
      while (fa != flag || fb != flag);
      take(&to[2 * i], a, add);
      take(&to[2 * i + 1], b, add);
    }
  if (P == BLOCKS)
    for (int b = t / 8; b < r.floats / 30; b += THREADS / 8) {
      uint64_t v[2];
      const unsigned mask = __activemask();
      do asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];" : "=l"(v[0]), "=l"(v[1]) : "l"(slot + 128 * b + 16 * lane8));
      while (__any_sync(mask, lane8 == 7 && v[1] != flag)); // all 128 bytes have come with their flag
      for (int k = 0; k < 2 - (lane8 == 7); k++) {
        take(&to[b * 30 + lane8 * 4 + 2 * k], (uint32_t)v[k], add);
        take(&to[b * 30 + lane8 * 4 + 2 * k + 1], (uint32_t)(v[k] >> 32), add);
      }
    }
  if (P == SIMPLE) {
    wait_for(r.mine.tail, flag);
    for (int i = t; i < r.floats; i += THREADS) take(&to[i], ((volatile const uint32_t *)slot)[i], add);
  }
}

// First sums go round, then results.
template <int P> __global__ void all_reduce(ring r)
{
  for (int s = 0; s < 2 * (r.n - 1); s++) {
    const unsigned step = r.first + s;
    const int out = (r.rank - s + 2 * r.n) % r.n, in = (r.rank - s - 1 + 2 * r.n) % r.n;
    wait_for(r.mine.head, step < SLOTS ? 0 : step - SLOTS + 1); // the slot is free
    send<P>(r, r.next.buffer + step % SLOTS * r.slot_bytes, r.data + out * r.floats, step + 1);
    receive<P>(r, r.mine.buffer + step % SLOTS * r.slot_bytes, r.data + in * r.floats, step + 1, s < r.n - 1);
    __syncthreads();
    if (threadIdx.x == 0) *(volatile unsigned *)r.head_before = step + 1;
  }
}

static void launch(const ring &r, protocol p)
{
  if (p == LINES) all_reduce<LINES><<<1, THREADS>>>(r);
  if (p == BLOCKS) all_reduce<BLOCKS><<<1, THREADS>>>(r);
  if (p == SIMPLE) all_reduce<SIMPLE><<<1, THREADS>>>(r);
  OK(cudaGetLastError());
}

static float value(int gpu, int i, int round) { return (float)((i * 7 + gpu * 13 + round) % 101); }

static void ring_of_all(int n, protocol p, const mailbox *box)
{
  const int floats = 480, all = floats * n;
  float *data[MAX_GPUS];
  std::vector<float> h(all);
  for (int g = 0; g < n; g++) {
    OK(cudaSetDevice(g));
    OK(cudaMalloc(&data[g], all * sizeof(float)));
    OK(cudaMemset(box[g].buffer, 0, SLOTS * 4096));
    OK(cudaMemset(box[g].tail, 0, 4));
    OK(cudaMemset(box[g].head, 0, 4));
    OK(cudaDeviceSynchronize());
  }
  for (int round = 0; round < ROUNDS; round++) {
    for (int g = 0; g < n; g++) {
      for (int i = 0; i < all; i++) h[i] = value(g, i, round);
      OK(cudaMemcpy(data[g], h.data(), all * sizeof(float), cudaMemcpyDefault));
    }
    for (int g = 0; g < n; g++) {
      OK(cudaSetDevice(g));
      launch({ data[g], floats, g, n, (unsigned)(round * 2 * (n - 1)), box[g], box[(g + 1) % n], box[(g + n - 1) % n].head, 4096 }, p);
    }
    for (int g = 0; g < n; g++) {
      OK(cudaSetDevice(g));
      OK(cudaDeviceSynchronize());
      OK(cudaMemcpy(h.data(), data[g], all * sizeof(float), cudaMemcpyDefault));
      for (int i = 0; i < all; i++) {
        float sum = 0;
        for (int k = 0; k < n; k++) sum += value(k, i, round);
        CHECK(h[i] == sum);
      }
    }
  }
  for (int g = 0; g < n; g++) OK(cudaFree(data[g]));
}

template <class F> static F driver(const char *name)
{
  void *f = nullptr;
  cudaDriverEntryPointQueryResult found;
  OK(cudaGetDriverEntryPointByVersion(name, &f, CUDART_VERSION, cudaEnableDefault, &found));
  CHECK(found == cudaDriverEntryPointSuccess && f);
  return (F)f;
}

// Memory of a GPU that left as a file descriptor, came back, and is mapped for all of them.
static char *shared_memory(int gpu, int n)
{
  CUmemAllocationProp prop = {};
  CUmemGenericAllocationHandle made, come;
  CUmemAccessDesc access[MAX_GPUS] = {};
  size_t bytes = 0;
  int fd = -1;
  CUdeviceptr at;
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = { CU_MEM_LOCATION_TYPE_DEVICE, gpu };
  prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  OK(driver<decltype(&cuMemGetAllocationGranularity)>("cuMemGetAllocationGranularity")(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  OK(driver<decltype(&cuMemCreate)>("cuMemCreate")(&made, bytes, &prop, 0));
  OK(driver<decltype(&cuMemExportToShareableHandle)>("cuMemExportToShareableHandle")(&fd, made, prop.requestedHandleTypes, 0));
  OK(driver<decltype(&cuMemImportFromShareableHandle)>("cuMemImportFromShareableHandle")(&come, (void *)(uintptr_t)fd, prop.requestedHandleTypes));
  close(fd);
  OK(driver<decltype(&cuMemAddressReserve)>("cuMemAddressReserve")(&at, bytes, 0, 0, 0));
  OK(driver<decltype(&cuMemMap)>("cuMemMap")(at, bytes, 0, come, 0));
  for (int g = 0; g < n; g++) access[g] = { { CU_MEM_LOCATION_TYPE_DEVICE, g }, CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
  OK(driver<decltype(&cuMemSetAccess)>("cuMemSetAccess")(at, bytes, access, n));
  OK(driver<decltype(&cuMemRelease)>("cuMemRelease")(made));
  return (char *)at;
}

static void peers(int n)
{
  mailbox box[MAX_GPUS];
  for (int g = 0; g < n; g++) {
    OK(cudaSetDevice(g));
    for (int k = 0; k < n; k++)
      if (k != g) OK(cudaDeviceEnablePeerAccess(k, 0));
    OK(cudaMalloc(&box[g].buffer, SLOTS * 4096 + 256));
    box[g].tail = (unsigned *)(box[g].buffer + SLOTS * 4096);
    box[g].head = box[g].tail + 32;
  }
  for (protocol p : { LINES, BLOCKS, SIMPLE }) ring_of_all(n, p, box);
  for (int g = 0; g < n; g++) OK(cudaFree(box[g].buffer));
  for (int g = 0; g < n; g++) {
    OK(cudaSetDevice(g));
    for (int k = 0; k < n; k++)
      if (k != g) OK(cudaDeviceDisablePeerAccess(k));
  }
}

static void imported(int n)
{
  mailbox box[MAX_GPUS];
  for (int g = 0; g < n; g++) {
    OK(cudaSetDevice(g));
    OK(cudaFree(nullptr));
  }
  for (int g = 0; g < n; g++) {
    char *m = shared_memory(g, n);
    box[g] = { m, (unsigned *)(m + SLOTS * 4096), (unsigned *)(m + SLOTS * 4096 + 128) };
  }
  ring_of_all(n, LINES, box);
  ring_of_all(n, SIMPLE, box);
}

// Writes n words, one after the other as they are taken.
__global__ void producer(volatile unsigned *word, volatile unsigned *tail, volatile unsigned *head, int n)
{
  for (int i = 1; i <= n; i++) {
    while ((int)(*head - (unsigned)(i - 1)) < 0) {}
    *word = 1000 + i * i;
    __threadfence_system();
    *tail = i;
  }
}
__global__ void consumer(volatile unsigned *word, volatile unsigned *tail, volatile unsigned *head, unsigned *sum, int n)
{
  for (int i = 1; i <= n; i++) {
    while ((int)(*tail - (unsigned)i) < 0) {}
    *sum += *word;
    __threadfence_system();
    *head = i;
  }
}

// Kernels of two GPUs meet in pinned memory; with a proxy its thread carries word and counters between two of them.
static void through_the_host(bool proxy)
{
  const int n = 5;
  unsigned *a, *b, *sum, got, want = 0;
  OK(cudaSetDevice(0));
  OK(cudaHostAlloc(&a, 4096, cudaHostAllocMapped | cudaHostAllocPortable));
  OK(cudaHostAlloc(&b, 4096, cudaHostAllocMapped | cudaHostAllocPortable));
  for (int i = 0; i < 1024; i++) a[i] = b[i] = 0;
  OK(cudaSetDevice(1));
  OK(cudaMalloc(&sum, sizeof *sum));
  OK(cudaMemset(sum, 0, sizeof *sum));
  OK(cudaDeviceSynchronize());
  unsigned *to = proxy ? b : a;
  std::thread carrier;
  if (proxy)
    carrier = std::thread([a, b] {
      volatile unsigned *from = a, *into = b;
      for (unsigned i = 1; i <= (unsigned)n; i++) {
        while (from[64] < i) sched_yield();
        into[0] = from[0];
        __sync_synchronize();
        into[64] = i;
        while (into[128] < i) sched_yield();
        from[128] = i;
      }
    });
  OK(cudaSetDevice(0));
  producer<<<1, 1>>>(a, a + 64, a + 128, n);
  OK(cudaSetDevice(1));
  consumer<<<1, 1>>>(to, to + 64, to + 128, sum, n);
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(&got, sum, sizeof got, cudaMemcpyDeviceToHost));
  if (proxy) carrier.join();
  OK(cudaSetDevice(0));
  OK(cudaDeviceSynchronize());
  for (int i = 1; i <= n; i++) want += 1000 + i * i;
  CHECK(got == want);
  OK(cudaFreeHost(a));
  OK(cudaFreeHost(b));
}

int main()
{
  int n;
  OK(cudaGetDeviceCount(&n));
  if (n > MAX_GPUS) n = MAX_GPUS;
  CHECK(n > 1);
  peers(n);
  imported(n);
  through_the_host(false);
  through_the_host(true);
  printf("ring_protocols: %d GPUs agree\n", n);
  return 0;
}
