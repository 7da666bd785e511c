#include "time/sm/issue.h"

void issue_init(struct issue *s, const struct params *p, struct const_cache *fl)
{
  *s = (struct issue){.params = p, .fl = fl, .last = NO_WARP, .fp32_on_alu = p->issue_fp32_on_alu};
}

uint64_t issue_after(const struct params *p, const struct inst_ctrl *c, uint64_t now)
{
  if (c->stall == 0 && c->yield) return now + p->issue_stall0_yield_cycles;
  if (c->stall >= p->issue_big_stall_from && !c->yield)
    return now + p->issue_big_stall_no_yield_cycles;
  unsigned stall = c->stall ? c->stall : 1;
  if (c->yield && stall < 2) stall = 2; /* not in the next cycle */
  return now + stall;
}

void issue_new_warp(struct issue *s, unsigned warp)
{
  /* The youngest is the first greedy warp (Huerta et al., MICRO 2025). */
  if (s->params->issue_policy == ISSUE_POLICY_CGGTY) s->last = (uint8_t)warp;
}

/* Everything a look at one warp can say. */
struct look {
  enum warp_state state; /* WS_SELECTED: ready */
  uint64_t until;        /* first cycle in which time alone can change it */
};

static bool uses_fp32_lanes(const struct inst *in)
{
  return in->pipe == PIPE_FMA && in->lat == LAT_FMA && !(in->flags & INST_HALF_RATE_PORT);
}

static uint64_t latch_free_at(const struct issue *s, const struct inst *in, uint64_t fp64_at)
{
  if (in->pipe == PIPE_FP64 && s->params->fp64_shared) return fp64_at;
  uint64_t at = s->latch_free_at[in->pipe];
  if (s->fp32_on_alu && uses_fp32_lanes(in) && s->latch_free_at[PIPE_ALU] < at)
    at = s->latch_free_at[PIPE_ALU];
  return at;
}

static enum warp_state counter_state(const struct warp_slot *w, unsigned busy)
{
  return (enum warp_state)w->dep[bits_first(busy)].state;
}

/* DEPBAR.LE holds the warp until its own counter is at most the threshold and the listed ones are zero.
 * It issues at once and takes hold a few cycles later (Figure 2; with a smaller stall the next
 * instruction slips through); nvcc relies on it: it puts DEPBAR right behind the producer. */
static bool depbar_blocked(const struct warp_slot *w, const struct inst *in)
{
  return w->dep[in->depbar_sb].count > in->depbar_le || (w->dep_busy & in->depbar_mask);
}

/* Cycle from which the constant operand can be read. A warp asks the cache once per instruction:
 * the line it waits for is its own, whoever evicts it meanwhile. */
static uint64_t constant_at(struct issue *s, struct warp_slot *w, const struct inst *in,
                            uint64_t now)
{
  if (w->const_inst != in) {
    w->const_at = const_cache_read(s->fl, in->const_bank, in->const_off, now);
    w->const_inst = in;
  }
  return w->const_at;
}

/* A counter at its limit takes no further increment: the instruction waits. One more may be on its
 * way in Control. */
static bool counter_full(const struct warp_slot *w, const struct inst_ctrl *c)
{
  enum { LIMIT = 62 };
  return (c->write_sb != SB_NONE && w->dep[c->write_sb].count >= LIMIT) ||
         (c->read_sb != SB_NONE && w->dep[c->read_sb].count >= LIMIT);
}

static enum warp_state throttle_state(const struct inst *in)
{
  bool lg =
      in->mem.space == MEM_GLOBAL || in->mem.space == MEM_LOCAL || in->mem.space == MEM_GENERIC;
  return lg ? WS_LG_THROTTLE : WS_MIO_THROTTLE;
}

/* The warp's obstacle among its dependences, WS_SELECTED: none. */
static struct look dependences(const struct issue *s, const struct warp_slot *w, unsigned warp,
                               const struct inst *in, uint64_t now)
{
  if (s->boards) {
    struct reg_wait r = scoreboard_check(s->boards, warp, in);
    if (r.state != WS_SELECTED) return (struct look){(enum warp_state)r.state, r.until};
  } else {
    unsigned busy = w->dep_busy & in->ctrl.wait;
    if (busy) return (struct look){counter_state(w, busy), CYCLE_NEVER};
  }
  if (w->dep_busy && counter_full(w, &in->ctrl))
    return (struct look){WS_SHORT_SCOREBOARD, CYCLE_NEVER};
  return (struct look){WS_SELECTED, now};
}

static struct look look_at(struct issue *s, struct warp_table *t, unsigned warp,
                           const struct lsu *lsu, bool txn_free, uint64_t fp64_at, uint64_t now)
{
  struct warp_slot *w = &t->slot[warp];
  if (w->done) return (struct look){WS_DRAIN, CYCLE_NEVER};
  if (w->hold != WS_SELECTED) /* past its time: a fence that waits for answers */
    return (struct look){(enum warp_state)w->hold,
                         w->hold_until > now ? w->hold_until : CYCLE_NEVER};
  if (now < w->issue_at) return (struct look){WS_WAIT, w->issue_at};
  if (w->ib.n == 0)
    return (struct look){now < w->jump_until ? WS_BRANCH_RESOLVING : WS_NO_INSTRUCTION,
                         CYCLE_NEVER}; /* fetch has its own clock */
  if (now < w->ib.valid_at[w->ib.head])
    return (struct look){now < w->jump_until ? WS_BRANCH_RESOLVING : WS_NO_INSTRUCTION,
                         w->ib.valid_at[w->ib.head]};
  if (w->depbar && now >= w->depbar_from) {
    if (depbar_blocked(w, w->depbar))
      return (struct look){counter_state(w, 1u << w->depbar->depbar_sb), CYCLE_NEVER};
    w->depbar = NULL;
  }
  const struct inst *in = w->next;
  if (!in) return (struct look){WS_SELECTED, now}; /* the step reports the bad pc */
  struct look dep = dependences(s, w, warp, in, now);
  if (dep.state != WS_SELECTED) return dep;
  if (in->pipe == PIPE_MEM && !(lsu_can_accept(lsu) && txn_free))
    return (struct look){throttle_state(in), CYCLE_NEVER};
  /* A barrier follows the warp's memory instructions: nvcc relies on them to have read their sources
   * when it is over (kernels/sort_bitonic on sm_75). */
  if ((in->flags & INST_BAR) && (w->queued || w->unread)) return (struct look){WS_MIO_THROTTLE, CYCLE_NEVER};
  if (in->has_const && in->pipe != PIPE_MEM) {
    uint64_t readable = constant_at(s, w, in, now);
    if (readable > now) return (struct look){WS_IMC_MISS, readable};
  }
  uint64_t at = latch_free_at(s, in, fp64_at);
  if ((in->flags & INST_CLOCK) && s->clock_free_at > at) at = s->clock_free_at;
  if (now < at) return (struct look){WS_MATH_PIPE, at};
  return (struct look){WS_SELECTED, now};
}

static bool is_throttle(enum warp_state s)
{
  return s == WS_IMC_MISS || s == WS_MATH_PIPE || s == WS_DISPATCH || s == WS_LG_THROTTLE ||
         s == WS_MIO_THROTTLE;
}

/* i-th candidate of the policy after the greedy one. */
static unsigned candidate(const struct issue *s, const struct warp_table *t, unsigned i)
{
  switch (s->params->issue_policy) {
  case ISSUE_POLICY_CGGTY: return t->order[t->n - 1 - i];
  case ISSUE_POLICY_GTO:
  case ISSUE_POLICY_OLDEST: return t->order[i];
  default: { /* LRR: the one after the last issued, by age; the oldest when that one is gone */
    unsigned from = 0;
    while (from < t->n && t->order[from] != s->last) from++;
    return t->order[from < t->n ? (from + 1 + i) % t->n : i];
  }
  }
}

/* Finished warps and warps at a barrier rank last (Huerta et al., MICRO 2025). */
static bool ranks_last(const struct warp_slot *w)
{
  return w->done || w->hold != WS_SELECTED;
}

/* The greedy warp misses its constant: nothing issues for a few cycles, then others may. */
static bool const_holds_port(struct issue *s, const struct look *greedy, uint64_t now)
{
  if (greedy->state != WS_IMC_MISS) {
    s->const_hold_until = 0;
    return false;
  }
  if (s->const_hold_until == 0)
    s->const_hold_until = now + s->params->issue_const_miss_switch_cycles;
  return now < s->const_hold_until;
}

struct issue_pick issue_cycle(struct issue *s, struct warp_table *t, const struct lsu *lsu,
                              bool txn_free, uint64_t fp64_at, uint64_t now)
{
  struct issue_pick pick = {NO_WARP, SLOT_NO_WARP, CYCLE_NEVER};
  if (t->n == 0) return pick;
  uint32_t policy = s->params->issue_policy;
  bool greedy = (policy == ISSUE_POLICY_CGGTY || policy == ISSUE_POLICY_GTO) && s->last != NO_WARP;
  bool charged = false;
  enum warp_state fallback = WS_DRAIN;
  for (unsigned i = 0; i < t->n + (greedy ? 1u : 0u); i++) {
    unsigned warp = greedy ? (i == 0 ? s->last : candidate(s, t, i - 1)) : candidate(s, t, i);
    struct warp_slot *w = &t->slot[warp];
    if (greedy && i > 0 && warp == s->last) continue;
    struct look l = look_at(s, t, warp, lsu, txn_free, fp64_at, now);
    if (l.state == WS_SELECTED && now >= s->port_free_at) {
      pick.warp = (uint8_t)warp;
      return pick;
    }
    if (l.state == WS_SELECTED) l = (struct look){WS_DISPATCH, s->port_free_at};
    if (is_throttle(l.state)) {
      w->blocked_state = (uint8_t)l.state;
      w->blocked_n++;
      w->blocked_at = now;
    }
    if (l.until < pick.next) pick.next = l.until;
    if (greedy && i == 0 && const_holds_port(s, &l, now)) {
      if (s->const_hold_until < pick.next) pick.next = s->const_hold_until;
      pick.charge = WS_IMC_MISS;
      return pick;
    }
    if (!charged && !ranks_last(w)) {
      pick.charge = (uint8_t)l.state;
      charged = true;
    } else if (!charged && l.state != WS_DRAIN) {
      fallback = l.state;
    }
  }
  if (!charged) pick.charge = (uint8_t)fallback;
  return pick;
}

void issue_commit(struct issue *s, struct warp_slot *w, unsigned warp, const struct inst *in,
                  uint64_t control_free_at, uint64_t held, uint64_t now)
{
  const struct params *p = s->params;
  s->last = (uint8_t)warp;
  s->const_hold_until = 0;
  w->issue_at = s->boards ? now + 1 : issue_after(p, &in->ctrl, now);
  w->const_inst = NULL;
  unsigned interval = p->pipe_interval[in->pipe];
  if (in->pipe == PIPE_TENSOR) interval = p->mma_interval[in->lat - MMA_FIRST];
  uint64_t *latch = &s->latch_free_at[in->pipe];
  /* On borrowed lanes nobody waits for an instruction held before them: a clock read behind such an FFMA
   * shows no register-port conflict (Huerta et al., MICRO 2025, Listing 1). */
  bool borrows = s->fp32_on_alu && uses_fp32_lanes(in) && *latch > now;
  if (borrows) latch = &s->latch_free_at[PIPE_ALU];
  *latch = now + interval + (borrows ? 0 : held);
  if (control_free_at > s->port_free_at) s->port_free_at = control_free_at;
  if (in->lat == LAT_IMAD_WIDE && now + 1 + p->issue_imad_extra_cycles > s->port_free_at)
    s->port_free_at = now + 1 + p->issue_imad_extra_cycles;
  if (in->flags & INST_CLOCK) s->clock_free_at = now + 2;
  if (in->flags & INST_DEPBAR) {
    w->depbar = in;
    w->depbar_from = s->boards ? now + 1 : now + p->issue_depbar_cycles;
  }
}
