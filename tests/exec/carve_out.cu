// The share of the L1 array that a kernel prefers as shared memory: what is left is L1 (lines that hit when they are
// read again), and what is carved out says how many blocks an SM holds. Expected values are those of compute
// capability 8.6: 128 KiB, of which 0, 8, 16, 32, 64 or 100 are shared memory, 1 KiB of it the system's for each block
// (CUDA C++ Programming Guide, "Shared Memory" of 8.x).
#include "check.h"

static const int KIB = 1024, LINE = 128;

// Reads the lines twice; how many of the second time came in less than `limit` cycles.
__global__ void again(const int *p, int lines, long long limit, int *hits)
{
  __shared__ volatile int sink; // storing a word waits for it
  int n = 0;
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < lines; i++) {
      long long begin = clock64();
      sink = p[(size_t)i * (LINE / 4)];
      if (round) n += clock64() - begin < limit;
    }
  *hits = n;
}

extern __shared__ int room[];

// Blocks that are on an SM together: all wait until those that have been there are known.
__global__ void together(int *now, int *most)
{
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  room[threadIdx.x] = 0;
  if (threadIdx.x) return;
  int there = atomicAdd(&now[sm], 1) + 1;
  atomicMax(&most[sm], there);
  long long begin = clock64();
  while (clock64() - begin < 30000) {}
  atomicSub(&now[sm], 1);
}

static int *memory, *hits, *now, *most;

// Of so many KiB, read twice by a kernel that prefers this share.
static int hit(int share, int kib)
{
  const int lines = kib * KIB / LINE;
  CUDA(cudaFuncSetAttribute(again, cudaFuncAttributePreferredSharedMemoryCarveout, share));
  again<<<1, 1>>>(memory, lines, 100, hits);
  CUDA(cudaDeviceSynchronize());
  return *hits;
}

static int resident(unsigned grid, unsigned bytes, cudaLaunchAttribute *a)
{
  cudaLaunchConfig_t c = {};
  int n = 0;
  c.gridDim = grid, c.blockDim = 32, c.dynamicSmemBytes = bytes, c.attrs = a, c.numAttrs = a ? 1 : 0;
  CUDA(cudaMemset(most, 0, 1024 * sizeof *most));
  CUDA(cudaLaunchKernelEx(&c, together, now, most));
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 1024; i++) n = most[i] > n ? most[i] : n;
  return n;
}

// L1 has 128 KiB without the share, in 16 sets whose lines follow each other (l1.set_hash, carve_out.args): what is as
// large hits, and with another line for each set, which leaves when it is read in turn, nothing does.
static void cache()
{
  const struct { int share, l1; } cases[] = {{0, 120}, {16, 112}, {20, 96}, {32, 96}, {33, 64}, {50, 64}, {100, 28}};
  for (auto c : cases) {
    const int fits = c.l1, more = c.l1 + 16 * LINE / KIB;
    const int in = hit(c.share, fits), beyond = hit(c.share, more);
    printf("%3d %%: %5d of %5d lines hit, %5d of %5d\n", c.share, in, fits * KIB / LINE, beyond, more * KIB / LINE);
    CHECK(in == fits * KIB / LINE);
    CHECK(beyond == 0);
  }
}

static void blocks(unsigned sms)
{
  // 15 KiB and one of the system's: six in 100 KiB.
  const struct { int share, ctas; } cases[] = {{-1, 6}, {0, 1}, {16, 1}, {32, 2}, {33, 4}, {64, 4}, {65, 6}, {100, 6}};
  for (auto c : cases) {
    int say = 0;
    CUDA(cudaFuncSetAttribute(together, cudaFuncAttributePreferredSharedMemoryCarveout, c.share));
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&say, together, 32, 15 * KIB));
    const int got = resident(8 * sms, 15 * KIB, NULL);
    printf("%3d %%: %d blocks, %d by the occupancy interface\n", c.share, got, say);
    CHECK(say == c.ctas && got == c.ctas);
  }
  // What a launch says goes before what the function says.
  cudaLaunchAttribute a = {};
  a.id = cudaLaunchAttributePreferredSharedMemoryCarveout;
  a.val.sharedMemCarveout = 32;
  CHECK(resident(8 * sms, 15 * KIB, &a) == 2);
  CHECK(cudaFuncSetAttribute(together, cudaFuncAttributePreferredSharedMemoryCarveout, 101) == cudaErrorInvalidValue);
  cudaGetLastError();
}

int main()
{
  cudaDeviceProp prop;
  CUDA(cudaGetDeviceProperties(&prop, 0));
  CUDA(cudaMalloc(&memory, 256 * KIB));
  CUDA(cudaMallocManaged(&hits, sizeof *hits));
  CUDA(cudaMallocManaged(&now, 1024 * sizeof *now));
  CUDA(cudaMallocManaged(&most, 1024 * sizeof *most));
  for (int i = 0; i < 1024; i++) now[i] = 0;
  cache();
  blocks((unsigned)prop.multiProcessorCount);
  return 0;
}
