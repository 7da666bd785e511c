// Bulk copies of SMs from and to memory of the host, and textures there, take the link: 1 MiB each way, by 16 CTAs, at no more than PCI Express 5.0 x16 carries (63 GB/s of
// symbols) and no less than three quarters of that, beside what the same copies take within the GPU, which is a third of it.
#include "check.h"
#include <cstdint>

enum { CTAS = 16, BYTES = 16384, PIECES = 4, WORDS = BYTES / 4 };

static __device__ uint32_t shared_of(const void *p)
{
  return (uint32_t)__cvta_generic_to_shared(p);
}

// Each CTA takes its pieces, adds one to every word, and puts them back elsewhere.
__global__ void copy(const uint32_t *from, uint32_t *to, bool load, bool store)
{
  extern __shared__ __align__(128) uint32_t piece[];
  __shared__ alignas(8) uint64_t full;
  const uint32_t bar = shared_of(&full), t = threadIdx.x;
  from += blockIdx.x * PIECES * WORDS;
  to += blockIdx.x * PIECES * WORDS;
  if (t == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
    asm volatile("fence.mbarrier_init.release.cluster;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(load ? PIECES * BYTES : 0) : "memory");
    for (int k = 0; load && k < PIECES; k++)
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                   ::"r"(shared_of(piece + k * WORDS)), "l"(from + k * WORDS), "r"(BYTES), "r"(bar) : "memory");
  }
  __syncthreads();
  asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra W; }" ::"r"(bar) : "memory");
  for (uint32_t i = t; i < PIECES * WORDS; i += blockDim.x) piece[i] = load ? piece[i] + 1 : blockIdx.x + i;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t || !store) return;
  for (int k = 0; k < PIECES; k++)
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to + k * WORDS), "r"(shared_of(piece + k * WORDS)), "r"(BYTES) : "memory");
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

__global__ void fetch(cudaTextureObject_t t, uint32_t *to)
{
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = blockDim.x * gridDim.x;
  for (unsigned k = 0; k < 16; k++) to[i + k * n] = tex1Dfetch<unsigned>(t, i + k * n) + 5;
}

static float us(const uint32_t *from, uint32_t *to, bool load, bool store)
{
  static cudaEvent_t a, b;
  float ms;
  if (!a) {
    CUDA(cudaEventCreate(&a));
    CUDA(cudaEventCreate(&b));
    CUDA(cudaFuncSetAttribute(copy, cudaFuncAttributeMaxDynamicSharedMemorySize, PIECES * BYTES));
  }
  CUDA(cudaEventRecord(a));
  copy<<<CTAS, 128, PIECES * BYTES>>>(from, to, load, store);
  CUDA(cudaEventRecord(b));
  CUDA(cudaEventSynchronize(b));
  CUDA(cudaEventElapsedTime(&ms, a, b));
  return ms * 1000;
}

// The same of texels.
static float fetch_us(uint32_t *from, uint32_t *to, unsigned n)
{
  cudaResourceDesc r = {};
  cudaTextureDesc d = {};
  cudaTextureObject_t t;
  cudaEvent_t a, b;
  float ms;
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = from;
  r.res.linear.desc = cudaCreateChannelDesc<unsigned>();
  r.res.linear.sizeInBytes = n * 4;
  CUDA(cudaCreateTextureObject(&t, &r, &d, nullptr));
  CUDA(cudaEventCreate(&a));
  CUDA(cudaEventCreate(&b));
  CUDA(cudaEventRecord(a));
  fetch<<<n / 16 / 256, 256>>>(t, to);
  CUDA(cudaEventRecord(b));
  CUDA(cudaEventSynchronize(b));
  CUDA(cudaEventElapsedTime(&ms, a, b));
  CUDA(cudaDestroyTextureObject(t));
  return ms * 1000;
}

int main()
{
  const unsigned n = CTAS * PIECES * WORDS, bytes = n * 4;
  const float least = bytes / 63e3f; // us
  uint32_t *pinned, *near[2], *back;
  CUDA(cudaHostAlloc(&pinned, bytes, cudaHostAllocMapped));
  CUDA(cudaHostAlloc(&back, bytes, cudaHostAllocMapped));
  CUDA(cudaMalloc(&near[0], bytes));
  CUDA(cudaMalloc(&near[1], bytes));
  for (unsigned i = 0; i < n; i++) pinned[i] = i * 7;
  const float code = us(near[0], near[1], false, true); // and once more, with its code there
  const float here = us(near[0], near[1], true, true), from = us(pinned, near[0], true, true), to = us(near[0], back, true, true),
              put = us(near[0], pinned, false, true);
  for (unsigned i = 0; i < n; i++) CHECK(back[i] == i * 7 + 2);
  for (unsigned i = 0; i < n; i++) CHECK(pinned[i] == i / (PIECES * WORDS) + i % (PIECES * WORDS));
  printf("%.2f here, %.2f from the host, %.2f to it, %.2f to it without loads; at least %.2f (%.2f)\n", here, from, to, put, least, code);
  const float texels = fetch_us(pinned, near[1], n), texels_here = fetch_us(near[0], near[1], n);
  CUDA(cudaMemcpy(back, near[1], bytes, cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < n; i++) CHECK(back[i] == i * 7 + 1 + 5);
  printf("texels %.2f, of here %.2f\n", texels, texels_here);
  CHECK(texels > least && texels < least * 4 / 3 + texels_here && texels_here < texels / 2);
  CHECK(from > least && from < least * 4 / 3 + here);
  CHECK(to > least && to < least * 4 / 3 + here);
  CHECK(put > least && put < least * 4 / 3 + here);
  CHECK(here - code < least / 4 && here < from / 2);
}
