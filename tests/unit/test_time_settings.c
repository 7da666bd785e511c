/* What a study changes moves cycles: each setting of the core on a kernel made for it. Expected cycles follow
 * from the stage or port counts themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "time_rig.h"

enum { INSTS = 120, INSTS_PER_LINE = 8 };

/* Cycles from the first to the last instruction of one warp. */
static uint64_t elapsed(struct rig *r, struct mock *m, unsigned first, unsigned last)
{
  rig_init(r);
  rig_run(r, m);
  uint64_t cycles = m->issued[0][last] - m->issued[0][first];
  free(m);
  rig_free(r);
  return cycles;
}

/* Straight-line code from cold caches: more lines ahead never hurt, and the first ones help. */
static uint64_t straight_line(uint32_t stream_lines, bool perfect)
{
  struct rig r;
  rig_params(&r, "rtx-3070");
  r.params.icache_perfect = perfect;
  r.params.l0i_stream_lines = stream_lines;
  return elapsed(&r, mock_new(INSTS, 1), 0, INSTS - 1);
}

static void prefetcher(void **state)
{
  (void)state;
  uint64_t last = straight_line(0, false);
  for (uint32_t lines = 1; lines <= 32; lines *= 2) {
    uint64_t now = straight_line(lines, false);
    if (lines <= 4)
      assert_true(now < last);
    else
      assert_true(now <= last);
    last = now;
  }
  assert_true(straight_line(0, true) < last);
  assert_int_equal(straight_line(0, true), INSTS - 1); /* one instruction per cycle */
}

static struct inst fp32(unsigned a, unsigned b, unsigned c, unsigned reuse)
{
  struct inst in = mock_alu(1, false);
  in.pipe = PIPE_FMA;
  in.lat = LAT_FMA;
  in.n_src = 3;
  in.src[0] = (struct operand){FILE_R, (uint8_t)a, 1, 0, reuse & 1};
  in.src[1] = (struct operand){FILE_R, (uint8_t)b, 1, 1, reuse >> 1 & 1};
  in.src[2] = (struct operand){FILE_R, (uint8_t)c, 1, 2, reuse >> 2 & 1};
  return in;
}

/* Cycles of 60 FFMA in steady state. */
static uint64_t ffma60(uint32_t ports, bool cache, bool perfect, struct inst in)
{
  struct rig r;
  rig_params(&r, "rtx-3070");
  r.params.regfile_read_ports = ports;
  r.params.regfile_cache = cache;
  r.params.regfile_perfect = perfect;
  struct mock *m = mock_new(INSTS, 1);
  for (unsigned i = 0; i < INSTS; i++) mock_set(m, i, in);
  return elapsed(&r, m, 50, 110);
}

/* Three reads of one bank: ceil(3 / ports) cycles each, never less than one. */
static void read_ports(void **state)
{
  (void)state;
  struct inst conflict = fp32(2, 4, 6, 0);
  assert_int_equal(ffma60(1, true, false, conflict), 60 * 3);
  assert_int_equal(ffma60(2, true, false, conflict), 60 * 2);
  assert_int_equal(ffma60(3, true, false, conflict), 60);
  assert_int_equal(ffma60(8, true, false, conflict), 60);
  assert_int_equal(ffma60(1, true, true, conflict), 60);
}

/* With all three operands kept nothing is read; without the cache reuse bits mean nothing. */
static void register_cache(void **state)
{
  (void)state;
  struct inst kept = fp32(2, 4, 6, 7);
  assert_int_equal(ffma60(1, true, false, kept), 60);
  assert_int_equal(ffma60(1, false, false, kept), 60 * 3);
}

/* Fetch to issue takes two cycles more: a buffer of n entries issues n instructions in three cycles, and
 * three entries are enough (Huerta et al., MICRO 2025, section 5.2). */
static void instruction_buffer(void **state)
{
  (void)state;
  static const uint64_t want[9] = {0, 180, 90, 60, 60, 60, 60, 60, 60};
  for (uint32_t entries = 1; entries <= 8; entries++) {
    struct rig r;
    rig_params(&r, "rtx-3070");
    r.params.fetch_ibuffer_entries = entries;
    assert_int_equal(elapsed(&r, mock_new(INSTS, 1), 50, 110), want[entries]);
  }
}

/* Each constant in a piece of its own of what is fetched together: a miss costs what L1 and L2 need, a perfect cache
 * nothing. */
static uint64_t constants(bool perfect)
{
  enum { PIECE = 256, N = 5 };
  struct rig r;
  rig_params(&r, "rtx-3070");
  r.params.const_perfect = perfect;
  struct mock *m = mock_new(INSTS, 1);
  for (unsigned i = 1; i <= N; i++) {
    struct inst in = mock_alu(1, false);
    in.has_const = true;
    in.const_off = PIECE * i;
    mock_set(m, i, in);
  }
  return elapsed(&r, m, 0, N);
}

static void constant_cache(void **state)
{
  (void)state;
  struct rig r;
  rig_params(&r, "rtx-3070");
  assert_int_equal(constants(true), 5);
  assert_true(constants(false) >= 5 * r.params.l1i_miss_latency);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(prefetcher),     cmocka_unit_test(read_ports),
      cmocka_unit_test(register_cache), cmocka_unit_test(instruction_buffer),
      cmocka_unit_test(constant_cache),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
