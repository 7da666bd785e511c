#include "time/sm/issue.h"

#include "base/arith.h"
#include "base/bug.h"

void issue_init(struct issue *s, const struct params *p, struct const_cache *fl)
{
  *s = (struct issue){.params = p,
                      .fl = fl,
                      .last = NO_WARP,
                      .fp32_on_alu = p->issue_fp32_on_alu,
                      .policy = (uint8_t)p->issue_policy};
  s->greedy = s->policy == ISSUE_POLICY_CGGTY || s->policy == ISSUE_POLICY_GTO;
  for (unsigned lat = 0; lat < LAT__N; lat++) s->port_cycles[lat] = 1;
  s->port_cycles[LAT_IMAD_WIDE] = (uint8_t)(1 + p->issue_imad_extra_cycles);
  s->port_cycles[LAT_FENCE] = (uint8_t)p->issue_fence_cycles;
}

void issue_start(struct issue *s)
{
  s->blocked = 0;
  s->cycles = s->quiet_until = 0;
  s->waited = (struct tally){0};
}

/* Cycle from which the warp may issue again after an instruction with these bits issued at `now`
 * (Huerta et al., MICRO 2025). */
static uint64_t issue_after(const struct params *p, const struct inst_ctrl *c, uint64_t now)
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

/* The last look, and the cycles since, in which it would have found the same. */
static void count_last(struct issue *s)
{
  if (s->blocked && s->cycles) tally_add(&s->waited, s->blocked, s->cycles);
  s->cycles = 0;
}

void issue_make_place(struct issue *s, unsigned place)
{
  uint32_t older = (1u << place) - 1;
  count_last(s);
  s->blocked = (s->blocked & older) | (s->blocked & ~older) << 1;
  tally_insert(&s->waited, place);
}

void issue_remove_warp(struct issue *s, unsigned warp, unsigned place)
{
  count_last(s);
  s->blocked = (s->blocked & ((1u << place) - 1)) | (s->blocked >> 1 & ~((1u << place) - 1));
  tally_remove(&s->waited, place);
  if (s->last == warp) s->last = NO_WARP;
}

static bool uses_fp32_lanes(const struct inst *in)
{
  return in->pipe == PIPE_FMA && in->lat == LAT_FMA && !(in->flags & INST_HALF_RATE_PORT);
}

/* Of times that are past it may be any. */
static uint64_t latch_free_at(const struct issue *s, const struct inst *in, uint64_t fp64_at, uint64_t now)
{
  if (in->pipe == PIPE_FP64 && s->params->fp64_shared) return fp64_at;
  uint64_t at = s->latch_free_at[in->pipe];
  if (at > now && s->fp32_on_alu && uses_fp32_lanes(in)) at = earlier(at, s->latch_free_at[PIPE_ALU]);
  return at;
}

static enum warp_state counter_state(const struct warp_slot *w, unsigned busy)
{
  return (enum warp_state)w->dep[bits_first(busy)].state;
}

/* Of the busy counters, those above their limits. */
static unsigned above_limits(const struct warp_slot *w, const struct inst *in, unsigned busy)
{
  for (unsigned i = 0; i < in->n_limits; i++) {
    const struct inst_limit *l = &in->limit[i];
    if ((busy >> l->counter & 1) && w->dep[l->counter].count <= l->at_most) busy &= ~(1u << l->counter);
  }
  return busy;
}

/* Counters for which DEPBAR holds the warp. It issues at once and takes hold a few cycles later (Figure 2; with a
 * smaller stall the next instruction slips through); nvcc relies on it: it puts DEPBAR right behind the producer. */
static unsigned depbar_waits_for(const struct warp_slot *w, const struct inst *in)
{
  return above_limits(w, in, w->dep_busy & in->hold_for);
}

/* Counters the instruction has to wait for. */
static unsigned waits_for(const struct warp_slot *w, const struct inst *in)
{
  unsigned busy = w->dep_busy & in->ctrl.wait;
  return busy && in->n_limits && !(in->flags & INST_DEPBAR) ? above_limits(w, in, busy) : busy;
}

/* Cycle from which the constant operand can be read. A warp asks the cache once per instruction:
 * the line it waits for is its own, whoever evicts it meanwhile. */
static uint64_t constant_at(struct issue *s, struct warp_slot *w, const struct inst *in,
                            uint64_t now)
{
  if (w->const_inst != in) {
    w->const_at = const_cache_read(s->fl, w->grid->const_space + in->const_bank, in->const_off, now);
    w->const_inst = in;
  }
  return w->const_at;
}

bool issue_const_arrived(struct warp_table *t, uint64_t line, uint64_t at)
{
  bool any = false;
  for (unsigned i = 0; i < t->n; i++) {
    unsigned warp = t->order[i];
    struct warp_slot *w = &t->slot[warp];
    if (!w->const_inst || w->const_at != L1I_ON_ITS_WAY) continue;
    if (l1i_const_line(w->grid->const_space + w->const_inst->const_bank, w->const_inst->const_off) != line) continue;
    w->const_at = at;
    warp_changed(t, warp);
    any = true;
  }
  return any;
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

/* It enters the queue before the memory pipeline; a call of a runtime service does, too. */
static bool enters_memory(const struct inst *in)
{
  return in->pipe == PIPE_MEM || (in->flags & INST_SYSCALL);
}

static bool is_throttle(enum warp_state s)
{
  enum {
    THROTTLES = 1 << WS_IMC_MISS | 1 << WS_MATH_PIPE | 1 << WS_DISPATCH | 1 << WS_LG_THROTTLE | 1 << WS_MIO_THROTTLE
  };
  return THROTTLES >> s & 1;
}

/* What a look says; look again at `due`, or when warp_table.changed names the warp. */
static struct issue_seen waits(enum warp_state state, uint64_t until, uint64_t due)
{
  return (struct issue_seen){until, due, (uint8_t)state};
}

/* Nothing but another look can tell when this changes. */
static struct issue_seen changes(enum warp_state state, uint64_t until)
{
  return (struct issue_seen){until, 0, (uint8_t)state};
}

/* No instruction in the buffer before `until`; fetch has its own clock. */
static struct issue_seen no_instruction(const struct warp_slot *w, uint64_t until, uint64_t now)
{
  if (now >= w->books.jump_until) return waits(WS_NO_INSTRUCTION, until, until);
  return waits(WS_BRANCH_RESOLVING, until, w->books.jump_until < until ? w->books.jump_until : until);
}

/* The warp's obstacle among its dependences, WS_SELECTED: none. */
static struct issue_seen dependences(const struct issue *s, const struct warp_slot *w,
                                     unsigned warp, const struct inst *in, uint64_t now)
{
  uint64_t due = w->depbar ? w->depbar_from : CYCLE_NEVER;
  if (s->boards) {
    struct reg_wait r = scoreboard_check(s->boards, warp, in);
    if (r.state != WS_SELECTED) return changes((enum warp_state)r.state, r.until);
  } else {
    unsigned busy = waits_for(w, in);
    if (busy) return waits(counter_state(w, busy), CYCLE_NEVER, due);
  }
  if (w->dep_busy && counter_full(w, &in->ctrl)) return waits(WS_SHORT_SCOREBOARD, CYCLE_NEVER, due);
  return changes(WS_SELECTED, now);
}

/* What stops an instruction that enters a queue or waits for one, WS_SELECTED: nothing. The warp is told. */
static enum warp_state queues(const struct issue *s, const struct warp_slot *w, const struct inst *in, bool room)
{
  /* Freed when a product begins. */
  if ((in->flags & INST_GMMA) && w->gmma.queued >= s->params->gmma_queue_entries)
    return WS_MATH_PIPE;
  if (enters_memory(in) && !room) return throttle_state(in);
  /* A barrier follows the warp's memory instructions: nvcc relies on them to have read their sources
   * when it is over (kernels/sort_bitonic on sm_75). */
  if ((in->flags & INST_BAR) && (w->queued || w->unread) && !s->params->ideal_barriers)
    return WS_MIO_THROTTLE;
  return WS_SELECTED;
}

/* Whether the units take the instruction of a warp that nothing else stops. */
static struct issue_seen units(struct issue *s, struct warp_slot *w, const struct inst *in,
                               const struct issue_units *units, uint64_t now)
{
  if (in->pipe == PIPE_MEM || (in->flags & (INST_SYSCALL | INST_GMMA | INST_BAR))) {
    enum warp_state stopped = queues(s, w, in, units->room);
    if (stopped != WS_SELECTED) return waits(stopped, CYCLE_NEVER, CYCLE_NEVER);
  }
  if (in->has_const && in->pipe != PIPE_MEM) {
    uint64_t readable = constant_at(s, w, in, now);
    if (readable > now) return waits(WS_IMC_MISS, readable, readable);
  }
  uint64_t at = latch_free_at(s, in, units->fp64_at, now);
  if ((in->flags & INST_CLOCK) && s->clock_free_at > at) at = s->clock_free_at;
  /* Latches are never free earlier than it seemed, but room for a memory instruction may go meanwhile. */
  if (now < at) return waits(WS_MATH_PIPE, at, enters_memory(in) ? now : at);
  if (now < s->port_free_at) return waits(WS_DISPATCH, s->port_free_at, s->port_free_at);
  return changes(WS_SELECTED, now);
}

/* A barrier takes hold some cycles after its issue. nvcc puts arithmetic there; it keeps votes, control flow and what
 * waits in a queue behind the barrier. */
static bool before_hold(const struct warp_slot *w, uint64_t now)
{
  const uint32_t harmless = INST_CLOCK | INST_HALF_RATE_PORT;
  const struct inst *in = w->next;
  if (now >= w->hold_from || !in) return false;
  bool queued = in->pipe == PIPE_MEM || in->pipe == PIPE_SFU || in->ctrl.write_sb != SB_NONE;
  return !queued && in->pipe != PIPE_MISC && in->pipe != PIPE_BRANCH && !(in->flags & ~harmless);
}

/* What stops a warp that nothing holds. */
static struct issue_seen obstacle(struct issue *s, struct warp_slot *w, unsigned warp,
                                  const struct issue_units *u, uint64_t now)
{
  if (now < w->issue_at) return waits(WS_WAIT, w->issue_at, w->issue_at);
  if (w->ib.n == 0) return no_instruction(w, CYCLE_NEVER, now);
  if (now < w->ib.valid_at[w->ib.head]) return no_instruction(w, w->ib.valid_at[w->ib.head], now);
  if (w->depbar && now >= w->depbar_from) {
    unsigned busy = depbar_waits_for(w, w->depbar);
    if (busy) {
      w->books.depbar_state = (uint8_t)counter_state(w, busy);
      w->books.depbar_waits |= DEPBAR_HELD;
      return waits(counter_state(w, busy), CYCLE_NEVER, CYCLE_NEVER);
    }
    w->books.depbar_until = (uint32_t)now;
    w->depbar = NULL;
  }
  const struct inst *in = w->next;
  if (!in) /* the step reports the bad pc */
    return now < s->port_free_at ? changes(WS_DISPATCH, s->port_free_at) : changes(WS_SELECTED, now);
  struct issue_seen dep = dependences(s, w, warp, in, now);
  if (dep.state != WS_SELECTED) return dep;
  if (s->ideal && ideal_is_free(s->ideal, w, warp, in)) return dep;
  return units(s, w, in, u, now);
}

static struct issue_seen look_at(struct issue *s, struct warp_slot *w, unsigned warp,
                                 const struct issue_units *u, uint64_t now)
{
  if (w->done) return waits(WS_DRAIN, CYCLE_NEVER, CYCLE_NEVER);
  bool held = w->hold != WS_SELECTED;
  if (held && !before_hold(w, now)) { /* past its time: a fence that waits for answers */
    uint64_t until = w->hold_until > now ? w->hold_until : CYCLE_NEVER;
    return waits((enum warp_state)w->hold, until, until);
  }
  struct issue_seen seen = obstacle(s, w, warp, u, now);
  if (!held) return seen;
  /* The barrier is the obstacle once it has taken hold, and has to be seen to end. */
  uint64_t holds = earlier(w->hold_from, w->hold_until);
  return (struct issue_seen){earlier(seen.until, holds), earlier(seen.due, holds), seen.state};
}

/* --- the policy: places of the warp table in the order in which it tries them ------------------- */

static bool is_greedy(const struct issue *s)
{
  return s->greedy && s->last != NO_WARP;
}

/* LRR: the turn begins behind the warp that issued last; its place and those before it. */
static uint32_t passed(const struct issue *s, const struct warp_table *t)
{
  return s->last == NO_WARP ? 0 : (2u << t->place[s->last]) - 1;
}

/* The oldest behind that warp, else the oldest. */
static unsigned first_in_turn(uint32_t places, uint32_t passed)
{
  return bits_first(places & ~passed ? places & ~passed : places);
}

static uint32_t before_in_turn(unsigned place, uint32_t passed)
{
  uint32_t older = (1u << place) - 1;
  return passed >> place & 1 ? older | ~passed : older & ~passed;
}

/* Most runs are of CGGTY; which case comes is a hint to the compiler alone. */
static inline enum issue_policy policy(const struct issue *s)
{
  return (enum issue_policy)__builtin_expect(s->policy, ISSUE_POLICY_CGGTY);
}

/* First candidate among `places` (not 0) after the greedy one. */
static inline unsigned first_place(const struct issue *s, const struct warp_table *t, uint32_t places)
{
  switch (policy(s)) {
  case ISSUE_POLICY_CGGTY: return 31 - (unsigned)__builtin_clz(places);
  case ISSUE_POLICY_GTO:
  case ISSUE_POLICY_OLDEST: return bits_first(places);
  case ISSUE_POLICY_LRR: return first_in_turn(places, passed(s, t));
  case ISSUE_POLICY__N: break;
  }
  BUG("issue.policy %u has no order", s->policy);
}

/* Candidates that first_place takes before the one in `place`. */
static uint32_t places_before(const struct issue *s, const struct warp_table *t, unsigned place)
{
  uint32_t older = (1u << place) - 1;
  switch (policy(s)) {
  case ISSUE_POLICY_CGGTY: return ~older & ~(1u << place);
  case ISSUE_POLICY_GTO:
  case ISSUE_POLICY_OLDEST: return older;
  case ISSUE_POLICY_LRR: return before_in_turn(place, passed(s, t));
  case ISSUE_POLICY__N: break;
  }
  BUG("issue.policy %u has no order", s->policy);
}

/* The greedy warp misses its constant: nothing issues for a few cycles, then others may. */
static bool const_holds_port(struct issue *s, const struct issue_seen *greedy, uint64_t now)
{
  if (greedy->state != WS_IMC_MISS) {
    s->const_hold_until = 0;
    return false;
  }
  if (s->const_hold_until == 0)
    s->const_hold_until = now + s->params->issue_const_miss_switch_cycles;
  return now < s->const_hold_until;
}

/* --- the cycle -------------------------------------------------------------------------------- */

static void awake(struct issue *s, uint32_t places)
{
  s->asleep &= ~places;
  s->timed &= ~places;
  s->throttled &= ~places;
  s->no_room &= ~places;
}

/* Warps whose obstacle may be another one by now are looked at again. */
static void awaken(struct issue *s, struct warp_table *t, uint64_t now)
{
  if (t->changed) awake(s, t->changed);
  t->changed = 0;
  if (now < s->due) return;
  s->due = CYCLE_NEVER;
  for (uint32_t m = s->timed; m; m &= m - 1) {
    unsigned i = bits_first(m);
    if (s->seen[i].due <= now)
      awake(s, 1u << i);
    else
      s->due = earlier(s->due, s->seen[i].due);
  }
}

/* A look found an obstacle. */
static void note(struct issue *s, const struct warp_slot *w, unsigned place, struct issue_seen l,
                 uint64_t now)
{
  uint32_t bit = 1u << place;
  s->seen[place] = l;
  /* Finished warps and warps at a barrier rank last (Huerta et al., MICRO 2025). */
  bool last = w->done || w->hold != WS_SELECTED;
  s->ranks_last = (s->ranks_last & ~bit) | (uint32_t)last << place;
  if (l.due <= now) return;
  bool throttle = is_throttle((enum warp_state)l.state);
  s->asleep |= bit;
  if (throttle) s->throttled |= bit;
  if (l.due == CYCLE_NEVER) {
    if (throttle && enters_memory(w->next)) s->no_room |= bit;
    return;
  }
  s->timed |= bit;
  s->due = earlier(s->due, l.due);
}

/* Looks at the warp in a place. True: it issues. */
static bool issues(struct issue *s, struct warp_table *t, unsigned place,
                   const struct issue_units *u, uint64_t now)
{
  unsigned warp = t->order[place];
  struct warp_slot *w = &t->slot[warp];
  struct issue_seen l = look_at(s, w, warp, u, now);
  if (s->no_room & 1u << place) awake(s, 1u << place);
  if (l.state == WS_SELECTED) return true;
  note(s, w, place, l, now);
  if (is_throttle((enum warp_state)l.state)) {
    w->books.blocked_state = l.state;
    s->blocked |= 1u << place;
  }
  return false;
}

uint64_t issue_next(const struct issue *s, const struct warp_table *t)
{
  uint64_t next = CYCLE_NEVER;
  if (s->port_kept) return earlier(s->seen[t->place[s->last]].until, s->const_hold_until);
  /* The others sleep until they are told. */
  uint32_t clocked = ((1u << t->n) - 1) & (s->timed | ~s->asleep);
  for (uint32_t m = clocked; m; m &= m - 1) next = earlier(next, s->seen[bits_first(m)].until);
  return next;
}

/* Nothing issues, and all warps have been seen. `greedy`: bit of the place tried first. */
static struct issue_pick none_ready(const struct issue *s, const struct warp_table *t,
                                    uint32_t greedy)
{
  struct issue_pick pick = {NO_WARP, WS_DRAIN};
  uint32_t all = (1u << t->n) - 1, ranked = all & ~s->ranks_last;
  if (ranked) {
    pick.charge = s->seen[first_place(s, t, ranked & greedy ? greedy : ranked)].state;
    return pick;
  }
  /* The last one in turn that is not finished. */
  for (uint32_t m = all, i; m; m &= ~(1u << i)) {
    i = m & greedy ? bits_first(greedy) : first_place(s, t, m);
    if (s->seen[i].state != WS_DRAIN) pick.charge = s->seen[i].state;
  }
  return pick;
}

/* Nothing issues; `awake`: places that any further look has to visit. */
static struct issue_pick nothing(struct issue *s, struct issue_pick pick, uint32_t awake)
{
  s->none = pick;
  s->quiet_until = awake ? 0 : s->due;
  if (s->port_kept && s->const_hold_until < s->quiet_until) s->quiet_until = s->const_hold_until;
  return pick;
}

/* Looks at the warps in the places `todo`, in the order of the policy; those in `throttled` sleep because
 * their units are taken. */
static struct issue_pick look_around(struct issue *s, struct warp_table *t, const struct issue_units *u,
                                     uint32_t todo, uint32_t throttled, uint64_t now)
{
  uint32_t all = (1u << t->n) - 1, greedy = is_greedy(s) ? 1u << t->place[s->last] : 0, first = greedy;
  while (todo | first) {
    unsigned i = first ? bits_first(first) : first_place(s, t, todo);
    if ((todo >> i & 1) && issues(s, t, i, u, now)) {
      /* The ledger counts those that the stage came by. */
      if (throttled && !first) s->blocked |= throttled & (greedy | places_before(s, t, i));
      return (struct issue_pick){t->order[i], 0};
    }
    todo &= ~(1u << i);
    if (first && (s->port_kept = const_holds_port(s, &s->seen[i], now))) {
      s->blocked |= throttled & greedy;
      return nothing(s, (struct issue_pick){NO_WARP, WS_IMC_MISS}, greedy & ~s->asleep);
    }
    first = 0;
  }
  s->blocked |= throttled;
  return nothing(s, none_ready(s, t, greedy), all & ~s->asleep);
}

struct issue_pick issue_look(struct issue *s, struct warp_table *t, const struct issue_units *u,
                             uint64_t now)
{
  count_last(s);
  s->cycles = 1;
  s->blocked = 0;
  s->port_kept = false;
  s->quiet_until = 0;
  awaken(s, t, now);
  if (t->n == 0) return nothing(s, (struct issue_pick){NO_WARP, SLOT_NO_WARP}, 0);
  uint32_t awake = u->room ? s->no_room : 0; /* may find room now */
  uint32_t todo = ((1u << t->n) - 1) & (~s->asleep | awake);
  return look_around(s, t, u, todo, s->throttled & ~awake, now);
}

/* What the next look would find. */
__attribute__((noinline)) static void foresee(struct issue *s, const struct warp_table *t, unsigned greedy)
{
  count_last(s);
  s->blocked = s->throttled;
  nothing(s, none_ready(s, t, greedy), 0);
}

/* After an issue: no warp is left to look at in the next cycle. Most issues leave some. */
static inline bool none_left(const struct issue *s, const struct warp_table *t, uint64_t now)
{
  uint32_t all = (1u << t->n) - 1;
  return !(all & ~s->asleep) && !t->changed && s->due > now + 1;
}

void issue_stalled(struct issue *s, const struct warp_table *t, const struct warp_slot *w, uint64_t now)
{
  const unsigned place = t->place[w->number];
  note(s, w, place, waits(WS_WAIT, w->issue_at, w->issue_at), now + 1);
  if (none_left(s, t, now)) foresee(s, t, s->greedy ? 1u << place : 0);
}

/* The next instruction has to see it: ideal.stalls leaves the cycle that it takes. */
static bool raises_counter(const struct inst_ctrl *c)
{
  return c->write_sb != SB_NONE || c->read_sb != SB_NONE;
}

/* Special functions and FP64 share a way into their units (GV100). */
static void hold_fp64(struct issue *s, unsigned cycles, uint64_t now)
{
  uint64_t *latch = &s->latch_free_at[PIPE_FP64];
  if (cycles) *latch = (*latch > now ? *latch : now) + cycles;
}

void issue_commit(struct issue *s, struct warp_slot *w, unsigned warp, const struct inst *in,
                  uint64_t control_free_at, uint64_t held, uint64_t now)
{
  const struct params *p = s->params;
  s->last = (uint8_t)warp;
  s->const_hold_until = 0;
  w->issue_at = s->boards ? now + 1 : issue_after(p, &in->ctrl, now);
  if (p->ideal_stalls) w->issue_at = now + 1 + raises_counter(&in->ctrl);
  w->const_inst = NULL;
  unsigned interval = in->pipe == PIPE_SFU && p->sfu_latch_cycles ? p->sfu_latch_cycles : p->pipe_interval[in->pipe];
  if (in->pipe == PIPE_TENSOR && !(in->flags & INST_GMMA)) interval = p->mma_interval[in->lat - MMA_FIRST];
  uint64_t *latch = &s->latch_free_at[in->pipe];
  /* On borrowed lanes nobody waits for an instruction held before them: a clock read behind such an FFMA
   * shows no register-port conflict (Huerta et al., MICRO 2025, Listing 1). */
  bool borrows = s->fp32_on_alu && uses_fp32_lanes(in) && *latch > now;
  if (borrows) latch = &s->latch_free_at[PIPE_ALU];
  *latch = now + interval + (borrows ? 0 : held);
  if (in->pipe == PIPE_SFU) hold_fp64(s, p->fp64_sfu_cycles, now);
  uint64_t port = now + s->port_cycles[in->lat];
  if (port < control_free_at) port = control_free_at;
  if (port > s->port_free_at && !p->ideal_issue) s->port_free_at = port;
  if (in->flags & INST_CLOCK) s->clock_free_at = now + 2;
  if (in->flags & (INST_DEPBAR | INST_DRAINS)) {
    w->depbar = in;
    /* Behind WARPGROUP.DEPBAR nvcc reads the results two cycles later. */
    bool at_once = s->boards || p->ideal_stalls || in->flags & INST_DRAINS || in->hold_for >> SB_GMMA & 1;
    w->depbar_from = at_once ? now + 1 : now + p->issue_depbar_cycles;
  }
}
