#include "host/pipe_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/host_memory.h"
#include "host/simulate.h"
#include "time/sm/warp.h"

enum { SUB_CORES = 4, PENDING = 32 /* waits between two issues of a warp: a hold and what ledger_issue splits */ };

/* A warp slot of the SM. */
struct chosen {
  bool on;
  uint8_t warp, n_waits;
  uint64_t cta;
  struct observed_wait wait[PENDING]; /* since its last issue */
};

/* The observer of an SM. */
struct sm_log {
  struct observer observer; /* first member */
  const struct pipe_recorder *all;
  unsigned sm;
  struct pipe_inst *inst;
  struct pipe_wait *wait;
  uint32_t n_insts, inst_room, n_waits, wait_room;
  uint32_t *open; /* instructions that have not left the pipeline */
  uint32_t n_open, open_room;
  uint32_t room; /* instructions that it may keep */
  uint64_t lost, lost_from;
  struct chosen (*slot)[SUB_CORE_MAX_WARPS]; /* of each sub-core; NULL: no warp has begun here */
};

struct pipe_recorder {
  struct pipe_choice choice;
  struct sim_observers observers;
  uint64_t begin; /* cycle in which the launch began */
  unsigned n_sms;
  struct sm_log *sm;
};

/* --- the choice --------------------------------------------------------------------------------- */

struct pipe_choice pipe_choice_default(void)
{
  return (struct pipe_choice){.range = {{.last_warp = UINT32_MAX}}, .n_ranges = 1, .to = UINT64_MAX, .sm = -1};
}

/* A number at *s, or *s itself left where it is when there is none: then `missing`. */
static bool take_number(const char **s, uint64_t missing, uint64_t *n)
{
  char *end;
  *n = missing;
  if (**s < '0' || **s > '9') return false;
  errno = 0;
  *n = strtoull(*s, &end, 10);
  if (errno) return false; /* too large; its digits are what does not belong there */
  *s = end;
  return true;
}

/* "A" or "A-B". */
static bool take_range(const char **s, uint64_t *first, uint64_t *last)
{
  if (!take_number(s, 0, first)) return false;
  *last = *first;
  if (**s != '-') return true;
  ++*s;
  return take_number(s, 0, last) && *last >= *first;
}

static bool take_warps(const char **s, struct pipe_range *r)
{
  uint64_t warp = 0, last = UINT32_MAX;
  if (!take_range(s, &r->cta, &r->last_cta)) return false;
  if (**s == '.') {
    ++*s;
    if (!take_range(s, &warp, &last) || last > UINT32_MAX) return false;
  }
  r->warp = (unsigned)warp;
  r->last_warp = (unsigned)last;
  return true;
}

bool pipe_choice_warps(struct pipe_choice *c, const char *text, struct err *e)
{
  const char *s = text;
  c->n_ranges = 0;
  if (!strcmp(text, "all")) return true;
  do {
    if (c->n_ranges == PIPE_CHOICE_RANGES)
      return err_set(e, "%s: more than %d ranges of warps", text, PIPE_CHOICE_RANGES);
    if (!take_warps(&s, &c->range[c->n_ranges++]))
      return err_set(e, "%s: not warps such as 0 (those of CTA 0), 0-7, 2.1 (warp 1 of CTA 2), 0-3.0-1, several with "
                        "commas, or all", text);
  } while (*s++ == ',');
  return s[-1] == '\0' || err_set(e, "%s: '%s' behind a range of warps", text, s - 1);
}

bool pipe_choice_cycles(struct pipe_choice *c, const char *text, struct err *e)
{
  const char *s = text;
  bool from = take_number(&s, 0, &c->from), colon = *s == ':';
  s += colon;
  bool to = take_number(&s, UINT64_MAX, &c->to);
  return (colon && (from || to) && !*s && c->to > c->from) ||
         err_set(e, "%s: not a range such as 1000:2000, 1000: or :2000", text);
}

bool pipe_choice_has(const struct pipe_choice *c, uint64_t cta, unsigned warp)
{
  for (unsigned i = 0; i < c->n_ranges; i++) {
    const struct pipe_range *r = &c->range[i];
    if (cta >= r->cta && cta <= r->last_cta && warp >= r->warp && warp <= r->last_warp) return true;
  }
  return c->n_ranges == 0;
}

/* On how many SMs chosen CTAs of a grid can be. */
static unsigned sms_of(const struct pipe_choice *c, unsigned n_sms, uint64_t n_ctas)
{
  if (n_ctas < n_sms) n_sms = (unsigned)n_ctas;
  uint64_t n = c->n_ranges ? 0 : n_sms;
  if (c->sm >= 0) return 1;
  for (unsigned i = 0; i < c->n_ranges && n < n_sms; i++) {
    uint64_t more = c->range[i].last_cta - c->range[i].cta;
    n = more >= n_sms ? n_sms : n + more + 1;
  }
  return n < n_sms ? (unsigned)n : n_sms;
}

/* --- observing: on the thread of the SM ----------------------------------------------------------- */

static void warp_begin(struct observer *o, const struct observed_warp *w, uint64_t now)
{
  struct sm_log *l = (struct sm_log *)o;
  (void)now;
  if (!l->slot) l->slot = mem_zeroed(SUB_CORES, sizeof *l->slot);
  l->room = PIPE_LOG_MAX / sms_of(&l->all->choice, l->all->n_sms, w->grid->source->n_ctas);
  l->slot[w->sub_core][w->warp] = (struct chosen){.on = pipe_choice_has(&l->all->choice, w->cta->id, w->number),
                                                  .warp = (uint8_t)w->number,
                                                  .cta = w->cta->id};
}

static void warp_end(struct observer *o, unsigned sub_core, unsigned warp, uint64_t now)
{
  (void)now;
  ((struct sm_log *)o)->slot[sub_core][warp].on = false;
}

static void wait(struct observer *o, unsigned sub_core, unsigned warp, const struct observed_wait *w)
{
  struct chosen *c = &((struct sm_log *)o)->slot[sub_core][warp];
  if (!c->on || w->state == WS_SELECTED) return;
  BUG_ON(c->n_waits == PENDING);
  c->wait[c->n_waits++] = *w;
}

/* Times since an issue are short: what lies further away is cut. */
static int32_t distance(uint64_t at, uint64_t from)
{
  int64_t d = (int64_t)(at - from);
  return d > INT32_MAX ? INT32_MAX : d < -INT32_MAX ? -INT32_MAX : (int32_t)d;
}

static void keep_waits(struct sm_log *l, const struct chosen *c, struct pipe_inst *x, uint64_t issued)
{
  x->first_wait = l->n_waits;
  x->n_waits = c->n_waits;
  for (unsigned i = 0; i < c->n_waits; i++) {
    const struct observed_wait *w = &c->wait[i];
    l->wait = mem_more(l->wait, l->n_waits, &l->wait_room, sizeof *l->wait);
    l->wait[l->n_waits++] =
        (struct pipe_wait){distance(w->from, issued), distance(w->until, issued), (uint8_t)w->state};
  }
}

/* A chosen warp issues in cycle `at` of the launch. */
static void keep(struct sm_log *l, const struct chosen *c, const struct observed *x, const struct observed_issue *how,
                 uint64_t at)
{
  struct pipe_inst p = {.inst = x->inst,
                        .cta = c->cta,
                        .issued = at,
                        .exec = how->exec,
                        .seq = x->seq,
                        .sm = (uint16_t)l->sm,
                        .sub_core = x->sub_core,
                        .slot = x->warp,
                        .warp = c->warp,
                        .done = PIPE_NEVER};
  for (unsigned i = 0; i < STAGE__N; i++) p.stage[i] = PIPE_NEVER;
  keep_waits(l, c, &p, how->at);
  l->inst = mem_more(l->inst, l->n_insts, &l->inst_room, sizeof *l->inst);
  l->open = mem_more(l->open, l->n_open, &l->open_room, sizeof *l->open);
  l->open[l->n_open++] = l->n_insts;
  l->inst[l->n_insts++] = p;
}

static void issue(struct observer *o, const struct observed *x, const struct observed_issue *how)
{
  struct sm_log *l = (struct sm_log *)o;
  struct chosen *c = &l->slot[x->sub_core][x->warp];
  uint64_t at = how->at - l->all->begin;
  if (c->on && at >= l->all->choice.from && at < l->all->choice.to) {
    if (l->n_insts < l->room)
      keep(l, c, x, how, at);
    else if (l->lost++ == 0)
      l->lost_from = at;
  }
  c->n_waits = 0;
}

/* Its place in `open`; n_open: it is not kept. Those that issued last come first. */
static uint32_t find(const struct sm_log *l, const struct observed *x)
{
  for (uint32_t i = l->n_open; i-- > 0;)
    if (l->inst[l->open[i]].seq == x->seq) return i;
  return l->n_open;
}

static void stage(struct observer *o, const struct observed *x, enum pipe_stage s, uint64_t at)
{
  struct sm_log *l = (struct sm_log *)o;
  uint32_t i = find(l, x);
  if (i == l->n_open) return;
  struct pipe_inst *p = &l->inst[l->open[i]];
  p->stage[s] = distance(at, l->all->begin + p->issued);
}

static void done(struct observer *o, const struct observed *x, uint64_t at)
{
  struct sm_log *l = (struct sm_log *)o;
  uint32_t i = find(l, x);
  if (i == l->n_open) return;
  struct pipe_inst *p = &l->inst[l->open[i]];
  p->done = distance(at, l->all->begin + p->issued);
  l->open[i] = l->open[--l->n_open];
}

static const struct observer_ops ops = {.warp_begin = warp_begin, .warp_end = warp_end, .wait = wait, .issue = issue,
                                        .stage = stage, .done = done};

/* --- the log ------------------------------------------------------------------------------------- */

static struct observer *observer_of(void *ctx, unsigned sm)
{
  struct pipe_recorder *r = ctx;
  return r->choice.sm < 0 || (unsigned)r->choice.sm == sm ? &r->sm[sm].observer : NULL;
}

static void begin(void *ctx, uint64_t cycle)
{
  struct pipe_recorder *r = ctx;
  r->begin = cycle;
  for (unsigned i = 0; i < r->n_sms; i++) {
    struct sm_log *l = &r->sm[i];
    l->n_insts = l->n_waits = l->n_open = 0;
    l->lost = 0;
  }
}

struct pipe_log *pipe_log_new(const struct pipe_choice *c, const struct params *p)
{
  struct pipe_log *log = mem_zeroed(1, sizeof *log);
  struct pipe_recorder *r = mem_zeroed(1, sizeof *r);
  *r = (struct pipe_recorder){.choice = *c,
                              .observers = {.ctx = r, .of = observer_of, .begin = begin},
                              .n_sms = p->gpu_sms,
                              .sm = mem_zeroed(p->gpu_sms, sizeof *r->sm)};
  for (unsigned i = 0; i < r->n_sms; i++) {
    r->sm[i].observer.ops = &ops;
    r->sm[i].all = r;
    r->sm[i].sm = i;
  }
  log->recorder = r;
  return log;
}

const struct sim_observers *pipe_log_observers(const struct pipe_log *log)
{
  return &log->recorder->observers;
}

static int in_order(const void *a, const void *b)
{
  const struct pipe_inst *x = a, *y = b;
  if (x->issued != y->issued) return x->issued < y->issued ? -1 : 1;
  if (x->sm != y->sm) return x->sm < y->sm ? -1 : 1;
  return (int)x->sub_core - (int)y->sub_core; /* a sub-core issues one in a cycle */
}

/* What SMs kept is in order, each for itself. */
static bool is_in_order(const struct pipe_log *log)
{
  for (uint32_t i = 1; i < log->n_insts; i++)
    if (in_order(&log->inst[i - 1], &log->inst[i]) > 0) return false;
  return true;
}

/* What an SM kept goes behind what the log has. */
static void add_sm(struct pipe_log *log, const struct sm_log *l, uint32_t first_wait)
{
  for (uint32_t i = 0; i < l->n_insts; i++) {
    struct pipe_inst *x = &log->inst[log->n_insts++];
    *x = l->inst[i];
    x->first_wait += first_wait;
  }
  if (l->n_waits) memcpy(log->wait + first_wait, l->wait, l->n_waits * sizeof *l->wait);
  if (l->lost && (!log->lost || l->lost_from < log->lost_from)) log->lost_from = l->lost_from;
  log->lost += l->lost;
}

static void forget(struct pipe_log *log)
{
  mem_free(log->inst);
  mem_free(log->wait);
  *log = (struct pipe_log){.recorder = log->recorder};
}

void pipe_log_sort(struct pipe_log *log)
{
  const struct pipe_recorder *r = log->recorder;
  uint32_t insts = 0, waits = 0;
  forget(log);
  for (unsigned i = 0; i < r->n_sms; i++) {
    insts += r->sm[i].n_insts;
    waits += r->sm[i].n_waits;
  }
  log->inst = mem_zeroed(insts + 1u, sizeof *log->inst);
  log->wait = mem_zeroed(waits + 1u, sizeof *log->wait);
  waits = 0;
  for (unsigned i = 0; i < r->n_sms; i++) {
    add_sm(log, &r->sm[i], waits);
    waits += r->sm[i].n_waits;
  }
  if (!is_in_order(log)) qsort(log->inst, log->n_insts, sizeof *log->inst, in_order);
  for (uint32_t i = 0; i < log->n_insts; i++) log->inst[i].order = i;
}

void pipe_log_free(struct pipe_log *log)
{
  if (!log) return;
  struct pipe_recorder *r = log->recorder;
  for (unsigned i = 0; i < r->n_sms; i++) {
    mem_free(r->sm[i].slot);
    mem_free(r->sm[i].inst);
    mem_free(r->sm[i].wait);
    mem_free(r->sm[i].open);
  }
  mem_free(r->sm);
  mem_free(r);
  forget(log);
  mem_free(log);
}
