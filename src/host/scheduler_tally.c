#include "host/scheduler_tally.h"

#include <string.h>

#include "base/arith.h"
#include "base/bits.h"
#include "base/host_memory.h"
#include "host/simulate.h"
#include "time/sm/observer.h"
#include "time/sm/sm.h"

enum { WORD = 64, FIRST_WORDS = 16 };

/* Cycles in which a scheduler issued: a bit each, from cycle `base` on, a multiple of WORD. */
struct issue_bits {
  uint64_t *word, base;
  size_t words;
};

struct scheduler {
  struct scheduler_counts counts;
  struct issue_bits issued;
  uint64_t charged[SUB_CORE_MAX_WARPS]; /* up to this cycle, of the warp in the slot */
  uint32_t resident;                    /* slots */
};

struct sm_tally {
  struct observer observer; /* first */
  struct scheduler scheduler[SM_MAX_SUB_CORES];
};

struct scheduler_tally {
  struct sim_observers observers;
  unsigned n_sms;
  struct sm_tally *sm;
};

/* --- issue bits --------------------------------------------------------------------------------- */

static void issue_bits_start(struct issue_bits *b, uint64_t cycle)
{
  b->base = cycle / WORD * WORD;
  if (b->words) memset(b->word, 0, b->words * sizeof *b->word);
}

/* Forgets cycles before `oldest`, or some of them. */
static void issue_bits_forget(struct issue_bits *b, uint64_t oldest)
{
  if (oldest <= b->base) return;
  const uint64_t drop = (oldest - b->base) / WORD;
  if (drop >= b->words) {
    issue_bits_start(b, oldest);
    return;
  }
  memmove(b->word, b->word + drop, (b->words - drop) * sizeof *b->word);
  memset(b->word + b->words - drop, 0, drop * sizeof *b->word);
  b->base += drop * WORD;
}

static void issue_bits_grow(struct issue_bits *b)
{
  const size_t more = b->words ? b->words : FIRST_WORDS;
  b->word = mem_resize(b->word, b->words + more, sizeof *b->word);
  memset(b->word + b->words, 0, more * sizeof *b->word);
  b->words += more;
}

static bool issue_bits_reach(const struct issue_bits *b, uint64_t cycle)
{
  return (cycle - b->base) / WORD < b->words;
}

static void issue_bits_set(struct issue_bits *b, uint64_t cycle)
{
  b->word[(cycle - b->base) / WORD] |= UINT64_C(1) << (cycle - b->base) % WORD;
}

/* Of bits before this one, those in its word. */
static uint64_t below(const struct issue_bits *b, uint64_t bit)
{
  return bit / WORD < b->words ? b->word[bit / WORD] & bits_ones(bit % WORD) : 0;
}

/* How many cycles of [from, until) it issued in; from is not forgotten. */
static uint64_t issue_bits_count(const struct issue_bits *b, uint64_t from, uint64_t until)
{
  const uint64_t first = from - b->base, last = until - b->base;
  uint64_t n = 0;
  for (uint64_t w = first / WORD; w < last / WORD && w < b->words; w++) n += bits_count(b->word[w]);
  return n + bits_count(below(b, last)) - bits_count(below(b, first));
}

/* --- observing: on the thread of the SM ---------------------------------------------------------- */

static struct scheduler *scheduler_of(struct observer *o, unsigned sub_core)
{
  return &((struct sm_tally *)o)->scheduler[sub_core];
}

static void warp_begin(struct observer *o, const struct observed_warp *w, uint64_t now)
{
  struct scheduler *s = scheduler_of(o, w->sub_core);
  if (!s->resident) issue_bits_start(&s->issued, now);
  s->charged[w->warp] = now;
  s->resident |= 1u << w->warp;
  s->counts.warps++;
}

static void warp_end(struct observer *o, unsigned sub_core, unsigned warp, uint64_t now)
{
  (void)now;
  scheduler_of(o, sub_core)->resident &= ~(1u << warp);
}

static void wait(struct observer *o, unsigned sub_core, unsigned warp, const struct observed_wait *w)
{
  struct scheduler *s = scheduler_of(o, sub_core);
  const uint64_t cycles = w->until - w->from;
  s->charged[warp] = w->until;
  s->counts.state[w->state] += cycles;
  if (w->state == WS_SELECTED) return; /* it issues */
  s->counts.not_issued[w->state] += cycles - issue_bits_count(&s->issued, w->from, w->until);
}

/* The oldest cycle that may be asked about. */
static uint64_t oldest(const struct scheduler *s, uint64_t now)
{
  uint64_t cycle = now;
  for (uint32_t m = s->resident; m; m &= m - 1) cycle = earlier(cycle, s->charged[bits_first(m)]);
  return cycle;
}

static void issue(struct observer *o, const struct observed *x, const struct observed_issue *how)
{
  struct scheduler *s = scheduler_of(o, x->sub_core);
  s->counts.insts++;
  s->counts.threads += bits_count(how->exec);
  s->counts.pipe[x->inst->pipe]++;
  if (!issue_bits_reach(&s->issued, how->at)) issue_bits_forget(&s->issued, oldest(s, how->at));
  while (!issue_bits_reach(&s->issued, how->at)) issue_bits_grow(&s->issued);
  issue_bits_set(&s->issued, how->at);
}

static const struct observer_ops ops = {.warp_begin = warp_begin, .warp_end = warp_end, .wait = wait, .issue = issue};

/* --- the tally ---------------------------------------------------------------------------------- */

static struct observer *observer_of(void *ctx, unsigned sm)
{
  return &((struct scheduler_tally *)ctx)->sm[sm].observer;
}

static void begin(void *ctx, uint64_t cycle)
{
  struct scheduler_tally *t = ctx;
  (void)cycle;
  for (unsigned i = 0; i < t->n_sms; i++)
    for (unsigned k = 0; k < SM_MAX_SUB_CORES; k++) t->sm[i].scheduler[k].counts = (struct scheduler_counts){0};
}

struct scheduler_tally *scheduler_tally_new(const struct params *p)
{
  struct scheduler_tally *t = mem_zeroed(1, sizeof *t);
  *t = (struct scheduler_tally){.observers = {.ctx = t, .of = observer_of, .begin = begin},
                                .n_sms = p->gpu_sms,
                                .sm = mem_zeroed(p->gpu_sms, sizeof *t->sm)};
  for (unsigned i = 0; i < t->n_sms; i++) t->sm[i].observer.ops = &ops;
  return t;
}

void scheduler_tally_free(struct scheduler_tally *t)
{
  if (!t) return;
  for (unsigned i = 0; i < t->n_sms; i++)
    for (unsigned k = 0; k < SM_MAX_SUB_CORES; k++) mem_free(t->sm[i].scheduler[k].issued.word);
  mem_free(t->sm);
  mem_free(t);
}

const struct sim_observers *scheduler_tally_observers(const struct scheduler_tally *t)
{
  return &t->observers;
}

const struct scheduler_counts *scheduler_tally_of(const struct scheduler_tally *t, unsigned sm, unsigned sub_core)
{
  return &t->sm[sm].scheduler[sub_core].counts;
}
