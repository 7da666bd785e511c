#include "time/sm/ledger.h"

#include "base/arith.h"
#include "base/bits.h"

__attribute__((cold)) static void tell(const struct ledger *l, const struct warp_slot *w, uint64_t pc, unsigned state,
                                       uint64_t from, uint64_t until)
{
  const struct observed_wait x = {.pc = pc, .from = from, .until = until, .state = (enum warp_state)state};
  observe_wait(l->observers, w->sub_core, w->number, &x);
}

void ledger_book(struct ledger *l, struct warp_slot *w, uint64_t pc, enum warp_state s, uint64_t until)
{
  uint64_t cycles = until - w->books.accounted;
  if (l->observers) tell(l, w, pc, s, w->books.accounted, until);
  w->books.accounted = until;
  l->stats->warp_state[s] += cycles;
  struct sm_grid *g = w->grid;
  uint64_t index = sm_grid_index(g, pc);
  if (index < g->n_insts) g->by_inst[index * WARP_STATE__N + s] += cycles;
}

/* Where the warp's cycles before one instruction are charged. */
struct books {
  uint64_t accounted; /* the warp's */
  uint64_t *of_sm, *of_inst;
  const struct warp_slot *w;
  const struct ledger *observed; /* NULL: nobody hears of it */
};

static inline __attribute__((always_inline)) void charge(struct books *b, unsigned state, uint64_t until)
{
  if (until <= b->accounted) return;
  uint64_t cycles = until - b->accounted;
  if (b->observed) tell(b->observed, b->w, b->w->next->pc, state, b->accounted, until);
  b->accounted = until;
  b->of_sm[state] += cycles;
  b->of_inst[state] += cycles;
}

/* Counters waited for, in the order in which they reached zero. */
static inline __attribute__((always_inline)) void charge_counters(struct books *b, unsigned wait, uint64_t now)
{
  const struct dep_counter *dep = b->w->dep;
  while (wait) {
    unsigned first = bits_first(wait);
    for (unsigned m = wait & (wait - 1); m; m &= m - 1)
      if (dep[bits_first(m)].zero_at < dep[first].zero_at) first = bits_first(m);
    charge(b, dep[first].state, earlier(dep[first].zero_at, now));
    wait &= ~(1u << first);
  }
}

/* The warp's cycles until its issue at `now`. `observed`: NULL: nobody hears of it. */
static inline __attribute__((always_inline)) void split_wait(struct ledger *l, struct warp_slot *w,
                                                             const struct inst *in, const struct reg_wait *reg,
                                                             uint64_t throttled, uint64_t now,
                                                             const struct ledger *observed)
{
  struct sm_grid *g = w->grid;
  uint64_t index = code_number(&g->code, in);
  struct books b = {w->books.accounted, l->stats->warp_state, &g->by_inst[index * WARP_STATE__N], w, observed};
  charge(&b, WS_WAIT, earlier(w->issue_at, now));
  charge(&b, WS_BRANCH_RESOLVING, earlier(w->books.jump_until, now));
  charge(&b, WS_NO_INSTRUCTION, earlier(w->ib.valid_at[w->ib.head], now));
  const unsigned wait = (reg ? 0u : in->ctrl.wait) | w->books.depbar_waits;
  if (wait) {
    charge_counters(&b, wait & (DEPBAR_HELD - 1), now);
    /* The counter of a DEPBAR that leaves some in flight has not reached zero. */
    if (wait & DEPBAR_HELD) charge(&b, w->books.depbar_state, now - (uint32_t)((uint32_t)now - w->books.depbar_until));
  }
  w->books.depbar_waits = in->flags & (INST_DEPBAR | INST_DRAINS) ? in->hold_for : 0;
  if (reg) charge(&b, reg->state, earlier(reg->until, now));
  if (throttled) charge(&b, w->books.blocked_state, earlier(b.accounted + throttled, now));
  charge(&b, WS_NOT_SELECTED, now);
  charge(&b, WS_SELECTED, now + 1);
  w->books.accounted = b.accounted;
  g->issued[index]++;
}

/* Apart, so that without observers nothing is asked at a charge. */
__attribute__((cold, noinline)) static void issue_observed(struct ledger *l, struct warp_slot *w, const struct inst *in,
                                                           const struct reg_wait *reg, uint64_t throttled, uint64_t now)
{
  split_wait(l, w, in, reg, throttled, now, l);
}

void ledger_issue(struct ledger *l, struct warp_slot *w, const struct inst *in, const struct reg_wait *reg,
                  uint64_t throttled, uint64_t now)
{
  if (l->observers)
    issue_observed(l, w, in, reg, throttled, now);
  else
    split_wait(l, w, in, reg, throttled, now, NULL);
}
