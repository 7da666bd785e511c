#include "time/sm/fetch.h"

#include "base/bug.h"

void fetch_init(struct fetch *f, const struct params *p, struct l0i *l0i)
{
  f->l0i = l0i;
  f->depth = p->ideal_issue || p->ideal_divergence || p->ideal_local ? IBUFFER_MAX : p->fetch_ibuffer_entries;
  f->latency = p->fetch_stages;
  f->room = 0;
  BUG_ON(f->depth > IBUFFER_MAX);
}

/* Of the next instruction to fetch, or of what is left of it. */
static uint64_t next_place(const struct warp_table *t, unsigned warp)
{
  return t->slot[warp].grid->code.place + t->slot[warp].ib.next_pc;
}

/* Instructions of one size lie in one line. Of others the line fetched may hold but the first bytes: the rest is
 * fetched next. Moves next_pc on; true: the instruction is whole. */
static bool fetched_whole(const struct fetch *f, const struct code_view *c, uint64_t *next_pc)
{
  uint64_t pc = *next_pc, last = l0i_line(f->l0i, c->place + code_last_byte(c, pc));
  bool whole = l0i_line(f->l0i, c->place + pc) == last;
  *next_pc = whole ? code_next(c, pc) : (last << f->l0i->line_shift) - c->place;
  return whole;
}

static void request(struct fetch *f, struct warp_table *t, unsigned warp, uint64_t now)
{
  struct ibuffer *ib = &t->slot[warp].ib;
  const struct code_view *c = &t->slot[warp].grid->code;
  f->l0i->stats->l0i_fetches++;
  if (__builtin_expect(!c->number, 1))
    ib->next_pc += (uint64_t)1 << c->shift;
  else if (!fetched_whole(f, c, &ib->next_pc))
    return;
  ib->valid_at[(ib->head + ib->n) % IBUFFER_MAX] = now + f->latency;
  if (ib->n == 0) warp_changed_at(t, warp, now);
  if (++ib->n == f->depth) f->room &= (uint16_t) ~(1u << warp);
}

/* The line a warp has waited for is there now. It serves it once even if another one has taken its place by then:
 * warps at more lines of a set than it has ways would throw each other's out for ever. */
__attribute__((noinline)) static bool serves_once(const struct fetch *f, struct warp_table *t, unsigned warp,
                                                  uint64_t now)
{
  t->slot[warp].ib.line_due = false;
  return !l0i_readable(f->l0i, next_place(t, warp), now);
}

static inline bool can_fetch(struct fetch *f, struct warp_table *t, unsigned warp, uint64_t now,
                      uint64_t *next)
{
  if (!(f->room >> warp & 1)) return false;
  struct ibuffer *ib = &t->slot[warp].ib;
  if (ib->fetch_at <= now) {
    if (__builtin_expect(ib->line_due, false) && serves_once(f, t, warp, now)) return true;
    uint64_t readable = l0i_fetch(f->l0i, next_place(t, warp), now);
    if (readable <= now) return true;
    f->l0i->stats->l0i_misses++;
    ib->fetch_at = readable;
    ib->line_due = true;
  }
  if (ib->fetch_at < *next) *next = ib->fetch_at;
  return false;
}

bool fetch_one(struct fetch *f, struct warp_table *t, unsigned last_issued, uint64_t now, uint64_t *next)
{
  bool found = last_issued != NO_WARP && can_fetch(f, t, last_issued, now, next);
  unsigned warp = last_issued;
  for (unsigned i = t->n; !found && i-- > 0;) {
    warp = t->order[i];
    found = can_fetch(f, t, warp, now, next);
  }
  if (!found) return false;
  request(f, t, warp, now);
  return true;
}

bool fetch_arrived(struct fetch *f, struct warp_table *t, uint64_t line, uint64_t at)
{
  bool any = false;
  for (unsigned i = 0; i < t->n; i++) {
    unsigned warp = t->order[i];
    struct ibuffer *ib = &t->slot[warp].ib;
    if (ib->fetch_at != CYCLE_NEVER || l0i_line(f->l0i, next_place(t, warp)) != line) continue;
    ib->fetch_at = at;
    any = true;
  }
  return any;
}

void fetch_restart(struct fetch *f, struct warp_table *t, unsigned warp, uint64_t pc, uint64_t at)
{
  struct ibuffer *ib = &t->slot[warp].ib;
  ib->next_pc = pc;
  ib->fetch_at = at;
  ib->line_due = false;
  ib->head = ib->n = 0;
  warp_changed(t, warp);
  f->room |= (uint16_t)(1u << warp);
}

void fetch_stop(struct fetch *f, unsigned warp)
{
  f->room &= (uint16_t) ~(1u << warp);
}
