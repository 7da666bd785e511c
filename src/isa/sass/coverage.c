/* Coverage report: instruction encodings known per target, and how many of them execute. */
#include "isa/sass/row.h"

static unsigned forms_of(const struct sass_row *r)
{
  return bits_count(r->forms);
}

static void report_target(FILE *out, unsigned sm)
{
  unsigned rows = 0, encodings = 0, executable = 0;
  for (unsigned i = 0; i < sass_n_rows; i++) {
    const struct sass_row *r = &sass_rows[i];
    if (sm < r->sm_min || sm > r->sm_max) continue;
    rows++;
    encodings += forms_of(r);
    if (r->sem != SEM_TODO) executable += forms_of(r);
  }
  fprintf(out, "sm_%u: %u rows, %u opcodes decoded, %u executable\n", sm, rows, encodings,
          executable);
}

void sass_coverage(FILE *out)
{
  static const unsigned targets[] = {75, 80, 86, 89, 90, 100, 120};
  for (unsigned i = 0; i < sizeof targets / sizeof targets[0]; i++) report_target(out, targets[i]);
  for (unsigned i = 0; i < sass_n_rows; i++) {
    const struct sass_row *r = &sass_rows[i];
    if (r->sem == SEM_TODO)
      fprintf(out, "decodes, does not execute: %s (sm_%u..%u)\n", r->name, r->sm_min, r->sm_max);
  }
}
