#include "cuda/core/stalls.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "cuda/core/record.h"
#include "load/plain_name.h"

_Static_assert((int)SLOT__N >= (int)WARP_STATE__N, "slots have the states and more");
enum { KERNELS_SHOWN = 10, REASONS_SHOWN = 4, NAME_COLUMN = 32 };

struct stalls *stalls_of(const struct params *p, const struct sim_result *r, const struct launch *l)
{
  if (!r->timed || r->together > 1) return NULL;
  struct stalls *s = malloc(sizeof *s);
  NO_MEMORY_IF(!s);
  memcpy(s->slot, sim_counters(r, "slot", SLOT__N), sizeof s->slot);
  memcpy(s->state, sim_counters(r, "warp_state", WARP_STATE__N), sizeof s->state);
  s->links = (uint64_t)((double)s->state[WS_LONG_SCOREBOARD] * limiter_links(p, r));
  s->bound = r->end == RUN_DONE && !r->sampled_ctas;
  if (s->bound) s->limiter = limiter_of(p, r, l);
  return s;
}

/* A warp is selected; its slot is issued. */
static const char *slot_text(unsigned i)
{
  return i == SLOT_ISSUED ? "issued" : slot_name[i];
}

static const char *state_text(unsigned i)
{
  return warp_state_name[i];
}

/* --- JSON --------------------------------------------------------------------------------------- */

static json_t *counts_json(const uint64_t *v, const char *const *names, unsigned n)
{
  json_t *o = json_object();
  for (unsigned i = 0; i < n; i++) json_object_set_new(o, names[i], json_integer((json_int_t)v[i]));
  return o;
}

void stalls_put_json(json_t *launch, const struct stalls *s)
{
  if (!s) return;
  json_object_set_new(launch, "slot", counts_json(s->slot, slot_name, SLOT__N));
  json_object_set_new(launch, "warp_state", counts_json(s->state, warp_state_name, WARP_STATE__N));
  if (s->links) json_object_set_new(launch, "warp_state_links", json_integer((json_int_t)s->links));
  if (!s->bound) return;
  json_object_set_new(launch, "limiter", json_string(limiter_key(s->limiter.id)));
  json_object_set_new(launch, "limiter_evidence", json_string(s->limiter.evidence));
}

/* --- table -------------------------------------------------------------------------------------- */

/* All launches of one kernel. */
struct kernel_stalls {
  const char *name;
  uint64_t launches, cycles;
  uint64_t longest;             /* cycles of the longest launch … */
  const struct limiter *bound;  /* … and what bounds that one; NULL: not known */
  struct stalls sum;
};

static void add(uint64_t *to, const uint64_t *from, unsigned n)
{
  for (unsigned i = 0; i < n; i++) to[i] += from[i];
}

static struct kernel_stalls *find(struct kernel_stalls *k, size_t n, const char *name)
{
  for (size_t i = 0; i < n; i++)
    if (!strcmp(k[i].name, name)) return &k[i];
  return NULL;
}

static size_t add_up(const struct record *r, struct kernel_stalls *k)
{
  size_t n = 0;
  for (uint64_t i = 0; i < r->n; i++) {
    const struct launch_record *l = &r->launch[i];
    if (!l->stalls) continue; /* nor has one that did not end */
    struct kernel_stalls *of = find(k, n, l->kernel);
    if (!of) *(of = &k[n++]) = (struct kernel_stalls){.name = l->kernel};
    of->launches++;
    if (l->stalls->bound && l->cycles >= of->longest) {
      of->longest = l->cycles;
      of->bound = &l->stalls->limiter;
    }
    of->cycles += l->cycles;
    add(of->sum.slot, l->stalls->slot, SLOT__N);
    add(of->sum.state, l->stalls->state, WARP_STATE__N);
    of->sum.links += l->stalls->links;
  }
  return n;
}

static int by_cycles(const void *a, const void *b)
{
  uint64_t x = ((const struct kernel_stalls *)a)->cycles, y = ((const struct kernel_stalls *)b)->cycles;
  return x < y ? 1 : x > y ? -1 : 0;
}

/* "long_scoreboard 36.5 %, ...": the largest first, of what there is. */
static void write_ranking(FILE *f, const char *what, const uint64_t *v, unsigned n, const char *(*text)(unsigned))
{
  uint64_t whole = stat_sum(v, n), left[SLOT__N];
  memcpy(left, v, n * sizeof *left);
  fprintf(f, "  %-21s", what);
  for (unsigned shown = 0; whole && shown < REASONS_SHOWN; shown++) {
    unsigned most = 0;
    for (unsigned i = 1; i < n; i++)
      if (left[i] > left[most]) most = i;
    if (!left[most]) break;
    fprintf(f, "%s%s %.1f %%", shown ? ", " : "", text(most), 100.0 * (double)left[most] / (double)whole);
    left[most] = 0;
  }
  fputc('\n', f);
}

/* What of the long scoreboard is memory of the host or of other GPUs, as far as answers of either take their time. */
static void write_links(FILE *f, const struct stalls *s)
{
  const uint64_t all = s->state[WS_LONG_SCOREBOARD];
  if (s->links * 100 < all || !s->links) return;
  fprintf(f, "  %-21s%.1f %% answers over links (memory of the host, of other GPUs)\n", "of long_scoreboard",
          100.0 * (double)s->links / (double)all);
}

/* Of several launches that of the longest one. */
static void write_limiter(FILE *f, const struct limiter *l, bool several)
{
  fprintf(f, "  %-21s%s: %s\n", several ? "longest bound by" : "bound by", limiter_name(l->id), l->evidence);
}

void stalls_write_table(FILE *f, const struct record *r)
{
  struct kernel_stalls *k = calloc(r->n + 1, sizeof *k);
  NO_MEMORY_IF(!k);
  size_t n = add_up(r, k);
  qsort(k, n, sizeof *k, by_cycles);
  for (size_t i = 0; i < n && i < KERNELS_SHOWN; i++) {
    size_t length;
    const char *name = plain_name(k[i].name, &length);
    fprintf(f, "%.*s: %llu launch%s, %llu cycles\n", length < NAME_COLUMN ? (int)length : NAME_COLUMN, name,
            (unsigned long long)k[i].launches, k[i].launches == 1 ? "" : "es", (unsigned long long)k[i].cycles);
    write_ranking(f, "issue slots went to", k[i].sum.slot, SLOT__N, slot_text);
    write_ranking(f, "warps were in state", k[i].sum.state, WARP_STATE__N, state_text);
    write_links(f, &k[i].sum);
    if (k[i].bound) write_limiter(f, k[i].bound, k[i].launches > 1);
  }
  if (n > KERNELS_SHOWN) fprintf(f, "and %zu more kernels\n", n - KERNELS_SHOWN);
  free(k);
}
