/* One test case: all rows of a group, and the line that says how much was covered. */
#ifndef WS_TESTS_SEMANTICS_SUITE_H
#define WS_TESTS_SEMANTICS_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "sem.h"

#include <cmocka.h>

/* Operand sets of each instruction form; SEMANTICS_SETS overrides it. */
enum { DEFAULT_SETS = 100000 };

static inline unsigned long suite_sets(void)
{
  const char *s = getenv("SEMANTICS_SETS");
  unsigned long n = s ? strtoul(s, NULL, 10) : 0;
  return n ? n : DEFAULT_SETS;
}

static inline void suite_end(const struct tally *t, const char *name)
{
  printf("# semantics, %s: %u instructions, %u forms of %lu operand sets, %u different words; "
         "%u forms do not execute\n",
         name, t->rows, t->forms, suite_sets(), t->words, t->refused);
  assert_int_equal(t->failures, 0);
  assert_true(t->forms > 0);
}

static inline void suite_run(bool (*wanted)(unsigned sem), const char *name)
{
  struct tally t = {0};
  rig_all(wanted, suite_sets(), &t);
  suite_end(&t, name);
}

#endif
