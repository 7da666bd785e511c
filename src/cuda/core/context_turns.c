#include "cuda/core/context_turns.h"

#include "base/arith.h"
#include "base/time_slices.h"
#include "cuda/core/shim.h"
#include "cuda/core/time_share.h"
#include "host/simulate.h"

enum { TURN_LANES = 16 };
#define STEP_PS UINT64_C(1000000) /* copies alone in the first lane are so far ahead of kernels in others at most */

struct lane {
  struct simulator *simulator;
  uint64_t context; /* whose kernels it has, or had */
  uint64_t reached; /* ps: it has gone or stood so far */
};

struct context_turns {
  struct time_slices slices; /* its users: the lanes, by number */
  struct lane lane[TURN_LANES];
  unsigned n;
};

/* --- lanes ------------------------------------------------------------------------------------------- */

unsigned board_lanes(const struct board *b)
{
  return b->turns ? b->turns->n : 1;
}

struct simulator *board_lane(const struct board *b, unsigned lane)
{
  return lane ? b->turns->lane[lane].simulator : b->simulator;
}

unsigned board_launches(const struct board *b)
{
  unsigned n = 0;
  for (unsigned i = 0; i < board_lanes(b); i++) n += live_count(board_lane(b, i));
  return n;
}

bool board_busy(const struct board *b)
{
  bool busy = false;
  for (unsigned i = 0; i < board_lanes(b); i++) busy |= live_busy(board_lane(b, i));
  return busy;
}

uint64_t board_ctas_done(const struct board *b)
{
  uint64_t n = 0;
  for (unsigned i = 0; i < board_lanes(b); i++) n += live_ctas_done(board_lane(b, i));
  return n;
}

static struct lane *add_lane(struct board *b, struct simulator *s)
{
  struct context_turns *t = b->turns;
  const struct slice_hello hello = time_share_hello(&b->preset.params);
  struct lane *l = &t->lane[t->n];
  if (time_slices_enter(&t->slices, &hello, t->n) != (int)t->n) return NULL;
  *l = (struct lane){.simulator = s};
  t->n++;
  return l;
}

/* --- contexts ---------------------------------------------------------------------------------------- */

/* Green contexts are parts of the primary one. */
static uint64_t turn_of(const struct context *c)
{
  const struct context *whole = c && c->green ? c->board->primary : c;
  return whole ? whole->id : 0;
}

static bool is_possible(const struct board *b)
{
  const struct shim *s = b->shim;
  return s->shared && s->boards.n == 1 && !s->mps && !s->share && !s->ranks && !program_is_guest(s);
}

void context_turns_join(struct board *b, const struct context *c, const struct context *other)
{
  if (b->turns || c->green || !other || !is_possible(b)) return;
  b->turns = shim_alloc(sizeof *b->turns);
  time_slices_init(&b->turns->slices);
  struct lane *first = add_lane(b, b->simulator);
  if (first) first->context = turn_of(other); /* what may be there already is its */
}

static bool has_kernels(const struct lane *l)
{
  return live_count(l->simulator) > 0;
}

/* The one with the context's kernels, else one without any. NULL: all have kernels of others. */
static struct lane *lane_for(struct context_turns *t, uint64_t context)
{
  struct lane *free = NULL;
  for (unsigned i = t->n; i-- > 0;) {
    struct lane *l = &t->lane[i];
    if (!has_kernels(l)) free = l;
    else if (l->context == context) return l;
  }
  return free;
}

struct simulator *context_turns_place(struct board *b, const struct context *c)
{
  struct context_turns *t = b->turns;
  if (!t || simulator_is_managed(b->simulator)) return b->simulator;
  struct lane *l = lane_for(t, turn_of(c));
  if (!l && t->n < TURN_LANES) l = add_lane(b, simulator_beside(b->simulator));
  if (!l) return b->simulator; /* so many at once: it shares the turns of whose kernels are there */
  if (l->simulator != b->simulator) simulator_follow(l->simulator, b->simulator);
  l->context = turn_of(c);
  return l->simulator;
}

/* --- turns ------------------------------------------------------------------------------------------- */

/* So far a lane has come; no earlier than its turns have. */
static uint64_t at(const struct context_turns *t, unsigned lane)
{
  const struct lane *l = &t->lane[lane];
  return later(later(live_now(l->simulator), l->reached), t->slices.user[lane].ask.now);
}

uint64_t context_turns_now(const struct board *b)
{
  const struct context_turns *t = b->turns;
  uint64_t now = 0;
  for (unsigned i = 0; i < t->n; i++)
    if (live_busy(t->lane[i].simulator)) now = now ? earlier(now, at(t, i)) : at(t, i);
  return now;
}

/* All lanes with kernels ask, also those that are at `until`: who has the GPU there keeps it from those that are not.
 * Returns where the first of them is, FRONT_NEVER: there are none. */
static uint64_t ask(struct context_turns *t, uint64_t until)
{
  uint64_t first = FRONT_NEVER;
  for (unsigned i = 0; i < t->n; i++) {
    if (!has_kernels(&t->lane[i])) continue;
    const uint64_t now = at(t, i);
    first = earlier(first, now);
    time_slices_ask(&t->slices, (int)i, &(struct slice_ask){now, later(until, now + 1), false});
  }
  return first;
}

/* Copies alone in the first lane ask nobody: kernels of others are ahead of them by a step at most. */
static bool follows(const struct context_turns *t, uint64_t *until)
{
  const struct simulator *s = t->lane[0].simulator;
  if (!live_busy(s) || has_kernels(&t->lane[0]) || at(t, 0) >= *until) return false;
  for (unsigned i = 1; i < t->n; i++)
    if (has_kernels(&t->lane[i])) *until = earlier(*until, at(t, 0) + STEP_PS);
  return true;
}

/* Nothing of its kernels could have ended meanwhile, so a program that has ended waits longer for them (end_watch.h):
 * by this lane's part of the time, since others go on. */
static void stand(struct board *b, unsigned lane, uint64_t until)
{
  struct lane *l = &b->turns->lane[lane];
  const uint64_t from = at(b->turns, lane);
  unsigned n = 0;
  for (unsigned i = 0; i < b->turns->n; i++) n += has_kernels(&b->turns->lane[i]);
  live_stand(l->simulator, from, until);
  l->reached = until;
  b->shim->end.quiet += (until - from) / n;
}

/* Who goes on now, and until when; who has to stand until then does so. NULL: all have come to *until. */
static struct lane *next(struct board *b, uint64_t *until)
{
  struct context_turns *t = b->turns;
  struct slice_answer a;
  uint64_t to = *until;
  const bool copies = follows(t, &to);
  while (ask(t, to) < to) {
    const unsigned i = (unsigned)time_slices_answer(&t->slices, &a);
    *until = earlier(a.until, to);
    if (a.run) return &t->lane[i];
    stand(b, i, *until);
  }
  *until = to;
  return copies ? t->lane : NULL;
}

enum live_stop context_turns_run(struct board *b, uint64_t until)
{
  for (;;) {
    uint64_t to = until;
    struct lane *l = next(b, &to);
    if (!l) return LIVE_REACHED;
    const enum live_stop stop = live_run(l->simulator, to);
    if (stop != LIVE_REACHED) return stop;
    l->reached = later(l->reached, to);
  }
}

void context_turns_taken(struct board *b, unsigned lane, uint64_t end)
{
  if (!b->turns || has_kernels(&b->turns->lane[lane])) return;
  b->turns->lane[lane].reached = 0;
  time_slices_ask(&b->turns->slices, (int)lane, &(struct slice_ask){end, end, true});
}

void context_turns_fail(struct board *b)
{
  for (unsigned i = 0; i < b->turns->n; i++) live_cut(b->turns->lane[i].simulator);
}
