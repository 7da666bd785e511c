#include "time/sm/depend.h"

#include <string.h>

#include "base/bug.h"

enum { COUNTER_MAX = 63 };

void depend_init(struct depend *d, struct writeback *writeback)
{
  d->writeback = writeback;
  memset(d->order, 0, sizeof d->order);
  d->latch.valid = d->now.valid = false;
  wheel_init(&d->drops);
  d->waiting = WHEEL_NIL;
}

static uint8_t released(struct depend *d, unsigned warp, unsigned sb, unsigned in_order)
{
  return in_order >> sb & 1 ? in_order_take(d->order[warp], sb) : (uint8_t)sb;
}

struct releases depend_issue(struct depend *d, unsigned warp, const struct inst_ctrl *c, enum warp_state wait_is,
                             unsigned in_order)
{
  d->latch = (struct control_latch){
      .valid = c->write_sb != SB_NONE || c->read_sb != SB_NONE,
      .warp = (uint8_t)warp,
      .write_sb = c->write_sb,
      .read_sb = c->read_sb,
      .state = (uint8_t)wait_is,
  };
  return (struct releases){released(d, warp, c->write_sb, in_order), released(d, warp, c->read_sb, in_order)};
}

void depend_issue_group(struct depend *d, unsigned warp)
{
  if (!d->latch.valid)
    d->latch = (struct control_latch){.valid = true, .warp = (uint8_t)warp, .write_sb = SB_NONE, .read_sb = SB_NONE};
  d->latch.group = true;
}

void depend_drop_at(struct depend *d, struct warp_table *t, uint64_t now, uint64_t visible,
                    unsigned warp, unsigned sb)
{
  if (sb == SB_NONE) return;
  t->slot[warp].in_flight++;
  wheel_add(&d->drops, now,
            (struct wheel_event){.id = (uint16_t)warp, .sb = (uint8_t)sb, .at = visible - 1});
}

void depend_write_at(struct depend *d, struct warp_table *t, uint64_t now, unsigned warp,
                     struct depend_write x)
{
  if (x.sb == SB_NONE && !x.n) return;
  t->slot[warp].in_flight++;
  wheel_add(&d->drops, now,
            (struct wheel_event){.id = (uint16_t)warp,
                                 .sb = x.sb,
                                 .bank = x.bank,
                                 .left = x.n,
                                 .step = x.step,
                                 .at = x.first});
}

static void raise_counter(struct warp_table *t, unsigned warp, unsigned sb, unsigned state, uint64_t now)
{
  struct warp_slot *w = &t->slot[warp];
  if (sb == SB_NONE) return;
  warp_changed_at(t, warp, now + 1);
  struct dep_counter *c = &w->dep[sb];
  BUG_ON(c->count == COUNTER_MAX);
  c->count++;
  c->state = (uint8_t)state;
  w->dep_busy |= (uint8_t)(1u << sb);
}

/* Drops the counter at the end of this cycle. */
static void depend_drop(struct warp_table *t, unsigned warp, unsigned sb, uint64_t now)
{
  struct warp_slot *w = &t->slot[warp];
  struct dep_counter *c = &w->dep[sb];
  BUG_ON(c->count == 0);
  warp_changed_at(t, warp, now + 1);
  if (--c->count == 0) {
    w->dep_busy &= (uint8_t) ~(1u << sb);
    c->zero_at = now + 1;
  }
}

enum write_progress { DONE, LATER, WAITS };

/* Writes the register that is due. LATER: more are to come, from cycle x->at on. WAITS: no port. */
static enum write_progress write_due(struct depend *d, struct wheel_event *x, uint64_t now)
{
  if (x->at > now) return LATER; /* another turn of the wheel */
  if (!x->left) return DONE;
  if (!writeback_take(d->writeback, x->bank, now)) return WAITS;
  if (--x->left == 0) return DONE;
  x->bank = (uint8_t)writeback_next_bank(d->writeback, x->bank);
  x->at = now + x->step;
  return LATER;
}

static void wait_for_port(struct depend *d, uint16_t i)
{
  d->drops.pool[i].next = WHEEL_NIL;
  if (d->waiting == WHEEL_NIL)
    d->waiting = i;
  else
    d->drops.pool[d->last_waiting].next = i;
  d->last_waiting = i;
}

/* What a ticket stands for drops. */
__attribute__((cold)) static void drop_ticket(struct depend *d, struct warp_table *t, unsigned warp, unsigned ticket,
                                              uint64_t now)
{
  if (d->boards) {
    scoreboard_release(d->boards, ticket, now + 1);
    return;
  }
  for (unsigned n = in_order_due(d->order[warp], ticket); n; n--) depend_drop(t, warp, in_order_counter(ticket), now);
}

/* Events from `i` on are due. True when a counter changed. */
static bool events(struct depend *d, struct warp_table *t, uint16_t i, uint64_t now)
{
  bool changed = false;
  for (uint16_t next; i != WHEEL_NIL; i = next) {
    struct wheel_event *x = &d->drops.pool[i];
    next = x->next;
    enum write_progress p = write_due(d, x, now);
    if (p == WAITS) {
      wait_for_port(d, i);
      continue;
    }
    struct wheel_event e = *x;
    wheel_release(&d->drops, i);
    if (p == LATER) {
      wheel_add(&d->drops, now, e);
      continue;
    }
    if (e.sb >= BOARD_TICKET)
      drop_ticket(d, t, e.id, e.sb, now);
    else if (e.sb != SB_NONE)
      depend_drop(t, e.id, e.sb, now);
    t->slot[e.id].in_flight--;
    changed = true;
  }
  return changed;
}

static void raise_latch(struct warp_table *t, const struct control_latch *l, uint64_t now)
{
  raise_counter(t, l->warp, l->write_sb, l->state, now);
  /* A source release never waits for memory, whatever the instruction. */
  raise_counter(t, l->warp, l->read_sb, WS_SHORT_SCOREBOARD, now);
  if (l->group) raise_counter(t, l->warp, SB_GMMA, WS_GMMA, now);
}

void depend_raise(struct depend *d, struct warp_table *t, uint64_t now)
{
  if (d->latch.valid) raise_latch(t, &d->latch, now);
  d->latch.valid = false;
}

bool depend_change(struct depend *d, struct warp_table *t, uint64_t now)
{
  bool changed = false;
  if (d->now.valid) {
    raise_latch(t, &d->now, now);
    d->now.valid = false;
    changed = true;
  }
  uint16_t waited = d->waiting;
  d->waiting = WHEEL_NIL;
  if (waited != WHEEL_NIL) changed |= events(d, t, waited, now);
  uint16_t due = wheel_take(&d->drops, now);
  if (due != WHEEL_NIL) changed |= events(d, t, due, now);
  return changed;
}

uint64_t depend_next(const struct depend *d, uint64_t now)
{
  if (d->latch.valid || d->now.valid || d->waiting != WHEEL_NIL) return now + 1;
  return wheel_next(&d->drops, now);
}
