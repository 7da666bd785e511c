// Random bits of graphs: Philox4x32-10 of an element's number and an offset, keyed by a seed. The first word of four.
#pragma once
#include <cstdint>

__device__ inline unsigned random_word(uint64_t seed, uint64_t offset, uint64_t element)
{
  uint4 c = make_uint4((unsigned)element, (unsigned)(element >> 32), (unsigned)offset, (unsigned)(offset >> 32));
  uint2 key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
  for (int r = 0; r < 10; r++, key.x += 0x9E3779B9u, key.y += 0xBB67AE85u) {
    const unsigned a = 0xD2511F53u * c.x, b = 0xCD9E8D57u * c.z;
    c = make_uint4(__umulhi(0xCD9E8D57u, c.z) ^ c.y ^ key.x, b, __umulhi(0xD2511F53u, c.x) ^ c.w ^ key.y, a);
  }
  return c.x;
}
// Whether an element stays of which the part `keep` does.
__device__ inline bool stays(uint64_t seed, uint64_t offset, uint64_t element, float keep)
{
  return random_word(seed, offset, element) * (1.0 / 4294967296.0) < keep;
}
