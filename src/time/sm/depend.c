#include "time/sm/depend.h"

#include "base/bug.h"

enum { COUNTER_MAX = 63 };

void depend_init(struct depend *d)
{
  d->latch.valid = d->now.valid = false;
  wheel_init(&d->drops);
}

void depend_issue(struct depend *d, unsigned warp, const struct inst_ctrl *c,
                  enum warp_state wait_is)
{
  d->latch = (struct control_latch){
      .valid = c->write_sb != SB_NONE || c->read_sb != SB_NONE,
      .warp = (uint8_t)warp,
      .write_sb = c->write_sb,
      .read_sb = c->read_sb,
      .state = (uint8_t)wait_is,
  };
}

void depend_drop_at(struct depend *d, struct warp_table *t, uint64_t now, uint64_t visible,
                    unsigned warp, unsigned sb)
{
  if (sb == SB_NONE) return;
  t->slot[warp].in_flight++;
  wheel_add(&d->drops, now, visible - 1, warp, sb);
}

static void raise_counter(struct warp_slot *w, unsigned sb, unsigned state)
{
  if (sb == SB_NONE) return;
  struct dep_counter *c = &w->dep[sb];
  BUG_ON(c->count == COUNTER_MAX);
  c->count++;
  c->state = (uint8_t)state;
  w->dep_busy |= (uint8_t)(1u << sb);
}

void depend_drop(struct warp_table *t, unsigned warp, unsigned sb, uint64_t now)
{
  struct warp_slot *w = &t->slot[warp];
  struct dep_counter *c = &w->dep[sb];
  BUG_ON(c->count == 0);
  if (--c->count == 0) {
    w->dep_busy &= (uint8_t) ~(1u << sb);
    c->zero_at = now + 1;
  }
}

bool depend_edge(struct depend *d, struct warp_table *t, uint64_t now)
{
  bool changed = false;
  if (d->now.valid) {
    struct warp_slot *w = &t->slot[d->now.warp];
    raise_counter(w, d->now.write_sb, d->now.state);
    /* A source release never waits for memory, whatever the instruction. */
    raise_counter(w, d->now.read_sb, WS_SHORT_SCOREBOARD);
    d->now.valid = false;
    changed = true;
  }
  for (uint16_t i = wheel_take(&d->drops, now), next; i != WHEEL_NIL; i = next) {
    struct wheel_event x = d->drops.pool[i];
    next = x.next;
    wheel_release(&d->drops, i);
    if (x.at > now) {
      wheel_add(&d->drops, now, x.at, x.warp, x.sb);
      continue;
    }
    depend_drop(t, x.warp, x.sb, now);
    t->slot[x.warp].in_flight--;
    changed = true;
  }
  return changed;
}

uint64_t depend_next(const struct depend *d, uint64_t now)
{
  if (d->latch.valid || d->now.valid) return now + 1;
  return wheel_next(&d->drops, now);
}
