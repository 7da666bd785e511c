/* Coverage report: instruction encodings known per target, how many of them execute and are timed, and
 * why the others do not. */
#include <string.h>

#include "isa/sass/row.h"

static const struct not_executed {
  const char *name, *forms, *reason;
} not_executed[] = {
#define NOT_EXECUTED(name, forms, reason) {name, forms, reason},
#include "isa/sass/not_executed.def"
#undef NOT_EXECUTED
};
enum { N_NOT_EXECUTED = sizeof not_executed / sizeof not_executed[0] };

bool sass_is_timed(const struct sass_row *r)
{
  return r->sem != SEM_TODO &&
         (r->lat != LAT_NONE || r->mem_space || r->flags || r->pipe == PIPE_FRONT);
}

static void report_target(FILE *out, unsigned sm)
{
  unsigned rows = 0, encodings = 0, executable = 0, timed = 0;
  for (unsigned i = 0; i < sass_n_rows; i++) {
    const struct sass_row *r = &sass_rows[i];
    unsigned forms = bits_count(row_forms(r, sm));
    rows += forms > 0;
    encodings += forms;
    if (r->sem != SEM_TODO) executable += forms;
    if (sass_is_timed(r)) timed += forms;
  }
  fprintf(out, "sm_%u: %u rows, %u opcodes decoded, %u executable, %u timed\n", sm, rows, encodings,
          executable, timed);
}

const char *sass_why_not_executed(const char *name)
{
  for (unsigned i = 0; i < N_NOT_EXECUTED; i++)
    if (!strcmp(not_executed[i].name, name)) return not_executed[i].reason;
  return NULL;
}

/* Targets on which a mnemonic has rows: first and last. */
static void targets_of(const char *name, unsigned *first, unsigned *last)
{
  *first = *last = 0;
  for (unsigned i = 0; i < sass_n_rows; i++) {
    const struct sass_row *r = &sass_rows[i];
    if (strcmp(r->name, name) != 0) continue;
    if (!*first || r->sm_min < *first) *first = r->sm_min;
    if (r->sm_max > *last) *last = r->sm_max;
  }
}

void sass_coverage(FILE *out)
{
  static const unsigned targets[] = {70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
  for (unsigned i = 0; i < sizeof targets / sizeof targets[0]; i++) report_target(out, targets[i]);
  fputs("decode, print and assemble, but do not execute:\n", out);
  for (unsigned i = 0; i < N_NOT_EXECUTED; i++) {
    const struct not_executed *n = &not_executed[i];
    unsigned first, last;
    targets_of(n->name, &first, &last);
    fprintf(out, "  %s%s%s", n->name, *n->forms ? ", " : "", n->forms);
    if (first) fprintf(out, " (sm_%u to sm_%u)", first, last);
    fprintf(out, ": %s\n", n->reason);
  }
  fputs("execute in an issue slot, without a time of their own:", out);
  for (unsigned i = 0; i < sass_n_rows; i++)
    if (sass_rows[i].sem != SEM_TODO && !sass_is_timed(&sass_rows[i])) fprintf(out, " %s", sass_rows[i].name);
  fputc('\n', out);
}
