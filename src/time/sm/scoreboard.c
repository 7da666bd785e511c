#include "time/sm/scoreboard.h"

#include <string.h>

#include "base/bug.h"

struct scoreboard *scoreboard_new(struct arena *a, const struct params *p)
{
  struct scoreboard *b = ARENA_NEW(a, struct scoreboard);
  b->war = p->scoreboard_war;
  b->consumers = p->scoreboard_consumers;
  b->entry = ARENA_ARRAY(a, struct board_entry, (size_t)SUB_CORE_MAX_WARPS * HAZARD_REGS);
  b->n_free = BOARD_TICKETS;
  for (unsigned i = 0; i < BOARD_TICKETS; i++) b->ticket[i].next = (uint8_t)(i + 1);
  return b;
}

void scoreboard_new_warp(struct scoreboard *b, unsigned warp)
{
  memset(&b->entry[warp * HAZARD_REGS], 0, sizeof *b->entry * HAZARD_REGS);
}

/* --- the registers of an instruction ---------------------------------------------------------- */

/* A set of registers, each once: a register named twice is one reader. */
struct reg_set {
  uint64_t has[(HAZARD_REGS + 63) / 64];
};

static void add(struct reg_set *s, const struct operand *o)
{
  for (unsigned k = 0; k < o->width; k++) {
    int r = hazard_reg_number(o, k);
    if (r >= 0) s->has[r / 64] |= (uint64_t)1 << (r % 64);
  }
}

static struct reg_set sources(const struct inst *in)
{
  struct reg_set s = {{0}};
  const struct operand guard = {.file = FILE_P, .index = in->guard, .width = 1};
  for (unsigned i = 0; i < in->n_src; i++) add(&s, &in->src[i]);
  add(&s, &guard); /* 7 = always is no register */
  return s;
}

static struct reg_set destinations(const struct inst *in)
{
  struct reg_set s = {{0}};
  for (unsigned i = 0; i < in->n_dst; i++) add(&s, &in->dst[i]);
  return s;
}

/* Number of the next register of the set, which it leaves; -1: empty. */
static int take(struct reg_set *s)
{
  for (unsigned i = 0; i < sizeof s->has / sizeof s->has[0]; i++)
    if (s->has[i]) {
      int r = (int)(i * 64) + __builtin_ctzll(s->has[i]);
      s->has[i] &= s->has[i] - 1;
      return r;
    }
  return -1;
}

/* --- issue ------------------------------------------------------------------------------------ */

struct reg_wait scoreboard_check(const struct scoreboard *b, unsigned warp, const struct inst *in)
{
  const struct board_entry *regs = &b->entry[warp * HAZARD_REGS];
  struct reg_set src = sources(in), dst = destinations(in);
  if (b->n_free < 2) return (struct reg_wait){WS_SHORT_SCOREBOARD, CYCLE_NEVER};
  for (int r; (r = take(&src)) >= 0;) {
    if (regs[r].written) return (struct reg_wait){regs[r].write_state, CYCLE_NEVER};
    if (b->consumers && regs[r].readers >= b->consumers)
      return (struct reg_wait){regs[r].read_state, CYCLE_NEVER};
  }
  for (int r; (r = take(&dst)) >= 0;) {
    if (regs[r].written) return (struct reg_wait){regs[r].write_state, CYCLE_NEVER};
    if (regs[r].readers) return (struct reg_wait){regs[r].read_state, CYCLE_NEVER};
  }
  return (struct reg_wait){WS_SELECTED, 0};
}

static void latest(const struct board_entry *regs, struct reg_set s, struct reg_wait *last)
{
  for (int r; (r = take(&s)) >= 0;)
    if (regs[r].freed > last->until)
      *last = (struct reg_wait){regs[r].freed_state, regs[r].freed};
}

struct reg_wait scoreboard_waited(const struct scoreboard *b, unsigned warp, const struct inst *in)
{
  const struct board_entry *regs = &b->entry[warp * HAZARD_REGS];
  struct reg_wait last = {WS_SELECTED, 0};
  latest(regs, destinations(in), &last);
  latest(regs, sources(in), &last);
  return last;
}

static uint8_t take_ticket(struct scoreboard *b, unsigned warp, const struct inst *in, bool read)
{
  BUG_ON(b->n_free == 0);
  unsigned i = b->free;
  struct board_ticket *t = &b->ticket[i];
  b->free = t->next;
  b->n_free--;
  *t = (struct board_ticket){.inst = in, .warp = (uint8_t)warp, .read = read};
  return (uint8_t)(BOARD_TICKET + i);
}

static bool empty(const struct reg_set *s)
{
  for (unsigned i = 0; i < sizeof s->has / sizeof s->has[0]; i++)
    if (s->has[i]) return false;
  return true;
}

struct releases scoreboard_issue(struct scoreboard *b, unsigned warp, const struct inst *in,
                                 enum warp_state write_is, enum warp_state read_is)
{
  struct board_entry *regs = &b->entry[warp * HAZARD_REGS];
  struct reg_set src = sources(in), dst = destinations(in);
  struct releases out = {SB_NONE, SB_NONE};
  if (b->war && !empty(&src)) out.read = take_ticket(b, warp, in, true);
  if (!empty(&dst)) out.write = take_ticket(b, warp, in, false);
  for (int r; b->war && (r = take(&src)) >= 0;) {
    BUG_ON(regs[r].readers == UINT16_MAX);
    regs[r].readers++;
    regs[r].read_state = (uint8_t)read_is;
  }
  for (int r; (r = take(&dst)) >= 0;) {
    BUG_ON(regs[r].written);
    regs[r].written = true;
    regs[r].write_state = (uint8_t)write_is;
  }
  return out;
}

static void free_readers(struct board_entry *regs, struct reg_set s, uint64_t visible)
{
  for (int r; (r = take(&s)) >= 0;) {
    BUG_ON(regs[r].readers == 0);
    regs[r].readers--;
    regs[r].freed = visible;
    regs[r].freed_state = regs[r].read_state;
  }
}

static void free_writes(struct board_entry *regs, struct reg_set s, uint64_t visible)
{
  for (int r; (r = take(&s)) >= 0;) {
    BUG_ON(!regs[r].written);
    regs[r].written = false;
    regs[r].freed = visible;
    regs[r].freed_state = regs[r].write_state;
  }
}

void scoreboard_release(struct scoreboard *b, unsigned ticket, uint64_t visible)
{
  unsigned i = ticket - BOARD_TICKET;
  BUG_ON(i >= BOARD_TICKETS || !b->ticket[i].inst);
  struct board_ticket *t = &b->ticket[i];
  struct board_entry *regs = &b->entry[t->warp * HAZARD_REGS];
  if (t->read)
    free_readers(regs, sources(t->inst), visible);
  else
    free_writes(regs, destinations(t->inst), visible);
  *t = (struct board_ticket){.next = b->free};
  b->free = (uint8_t)i;
  b->n_free++;
}
