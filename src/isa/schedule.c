#include "isa/schedule.h"

#include <inttypes.h>
#include <string.h>

#include "isa/schedule_state.h"

/* Smallest stall counts the compiler emits (CUDA 13.0, kernels/): control transfers 5, MEMBAR 6. */
enum { STALL_MAX = 15, STALL_BRANCH = 5, STALL_MEMBAR = 6 };

enum { NO_BLOCK = UINT32_MAX, MAX_RETIMINGS = 1000 };

struct basic_block {
  uint32_t first, end;     /* instructions [first, end) */
  struct sched_state in;   /* outstanding when the first one issues */
  uint32_t overwritten[8]; /* vector registers written here or later, a bit each */
  bool waiting;            /* to be run again */
};

enum counter_kind { COUNTS_RESULTS, COUNTS_READS, COUNTER_KINDS };

struct scheduler {
  const struct schedule_rules *rules;
  struct schedule_inst *inst;
  uint32_t n, n_blocks;
  struct basic_block *block;
  uint32_t *block_of;     /* [n] */
  int32_t *issue, *floor; /* [n] issue cycle within the block, and the least it may be */
  bool *has_counters;     /* [n] */
  uint8_t kind[SB_COUNT];    /* enum counter_kind of the latest use of each counter */
  uint32_t use_of[SB_COUNT]; /* first instruction that waits for it */
  uint8_t reserved;       /* counters of LDGDEPBAR */
  unsigned ldgdepbar_sb;
  struct err *e;
};

/* ---- blocks ---- */

static bool ends_path(const struct schedule_inst *i)
{
  return (i->in.flags & INST_EXIT) && i->in.guard == GUARD_NONE && i->in.n_src == 0;
}

/* Successors of a block that are known; returns their number. */
static unsigned successors(const struct scheduler *s, const struct basic_block *b, uint32_t next[2])
{
  const struct schedule_inst *last = &s->inst[b->end - 1];
  unsigned n = 0;
  if (ends_path(last)) return 0;
  if (b->end < s->n) next[n++] = s->block_of[b->end];
  if (last->flow == FLOW_JUMP) next[n++] = s->block_of[last->target];
  return n;
}

static void find_blocks(struct scheduler *s, struct arena *a)
{
  bool *leader = ARENA_ARRAY(a, bool, s->n + 1);
  leader[0] = true;
  for (uint32_t i = 0; i < s->n; i++) {
    if (s->inst[i].flow == FLOW_JUMP) leader[s->inst[i].target] = true;
    if (s->inst[i].flow != FLOW_NEXT || ends_path(&s->inst[i])) leader[i + 1] = true;
  }
  for (uint32_t i = 0; i < s->n; i++) s->n_blocks += leader[i];
  s->block = ARENA_ARRAY(a, struct basic_block, s->n_blocks);
  uint32_t b = NO_BLOCK;
  for (uint32_t i = 0; i < s->n; i++) {
    if (leader[i]) s->block[++b].first = i; /* NO_BLOCK + 1 = 0 */
    s->block[b].end = i + 1;
    s->block_of[i] = b;
  }
}

/* ---- which registers are overwritten later ---- */

static void note_overwritten(uint32_t set[8], const struct inst *in)
{
  for (unsigned i = 0; i < in->n_dst; i++)
    for (unsigned k = 0; k < in->dst[i].width; k++) {
      int r = in->dst[i].file == FILE_R ? hazard_reg_number(&in->dst[i], k) : -1;
      if (r >= 0) set[r / 32] |= 1u << (r % 32);
    }
}

/* Where control goes to an unknown place all registers may be overwritten; but then everything is
 * waited for before it does. */
static void find_overwritten(struct scheduler *s)
{
  for (uint32_t i = 0; i < s->n; i++)
    note_overwritten(s->block[s->block_of[i]].overwritten, &s->inst[i].in);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = s->n_blocks; i-- > 0;) {
      uint32_t next[2];
      unsigned n = successors(s, &s->block[i], next);
      for (unsigned k = 0; k < n; k++)
        for (unsigned w = 0; w < 8; w++) {
          uint32_t more = s->block[i].overwritten[w] | s->block[next[k]].overwritten[w];
          changed |= more != s->block[i].overwritten[w];
          s->block[i].overwritten[w] = more;
        }
    }
  }
}

/* ---- counters ---- */

static bool names(const struct operand *list, unsigned n, unsigned file, int r)
{
  for (unsigned i = 0; i < n; i++)
    for (unsigned k = 0; k < list[i].width; k++)
      if (list[i].file == file && hazard_reg_number(&list[i], k) == r) return true;
  return false;
}

static bool touches(const struct inst *in, unsigned file, int r)
{
  return names(in->src, in->n_src, file, r) || names(in->dst, in->n_dst, file, r) ||
         (in->guard != GUARD_NONE && r == HAZARD_P + in->guard);
}

/* Does `in` need a result of `of`? */
static bool uses_result(const struct inst *in, const struct inst *of)
{
  for (unsigned i = 0; i < of->n_dst; i++)
    for (unsigned k = 0; k < of->dst[i].width; k++) {
      int r = hazard_reg_number(&of->dst[i], k);
      if (r >= 0 && touches(in, of->dst[i].file, r)) return true;
    }
  return false;
}

/* Does `in` overwrite a vector source of `of` that the order of the queue does not protect? */
static bool overwrites_source(const struct inst *in, const struct inst *of)
{
  if (sched_needs_counter(in) && in->pipe == of->pipe) return false;
  for (unsigned i = 0; i < of->n_src; i++)
    for (unsigned k = 0; k < of->src[i].width; k++) {
      int r = of->src[i].file == FILE_R ? hazard_reg_number(&of->src[i], k) : -1;
      if (r >= 0 && names(in->dst, in->n_dst, FILE_R, r)) return true;
    }
  return false;
}

static bool has_result(const struct inst *in)
{
  for (unsigned i = 0; i < in->n_dst; i++)
    if (hazard_reg_number(&in->dst[i], 0) >= 0) return true;
  return false;
}

/* First instruction behind i, in program order, that waits for its result (or its sources). */
static uint32_t first_use(const struct scheduler *s, uint32_t i, bool result)
{
  const struct inst *of = &s->inst[i].in;
  for (uint32_t j = i + 1; j < s->n; j++) {
    const struct inst *in = &s->inst[j].in;
    if (result ? uses_result(in, of) : overwrites_source(in, of)) return j;
  }
  return s->n;
}

static bool source_overwritten_later(const struct scheduler *s, uint32_t i)
{
  const struct inst *in = &s->inst[i].in;
  const uint32_t *set = s->block[s->block_of[i]].overwritten;
  for (unsigned o = 0; o < in->n_src; o++)
    for (unsigned k = 0; k < in->src[o].width; k++) {
      int r = in->src[o].file == FILE_R ? hazard_reg_number(&in->src[o], k) : -1;
      if (r >= 0 && set[r / 32] >> (r % 32) & 1) return true;
    }
  return false;
}

/* A result that arrives says that the sources were read: a counter for them only pays when they are
 * overwritten before the result is used. */
static bool needs_read_counter(const struct scheduler *s, uint32_t i)
{
  if (!sched_reads_late(&s->inst[i].in)) return false;
  if (!has_result(&s->inst[i].in)) return source_overwritten_later(s, i);
  uint32_t end = s->block[s->block_of[i]].end;
  uint32_t overwrite = first_use(s, i, false);
  return overwrite < end && overwrite < first_use(s, i, true);
}

static unsigned distance(uint32_t a, uint32_t b)
{
  return a > b ? a - b : b - a;
}

/* Of the counters in use (of one kind, or of any), the one needed nearest to `use`. */
static unsigned nearest_counter(const struct scheduler *s, uint8_t in_use, unsigned kind,
                                uint32_t use, unsigned *n)
{
  unsigned best = SB_NONE;
  *n = 0;
  for (unsigned k = 0; k < SB_COUNT; k++) {
    if (!(in_use >> k & 1) || (kind != COUNTER_KINDS && s->kind[k] != kind)) continue;
    ++*n;
    if (best == SB_NONE || distance(use, s->use_of[k]) < distance(use, s->use_of[best])) best = k;
  }
  return best;
}

/* A free counter while this kind may take one, else one to share, of the same kind if possible:
 * sources are read long before a load returns. */
static uint8_t pick_counter(struct scheduler *s, enum counter_kind kind, uint8_t in_use,
                            uint32_t use)
{
  static const unsigned limit[COUNTER_KINDS] = {[COUNTS_RESULTS] = 4, [COUNTS_READS] = 2};
  unsigned n, any;
  in_use &= (uint8_t)~s->reserved;
  unsigned k = nearest_counter(s, in_use, kind, use, &n);
  uint8_t taken = in_use | s->reserved;
  if (n < limit[kind] && taken != (1u << SB_COUNT) - 1) {
    for (k = 0; taken >> k & 1;) k++;
  } else if (k == SB_NONE) {
    k = nearest_counter(s, in_use, COUNTER_KINDS, use, &any);
  }
  s->kind[k] = (uint8_t)kind;
  s->use_of[k] = use;
  return (uint8_t)k;
}

/* Counters stay what the first visit chose, so that the analysis comes to rest. */
static void choose_counters(struct scheduler *s, uint32_t i, const struct sched_state *state)
{
  struct schedule_inst *x = &s->inst[i];
  if (s->has_counters[i]) return;
  s->has_counters[i] = true;
  uint8_t in_use = sched_counters(state);
  if (x->in.flags & INST_LDGDEPBAR) {
    x->ctrl.write_sb = (uint8_t)s->ldgdepbar_sb;
  } else if (sched_needs_counter(&x->in) && has_result(&x->in)) {
    x->ctrl.write_sb = pick_counter(s, COUNTS_RESULTS, in_use, first_use(s, i, true));
    in_use |= (uint8_t)(1u << x->ctrl.write_sb);
  }
  if (needs_read_counter(s, i))
    x->ctrl.read_sb = pick_counter(s, COUNTS_READS, in_use, first_use(s, i, false));
}

/* ---- time ---- */

static int32_t least_stall(const struct scheduler *s, const struct inst *in)
{
  if (in->flags & INST_DEPBAR) return (int32_t)s->rules->depbar_cycles;
  if (in->flags & INST_MEMBAR) return STALL_MEMBAR;
  bool transfer = in->flags & (INST_BRANCH | INST_EXIT) ||
                  (in->pipe == PIPE_BRANCH && in->flags & INST_CONVERGE);
  return transfer ? STALL_BRANCH : 1;
}

/* Who leaves for an unknown place waits for all counters. */
static int32_t earliest_issue(const struct scheduler *s, const struct sched_state *state,
                              const struct schedule_inst *x, uint8_t *wait)
{
  int32_t t = sched_earliest(state, s->rules, &x->in, wait);
  if (x->flow != FLOW_AWAY) return t;
  *wait = sched_counters(state);
  int32_t visible = sched_counters_visible(state, *wait);
  return sched_later(t, visible);
}

/* Issues the block's instructions in `state`. Returns the instruction that cannot wait long enough,
 * which then has a new floor, or the block's end. */
static uint32_t issue_block(struct scheduler *s, const struct basic_block *b, struct sched_state *state)
{
  for (uint32_t i = b->first; i < b->end; i++) {
    struct schedule_inst *x = &s->inst[i];
    int32_t earliest = earliest_issue(s, state, x, &x->ctrl.wait);
    int32_t t = 0; /* what the first one needs, the blocks before have kept */
    if (i > b->first) {
      int32_t soonest = s->issue[i - 1] + least_stall(s, &x[-1].in);
      t = sched_later(sched_later(earliest, soonest), s->floor[i]);
      if (t - s->issue[i - 1] > STALL_MAX) {
        s->floor[i - 1] = t - STALL_MAX;
        return i - 1;
      }
      x[-1].ctrl.stall = (uint8_t)(t - s->issue[i - 1]);
    }
    s->issue[i] = t;
    sched_wait(state, x->ctrl.wait);
    choose_counters(s, i, state);
    sched_issue(state, s->rules, &x->in, &x->ctrl, t);
  }
  return b->end;
}

/* Stall count the last instruction of a block needs; state: behind it. */
static int32_t last_stall(const struct scheduler *s, const struct basic_block *b,
                          const struct sched_state *state)
{
  const struct schedule_inst *last = &s->inst[b->end - 1];
  int32_t stall = least_stall(s, &last->in), now = s->issue[b->end - 1];
  uint32_t next[2];
  uint8_t wait;
  unsigned n = successors(s, b, next);
  if (last->flow == FLOW_AWAY) {
    int32_t t = sched_all_ready(state) - now;
    if (t > stall) stall = t;
  }
  for (unsigned k = 0; k < n; k++) {
    const struct schedule_inst *x = &s->inst[s->block[next[k]].first];
    int32_t t = earliest_issue(s, state, x, &wait) - now;
    if (t > stall) stall = t;
  }
  return stall;
}

static bool too_close(const struct scheduler *s, uint32_t i)
{
  return err_set(s->e, "the result of the instruction at 0x%" PRIx64
                 " is needed too soon: put a NOP behind it", s->inst[i].in.pc);
}

/* Times one block from its in-state; the state at the issue of what follows goes to *state. */
static bool time_block(struct scheduler *s, struct basic_block *b, struct sched_state *state)
{
  memset(&s->floor[b->first], 0, sizeof *s->floor * (b->end - b->first));
  for (unsigned tries = 0; tries < MAX_RETIMINGS; tries++) {
    *state = b->in;
    uint32_t stuck = issue_block(s, b, state);
    if (stuck == b->end) {
      int32_t stall = last_stall(s, b, state);
      uint32_t last = b->end - 1;
      if (stall <= STALL_MAX) {
        s->inst[last].ctrl.stall = (uint8_t)stall;
        sched_rebase(state, s->issue[last] + stall);
        return true;
      }
      s->floor[last] = s->issue[last] + stall - STALL_MAX;
      stuck = last;
    }
    /* The block's first instruction issues at its start: nothing before it can be moved. */
    if (stuck == b->first) return too_close(s, stuck);
  }
  return too_close(s, b->end - 1);
}

/* ---- data flow ---- */

static void enter(struct basic_block *b, const struct sched_state *state)
{
  b->waiting |= sched_join(&b->in, state);
}

static bool run_block(struct scheduler *s, struct basic_block *b, struct sched_state *state)
{
  uint32_t next[2];
  b->waiting = false;
  if (!time_block(s, b, state)) return false;
  if (s->inst[b->end - 1].flow == FLOW_AWAY) sched_clear(state);
  unsigned n = successors(s, b, next);
  for (unsigned k = 0; k < n; k++) enter(&s->block[next[k]], state);
  return true;
}

/* Blocks that only unknown places lead to start with nothing outstanding. */
static bool run_all(struct scheduler *s, struct sched_state *state)
{
  for (uint32_t root = 0; root < s->n_blocks; root++) {
    if (s->block[root].in.reached) continue;
    sched_clear(state);
    enter(&s->block[root], state);
    for (bool again = true; again;) {
      again = false;
      for (uint32_t i = 0; i < s->n_blocks; i++)
        if (s->block[i].waiting) {
          if (!run_block(s, &s->block[i], state)) return false;
          again = true;
        }
    }
  }
  return true;
}

/* ---- the rest of the control information ---- */

/* LDGDEPBAR's counter is the one DEPBAR names: it may serve nothing else. */
static bool reserve_counters(struct scheduler *s)
{
  unsigned sb = SB_NONE;
  bool groups = false;
  for (uint32_t i = 0; i < s->n; i++) {
    const struct inst *in = &s->inst[i].in;
    groups |= in->flags & INST_LDGDEPBAR;
    if ((in->flags & INST_DEPBAR) && sb == SB_NONE) sb = inst_limit_counter(in);
  }
  if (!groups) return true;
  s->ldgdepbar_sb = sb == SB_NONE ? 0 : sb;
  s->reserved = (uint8_t)(1u << s->ldgdepbar_sb);
  for (uint32_t i = 0; i < s->n; i++) {
    unsigned counter = s->inst[i].in.flags & INST_DEPBAR ? inst_limit_counter(&s->inst[i].in) : (unsigned)SB_NONE;
    if (counter != s->ldgdepbar_sb && counter != SB_NONE)
      return err_set(s->e, "DEPBAR at 0x%" PRIx64 " waits for another counter than the LDGDEPBARs "
                     "use (SB%u): which of them it means is not in the text",
                     s->inst[i].in.pc, s->ldgdepbar_sb);
  }
  return true;
}

static const struct operand *vector_source(const struct inst *in, unsigned slot)
{
  for (unsigned i = 0; i < in->n_src; i++)
    if (in->src[i].file == FILE_R && in->src[i].slot == slot && in->src[i].width == 1)
      return &in->src[i];
  return NULL;
}

/* The register-file cache keeps an operand for the next instruction that reads the same register in
 * the same slot (Huerta et al., MICRO 2025, Register File Cache). */
static uint8_t reuse_bits(const struct inst *in, const struct inst *next)
{
  uint8_t bits = 0;
  for (unsigned slot = 0; slot < 3; slot++) {
    const struct operand *a = vector_source(in, slot), *b = vector_source(next, slot);
    if (a && b && a->index == b->index && !names(in->dst, in->n_dst, FILE_R, a->index))
      bits |= (uint8_t)(1u << slot);
  }
  return bits;
}

static bool reads_in_place(const struct inst *in)
{
  return in->pipe == PIPE_ALU || in->pipe == PIPE_FMA || in->pipe == PIPE_HALF;
}

static void finish(struct scheduler *s)
{
  for (uint32_t i = 0; i < s->n; i++) {
    struct schedule_inst *x = &s->inst[i];
    x->ctrl.yield = x->ctrl.stall >= s->rules->big_stall_from;
    bool same_block = i + 1 < s->n && s->block_of[i] == s->block_of[i + 1];
    if (same_block && reads_in_place(&x->in) && reads_in_place(&x[1].in))
      x->ctrl.reuse = reuse_bits(&x->in, &x[1].in);
  }
}

bool schedule(struct arena *a, const struct schedule_rules *rules, struct schedule_inst *inst,
              uint32_t n, struct err *e)
{
  struct scheduler s = {.rules = rules, .inst = inst, .n = n, .e = e};
  if (n == 0) return true;
  for (uint32_t i = 0; i < n; i++)
    inst[i].ctrl = (struct inst_ctrl){.stall = 1, .write_sb = SB_NONE, .read_sb = SB_NONE};
  s.block_of = ARENA_ARRAY(a, uint32_t, n);
  s.issue = ARENA_ARRAY(a, int32_t, n);
  s.floor = ARENA_ARRAY(a, int32_t, n);
  s.has_counters = ARENA_ARRAY(a, bool, n);
  find_blocks(&s, a);
  find_overwritten(&s);
  if (!reserve_counters(&s) || !run_all(&s, ARENA_NEW(a, struct sched_state))) return false;
  finish(&s);
  return true;
}
