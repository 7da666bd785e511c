#include "ncu/ncu_section.h"

#include <stddef.h>
#include <string.h>

/* Rows of one section each: arrays first, then the table that names them. */
#define SECTION(id, name, sets, rules, code) static const struct ncu_section_row rows_##id[] = {
#define HEADER(label, metric)                {label, metric, false},
#define BODY(label, metric)                  {label, metric, true},
#define END(id)                                                                                                        \
  }                                                                                                                    \
  ;
#include "ncu/ncu_section.def"
#undef SECTION
#undef HEADER
#undef BODY
#undef END

#define HEADER(label, metric)
#define BODY(label, metric)
#define END(id)
#define SECTION(id, name, sets, rules, code)                                                                           \
  {#id, name, sets, rules, code, rows_##id, sizeof rows_##id / sizeof *rows_##id},
const struct ncu_section ncu_sections[] = {
#include "ncu/ncu_section.def"
};
const unsigned ncu_n_sections = sizeof ncu_sections / sizeof *ncu_sections;
_Static_assert(sizeof ncu_sections / sizeof *ncu_sections <= NCU_MAX_SECTIONS, "choices have a flag for each");

static const struct {
  const char *name;
  unsigned bit;
} sets[] = {{"basic", BASIC},       {"detailed", DETAILED}, {"full", FULL},
            {"roofline", ROOFLINE}, {"source", SOURCE},     {"none", 0}};

unsigned ncu_set_called(const char *name)
{
  if (!strcmp(name, "default")) return BASIC; /* its name before 2023 */
  for (unsigned i = 0; i < sizeof sets / sizeof *sets; i++)
    if (!strcmp(sets[i].name, name)) return sets[i].bit;
  return 0;
}

const char *ncu_set_at(unsigned n)
{
  return n < sizeof sets / sizeof *sets ? sets[n].name : NULL;
}
