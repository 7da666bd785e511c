/* A hop of NCCL's protocols between two GPUs, alone: 40 times what a warp does that waits for lines from the other GPU and sends
 * them on, without the rest of NCCL's kernels (docs/accuracy.md, "NCCL on several GPUs").
 *
 *   nvcc -arch=sm_80 -cudart shared -o nccl_hop tools/compat/nccl_hop.cu
 *   warpstep exec --machine dgx-a100 ./nccl_hop
 *
 * Loads and stores are of 16 bytes by each lane, as LL128's; the last word of each eighth lane is the flag. `wide` of them make a
 * step (LL128: 4). Again: once more when the flags are there. */
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

enum { STEPS = 20, SLOTS = 8, SLOT_WORDS = 1024, WARP_WORDS = 64 };

#define CHECK(x)                                                                                              \
  do {                                                                                                        \
    const cudaError_t e_ = (x);                                                                               \
    if (e_ != cudaSuccess) { printf("line %d: %s\n", __LINE__, cudaGetErrorString(e_)); return 1; }           \
  } while (0)

__device__ void load(const uint64_t *p, uint64_t &a, uint64_t &b)
{
  asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(p) : "memory");
}

__device__ void store(uint64_t *p, uint64_t a, uint64_t b)
{
  asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" : : "l"(p), "l"(a), "l"(b) : "memory");
}

template <int WIDE, bool AGAIN> __device__ void receive(const uint64_t *from, uint64_t flag, bool has_flag, uint64_t *v)
{
  bool waits;
  do {
    waits = false;
#pragma unroll
    for (int u = 0; u < WIDE; u++) {
      load(from + u * WARP_WORDS, v[2 * u], v[2 * u + 1]);
      waits |= has_flag && v[2 * u + 1] != flag;
    }
  } while (__any_sync(~0u, waits));
#pragma unroll
  for (int u = 0; AGAIN && u < WIDE; u++) load(from + u * WARP_WORDS, v[2 * u], v[2 * u + 1]);
}

/* The first GPU sends step k when it has step k - 1 back. */
template <int WIDE, bool AGAIN> __global__ void pass(uint64_t *mine, uint64_t *peer, bool first, long long *cycles)
{
  const int lane = threadIdx.x;
  const bool has_flag = lane % 8 == 7;
  const long long start = clock64();
  uint64_t v[2 * WIDE] = {};
  for (int k = 1; k <= STEPS; k++) {
    const int comes = first ? k - 1 : k;
    if (comes) receive<WIDE, AGAIN>(mine + comes % SLOTS * SLOT_WORDS + 2 * lane, comes, has_flag, v);
#pragma unroll
    for (int u = 0; u < WIDE; u++)
      store(peer + k % SLOTS * SLOT_WORDS + 2 * lane + u * WARP_WORDS, v[2 * u] + 1, has_flag ? k : v[2 * u + 1]);
  }
  if (lane == 0) *cycles = clock64() - start;
}

template <int WIDE, bool AGAIN> int measure(const char *what)
{
  uint64_t *buffer[2];
  long long *cycles[2], took;
  int khz;
  for (int g = 0; g < 2; g++) {
    CHECK(cudaSetDevice(g));
    CHECK(cudaMalloc(&buffer[g], SLOTS * SLOT_WORDS * sizeof(uint64_t)));
    CHECK(cudaMemset(buffer[g], 0, SLOTS * SLOT_WORDS * sizeof(uint64_t)));
    CHECK(cudaMalloc(&cycles[g], sizeof(long long)));
    CHECK(cudaDeviceSynchronize());
  }
  for (int g = 0; g < 2; g++) {
    CHECK(cudaSetDevice(g));
    pass<WIDE, AGAIN><<<1, 32>>>(buffer[g], buffer[1 - g], g == 0, cycles[g]);
  }
  for (int g = 0; g < 2; g++) {
    CHECK(cudaSetDevice(g));
    CHECK(cudaDeviceSynchronize());
  }
  CHECK(cudaMemcpy(&took, cycles[1], sizeof took, cudaMemcpyDeviceToHost));
  CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 1));
  printf("%-36s %.2f us a hop\n", what, 1e3 * (double)took / khz / (2 * STEPS));
  return 0;
}

int main()
{
  for (int g = 0; g < 2; g++) {
    CHECK(cudaSetDevice(g));
    CHECK(cudaDeviceEnablePeerAccess(1 - g, 0));
  }
  return measure<1, false>("one load and store") | measure<4, false>("four") | measure<4, true>("four, and read again (LL128)");
}
