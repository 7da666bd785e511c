#include "ncu/ncu_collect.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/bug.h"
#include "host/room.h"
#include "host/scheduler_tally.h"
#include "host/speed.h"
#include "time/gpu/gpu.h"
#include "time/gpu/gpu_stats.h"
#include "time/gpu/instances.h"
#include "time/mem/dram_stats.h"
#include "time/mem/l2_stats.h"
#include "time/msg.h"
#include "time/sm/mem_class.h"
#include "time/sm/sm_stats.h"

/* What the expressions of ncu_metric.def read. */
struct counted {
  const struct params *p;
  const struct sim_result *r;
  const struct launch *l;
  const struct gpu_stats *gpu;
  const struct sm_stats *sm;
  const struct l2_stats *l2;
  const struct dram_stats *dram;
  const struct module_kernel *kernel;
  const uint32_t *grid, *block, *cluster;
  uint32_t shared_dynamic;
  const struct scheduler_tally *tally; /* NULL: schedulers were not counted apart */
  uint64_t not_issued[WARP_STATE__N];  /* of all of them */
  bool alone; /* of one instance: what is counted for all of them together is not known */
  struct room room;
  struct speed speed[SPEED__N];
  struct ncu_domain_state domain[NCU_DOMAIN__N];
};

/* --- what expressions are made of --------------------------------------------------------------- */

static double divided(double a, double b)
{
  return b > 0 ? a / b : (double)NAN;
}
#define quotient(a, b) divided((double)(a), (double)(b)) /* counters are integers */

static double time_ns(const struct counted *c)
{
  return round((double)c->gpu->time_ps / 1000);
}

static double sum_by_name(const struct counted *c, const uint64_t *v, const char *mnemonic)
{
  const struct isa *isa = c->r->isa;
  if (c->alone) return (double)NAN;
  for (unsigned i = 0; i < isa->n_mnemonics(); i++)
    if (!strcmp(isa->mnemonic(i), mnemonic)) return (double)v[i];
  return 0;
}

static double threads_of(const struct counted *c, const char *mnemonic)
{
  return sum_by_name(c, c->r->thread_mix, mnemonic);
}

static double branches(const struct counted *c)
{
  static const char *const names[] = {"BRA", "BRX", "BRXU", "BRA.U", "JMP", "JMX", "JMXU"};
  double n = 0;
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) n += sum_by_name(c, c->r->mix, names[i]);
  return n;
}

static double uniform_branches(const struct counted *c)
{
  const double all = branches(c), split = (double)c->sm->divergences;
  return all > 0 && split <= all ? 100 * (1 - split / all) : NAN;
}

/* Warp instructions of a pipe of a sub-core in a cycle. */
static double pipe_rate(const struct counted *c, enum pipe pipe)
{
  return 1.0 / c->p->pipe_interval[pipe];
}

/* Lanes of a sub-core that can do an FFMA, or a DFMA, in a cycle. */
static double fp32_rate(const struct counted *c)
{
  return 32 * (pipe_rate(c, PIPE_FMA) + (c->p->issue_fp32_on_alu ? pipe_rate(c, PIPE_ALU) : 0));
}

static double fp64_rate(const struct counted *c)
{
  return 32 * pipe_rate(c, PIPE_FP64) / (c->p->fp64_shared ? c->p->sm_sub_cores : 1);
}

/* Per SM, in SM cycles of all its units of the kind. */
static double unit_cycles(const struct counted *c, enum speed_unit u)
{
  return c->speed[u].amount / (c->speed[u].peak / c->p->gpu_sms);
}

static double unit_amount(const struct counted *c, enum speed_unit u)
{
  return c->speed[u].amount;
}

static double unit_peak(const struct counted *c, enum speed_unit u)
{
  return c->speed[u].peak / c->p->gpu_sms;
}

/* Bytes of a channel in a cycle of its clock. */
static double dram_rate(const struct counted *c)
{
  return (double)params_dram_bytes_per_second(c->p) / c->p->dram_channels / c->domain[NCU_DRAM].hz;
}

static uint64_t all_sectors(const struct counted *c)
{
  return stat_sum(c->sm->class_sectors, MEM_CLASS__N);
}

static uint64_t all_hits(const struct counted *c)
{
  return stat_sum(c->sm->class_hits, MEM_CLASS__N);
}

static uint64_t local_sectors(const struct counted *c)
{
  return c->sm->class_sectors[MEM_CLASS_LOCAL_LD] + c->sm->class_sectors[MEM_CLASS_LOCAL_ST];
}

static uint64_t l2_sectors(const struct counted *c)
{
  return stat_sum(c->l2->op_sectors, L2_OP__N);
}

static double not_issued(const struct counted *c, enum warp_state state)
{
  return c->tally ? (double)c->not_issued[state] : (double)NAN;
}

static double books_of(const struct counted *c, const uint64_t *book)
{
  return (double)stat_sum(book, c->r->profile->n_insts);
}

static double ctas(const struct counted *c)
{
  return (double)c->grid[0] * c->grid[1] * c->grid[2];
}

static double block_threads(const struct counted *c)
{
  return (double)c->block[0] * c->block[1] * c->block[2];
}

static double limit_of(unsigned ctas_per_sm)
{
  return ctas_per_sm == UINT_MAX ? (double)NAN : (double)ctas_per_sm;
}

/* --- all rows ----------------------------------------------------------------------------------- */

static void see_domains(struct counted *c)
{
  const double cycles = (double)c->gpu->cycles, sm_hz = 1e12 / (double)params_clock_ps(c->p);
  const double l2_hz = 1e12 / (double)params_l2_clock_ps(c->p), seconds = cycles / sm_hz;
  const double active = (double)c->sm->active_cycles, sub = c->p->sm_sub_cores, sms = c->p->gpu_sms;
  /* The clock of a memory whose pins give two bits in a cycle of it: what Nsight Compute calls the DRAM frequency. */
  const double dram_hz = c->p->dram_pin_mbps * 1e6 / 2;
  struct ncu_domain_state *d = c->domain;
  d[NCU_GPU] = (struct ncu_domain_state){1, cycles, NAN, sm_hz};
  d[NCU_GPC] = (struct ncu_domain_state){c->p->gpu_gpcs, cycles, NAN, sm_hz};
  d[NCU_SM] = (struct ncu_domain_state){sms, cycles, active, sm_hz};
  d[NCU_SMSP] = (struct ncu_domain_state){sms * sub, cycles, active * sub, sm_hz};
  d[NCU_L1TEX] = (struct ncu_domain_state){sms, cycles, active, sm_hz};
  d[NCU_LTS] = (struct ncu_domain_state){c->p->l2_slices, round(seconds * l2_hz), NAN, l2_hz};
  d[NCU_DRAM] = (struct ncu_domain_state){c->p->dram_channels, round(seconds * dram_hz),
                                          (double)c->dram->data_bus_busy * 1e-12 * dram_hz, dram_hz};
}

/* Of rows that are counters, those of the units in `domains`: bits. */
static void see_values(const struct counted *c, unsigned domains, struct ncu_value *v)
{
#define COUNTER(name, unit, dom, targets, value, peak_, text)                                                          \
  if (domains >> NCU_##dom & 1) *v = (struct ncu_value){(double)(value), peak_, NAN, NAN};                             \
  v++;
#define EACH(name, unit, dom, targets, value, text)                                                                    \
  *v++ = (struct ncu_value){(value)*c->domain[NCU_##dom].instances, NAN, value, value};
#define PLAIN(name, unit, whole, targets, value, text) *v++ = (struct ncu_value){(double)(value), NAN, NAN, NAN};
#define HIGHEST(name, dom, parts, text)                *v++ = (struct ncu_value){NAN, NAN, NAN, NAN};
#define ABSENT(name, unit, kind, dom)                  *v++ = (struct ncu_value){NAN, NAN, NAN, NAN};
#include "ncu/ncu_metric.def"
}

/* --- instances ---------------------------------------------------------------------------------- */

/* The unit whose instances a row is a sum over; NCU_DOMAIN__N: it is none. */
static const uint8_t sum_over[NCU_N_ROWS] = {
#define COUNTER(name, unit, dom, targets, value, peak_, text) NCU_##dom,
#define EACH(name, unit, dom, targets, value, text)           NCU_DOMAIN__N,
#define PLAIN(name, unit, whole, targets, value, text)        NCU_DOMAIN__N,
#define HIGHEST(name, dom, parts, text)                       NCU_DOMAIN__N,
#define ABSENT(name, unit, kind, dom)                         NCU_DOMAIN__N,
#include "ncu/ncu_metric.def"
};

/* The least, the most and the sum of a row over the instances of a unit. */
struct spread {
  double least, most, sum;
};

static void widen(struct spread *s, const struct ncu_value *one, enum ncu_domain first, enum ncu_domain second)
{
  for (unsigned i = 0; i < NCU_N_ROWS; i++) {
    if (sum_over[i] != first && sum_over[i] != second) continue;
    s[i].least = fmin(s[i].least, one[i].sum);
    s[i].most = fmax(s[i].most, one[i].sum);
    s[i].sum += one[i].sum;
  }
}

/* Values of rows of these two units as they are with the counters of one instance alone. */
static void see_one(const struct counted *c, enum ncu_domain first, enum ncu_domain second, struct spread *s)
{
  struct ncu_value one[NCU_N_ROWS];
  struct counted alone = *c;
  alone.alone = true;
  see_domains(&alone);
  see_values(&alone, 1u << first | 1u << second, one);
  widen(s, one, first, second);
}

/* The counters of an SM as they would be if it had this scheduler alone: those that are known. */
static struct sm_stats stats_of_scheduler(const struct scheduler_counts *x, const struct sm_stats *sm)
{
  struct sm_stats s = {.active_cycles = sm->active_cycles,
                       .issue_slots = sm->active_cycles,
                       .warps = x->warps,
                       .warp_cycles = stat_sum(x->state, WARP_STATE__N),
                       .warp_insts = x->insts,
                       .thread_insts = x->threads};
  s.slot[SLOT_ISSUED] = x->insts;
  memcpy(s.warp_state, x->state, sizeof s.warp_state);
  memcpy(s.pipe, x->pipe, sizeof s.pipe);
  return s;
}

/* Schedulers on whose SM nothing ran are all alike. */
static void see_schedulers(const struct counted *c, const struct gpu_instances *x, struct spread *s)
{
  struct params one = *c->p;
  struct counted alone = *c;
  bool idle = false;
  one.sm_sub_cores = 1;
  alone.p = &one;
  for (unsigned i = 0; i < x->n_sms; i++) {
    if (!x->sm[i].active_cycles && idle) continue;
    idle |= !x->sm[i].active_cycles;
    for (unsigned k = 0; k < c->p->sm_sub_cores; k++) {
      const struct sm_stats of = stats_of_scheduler(scheduler_tally_of(c->tally, i, k), &x->sm[i]);
      alone.sm = &of;
      see_one(&alone, NCU_SMSP, NCU_SMSP, s);
    }
  }
}

static void see_instances(const struct counted *c, const struct gpu_instances *x, struct spread *s)
{
  struct counted alone = *c;
  for (unsigned i = 0; i < x->n_sms; i++) {
    alone.sm = &x->sm[i];
    see_one(&alone, NCU_SM, NCU_L1TEX, s);
  }
  alone = *c;
  for (unsigned i = 0; i < x->n_slices; i++) {
    alone.l2 = &x->l2[i];
    see_one(&alone, NCU_LTS, NCU_LTS, s);
  }
  alone = *c;
  for (unsigned i = 0; i < x->n_channels; i++) {
    alone.dram = &x->dram[i];
    see_one(&alone, NCU_DRAM, NCU_DRAM, s);
  }
  if (c->tally) see_schedulers(c, x, s);
}

/* Least and most of the rows that are a sum over instances of what is counted in each: then what is computed for each
 * alone adds up to the value. Rows made of something else do not, and keep them unknown. */
static void see_spread(const struct counted *c, struct ncu_value *v)
{
  struct spread s[NCU_N_ROWS];
  if (!c->r->instances) return;
  for (unsigned i = 0; i < NCU_N_ROWS; i++) s[i] = (struct spread){INFINITY, -INFINITY, 0};
  see_instances(c, c->r->instances, s);
  for (unsigned i = 0; i < NCU_N_ROWS; i++) {
    if (sum_over[i] != NCU_DOMAIN__N && v[i].sum == 0) v[i].least = v[i].most = 0; /* none has any */
    if (!isfinite(s[i].least) || !isfinite(s[i].most)) continue; /* or no unit whose instances are counted */
    if (!(fabs(s[i].sum - v[i].sum) <= 1e-9 * fabs(v[i].sum))) continue;
    v[i].least = s[i].least;
    v[i].most = s[i].most;
  }
}

static const void *group_called(const struct sim_result *r, const char *prefix)
{
  for (unsigned i = 0; i < r->n_groups; i++)
    if (!strcmp(r->group[i].prefix, prefix)) return r->group[i].data;
  BUG("no statistics called %s", prefix);
}

static void see_tally(struct counted *c, const struct scheduler_tally *t)
{
  c->tally = t;
  for (unsigned i = 0; i < c->p->gpu_sms; i++)
    for (unsigned k = 0; k < c->p->sm_sub_cores; k++)
      for (unsigned w = 0; w < WARP_STATE__N; w++) c->not_issued[w] += scheduler_tally_of(t, i, k)->not_issued[w];
}

static struct counted counted_of(const struct ncu_launch *l)
{
  const struct sim_result *r = l->result;
  struct counted c = {.p = l->params,
                      .r = r,
                      .l = l->launch,
                      .kernel = l->kernel,
                      .grid = l->grid,
                      .block = l->block,
                      .cluster = l->cluster,
                      .shared_dynamic = l->shared_dynamic,
                      .gpu = group_called(r, "gpu"),
                      .sm = group_called(r, "sm"),
                      .l2 = group_called(r, "l2"),
                      .dram = group_called(r, "dram")};
  room_of(c.p, c.l, &c.room);
  speed_of(c.p, r, c.l, c.speed);
  see_domains(&c);
  if (l->tally) see_tally(&c, l->tally);
  return c;
}

/* --- instructions ------------------------------------------------------------------------------- */

struct reading {
  struct ncu_action *a;
  const struct ncu_launch *l;
  const struct gpu_inst_profile *f;
  const struct code_view *code;
};

static bool section_ran(const struct reading *g, uint64_t start, uint64_t from)
{
  for (uint64_t i = from; i < g->f->n_insts && module_section_start(g->l->module, code_pc(g->code, i)) == start; i++)
    if (g->f->issued[i]) return true;
  return false;
}

static const char *section_name(const struct reading *g, uint64_t pc)
{
  char where[1024];
  module_where(g->l->module, pc, where, sizeof where);
  where[strcspn(where, "+")] = '\0';
  return arena_strdup(&g->a->arena, where);
}

static void read_line(const struct reading *g, uint64_t pc, struct ncu_inst *to)
{
  const struct line_row *row = line_table_find(g->l->lines, pc);
  if (!row || !row->line || row->file == LINE_NONE) return;
  to->file = row->file;
  to->line = row->line;
}

static void read_inst(const struct reading *g, uint64_t i, uint64_t start, struct ncu_inst *to)
{
  const struct gpu_inst_profile *f = g->f;
  struct inst here = g->code->inst[i];
  const uint8_t space = here.mem.image ? MEM_TEXTURE : here.mem.space;
  const bool generic = space == MEM_GENERIC;
  char text[512];
  here.pc -= start;
  code_print(g->code, i, &here, text, sizeof text);
  *to = (struct ncu_inst){.pc = here.pc,
                          .section = g->a->n_sections - 1,
                          .text = arena_strdup(&g->a->arena, text),
                          .shared = space == MEM_SHARED || generic || here.mem.op == MEM_LDGSTS,
                          .global = space == MEM_GLOBAL || generic,
                          .local = space == MEM_LOCAL || generic,
                          .op = here.mem.op,
                          .bytes = here.mem.bytes,
                          .issued = f->issued[i],
                          .threads = f->threads[i],
                          .sectors = f->sectors[i],
                          .excess = f->excess[i],
                          .passes = f->passes[i],
                          .conflicts = f->conflicts[i]};
  BUG_ON(f->n_states != WARP_STATE__N);
  memcpy(to->state, f->by_inst + i * WARP_STATE__N, sizeof to->state);
  read_line(g, start + here.pc, to);
}

/* All instructions of the sections of which one ran. */
static void read_code(const struct reading *g)
{
  uint64_t start = UINT64_MAX;
  bool ran = false;
  for (uint64_t i = 0; i < g->f->n_insts; i++) {
    const uint64_t pc = code_pc(g->code, i), now = module_section_start(g->l->module, pc);
    if (now != start) {
      start = now;
      ran = section_ran(g, start, i);
      if (ran) g->a->section[g->a->n_sections++] = section_name(g, pc);
    }
    if (ran) read_inst(g, i, start, &g->a->inst[g->a->n_insts++]);
  }
}

static unsigned count_sections(const struct reading *g)
{
  uint64_t start = UINT64_MAX;
  unsigned n = 0;
  for (uint64_t i = 0; i < g->f->n_insts; i++) {
    const uint64_t now = module_section_start(g->l->module, code_pc(g->code, i));
    n += now != start;
    start = now;
  }
  return n;
}

static uint64_t count_insts(const struct reading *g)
{
  uint64_t start = UINT64_MAX, n = 0;
  bool ran = false;
  for (uint64_t i = 0; i < g->f->n_insts; i++) {
    const uint64_t now = module_section_start(g->l->module, code_pc(g->code, i));
    if (now != start) ran = section_ran(g, now, i);
    start = now;
    n += ran;
  }
  return n;
}

static void collect_code(struct ncu_action *a, const struct ncu_launch *l)
{
  const struct reading g = {a, l, l->result->profile, &l->launch->params.code};
  code_want_all(g.code);
  a->n_files = l->lines->n_files;
  a->file = ARENA_ARRAY(&a->arena, struct ncu_file, a->n_files + 1);
  for (uint32_t i = 0; i < a->n_files; i++)
    a->file[i] = (struct ncu_file){arena_strdup(&a->arena, l->lines->file[i].folder),
                                   arena_strdup(&a->arena, l->lines->file[i].name)};
  a->section = ARENA_ARRAY(&a->arena, const char *, count_sections(&g) + 1);
  a->inst = ARENA_ARRAY(&a->arena, struct ncu_inst, count_insts(&g) + 1);
  read_code(&g);
}

void ncu_collect(struct ncu_action *a, const struct ncu_launch *l)
{
  const struct counted c = counted_of(l);
  ncu_action_init(a);
  a->cc = l->params->arch_sm;
  a->kernel = arena_strdup(&a->arena, l->kernel->name);
  memcpy(a->grid, l->grid, sizeof a->grid);
  memcpy(a->block, l->block, sizeof a->block);
  memcpy(a->domain, c.domain, sizeof a->domain);
  see_values(&c, UINT_MAX, a->value);
  see_spread(&c, a->value);
  if (l->lines) collect_code(a, l);
}
