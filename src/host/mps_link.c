#include "host/mps_link.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "host/positions.h"
#include "host/usage.h"
#include "load/code_copy.h"
#include "time/gpu/gpu.h"
#include "time/gpu/occupancy.h"

enum { LOOK_MS = 1 };

/* What was given to the server and has not ended. */
struct mps_given {
  void *who;
  struct launch *launch; /* NULL: a copy */
};

/* Of an end: what its result's pointers show. */
struct mps_counted {
  struct mps_counted *next;
  struct gpu_inst_profile profile;
  void *count;
  uint64_t *mix; /* warp, then thread instructions */
  struct usage_point *point;
  uint64_t n_points;
};

struct mps_stays {
  struct mps_stays *next;
  struct sm_stay_list list;
};

struct mps_sent {
  const struct inst *inst;
  uint64_t place, n;
};

struct mps_link {
  int fd; /* -1: the server is gone */
  unsigned slot;
  struct mps_page *page;
  struct gmem_listener listener;
  FILE *const *print;
  struct mps_sent *sent; /* code, by id */
  uint32_t n_sent, room_sent;
  struct mps_given *work;
  uint32_t n_work, room_work, n_copies, ended_launches;
  struct live_end *ended;
  uint32_t n_ended, taken, room_ended;
  struct mps_counted *counted; /* of `ended` */
  struct mps_stays *stays;     /* likewise */
  uint64_t now, ctas_done, heap;
  struct uvm_machine *managed; /* what was told of it; NULL: nothing yet */
  const struct isa *isa;      /* of its launches */
  struct sim_options options; /* of the last launch: its poll */
};

static const struct positions nowhere;

/* --- the socket --------------------------------------------------------------------------------- */

static void lose(struct mps_link *k)
{
  if (k->fd < 0) return;
  close(k->fd);
  k->fd = -1;
  fputs("warpstep: --share mps: the server of the Multi-Process Service is gone\n", stderr);
}

static bool put(struct mps_link *k, const void *what, size_t bytes)
{
  for (const uint8_t *p = what; bytes && k->fd >= 0;) {
    const ssize_t n = send(k->fd, p, bytes, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) lose(k);
    else p += n, bytes -= (size_t)n;
  }
  return k->fd >= 0;
}

static bool get(struct mps_link *k, void *what, size_t bytes)
{
  for (uint8_t *p = what; bytes && k->fd >= 0;) {
    const ssize_t n = recv(k->fd, p, bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) lose(k);
    else p += n, bytes -= (size_t)n;
  }
  return k->fd >= 0;
}

static bool head(struct mps_link *k, enum mps_kind kind, uint64_t bytes)
{
  if (bytes > INT32_MAX) lose(k); /* code or textures of gigabytes: nothing has them */
  return put(k, &(struct mps_head){kind, (uint32_t)bytes}, sizeof(struct mps_head));
}

static bool say(struct mps_link *k, enum mps_kind kind, const void *what, size_t bytes)
{
  return head(k, kind, bytes) && put(k, what, bytes);
}

struct mps_link *mps_link_new(int fd, struct mps_page *page, const struct mps_join *j, struct mps_welcome *w)
{
  struct mps_link *k = mem_zeroed(1, sizeof *k);
  *k = (struct mps_link){.fd = fd, .page = page};
  w->status = MPS_NOT_READY;
  if (say(k, MPS_JOIN, j, sizeof *j) && get(k, w, sizeof *w) && w->status == MPS_JOINED && w->slot < MPS_CLIENTS) {
    k->slot = w->slot;
    return k;
  }
  if (k->fd >= 0) close(k->fd);
  mem_free(k);
  return NULL;
}

/* --- memory ------------------------------------------------------------------------------------- */

static void allocated(void *ctx, uint64_t addr, uint64_t bytes, const char *name)
{
  struct mps_allocated a = {.addr = addr, .bytes = bytes};
  snprintf(a.name, sizeof a.name, "%s", name);
  say(ctx, MPS_ALLOCATED, &a, sizeof a);
}

static void released(void *ctx, uint64_t addr)
{
  say(ctx, MPS_RELEASED, &addr, sizeof addr);
}

bool mps_link_memory(struct mps_link *k, struct gmem *g)
{
  if (!gmem_back(g)) return false;
  const struct mps_memory m = {gmem_share_file(g), gmem_page_bits(g)};
  k->listener = (struct gmem_listener){k, allocated, released};
  gmem_listen(g, &k->listener);
  return say(k, MPS_MEMORY, &m, sizeof m);
}

bool mps_link_show(struct mps_link *k, uint64_t addr, uint64_t bytes, int file, uint64_t offset, const char *name)
{
  struct mps_shown m = {.addr = addr, .bytes = bytes, .offset = offset, .file = file};
  uint32_t there = 0;
  snprintf(m.name, sizeof m.name, "%s", name);
  return say(k, MPS_SHOWN, &m, sizeof m) && get(k, &there, sizeof there) && there;
}

static void place_there(void *k, uint64_t addr, uint64_t bytes, bool at_host)
{
  say(k, MPS_PLACED, &(struct mps_placed){addr, bytes, at_host}, sizeof(struct mps_placed));
}

/* --- managed memory ----------------------------------------------------------------------------- */

static void place_nowhere(void *ctx, unsigned gpu, uint64_t addr, uint64_t bytes, int node)
{
  (void)ctx, (void)gpu, (void)addr, (void)bytes, (void)node; /* the GPU is the server's */
}

static struct uvm_machine *manage_there(void *link, const struct params *p)
{
  enum { SOCKET = 1 };
  struct mps_link *k = link;
  const struct uvm_config c = {.params = p, .socket = SOCKET};
  if (k->managed) return k->managed;
  k->managed = uvm_machine_new(&c, 1, p->uvm_ats);
  k->managed->space.place = place_nowhere;
  k->managed->space.allow = NULL;
  return k->managed;
}

/* Pages that have come to the GPU leave the program's mapping. */
static void take_block(struct mps_link *k, const struct mps_block *x)
{
  const struct uvm_range *r = uvm_space_range(&k->managed->space, x->addr);
  unsigned n_pages;
  uint64_t base;
  if (!r) return;
  struct uvm_block *b = uvm_range_block(r, x->addr, &n_pages, &base);
  struct page_set come = x->there;
  page_set_remove(&come, &b->gpu[0].there);
  b->host = x->host;
  b->gpu[0].there = x->there;
  for (unsigned first = 0, n; k->managed->moved && (n = page_set_run(&come, &first)) != 0; first += n)
    k->managed->moved(k->managed->ctx, base + ((uint64_t)first << UVM_PAGE_BITS), (uint64_t)n << UVM_PAGE_BITS);
}

static bool take_managed(struct mps_link *k, struct uvm_host_fault *f)
{
  struct mps_managed h;
  struct mps_block b;
  if (!get(k, &h, sizeof h)) return false;
  struct uvm_gpu *g = &k->managed->space.gpu[0];
  *f = h.fault;
  g->stats = h.stats;
  g->room = h.room;
  for (uint64_t i = 0; i < h.n_blocks; i++) {
    if (!get(k, &b, sizeof b)) return false;
    take_block(k, &b);
  }
  return true;
}

static struct uvm_host_fault act_there(void *link, const struct uvm_op *o)
{
  struct mps_link *k = link;
  struct uvm_host_fault f = {0};
  if (o->kind == UVM_OP_ADD || o->kind == UVM_OP_REMOVE) uvm_machine_do(k->managed, o);
  if (!say(k, MPS_MANAGED, o, sizeof *o) || !take_managed(k, &f)) return (struct uvm_host_fault){0};
  return f;
}

void mps_link_print(struct mps_link *k, FILE *const *f)
{
  k->print = f;
}

void mps_link_forget(struct mps_link *k)
{
  for (uint32_t i = 0; i < k->n_sent; i++) k->sent[i].inst = NULL; /* numbers are not given out again */
}

uint64_t mps_link_heap(const struct mps_link *k)
{
  return k->heap;
}

uint64_t mps_link_passed(const struct mps_link *k)
{
  const uint64_t time = atomic_load(&k->page->time);
  return time > k->now ? time : 0;
}

bool mps_link_take(struct mps_link *k, uint64_t bytes, uint64_t all)
{
  uint64_t taken = atomic_load(&k->page->taken);
  do
    if (taken > all || bytes > all - taken) return false;
  while (!atomic_compare_exchange_weak(&k->page->taken, &taken, taken + bytes));
  atomic_fetch_add(&k->page->of_client[k->slot], bytes);
  return true;
}

void mps_link_give(struct mps_link *k, uint64_t bytes)
{
  atomic_fetch_sub(&k->page->taken, bytes);
  atomic_fetch_sub(&k->page->of_client[k->slot], bytes);
}

bool mps_link_lost(const struct mps_link *k)
{
  return k->fd < 0;
}

unsigned mps_link_client(const struct mps_link *k, unsigned slot, uint64_t *bytes)
{
  *bytes = atomic_load(&k->page->of_client[slot]);
  return atomic_load(&k->page->process[slot]);
}

uint64_t mps_link_taken(const struct mps_link *k)
{
  return atomic_load(&k->page->taken);
}

unsigned mps_link_fault(const struct mps_link *k)
{
  return atomic_load(&k->page->fault);
}

/* --- work --------------------------------------------------------------------------------------- */

static void add_work(struct mps_link *k, void *who, struct launch *l)
{
  k->work = mem_more(k->work, k->n_work, &k->room_work, sizeof *k->work);
  k->work[k->n_work++] = (struct mps_given){who, l};
  k->n_copies += !l;
}

/* False: no such work. */
static bool drop_work(struct mps_link *k, const void *who, struct mps_given *was)
{
  uint32_t i = 0;
  while (i < k->n_work && k->work[i].who != who) i++;
  if (i == k->n_work) return false;
  *was = k->work[i];
  k->n_copies -= !was->launch;
  k->work[i] = k->work[--k->n_work];
  return true;
}

static void add_end(struct mps_link *k, const struct live_end *x)
{
  k->ended = mem_more(k->ended, k->n_ended, &k->room_ended, sizeof *k->ended);
  k->ended[k->n_ended++] = *x;
  k->ended_launches += !x->copy;
}

/* Nothing comes from the server any more. */
static void end_all(struct mps_link *k, enum run_end how)
{
  while (k->n_work) {
    const struct mps_given w = k->work[--k->n_work];
    add_end(k, &(struct live_end){.who = w.who, .copy = !w.launch, .start_ps = k->now, .end_ps = k->now,
                                  .result = {.end = how, .timed = true, .together = 2,
                                             .isa = k->isa, .where = &nowhere, .limiter = ""}});
  }
  k->n_copies = 0;
}

static void send_code(struct mps_link *k, const struct code_view *c, uint64_t id)
{
  const size_t bytes = code_copy_bytes(c);
  uint8_t *copy = mem_alloc(bytes);
  code_copy_put(c, copy);
  if (head(k, MPS_CODE, sizeof id + bytes)) (void)(put(k, &id, sizeof id) && put(k, copy, bytes));
  mem_free(copy);
}

static uint64_t code_id(struct mps_link *k, const struct code_view *c)
{
  const uint64_t n = code_count(c);
  for (uint32_t i = 0; i < k->n_sent; i++)
    if (k->sent[i].inst == c->inst && k->sent[i].place == c->place && k->sent[i].n == n) return i;
  k->sent = mem_more(k->sent, k->n_sent, &k->room_sent, sizeof *k->sent);
  k->sent[k->n_sent] = (struct mps_sent){c->inst, c->place, n};
  send_code(k, c, k->n_sent);
  return k->n_sent++;
}

/* As simulator_open would say. */
static bool fits(const struct params *p, const struct launch *l, struct err *e)
{
  struct occupancy o;
  TRY(occupancy_of(p, func_source(l->func), &o, e));
  return !l->grid_barrier || simulate_fits_at_once(p, l, e);
}

static void send_launch(struct mps_link *k, const struct live_launch *l)
{
  const struct func_params *p = &l->launch->params;
  const struct step_source *s = func_source(l->launch->func);
  const size_t name = strlen(p->kernel_name) + 1, texture = sizeof *p->textures->object;
  uint64_t bytes = sizeof(struct mps_open) + name;
  struct func_heap_block heap = {0}; /* here nothing takes of it: it is one block */
  if (p->heap) func_heap_save(p->heap, &heap, 1);
  struct mps_open m = {.p = *p, .code = code_id(k, &p->code), .heap = heap.addr, .heap_bytes = heap.bytes,
                       .window = s->window, .start_ps = l->start_ps, .who = (uintptr_t)l->who,
                       .n_textures = p->textures ? p->textures->n : 0, .name_bytes = (uint32_t)name,
                       .priority = l->priority, .shared_share = s->shared_share, .some_cores = s->cores,
                       .gang = l->launch->grid_barrier != 0, .beside = l->beside,
                       .prepared = l->prepared};
  if (s->cores) m.cores = *s->cores;
  bytes += m.n_textures * texture;
  for (unsigned i = 0; i < 8; i++) bytes += p->bank[i] ? p->bank_bytes[i] : 0;
  if (!head(k, MPS_OPEN, bytes) || !put(k, &m, sizeof m)) return;
  for (unsigned i = 0; i < 8; i++)
    if (p->bank[i]) put(k, p->bank[i], p->bank_bytes[i]);
  put(k, p->kernel_name, name);
  if (m.n_textures) put(k, p->textures->object, m.n_textures * texture);
}

static bool open_there(void *link, const struct params *p, const struct live_launch *l, const struct sim_options *o,
                       struct err *e)
{
  struct mps_link *k = link;
  TRY(fits(p, l->launch, e));
  k->options = *o;
  k->isa = l->launch->params.code.isa;
  send_launch(k, l);
  add_work(k, l->who, l->launch);
  return true;
}

static void copy_there(void *link, const struct live_copy *c)
{
  struct mps_link *k = link;
  say(k, MPS_COPY, c, sizeof *c);
  add_work(k, c->who, NULL);
}

static void prefetch_there(void *link, const struct live_prefetch *p)
{
  struct mps_link *k = link;
  say(k, MPS_PREFETCH, p, sizeof *p);
  add_work(k, p->who, NULL);
}

static void forget_ended(struct mps_link *k)
{
  k->n_ended = k->taken = 0;
  for (struct mps_stays *x; (x = k->stays);) {
    k->stays = x->next;
    sm_stay_list_free(&x->list);
    mem_free(x);
  }
  for (struct mps_counted *c; (c = k->counted);) {
    k->counted = c->next;
    mem_free(c->count);
    mem_free(c->mix);
    mem_free(c->point);
    gpu_profile_free(&c->profile);
    mem_free(c);
  }
}

/* What the launch counted comes behind its end; both ends are of one build. */
static bool take_counted(struct mps_link *k, const struct mps_end *x)
{
  BUG_ON(x->count_bytes != gpu_count_bytes() || x->book_bytes != gpu_books_size(x->n_insts));
  struct mps_counted *c = mem_zeroed(1, sizeof *c);
  uint64_t *books = mem_alloc(x->book_bytes);
  c->count = mem_alloc(x->count_bytes);
  c->point = mem_alloc(x->n_points * sizeof *c->point + 1);
  c->n_points = x->n_points;
  c->profile = gpu_profile_of(books, x->n_insts);
  c->next = k->counted;
  k->counted = c;
  return get(k, c->count, x->count_bytes) && get(k, books, x->book_bytes) &&
         get(k, c->point, x->n_points * sizeof *c->point);
}

/* What SMs say of a launch comes behind that. */
static bool take_stays(struct mps_link *k, struct mps_end *x)
{
  if (!x->n_stays && !x->lost) return true;
  struct mps_stays *s = mem_zeroed(1, sizeof *s);
  struct sm_stay_list *l = &s->list;
  uint64_t states = 0;
  *s = (struct mps_stays){.next = k->stays, .list = {.lost = x->lost}};
  k->stays = s;
  l->stay = mem_alloc(x->n_stays * sizeof *l->stay + 1);
  l->state = mem_alloc(x->n_states * sizeof *l->state + 1);
  if (!get(k, l->stay, x->n_stays * sizeof *l->stay) || !get(k, l->state, x->n_states * sizeof *l->state)) return false;
  for (uint32_t i = 0; i < x->n_stays; i++) states += l->stay[i].n_states;
  BUG_ON(states != x->n_states);
  l->n_stays = x->n_stays;
  l->n_states = x->n_states;
  x->end.stays = l;
  return true;
}

/* The result shows it. Instructions are named by the launch's own code. */
static void show_counted(struct mps_link *k, struct mps_counted *c, const struct code_view *code, struct sim_result *r)
{
  const size_t n = k->isa->n_mnemonics();
  c->mix = mem_zeroed(2 * n, sizeof *c->mix);
  for (uint64_t i = 0; i < c->profile.n_insts && i < code_count(code); i++) {
    c->mix[code->inst[i].mnemonic] += c->profile.issued[i];
    c->mix[n + code->inst[i].mnemonic] += c->profile.threads[i];
  }
  r->n_groups = gpu_count_groups(c->count, r->group);
  r->profile = &c->profile;
  r->mix = c->mix;
  r->thread_mix = c->mix + n;
}

static bool take_ends(struct mps_link *k, uint32_t n)
{
  struct mps_end x;
  struct mps_given was;
  for (; n; n--) {
    if (!get(k, &x, sizeof x) || (x.count_bytes && !take_counted(k, &x)) || !take_stays(k, &x)) return false;
    x.limiter[sizeof x.limiter - 1] = '\0';
    x.end.result.isa = k->isa;
    x.end.result.where = &nowhere;
    x.end.result.limiter = "";
    static const char *const known[] = {"warps", "CTA slots", "registers", "shared memory", "grid"};
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
      if (strcmp(known[i], x.limiter) == 0) x.end.result.limiter = known[i];
    if (!drop_work(k, x.end.who, &was)) continue;
    if (x.count_bytes) show_counted(k, k->counted, &was.launch->params.code, &x.end.result);
    add_end(k, &x.end);
  }
  return true;
}

static bool take_print(struct mps_link *k, uint32_t n)
{
  char text[4096];
  for (uint32_t part; n; n -= part) {
    part = n < sizeof text ? n : (uint32_t)sizeof text;
    if (!get(k, text, part)) return false;
    if (k->print && *k->print) fwrite(text, 1, part, *k->print);
  }
  return true;
}

/* --- questions ---------------------------------------------------------------------------------- */

static uint64_t ask_thread(struct mps_link *k, struct mps_thread_op o, const void *bytes)
{
  uint64_t out = 0;
  const bool said = head(k, MPS_THREAD, sizeof o + o.bytes) && put(k, &o, sizeof o) && put(k, bytes, o.bytes);
  return said && get(k, &out, sizeof out) ? out : 0;
}

static bool write_there(void *link, uint64_t addr, const void *from, size_t bytes)
{
  BUG_ON(bytes > MPS_THREAD_BYTES);
  return ask_thread(link, (struct mps_thread_op){MPS_THREAD_WRITE, (uint32_t)bytes, addr}, from);
}

static uint64_t take_heap_there(void *link, uint64_t bytes)
{
  return ask_thread(link, (struct mps_thread_op){.kind = MPS_THREAD_TAKE, .value = bytes}, NULL);
}

static bool give_heap_there(void *link, uint64_t addr)
{
  return ask_thread(link, (struct mps_thread_op){.kind = MPS_THREAD_GIVE, .value = addr}, NULL);
}

/* NULL: it was cut off, and calls all the same. */
static const struct device_runtime *runtime_of(const struct mps_link *k, uint64_t who)
{
  for (uint32_t i = 0; i < k->n_work; i++)
    if ((uintptr_t)k->work[i].who == who && k->work[i].launch) return k->work[i].launch->params.runtime;
  return NULL;
}

/* As if the kernel ran here: the GPU stands, and nobody else of the program is in the simulator. */
static bool take_question(struct mps_link *k, bool (*window)(void *, uint64_t), void *ctx)
{
  const struct device_thread there = {k, write_there, take_heap_there, give_heap_there};
  struct mps_question q;
  if (!get(k, &q, sizeof q)) return false;
  const struct device_runtime *r = runtime_of(k, q.who);
  struct mps_reply reply = {.result = device_call_unanswered(q.call.number), .last_error = q.last_error};
  q.call.last_error = &reply.last_error;
  q.call.heap = NULL, q.call.guest = NULL;
  q.call.thread = &there;
  if (r) reply.result = r->call(r->ctx, &q.call);
  reply.pause = window && !window(ctx, k->now);
  return say(k, MPS_REPLY, &reply, sizeof reply);
}

/* --- time passes -------------------------------------------------------------------------------- */

/* Meanwhile others of the program may want to call, or to end it. */
static enum run_end await(struct mps_link *k, bool (*window)(void *, uint64_t), void *ctx)
{
  static const struct run_progress nothing;
  struct pollfd p = {.fd = k->fd, .events = POLLIN};
  bool paused = false;
  for (;;) {
    const int n = poll(&p, 1, LOOK_MS);
    if (n > 0 || (n < 0 && errno != EINTR)) return RUN_DONE;
    if (k->options.poll && !k->options.poll(k->options.ctx, &nothing)) return RUN_STOPPED;
    if (!paused && window && !window(ctx, k->now)) paused = say(k, MPS_PAUSE, NULL, 0);
  }
}

static int run_there(void *link, uint64_t until, bool (*window)(void *, uint64_t), void *ctx)
{
  struct mps_link *k = link;
  struct mps_answer a = {0};
  BUG_ON(k->n_ended != k->taken);
  forget_ended(k);
  if (!k->n_work) return LIVE_REACHED;
  bool ok = say(k, MPS_RUN, &until, sizeof until);
  do {
    if (ok && await(k, window, ctx) == RUN_STOPPED) {
      end_all(k, RUN_STOPPED);
      return LIVE_ENDED;
    }
    ok = ok && get(k, &a, sizeof a) && (a.stop != MPS_QUESTION || take_question(k, window, ctx));
  } while (ok && a.stop == MPS_QUESTION);
  struct uvm_host_fault none;
  if (!ok || !take_ends(k, a.n_ends) || !take_print(k, a.print_bytes) || (a.managed && !take_managed(k, &none))) {
    end_all(k, RUN_FAULT);
    return LIVE_ENDED;
  }
  k->now = later(a.now, k->now);
  k->ctas_done = a.ctas_done;
  k->heap = a.heap;
  return k->n_ended ? LIVE_ENDED : a.stop == LIVE_REACHED ? LIVE_REACHED : LIVE_ASKED;
}

/* The client's own series is that of the launch which it takes. */
static void show_usage(const struct mps_link *k, const struct sim_result *r)
{
  struct usage *u = k->options.usage;
  const struct mps_counted *c = k->counted;
  while (c && &c->profile != r->profile) c = c->next;
  if (!c || !u) return;
  usage_start(u, 1);
  for (uint64_t i = 1; i < c->n_points; i++) usage_add(u, c->point[i].at, c->point[i].amount, i + 1 == c->n_points);
}

static bool take_there(void *link, struct live_end *end)
{
  struct mps_link *k = link;
  if (k->taken == k->n_ended) return false;
  *end = k->ended[k->taken++];
  k->ended_launches -= !end->copy;
  if (!end->copy) show_usage(k, &end->result);
  return true;
}

static void cut_there(void *link)
{
  struct mps_link *k = link;
  forget_ended(k);
  end_all(k, RUN_STOPPED);
}

static unsigned count_there(const void *link)
{
  const struct mps_link *k = link;
  return k->n_work - k->n_copies + k->ended_launches;
}

static unsigned copies_there(const void *link)
{
  const struct mps_link *k = link;
  return k->n_copies;
}

static bool is_busy_there(const void *link)
{
  const struct mps_link *k = link;
  return k->n_work || k->n_ended > k->taken;
}

static uint64_t now_there(const void *link)
{
  const struct mps_link *k = link;
  return k->n_work ? k->now : 0;
}

static uint64_t ctas_there(const void *link)
{
  const struct mps_link *k = link;
  return k->ctas_done;
}

const struct gpu_server mps_link_server = {
    .open = open_there, .copy = copy_there, .prefetch = prefetch_there, .manage = manage_there, .act = act_there,
    .run = run_there, .take = take_there, .cut = cut_there,
    .count = count_there, .copies = copies_there, .busy = is_busy_there, .now = now_there, .ctas_done = ctas_there,
    .place = place_there,
};
