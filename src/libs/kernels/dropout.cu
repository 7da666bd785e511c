// Dropout. Numbers are Philox4x32-10 (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011) of the
// element's index and the count of calls, keyed by the seed.
#include "dropout_args.h"
#include "elements.cuh"

__device__ inline uint4 philox(uint4 c, uint2 key)
{
  for (int i = 0; i < 10; i++) {
    const unsigned a = 0xD2511F53u * c.x, b = 0xCD9E8D57u * c.z;
    c = make_uint4(__umulhi(0xCD9E8D57u, c.z) ^ c.y ^ key.x, b, __umulhi(0xD2511F53u, c.x) ^ c.w ^ key.y, a);
    key.x += 0x9E3779B9u, key.y += 0xBB67AE85u;
  }
  return c;
}

extern "C" __global__ void warpstep_dropout(const __grid_constant__ ws_dropout_args p)
{
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  const uint64_t seed = p.draw ? p.states[0] : 0, calls = p.draw ? p.states[1] : 0;
  const double scale = p.rate < 1 ? 1 / (1 - p.rate) : 0;
  for (int64_t q = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; q * 4 < p.n; q += step) {
    unsigned drawn[4] = {};
    if (p.draw) {
      const uint4 r = philox(make_uint4((unsigned)q, (unsigned)(q >> 32), (unsigned)calls, (unsigned)(calls >> 32)),
                             make_uint2((unsigned)seed, (unsigned)(seed >> 32)));
      drawn[0] = r.x, drawn[1] = r.y, drawn[2] = r.z, drawn[3] = r.w;
    }
    for (int j = 0; j < 4 && q * 4 + j < p.n; j++) {
      const int64_t i = q * 4 + j;
      const bool stays = p.draw ? drawn[j] * (1.0 / 4294967296.0) >= p.rate : p.mask[i] != 0;
      if (p.draw) p.mask[i] = stays;
      write_as<double>(p.to, p.type, i, stays ? read_as<double>(p.from, p.type, i) * scale : 0);
    }
  }
}

// After a call: the next one draws others. With a seed, the first one.
extern "C" __global__ void warpstep_dropout_next(const __grid_constant__ ws_dropout_args p) { p.states[1]++; }
extern "C" __global__ void warpstep_dropout_seed(const __grid_constant__ ws_dropout_args p)
{
  p.states[0] = p.seed, p.states[1] = 0;
}
