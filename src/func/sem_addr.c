/* Addresses of a warp's memory access, all lanes at once; compiled once per x86 level (lanes.h). */
#include "func/lanes.h"

static void add_wide(uint64_t *restrict out, const uint32_t *restrict lo,
                     const uint32_t *restrict hi, uint64_t base)
{
  LANES_SIMD
  for (unsigned i = 0; i < LANES; i++) out[i] = (lo[i] | (uint64_t)hi[i] << 32) + base;
}

static void add_word(uint64_t *restrict out, const uint32_t *restrict a, uint64_t base)
{
  LANES_SIMD
  for (unsigned i = 0; i < LANES; i++) out[i] = a[i] + base;
}

static void add_near(uint64_t *restrict out, const uint32_t *restrict a, unsigned shift,
                     uint32_t base)
{
  LANES_SIMD
  for (unsigned i = 0; i < LANES; i++) out[i] = (uint32_t)((a[i] << shift) + base);
}

static uint64_t any_bits(const uint64_t *addr)
{
  uint64_t lane_acc = 0;
  LANES_SIMD_OR
  for (unsigned i = 0; i < LANES; i++) lane_acc |= addr[i];
  return lane_acc;
}

static bool even_stride(const uint64_t *addr, uint64_t *stride)
{
  uint64_t step = addr[1] - addr[0], lane_acc = 0;
  LANES_SIMD_OR
  for (unsigned i = 1; i < LANES; i++) lane_acc |= (addr[i] - addr[i - 1]) ^ step;
  *stride = step;
  return lane_acc == 0;
}

static bool none_above(const uint64_t *addr, uint64_t last)
{
  uint64_t lane_acc = 0;
  LANES_SIMD_OR
  for (unsigned i = 0; i < LANES; i++) lane_acc |= last - addr[i];
  return !(lane_acc >> 63);
}

static void gather(uint32_t *restrict row, const uint8_t *restrict mem,
                   const uint64_t *restrict addr)
{
  for (unsigned i = 0; i < LANES; i++) {
    uint32_t v;
    memcpy(&v, mem + addr[i], sizeof v);
    row[i] = v;
  }
}

const struct addr_table SEM_NAME(sem_addr_table) = {
    add_wide, add_word, add_near, any_bits, even_stride, none_above, gather,
};
