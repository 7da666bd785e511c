#include "cuda/core/pages.h"

#include <stdlib.h>

#include <jansson.h>

#include "base/host_memory.h"
#include "host/usage.h"
#include "view/html_page.h"
#include "view/json.h"
#include "view/run_diff.h"

struct kept {
  uint64_t number, cycles;
  json_t *report;
};

struct pages {
  struct usage *usage; /* of the launch that runs */
  struct kept kept[PAGES_LAUNCHES];
  unsigned n;
};

struct pages *pages_new(void)
{
  struct pages *p = mem_zeroed(1, sizeof *p);
  p->usage = usage_new();
  return p;
}

void pages_free(struct pages *p)
{
  if (!p) return;
  for (unsigned i = 0; i < p->n; i++) json_decref(p->kept[i].report);
  usage_free(p->usage);
  mem_free(p);
}

struct usage *pages_usage(const struct pages *p)
{
  return p ? p->usage : NULL;
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
static json_t *report_of(const struct pages *p, const struct pages_launch *l)
{
  struct line_table lines;
  struct err e;
  struct report r = {.gpu = l->gpu, .preset = l->preset, .launch = l->launch, .kernel = l->kernel, .module = l->module,
                     .usage = p->usage, .lines = &lines};
  if (!line_table_read(l->module, &lines, &e)) {
    line_table_free(&lines);
    lines = (struct line_table){0};
  }
  report_result(&r, l->result);
  json_t *j = view_json_run(&r, false);
  line_table_free(&lines);
  return j;
}

void pages_add(struct pages *p, const struct pages_launch *l)
{
  const struct sim_result *r = l->result;
  if (!r->timed || r->together > 1 || r->sampled_ctas) return;
  struct kept *to = place_for(p, r->cycles);
  if (!to) return;
  json_decref(to->report);
  *to = (struct kept){.number = l->number, .cycles = r->cycles, .report = report_of(p, l)};
}

static int by_number(const void *a, const void *b)
{
  const struct kept *x = *(const struct kept *const *)a, *y = *(const struct kept *const *)b;
  return (x->number > y->number) - (x->number < y->number);
}

static json_t *runs_json(const struct pages *p)
{
  const struct kept *order[PAGES_LAUNCHES];
  json_t *all = json_array();
  for (unsigned i = 0; i < p->n; i++) order[i] = &p->kept[i];
  qsort(order, p->n, sizeof *order, by_number);
  for (unsigned i = 0; i < p->n; i++)
    json_array_append_new(all, html_page_run(order[i]->number, json_incref(order[i]->report)));
  return all;
}

bool pages_write(const struct pages *p, FILE *f, json_t *program, const char *baseline, struct err *e)
{
  struct run_doc before = {.path = baseline};
  if (baseline) TRY(run_doc_read(&before, baseline, e));
  json_t *runs = runs_json(p);
  html_page_write(f, &(struct html_page){.runs = runs, .program = program, .baseline = before.root,
                                         .baseline_name = baseline});
  json_decref(runs);
  run_doc_free(&before);
  return true;
}
