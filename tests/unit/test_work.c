/* Operations as profilers count them: a multiply-add is two, packed halves count each, moves none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "isa/sass/sass.h"
#include "isa/sass/sass_isa.h"

static void set(uint64_t *threads, const char *mnemonic, uint64_t n)
{
  for (unsigned id = 0; id < sass_mnemonic_count(); id++)
    if (!strcmp(sass_mnemonic(id), mnemonic)) {
      threads[id] = n;
      return;
    }
  fail_msg("no mnemonic %s", mnemonic);
}

static void kinds(void **state)
{
  (void)state;
  uint64_t *threads = calloc(sass_mnemonic_count(), sizeof *threads);
  set(threads, "FADD", 1);
  set(threads, "FFMA", 10);
  set(threads, "DMUL", 100);
  set(threads, "DFMA", 1000);
  set(threads, "HFMA2", 3);
  set(threads, "IMAD.WIDE", 7);
  set(threads, "LOP3.LUT", 5);
  set(threads, "MOV", 1000000);
  set(threads, "LDG", 1000000);
  struct work w = sass_work(threads);
  assert_int_equal(w.ops[WORK_FP32], 1 + 2 * 10);
  assert_int_equal(w.ops[WORK_FP64], 100 + 2 * 1000);
  assert_int_equal(w.ops[WORK_FP16], 4 * 3);
  assert_int_equal(w.ops[WORK_INTEGER], 7 + 5);
  free(threads);
}

/* A rule whose mnemonic is misspelt would count nothing. */
static void all_rules_name_an_instruction(void **state)
{
  (void)state;
  static const char *const names[] = {
#define WORK(mnemonic, kind, count) mnemonic,
#include "isa/sass/work.def"
#undef WORK
  };
  uint64_t *threads = calloc(sass_mnemonic_count(), sizeof *threads);
  for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) set(threads, names[i], 1);
  free(threads);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(kinds),
    cmocka_unit_test(all_rules_name_an_instruction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
