/* The instruction tables are consistent, and every row decodes what it can encode. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "isa/sass/row.h"

static void test_check(void **state)
{
  struct err e = {""};
  (void)state;
  if (!sass_tables_check(&e)) fail_msg("%s", e.msg);
}

static void test_mnemonics(void **state)
{
  (void)state;
  assert_true(sass_mnemonic_count() > 100);
  for (unsigned i = 0; i + 1 < sass_mnemonic_count(); i++)
    assert_true(strlen(sass_mnemonic(i)) > 1);
  assert_string_equal(sass_mnemonic(sass_mnemonic_count() - 1), "?");
  assert_string_equal(sass_mnemonic(60000), "?");
}

static uint64_t next_random(uint64_t *x)
{
  *x ^= *x << 13, *x ^= *x >> 7, *x ^= *x << 17;
  return *x;
}

static bool is_ureg(unsigned id)
{
  return id == FLD_URD || id == FLD_URA || id == FLD_URB || id == FLD_URC ||
         id == FLD_TEX_URH;
}

/* A word of this row and form with random values in every field. Rows of older targets have
 * uniform registers up to 63. */
static struct word128 random_word(const struct sass_row *row, unsigned form, uint64_t *seed)
{
  struct word128 w = {0, next_random(seed) & (bits_ones(20) << (105 - 64))};
  uint16_t field[SASS_MAX_FIELDS];
  unsigned n = row_fields(row, form, field);
  for (unsigned i = 0; i < n; i++) {
    uint64_t v = next_random(seed) & bits_ones(field_width(field[i]));
    if (field[i] == FLD_OPCODE) v = row->base | (form & 7) << 9 | (form >> 3) << 12;
    while (field[i] == row->when_field && !(row->when_mask >> v & 1))
      v = next_random(seed) & bits_ones(field_width(field[i]));
    if (is_ureg(field[i]) && row->sm_min < 100) v &= 63;
    assert_true(field_put(&w, field[i], v));
  }
  return w;
}

static void check_random(const struct sass_row *row, unsigned form, unsigned sm, uint64_t *seed)
{
  struct sass_inst s;
  struct inst t;
  struct err e = {""};
  char text[256];
  struct word128 w = random_word(row, form, seed);
  if (!sass_decode(sm, w, 0x100, &s, &t, &e)) fail_msg("%s form %u: %s", row->name, form, e.msg);
  assert_ptr_equal(s.row, row);
  const struct inst_ctrl c = sass_ctrl(w);
  struct word128 back = sass_encode(&s, &c);
  assert_int_equal(back.lo, w.lo);
  assert_int_equal(back.hi, w.hi);
  assert_true(sass_print(&s, &t, true, text, sizeof text) > 20);
}

/* The first target of a row that has the form: sm_70 has no uniform datapath. */
static unsigned first_with(const struct sass_row *row, unsigned form)
{
  unsigned sm = row->sm_min;
  while (!(row_forms(row, sm) >> form & 1)) sm++;
  return sm;
}

static void test_random_words(void **state)
{
  uint64_t seed = 0x9e3779b97f4a7c15;
  (void)state;
  for (unsigned i = 0; i < sass_n_rows; i++)
    for (unsigned form = 0; form < 16; form++)
      for (unsigned k = 0; k < 40 && (sass_rows[i].forms >> form & 1); k++)
        check_random(&sass_rows[i], form, k & 1 ? first_with(&sass_rows[i], form) : sass_rows[i].sm_max, &seed);
}

static bool owned(const struct sass_row *row, unsigned form, unsigned bit)
{
  struct word128 known = {0, bits_ones(20) << (105 - 64)};
  uint16_t field[SASS_MAX_FIELDS];
  unsigned n = row_fields(row, form, field);
  for (unsigned i = 0; i < n; i++) {
    struct word128 m = field_mask(field[i]);
    known.lo |= m.lo, known.hi |= m.hi;
  }
  return bits_get(known, bit, 1);
}

/* No bit is ignored: setting one that no field of the row owns is an error that names it. */
static void test_stray_bits(void **state)
{
  uint64_t seed = 42;
  (void)state;
  for (unsigned i = 0; i < sass_n_rows; i++) {
    unsigned form = bits_first(sass_rows[i].forms);
    for (unsigned bit = 0; bit < 128; bit++) {
      struct word128 w = random_word(&sass_rows[i], form, &seed);
      struct sass_inst s;
      struct inst t;
      struct err e = {""};
      char number[8];
      if (owned(&sass_rows[i], form, bit)) continue;
      bits_or(&w, bit, 1, 1);
      assert_false(sass_decode(sass_rows[i].sm_max, w, 0, &s, &t, &e));
      assert_true(t.flags & INST_UNDECODED);
      assert_null(s.row);
      snprintf(number, sizeof number, "%u", bit);
      assert_non_null(strstr(e.msg, number));
    }
  }
}

/* Every row that does not execute has its reason. */
static void test_reasons(void **state)
{
  (void)state;
  for (unsigned i = 0; i < sass_n_rows; i++)
    if (sass_rows[i].sem == SEM_TODO && !sass_why_not_executed(sass_rows[i].name))
      fail_msg("%s: no reason in not_executed.def", sass_rows[i].name);
}

static void test_coverage(void **state)
{
  char text[8192] = "";
  (void)state;
  FILE *f = fmemopen(text, sizeof text, "w");
  assert_non_null(f);
  sass_coverage(f);
  fclose(f);
  assert_non_null(strstr(text, "sm_80:"));
  assert_non_null(strstr(text, "sm_90:"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_check),        cmocka_unit_test(test_mnemonics),
      cmocka_unit_test(test_random_words), cmocka_unit_test(test_stray_bits),
      cmocka_unit_test(test_coverage),     cmocka_unit_test(test_reasons),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
