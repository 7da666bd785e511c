#include "host/mps_server.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "base/place.h"
#include "host/mps_client.h"
#include "host/mps_managed.h"
#include "host/perfetto.h"
#include "host/usage.h"

enum { PS_PER_NS = 1000 };

struct mps_server {
  struct params params;
  struct sim_options options;
  struct simulator *simulator;
  struct gmem *image; /* what all clients have */
  struct uvm_machine *managed; /* NULL: no client has any */
  struct mps_page *page;
  struct mps_ears ears;
  mps_send_fn *send;
  void *ctx;
  struct mps_asker asker;
  bool pause; /* a client wants its answer behind this window */
  struct program_memory program;
  struct mps_client *client[MPS_PROCESSES]; /* by the caller's number; NULL: none */
  struct mps_work *first;                 /* given, not begun, in their order */
  uint64_t sequence;
  uint64_t now;       /* ps */
  uint32_t n_let_in;
  struct sm_stays *stays; /* NULL: nobody wants to know */
};

static uint64_t time_of(const void *server, uint64_t gpu_ps)
{
  return live_time(((const struct mps_server *)server)->simulator, gpu_ps);
}

static void watch_sms(struct mps_server *s, const struct activity_choice *shown)
{
  const struct sm_stays_way way = {.choice = shown, .unit = PS_PER_NS, .most = PERFETTO_MAX_SLICES / s->params.gpu_sms,
                                   .time = time_of, .ctx = s};
  s->stays = sm_stays_new(&way, &s->params);
  s->options.observers = sm_stays_observers(s->stays);
}

/* --- kernels that ask ---------------------------------------------------------------------------- */

/* A client with work on the GPU waits for its answer whenever time passes, so it hears this at once, in the midst of a
 * window; its reply is heard before the window goes on. */
static uint64_t ask(void *server, struct mps_client *c, uint64_t who, const struct device_call *call)
{
  struct mps_server *s = server;
  const struct mps_answer head = {.stop = MPS_QUESTION, .now = s->now};
  struct mps_question q = {.who = who, .call = *call, .last_error = *call->last_error};
  if (c->gone) return device_call_unanswered(call->number);
  q.call.last_error = NULL, q.call.heap = NULL, q.call.guest = NULL;
  c->call = call;
  s->send(s->ctx, c->number, &head, sizeof head);
  s->send(s->ctx, c->number, &q, sizeof q);
  while (c->call && !c->gone) s->ears.listen(s->ctx, c->number);
  c->call = NULL;
  if (c->gone) return device_call_unanswered(call->number);
  *call->last_error = c->reply.last_error;
  if (c->reply.pause) c->pressed = s->pause = true;
  return c->reply.result;
}

struct mps_server *mps_server_new(const struct params *p, struct mps_way way, struct mps_page *page, mps_send_fn *send,
                                  struct mps_ears ears, void *ctx)
{
  const uint64_t size = UINT64_C(1) << (p->vm_page_bits > 12 ? p->vm_page_bits : 12);
  struct mps_server *s = mem_zeroed(1, sizeof *s);
  *s = (struct mps_server){.params = *p, .options = {.timed = true, .threads = way.threads, .report = stderr},
                           .page = page, .send = send, .ears = ears, .ctx = ctx};
  s->asker = (struct mps_asker){s, ask};
  if (way.usage) s->options.usage = usage_new();
  s->simulator = simulator_new(&s->params);
  simulator_surround(s->simulator);
  if (way.shown) watch_sms(s, way.shown);
  s->image = gmem_new(p->vm_page_bits);
  gmem_set_range(s->image, size, 2 * size); /* all it has is its clients' */
  s->program = mps_client_program(s->client);
  simulator_set_program(s->simulator, &s->program);
  return s;
}

/* --- clients come and go ------------------------------------------------------------------------ */

void mps_server_come(struct mps_server *s, unsigned client, pid_t process)
{
  BUG_ON(s->client[client]);
  s->client[client] = mps_client_new(client, process, s->params.vm_page_bits, &s->asker);
}

/* That were let in. */
static unsigned clients(const struct mps_server *s)
{
  unsigned n = 0;
  for (unsigned i = 0; i < MPS_PROCESSES; i++) n += s->client[i] && s->client[i]->in;
  return n;
}

/* What it had of the GPU's memory. */
static void give_back(struct mps_server *s, struct mps_client *c)
{
  const uint64_t had = atomic_exchange(&s->page->of_client[c->slot], 0);
  atomic_fetch_sub(&s->page->taken, had);
  atomic_store(&s->page->process[c->slot], 0);
}

static void free_client(struct mps_server *s, unsigned i)
{
  struct mps_client *c = s->client[i];
  if (c->in) give_back(s, c);
  if (s->managed) mps_managed_end(c, s->managed);
  if (c->in) mps_client_unplace(c, s->simulator);
  mps_client_free(c, s->image);
  s->client[i] = NULL;
  if (!clients(s)) atomic_store(&s->page->fault, FAULT_NONE); /* the GPU's context is made anew */
}

/* What has not begun does not. */
static void drop_work_of(struct mps_server *s, const struct mps_client *c)
{
  for (struct mps_work **at = &s->first, *w; (w = *at);) {
    if (w->client != c) at = &w->next;
    else *at = w->next, mps_work_free(w);
  }
}

void mps_server_go(struct mps_server *s, unsigned client)
{
  struct mps_client *c = s->client[client];
  if (!c) return;
  drop_work_of(s, c);
  c->gone = true;
  c->asks = c->joins = false;
  if (!c->n_work) free_client(s, client);
}

bool mps_server_asks(const struct mps_server *s, unsigned client)
{
  const struct mps_client *c = s->client[client];
  return c && (c->asks || c->joins);
}

bool mps_server_works(const struct mps_server *s, unsigned client)
{
  const struct mps_client *c = s->client[client];
  return c && !c->gone && c->n_work;
}

bool mps_server_pressed(const struct mps_server *s, unsigned client)
{
  const struct mps_client *c = s->client[client];
  return c && c->asks && c->pressed;
}

/* --- what they say ------------------------------------------------------------------------------ */

static bool hear_join(struct mps_client *c, const void *m, size_t bytes)
{
  if (bytes != sizeof c->join || c->in || c->joins) return false;
  memcpy(&c->join, m, bytes);
  return c->joins = true;
}

static bool hear_shown(struct mps_server *s, unsigned i, const void *m, size_t bytes)
{
  struct mps_shown x;
  if (bytes != sizeof x) return false;
  memcpy(&x, m, bytes);
  x.name[sizeof x.name - 1] = '\0';
  const uint32_t there = mps_client_show(s->client[i], &x, s->image);
  s->send(s->ctx, i, &there, sizeof there);
  return true;
}

static bool queue(struct mps_server *s, struct mps_work *w)
{
  struct mps_work **at = &s->first;
  if (!w) return false;
  w->sequence = ++s->sequence;
  w->client->n_work++;
  while (*at && !mps_work_before(w, *at)) at = &(*at)->next;
  w->next = *at;
  *at = w;
  return true;
}

static bool hear_thread(struct mps_server *s, unsigned i, const void *m, size_t bytes)
{
  uint64_t answer = 0;
  if (!mps_client_thread(s->client[i], m, bytes, &answer)) return false;
  s->send(s->ctx, i, &answer, sizeof answer);
  return true;
}

/* What has changed of its managed memory; `fault`: of what it has said, else nothing. */
static void tell_managed(struct mps_server *s, unsigned i, struct mps_look look, const struct uvm_host_fault *fault)
{
  const struct uvm_gpu *g = &s->managed->space.gpu[0];
  struct mps_managed h = {.fault = *fault, .room = g->room, .stats = s->client[i]->managed};
  struct mps_block *block = NULL;
  uint32_t n = 0, room = 0;
  for (struct mps_block b; mps_managed_next(s->client[i], s->managed, &look, &b);) {
    block = mem_more(block, n, &room, sizeof *block);
    block[n++] = b;
  }
  h.n_blocks = n;
  s->send(s->ctx, i, &h, sizeof h);
  s->send(s->ctx, i, block, n * sizeof *block);
  mem_free(block);
}

/* Whose part of the addresses it is. */
static struct uvm_stats *owner_of(void *ctx, uint64_t addr)
{
  struct mps_server *s = ctx;
  for (unsigned i = 0; i < MPS_PROCESSES; i++)
    if (s->client[i] && s->client[i]->image && mps_client_owns(s->client[i], addr, 1)) return &s->client[i]->managed;
  return NULL;
}

static void manage(struct mps_server *s)
{
  s->managed = simulator_manage(s->simulator);
  if (!s->managed) return;
  s->managed->space.owner = owner_of;
  s->managed->space.owner_ctx = s;
}

static bool hear_managed(struct mps_server *s, unsigned i, const void *m, size_t bytes)
{
  struct uvm_host_fault f = {0};
  struct uvm_op o;
  if (bytes != sizeof o) return false;
  memcpy(&o, m, bytes);
  if (!s->managed) manage(s);
  if (!mps_managed_act(s->client[i], s->managed, &o, &f)) return false;
  tell_managed(s, i, mps_managed_behind(s->client[i], &o), &f);
  return true;
}

static bool hear_run(struct mps_client *c, const void *m, size_t bytes)
{
  if (bytes != sizeof c->until || c->asks) return false;
  memcpy(&c->until, m, bytes);
  c->pressed = false;
  return c->asks = true;
}

bool mps_server_hear(struct mps_server *s, unsigned i, const struct mps_head *h, const void *m)
{
  struct mps_client *c = s->client[i];
  if (h->kind == MPS_JOIN) return hear_join(c, m, h->bytes);
  if (!c->in) return false;
  switch (h->kind) {
  case MPS_MEMORY: return mps_client_memory(c, m, h->bytes);
  case MPS_ALLOCATED: return mps_client_allocated(c, m, h->bytes, s->image);
  case MPS_RELEASED: return mps_client_released(c, m, h->bytes, s->image);
  case MPS_SHOWN: return hear_shown(s, i, m, h->bytes);
  case MPS_PLACED: return mps_client_placed(c, s->simulator, m, h->bytes);
  case MPS_CODE: return mps_client_code(c, m, h->bytes);
  case MPS_OPEN: return queue(s, mps_client_launch(c, m, h->bytes, &s->params));
  case MPS_COPY: return queue(s, mps_client_copy(c, i, m, h->bytes));
  case MPS_PREFETCH: return queue(s, mps_client_prefetch(c, m, h->bytes));
  case MPS_MANAGED: return hear_managed(s, i, m, h->bytes);
  case MPS_RUN: return hear_run(c, m, h->bytes);
  case MPS_PAUSE: return c->pressed = true;
  case MPS_THREAD: return hear_thread(s, i, m, h->bytes);
  case MPS_REPLY: return mps_client_reply(c, m, h->bytes);
  default: return false;
  }
}

/* --- letting in --------------------------------------------------------------------------------- */

static bool slot_in_use(const struct mps_server *s, unsigned slot)
{
  for (unsigned i = 0; i < MPS_PROCESSES; i++)
    if (s->client[i] && s->client[i]->in && s->client[i]->slot == slot) return true;
  return false;
}

/* The SMs that fewest clients with a part of the GPU have, the first of them: a part is not reserved, but two halves
 * need not meet (docs/sharing.md). */
static struct core_set some_sms(const struct mps_server *s, unsigned n)
{
  struct core_set out = {{0}};
  for (unsigned load = 0; n; load++) {
    for (unsigned sm = 0; n && sm < s->params.gpu_sms; sm++) {
      unsigned have = 0;
      for (unsigned i = 0; i < MPS_PROCESSES; i++)
        have += s->client[i] && s->client[i]->in && s->client[i]->join.sms && core_set_has(&s->client[i]->sms, sm);
      if (have == load) core_set_add(&out, sm), n--;
    }
  }
  return out;
}

static void let_in(struct mps_server *s, unsigned i)
{
  struct mps_client *c = s->client[i];
  struct mps_welcome w = {.status = MPS_JOINED};
  while (w.slot < MPS_CLIENTS && slot_in_use(s, w.slot)) w.slot++;
  if (c->join.build != mps_build()) w.status = MPS_OTHER_BUILD;
  else if (atomic_load(&s->page->fault)) w.status = MPS_NOT_READY;
  else if (w.slot == MPS_CLIENTS) w.status = MPS_TOO_MANY;
  c->joins = false;
  if (w.status == MPS_JOINED) {
    if (c->join.sms > s->params.gpu_sms) c->join.sms = s->params.gpu_sms;
    if (c->join.sms) w.sms = c->sms = some_sms(s, c->join.sms);
    c->in = true;
    c->slot = w.slot;
    w.number = s->n_let_in++;
    atomic_store(&s->page->process[w.slot], (uint32_t)c->process);
  }
  s->send(s->ctx, i, &w, sizeof w);
}

/* The process with the lowest number. */
static bool let_one_in(struct mps_server *s)
{
  unsigned first = MPS_PROCESSES;
  for (unsigned i = 0; i < MPS_PROCESSES; i++) {
    if (!s->client[i] || !s->client[i]->joins) continue;
    if (first == MPS_PROCESSES || s->client[i]->process < s->client[first]->process) first = i;
  }
  if (first < MPS_PROCESSES) let_in(s, first);
  return first < MPS_PROCESSES;
}

/* --- time passes -------------------------------------------------------------------------------- */

static bool window(void *ctx, uint64_t now)
{
  enum { WINDOWS_BETWEEN = 64 };
  struct mps_server *s = ctx;
  (void)now;
  return !s->pause && (++s->sequence % WINDOWS_BETWEEN || !s->ears.input(s->ctx));
}

/* While work is there, code may have pointers into pages that are released meanwhile. */
static void keep_pages(struct mps_server *s)
{
  const bool keep = live_count(s->simulator);
  for (unsigned i = 0; i < MPS_PROCESSES; i++)
    if (s->client[i] && s->client[i]->image) gmem_keep_pages(s->client[i]->image, keep);
}

/* It could not be built here, as it could there. */
static void refuse(struct mps_server *s, struct mps_work *w, const struct err *e)
{
  struct live_end x = {.who = w, .start_ps = s->now, .end_ps = s->now,
                       .result = {.end = RUN_FAULT, .timed = true, .fault = {.kind = FAULT_UNSUPPORTED}}};
  snprintf(x.result.fault.text, sizeof x.result.fault.text, "%.*s", (int)sizeof x.result.fault.text - 1, e->msg);
  mps_client_ended(w, &x, NULL);
}

static void begin_work(struct mps_server *s)
{
  struct err e = {""};
  while (s->first && !live_full(s->simulator)) {
    struct mps_work *w = s->first;
    s->first = w->next;
    if (w->prefetch.bytes) {
      live_prefetch(s->simulator, &w->prefetch, s->image, &s->options);
      continue;
    }
    if (!w->launch) {
      live_copy(s->simulator, &w->copy, s->image, &s->options);
      continue;
    }
    struct live_launch l = mps_work_launch(w, s->image);
    l.beside |= clients(s) > 1; /* shared memory is left for those of others */
    if (!live_open(s->simulator, &l, &s->options, &e)) refuse(s, w, &e);
  }
  keep_pages(s);
}

/* A fault of one ends all: each is told so, but not whose it was. */
static void spread(struct mps_server *s, const struct mps_work *w, const struct fault *f)
{
  uint32_t none = FAULT_NONE;
  if (f->kind == FAULT_NONE || w->client->gone) return;
  atomic_compare_exchange_strong(&s->page->fault, &none, f->kind);
}

static void take_ended(struct mps_server *s)
{
  struct live_end x;
  while (live_take(s->simulator, &x)) {
    struct mps_work *w = x.who;
    if (x.end_ps > s->now) s->now = x.end_ps;
    if (!x.copy && x.result.end == RUN_FAULT) spread(s, w, &x.result.fault);
    struct sm_stay_list stays = {0};
    if (s->stays && !x.copy) sm_stays_take(s->stays, func_source(mps_work_launch(w, s->image).launch->func), &stays);
    x.stays = &stays;
    mps_client_ended(w, &x, s->options.usage);
  }
  for (unsigned i = 0; i < MPS_PROCESSES; i++)
    if (s->client[i] && s->client[i]->gone && !s->client[i]->n_work) free_client(s, i);
  keep_pages(s);
}

static bool has_news(const struct mps_client *c)
{
  return c->n_ends || c->pressed;
}

static bool any_news(const struct mps_server *s)
{
  for (unsigned i = 0; i < MPS_PROCESSES; i++)
    if (s->client[i] && s->client[i]->asks && has_news(s->client[i])) return true;
  return false;
}

static uint64_t earliest(const struct mps_server *s)
{
  uint64_t until = UINT64_MAX;
  for (unsigned i = 0; i < MPS_PROCESSES; i++)
    if (s->client[i] && s->client[i]->asks) until = earlier(until, s->client[i]->until);
  return until;
}

static void run(struct mps_server *s, uint64_t until)
{
  s->pause = false;
  live_on_window(s->simulator, window, s);
  const enum live_stop stop = live_busy(s->simulator) ? live_run(s->simulator, until) : LIVE_REACHED;
  if (stop == LIVE_REACHED && until != UINT64_MAX) s->now = later(s->now, until);
  s->now = later(s->now, live_now(s->simulator));
  if (stop == LIVE_ENDED) take_ended(s);
}

static void answer(struct mps_server *s, unsigned i)
{
  struct mps_client *c = s->client[i];
  struct mps_answer a = {.stop = c->n_ends ? LIVE_ENDED : c->until <= s->now ? LIVE_REACHED : LIVE_ASKED,
                         .now = s->now, .ctas_done = live_ctas_done(s->simulator), .n_ends = c->n_ends,
                         .heap = c->heap && func_heap_asked(c->heap) ? c->heap_at : 0, .managed = c->n_ranges != 0};
  const struct uvm_host_fault none = {0};
  const char *text = mps_client_printed(c, &a.print_bytes);
  c->asks = c->pressed = false;
  s->send(s->ctx, i, &a, sizeof a);
  for (uint32_t k = 0; k < c->n_ends; k++) {
    const struct mps_ended *e = &c->ends[k];
    s->send(s->ctx, i, &e->end, sizeof e->end);
    s->send(s->ctx, i, e->counted, mps_counted_bytes(&e->end));
    s->send(s->ctx, i, e->stays.stay, e->end.n_stays * sizeof *e->stays.stay);
    s->send(s->ctx, i, e->stays.state, e->end.n_states * sizeof *e->stays.state);
  }
  s->send(s->ctx, i, text, a.print_bytes);
  if (a.managed) tell_managed(s, i, mps_managed_all(c), &none);
  mps_client_told(c);
  mps_client_print_over(c);
}

bool mps_server_free(const struct mps_server *s, unsigned client)
{
  return !s->client[client];
}

bool mps_server_joins(const struct mps_server *s)
{
  for (unsigned i = 0; i < MPS_PROCESSES; i++)
    if (s->client[i] && s->client[i]->joins) return true;
  return false;
}

void mps_server_hurry(struct mps_server *s)
{
  for (unsigned i = 0; i < MPS_PROCESSES; i++)
    if (mps_server_pressed(s, i)) answer(s, i);
}

void mps_server_step(struct mps_server *s)
{
  if (let_one_in(s)) return;
  begin_work(s);
  const uint64_t until = earliest(s);
  if (!any_news(s)) run(s, until);
  atomic_store(&s->page->time, s->now);
  for (unsigned i = 0; i < MPS_PROCESSES; i++)
    if (s->client[i] && s->client[i]->asks && (has_news(s->client[i]) || s->client[i]->until <= s->now)) answer(s, i);
}
