/* RV64GC: decoding, what instructions do, memory across pages, code that changes. Words are encoded by hand; expected
 * values come from the manual's formulas, from other arithmetic, or (pairs of compressed and whole instructions) from
 * the GNU assembler. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "func/rv64/rv64_core.h"
#include "func/rv64/rv64_fp.h"

enum { PAGES = 8, BASE = 0x10000 };

/* A few pages of memory at BASE; the last one cannot be written, the last but one not executed. */
struct rig {
  uint8_t byte[PAGES * RV64_PAGE_BYTES];
  struct rv64_core *core;
};

static uint8_t *rig_page(void *os, uint64_t addr, enum rv64_access access)
{
  struct rig *r = os;
  const uint64_t n = (addr - BASE) / RV64_PAGE_BYTES;
  if (addr < BASE || n >= PAGES || (access == RV64_WRITE && n == PAGES - 1) || (access == RV64_FETCH && n == PAGES - 2))
    return NULL;
  return r->byte + n * RV64_PAGE_BYTES;
}

static struct rig *rig_new(void)
{
  struct rig *r = calloc(1, sizeof *r);
  r->core = rv64_core_new(&(struct rv64_memory){.os = r, .page = rig_page});
  r->core->hart.pc = BASE;
  return r;
}

static void rig_free(struct rig *r)
{
  rv64_core_free(r->core);
  free(r);
}

static void put(struct rig *r, uint64_t addr, uint32_t word)
{
  memcpy(r->byte + (addr - BASE), &word, 4);
}

enum { ECALL = 0x73 };

static uint32_t r_type(uint32_t opcode, uint32_t f3, uint32_t f7, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
  return opcode | rd << 7 | f3 << 12 | rs1 << 15 | rs2 << 20 | f7 << 25;
}

static uint32_t i_type(uint32_t opcode, uint32_t f3, uint32_t rd, uint32_t rs1, int32_t imm)
{
  return opcode | rd << 7 | f3 << 12 | rs1 << 15 | (uint32_t)imm << 20;
}

static uint32_t s_type(uint32_t opcode, uint32_t f3, uint32_t rs1, uint32_t rs2, int32_t imm)
{
  return opcode | ((uint32_t)imm & 31) << 7 | f3 << 12 | rs1 << 15 | rs2 << 20 | ((uint32_t)imm >> 5) << 25;
}

/* One instruction, and what stopped the run behind it. */
static enum rv64_stop one(struct rig *r, uint32_t word)
{
  put(r, BASE, word);
  put(r, BASE + 4, ECALL);
  rv64_forget_code(r->core);
  r->core->hart.pc = BASE;
  return rv64_run(r->core, 2);
}

static void test_compressed(void **state)
{
  static const struct { uint16_t parcel; uint32_t word; } pair[] = {
      {0x1fe8, 0x3fc10513}, /* c.addi4spn a0, sp, 1020 */
      {0x3c6c, 0x0f843587}, /* c.fld fa1, 248(s0) */
      {0x5fe4, 0x07c7a483}, /* c.lw s1, 124(a5) */
      {0x7cf8, 0x0f84b703}, /* c.ld a4, 248(s1) */
      {0xa500, 0x00853427}, /* c.fsd fs0, 8(a0) */
      {0xc2b0, 0x04c6a023}, /* c.sw a2, 64(a3) */
      {0xe2d0, 0x08c6b023}, /* c.sd a2, 128(a3) */
      {0x0001, 0x00000013}, /* c.nop */
      {0x1281, 0xfe028293}, /* c.addi t0, -32 */
      {0x237d, 0x01f3031b}, /* c.addiw t1, 31 */
      {0x58fd, 0xfff00893}, /* c.li a7, -1 */
      {0x7101, 0xe0010113}, /* c.addi16sp sp, -512 */
      {0x617d, 0x1f010113}, /* c.addi16sp sp, 496 */
      {0x7905, 0xfffe1937}, /* c.lui s2, 0xfffe1 */
      {0x93fd, 0x03f7d793}, /* c.srli a5, 63 */
      {0x8785, 0x4017d793}, /* c.srai a5, 1 */
      {0x9bf5, 0xffd7f793}, /* c.andi a5, -3 */
      {0x8c1d, 0x40f40433}, /* c.sub s0, a5 */
      {0x8c3d, 0x00f44433}, /* c.xor s0, a5 */
      {0x8c5d, 0x00f46433}, /* c.or s0, a5 */
      {0x8c7d, 0x00f47433}, /* c.and s0, a5 */
      {0x9c1d, 0x40f4043b}, /* c.subw s0, a5 */
      {0x9c3d, 0x00f4043b}, /* c.addw s0, a5 */
      {0x1fa2, 0x028f9f93}, /* c.slli t6, 40 */
      {0x34fe, 0x1f813487}, /* c.fldsp fs1, 504(sp) */
      {0x50fe, 0x0fc12083}, /* c.lwsp ra, 252(sp) */
      {0x70fe, 0x1f813083}, /* c.ldsp ra, 504(sp) */
      {0x8082, 0x00008067}, /* c.jr ra */
      {0x857e, 0x01f00533}, /* c.mv a0, t6 */
      {0x9002, 0x00100073}, /* c.ebreak */
      {0x9282, 0x000280e7}, /* c.jalr t0 */
      {0x957e, 0x01f50533}, /* c.add a0, t6 */
      {0xbfc6, 0x1f113c27}, /* c.fsdsp fa7, 504(sp) */
      {0xdfee, 0x0fb12e23}, /* c.swsp s11, 252(sp) */
      {0xffee, 0x1fb13c23}, /* c.sdsp s11, 504(sp) */
  };
  (void)state;
  for (unsigned i = 0; i < sizeof pair / sizeof *pair; i++) assert_int_equal(rv64_expand(pair[i].parcel), pair[i].word);
  /* Jumps, with the distances that the assembler had: 0xce, 0 - 2, 0xce - 4, 0 - 0xce, 0x112 - 0xd0. */
  static const struct { uint16_t parcel; unsigned op; uint8_t reg; int64_t to; } jump[] = {
      {0xa0f9, RV64_JAL, 0, 0xce}, {0xdd7d, RV64_BEQ, 10, -2}, {0xe4e9, RV64_BNE, 9, 0xca},
      {0xbf0d, RV64_JAL, 0, -0xce}, {0xe3a9, RV64_BNE, 15, 0x42},
  };
  for (unsigned i = 0; i < sizeof jump / sizeof *jump; i++) {
    struct rv64_inst in;
    rv64_decode(jump[i].parcel, &in);
    assert_int_equal(in.op, jump[i].op);
    assert_int_equal(in.imm, jump[i].to);
    assert_int_equal(in.parcels, 1);
    if (in.op != RV64_JAL) assert_int_equal(in.rs1, jump[i].reg);
  }
  /* Reserved: all zeros, ADDI4SPN and LUI of 0, ADDIW, LWSP, LDSP, JR with x0, the empty places of quadrant 0 and 1. */
  static const uint16_t bad[] = {0x0000, 0x0004, 0x6001, 0x6501, 0x2001, 0x4002, 0x6002, 0x8002, 0x8000, 0x9c41, 0x9c61};
  for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct rv64_inst in;
    rv64_decode(bad[i], &in);
    assert_int_equal(in.op, RV64_ILLEGAL);
    assert_int_equal(in.parcels, 1);
  }
}

/* Every row decodes to itself, whatever its free bits are; words that no row has are illegal. */
static void test_decode(void **state)
{
  static const struct { uint32_t mask, match; } row[] = {
#define RV64INST(id, name, mask, match, format) {mask, match},
#include "isa/rv64/rv64.def"
#undef RV64INST
  };
  (void)state;
  uint32_t s = 12345;
  for (unsigned i = 0; i < sizeof row / sizeof *row; i++)
    for (unsigned k = 0; k < 200; k++) {
      s = s * 1664525 + 1013904223;
      struct rv64_inst in;
      rv64_decode(row[i].match | (s & ~row[i].mask), &in);
      const bool bad_rounding = in.rm == 5 || in.rm == 6;
      if (in.op != RV64_ILLEGAL || !bad_rounding) assert_int_equal(in.op, RV64_PAGE_END + 1 + i);
      assert_int_equal(in.parcels, 2);
      if (in.op != RV64_ILLEGAL) assert_true(in.rd <= RV64_NOWHERE && in.rs1 < 32 && in.rs2 < 32 && in.rs3 < 32);
    }
  static const uint32_t bad[] = {0xffffffff, 0x0000707f, 0x00002063, 0x0000707b, 0x80000033, 0x00007003, 0x30200073};
  for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct rv64_inst in;
    rv64_decode(bad[i], &in);
    assert_int_equal(in.op, RV64_ILLEGAL);
  }
}

static uint64_t sext(uint32_t v)
{
  return (uint64_t)(int64_t)(int32_t)v;
}

/* Upper half of a product, by schoolbook multiplication of 32-bit halves. */
static uint64_t mulhu(uint64_t a, uint64_t b)
{
  const uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
  const uint64_t mid = ah * bl + (al * bl >> 32), other = al * bh + (uint32_t)mid;
  return ah * bh + (mid >> 32) + (other >> 32);
}

static uint64_t mulh(uint64_t a, uint64_t b)
{
  return mulhu(a, b) - ((int64_t)a < 0 ? b : 0) - ((int64_t)b < 0 ? a : 0);
}

static const uint64_t operand[] = {0, 1, 2, 31, 32, 63, 64, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
                                   0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, 0xfffffffffffffffe,
                                   0x123456789abcdef0, 0xfedcba9876543210, 0xffffffff80000000};
enum { OPERANDS = sizeof operand / sizeof *operand };

static void check_r(struct rig *r, uint32_t opcode, uint32_t f3, uint32_t f7, uint64_t a, uint64_t b, uint64_t expected)
{
  r->core->hart.x[5] = a;
  r->core->hart.x[6] = b;
  assert_int_equal(one(r, r_type(opcode, f3, f7, 7, 5, 6)), RV64_STOP_ECALL);
  if (r->core->hart.x[7] != expected) print_message("opcode %x f3 %u f7 %x\n", opcode, f3, f7);
  assert_int_equal(r->core->hart.x[7], expected);
}

static void check_division(struct rig *r, uint64_t a, uint64_t b)
{
  const int64_t s = (int64_t)a, t = (int64_t)b;
  const bool over = s == INT64_MIN && t == -1;
  check_r(r, 0x33, 4, 1, a, b, b == 0 ? UINT64_MAX : over ? a : (uint64_t)(s / t));
  check_r(r, 0x33, 5, 1, a, b, b == 0 ? UINT64_MAX : a / b);
  check_r(r, 0x33, 6, 1, a, b, b == 0 ? a : over ? 0 : (uint64_t)(s % t));
  check_r(r, 0x33, 7, 1, a, b, b == 0 ? a : a % b);
  const uint32_t c = (uint32_t)a, d = (uint32_t)b;
  const int64_t sc = (int32_t)c, sd = (int32_t)d;
  check_r(r, 0x3b, 4, 1, a, b, d == 0 ? UINT64_MAX : sext((uint32_t)(sc / sd)));
  check_r(r, 0x3b, 5, 1, a, b, d == 0 ? UINT64_MAX : sext(c / d));
  check_r(r, 0x3b, 6, 1, a, b, d == 0 ? sext(c) : sext((uint32_t)(sc % sd)));
  check_r(r, 0x3b, 7, 1, a, b, d == 0 ? sext(c) : sext(c % d));
}

static void test_integers(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  for (unsigned i = 0; i < OPERANDS; i++)
    for (unsigned k = 0; k < OPERANDS; k++) {
      const uint64_t a = operand[i], b = operand[k];
      check_r(r, 0x33, 0, 0, a, b, a + b);
      check_r(r, 0x33, 0, 32, a, b, a - b);
      check_r(r, 0x33, 1, 0, a, b, a << b % 64);
      check_r(r, 0x33, 2, 0, a, b, (a ^ 1ull << 63) < (b ^ 1ull << 63));
      check_r(r, 0x33, 3, 0, a, b, a < b);
      check_r(r, 0x33, 5, 0, a, b, a >> b % 64);
      check_r(r, 0x33, 5, 32, a, b, a >> 63 ? ~(~a >> b % 64) : a >> b % 64);
      check_r(r, 0x3b, 0, 0, a, b, sext((uint32_t)(a + b)));
      check_r(r, 0x3b, 0, 32, a, b, sext((uint32_t)(a - b)));
      check_r(r, 0x3b, 1, 0, a, b, sext((uint32_t)a << b % 32));
      check_r(r, 0x3b, 5, 0, a, b, sext((uint32_t)a >> b % 32));
      check_r(r, 0x3b, 5, 32, a, b, sext(a >> 31 & 1 ? ~(~(uint32_t)a >> b % 32) : (uint32_t)a >> b % 32));
      check_r(r, 0x33, 0, 1, a, b, a * b);
      check_r(r, 0x33, 1, 1, a, b, mulh(a, b));
      check_r(r, 0x33, 2, 1, a, b, mulhu(a, b) - ((int64_t)a < 0 ? b : 0));
      check_r(r, 0x33, 3, 1, a, b, mulhu(a, b));
      check_r(r, 0x3b, 0, 1, a, b, sext((uint32_t)(a * b)));
      check_division(r, a, b);
    }
  /* x0 stays 0. */
  r->core->hart.x[5] = 7;
  one(r, r_type(0x33, 0, 0, 0, 5, 5));
  assert_int_equal(r->core->hart.x[0], 0);
  rig_free(r);
}

static void test_memory(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct rv64_hart *h = &r->core->hart;
  const uint64_t edge = BASE + 2 * RV64_PAGE_BYTES, value = 0x8182838485868788;
  for (unsigned back = 0; back < 9; back++) { /* across two pages, too */
    h->x[5] = edge - back;
    h->x[6] = value;
    assert_int_equal(one(r, s_type(0x23, 3, 5, 6, 0)), RV64_STOP_ECALL);
    static const uint64_t expected[] = {0xffffffffffffff88, 0xffffffffffff8788, 0xffffffff85868788, 0x8182838485868788,
                                        0x88, 0x8788, 0x85868788};
    for (unsigned f3 = 0; f3 < 7; f3++) {
      assert_int_equal(one(r, i_type(3, f3, 7, 5, 0)), RV64_STOP_ECALL);
      assert_int_equal(h->x[7], expected[f3]);
    }
  }
  /* Not allowed: the first byte that is not, no effect, the pc of the instruction. */
  const uint64_t readonly = BASE + (PAGES - 1) * RV64_PAGE_BYTES, end = readonly + RV64_PAGE_BYTES;
  h->x[5] = readonly - 4;
  h->x[6] = UINT64_MAX;
  assert_int_equal(one(r, s_type(0x23, 3, 5, 6, 0)), RV64_STOP_STORE);
  assert_int_equal(r->core->trap_value, readonly);
  assert_int_equal(r->byte[readonly - 4 - BASE], 0);
  assert_int_equal(h->pc, BASE);
  h->x[5] = end - 4;
  h->x[7] = 99;
  assert_int_equal(one(r, i_type(3, 3, 7, 5, 0)), RV64_STOP_LOAD);
  assert_int_equal(r->core->trap_value, end);
  assert_int_equal(h->x[7], 99);
  h->x[5] = UINT64_MAX - 3;
  assert_int_equal(one(r, i_type(3, 3, 7, 5, 0)), RV64_STOP_LOAD);
  /* No right to execute. */
  h->pc = readonly - RV64_PAGE_BYTES;
  assert_int_equal(rv64_run(r->core, 1), RV64_STOP_FETCH);
  assert_int_equal(r->core->trap_value, readonly - RV64_PAGE_BYTES);
  rig_free(r);
}

static void test_atomics(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct rv64_hart *h = &r->core->hart;
  const uint64_t at = BASE + 0x1000;
  static const struct { uint32_t f5; uint64_t old, with, expected; } amo[] = {
      {1, 5, 9, 9}, {0, UINT64_MAX, 2, 1}, {4, 0xf0, 0xff, 0x0f}, {12, 0xf3, 0x3f, 0x33}, {8, 0xf0, 0x0f, 0xff},
      {16, 5, UINT64_MAX, UINT64_MAX}, {20, 5, UINT64_MAX, 5}, {24, 5, UINT64_MAX, 5}, {28, 5, UINT64_MAX, UINT64_MAX},
  };
  for (unsigned i = 0; i < sizeof amo / sizeof *amo; i++) {
    memcpy(r->byte + 0x1000, &amo[i].old, 8);
    h->x[5] = at;
    h->x[6] = amo[i].with;
    assert_int_equal(one(r, r_type(0x2f, 3, amo[i].f5 << 2, 7, 5, 6)), RV64_STOP_ECALL);
    assert_int_equal(h->x[7], amo[i].old);
    assert_memory_equal(r->byte + 0x1000, &amo[i].expected, 8);
    /* 32 bits: the other half of the word stays, the old value is sign-extended. */
    const uint64_t both = 0xabcdef0000000000 | (uint32_t)amo[i].old;
    const uint64_t then = 0xabcdef0000000000 | (uint32_t)amo[i].expected;
    memcpy(r->byte + 0x1000, &both, 8);
    assert_int_equal(one(r, r_type(0x2f, 2, amo[i].f5 << 2, 7, 5, 6)), RV64_STOP_ECALL);
    assert_int_equal(h->x[7], sext((uint32_t)amo[i].old));
    assert_memory_equal(r->byte + 0x1000, &then, 8);
  }
  /* SC succeeds once behind LR, at the same place. */
  h->x[5] = at;
  h->x[6] = 77;
  one(r, r_type(0x2f, 3, 2 << 2, 7, 5, 0));
  one(r, r_type(0x2f, 3, 3 << 2, 7, 5, 6));
  assert_int_equal(h->x[7], 0);
  assert_int_equal(r->byte[0x1000], 77);
  h->x[6] = 78;
  one(r, r_type(0x2f, 3, 3 << 2, 7, 5, 6));
  assert_int_equal(h->x[7], 1);
  assert_int_equal(r->byte[0x1000], 77);
  h->x[5] = at + 4;
  assert_int_equal(one(r, r_type(0x2f, 3, 0, 7, 5, 6)), RV64_STOP_MISALIGNED);
  assert_int_equal(r->core->trap_value, at + 4);
  rig_free(r);
}

/* A loop that stores a new instruction over one it has run: the next round runs the new one, without FENCE.I. */
static void test_code_changes(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct rv64_hart *h = &r->core->hart;
  put(r, BASE, i_type(0x13, 0, 10, 10, 1));         /* addi a0, a0, 1 */
  put(r, BASE + 4, s_type(0x23, 2, 5, 6, 0));       /* sw x6, 0(x5): over the first one */
  put(r, BASE + 8, i_type(0x13, 0, 11, 11, -1));    /* addi a1, a1, -1 */
  put(r, BASE + 12, 0xfe059ae3);                    /* bne a1, zero, BASE */
  put(r, BASE + 16, ECALL);
  h->x[5] = BASE;
  h->x[6] = i_type(0x13, 0, 10, 10, 100);
  h->x[11] = 5;
  assert_int_equal(rv64_run(r->core, 1000), RV64_STOP_ECALL);
  assert_int_equal(h->x[10], 1 + 4 * 100);
  assert_int_equal(r->core->instret, 5 * 4);
  /* An instruction across two pages whose second half changes. */
  const uint64_t cross = BASE + RV64_PAGE_BYTES - 2;
  for (int i = 1; i < 4; i++) {
    put(r, BASE, s_type(0x23, 1, 5, 6, 2)); /* sh x6, 2(x5), then a jump there */
    put(r, cross, i_type(0x13, 0, 10, 0, 0));
    put(r, cross + 4, ECALL);
    const uint32_t offset = (uint32_t)(cross - (BASE + 4));
    put(r, BASE + 4, 0x6f | (offset >> 12 & 0xff) << 12 | (offset >> 11 & 1) << 20 | (offset >> 1 & 0x3ff) << 21);
    if (i == 1) rv64_forget_code(r->core);
    h->x[5] = cross;
    h->x[6] = (uint64_t)i << 4; /* upper half of the word: the immediate */
    h->pc = BASE;
    assert_int_equal(rv64_run(r->core, 100), RV64_STOP_ECALL);
    assert_int_equal(h->x[10], i);
  }
  rig_free(r);
}

static void test_budget(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  for (unsigned i = 0; i < 2000; i++) put(r, BASE + 4 * i, i_type(0x13, 0, 10, 10, 1)); /* over a page's end */
  for (uint64_t n = 1; n < 30; n++) {
    const uint64_t before = r->core->instret, pc = r->core->hart.pc;
    assert_int_equal(rv64_run(r->core, n), RV64_STOP_BUDGET);
    assert_int_equal(r->core->instret, before + n);
    assert_int_equal(r->core->hart.pc, pc + 4 * n);
    assert_int_equal(r->core->hart.x[10], before + n);
  }
  rv64_run(r->core, 1024);
  assert_int_equal(r->core->hart.x[10], r->core->instret);
  rig_free(r);
}

static uint64_t bits_of(double d)
{
  uint64_t u;
  memcpy(&u, &d, 8);
  return u;
}

static uint64_t bits_of_f(float f)
{
  uint32_t u;
  memcpy(&u, &f, 4);
  return RV64_BOX | u;
}

/* A sum or product of floats, exact in double, to nearest with ties away: the nearer of its two neighbours. */
static float nearest_away(double exact)
{
  float f = (float)exact;
  const float up = nextafterf(f, INFINITY), down = nextafterf(f, -INFINITY), other = exact > f ? up : down;
  const double here = fabs(exact - f), there = fabs(exact - other);
  return there < here || (there == here && fabs(other) > fabs(f)) ? other : f;
}

static void test_rounding(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct rv64_hart *h = &r->core->hart;
  uint32_t s = 1;
  unsigned ties = 0;
  for (int i = 0; i < 20000; i++) {
    s = s * 1664525 + 1013904223;
    const float a = (float)(s >> 8) * 0x1p-3f, b = (float)(s % 4096) * 0x1p-6f;
    h->f[1] = bits_of_f(a);
    h->f[2] = bits_of_f(i % 2 ? b : -b);
    const double sum = (double)a + (i % 2 ? b : -b), product = (double)a * (i % 2 ? b : -b);
    one(r, r_type(0x53, 4, 0, 3, 1, 2));
    assert_int_equal(h->f[3], bits_of_f(nearest_away(sum)));
    one(r, r_type(0x53, 4, 2 << 2, 4, 1, 2));
    assert_int_equal(h->f[4], bits_of_f(nearest_away(product)));
    ties += (float)sum != nearest_away(sum);
  }
  assert_true(ties > 100);
  /* 1 + 2^-53 in all five modes; -(...) too. */
  static const double expected[5] = {1, 1, 1, 0x1.0000000000001p0, 0x1.0000000000001p0};
  static const double negative[5] = {-1, -1, -0x1.0000000000001p0, -1, -0x1.0000000000001p0};
  for (uint32_t rm = 0; rm < 5; rm++) {
    h->f[1] = bits_of(1);
    h->f[2] = bits_of(0x1p-53);
    h->fflags = 0;
    one(r, r_type(0x53, rm, 1, 3, 1, 2));
    assert_int_equal(h->f[3], bits_of(expected[rm]));
    assert_int_equal(h->fflags, RV64_NX);
    h->frm = (uint8_t)rm; /* the dynamic mode */
    h->f[1] = bits_of(-1);
    h->f[2] = bits_of(-0x1p-53);
    one(r, r_type(0x53, 7, 1, 3, 1, 2));
    assert_int_equal(h->f[3], bits_of(negative[rm]));
  }
  h->frm = 5;
  assert_int_equal(one(r, r_type(0x53, 7, 1, 3, 1, 2)), RV64_STOP_ILLEGAL);
  rig_free(r);
}

static void test_floats(void **state)
{
  enum { F5_ADD = 0, F5_MUL = 2, F5_DIV = 3, F5_MINMAX = 5 };
  static const struct { uint32_t f5, f3; uint64_t a, b, result; uint8_t flags; } d[] = {
      {F5_DIV, 0, 0x3ff0000000000000, 0, 0x7ff0000000000000, RV64_DZ},
      {F5_DIV, 0, 0, 0, 0x7ff8000000000000, RV64_NV},
      {F5_MUL, 0, 0x7fefffffffffffff, 0x4000000000000000, 0x7ff0000000000000, RV64_OF | RV64_NX},
      {F5_MUL, 1, 0x7fefffffffffffff, 0x4000000000000000, 0x7fefffffffffffff, RV64_OF | RV64_NX},
      {F5_MUL, 0, 1, 0x3fe0000000000000, 0, RV64_UF | RV64_NX},
      {F5_MUL, 4, 1, 0x3fe0000000000000, 1, RV64_UF | RV64_NX},
      {F5_MUL, 4, 0x7fefffffffffffff, 0x4000000000000000, 0x7ff0000000000000, RV64_OF | RV64_NX},
      {F5_ADD, 0, 0xfff8000000001234, 0, 0x7ff8000000000000, 0},       /* a quiet NaN: canonical, no flag */
      {F5_ADD, 0, 0x7ff0000000000001, 0, 0x7ff8000000000000, RV64_NV}, /* a signaling one */
      {F5_MINMAX, 0, 0x8000000000000000, 0, 0x8000000000000000, 0},    /* -0 below +0 */
      {F5_MINMAX, 1, 0x8000000000000000, 0, 0, 0},
      {F5_MINMAX, 0, 0x7ff8000000000000, 0x3ff0000000000000, 0x3ff0000000000000, 0},
      {F5_MINMAX, 1, 0x7ff0000000000001, 0x3ff0000000000000, 0x3ff0000000000000, RV64_NV},
  };
  (void)state;
  struct rig *r = rig_new();
  struct rv64_hart *h = &r->core->hart;
  for (unsigned i = 0; i < sizeof d / sizeof *d; i++) {
    h->f[1] = d[i].a;
    h->f[2] = d[i].b;
    h->fflags = 0;
    one(r, r_type(0x53, d[i].f3, d[i].f5 << 2 | 1, 3, 1, 2));
    assert_int_equal(h->f[3], d[i].result);
    assert_int_equal(h->fflags, d[i].flags);
  }
  /* Single precision that is not NaN-boxed is a NaN. */
  h->f[1] = 0x3f800000;
  h->f[2] = bits_of_f(1);
  one(r, r_type(0x53, 0, 0, 3, 1, 2));
  assert_int_equal(h->f[3], 0xffffffff7fc00000);
  /* Infinity times zero plus a quiet NaN is invalid. */
  h->f[1] = 0x7ff0000000000000;
  h->f[2] = 0;
  h->f[4] = 0x7ff8000000000000;
  h->fflags = 0;
  one(r, 0x43u | 3 << 7 | 1 << 15 | 2 << 20 | 1 << 25 | 4u << 27);
  assert_int_equal(h->fflags, RV64_NV);
  rig_free(r);
}

static void test_conversions(void **state)
{
  static const struct { double v; uint32_t to, rm; uint64_t result; uint8_t flags; } c[] = {
      {-1.5, 0, 1, UINT64_MAX, RV64_NX},         {-1.5, 0, 0, (uint64_t)-2, RV64_NX}, {2.5, 0, 0, 2, RV64_NX},
      {2.5, 0, 4, 3, RV64_NX},                   {-2.5, 0, 4, (uint64_t)-3, RV64_NX}, {2.5, 0, 2, 2, RV64_NX},
      {2.1, 0, 3, 3, RV64_NX},                   {7, 0, 0, 7, 0},                     {2147483647.5, 0, 1, 0x7fffffff, RV64_NX},
      {2147483647.5, 0, 0, 0x7fffffff, RV64_NV}, {-2147483648.0, 0, 0, 0xffffffff80000000, 0},
      {NAN, 0, 0, 0x7fffffff, RV64_NV},          {-INFINITY, 0, 0, 0xffffffff80000000, RV64_NV},
      {-0.5, 1, 1, 0, RV64_NX},                  {-1, 1, 1, 0, RV64_NV},              {4294967295.0, 1, 1, UINT64_MAX, 0},
      {4294967296.0, 1, 1, UINT64_MAX, RV64_NV}, {NAN, 1, 1, UINT64_MAX, RV64_NV},
      {0x1p63, 2, 1, INT64_MAX, RV64_NV},        {-0x1p63, 2, 1, 1ull << 63, 0},      {0x1p63, 3, 1, 1ull << 63, 0},
      {0x1p64, 3, 1, UINT64_MAX, RV64_NV},       {5e-324, 3, 3, 1, RV64_NX},          {5e-324, 3, 4, 0, RV64_NX},
  };
  (void)state;
  struct rig *r = rig_new();
  struct rv64_hart *h = &r->core->hart;
  for (unsigned i = 0; i < sizeof c / sizeof *c; i++) {
    h->f[1] = bits_of(c[i].v);
    h->fflags = 0;
    one(r, r_type(0x53, c[i].rm, 0x18 << 2 | 1, 7, 1, c[i].to));
    assert_int_equal(h->x[7], c[i].result);
    assert_int_equal(h->fflags, c[i].flags);
  }
  /* To double: 2^64 - 1 rounds by mode. */
  static const double up[5] = {0x1p64, 0x1.fffffffffffffp63, 0x1.fffffffffffffp63, 0x1p64, 0x1p64};
  for (uint32_t rm = 0; rm < 5; rm++) {
    h->x[5] = UINT64_MAX;
    one(r, r_type(0x53, rm, 0x1a << 2 | 1, 3, 5, 3));
    assert_int_equal(h->f[3], bits_of(up[rm]));
  }
  /* Subnormal single precision, widened. */
  assert_int_equal(rv64_fp_widen(RV64_BOX | 1), bits_of(0x1p-149));
  assert_int_equal(rv64_fp_widen(RV64_BOX | 0x80400000), bits_of(-0x1p-127));
  rig_free(r);
}

static void test_csr(void **state)
{
  (void)state;
  struct rig *r = rig_new();
  struct rv64_hart *h = &r->core->hart;
  h->x[5] = 0x1ff;
  one(r, i_type(0x73, 1, 7, 5, 3)); /* csrrw x7, fcsr, x5 */
  assert_int_equal(h->fflags, 0x1f);
  assert_int_equal(h->frm, 7);
  one(r, i_type(0x73, 7, 7, 3, 1)); /* csrrci x7, fflags, 3 */
  assert_int_equal(h->x[7], 0x1f);
  assert_int_equal(h->fflags, 0x1c);
  const uint64_t before = r->core->instret;
  one(r, i_type(0x73, 2, 7, 0, (int32_t)0xc02)); /* rdinstret */
  assert_int_equal(h->x[7], before);
  assert_int_equal(one(r, i_type(0x73, 1, 7, 5, (int32_t)0xc02)), RV64_STOP_ILLEGAL); /* read-only */
  assert_int_equal(one(r, i_type(0x73, 2, 7, 0, 0x300)), RV64_STOP_ILLEGAL);          /* mstatus */
  rig_free(r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_compressed), cmocka_unit_test(test_decode),       cmocka_unit_test(test_integers),
      cmocka_unit_test(test_memory),     cmocka_unit_test(test_atomics),      cmocka_unit_test(test_code_changes),
      cmocka_unit_test(test_budget),     cmocka_unit_test(test_rounding),     cmocka_unit_test(test_floats),
      cmocka_unit_test(test_conversions), cmocka_unit_test(test_csr),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
