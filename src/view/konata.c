#include "view/konata.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "base/text_out.h"
#include "isa/hazard_role.h"
#include "time/sm/sm_stats.h"

/* Short, for the boxes are small. */
static const char *const stage_name[STAGE__N] = {
    [STAGE_FETCH] = "F",   [STAGE_DECODE] = "Dc", [STAGE_BUFFER] = "Ib",  [STAGE_ISSUE] = "Is",
    [STAGE_CONTROL] = "C", [STAGE_ALLOCATE] = "Al", [STAGE_READ] = "Rd",  [STAGE_QUEUE] = "Qu",
    [STAGE_ADDRESS] = "Ad", [STAGE_EXECUTE] = "X", [STAGE_MEMORY] = "XM", [STAGE_WRITE] = "Wb"};

/* In one cycle they come in this order. */
enum kind { BEGINS, WAIT_ENDS, STAGE, WAIT_BEGINS, ARROW, LEAVES };

enum { KIND_BITS = 3 };

struct konata_event {
  uint64_t key;  /* cycle << KIND_BITS | enum kind: its place in the file */
  uint32_t inst; /* in the log */
  uint32_t arg;  /* STAGE: stage; waits: of the log; ARROW: producer */
};

struct events {
  struct konata_event *e;
  size_t n, room;
};

/* Cycle of what had not left the pipeline when the run ended, until all is known. */
#define AT_THE_END (UINT64_MAX >> KIND_BITS)

static uint64_t event_cycle(const struct konata_event *e)
{
  return e->key >> KIND_BITS;
}

static enum kind event_kind(const struct konata_event *e)
{
  return (enum kind)(e->key & ((1u << KIND_BITS) - 1));
}

/* For so many events more, which are added without asking. */
static void make_room(struct events *x, size_t more)
{
  if (x->room - x->n >= more) return;
  while (x->room - x->n < more) x->room = x->room ? 2 * x->room : 4096;
  x->e = mem_resize(x->e, x->room, sizeof *x->e);
}

static inline void add(struct events *x, uint64_t cycle, uint32_t inst, enum kind kind, uint32_t arg)
{
  x->e[x->n++] = (struct konata_event){cycle << KIND_BITS | kind, inst, arg};
}

/* --- words ----------------------------------------------------------------------------------------- */

/* Text that stands in many lines. */
struct words {
  char text[78];
  uint8_t n;
};

__attribute__((format(printf, 1, 2))) static struct words words_of(const char *format, ...)
{
  struct words w;
  va_list args;
  va_start(args, format);
  w.n = (uint8_t)vsnprintf(w.text, sizeof w.text, format, args);
  va_end(args);
  BUG_ON(w.n >= sizeof w.text);
  return w;
}

static void write_words(struct text_out *t, const struct words *w)
{
  text_out_bytes(t, w->text, w->n);
}

/* --- warps ----------------------------------------------------------------------------------------- */

/* A warp of the log, and which of its instructions wrote a register last. */
struct warp {
  uint64_t cta;
  unsigned warp;
  uint32_t writer[HAZARD_REGS]; /* 1 + instruction of the log; 0: none */
  struct words lane, who, place; /* in the lines of each of its instructions */
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

/* Of each warp one instruction, and some more, not in order; returns how many. A warp keeps its slot: what issues from
 * a slot is of the warp that issued there before, until another one comes. */
static uint32_t one_of_each(const struct pipe_log *log, const struct pipe_inst **one)
{
  enum { SLOTS = 256 }; /* several share one: then it takes longer */
  const struct pipe_inst *last[SLOTS] = {NULL};
  uint32_t n = 0;
  for (uint32_t i = 0; i < log->n_insts; i++) {
    const struct pipe_inst *x = &log->inst[i];
    const struct pipe_inst **slot = &last[(x->sm * 64u + x->sub_core * 16u + x->slot) % SLOTS];
    if (!*slot || !same_warp(*slot, x)) one[n++] = *slot = x;
  }
  return n;
}

static struct warp warp_that_issued(const struct pipe_inst *x)
{
  return (struct warp){
      .cta = x->cta,
      .warp = x->warp,
      .who = words_of("\t0\tcta %" PRIu64 " warp %u: ", x->cta, x->warp),
      .place = words_of("; SM %u, sub-core %u, warp slot %u; issued in cycle ", x->sm, x->sub_core, x->slot),
  };
}

static struct warps find_warps(const struct pipe_log *log)
{
  const struct pipe_inst **one = mem_zeroed(log->n_insts + 1u, sizeof *one);
  struct warps all = {0};
  uint32_t n = one_of_each(log, one);
  qsort(one, n, sizeof *one, by_warp);
  for (uint32_t i = 0; i < n; i++) all.n += i == 0 || !same_warp(one[i - 1], one[i]);
  all.w = mem_zeroed(all.n + 1u, sizeof *all.w);
  for (uint32_t i = 0, k = 0; i < n; i++) {
    if (i > 0 && same_warp(one[i - 1], one[i])) continue;
    all.w[k] = warp_that_issued(one[i]);
    all.w[k].lane = words_of("\t%" PRIu32 "\n", k);
    k++;
  }
  mem_free(one);
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

/* A bit for each stage that is shown: not when the next one follows in the same cycle or before. */
static unsigned visible_stages(const struct pipe_inst *x)
{
  unsigned visible = 0;
  int32_t next = INT32_MAX;
  for (unsigned s = STAGE__N; s-- > 0;) {
    if (x->stage[s] == PIPE_NEVER) continue;
    visible |= (unsigned)(next > x->stage[s]) << s;
    next = x->stage[s];
  }
  return visible;
}

/* One of these bits. */
static bool is_visible(const struct pipe_inst *x, unsigned stage)
{
  unsigned next = stage + 1;
  while (next < STAGE__N && x->stage[next] == PIPE_NEVER) next++;
  return x->stage[stage] != PIPE_NEVER && (next == STAGE__N || x->stage[next] > x->stage[stage]);
}

/* Since its issue, the cycle in which it executes; PIPE_NEVER: it does not. */
static int32_t executes(const struct pipe_inst *x)
{
  if (is_visible(x, STAGE_EXECUTE)) return x->stage[STAGE_EXECUTE];
  return is_visible(x, STAGE_MEMORY) ? x->stage[STAGE_MEMORY] : PIPE_NEVER;
}

enum { ARROWS = 8 };

/* Those whose results an instruction reads: 1 + instruction of the log, in order. */
struct writers {
  uint32_t of[ARROWS];
  unsigned n;
};

static void note_writer(struct writers *w, uint32_t writer)
{
  if (!writer || w->n == ARROWS) return;
  for (unsigned i = 0; i < w->n; i++)
    if (w->of[i] == writer) return;
  unsigned at = w->n++;
  for (; at > 0 && w->of[at - 1] > writer; at--) w->of[at] = w->of[at - 1];
  w->of[at] = writer;
}

/* An arrow from the last writer of each register, once for each writer. */
static void add_arrows(struct events *ev, const struct pipe_log *log, struct warp *w, const struct pipe_inst *x)
{
  enum { ALWAYS = 7 };
  const struct inst *in = x->inst;
  struct writers from = {.n = 0};
  for (unsigned i = 0; i < in->n_src; i++)
    for (unsigned k = 0; k < in->src[i].width; k++) {
      int reg = hazard_reg_number(&in->src[i], k);
      if (reg >= 0) note_writer(&from, w->writer[reg]);
    }
  if (in->guard < ALWAYS) note_writer(&from, w->writer[HAZARD_P + in->guard]);
  const int32_t at = from.n ? executes(x) : PIPE_NEVER;
  for (unsigned i = 0; i < from.n && at != PIPE_NEVER; i++)
    if (executes(&log->inst[from.of[i] - 1]) != PIPE_NEVER) add(ev, cycle_of(x, at), x->order, ARROW, from.of[i] - 1);
  for (unsigned i = 0; i < in->n_dst && x->exec; i++)
    for (unsigned k = 0; k < in->dst[i].width; k++) {
      int reg = hazard_reg_number(&in->dst[i], k);
      if (reg >= 0) w->writer[reg] = x->order + 1;
    }
}

static void add_inst(struct events *ev, const struct pipe_log *log, const struct pipe_inst *x)
{
  add(ev, begins(log, x), x->order, BEGINS, 0);
  const unsigned visible = visible_stages(x);
  for (unsigned s = 0; s < STAGE__N; s++)
    if (visible >> s & 1) add(ev, cycle_of(x, x->stage[s]), x->order, STAGE, s);
  for (uint32_t i = x->first_wait; i < x->first_wait + x->n_waits; i++) {
    add(ev, cycle_of(x, log->wait[i].from), x->order, WAIT_BEGINS, i);
    add(ev, cycle_of(x, log->wait[i].until), x->order, WAIT_ENDS, i);
  }
}

/* The lowest and highest key. */
struct key_range {
  uint64_t lowest, highest;
};

static struct key_range keys_of(const struct events *ev)
{
  struct key_range r = {UINT64_MAX, 0};
  for (size_t i = 0; i < ev->n; i++) {
    if (ev->e[i].key < r.lowest) r.lowest = ev->e[i].key;
    if (ev->e[i].key > r.highest) r.highest = ev->e[i].key;
  }
  return r;
}

/* What had not left when the run ended leaves in the last cycle that anything has. */
static void end_open(struct events *ev)
{
  uint64_t last = 0;
  for (size_t i = 0; i < ev->n; i++)
    if (event_cycle(&ev->e[i]) != AT_THE_END && event_cycle(&ev->e[i]) > last) last = event_cycle(&ev->e[i]);
  for (size_t i = 0; i < ev->n; i++)
    if (event_cycle(&ev->e[i]) == AT_THE_END) ev->e[i].key = last << KIND_BITS | event_kind(&ev->e[i]);
}

/* By key: digit by digit from the lowest, each time keeping the order that was. Events of one cycle and kind stay in
 * the order in which they were added, by instruction and argument. */
static void sort_events(struct events *ev)
{
  enum { DIGIT = 11, VALUES = 1 << DIGIT };
  const struct key_range keys = keys_of(ev);
  const uint64_t largest = keys.highest - keys.lowest;
  struct konata_event *to = mem_alloc((ev->n + 1) * sizeof *to);
  for (unsigned shift = 0; shift < 64 && largest >> shift; shift += DIGIT) {
    size_t at[VALUES] = {0}, sum = 0;
    for (size_t i = 0; i < ev->n; i++) at[(ev->e[i].key - keys.lowest) >> shift & (VALUES - 1)]++;
    for (unsigned v = 0; v < VALUES; v++) {
      size_t count = at[v];
      at[v] = sum;
      sum += count;
    }
    for (size_t i = 0; i < ev->n; i++) to[at[(ev->e[i].key - keys.lowest) >> shift & (VALUES - 1)]++] = ev->e[i];
    struct konata_event *from = ev->e;
    ev->e = to;
    to = from;
  }
  mem_free(to);
}

static struct events events_of(const struct pipe_log *log, const struct warps *all)
{
  struct events ev = {.n = 0};
  bool open = false;
  for (uint32_t i = 0; i < log->n_insts; i++) {
    const struct pipe_inst *x = &log->inst[i];
    bool left = x->done != PIPE_NEVER;
    open |= !left;
    make_room(&ev, 2u + STAGE__N + ARROWS + 2u * x->n_waits);
    add_inst(&ev, log, x);
    add_arrows(&ev, log, warp_of(all, x), x);
    add(&ev, left ? cycle_of(x, x->done) : AT_THE_END, i, LEAVES, !left);
  }
  if (open) end_open(&ev);
  if (ev.n) sort_events(&ev);
  return ev;
}

/* --- the file ----------------------------------------------------------------------------------------- */

/* What is said of a machine instruction whenever a warp executes it, one text behind the other; `all` NULL: it was not
 * yet. */
struct said {
  char *all;
  uint16_t label, where, control; /* their lengths */
};

/* A few characters of which lines are put together. */
struct piece {
  char text[31];
  uint8_t n;
};

struct writer {
  struct text_out out;
  const struct pipe_log *log;
  const struct report *report;
  const struct warps *warps;
  struct said *said; /* by the instruction's number in the code */
  struct id { /* in the file, of an instruction of the log: its digits */
    char text[11];
    uint8_t n;
  } *id;
  uint32_t n_begun, n_left;
  struct piece stage[STAGE__N], wait[WARP_STATE__N]; /* what ends the line of one */
};

static void control_text(const struct inst *in, char *buf, size_t size)
{
  const struct inst_ctrl *c = &in->ctrl;
  size_t n = (size_t)snprintf(buf, size, "stall %u%s", c->stall, c->yield ? ", yield" : "");
  if (in->flags & INST_DRAINS) n += (size_t)snprintf(buf + n, size - n, " until it is done");
  else if (c->write_sb != SB_NONE) n += (size_t)snprintf(buf + n, size - n, ", result SB%u", c->write_sb);
  if (c->read_sb != SB_NONE && !(in->flags & INST_DRAINS))
    n += (size_t)snprintf(buf + n, size - n, ", sources SB%u", c->read_sb);
  for (unsigned sb = 0; sb < SB_COUNT; sb++)
    if (c->wait >> sb & 1) n += (size_t)snprintf(buf + n, size - n, ", waits SB%u", sb);
}

static const struct said *said_of(const struct writer *w, const struct inst *inst)
{
  enum { ROOM = 128 + 256 + 256 };
  const struct code_view *code = &w->report->launch->params.code;
  struct said *s = &w->said[code_number(code, code_at(code, inst->pc))];
  char where[128], text[256], control[256];
  if (s->all) return s;
  module_where(w->report->module, inst->pc, where, sizeof where);
  report_inst_text(w->report, inst->pc, text, sizeof text);
  control_text(inst, control, sizeof control);
  s->all = mem_alloc(ROOM + 64);
  s->label = (uint16_t)sprintf(s->all, "%s\n", text);
  s->where = (uint16_t)sprintf(s->all + s->label, "\t1\t%s", where);
  s->control = (uint16_t)sprintf(s->all + s->label + s->where, " lanes; control bits: %s\n", control);
  return s;
}

enum { LINE_START = 16 /* a letter, an id, tabs */ };

/* "L\t12": what opens a line about an instruction. Returns what is behind it. */
static char *begin_line(char *at, char what, const struct id *id)
{
  at[0] = what;
  at[1] = '\t';
  memcpy(at + 2, id->text, sizeof id->text);
  return at + 2 + id->n;
}

static void write_line(struct text_out *t, char what, const struct id *id, const char *rest, size_t n)
{
  char *from = text_out_room(t, LINE_START + n), *at = begin_line(from, what, id);
  memcpy(at, rest, n);
  t->n += (size_t)(at - from) + n;
}

/* The same with a piece behind the id. */
static void write_piece(struct text_out *t, char what, const struct id *id, const struct piece *rest)
{
  char *from = text_out_room(t, LINE_START + sizeof rest->text), *at = begin_line(from, what, id);
  memcpy(at, rest->text, sizeof rest->text); /* more than is shown, but of a size the compiler knows */
  t->n += (size_t)(at - from) + rest->n;
}

static void labelled(struct text_out *t, const char *label, uint64_t v)
{
  text_out_text(t, label);
  text_out_u64(t, v);
}

static void name_id(struct id *id, uint32_t number)
{
  char digits[TEXT_OUT_DIGITS] = {0};
  struct text_out t = {.data = digits, .room = sizeof digits};
  text_out_u64(&t, number);
  memcpy(id->text, digits, sizeof id->text);
  id->n = (uint8_t)t.n;
}

static void write_begin(struct writer *w, uint32_t i)
{
  const struct pipe_inst *x = &w->log->inst[i];
  const struct said *said = said_of(w, x->inst);
  const struct warp *warp = warp_of(w->warps, x);
  struct text_out *t = &w->out;
  name_id(&w->id[i], w->n_begun++);
  write_line(t, 'I', &w->id[i], "\t", 1);
  text_out_u64(t, i);
  write_words(t, &warp->lane);
  write_line(t, 'L', &w->id[i], warp->who.text, warp->who.n);
  text_out_bytes(t, said->all, said->label);
  write_line(t, 'L', &w->id[i], said->all + said->label, said->where);
  write_words(t, &warp->place);
  text_out_u64(t, x->issued);
  labelled(t, ", ", bits_count(x->exec));
  text_out_bytes(t, said->all + said->label + said->where, said->control);
}

static void write_wait(struct writer *w, char what, const struct konata_event *e)
{
  write_piece(&w->out, what, &w->id[e->inst], &w->wait[w->log->wait[e->arg].state]);
}

static void write_event(struct writer *w, const struct konata_event *e)
{
  struct text_out *t = &w->out;
  const struct id *id = &w->id[e->inst];
  switch (event_kind(e)) {
  case BEGINS: write_begin(w, e->inst); break;
  case STAGE: write_piece(t, 'S', id, &w->stage[e->arg]); break;
  case WAIT_BEGINS: write_wait(w, 'S', e); break;
  case WAIT_ENDS: write_wait(w, 'E', e); break;
  case ARROW:
    write_line(t, 'W', id, "\t", 1);
    text_out_bytes(t, w->id[e->arg].text, w->id[e->arg].n);
    text_out_bytes(t, "\t0\n", 3);
    break;
  case LEAVES:
    write_line(t, 'R', id, "\t", 1);
    text_out_u64(t, w->n_left++);
    text_out_text(t, e->arg ? "\t1\n" : "\t0\n");
    break;
  }
}

static void write_events(struct writer *w, const struct events *ev)
{
  uint64_t now = ev->n ? event_cycle(&ev->e[0]) : 0;
  labelled(&w->out, "Kanata\t0004\nC=\t", now);
  text_out_char(&w->out, '\n');
  for (size_t i = 0; i < ev->n; i++) {
    const uint64_t cycle = event_cycle(&ev->e[i]);
    if (cycle > now) {
      labelled(&w->out, "C\t", cycle - now);
      text_out_char(&w->out, '\n');
    }
    now = cycle;
    write_event(w, &ev->e[i]);
  }
}

static void name_piece(struct piece *p, const char *lane, const char *name)
{
  p->n = (uint8_t)snprintf(p->text, sizeof p->text, "\t%s\t%s\n", lane, name);
  BUG_ON(p->n >= sizeof p->text);
}

static void name_pieces(struct writer *w)
{
  for (unsigned s = 0; s < STAGE__N; s++) name_piece(&w->stage[s], "0", stage_name[s]);
  for (unsigned s = 0; s < WARP_STATE__N; s++) name_piece(&w->wait[s], "1", warp_state_name[s]);
}

void view_konata_write(FILE *f, const struct pipe_log *log, const struct report *r)
{
  const uint64_t n_code = code_count(&r->launch->params.code);
  struct warps warps = find_warps(log);
  struct events ev = events_of(log, &warps);
  struct writer w = {.log = log, .report = r, .warps = &warps, .id = mem_zeroed(log->n_insts + 1u, sizeof *w.id),
                     .said = mem_zeroed(n_code + 1, sizeof *w.said)};
  name_pieces(&w);
  text_out_open(&w.out, f);
  write_events(&w, &ev);
  text_out_close(&w.out);
  for (uint64_t i = 0; i < n_code; i++) mem_free(w.said[i].all);
  mem_free(w.said);
  mem_free(w.id);
  mem_free(ev.e);
  mem_free(warps.w);
}
