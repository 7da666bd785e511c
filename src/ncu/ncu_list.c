#include "ncu/ncu_list.h"

#include <stdlib.h>
#include <string.h>

void ncu_list_sets(FILE *f)
{
  fprintf(f, "%-12s %-10s %s\n%-12s %-10s %s\n", "Identifier", "Enabled", "Sections", "----------", "-------",
          "--------");
  for (unsigned i = 0; ncu_set_at(i); i++) {
    const unsigned bit = ncu_set_called(ncu_set_at(i));
    const char *between = "";
    fprintf(f, "%-12s %-10s ", ncu_set_at(i), bit == BASIC ? "yes" : "no");
    for (unsigned k = 0; k < ncu_n_sections; k++) {
      if (!(ncu_sections[k].sets & bit)) continue;
      fprintf(f, "%s%s", between, ncu_sections[k].id);
      between = ", ";
    }
    fputc('\n', f);
  }
}

void ncu_list_sections(FILE *f, const struct ncu_choice *enabled)
{
  fprintf(f, "%-32s %-40s %s\n%-32s %-40s %s\n", "Identifier", "Display Name", "Enabled", "----------", "------------",
          "-------");
  for (unsigned i = 0; i < ncu_n_sections; i++)
    fprintf(f, "%-32s %-40s %s\n", ncu_sections[i].id, ncu_sections[i].name, enabled->section[i] ? "yes" : "no");
}

void ncu_list_metrics(FILE *f, const struct ncu_choice *c)
{
  size_t n;
  struct ncu_metric *all = ncu_choice_all(c, ALL, &n);
  for (size_t i = 0; i < n; i++) fprintf(f, "%s\n", all[i].name);
  free(all);
}

void ncu_list_chips(FILE *f)
{
  for (unsigned i = 0; ncu_chip_at(i); i++) fprintf(f, "%s%s", i ? ", " : "", ncu_chip_at(i));
  fputc('\n', f);
}

static const char *kind_name(const struct ncu_metric_row *r)
{
  return r->kind == NCU_COUNTER ? "Counter" : r->kind == NCU_HIGHEST ? "Throughput" : "Value";
}

static int by_name(const void *a, const void *b)
{
  return strcmp((*(const struct ncu_metric_row *const *)a)->name, (*(const struct ncu_metric_row *const *)b)->name);
}

/* Rows by name. */
static void sorted(const struct ncu_metric_row *row[NCU_N_ROWS])
{
  for (unsigned i = 0; i < NCU_N_ROWS; i++) row[i] = ncu_metric_row(i);
  qsort(row, NCU_N_ROWS, sizeof *row, by_name);
}

void ncu_query_metrics(FILE *f, const char *chip, unsigned cc)
{
  const struct ncu_metric_row *row[NCU_N_ROWS];
  sorted(row);
  fprintf(f, "Chip %s (compute capability %u.%u)\n", chip, cc / 10, cc % 10);
  fprintf(f, "%-76s %-11s %-16s %s\n", "Metric Name", "Metric Type", "Metric Unit", "Metric Description");
  for (unsigned i = 0; i < NCU_N_ROWS; i++)
    if (row[i]->targets & ncu_target_of(cc))
      fprintf(f, "%-76s %-11s %-16s %s\n", row[i]->name, kind_name(row[i]), row[i]->unit, row[i]->text);
}
