#include "cuda/sampling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

static bool same(const struct sample_key *a, const struct sample_key *b)
{
  return strcmp(a->kernel, b->kernel) == 0 && memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
         memcmp(a->block, b->block, sizeof a->block) == 0 && a->shared == b->shared;
}

struct sample_group *sampling_group(struct sample_group **list, const struct sample_key *key)
{
  while (*list && !same(&(*list)->key, key)) list = &(*list)->next;
  if (*list) return *list;
  struct sample_group *g = calloc(1, sizeof *g);
  BUG_ON(!g);
  g->key = *key;
  BUG_ON(!(g->key.kernel = strdup(key->kernel)));
  return *list = g; /* in the order of first launches */
}

bool sampling_next(struct sample_group *g, uint64_t first)
{
  uint64_t k = ++g->launches;
  return k <= first || (k & (k - 1)) == 0;
}

/* Welford's update of mean and squared distances, of all but the first. */
void sampling_add(struct sample_group *g, uint64_t cycles, uint64_t ps)
{
  if (g->timed++ == 0) {
    g->first = g->cycles = (double)cycles;
    g->ps = (double)ps;
    return;
  }
  double n = (double)(g->timed - 1), mean = g->timed == 2 ? 0 : g->cycles, mean_ps = g->timed == 2 ? 0 : g->ps;
  double d = (double)cycles - mean;
  g->cycles = mean + d / n;
  g->spread += g->timed == 2 ? 0 : d * ((double)cycles - g->cycles);
  g->ps = mean_ps + ((double)ps - mean_ps) / n;
}

/* Two-sided 95 % quantile of Student's t; beyond ten degrees of freedom 1.96 + 2.4 / n is within 1 %. */
static double quantile(uint64_t freedom)
{
  static const double table[] = { 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262,
                                  2.228 };
  uint64_t n = sizeof table / sizeof table[0];
  return freedom <= n ? table[freedom - 1] : 1.96 + 2.4 / (double)freedom;
}

/* The total of u launches around a mean that n launches told has the variance u^2 v / n + u v. */
double sampling_error(const struct sample_group *g)
{
  double u = (double)(g->launches - g->timed), n = (double)g->timed - 1;
  if (u == 0) return 0;
  if (g->timed < 3) return -1;
  double variance = g->spread / (n - 1);
  return quantile(g->timed - 2) * sqrt(u * u * variance / n + u * variance);
}

void sampling_write(FILE *f, const struct sample_group *list)
{
  double total = 0, squares = 0;
  uint64_t estimated = 0, unknown = 0;
  for (const struct sample_group *g = list; g; g = g->next) {
    double error = sampling_error(g), all = g->first + g->cycles * (double)(g->launches - 1);
    total += all;
    if (g->launches == g->timed) continue;
    estimated += g->launches - g->timed;
    unknown += error < 0;
    if (error > 0) squares += error * error;
    fprintf(f, "sampled %-32.32s %llu of %llu launches timed, %.0f cycles each, total %.0f", g->key.kernel,
            (unsigned long long)g->timed, (unsigned long long)g->launches, g->cycles, all);
    if (error < 0) fprintf(f, ", error unknown\n");
    else fprintf(f, " +- %.0f (%.2f %%)\n", error, 100 * error / all);
  }
  if (estimated)
    fprintf(f, "%llu launches estimated: total %.0f cycles +- %.0f (%.2f %%, 95 %% interval)%s\n",
            (unsigned long long)estimated, total, sqrt(squares), 100 * sqrt(squares) / total,
            unknown ? ", without the kernels of unknown error" : "");
}

void sampling_free(struct sample_group *list)
{
  for (struct sample_group *next; list; list = next) {
    next = list->next;
    free((char *)(uintptr_t)list->key.kernel);
    free(list);
  }
}
