#include "view/konata.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/host_memory.h"
#include "isa/hazard_role.h"
#include "time/sm/sm_stats.h"

/* Short, for the boxes are small. */
static const char *const stage_name[STAGE__N] = {
    [STAGE_FETCH] = "F",   [STAGE_DECODE] = "Dc", [STAGE_BUFFER] = "Ib",  [STAGE_ISSUE] = "Is",
    [STAGE_CONTROL] = "C", [STAGE_ALLOCATE] = "Al", [STAGE_READ] = "Rd",  [STAGE_QUEUE] = "Qu",
    [STAGE_ADDRESS] = "Ad", [STAGE_EXECUTE] = "X", [STAGE_MEMORY] = "XM", [STAGE_WRITE] = "Wb"};

/* In one cycle they come in this order. */
enum kind { BEGINS, WAIT_ENDS, STAGE, WAIT_BEGINS, ARROW, LEAVES };

struct event {
  uint64_t cycle;
  uint32_t inst; /* in the log */
  uint32_t arg;  /* STAGE: stage; waits: of the log; ARROW: producer */
  uint8_t kind;  /* enum kind */
};

struct events {
  struct event *e;
  size_t n, room;
};

static void add(struct events *x, uint64_t cycle, uint32_t inst, enum kind kind, uint32_t arg)
{
  if (x->n == x->room) {
    x->room = x->room ? 2 * x->room : 4096;
    x->e = mem_resize(x->e, x->room, sizeof *x->e);
  }
  x->e[x->n++] = (struct event){cycle, inst, arg, (uint8_t)kind};
}

/* --- warps ----------------------------------------------------------------------------------------- */

/* A warp of the log, and which of its instructions wrote a register last. */
struct warp {
  uint64_t cta;
  unsigned warp;
  uint32_t writer[HAZARD_REGS]; /* 1 + instruction of the log; 0: none */
};

struct warps {
  struct warp *w; /* by CTA and warp */
  uint32_t n;
};

static struct warp *warp_of(const struct warps *all, const struct pipe_inst *x)
{
  uint32_t low = 0, high = all->n;
  while (high - low > 1) {
    uint32_t mid = low + (high - low) / 2;
    const struct warp *w = &all->w[mid];
    if (w->cta < x->cta || (w->cta == x->cta && w->warp <= x->warp))
      low = mid;
    else
      high = mid;
  }
  return &all->w[low];
}

static bool same_warp(const struct pipe_inst *a, const struct pipe_inst *b)
{
  return a->cta == b->cta && a->warp == b->warp;
}

static int by_warp(const void *a, const void *b)
{
  const struct pipe_inst *x = *(const struct pipe_inst *const *)a, *y = *(const struct pipe_inst *const *)b;
  if (x->cta != y->cta) return x->cta < y->cta ? -1 : 1;
  return (int)x->warp - (int)y->warp;
}

static struct warps find_warps(const struct pipe_log *log)
{
  const struct pipe_inst **sorted = mem_zeroed(log->n_insts + 1u, sizeof *sorted);
  struct warps all = {0};
  for (uint32_t i = 0; i < log->n_insts; i++) sorted[i] = &log->inst[i];
  qsort(sorted, log->n_insts, sizeof *sorted, by_warp);
  for (uint32_t i = 0; i < log->n_insts; i++) all.n += i == 0 || !same_warp(sorted[i - 1], sorted[i]);
  all.w = mem_zeroed(all.n + 1u, sizeof *all.w);
  for (uint32_t i = 0, n = 0; i < log->n_insts; i++) {
    if (i && same_warp(sorted[i - 1], sorted[i])) continue;
    all.w[n].cta = sorted[i]->cta;
    all.w[n++].warp = sorted[i]->warp;
  }
  mem_free(sorted);
  return all;
}

/* --- events of an instruction ------------------------------------------------------------------------ */

static uint64_t cycle_of(const struct pipe_inst *x, int32_t since_issue)
{
  return x->issued + (uint64_t)(int64_t)since_issue;
}

/* Cycle in which it appears: fetched, or waited for by its warp. */
static uint64_t begins(const struct pipe_log *log, const struct pipe_inst *x)
{
  int32_t first = x->stage[STAGE_FETCH];
  if (x->n_waits && log->wait[x->first_wait].from < first) first = log->wait[x->first_wait].from;
  return cycle_of(x, first);
}

/* A stage that the next one follows in the same cycle or before is left out. */
static bool is_visible(const struct pipe_inst *x, unsigned stage)
{
  if (x->stage[stage] == PIPE_NEVER) return false;
  for (unsigned next = stage + 1; next < STAGE__N; next++)
    if (x->stage[next] != PIPE_NEVER) return x->stage[next] > x->stage[stage];
  return true;
}

/* Since its issue, the cycle in which it executes; PIPE_NEVER: it does not. */
static int32_t executes(const struct pipe_inst *x)
{
  if (is_visible(x, STAGE_EXECUTE)) return x->stage[STAGE_EXECUTE];
  return is_visible(x, STAGE_MEMORY) ? x->stage[STAGE_MEMORY] : PIPE_NEVER;
}

enum { ARROWS = 8 };

/* An arrow from the last writer of a register, once for each writer. */
static void arrow_from(struct events *ev, const struct pipe_log *log, const struct pipe_inst *x, uint32_t writer,
                       uint32_t done[ARROWS], unsigned *n)
{
  if (!writer || *n == ARROWS) return;
  for (unsigned i = 0; i < *n; i++)
    if (done[i] == writer) return;
  done[(*n)++] = writer;
  const struct pipe_inst *from = &log->inst[writer - 1];
  if (executes(from) == PIPE_NEVER || executes(x) == PIPE_NEVER) return;
  add(ev, cycle_of(x, executes(x)), x->order, ARROW, from->order);
}

static void add_arrows(struct events *ev, const struct pipe_log *log, struct warp *w, const struct pipe_inst *x)
{
  enum { ALWAYS = 7 };
  const struct inst *in = x->inst;
  uint32_t done[ARROWS];
  unsigned n = 0;
  for (unsigned i = 0; i < in->n_src; i++)
    for (unsigned k = 0; k < in->src[i].width; k++) {
      int reg = hazard_reg_number(&in->src[i], k);
      if (reg >= 0) arrow_from(ev, log, x, w->writer[reg], done, &n);
    }
  if (in->guard < ALWAYS) arrow_from(ev, log, x, w->writer[HAZARD_P + in->guard], done, &n);
  for (unsigned i = 0; i < in->n_dst && x->exec; i++)
    for (unsigned k = 0; k < in->dst[i].width; k++) {
      int reg = hazard_reg_number(&in->dst[i], k);
      if (reg >= 0) w->writer[reg] = x->order + 1;
    }
}

static void add_inst(struct events *ev, const struct pipe_log *log, const struct pipe_inst *x)
{
  add(ev, begins(log, x), x->order, BEGINS, 0);
  for (unsigned s = 0; s < STAGE__N; s++)
    if (is_visible(x, s)) add(ev, cycle_of(x, x->stage[s]), x->order, STAGE, s);
  for (uint32_t i = x->first_wait; i < x->first_wait + x->n_waits; i++) {
    add(ev, cycle_of(x, log->wait[i].from), x->order, WAIT_BEGINS, i);
    add(ev, cycle_of(x, log->wait[i].until), x->order, WAIT_ENDS, i);
  }
}

/* Last cycle of all that is known. */
static uint64_t last_cycle(const struct events *ev)
{
  uint64_t last = 0;
  for (size_t i = 0; i < ev->n; i++)
    if (ev->e[i].cycle > last) last = ev->e[i].cycle;
  return last;
}

static int in_order(const void *a, const void *b)
{
  const struct event *x = a, *y = b;
  if (x->cycle != y->cycle) return x->cycle < y->cycle ? -1 : 1;
  if (x->kind != y->kind) return (int)x->kind - (int)y->kind;
  if (x->inst != y->inst) return x->inst < y->inst ? -1 : 1;
  return x->arg < y->arg ? -1 : x->arg > y->arg;
}

static struct events events_of(const struct pipe_log *log, const struct warps *all)
{
  struct events ev = {0};
  for (uint32_t i = 0; i < log->n_insts; i++) {
    add_inst(&ev, log, &log->inst[i]);
    add_arrows(&ev, log, warp_of(all, &log->inst[i]), &log->inst[i]);
    if (log->inst[i].done != PIPE_NEVER) add(&ev, cycle_of(&log->inst[i], log->inst[i].done), i, LEAVES, 0);
  }
  uint64_t end = last_cycle(&ev);
  for (uint32_t i = 0; i < log->n_insts; i++)
    if (log->inst[i].done == PIPE_NEVER) add(&ev, end, i, LEAVES, 1);
  qsort(ev.e, ev.n, sizeof *ev.e, in_order);
  return ev;
}

/* --- the file ----------------------------------------------------------------------------------------- */

struct writer {
  FILE *f;
  const struct pipe_log *log;
  const struct report *report;
  const struct warps *warps;
  uint32_t *id; /* in the file, of an instruction of the log */
  uint32_t n_begun, n_left;
};

static void write_begin(struct writer *w, uint32_t i)
{
  const struct pipe_inst *x = &w->log->inst[i];
  char where[128], text[256];
  const struct inst_ctrl *c = &x->inst->ctrl;
  uint32_t id = w->id[i] = w->n_begun++;
  module_where(w->report->module, x->inst->pc, where, sizeof where);
  report_inst_text(w->report, x->inst->pc, text, sizeof text);
  fprintf(w->f, "I\t%" PRIu32 "\t%" PRIu32 "\t%td\n", id, i, warp_of(w->warps, x) - w->warps->w);
  fprintf(w->f, "L\t%" PRIu32 "\t0\tcta %" PRIu64 " warp %u: %s\n", id, x->cta, x->warp, text);
  fprintf(w->f,
          "L\t%" PRIu32 "\t1\t%s; SM %u, sub-core %u, warp slot %u; issued in cycle %" PRIu64 ", %u lanes; "
          "control bits: stall %u%s",
          id, where, x->sm, x->sub_core, x->slot, x->issued, bits_count(x->exec), c->stall, c->yield ? ", yield" : "");
  if (c->write_sb != SB_NONE) fprintf(w->f, ", result SB%u", c->write_sb);
  if (c->read_sb != SB_NONE) fprintf(w->f, ", sources SB%u", c->read_sb);
  for (unsigned i_sb = 0; i_sb < SB_COUNT; i_sb++)
    if (c->wait >> i_sb & 1) fprintf(w->f, ", waits SB%u", i_sb);
  fputc('\n', w->f);
}

static void write_event(struct writer *w, const struct event *e)
{
  uint32_t id = w->id[e->inst];
  switch ((enum kind)e->kind) {
  case BEGINS: write_begin(w, e->inst); break;
  case STAGE: fprintf(w->f, "S\t%" PRIu32 "\t0\t%s\n", id, stage_name[e->arg]); break;
  case WAIT_BEGINS: fprintf(w->f, "S\t%" PRIu32 "\t1\t%s\n", id, warp_state_name[w->log->wait[e->arg].state]); break;
  case WAIT_ENDS: fprintf(w->f, "E\t%" PRIu32 "\t1\t%s\n", id, warp_state_name[w->log->wait[e->arg].state]); break;
  case ARROW: fprintf(w->f, "W\t%" PRIu32 "\t%" PRIu32 "\t0\n", id, w->id[e->arg]); break;
  case LEAVES: fprintf(w->f, "R\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\n", id, w->n_left++, e->arg); break;
  }
}

void view_konata_write(FILE *f, const struct pipe_log *log, const struct report *r)
{
  struct warps warps = find_warps(log);
  struct events ev = events_of(log, &warps);
  struct writer w = {
      .f = f, .log = log, .report = r, .warps = &warps, .id = mem_zeroed(log->n_insts + 1u, sizeof *w.id)};
  fputs("Kanata\t0004\n", f);
  uint64_t now = ev.n ? ev.e[0].cycle : 0;
  fprintf(f, "C=\t%" PRIu64 "\n", now);
  for (size_t i = 0; i < ev.n; i++) {
    if (ev.e[i].cycle > now) fprintf(f, "C\t%" PRIu64 "\n", ev.e[i].cycle - now);
    now = ev.e[i].cycle;
    write_event(&w, &ev.e[i]);
  }
  mem_free(w.id);
  mem_free(ev.e);
  mem_free(warps.w);
}
