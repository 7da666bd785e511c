/* A core of another kind beside SMs in one GPU: it gets CTAs, sends requests that are read and performed on the memory
 * side, is answered, and ends its CTAs; SMs beside it do what they do alone. A kind that answers probes, and a directory
 * that asks. Scope, grid and requester of requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel_rig.h"
#include "time/core/core.h"
#include "time/mem/coherence.h"
#include "time/sm/sm.h"
#include "time/sm/sm_core.h"

/* --- the other kind ---------------------------------------------------------------------------- */

/* A player holds one CTA. For each it reads LINES lines, one behind the other, the first of which all players read,
 * then has one atomic performed, in that line. Players of the second kind keep the common line until somebody asks for
 * it, and answer THINK cycles later. */
enum { LINES = 5, STEPS = LINES + 1, HISTORY = 4096, BASE = 0x700000, THINK = 10 };

struct player {
  struct core core;
  picos period, request_time;
  struct req_queue out;
  struct reply_queue in;
  struct launch_queue launches;
  struct done_queue done;
  struct cluster_queue cluster_out, cluster_in, releases;
  struct probe_queue probes, probed;
  bool has_line;
  uint64_t asked; /* probes */
  struct gmem_log log;
  struct fault fault;
  bool open[GRID_SLOTS];
  struct cta_launch cta; /* the one that runs */
  unsigned step;         /* 0: none runs */
  uint64_t insts, ctas, performed, answered;
  unsigned port_users;
  picos last;
  uint64_t n, when[HISTORY]; /* of answers */
};

static void player_init(struct core *c, struct arena *a, const struct params *p, unsigned id)
{
  struct player *x = (struct player *)c;
  *x = (struct player){.period = params_clock_ps(p), .request_time = params_request_ps(p)};
  QUEUE_INIT(&x->out, a, struct mem_req, 64);
  QUEUE_INIT(&x->in, a, struct mem_reply, 64);
  QUEUE_INIT(&x->launches, a, struct cta_launch, 256);
  QUEUE_INIT(&x->done, a, struct cta_done, 256);
  QUEUE_INIT(&x->cluster_out, a, struct cluster_msg, 1);
  QUEUE_INIT(&x->cluster_in, a, struct cluster_msg, 1);
  QUEUE_INIT(&x->releases, a, struct cluster_msg, 1);
  gmem_log_init(&x->log);
  extern const struct core_kind player_kind;
  x->core = (struct core){.ops = player_kind.ops, .id = id, .insts = &x->insts, .fault = &x->fault, .out = &x->out,
                          .in = &x->in, .launches = &x->launches, .done = &x->done, .cluster_out = &x->cluster_out,
                          .cluster_in = &x->cluster_in, .releases = &x->releases, .log = &x->log,
                          .port_users = &x->port_users};
}

/* The kind that takes probes. */
static void keeper_init(struct core *c, struct arena *a, const struct params *p, unsigned id)
{
  struct player *x = (struct player *)c;
  player_init(c, a, p, id);
  QUEUE_INIT(&x->probes, a, struct probe, 64);
  QUEUE_INIT(&x->probed, a, struct probe, 64);
  x->core.probes = &x->probes;
  x->core.probed = &x->probed;
}

static void player_free(struct core *c)
{
  gmem_log_free(&((struct player *)c)->log);
}

static uint64_t line_of(const struct player *x)
{
  return x->step == 1 || x->step == STEPS ? BASE : BASE + x->cta.cta * STEPS + x->step;
}

static void ask(struct player *x, picos now)
{
  bool last = x->step == STEPS;
  req_queue_push(&x->out, (struct mem_req){.arrive = now + x->request_time, .line = line_of(x), .txn = 7,
                                           .from = (uint16_t)x->core.id, .kind = last ? REQ_STRONG : REQ_READ,
                                           .sectors = last ? 1 : 0xf, .op = last ? MEM_RED : MEM_LOAD,
                                           .repeats = last, .grid = (uint8_t)x->cta.grid, .scope = SCOPE_GPU});
  x->insts++;
}

static void begin(struct player *x, struct cta_launch l, picos now)
{
  assert_true(x->open[l.grid]);
  x->cta = l;
  x->step = 1;
  x->ctas++;
  ask(x, now);
}

static void go_on(struct player *x, picos now)
{
  x->when[x->n++ % HISTORY] = now;
  x->answered++;
  x->last = now;
  x->has_line = x->has_line || x->step == 1;
  if (x->step++ < STEPS) {
    ask(x, now);
    return;
  }
  x->step = 0;
  done_queue_push(&x->done, (struct cta_done){now + x->request_time, x->cta.cta, x->cta.grid});
}

/* The line goes back if it is there; else the answer says so. */
static void give_back(struct player *x, const struct probe *p)
{
  assert_int_equal(p->core, x->core.id);
  assert_int_equal(p->kind, PROBE_INVALIDATE);
  assert_int_equal(p->line, BASE);
  struct probe answer = *p;
  answer.arrive += THINK * x->period + x->request_time;
  answer.sectors = x->has_line ? p->sectors : 0;
  probe_queue_push(&x->probed, answer);
  x->has_line = false;
  x->asked++;
}

static picos player_run(void *self, picos from, picos to)
{
  struct player *x = self;
  for (struct probe *p; (p = probe_queue_front(&x->probes)); probe_queue_pop(&x->probes)) {
    assert_true(p->arrive >= from && p->arrive < to);
    give_back(x, p);
  }
  struct mem_reply *r = reply_queue_front(&x->in);
  if (r && r->arrive < to) {
    picos at = r->arrive > from ? r->arrive : from;
    assert_int_equal(r->txn, 7);
    assert_int_equal(r->line, line_of(x));
    reply_queue_pop(&x->in);
    go_on(x, at);
  }
  struct cta_launch *l = launch_queue_front(&x->launches);
  if (l && l->announced && l->arrive < to) launch_queue_pop(&x->launches); /* it needs nothing beforehand */
  l = launch_queue_front(&x->launches);
  if (!x->step && l && l->arrive < to) {
    struct cta_launch next = *l;
    launch_queue_pop(&x->launches);
    begin(x, next, next.arrive > from ? next.arrive : from);
  }
  l = launch_queue_front(&x->launches);
  if (x->step) return TIME_NEVER;
  return !l ? TIME_NEVER : l->arrive > to ? l->arrive : to;
}

static uint64_t player_progress(const void *self)
{
  return ((const struct player *)self)->insts;
}

static bool player_busy(const void *self)
{
  const struct player *x = self;
  return x->step || x->launches.n;
}

static void player_dump(const void *self, FILE *out)
{
  fprintf(out, "  player: step %u\n", ((const struct player *)self)->step);
}

static void player_start(struct core *c, struct gmem *image, bool control_bits)
{
  struct player *x = (struct player *)c;
  (void)image, (void)control_bits;
  assert_int_equal(x->step, 0);
}

static void player_open(struct core *c, unsigned slot, struct step_source *s, unsigned const_space, struct arena *a)
{
  (void)s, (void)const_space, (void)a;
  ((struct player *)c)->open[slot] = true;
}

static void player_close(struct core *c, unsigned slot)
{
  ((struct player *)c)->open[slot] = false;
}

static bool player_holds(const struct core *c, unsigned slot)
{
  const struct player *x = (const struct player *)c;
  return x->step && x->cta.grid == slot;
}

static picos player_last(const struct core *c, unsigned slot)
{
  (void)slot;
  return ((const struct player *)c)->last;
}

/* The memory side has the request, and says when: the word counts. */
static bool player_perform(struct core *c, const struct mem_req *r, picos now, struct gmem_view *direct, struct fault *f)
{
  struct player *x = (struct player *)c;
  (void)direct, (void)f;
  assert_int_equal(r->from, c->id);
  assert_int_equal(r->grid, x->cta.grid);
  assert_int_equal(r->scope, SCOPE_GPU);
  assert_int_equal(r->line, line_of(x));
  assert_true(now >= r->arrive);
  x->performed++;
  return true;
}

static bool player_cluster(struct core *c, unsigned txn, struct cluster_load *load, struct fault *f)
{
  (void)c, (void)txn, (void)load, (void)f;
  fail_msg("a player has no clusters");
  return false;
}

static void player_stood(struct core *c, picos late)
{
  (void)c, (void)late;
}

static bool player_port_busy(const struct core *c, picos now)
{
  (void)c, (void)now;
  return false;
}

static void player_residents(const struct core *c, void (*see)(void *ctx, const struct step_cta *), void *ctx)
{
  (void)c, (void)see, (void)ctx;
}

static void player_count(const struct core *c, struct sm_stats *s)
{
  const struct player *x = (const struct player *)c;
  s->ctas += x->ctas;
  uint64_t read = LINES * x->ctas * SECTORS_PER_LINE;
  s->sent_sectors[L2_OP_READ] += read; /* it has no L1 */
  s->l1_read_sectors += read;
  s->l1_miss_sectors += read;
  s->class_sectors[MEM_CLASS_GLOBAL_LD] += read;
  s->sent_sectors[L2_OP_RED] += x->performed;
  s->class_sectors[MEM_CLASS_GLOBAL_RED] += x->performed;
}

static void player_books(const struct core *c, unsigned slot, struct core_books *b)
{
  (void)c, (void)slot, (void)b;
}

#define PLAYER_OPS(how)                                                                                                \
  {                                                                                                                    \
      .part = {player_run, player_progress, player_busy, player_dump}, .init = how, .free = player_free,               \
      .start = player_start, .open_grid = player_open, .close_grid = player_close, .holds_grid = player_holds,         \
      .last_answer = player_last, .perform = player_perform, .perform_cluster = player_cluster,                        \
      .port_stood = player_stood, .port_busy = player_port_busy, .residents = player_residents,                        \
      .count_into = player_count, .books_into = player_books,                                                          \
  }

static const struct core_ops player_ops = PLAYER_OPS(player_init), keeper_ops = PLAYER_OPS(keeper_init);
const struct core_kind player_kind = {"player", sizeof(struct player), &player_ops};
static const struct core_kind keeper_kind = {"keeper", sizeof(struct player), &keeper_ops};

/* --- beside SMs --------------------------------------------------------------------------------- */

/* Of one line, which all players read: who has it. Its slice alone calls here. */
struct directory {
  struct coherence coherence;
  const struct params *params;
  bool has[KERNEL_RIG_SMS], waits[KERNEL_RIG_SMS];
  picos sent_at[KERNEL_RIG_SMS];
  uint64_t sent, answered, with_data;
};

static void directory_taken(struct coherence *self, struct probe_net *net, unsigned slice, const struct mem_req *r,
                            picos now)
{
  struct directory *d = (struct directory *)self;
  if (r->line != BASE || !probe_net_takes(net, r->from)) return;
  if (r->kind == REQ_READ) d->has[r->from] = true;
  for (uint16_t i = 0; r->kind == REQ_STRONG && i < KERNEL_RIG_SMS; i++) {
    if (!d->has[i] || d->waits[i] || i == r->from) continue;
    probe_net_send(net, slice, &(struct probe){.line = BASE, .core = i, .kind = PROBE_INVALIDATE, .sectors = 0xf}, now);
    d->has[i] = false;
    d->waits[i] = true;
    d->sent_at[i] = now;
    d->sent++;
  }
}

/* There, THINK cycles, and back. */
static void directory_answered(struct coherence *self, struct probe_net *net, unsigned slice, const struct probe *p,
                               picos now)
{
  struct directory *d = (struct directory *)self;
  const struct params *q = d->params;
  (void)net, (void)slice;
  assert_true(d->waits[p->core]);
  assert_int_equal(p->line, BASE);
  assert_int_equal(now - d->sent_at[p->core],
                   q->noc_reply_latency * params_l2_clock_ps(q) + THINK * params_clock_ps(q) + params_request_ps(q));
  d->waits[p->core] = false;
  d->answered++;
  d->with_data += p->sectors == 0xf;
}

struct mixed {
  struct kernel_rig k;
  struct gpu_rig rig;
  uint64_t start, end;
};

/* SMs with even numbers, others with odd ones; NULL: no directory. */
static void run_mixed(struct mixed *m, const struct core_kind *other, struct directory *d, unsigned threads)
{
  const struct core_kind *kind[KERNEL_RIG_SMS];
  for (unsigned i = 0; i < KERNEL_RIG_SMS; i++) kind[i] = i % 2 ? other : &sm_kind;
  kernel_rig_build(&m->k, "vecadd", 1);
  m->rig = gpu_rig_of(gpu_new_of(&m->k.params, kind), threads);
  if (d) {
    *d = (struct directory){{directory_taken, directory_answered}, .params = &m->k.params};
    gpu_cohere(m->rig.gpu, &d->coherence);
  }
  struct gpu_launch l = kernel_rig_launch(&m->k);
  unsigned slot = gpu_rig_open(&m->rig, &l, m->k.launch->params.image);
  gpu_rig_finish(&m->rig); /* the laws between blocks hold: a BUG else */
  assert_true(gpu_launch_times(m->rig.gpu, slot, &m->start, &m->end));
}

static void free_mixed(struct mixed *m)
{
  gpu_rig_free(&m->rig);
  kernel_rig_free(&m->k);
}

static uint64_t counter(struct gpu *gpu, const char *name)
{
  struct stat_group g[GPU_MAX_GROUPS];
  unsigned n = gpu_stats_groups(gpu, g);
  for (unsigned i = 0; i < n; i++) {
    const struct stat_desc *d = stat_find(g[i], name);
    if (d) return *(const uint64_t *)((const char *)g[i].data + d->offset);
  }
  fail_msg("no counter %s", name);
  return 0;
}

static void two_kinds_in_one_gpu(void **state)
{
  (void)state;
  struct mixed a, b;
  run_mixed(&a, &player_kind, NULL, 1);
  uint64_t ctas = func_source(a.k.launch->func)->n_ctas;
  assert_int_equal(counter(a.rig.gpu, "ctas"), ctas);
  /* A CTA of vecadd on an SM has 8 warps; on a player none. Each kind got some, and each did its own work. */
  uint64_t on_sms = counter(a.rig.gpu, "warps") / 8, on_players = ctas - on_sms;
  assert_true(on_sms > 0 && on_players > 0);
  assert_int_equal(counter(a.rig.gpu, "strong_requests"), on_players);
  assert_true(counter(a.rig.gpu, "l2_read_sectors") >= on_players * LINES * SECTORS_PER_LINE);
  run_mixed(&b, &player_kind, NULL, 2);
  assert_same_run(a.rig.gpu, b.rig.gpu, 0, 0);
  assert_int_equal(a.end, b.end);
  free_mixed(&a);
  free_mixed(&b);
}

/* Every probe is answered at its time; as often as a line was given back somebody had read it. On one host thread and on
 * two alike. Cores that nobody asks, beside a directory or without, take the time that those without the port take. */
static void probes_are_answered(void **state)
{
  (void)state;
  struct mixed plain, unasked, a, b;
  struct directory d, e;
  run_mixed(&plain, &player_kind, NULL, 1);
  run_mixed(&unasked, &keeper_kind, NULL, 1);
  assert_same_run(plain.rig.gpu, unasked.rig.gpu, 0, 0);
  assert_int_equal(plain.end, unasked.end);
  run_mixed(&a, &keeper_kind, &d, 1);
  uint64_t ctas = counter(a.rig.gpu, "strong_requests");
  assert_in_range(d.sent, ctas / 2, 2 * ctas); /* of three players two others may have it, one CTA after the other */
  assert_int_equal(d.answered, d.sent);
  assert_true(d.with_data > 0 && d.with_data <= d.answered);
  assert_same_run(plain.rig.gpu, a.rig.gpu, 0, 0); /* answers hold up nobody here */
  run_mixed(&b, &keeper_kind, &e, 2);
  assert_same_run(a.rig.gpu, b.rig.gpu, 0, 0);
  assert_int_equal(e.sent, d.sent);
  assert_int_equal(e.with_data, d.with_data);
  free_mixed(&plain);
  free_mixed(&unasked);
  free_mixed(&a);
  free_mixed(&b);
}

/* --- what a request says ------------------------------------------------------------------------ */

/* Scope of the kernels' own instructions: compiled from the named operation of CUDA or PTX (kernels/NAME/NAME.cu). */
static bool has_scope(const struct kernel_rig *k, unsigned scope)
{
  const struct code_view *c = &func_source(k->launch->func)->code;
  for (uint64_t i = 0; i < (c->end - c->base) >> c->shift; i++)
    if (c->inst[i].mem.strong && c->inst[i].scope == scope) return true;
  return false;
}

static void scopes_are_decoded(void **state)
{
  (void)state;
  struct kernel_rig k;
  kernel_rig_build(&k, "hist_global", 1); /* atomicAdd: the scope of the GPU */
  assert_true(has_scope(&k, SCOPE_GPU));
  assert_false(has_scope(&k, SCOPE_SYS));
  kernel_rig_free(&k);
  kernel_rig_build(&k, "memory_order", 1); /* PTX operations of the named scopes */
  assert_true(has_scope(&k, SCOPE_SYS));
  assert_true(has_scope(&k, SCOPE_GPU));
  kernel_rig_free(&k);
  kernel_rig_build(&k, "vecadd", 1);
  for (unsigned s = SCOPE_CTA; s <= SCOPE_SYS; s++) assert_false(has_scope(&k, s));
  kernel_rig_free(&k);
}

int main(void)
{
  assert_int_equal(sizeof(struct mem_req), 40);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_kinds_in_one_gpu),
      cmocka_unit_test(probes_are_answered),
      cmocka_unit_test(scopes_are_decoded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
