#include "cli/sanitize_parent.h"

#include <inttypes.h>

#include "cli/cli.h"
#include "cli/program_parent.h"

static void tell(const struct sanitize_tally *t, FILE *out)
{
  const uint64_t began = t->began, ended = t->ended, errors = t->errors;
  if (t->unstarted) return;
  if (!t->launches) fputs("warpstep: sanitize: no kernel ran, so nothing was checked\n", stderr);
  if (began > ended)
    fprintf(out, "========= %" PRIu64 " of %" PRIu64 " process%s ended without a summary\n", began - ended, began,
            began == 1 ? "" : "es");
  if (began > 1 || began > ended) {
    fprintf(out, "========= ERROR SUMMARY: %" PRIu64 " error%s", errors, errors == 1 ? "" : "s");
    if (began > 1) fprintf(out, " in %" PRIu64 " processes", began);
    fputc('\n', out);
  }
  fflush(out);
}

static void note_unstarted(void *tally)
{
  ((struct sanitize_tally *)tally)->unstarted++;
}

int sanitize_parent(char **program, struct sanitize_tally *t, FILE *out, int error_status)
{
  struct program_parent parent;
  if (!program_parent_run(&parent, program, note_unstarted, t)) return CLI_BAD_INPUT;
  tell(t, out);
  const int status = program_parent_end(&parent);
  return status ? status : t->errors ? error_status : CLI_OK;
}
