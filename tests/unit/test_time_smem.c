/* Wavefronts of shared memory, counted by the hardware counters of an RTX 5090: cicuvc/nvidia-sass-document,
 * notes/sm90/arch (LDS, STS and 16-byte cp.async by access pattern; cp.async by source pattern). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "time/sm/smem.h"

/* Address of a lane in elements of the access width. */
static unsigned stride(unsigned lane, unsigned s)
{
  return lane * s;
}

static unsigned same(unsigned lane, unsigned s)
{
  (void)lane, (void)s;
  return 0;
}

/* Lanes that differ in bit s share, the others are consecutive. */
static unsigned without_bit(unsigned lane, unsigned s)
{
  return lane >> (s + 1) << s | (lane & ((1u << s) - 1));
}

static unsigned group(unsigned lane, unsigned s)
{
  return lane / s;
}

static unsigned odd_one(unsigned lane, unsigned s)
{
  return lane == 31 ? s : 0;
}


/* Consecutive, but the first s lanes of a quarter-warp after the first are 32 words further: each meets
 * its neighbour of the quarter in four banks. */
static unsigned same_quarter(unsigned lane, unsigned s)
{
  return lane < s ? 8 * (lane + 1) + 7 : lane;
}

/* Two lanes of different quarters in the same banks: no conflict. */
static unsigned two_quarters(unsigned lane, unsigned s)
{
  return lane == 8 ? 32 * s : lane;
}

enum { NONE = 0 };

static void wavefronts(void **state)
{
  (void)state;
  static const struct {
    unsigned bits;
    unsigned (*element)(unsigned lane, unsigned s);
    unsigned s, lds, sts, cp_async;
  } row[] = {
      {32, stride, 1, 1, 1, NONE},       {32, same, 0, 1, 1, NONE},
      {32, stride, 2, 2, 2, NONE},       {32, stride, 4, 4, 4, NONE},
      {32, stride, 8, 8, 8, NONE},       {32, stride, 16, 16, 16, NONE},
      {32, stride, 32, 32, 32, NONE},    {32, stride, 33, 1, 1, NONE},
      {32, odd_one, 32, 2, 2, NONE},     {64, stride, 1, 2, 2, NONE},
      {64, same, 0, 1, 2, NONE},         {64, without_bit, 0, 1, 2, NONE},
      {64, without_bit, 1, 1, 2, NONE},  {64, group, 4, 1, 2, NONE},
      {64, group, 8, 1, 2, NONE},        {64, without_bit, 2, 2, 2, NONE},
      {64, without_bit, 3, 2, 2, NONE},  {64, without_bit, 4, 2, 2, NONE},
      {128, stride, 1, 4, 4, 4},         {128, same, 0, 2, 4, 32},
      {128, without_bit, 0, 2, 4, 8},    {128, without_bit, 1, 2, 4, 8},
      {128, group, 4, 2, 4, 16},         {128, group, 8, 2, 4, 32},
      {128, without_bit, 2, 4, 4, NONE}, {128, without_bit, 3, 4, 4, NONE},
      {128, without_bit, 4, 4, 4, NONE}, {128, stride, 2, 8, 8, NONE},
      {128, stride, 4, 16, 16, NONE},    {128, stride, 8, 32, 32, NONE},
      {128, same_quarter, 2, 6, 6, NONE}, {128, same_quarter, 1, 5, 5, NONE},
      {128, two_quarters, 1, 4, 4, NONE},
  };
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    struct mem_effect m = {.bytes = (uint8_t)(row[i].bits / 8), .lanes = 0xffffffff};
    for (unsigned lane = 0; lane < 32; lane++) {
      m.addr[lane] = (uint64_t)row[i].element(lane, row[i].s) * m.bytes;
      m.shared_addr[lane] = (uint32_t)m.addr[lane];
    }
    m.op = MEM_LOAD;
    unsigned passes = smem_time(&m, false, 32, 1).passes;
    if (passes != row[i].lds) fail_msg("row %u: LDS %u", i, passes);
    m.op = MEM_STORE;
    passes = smem_time(&m, false, 32, 1).passes;
    if (passes != row[i].sts) fail_msg("row %u: STS %u", i, passes);
    m.op = MEM_LDGSTS;
    passes = smem_ldgsts_time(&m, 32, 1).passes;
    if (row[i].cp_async && passes != row[i].cp_async) fail_msg("row %u: cp.async %u", i, passes);
  }
}

/* Where lanes take two turns, two rows of 16 words in the same banks still take four cycles, 32 words of one bank 32 to
 * load and 64 to store. Atomics that count their lanes take a pass for each word, others one for each lane. */
static void turns_and_counts(void **state)
{
  (void)state;
  static const struct {
    uint8_t op;
    bool counts;
    unsigned row, stride, turns, passes, cycles; /* words between rows of 16 lanes, between lanes */
  } c[] = {
      {MEM_LOAD, false, 16, 1, 2, 1, 2},      {MEM_LOAD, false, 512, 1, 2, 2, 4},
      {MEM_LOAD, false, 512, 32, 2, 32, 32},  {MEM_LOAD, false, 512, 32, 1, 32, 32},
      {MEM_STORE, false, 512, 32, 2, 32, 64}, {MEM_ATOMIC, false, 0, 0, 1, 32, 32},
      {MEM_ATOMIC, false, 0, 0, 2, 32, 64},   {MEM_ATOMIC, true, 0, 0, 1, 1, 1},
      {MEM_ATOMIC, true, 32, 0, 1, 2, 2},
  };
  for (unsigned i = 0; i < sizeof c / sizeof *c; i++) {
    struct mem_effect m = {.bytes = 4, .op = c[i].op, .lanes = 0xffffffff};
    for (unsigned lane = 0; lane < 32; lane++) m.addr[lane] = 4 * (lane / 16 * c[i].row + lane % 16 * c[i].stride);
    const struct smem_time t = smem_time(&m, c[i].counts, 32, c[i].turns);
    if (t.passes != c[i].passes || t.cycles != c[i].cycles) fail_msg("case %u: %u, %u", i, t.passes, t.cycles);
  }
}

/* cp.async of 16 bytes: strides of source and destination in bytes. */
static void cp_async_source(void **state)
{
  (void)state;
  static const struct {
    unsigned from, to, wavefronts;
  } row[] = {{16, 16, 4}, {32, 16, 8}, {64, 16, 16}, {128, 16, 32}, {256, 16, 32}, {16, 128, 32}};
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    struct mem_effect m = {.bytes = 16, .op = MEM_LDGSTS, .lanes = 0xffffffff};
    for (unsigned lane = 0; lane < 32; lane++) {
      m.addr[lane] = 0x10000u + lane * row[i].from;
      m.shared_addr[lane] = lane * row[i].to;
    }
    assert_int_equal(smem_ldgsts_time(&m, 32, 1).passes, row[i].wavefronts);
  }
}

/* Eight lanes, three of which meet when reading L1 and three when writing: three wavefronts, not five. */
static void cp_async_overlaps(void **state)
{
  (void)state;
  struct mem_effect m = {.bytes = 16, .op = MEM_LDGSTS, .lanes = 0xff};
  for (unsigned lane = 0; lane < 8; lane++) {
    m.addr[lane] = lane < 3 ? 128u * lane : 16u * lane;
    m.shared_addr[lane] = lane >= 5 ? 128 * lane + 16 * 5 : 16 * lane;
  }
  /* The other three quarters of the warp have no lane and take a pass each. */
  assert_int_equal(smem_ldgsts_time(&m, 32, 1).passes - 3, 3);
}

/* st.bulk: a row of 128 bytes a pass, and what its ends touch. */
static void fills(void **state)
{
  static const struct {
    uint64_t addr;
    uint32_t bytes;
    unsigned passes;
  } row[] = {{0, 0, 1}, {0, 8, 1}, {120, 8, 1}, {0, 128, 1}, {8, 128, 2}, {64, 1024, 9}, {0, 233472, 1824}};
  struct mem_effect m = {.space = MEM_SHARED, .op = MEM_STORE, .bytes = 8, .lanes = 1u << 5};
  (void)state;
  for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
    m.addr[5] = row[i].addr;
    m.fill_bytes = row[i].bytes;
    assert_int_equal(smem_fill_time(&m, 1).passes, row[i].passes);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wavefronts),
      cmocka_unit_test(turns_and_counts),
      cmocka_unit_test(cp_async_source),
      cmocka_unit_test(cp_async_overlaps),
      cmocka_unit_test(fills),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
