/* Integer arithmetic, comparison, selection and moves against scalar references.
 *
 * How cases are run: sem_case.h.
 */
#include "sem_case.h"

/* ---- addition and multiplication ------------------------------------------------------------- */

/* k[0]: X. */
static void ref_iadd3(const struct op *o, struct lane *l)
{
  u128 sum = (u128)bits_of(o, 0, l->a) + bits_of(o, 1, l->b) + bits_of(o, 2, l->c);
  if (o->k[0]) {
    sum += pp_of(o, l);
    sum += l->preds >> PQ & 1;
  } else {
    sum += (unsigned)o->neg[0] + o->neg[1] + o->neg[2];
  }
  l->d = (uint32_t)sum;
  result_preds(o, l, sum >> 32 >= 1, sum >> 33 >= 1);
}

static void test_iadd3(void **state)
{
  (void)state;
  for (unsigned neg = 0; neg < 8; neg++) {
    for (unsigned out = 0; out < 4; out++) {
      for (unsigned x = 0; x < 2; x++) {
        struct op o = op(86, 0x210, x ? 0x007fe400 : 0x07ffe000, ABC, ref_iadd3);
        o.k[0] = x;
        if (x) {
          set_pp(&o, neg & 1);
          put(&o, 77, 3, PQ);
          put(&o, 80, 1, 0);
        }
        if (out & 1) put(&o, 81, 3, PU);
        if (out & 2) put(&o, 84, 3, PV);
        for (unsigned k = 0; k < 3; k++) {
          if (neg >> k & 1) set_neg(&o, k);
        }
        check(&o);
        put(&o, 64, 8, SASS_RZ);
        check(&o);
        if (neg & 2) continue;
        set_imm(&o, random32());
        check(&o);
      }
    }
  }
}

static void ref_viadd(const struct op *o, struct lane *l)
{
  uint32_t b = o->neg[1] ? 0 - l->b : l->b;
  l->d = l->a + b;
  if (o->k[0]) {
    uint16_t lo = (uint16_t)(o->neg[1] ? l->a - l->b : l->a + l->b);
    uint16_t x = (uint16_t)(l->a >> 16), y = (uint16_t)(l->b >> 16);
    l->d = lo | (uint32_t)(uint16_t)(o->neg[1] ? x - y : x + y) << 16;
  }
}

static void test_viadd(void **state)
{
  (void)state;
  for (unsigned k = 0; k < 4; k++) {
    struct op o = op(90, 0x236, 0, AB, ref_viadd);
    if (k & 1) set_neg(&o, 1);
    o.k[0] = k >> 1;
    put(&o, 73, 1, k >> 1);
    check(&o);
  }
}

/* k[0]: X. Schoolbook multiplication. */
static void ref_imad(const struct op *o, struct lane *l)
{
  uint32_t product = 0;
  for (unsigned i = 0; i < 32; i++) {
    if (l->b >> i & 1) product += l->a << i;
  }
  uint32_t c = bits_of(o, 2, l->c);
  l->d = product + c + (o->k[0] ? pp_of(o, l) : o->neg[2]);
}

static void test_imad(void **state)
{
  static const uint32_t imm[] = {0, 1, 4, 0x80000000, 0xffffffff, 10};
  (void)state;
  for (unsigned k = 0; k < 4; k++) {
    bool neg = k & 1, x = k & 2;
    struct op o = op(86, 0x224, x ? 0x000e0600 : 0x078e0200, ABC, ref_imad);
    o.k[0] = x;
    if (x) set_pp(&o, neg);
    if (neg) set_neg(&o, 2);
    check(&o);
    put(&o, 64, 8, SASS_RZ);
    check(&o);
    put(&o, 64, 8, RC);
    for (unsigned i = 0; i < sizeof imm / sizeof *imm; i++) {
      set_imm(&o, imm[i]);
      check(&o);
      put(&o, 64, 8, SASS_RZ);
      check(&o);
      put(&o, 64, 8, RC);
      put(&o, 24, 8, SASS_RZ);
      check(&o);
      put(&o, 24, 8, RA);
    }
  }
}

/* k[0]: X, k[1]: signed, k[2]: high word only. */
static void ref_wide(const struct op *o, struct lane *l)
{
  __int128 a = o->k[1] ? (__int128)(int32_t)l->a : (__int128)l->a;
  __int128 b = o->k[1] ? (__int128)(int32_t)l->b : (__int128)l->b;
  u128 two64 = (u128)1 << 64;
  uint64_t product = (uint64_t)(a * b), c = l->c | (uint64_t)l->c_hi << 32;
  if (o->neg[2]) c = ~c;
  u128 sum = (u128)product + c + (o->k[0] ? pp_of(o, l) : o->neg[2]);
  result_preds(o, l, sum >= two64, false);
  uint64_t r = (uint64_t)sum;
  l->d = (uint32_t)(o->k[2] ? r >> 32 : r);
  l->d_hi = (uint32_t)(r >> 32);
}

static void test_imad_wide(void **state)
{
  static const uint32_t imm[] = {1, 4, 0x40000000, 0x80000000, 0xcccccccd};
  (void)state;
  for (unsigned k = 0; k < 32; k++) {
    bool neg = k & 1, x = k & 2, is_signed = k & 4, high = k & 8, out = k & 16;
    struct op o = op(86, high ? 0x227 : 0x225, x ? 0x000e0400 : 0x078e0000, ABC, ref_wide);
    o.k[0] = x, o.k[1] = is_signed, o.k[2] = high;
    o.wide = !high;
    put(&o, 73, 1, is_signed);
    if (x) set_pp(&o, false);
    if (neg) set_neg(&o, 2);
    if (out) put(&o, 81, 3, PU);
    check(&o);
    put(&o, 64, 8, SASS_RZ);
    check(&o);
    for (unsigned i = 0; i < sizeof imm / sizeof *imm; i++) {
      put(&o, 64, 8, i & 1 ? SASS_RZ : RC);
      set_imm(&o, imm[i]);
      check(&o);
    }
  }
}

/* k[0]: X, k[1]: HI, k[2]: SX32, k[3]: shift. */
static void ref_lea(const struct op *o, struct lane *l)
{
  u128 a = l->a | (u128)l->c << 32;
  if (o->k[2]) a = (u128)(__int128)(int32_t)l->a;
  a <<= o->k[3];
  uint32_t word = (uint32_t)(o->k[1] ? a >> 32 : a);
  u128 sum = (u128)bits_of(o, 0, word) + bits_of(o, 1, l->b);
  sum += o->k[0] ? pp_of(o, l) : (unsigned)o->neg[0] + o->neg[1];
  l->d = (uint32_t)sum;
  result_preds(o, l, sum >> 32 != 0, false);
}

static void test_lea(void **state)
{
  static const unsigned shift[] = {0, 1, 2, 16, 30, 31};
  (void)state;
  for (unsigned k = 0; k < 96; k++) {
    bool x = k & 1, out = k & 2;
    unsigned form = k >> 2 & 3, neg = k / 16 % 3, s = random32() % 6;
    if (form == 3) continue; /* 0 low, 1 HI, 2 HI.SX32 */
    struct op o = op(86, 0x211, x ? 0x000e0400 : 0x078e0000, form == 1 ? ABC : AB, ref_lea);
    if (form != 1) put(&o, 64, 8, SASS_RZ);
    o.k[0] = x, o.k[1] = form != 0, o.k[2] = form == 2, o.k[3] = shift[s];
    put(&o, 75, 5, shift[s]);
    put(&o, 80, 1, form != 0);
    put(&o, 73, 1, form == 2);
    if (x) set_pp(&o, k & 32);
    if (out) put(&o, 81, 3, PU);
    if (neg) set_neg(&o, neg - 1);
    check(&o);
  }
}

/* ---- comparison, minimum, selection ---------------------------------------------------------- */

static bool compare_op(unsigned cmp, int64_t x, int64_t y)
{
  switch (cmp) {
  case 0: return false;
  case 1: return x < y;
  case 2: return x == y;
  case 3: return x <= y;
  case 4: return x > y;
  case 5: return x != y;
  case 6: return x >= y;
  default: return true;
  }
}

static bool combine(unsigned op, bool x, bool p)
{
  return op == 0 ? x && p : op == 1 ? x || p : x != p;
}

/* k[0] compare, k[1] signed, k[2] combine, k[3] EX. */
static void ref_isetp(const struct op *o, struct lane *l)
{
  int64_t x = o->k[1] ? (int32_t)l->a : (int64_t)l->a, y = o->k[1] ? (int32_t)l->b : (int64_t)l->b;
  bool r = compare_op(o->k[0], x, y);
  if (o->k[3] && x == y && o->k[0] != 0 && o->k[0] != 7) r = l->preds >> PR & 1;
  bool p = pp_of(o, l);
  result_preds(o, l, combine(o->k[2], r, p), combine(o->k[2], !r, p));
}

static void isetp_case(struct op o, unsigned k)
{
  o.k[0] = k & 7, o.k[1] = k >> 3 & 1, o.k[2] = k >> 4 & 3, o.k[3] = k >> 6 & 1;
  put(&o, 76, 3, o.k[0]);
  put(&o, 73, 1, o.k[1]);
  put(&o, 74, 2, o.k[2]);
  put(&o, 72, 1, o.k[3]);
  if (o.k[3]) put(&o, 68, 4, PR);
  set_pp(&o, k & 1);
  put(&o, 81, 3, PU);
  put(&o, 84, 3, k & 2 ? PV : 7);
  check(&o);
}

static void test_isetp(void **state)
{
  (void)state;
  for (unsigned k = 0; k < 128; k++) {
    if ((k >> 4 & 3) == 3) continue;
    isetp_case(op(86, 0x20c, 0x03f00070, USES_A | USES_B, ref_isetp), k);
    isetp_case(uop_word(0x28c, 0x0bf00070, USES_A | USES_B, ref_isetp), k);
  }
}

static int64_t half_of(uint32_t v, unsigned k, bool is_signed)
{
  uint16_t h = (uint16_t)(v >> 16 * k);
  return is_signed ? (int16_t)h : h;
}

static int64_t pick_minmax(bool want_min, int64_t x, int64_t y)
{
  return want_min == (x < y) ? x : y;
}

/* k[0] format: 0 U32, 1 S32, 2 U16x2, 3 S16x2; k[1] RELU; k[2] 0 two, 1 three operands, 2 add. */
static void ref_minmax(const struct op *o, struct lane *l)
{
  bool is_signed = o->k[0] & 1, want_min = pp_of(o, l), chose[2] = {false, false};
  unsigned width = o->k[0] & 2 ? 16 : 32, n = 32 / width;
  uint32_t r = 0;
  for (unsigned k = 0; k < n; k++) {
    int64_t x = n == 2 ? half_of(l->a, k, is_signed) : is_signed ? (int32_t)l->a : (int64_t)l->a;
    int64_t y = n == 2 ? half_of(l->b, k, is_signed) : is_signed ? (int32_t)l->b : (int64_t)l->b;
    int64_t z = n == 2 ? half_of(l->c, k, is_signed) : is_signed ? (int32_t)l->c : (int64_t)l->c;
    if (o->k[2] == 2) {
      uint32_t sum = (uint32_t)(x + (o->neg[1] ? -y : y));
      x = n == 2 ? half_of(sum, 0, is_signed) : is_signed ? (int32_t)sum : (int64_t)sum;
      y = z;
    }
    chose[k] = want_min ? x <= y : x >= y;
    int64_t v = pick_minmax(want_min, x, y);
    if (o->k[2] == 1) v = pick_minmax(want_min, v, z);
    if (o->k[1] && v < 0) v = 0;
    r |= ((uint32_t)v & (uint32_t)bits_ones(width)) << (k * width);
  }
  l->d = r;
  if (o->k[3]) result_preds(o, l, chose[0], chose[1]);
}

static void test_minmax(void **state)
{
  static const unsigned opcode[3] = {0x248, 0x20f, 0x246};
  (void)state;
  for (unsigned k = 0; k < 4; k++) {
    struct op o = op(86, 0x217, 0x07800000, AB, ref_minmax);
    o.k[0] = k & 1;
    put(&o, 73, 1, k & 1);
    set_pp(&o, k & 2);
    check(&o);
    put(&o, 87, 3, 7); /* always minimum, always maximum */
    check(&o);
  }
  for (unsigned k = 0; k < 96; k++) {
    unsigned fmt = k & 3, relu = k >> 2 & 1, form = k / 32;
    if (relu && !(fmt & 1)) continue;
    struct op o = op(90, opcode[form], form ? 0 : 0x007e0000, form ? ABC : AB, ref_minmax);
    o.k[0] = fmt, o.k[1] = relu, o.k[2] = form;
    put(&o, 72, 2, fmt);
    put(&o, 76, 1, relu);
    set_pp(&o, k & 8);
    if (form == 2 && k & 16) set_neg(&o, 1);
    o.k[3] = form == 0 && k & 16 && fmt >= 2 && !relu;
    if (o.k[3]) put(&o, 81, 3, PU), put(&o, 84, 3, PV);
    check(&o);
  }
}

static void ref_sel(const struct op *o, struct lane *l)
{
  l->d = pp_of(o, l) ? l->a : l->b;
}

static void ref_mov(const struct op *o, struct lane *l)
{
  (void)o;
  l->d = l->a;
}

/* k[0]: shift of the byte. */
static void ref_p2r(const struct op *o, struct lane *l)
{
  uint32_t d = l->a;
  for (unsigned k = 0; k < 8; k++) {
    uint32_t bit = 1u << (k + o->k[0]);
    if (!(l->b >> k & 1)) continue;
    d = k < 7 && l->preds >> k & 1 ? d | bit : d & ~bit;
  }
  l->d = d;
}

static void ref_r2p(const struct op *o, struct lane *l)
{
  for (unsigned k = 0; k < 7; k++) {
    if (l->b >> k & 1) set_pred(l, k, l->a >> (k + o->k[0]) & 1);
  }
}

static void test_moves(void **state)
{
  (void)state;
  struct op o = op(86, 0x202, 0xf00, USES_D | USES_B, ref_mov);
  check(&o);
  o = uop_word(0xc82, 0x08000000, USES_D | USES_B, ref_mov);
  check(&o);
  for (unsigned k = 0; k < 2; k++) {
    o = op(86, 0x207, 0, AB, ref_sel);
    set_pp(&o, k);
    check(&o);
    o = uop_word(0x287, 0x08000000, AB, ref_sel);
    set_pp(&o, k);
    check(&o);
  }
  for (unsigned k = 0; k < 16; k++) {
    uint32_t mask = k < 4 ? 0x7f : random32() & 0x7f;
    o = op(86, 0x203, 0, USES_D | USES_A, ref_p2r);
    set_imm(&o, mask);
    o.k[0] = 8 * (k & 3);
    put(&o, 76, 2, k & 3);
    check(&o);
    o = op(86, 0x204, 0, USES_A, ref_r2p);
    set_imm(&o, mask);
    o.k[0] = 8 * (k & 3);
    put(&o, 76, 2, k & 3);
    check(&o);
    o = uop_word(0x283, 0x08000000, USES_D | USES_A, ref_p2r);
    set_imm(&o, mask);
    o.k[0] = 8 * (k & 3);
    put(&o, 76, 2, k & 3);
    check(&o);
    o = uop_word(0x284, 0x08000000, USES_A, ref_r2p);
    set_imm(&o, mask);
    o.k[0] = 8 * (k & 3);
    put(&o, 76, 2, k & 3);
    check(&o);
  }
}

static void test_uniform(void **state)
{
  (void)state;
  struct op o = uop_word(0x290, 0x0ffe0000 | 0x1e000, ABC, ref_iadd3);
  check(&o);
  put(&o, 81, 3, PU);
  set_neg(&o, 1);
  check(&o);
  o = uop_word(0x290, 0x087fe400, ABC, ref_iadd3);
  o.k[0] = 1;
  set_pp(&o, false);
  put(&o, 77, 4, PQ);
  check(&o);
  o = uop_word(0x2a4, 0x0f8e0200, ABC, ref_imad);
  check(&o);
  o = uop_word(0x2a5, 0x0f8e0200, ABC, ref_wide);
  o.wide = true;
  o.k[1] = 1;
  check(&o);
  o = uop_word(0x291, 0x0f8e0000 | 1 << 16, ABC, ref_lea);
  o.k[1] = 1, o.k[3] = 3;
  put(&o, 75, 5, 3);
  check(&o);
}

/* The other tests run the levels that this processor has. */
static void every_level_runs(void **state)
{
  (void)state;
  for (unsigned l = 0; l < sizeof levels / sizeof levels[0]; l++)
    if (!levels[l].runs) {
      print_message("# skipped: this processor, or a sanitized build, has not all of x86-64-%s\n", levels[l].name);
      skip();
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_iadd3),   cmocka_unit_test(test_viadd),
      cmocka_unit_test(test_imad),    cmocka_unit_test(test_imad_wide),
      cmocka_unit_test(test_lea),     cmocka_unit_test(test_isetp),
      cmocka_unit_test(test_minmax),  cmocka_unit_test(test_moves),
      cmocka_unit_test(test_uniform),
      cmocka_unit_test(every_level_runs),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
