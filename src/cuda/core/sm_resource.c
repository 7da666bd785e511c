#include "cuda/core/sm_resource.h"

#include <string.h>

#include "base/arith.h"
#include "cuda/core/shim.h"

enum { RESOURCE_INVALID = 0, RESOURCE_SM = 1, RESOURCE_QUEUES = 1000 };
enum { GROUP_BACKFILL = 1, COSCHEDULED_MOST = 32, SMS_OF_A_PAIR = 2 };
enum { SPLIT_FINE = 1, SPLIT_LARGE_CLUSTERS = 2 }; /* CUdevSmResourceSplit_flags */
enum { NOTE_WORDS = 9, NOTE_SMS = 64 * NOTE_WORDS };

/* What a resource says in the bytes that are ours. */
struct note {
  uint64_t word[NOTE_WORDS]; /* its SMs */
  uint64_t split;            /* the split it is of; 0: none */
  uint32_t board;
};
_Static_assert(sizeof(struct note) <= sizeof(((CUdevResource *)0)->own), "a note fits");

/* CUDA Driver API, "Green Contexts", guideline for each compute architecture; of finer splits the multiple is in the
 * programming guide, "Green Contexts", and that the least count is as much is a guess. */
struct grain {
  unsigned least, multiple;
};

static struct grain grain_of(const struct board *b, unsigned flags)
{
  const unsigned major = b->preset.params.arch_sm / 10;
  if (major < 8 || flags & SPLIT_FINE) return (struct grain){2, 2};
  return major == 8 ? (struct grain){4, 2} : (struct grain){8, 8};
}

/* Resources ------------------------------------------------------------------------------------- */

static CUdevResource resource_of(const struct board *b, const struct core_set *sms, uint64_t split)
{
  const struct grain g = grain_of(b, 0);
  CUdevResource r = { .type = RESOURCE_SM,
                      .sm = { .count = core_set_count(sms), .least = g.least, .alignment = g.multiple } };
  struct note n = { .split = split, .board = b->number };
  memcpy(n.word, sms->word, sizeof n.word);
  memcpy(r.own, &n, sizeof n);
  return r;
}

static struct core_set all_sms(const struct board *b)
{
  struct core_set s = {{0}};
  for (unsigned i = 0; i < b->preset.params.gpu_sms; i++) core_set_add(&s, i);
  return s;
}

static bool is_within(const struct core_set *s, const struct core_set *all)
{
  for (unsigned i = 0; i < CORE_SET_WORDS; i++)
    if (s->word[i] & ~all->word[i]) return false;
  return true;
}

/* What the program brings. NULL: none that it was given; *r says why. */
static const struct board *read_resource(const struct shim *s, const CUdevResource *from, struct core_set *sms,
                                         uint64_t *split, CUresult *r)
{
  struct note n;
  *r = CUDA_ERROR_INVALID_VALUE;
  if (!from) return NULL;
  *r = CUDA_ERROR_INVALID_RESOURCE_TYPE;
  if (from->type != RESOURCE_SM) return NULL;
  memcpy(&n, from->own, sizeof n);
  *r = CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
  if (n.board >= s->boards.n) return NULL;
  *sms = (struct core_set){{0}};
  memcpy(sms->word, n.word, sizeof n.word);
  const struct board *b = &s->boards.of[n.board];
  const struct core_set all = all_sms(b);
  if (!is_within(sms, &all) || core_set_count(sms) != from->sm.count || !from->sm.count) return NULL;
  *split = n.split;
  *r = CUDA_SUCCESS;
  return b;
}

/* As they are by default: all contexts share them. */
static CUdevResource queues_of(const struct board *b)
{
  return (CUdevResource){ .type = RESOURCE_QUEUES,
                          .queues = { .device = (int)b->number, .concurrency = b->preset.params.host_queues } };
}

CUresult sm_resource_give(const struct board *b, const struct sm_group *g, CUdevResource *to, int type)
{
  if (!to) return CUDA_ERROR_INVALID_VALUE;
  if (type == RESOURCE_QUEUES) return *to = queues_of(b), CUDA_SUCCESS;
  if (type != RESOURCE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  if (b->preset.params.gpu_sms > NOTE_SMS) return CUDA_ERROR_NOT_SUPPORTED;
  const struct core_set all = all_sms(b);
  *to = resource_of(b, g ? &g->sms : &all, 0);
  return CUDA_SUCCESS;
}

/* Splits ---------------------------------------------------------------------------------------- */

/* The SMs of a set that make whole pieces inside of a GPC, piece after piece. How many. */
static unsigned pieces_of(const struct params *p, const struct core_set *sms, unsigned piece, uint16_t order[NOTE_SMS])
{
  unsigned n = 0, of_gpc = 0;
  for (unsigned i = 0; i < p->gpu_sms; i++) {
    if (i && params_gpc(p, i) != params_gpc(p, i - 1)) n -= of_gpc % piece, of_gpc = 0;
    if (core_set_has(sms, i)) order[n++] = (uint16_t)i, of_gpc++;
  }
  return n - of_gpc % piece;
}

static bool are_flags(const struct board *b, unsigned flags)
{
  if (flags & SPLIT_LARGE_CLUSTERS) return flags == SPLIT_LARGE_CLUSTERS && b->preset.params.arch_sm >= 90;
  return flags <= SPLIT_FINE;
}

static void give_groups(const struct board *b, CUdevResource *to, unsigned n, const uint16_t *order, unsigned size,
                        uint64_t split, struct core_set *left)
{
  for (unsigned i = 0; i < n; i++) {
    struct core_set sms = {{0}};
    for (unsigned k = 0; k < size; k++) core_set_add(&sms, *order++);
    for (unsigned k = 0; k < CORE_SET_WORDS; k++) left->word[k] &= ~sms.word[k];
    to[i] = resource_of(b, &sms, split);
  }
}

CUresult sm_resource_split(struct shim *s, CUdevResource *result, unsigned *n, const CUdevResource *from,
                           CUdevResource *rest, unsigned flags, unsigned least)
{
  struct core_set sms;
  uint64_t split;
  uint16_t order[NOTE_SMS];
  CUresult r;
  if (!n) return CUDA_ERROR_INVALID_VALUE;
  const struct board *b = read_resource(s, from, &sms, &split, &r);
  if (!b) return r;
  if (least > from->sm.count || !are_flags(b, flags)) return CUDA_ERROR_INVALID_VALUE;
  if (split) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION; /* first it becomes that of a green context */
  const struct grain g = grain_of(b, flags);
  const unsigned size = (unsigned)round_up(least > g.least ? least : g.least, g.multiple);
  unsigned groups = pieces_of(&b->preset.params, &sms, g.multiple, order) / size;
  if (!groups) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
  if (result && *n < groups) groups = *n;
  if (!groups) return CUDA_ERROR_INVALID_VALUE;
  *n = groups;
  split = s->next_id++;
  if (result) give_groups(b, result, groups, order, size, split, &sms);
  if (result && rest) *rest = resource_of(b, &sms, split);
  return CUDA_SUCCESS;
}

/* What a group that was asked for becomes. */
struct wanted {
  unsigned piece, count; /* SMs; count 0: as many as there are */
  bool backfill;
};

/* False: no such group. */
static bool read_wanted(const struct board *b, const CU_DEV_SM_RESOURCE_GROUP_PARAMS *p, unsigned all, struct wanted *w)
{
  static const unsigned none[sizeof p->reserved / sizeof p->reserved[0]];
  const bool clusters = b->preset.params.arch_sm >= 90;
  const unsigned most = clusters ? COSCHEDULED_MOST : SMS_OF_A_PAIR;
  w->piece = p->coscheduled ? p->coscheduled : clusters ? grain_of(b, 0).multiple : SMS_OF_A_PAIR;
  w->count = p->count;
  w->backfill = p->flags & GROUP_BACKFILL;
  if (p->flags > GROUP_BACKFILL || w->piece > most || w->piece % SMS_OF_A_PAIR || p->preferred % w->piece) return false;
  if (memcmp(p->reserved, none, sizeof none) != 0 || p->count > all || p->count % SMS_OF_A_PAIR) return false;
  return w->backfill || p->count % w->piece == 0;
}

/* Takes a group's SMs: whole pieces first, then, to fill up, others. False: there are not so many. */
static bool take_group(const struct params *p, struct wanted *w, struct core_set *left, struct core_set *group)
{
  uint16_t order[NOTE_SMS];
  const unsigned fit = pieces_of(p, left, w->piece, order), there = core_set_count(left);
  if (!w->count) w->count = !w->backfill ? fit : fit ? there - there % SMS_OF_A_PAIR : 0;
  unsigned whole = w->count - w->count % w->piece;
  if (whole > fit) whole = fit;
  if (w->count > (w->backfill ? there : fit) || (w->count && !whole)) return false;
  for (unsigned i = 0; i < whole; i++) core_set_add(group, order[i]);
  for (unsigned k = 0; k < CORE_SET_WORDS; k++) left->word[k] &= ~group->word[k];
  for (unsigned i = 0, more = w->count - whole; more; i++) {
    if (!core_set_has(left, i)) continue;
    core_set_add(group, i);
    more--;
  }
  for (unsigned k = 0; k < CORE_SET_WORDS; k++) left->word[k] &= ~group->word[k];
  return true;
}

CUresult sm_resource_split_each(struct shim *s, CUdevResource *result, unsigned n, const CUdevResource *from,
                                CUdevResource *rest, unsigned flags, CU_DEV_SM_RESOURCE_GROUP_PARAMS *groups)
{
  struct core_set left;
  struct wanted w[NOTE_SMS];
  CUdevResource made[NOTE_SMS];
  uint64_t split;
  CUresult r;
  if (!n || n > NOTE_SMS || !groups || flags) return CUDA_ERROR_INVALID_VALUE;
  const struct board *b = read_resource(s, from, &left, &split, &r);
  if (!b) return r;
  split = s->next_id++;
  for (unsigned i = 0; i < n; i++) {
    struct core_set sms = {{0}};
    if (!read_wanted(b, &groups[i], from->sm.count, &w[i])) return CUDA_ERROR_INVALID_VALUE;
    if (!take_group(&b->preset.params, &w[i], &left, &sms) || (result && !w[i].count))
      return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    made[i] = resource_of(b, &sms, split);
    made[i].sm.alignment = w[i].piece;
    made[i].sm.flags = groups[i].flags;
  }
  for (unsigned i = 0; i < n; i++) groups[i].count = w[i].count;
  if (result) memcpy(result, made, n * sizeof *made);
  if (rest) *rest = core_set_count(&left) ? resource_of(b, &left, split) : (CUdevResource){ .type = RESOURCE_INVALID };
  return CUDA_SUCCESS;
}

/* Descriptors ----------------------------------------------------------------------------------- */

static struct sm_group *group_named(struct shim *s, const struct board *b, const struct core_set *sms)
{
  struct sm_group *g = s->sm_groups;
  while (g && (g->board != b || memcmp(&g->sms, sms, sizeof *sms) != 0)) g = g->next;
  if (g) return g;
  g = shim_alloc(sizeof *g);
  *g = (struct sm_group){ .next = s->sm_groups, .board = b, .sms = *sms };
  return s->sm_groups = g;
}

/* Whether one says how queues of this GPU are shared. */
static bool is_of_queues(const struct board *b, const CUdevResource *r)
{
  return r->type == RESOURCE_QUEUES && r->queues.device == (int)b->number &&
         (r->queues.scope == 0 || r->queues.scope == 1);
}

CUresult sm_resource_name(struct shim *s, CUdevResourceDesc *out, const CUdevResource *of, unsigned n)
{
  struct core_set sum = {{0}}, sms;
  const struct board *first = NULL;
  const CUdevResource *of_sms = NULL;
  uint64_t split, of_first = 0;
  CUresult r;
  if (!out || !of || !n) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < n; i++) {
    if (first && is_of_queues(first, &of[i])) continue;
    const struct board *b = read_resource(s, &of[i], &sms, &split, &r);
    if (!b) return r;
    if (first && (b != first || !split || split != of_first || of[i].sm.alignment != of_sms->sm.alignment))
      return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    first = b;
    of_first = split;
    of_sms = &of[i];
    for (unsigned k = 0; k < CORE_SET_WORDS; k++) sum.word[k] |= sms.word[k];
  }
  *out = group_named(s, first, &sum);
  return CUDA_SUCCESS;
}

const struct sm_group *sm_group_of(const struct shim *s, CUdevResourceDesc d)
{
  const struct sm_group *g = s->sm_groups;
  while (g && g != d) g = g->next;
  return g;
}

const struct core_set *sm_group_cores(const struct sm_group *g)
{
  const bool all = core_set_count(&g->sms) == g->board->preset.params.gpu_sms;
  return all ? NULL : &g->sms;
}
