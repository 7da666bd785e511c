#include "isa/schedule_state.h"

#include <string.h>

/* Before any block. */
enum { LONG_AGO = -100000 };

/* The counter is raised one cycle after issue: who waits for it must not issue in that cycle. */
enum { COUNTER_VISIBLE = 2 };

static bool reads_file(const struct inst *in, unsigned file)
{
  for (unsigned i = 0; i < in->n_src; i++)
    if (in->src[i].file == file) return true;
  return false;
}

/* Control transfers take their registers at issue; BMOV is the branch unit's queued instruction. */
static bool is_bmov(const struct inst *in)
{
  return in->pipe == PIPE_BRANCH && (in->n_dst || reads_file(in, FILE_R)) &&
         !(in->flags & (INST_BRANCH | INST_EXIT | INST_CONVERGE | INST_SLEEP | INST_YIELD));
}

bool sched_needs_counter(const struct inst *in)
{
  switch (in->pipe) {
  case PIPE_MEM: case PIPE_SFU: case PIPE_FP64: return true;
  case PIPE_UNIFORM: return reads_file(in, FILE_R); /* R2UR */
  case PIPE_BRANCH: return is_bmov(in);
  default:
    return in->lat == LAT_S2R || in->lat == LAT_MMA_F64 ||
           (in->lat == LAT_BAR && reads_file(in, FILE_R));
  }
}

bool sched_reads_late(const struct inst *in)
{
  return sched_needs_counter(in) && reads_file(in, FILE_R);
}

static int32_t ready_for(const struct sched_reg *r, const struct inst *in, const struct operand *o)
{
  if (r->pipes == 1u << in->pipe) return r->ready[hazard_role_of(in->pipe, in, o)];
  enum hazard_role other = hazard_role_of(PIPE__N, in, o);
  int32_t t = r->ready[other];
  return r->pipes >> in->pipe & 1 ? sched_later(t, r->ready[hazard_role_of(in->pipe, in, o)]) : t;
}

static int32_t sources_ready(const struct sched_state *s, const struct inst *in, uint8_t *wait)
{
  int32_t t = LONG_AGO;
  for (unsigned i = 0; i < in->n_src; i++)
    for (unsigned k = 0; k < in->src[i].width; k++) {
      int n = hazard_reg_number(&in->src[i], k);
      if (n < 0) continue;
      t = sched_later(t, ready_for(&s->reg[n], in, &in->src[i]));
      *wait |= s->reg[n].writers;
    }
  if (in->guard != GUARD_NONE) {
    const struct sched_reg *r = &s->reg[HAZARD_P + in->guard];
    t = sched_later(t, r->ready[ROLE_GUARD]);
    *wait |= r->writers;
  }
  return t;
}

/* Role under which the order of two writes is judged. */
static enum hazard_role write_role(const struct operand *o)
{
  return o->file == FILE_P || o->file == FILE_UP ? ROLE_PRED : ROLE_CROSS;
}

static int32_t results_free(const struct sched_state *s, const struct schedule_rules *rules,
                            const struct inst *in, uint8_t *wait)
{
  int32_t t = LONG_AGO;
  for (unsigned i = 0; i < in->n_dst; i++)
    for (unsigned k = 0; k < in->dst[i].width; k++) {
      int n = hazard_reg_number(&in->dst[i], k);
      if (n < 0) continue;
      const struct sched_reg *r = &s->reg[n];
      *wait |= r->writers;
      /* Queued instructions of one unit read in order. */
      if (r->read_pipes & ~(1u << in->pipe) || !sched_needs_counter(in)) *wait |= r->readers;
      if (sched_needs_counter(in)) continue;
      enum hazard_role role = write_role(&in->dst[i]);
      t = sched_later(t, r->ready[role] - (int32_t)rules->gap[role][in->lat] + 1);
    }
  return t;
}

int32_t sched_earliest(const struct sched_state *s, const struct schedule_rules *rules,
                       const struct inst *in, uint8_t *wait)
{
  *wait = 0;
  int32_t t = sched_later(sources_ready(s, in, wait), results_free(s, rules, in, wait));
  return sched_later(t, sched_counters_visible(s, *wait));
}

int32_t sched_counters_visible(const struct sched_state *s, uint8_t mask)
{
  int32_t t = LONG_AGO;
  for (unsigned k = 0; k < SB_COUNT; k++)
    if (mask >> k & 1) t = sched_later(t, s->visible[k]);
  return t;
}

int32_t sched_all_ready(const struct sched_state *s)
{
  int32_t t = LONG_AGO;
  for (unsigned n = 0; n < HAZARD_REGS; n++)
    for (unsigned role = 0; role < ROLE__N; role++) t = sched_later(t, s->reg[n].ready[role]);
  return t;
}

static void note_result(struct sched_reg *r, const struct schedule_rules *rules,
                        const struct inst *in, const struct inst_ctrl *c, int32_t now)
{
  if (in->guard == GUARD_NONE) *r = (struct sched_reg){.readers = r->readers, .read_pipes = r->read_pipes};
  bool counted = c->write_sb != SB_NONE;
  if (counted) r->writers |= (uint8_t)(1u << c->write_sb);
  for (unsigned role = 0; role < ROLE__N; role++) {
    int32_t ready = counted ? LONG_AGO : now + (int32_t)rules->gap[role][in->lat];
    r->ready[role] = in->guard == GUARD_NONE ? ready : sched_later(r->ready[role], ready);
  }
  r->pipes |= (uint16_t)(1u << in->pipe);
}

static void note_readers(struct sched_state *s, const struct inst *in, const struct inst_ctrl *c)
{
  unsigned sb = c->read_sb != SB_NONE ? c->read_sb : c->write_sb;
  if (sb == SB_NONE) return;
  for (unsigned i = 0; i < in->n_src; i++)
    for (unsigned k = 0; k < in->src[i].width; k++) {
      int n = in->src[i].file == FILE_R ? hazard_reg_number(&in->src[i], k) : -1;
      if (n < 0) continue;
      s->reg[n].readers |= (uint8_t)(1u << sb);
      s->reg[n].read_pipes |= (uint16_t)(1u << in->pipe);
    }
}

void sched_issue(struct sched_state *s, const struct schedule_rules *rules, const struct inst *in,
                 const struct inst_ctrl *c, int32_t now)
{
  if (sched_reads_late(in)) note_readers(s, in, c);
  for (unsigned i = 0; i < in->n_dst; i++)
    for (unsigned k = 0; k < in->dst[i].width; k++) {
      int n = hazard_reg_number(&in->dst[i], k);
      if (n >= 0) note_result(&s->reg[n], rules, in, c, now);
    }
  if (c->write_sb != SB_NONE) s->visible[c->write_sb] = now + COUNTER_VISIBLE;
  if (c->read_sb != SB_NONE) s->visible[c->read_sb] = now + COUNTER_VISIBLE;
}

void sched_wait(struct sched_state *s, uint8_t mask)
{
  if (!mask) return;
  for (unsigned n = 0; n < HAZARD_REGS; n++) {
    struct sched_reg *r = &s->reg[n];
    r->writers &= (uint8_t)~mask;
    r->readers &= (uint8_t)~mask;
    if (!r->readers) r->read_pipes = 0;
  }
}

uint8_t sched_counters(const struct sched_state *s)
{
  uint8_t mask = 0;
  for (unsigned n = 0; n < HAZARD_REGS; n++) mask |= s->reg[n].writers | s->reg[n].readers;
  return mask;
}

/* Times past are all the same: a floor, so that the analysis comes to rest. */
static int32_t rebased(int32_t t, int32_t now)
{
  return t > now ? t - now : LONG_AGO;
}

void sched_rebase(struct sched_state *s, int32_t now)
{
  for (unsigned n = 0; n < HAZARD_REGS; n++)
    for (unsigned role = 0; role < ROLE__N; role++)
      s->reg[n].ready[role] = rebased(s->reg[n].ready[role], now);
  for (unsigned k = 0; k < SB_COUNT; k++) s->visible[k] = rebased(s->visible[k], now);
}

static bool raise_time(int32_t *a, int32_t b)
{
  if (b <= *a) return false;
  *a = b;
  return true;
}

bool sched_join(struct sched_state *s, const struct sched_state *o)
{
  bool worse = !s->reached;
  s->reached = true;
  for (unsigned n = 0; n < HAZARD_REGS; n++) {
    struct sched_reg *r = &s->reg[n];
    struct sched_reg before = *r;
    for (unsigned role = 0; role < ROLE__N; role++)
      worse |= raise_time(&r->ready[role], o->reg[n].ready[role]);
    r->pipes |= o->reg[n].pipes;
    r->read_pipes |= o->reg[n].read_pipes;
    r->writers |= o->reg[n].writers;
    r->readers |= o->reg[n].readers;
    worse |= r->pipes != before.pipes || r->read_pipes != before.read_pipes ||
             r->writers != before.writers || r->readers != before.readers;
  }
  for (unsigned k = 0; k < SB_COUNT; k++) worse |= raise_time(&s->visible[k], o->visible[k]);
  return worse;
}

void sched_clear(struct sched_state *s)
{
  memset(s, 0, sizeof *s);
  sched_rebase(s, 1);
}
