// st.async.mmio and red.async.mmio of sm_100 (USTGR, UREDGR): stores and additions of every type that ptxas takes, by one
// thread, by threads of a warp with operands of their own, and behind a flag that another CTA waits for.
#include "check.h"
#include <cstdint>
#include <cstring>

struct cells {
  uint16_t half[32];
  uint32_t word[32];
  uint64_t wide[32];
  unsigned sum;
  int difference;
  unsigned long long wide_sum;
};

__global__ void store(cells *c)
{
  const unsigned t = threadIdx.x;
  const uint64_t wide = 0x0123456789abcdefull * (t + 1);
  if (t % 3 == 2) return; // some lanes alone
  asm volatile("st.async.mmio.release.sys.global.u16 [%0], %1;" ::"l"(&c->half[t]), "h"((unsigned short)(0xabcd + t)) : "memory");
  asm volatile("st.async.mmio.release.sys.global.f32 [%0], %1;" ::"l"(&c->word[t]), "f"(__uint_as_float(t * 0x01010101)) : "memory");
  asm volatile("st.async.mmio.release.sys.global.b64 [%0+8], %1;" ::"l"((char *)&c->wide[t] - 8), "l"(wide) : "memory");
  asm volatile("red.async.mmio.release.sys.global.add.u32 [%0], %1;" ::"l"(&c->sum), "r"(t + 0xfffffff0) : "memory");
  asm volatile("red.async.mmio.release.sys.global.add.s32 [%0], %1;" ::"l"(&c->difference), "r"(-(int)t) : "memory");
  asm volatile("red.async.mmio.release.sys.global.add.u64 [%0], %1;" ::"l"(&c->wide_sum), "l"(wide) : "memory");
}

// What was written before is seen behind what is released.
__global__ void hand_over(unsigned *data, unsigned *flag, unsigned *seen)
{
  if (blockIdx.x) {
    *data = 4711;
    asm volatile("st.async.mmio.release.sys.global.b32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
    return;
  }
  unsigned ready;
  do asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(ready) : "l"(flag) : "memory");
  while (!ready);
  *seen = *data;
}

int main()
{
  cells *c, got, want;
  unsigned *p, out[3];
  memset(&want, 0, sizeof want);
  want.sum = 5, want.difference = 6, want.wide_sum = 7;
  CUDA(cudaMalloc(&c, sizeof *c));
  CUDA(cudaMemcpy(c, &want, sizeof want, cudaMemcpyHostToDevice));
  store<<<1, 32>>>(c);
  CUDA(cudaMemcpy(&got, c, sizeof got, cudaMemcpyDeviceToHost));
  for (unsigned t = 0; t < 32; t++) {
    if (t % 3 == 2) continue;
    want.half[t] = (uint16_t)(0xabcd + t);
    want.word[t] = t * 0x01010101;
    want.wide[t] = 0x0123456789abcdefull * (t + 1);
    want.sum += t + 0xfffffff0, want.difference -= t, want.wide_sum += want.wide[t];
  }
  CHECK(memcmp(&got, &want, sizeof want) == 0);
  CUDA(cudaMalloc(&p, 3 * 128));
  CUDA(cudaMemset(p, 0, 3 * 128));
  hand_over<<<2, 1>>>(p, p + 32, p + 64);
  CUDA(cudaMemcpy(out, p + 64, 4, cudaMemcpyDeviceToHost));
  CHECK(out[0] == 4711);
}
