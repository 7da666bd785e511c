/* Integer logic, shifts, bits and bytes, and the uniform datapath, against scalar references.
 *
 * How cases are run: sem_case.h.
 */
#include "sem_case.h"

#include "func/sass/func_launch.h"

/* ---- logic, shifts, bits --------------------------------------------------------------------- */

static uint32_t table_of(unsigned lut, uint32_t a, uint32_t b, uint32_t c)
{
  uint32_t r = 0;
  for (unsigned i = 0; i < 32; i++) {
    unsigned index = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
    r |= (lut >> index & 1) << i;
  }
  return r;
}

/* k[0] table, k[1] PAND. */
static void ref_lop3(const struct op *o, struct lane *l)
{
  l->d = table_of(o->k[0], l->a, l->b, l->c);
  bool p = pp_of(o, l);
  result_preds(o, l, o->k[1] ? l->d != 0 && p : l->d != 0 || p, false);
}

static void test_lop3(void **state)
{
  (void)state;
  for (unsigned lut = 0; lut < 256; lut++) {
    struct op o = op(86, 0x212, 0x078e0000, ABC, ref_lop3);
    o.k[0] = lut;
    put(&o, 72, 8, lut);
    check(&o);
    o.k[1] = lut & 1;
    put(&o, 80, 1, lut & 1);
    put(&o, 81, 3, PU);
    set_pp(&o, lut & 2);
    check(&o);
    if (lut % 8 == 0) put(&o, 16, 8, SASS_RZ), check(&o);
  }
}

/* k[0], k[1]: tables. */
static void ref_plop3(const struct op *o, struct lane *l)
{
  unsigned index = (unsigned)pp_of(o, l) << 2 | (l->preds >> PQ & 1) << 1 | (l->preds >> PR & 1);
  result_preds(o, l, o->k[0] >> index & 1, o->k[1] >> index & 1);
}

static void plop3_case(struct op o, unsigned lut, unsigned lut2)
{
  o.k[0] = lut, o.k[1] = lut2;
  put(&o, 64, 3, lut);
  put(&o, 72, 5, lut >> 3);
  put(&o, 16, 8, lut2);
  put(&o, 81, 3, PU);
  put(&o, 84, 3, PV);
  put(&o, 77, 4, PQ);
  put(&o, 68, 4, PR);
  set_pp(&o, lut & 1);
  check(&o);
}

static void test_plop3(void **state)
{
  (void)state;
  for (unsigned k = 0; k < 256; k += 5) {
    plop3_case(op(86, 0x81c, 0, 0, ref_plop3), k, random32() & 255);
    struct op o = op(86, 0x89c, 0, 0, ref_plop3);
    o.uniform = true;
    plop3_case(o, k, random32() & 255);
  }
}

/* k[0] type: 0 S64, 1 U64, 2 S32, 3 U32; k[1] wrap; k[2] right; k[3] HI. One bit at a time. */
static void ref_shf(const struct op *o, struct lane *l)
{
  unsigned bits = o->k[0] < 2 ? 64 : 32;
  bool is_signed = !(o->k[0] & 1);
  uint64_t v = l->a | (uint64_t)l->c << 32;
  uint32_t n = o->k[1] ? l->b % bits : l->b < bits ? l->b : bits;
  for (uint32_t i = 0; i < n; i++) {
    uint64_t top = is_signed ? v & (1ull << 63) : 0;
    v = o->k[2] ? v >> 1 | top : v << 1;
  }
  l->d = (uint32_t)(o->k[3] ? v >> 32 : v);
}

static void test_shf(void **state)
{
  static const uint32_t imm[] = {0, 1, 16, 31, 32, 33, 63, 64, 0xffffffff};
  (void)state;
  for (unsigned k = 0; k < 32; k++) {
    struct op o = op(86, 0x219, 0, ABC, ref_shf);
    o.k[0] = k & 3, o.k[1] = k >> 2 & 1, o.k[2] = k >> 3 & 1, o.k[3] = k >> 4 & 1;
    put(&o, 73, 2, o.k[0]);
    put(&o, 75, 1, o.k[1]);
    put(&o, 76, 1, o.k[2]);
    put(&o, 80, 1, o.k[3]);
    check(&o);
    for (unsigned i = 0; i < sizeof imm / sizeof *imm; i++) {
      set_imm(&o, imm[i]);
      check(&o);
    }
  }
}

/* PTX ISA, prmt: the four bytes by mode and control value, most significant first. */
static const char *const prmt_table[7][4] = {
    [1] = {"3210", "4321", "5432", "6543"}, [2] = {"5670", "6701", "7012", "0123"},
    [3] = {"0000", "1111", "2222", "3333"}, [4] = {"3210", "3211", "3222", "3333"},
    [5] = {"0000", "1110", "2210", "3210"}, [6] = {"1010", "3232", "1010", "3232"},
};

/* k[0]: mode. */
static void ref_prmt(const struct op *o, struct lane *l)
{
  uint64_t pool = l->a | (uint64_t)l->c << 32;
  uint32_t r = 0;
  for (unsigned k = 0; k < 4; k++) {
    unsigned nibble = l->b >> 4 * k & 15;
    if (o->k[0]) nibble = (unsigned)(prmt_table[o->k[0]][l->b & 3][3 - k] - '0');
    uint32_t byte = pool >> 8 * (nibble & 7) & 0xff;
    if (nibble & 8) byte = byte & 0x80 ? 0xff : 0;
    r |= byte << 8 * k;
  }
  l->d = r;
}

static void test_prmt(void **state)
{
  static const uint32_t imm[] = {0x5410, 0x7632,     0x9910, 0x7770, 0x8880,
                                 0x1054, 0xfedc0123, 1,      2,      3};
  (void)state;
  for (unsigned mode = 0; mode < 7; mode++) {
    struct op o = op(86, 0x216, mode << 8, ABC, ref_prmt);
    o.k[0] = mode;
    check(&o);
    for (unsigned i = 0; i < sizeof imm / sizeof *imm; i++) {
      set_imm(&o, imm[i]);
      check(&o);
    }
  }
}

/* k[0] wrap, k[1] signed. */
static void ref_sgxt(const struct op *o, struct lane *l)
{
  uint32_t n = o->k[0] ? l->b % 32 : l->b, r = 0;
  for (uint32_t i = 0; i < 32; i++) {
    uint32_t from = i < n ? i : n - 1;
    if (i < n || (o->k[1] && n > 0)) r |= (l->a >> from & 1) << i;
  }
  l->d = r;
}

static void ref_bmsk(const struct op *o, struct lane *l)
{
  uint64_t pos = o->k[0] ? l->a % 32 : l->a, n = o->k[0] ? l->b % 32 : l->b;
  l->d = 0;
  for (uint64_t i = 0; i < 32; i++) {
    if (i >= pos && i < pos + n) l->d |= 1u << i;
  }
}

/* k[0] signed, k[1] SH. */
static void ref_flo(const struct op *o, struct lane *l)
{
  uint32_t v = bits_of(o, 1, l->a);
  bool fill = o->k[0] && v >> 31;
  l->d = 0xffffffff;
  for (unsigned i = 0; i < 32; i++) {
    if ((v >> i & 1) != fill) l->d = o->k[1] ? 31 - i : i;
  }
  result_preds(o, l, l->d != 0xffffffff, false);
}

static void ref_brev(const struct op *o, struct lane *l)
{
  uint32_t v = bits_of(o, 1, l->a);
  l->d = 0;
  for (unsigned i = 0; i < 32; i++) l->d |= (v >> i & 1) << (31 - i);
}

static void ref_popc(const struct op *o, struct lane *l)
{
  uint32_t v = bits_of(o, 1, l->a);
  l->d = 0;
  for (unsigned i = 0; i < 32; i++) l->d += v >> i & 1;
}

static void test_bits(void **state)
{
  (void)state;
  for (unsigned k = 0; k < 4; k++) {
    struct op o = op(86, 0x21a, 0, AB, ref_sgxt);
    o.k[0] = k & 1, o.k[1] = k >> 1;
    put(&o, 75, 1, k & 1);
    put(&o, 73, 1, k >> 1);
    check(&o);
    o = op(86, 0x21b, 0, AB, ref_bmsk);
    o.k[0] = k & 1;
    put(&o, 75, 1, k & 1);
    check(&o);
  }
  for (unsigned k = 0; k < 16; k++) {
    struct op o = op(86, 0x300, 0x000e0000, USES_D | USES_B, ref_flo);
    o.k[0] = k & 1, o.k[1] = k >> 1 & 1;
    put(&o, 73, 1, k & 1);
    put(&o, 74, 1, k >> 1 & 1);
    if (k & 4) set_neg(&o, 1);
    if (k & 8) put(&o, 81, 3, PU);
    check(&o);
  }
  struct op o = op(86, 0x301, 0, USES_D | USES_B, ref_brev);
  check(&o);
  o = op(86, 0x309, 0, USES_D | USES_B, ref_popc);
  check(&o);
  set_neg(&o, 1);
  check(&o);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static int64_t part(uint32_t v, unsigned k, unsigned width, bool is_signed)
{
  uint64_t bits = v >> k * width & bits_ones(width);
  return is_signed ? bits_sext(bits, width) : (int64_t)bits;
}

/* k[0] a signed, k[1] b signed, k[2] 2A, k[3] HI. */
static void ref_idp(const struct op *o, struct lane *l)
{
  unsigned n = o->k[2] ? 2 : 4;
  int64_t sum = l->c;
  for (unsigned k = 0; k < n; k++) {
    sum += part(l->a, k, 32 / n, o->k[0]) * part(l->b, k + 2 * o->k[3], 8, o->k[1]);
  }
  l->d = (uint32_t)sum;
}

/* k[0] signed. */
static void ref_vabsdiff(const struct op *o, struct lane *l)
{
  int64_t x = part(l->a, 0, 32, o->k[0]), y = part(l->b, 0, 32, o->k[0]);
  l->d = (uint32_t)((x < y ? y - x : x - y) + l->c);
}

/* k[0] signed, k[1] sum. */
static void ref_vabsdiff4(const struct op *o, struct lane *l)
{
  uint32_t packed = 0, sum = l->c;
  for (unsigned k = 0; k < 4; k++) {
    int64_t diff = part(l->a, k, 8, o->k[0]) - part(l->b, k, 8, o->k[0]);
    packed |= (uint32_t)llabs(diff) << 8 * k;
    sum += (uint32_t)llabs(diff);
  }
  l->d = o->k[1] ? sum : packed;
}

static void ref_iabs(const struct op *o, struct lane *l)
{
  (void)o;
  l->d = (uint32_t)llabs((int32_t)l->a);
}

static void test_bytes(void **state)
{
  (void)state;
  for (unsigned k = 0; k < 16; k++) {
    struct op o = op(86, 0x226, 0, ABC, ref_idp);
    for (unsigned j = 0; j < 4; j++) o.k[j] = k >> j & 1;
    if (o.k[3] && !o.k[2]) continue;
    put(&o, 73, 2, k & 3);
    put(&o, 76, 2, k >> 2);
    check(&o);
  }
  for (unsigned k = 0; k < 4; k++) {
    struct op o = op(86, 0x215, 0x000e0000, k & 2 ? ABC : AB, ref_vabsdiff4);
    o.k[0] = k & 1, o.k[1] = k >> 1;
    if (!(k & 2)) put(&o, 64, 8, SASS_RZ);
    put(&o, 73, 1, k & 1);
    put(&o, 75, 1, k >> 1);
    check(&o);
    o = op(86, 0x214, 0x000e0000, ABC, ref_vabsdiff);
    o.k[0] = k & 1;
    put(&o, 73, 1, k & 1);
    check(&o);
  }
  struct op o = op(86, 0x213, 0, USES_D | USES_B, ref_iabs);
  check(&o);
}

/* ---- uniform datapath ------------------------------------------------------------------------ */

static void test_uniform(void **state)
{
  struct op o;
  (void)state;
  for (unsigned lut = 1; lut < 256; lut += 7) {
    o = uop_word(0x292, 0x0f8e0000, ABC, ref_lop3);
    o.k[0] = lut;
    put(&o, 72, 8, lut);
    check(&o);
  }
  o = uop_word(0x296, 0x08000000, ABC, ref_prmt);
  check(&o);
  o = uop_word(0x299, 0x08001600, ABC, ref_shf); /* R, U32 */
  o.k[0] = 3, o.k[2] = 1;
  check(&o);
  o = uop_word(0x29a, 0x08000200, AB, ref_sgxt);
  o.k[1] = 1;
  check(&o);
  o = uop_word(0x29b, 0x08000000, AB, ref_bmsk);
  check(&o);
  o = uop_word(0x2bd, 0x080e0000, USES_D | USES_B, ref_flo);
  check(&o);
  o = uop_word(0x2be, 0x08000000, USES_D | USES_B, ref_brev);
  check(&o);
  o = uop_word(0x2bf, 0x08000000, USES_D | USES_B, ref_popc);
  check(&o);
}

/* ULDC[.64] UR4, c[0x3][UR4] (words of the compiler) at register value `off`. */
static bool uldc_indexed(unsigned size, uint32_t off, uint64_t *value, struct fault *f)
{
  static struct machine m;
  static struct func_launch launch;
  static const uint32_t bank[] = {0x11111111, 0x82828282, 0x33333333, 0x44444444};
  struct func_cta cta = {0};
  struct effect e = {.active = FULL_MASK};
  struct sass_inst s;
  struct inst t;
  struct err err = {0};
  struct uop u;
  struct op o = {.uniform = true, .w = {0x00c0000004047abbull, 0x000fe40008000000ull}};
  put(&o, 73, 3, size);
  machine_fill(&m, &o);
  static const uint32_t tid[3][LANES];
  launch.ops = sem_select(0)->ops;
  m.w.tid = tid;
  launch.p.bank[3] = (const uint8_t *)bank;
  launch.p.bank_bytes[3] = sizeof bank;
  m.w.launch = &launch;
  m.w.cta = &cta;
  for (unsigned i = 0; i < LANES; i++) m.ureg[4][i] = off;
  assert_true(sass_decode(86, o.w, 0, &s, &t, &err));
  resolve(&s, &o, &u);
  uop_fn *fn = sem_mem_handler(&s, &u);
  assert_non_null(fn);
  if (!fn(&m.w, &u, FULL_MASK, &e, f)) return false;
  *value = m.ureg[4][LANES - 1] | (uint64_t)m.ureg[5][LANES - 1] << 32;
  return true;
}

static void test_uldc_indexed(void **state)
{
  struct fault f = {0};
  uint64_t v = 0;
  (void)state;
  assert_true(uldc_indexed(4, 4, &v, &f));
  assert_int_equal((uint32_t)v, 0x82828282);
  assert_true(uldc_indexed(5, 8, &v, &f));
  assert_true(v == 0x4444444433333333ull);
  assert_true(uldc_indexed(1, 7, &v, &f));
  assert_int_equal((uint32_t)v, 0xffffff82);
  assert_false(uldc_indexed(4, 16, &v, &f));
  assert_int_equal(f.kind, FAULT_ILLEGAL_ADDRESS);
  assert_true(f.addr == (3ull << 32 | 16)); /* bank and offset */
  assert_false(uldc_indexed(5, 4, &v, &f));
  assert_int_equal(f.kind, FAULT_MISALIGNED);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lop3), cmocka_unit_test(test_plop3),   cmocka_unit_test(test_shf),
      cmocka_unit_test(test_prmt), cmocka_unit_test(test_bits),    cmocka_unit_test(test_bytes),
      cmocka_unit_test(test_uniform), cmocka_unit_test(test_uldc_indexed),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
