#include "time/gpu/area.h"

enum {
  COUNTERS = 6,
  COUNTER_BITS = 6,
  STALL_BITS = 4,
  YIELD_BITS = 1,
  /* Registers a warp can write: regular, uniform, predicate, uniform predicate. The zero registers
   * and true predicates hold nothing. */
  WRITABLE_REGISTERS = 255 + 63 + 7 + 7,
  OPERAND_SLOTS = 3,
  REGISTER_BITS = 32,
};

uint64_t area_control_bits_per_warp(void)
{
  return COUNTERS * COUNTER_BITS + STALL_BITS + YIELD_BITS;
}

static unsigned bits_to_count(uint32_t n)
{
  unsigned bits = 0;
  while (n >> bits) bits++;
  return bits;
}

uint64_t area_scoreboard_per_warp(uint32_t consumers)
{
  return WRITABLE_REGISTERS * (uint64_t)(1 + bits_to_count(consumers));
}

uint64_t area_register_cache_per_sm(const struct params *p, unsigned lanes)
{
  if (!p->regfile_cache) return 0;
  return (uint64_t)p->sm_sub_cores * p->regfile_banks * OPERAND_SLOTS * lanes * REGISTER_BITS;
}

uint64_t area_register_file_per_sm(const struct params *p)
{
  return (uint64_t)p->sm_registers * REGISTER_BITS;
}
