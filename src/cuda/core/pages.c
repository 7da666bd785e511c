#include "cuda/core/pages.h"

#include <stdlib.h>

#include "base/host_memory.h"
#include "host/usage.h"
#include "view/html_page.h"
#include "view/report.h"
#include "view/run_diff.h"

struct kept {
  uint64_t number, cycles;
  struct text_out report;
};

struct pages {
  struct usage **usage; /* by GPU: of the launch that runs there */
  struct kept kept[PAGES_LAUNCHES];
  unsigned n;
};

struct pages *pages_new(unsigned gpus)
{
  struct pages *p = mem_zeroed(1, sizeof *p);
  p->usage = mem_zeroed(gpus, sizeof *p->usage);
  for (unsigned i = 0; i < gpus; i++) p->usage[i] = usage_new();
  return p;
}

struct usage *pages_usage(const struct pages *p, unsigned gpu)
{
  return p ? p->usage[gpu] : NULL;
}

/* Its place; NULL: it is left out. */
static struct kept *place_for(struct pages *p, uint64_t cycles)
{
  struct kept *shortest = &p->kept[0];
  if (p->n < PAGES_LAUNCHES) return &p->kept[p->n++];
  for (unsigned i = 1; i < p->n; i++)
    if (p->kept[i].cycles < shortest->cycles) shortest = &p->kept[i];
  return cycles > shortest->cycles + shortest->cycles / 4 ? shortest : NULL;
}

/* Damaged line tables are as none: the program has run. */
static struct text_out report_of(const struct pages *p, const struct pages_launch *l)
{
  struct line_table lines;
  struct text_out text;
  struct err e;
  struct report r = {.gpu = l->gpu, .preset = l->preset, .launch = l->launch, .kernel = l->kernel, .module = l->module,
                     .usage = p->usage[l->number_of_gpu], .lines = &lines};
  if (!line_table_read(l->module, &lines, &e)) {
    line_table_free(&lines);
    lines = (struct line_table){0};
  }
  report_result(&r, l->result);
  text_out_open(&text, NULL);
  html_page_report(&text, &r, false);
  line_table_free(&lines);
  return text;
}

void pages_add(struct pages *p, const struct pages_launch *l)
{
  const struct sim_result *r = l->result;
  if (!r->timed || r->together > 1 || r->sampled_ctas) return;
  struct kept *to = place_for(p, r->cycles);
  if (!to) return;
  text_out_close(&to->report);
  *to = (struct kept){.number = l->number, .cycles = r->cycles, .report = report_of(p, l)};
}

static int by_number(const void *a, const void *b)
{
  const struct kept *x = *(const struct kept *const *)a, *y = *(const struct kept *const *)b;
  return (x->number > y->number) - (x->number < y->number);
}

/* In the order of their numbers. */
static void sort_runs(const struct pages *p, struct html_run run[PAGES_LAUNCHES])
{
  const struct kept *order[PAGES_LAUNCHES];
  for (unsigned i = 0; i < p->n; i++) order[i] = &p->kept[i];
  qsort(order, p->n, sizeof *order, by_number);
  for (unsigned i = 0; i < p->n; i++)
    run[i] = (struct html_run){order[i]->number, order[i]->report.data, order[i]->report.n};
}

bool pages_write(const struct pages *p, FILE *f, struct json_t *program, const char *baseline, struct err *e)
{
  struct run_doc before = {.path = baseline};
  struct html_run run[PAGES_LAUNCHES];
  if (baseline) TRY(run_doc_read(&before, baseline, e));
  sort_runs(p, run);
  html_page_write(f, &(struct html_page){.run = run, .n_runs = p->n, .program = program, .baseline = before.root,
                                         .baseline_name = baseline});
  run_doc_free(&before);
  return true;
}
