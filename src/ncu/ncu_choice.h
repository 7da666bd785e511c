/* What is printed of profiled launches: sections and further metrics, as --set, --section and --metrics name them. */
#ifndef WS_NCU_CHOICE_H
#define WS_NCU_CHOICE_H

#include "base/err.h"
#include "ncu/ncu_metric.h"
#include "ncu/ncu_section.h"

struct ncu_choice {
  bool section[NCU_MAX_SECTIONS];
  struct ncu_metric *metric; /* of --metrics, in its order */
  size_t n, cap;
};

/* "basic", "full": adds its sections. False: no such set. */
bool ncu_choice_set(struct ncu_choice *, const char *set);
/* "SpeedOfLight", or "regex:…", of which several may match. False with *e filled: none does. */
bool ncu_choice_section(struct ncu_choice *, const char *section, struct err *e);
/* Names with commas between them: a metric; a row without roll-up, for all of them; "regex:RE"; "breakdown:NAME", for
 * the parts of a throughput. What nobody knows is kept, as n/a. False with *e filled: no regular expression. */
bool ncu_choice_metrics(struct ncu_choice *, const char *list, struct err *e);
/* One metric by its whole name. */
void ncu_choice_add(struct ncu_choice *, const char *name);
/* Whether instructions are shown, or rules look at them. */
bool ncu_choice_wants_code(const struct ncu_choice *);
/* Whether a metric is asked for that needs schedulers counted apart (host/scheduler_tally.h). */
bool ncu_choice_wants_schedulers(const struct ncu_choice *);
/* All metrics of sections (that one of these GPUs has: bits of enum ncu_target) and of --metrics, by name, each once.
 * The caller frees it. */
struct ncu_metric *ncu_choice_all(const struct ncu_choice *, unsigned targets, size_t *n);
void ncu_choice_free(struct ncu_choice *);

#endif
