#include "time/sm/ledger.h"

#include "base/bits.h"

static uint64_t index_of(const struct sm_grid *g, uint64_t pc)
{
  return (pc - g->code.base) >> g->code.shift;
}

void ledger_book(struct ledger *l, struct warp_slot *w, uint64_t pc, enum warp_state s, uint64_t until)
{
  uint64_t cycles = until - w->accounted;
  w->accounted = until;
  l->stats->warp_state[s] += cycles;
  struct sm_grid *g = w->grid;
  uint64_t index = index_of(g, pc);
  if (index < g->n_insts) g->by_inst[index * WARP_STATE__N + s] += cycles;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

/* Counters waited for, in the order in which they reached zero. */
static void charge_counters(struct ledger *l, struct warp_slot *w, uint64_t pc, unsigned wait,
                            uint64_t now)
{
  while (wait) {
    unsigned first = bits_first(wait);
    for (unsigned m = wait; m; m &= m - 1)
      if (w->dep[bits_first(m)].zero_at < w->dep[first].zero_at) first = bits_first(m);
    const struct dep_counter *d = &w->dep[first];
    ledger_charge(l, w, pc, (enum warp_state)d->state, earlier(d->zero_at, now));
    wait &= ~(1u << first);
  }
}

void ledger_issue(struct ledger *l, struct warp_slot *w, const struct inst *in, uint64_t pc,
                  const struct reg_wait *reg, uint64_t now)
{
  ledger_charge(l, w, pc, WS_WAIT, earlier(w->issue_at, now));
  ledger_charge(l, w, pc, WS_BRANCH_RESOLVING, earlier(w->jump_until, now));
  ledger_charge(l, w, pc, WS_NO_INSTRUCTION, earlier(w->ib.valid_at[w->ib.head], now));
  unsigned wait = reg ? 0 : in->ctrl.wait;
  if (w->depbar_waits) wait |= w->depbar_waits;
  w->depbar_waits = 0;
  if (in->flags & INST_DEPBAR)
    w->depbar_waits = (uint8_t)(1u << in->depbar_sb | in->depbar_mask);
  charge_counters(l, w, pc, wait, now);
  if (reg) ledger_charge(l, w, pc, (enum warp_state)reg->state, earlier(reg->until, now));
  if (w->blocked_n)
    ledger_charge(l, w, pc, (enum warp_state)w->blocked_state,
                  earlier(w->accounted + w->blocked_n, now));
  ledger_charge(l, w, pc, WS_NOT_SELECTED, now);
  ledger_charge(l, w, pc, WS_SELECTED, now + 1);
  w->blocked_n = 0;
  uint64_t index = index_of(w->grid, pc);
  if (index < w->grid->n_insts) w->grid->issued[index]++;
}

void ledger_lanes(struct ledger *l, const struct warp_slot *w, const struct inst *in, unsigned lanes)
{
  uint64_t index = index_of(w->grid, in->pc);
  l->stats->thread_insts += lanes;
  if (index < w->grid->n_insts) w->grid->threads[index] += lanes;
}
