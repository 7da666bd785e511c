#include "cuda/core/sampling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"

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
  NO_MEMORY_IF(!g);
  g->key = *key;
  NO_MEMORY_IF(!(g->key.kernel = strdup(key->kernel)));
  return *list = g; /* in the order of first launches */
}

bool sampling_next(struct sample_group *g, uint64_t first)
{
  uint64_t k = ++g->launches;
  if (k <= first || (k & (k - 1)) == 0) return true;
  if (!g->owed) return false;
  g->owed--;
  return true;
}

static void widen(uint64_t *least, uint64_t *most, bool first, uint64_t insts)
{
  if (first || insts < *least) *least = insts;
  if (first || insts > *most) *most = insts;
}

/* Whether launches were timed that executed about as little, and about as much. */
static bool covered(const struct sample_group *g, uint64_t least, uint64_t most)
{
  return (double)least >= 0.95 * (double)g->timed_least && (double)most <= 1.05 * (double)g->timed_most;
}

/* Welford's update of means and sums, of all but the first. */
void sampling_add(struct sample_group *g, uint64_t warp_insts, uint64_t cycles)
{
  struct sample_sums *s = &g->sums;
  widen(&g->timed_least, &g->timed_most, g->timed == 0, warp_insts);
  if (g->timed++ == 0) {
    g->first = (double)cycles;
    g->first_insts = (double)warp_insts;
    return;
  }
  s->n++;
  double di = (double)warp_insts - s->insts, dc = (double)cycles - s->cycles;
  s->insts += di / (double)s->n;
  s->cycles += dc / (double)s->n;
  s->ii += di * ((double)warp_insts - s->insts);
  s->ic += di * ((double)cycles - s->cycles);
  s->cc += dc * ((double)cycles - s->cycles);
}

/* Cycles per warp instruction of the line through the timed launches; 0: the mean tells as much, or they are too
 * few. */
static double slope(const struct sample_sums *s)
{
  enum { FEWEST = 3 };
  bool follows = s->n >= FEWEST && s->ii > 0 && s->ic * s->ic > s->ii * s->cc / 2; /* of the spread, most */
  return follows ? s->ic / s->ii : 0;
}

static double predict(const struct sample_group *g, double warp_insts)
{
  const struct sample_sums *s = &g->sums;
  double cycles = s->n ? s->cycles + slope(s) * (warp_insts - s->insts) : g->first;
  return cycles > 1 ? cycles : 1;
}

double sampling_guess(struct sample_group *g, uint64_t warp_insts)
{
  enum { MORE = 2 };
  if (!covered(g, warp_insts, warp_insts)) g->owed = MORE;
  widen(&g->guessed_least, &g->guessed_most, g->guessed == 0, warp_insts);
  g->guessed++;
  g->guessed_insts += (double)warp_insts;
  return predict(g, (double)warp_insts);
}

double sampling_total(const struct sample_group *g)
{
  double u = (double)g->guessed, timed = g->first + g->sums.cycles * (double)g->sums.n;
  return u > 0 ? timed + u * predict(g, g->guessed_insts / u) : timed;
}

/* Two-sided 95 % quantile of Student's t; beyond ten degrees of freedom 1.96 + 2.4 / n is within 1 %. */
static double quantile(uint64_t freedom)
{
  static const double table[] = { 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262,
                                  2.228 };
  uint64_t n = sizeof table / sizeof table[0];
  return freedom <= n ? table[freedom - 1] : 1.96 + 2.4 / (double)freedom;
}

/* The total of u launches, which a line through n told, has the variance v (u^2 / n + u^2 distance^2 / ii + u), with
 * the distance of their mean instructions from those of the n. */
double sampling_error(const struct sample_group *g)
{
  const struct sample_sums *s = &g->sums;
  double u = (double)g->guessed, line = slope(s);
  if (u == 0) return 0;
  if (s->n < 2 || !covered(g, g->guessed_least, g->guessed_most)) return -1;
  uint64_t freedom = s->n - (line != 0 ? 2 : 1);
  double left = s->cc - line * s->ic, variance = (left > 0 ? left : 0) / (double)freedom;
  double far = line != 0 ? (g->guessed_insts / u - s->insts) * (g->guessed_insts / u - s->insts) / s->ii : 0;
  double spread = quantile(freedom) * sqrt(variance * (u * u / (double)s->n + u * u * far + u));
  return fmax(spread, fmax(u, fabs(g->first - predict(g, g->first_insts))));
}

void sampling_write(FILE *f, const struct sample_group *list)
{
  double total = 0, squares = 0;
  uint64_t estimated = 0, unknown = 0, known = 0;
  for (const struct sample_group *g = list; g; g = g->next) {
    double error = sampling_error(g), all = sampling_total(g);
    total += all;
    if (!g->guessed) continue;
    estimated += g->guessed;
    unknown += error < 0;
    known += error >= 0;
    if (error > 0) squares += error * error;
    fprintf(f, "sampled %-32.32s %llu of %llu launches timed, %.0f cycles each%s, total %.0f", g->key.kernel,
            (unsigned long long)g->timed, (unsigned long long)g->launches, g->sums.n ? g->sums.cycles : g->first,
            slope(&g->sums) != 0 ? " by their instructions" : "", all);
    if (error < 0)
      fprintf(f, ", error unknown: %s\n", covered(g, g->guessed_least, g->guessed_most)
                                           ? "too few were timed"
                                           : "the timed ones executed less, or more, than others");
    else fprintf(f, " +- %.0f (%.2f %%)\n", error, 100 * error / all);
  }
  if (estimated && !known)
    fprintf(f, "%llu launches estimated: total %.0f cycles, interval not known\n",
            (unsigned long long)estimated, total);
  else if (estimated)
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
