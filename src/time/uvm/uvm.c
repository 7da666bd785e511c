#include "time/uvm/uvm.h"

#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "time/dma/dma.h"
#include "time/uvm/density_tree.h"
#include "time/uvm/uvm_machine.h"

#define NO_TICKET UINT64_MAX /* of a job that nobody waits for */
enum { PAGE = 1 << UVM_PAGE_BITS, BLOCK = 1 << UVM_BLOCK_BITS, PS_PER_NS = 1000 };
enum { PEER_ENGINE = 3 }; /* of copies to other GPUs (LIVE_TO_PEER of host/live_gpu.h) */

/* --- life --------------------------------------------------------------------------------------- */

void uvm_init(struct uvm *u, struct uvm_machine *m, unsigned gpu, const struct uvm_config *cfg)
{
  *u = (struct uvm){.machine = m, .gpu = gpu, .params = cfg->params, .cfg = *cfg, .at = TIME_NEVER};
  u->buffer.places = cfg->places;
  u->buffer.at_once = m->space.n_gpus == 1;
}

void uvm_free(struct uvm *u)
{
  fault_buffer_free(&u->buffer);
  mem_free(u->work);
  mem_free(u->job);
}

static struct uvm_space *space_of(const struct uvm *u)
{
  return &u->machine->space;
}

static struct uvm_gpu *books(const struct uvm *u)
{
  return &space_of(u)->gpu[u->gpu];
}

static struct uvm_range *range_of(const struct uvm *u, uint64_t base)
{
  return uvm_space_range(space_of(u), base);
}

static void finish_eviction(struct uvm *, picos now);
static void release(struct uvm *, uint64_t base, picos now, picos kept);
static void give_up(struct uvm *);
static void release_batch(struct uvm *, picos now);

void uvm_connect(struct uvm *u, struct dma *d, picos *wake)
{
  if (u->state == UVM_EVICTS) finish_eviction(u, 0);
  if (u->current < u->n_work) give_up(u);
  release_batch(u, 0);
  u->dma = d;
  u->state = UVM_IDLE, u->at = TIME_NEVER;
  u->copies = u->since = 0;
  u->machine->mover[u->gpu] = (struct dma_mover){.wake = space_of(u)->n_gpus > 1 ? u->machine->next : wake};
  u->n_work = u->n_jobs = 0;
  u->job_runs = false;
  fault_buffer_connect(&u->buffer, wake);
}

bool uvm_busy(const struct uvm *u)
{
  return u->state != UVM_IDLE || u->n_jobs;
}

bool uvm_gpu_busy(const struct uvm *u)
{
  const bool driver = space_of(u)->n_gpus == 1 && uvm_busy(u);
  return driver || u->buffer.n_parked || fault_buffer_next(&u->buffer) != TIME_NEVER;
}

uint64_t uvm_progress(const struct uvm *u)
{
  return u->copies + books(u)->stats.batches;
}

static void goes_on(struct uvm *u, enum uvm_state state, picos at)
{
  u->state = state;
  u->at = at;
  uvm_machine_wake(u->machine, u->gpu, at);
}

/* --- the fault buffer --------------------------------------------------------------------------- */

static uint64_t address_of(const struct mem_req *r)
{
  return line_number(r->line) * LINE_BYTES;
}

void uvm_park(struct uvm *u, const struct mem_req *r, picos now)
{
  if (!fault_buffer_park(&u->buffer, r, now)) return;
  const picos heard = now + (picos)u->params->uvm_interrupt_ns * PS_PER_NS;
  if (u->state == UVM_IDLE || (u->state == UVM_FETCH && u->at > heard)) goes_on(u, UVM_FETCH, heard);
}

/* --- batches ------------------------------------------------------------------------------------ */

static int by_base(const void *a, const void *b)
{
  const struct uvm_work *x = a, *y = b;
  return (x->base > y->base) - (x->base < y->base);
}

static struct uvm_work *work_on(struct uvm *u, uint64_t base)
{
  for (uint32_t i = u->n_work; i-- > 0;)
    if (u->work[i].base == base) return &u->work[i];
  u->work = mem_more(u->work, u->n_work, &u->room_work, sizeof *u->work);
  u->work[u->n_work] = (struct uvm_work){.base = base};
  return &u->work[u->n_work++];
}

static void take_entry(struct uvm *u, const struct uvm_entry *e)
{
  const uint64_t addr = e->page * PAGE;
  if (!range_of(u, addr)) return; /* freed in the meantime: who asked will see */
  struct uvm_work *w = work_on(u, addr / BLOCK * BLOCK);
  const unsigned page = (unsigned)(e->page % UVM_BLOCK_PAGES);
  books(u)->stats.repeats += page_set_has(&w->faulted, page);
  page_set_add(&w->faulted, page);
  if (e->writes) page_set_add(&w->written, page);
}

static void begin_batch(struct uvm *u, picos now)
{
  const struct fault_buffer *b = &u->buffer;
  uint32_t n = 0;
  u->n_work = u->current = 0;
  while (n < b->n_entries && n < u->params->uvm_batch && b->entry[n].at <= now) take_entry(u, &b->entry[n++]);
  if (!n) { /* woken by something else, before the first of them */
    goes_on(u, UVM_FETCH, b->entry[0].at);
    return;
  }
  qsort(u->work, u->n_work, sizeof *u->work, by_base);
  books(u)->stats.batches++;
  books(u)->stats.faults += n;
  goes_on(u, UVM_BLOCK, now + (picos)n * u->params->uvm_fault_ns * PS_PER_NS);
}

/* --- prefetches --------------------------------------------------------------------------------- */

void uvm_prefetch(struct uvm *u, uint64_t addr, uint64_t bytes, enum uvm_way way, picos arrive, uint64_t ticket)
{
  u->job = mem_more(u->job, u->n_jobs, &u->room_jobs, sizeof *u->job);
  u->job[u->n_jobs++] = (struct uvm_job){.ticket = ticket, .addr = addr, .end = addr + bytes, .next = addr,
                                         .arrive = arrive, .way = way};
  if (u->state == UVM_IDLE) goes_on(u, UVM_FETCH, arrive);
}

void uvm_remote(struct uvm *u, const struct mem_req *r, picos now)
{
  const uint64_t addr = address_of(r);
  const struct uvm_range *range = space_of(u)->coherent ? range_of(u, addr) : NULL;
  unsigned n_pages;
  uint64_t base;
  uint32_t cursor = 0;
  struct page_set part = {{0}};
  if (!range) return;
  const struct uvm_block *b = uvm_range_block(range, addr, &n_pages, &base);
  const struct uvm_policy *p;
  while ((p = uvm_range_part(range, base, &cursor, &part)) && !page_set_has(&part, (unsigned)((addr - base) / PAGE)))
    continue;
  if (p->prefers == UVM_HOST || ++b->gpu[u->gpu].remote != u->params->uvm_counter_threshold) return;
  books(u)->stats.counted++;
  uvm_prefetch(u, base, (uint64_t)n_pages * PAGE, UVM_TO_GPU, now + (picos)u->params->uvm_interrupt_ns * PS_PER_NS,
               NO_TICKET);
}

static void end_job(struct uvm *u, picos now)
{
  const struct uvm_job_done d = {u->job->ticket, u->job->begin, now};
  if (u->job->ticket != NO_TICKET)
    uvm_machine_order(u->machine, u->gpu, &(struct fault_order){.kind = ORDER_DONE, .done = d});
  memmove(u->job, u->job + 1, --u->n_jobs * sizeof *u->job);
  u->job_runs = false;
}

/* The next block of the job is the work. */
static void next_of_job(struct uvm *u, picos now)
{
  struct uvm_job *j = u->job;
  if (j->next >= j->end) {
    end_job(u, now);
    goes_on(u, UVM_FETCH, now);
    return;
  }
  const uint64_t base = j->next / BLOCK * BLOCK, end = earlier(base + BLOCK, j->end);
  const unsigned first = (unsigned)((j->next - base) / PAGE), past = (unsigned)((end - base + PAGE - 1) / PAGE);
  u->n_work = u->current = 0;
  page_set_add_range(&work_on(u, base)->faulted, first, past - first);
  j->next = base + BLOCK;
  goes_on(u, UVM_BLOCK, now);
}

/* --- copies ------------------------------------------------------------------------------------- */

/* Of the GPU that has the pages, or gets them from the host; it is there from now on. */
static struct uvm *engine_of(const struct uvm *u, int from, int to)
{
  struct uvm_machine *m = u->machine;
  struct uvm *e = m->of[from == UVM_HOST ? to : from];
  if (!e->dma && m->wake) m->wake(m->wake_ctx, e->cfg.node);
  BUG_ON(!e->dma);
  return e;
}

static uint64_t *count_of(const struct uvm *u, int from, int to)
{
  struct uvm_gpu *g = space_of(u)->gpu;
  if (to == UVM_HOST) return &g[from].stats.to_host;
  return from == UVM_HOST ? &g[to].stats.to_gpu : &g[to].stats.from_peers;
}

/* Pages of a block go from a GPU or the host to another. */
static void post(struct uvm *u, uint64_t base, const struct page_set *s, int from, int to, picos arrive)
{
  if (page_set_empty(s)) return;
  const struct uvm *e = engine_of(u, from, to);
  const uint16_t socket = (uint16_t)range_of(u, base)->socket;
  const bool peer = from >= 0 && to >= 0;
  const struct uvm_link *l = peer ? &e->cfg.peer[to] : &e->cfg.link[to == UVM_HOST ? UVM_TO_HOST : UVM_TO_GPU];
  struct dma_copy c = {.ticket = u->gpu, .arrive = arrive + e->cfg.latency, .rows = 1, .setup = l->setup,
                       .window = l->window, .in_place = true, .dst_node = DMA_HERE, .src_node = DMA_HERE};
  if (from == UVM_HOST) c.src_node = socket;
  else c.dst_node = to == UVM_HOST ? socket : space_of(u)->gpu[to].node;
  c.engine = peer ? PEER_ENGINE : to == UVM_HOST ? UVM_TO_HOST : UVM_TO_GPU;
  for (unsigned first = 0, n; (n = page_set_run(s, &first)) != 0; first += n) {
    c.src = c.dst = base + (uint64_t)first * PAGE;
    c.bytes = (uint64_t)n * PAGE;
    dma_post(e->dma, &c);
    c.setup = 0;
    u->copies++;
  }
  *count_of(u, from, to) += uvm_bytes(s);
}

static bool waits_for_copies(const struct uvm *u)
{
  return (u->state == UVM_EVICTS || u->state == UVM_STAGES || u->state == UVM_MOVES) && u->at == TIME_NEVER;
}

/* To this state, when the copies that were posted since `before` of them were are done; at `at`, if there are none. */
static void wait_for_copies(struct uvm *u, enum uvm_state state, uint64_t before, picos at)
{
  goes_on(u, state, u->copies == before ? at : TIME_NEVER);
}

/* --- who works on a block ------------------------------------------------------------------------ */

static void hold(struct uvm *u, struct uvm_block *b)
{
  u->since = 0;
  b->held = (uint8_t)(u->gpu + 1);
}

static bool waits_for(const struct uvm *u, uint64_t base)
{
  return u->state == UVM_BLOCK && u->since && u->work[u->current].base == base;
}

/* When it may have the block, as far as is known; TIME_NEVER: when others have had it. Who has waited longest comes
 * first. */
static picos turn_of(const struct uvm *u, const struct uvm_block *b, uint64_t base, picos now)
{
  if (b->held) return b->held == u->gpu + 1 ? now : TIME_NEVER;
  if (b->kept > now && b->kept_by != u->gpu + 1 && !u->job_runs) return b->kept;
  for (unsigned k = 0; k < space_of(u)->n_gpus; k++) {
    const struct uvm *o = u->machine->of[k];
    if (o != u && waits_for(o, base) && o->since < (u->since ? u->since : now)) return TIME_NEVER;
  }
  return now;
}

/* Another driver has left the block for which it may wait. */
static void look_again(struct uvm *u, uint64_t base, picos now)
{
  if (waits_for(u, base)) goes_on(u, UVM_BLOCK, now);
}

/* Others may have it from `now` on, or from `kept`. */
static void release(struct uvm *u, uint64_t base, picos now, picos kept)
{
  const struct uvm_range *r = range_of(u, base);
  unsigned n;
  uint64_t at;
  struct uvm_block *b = r ? uvm_range_block(r, base, &n, &at) : NULL;
  if (!b || b->held != u->gpu + 1) return;
  b->held = 0;
  b->kept_by = kept ? (uint8_t)(u->gpu + 1) : 0;
  b->kept = kept;
  for (unsigned k = 0; k < space_of(u)->n_gpus; k++) look_again(u->machine->of[k], base, now);
}

bool uvm_is_at(const struct uvm *u, uint64_t base)
{
  if (u->state == UVM_IDLE || u->state == UVM_FETCH) return false;
  return (u->state == UVM_EVICTS && u->victim == base) || (u->current < u->n_work && u->work[u->current].base == base);
}

/* Pages that were on their way are where they were. */
static void give_up(struct uvm *u)
{
  const uint64_t base = u->work[u->current].base;
  const struct uvm_range *r = range_of(u, base);
  if (r && (u->state == UVM_STAGES || u->state == UVM_MOVES)) uvm_space_show(space_of(u), r, base, &u->pages);
}

/* The accesses that waited are tried again now. */
static void release_batch(struct uvm *u, picos now)
{
  const picos kept = now ? now + (picos)u->params->uvm_replay_ns * PS_PER_NS : 0;
  for (uint32_t i = 0; i < u->n_work; i++) release(u, u->work[i].base, now, kept);
}

static void next_block(struct uvm *u, picos now, picos at)
{
  const bool alone = space_of(u)->n_gpus == 1;
  if (u->job_runs || alone) release(u, u->work[u->current].base, now, 0); /* else a batch keeps what it has got */
  u->current++;
  goes_on(u, UVM_BLOCK, at);
}

/* --- room --------------------------------------------------------------------------------------- */

static void finish_eviction(struct uvm *u, picos now)
{
  const struct uvm_range *r = range_of(u, u->victim);
  unsigned n;
  uint64_t base;
  if (!r) return;
  struct uvm_share *o = &uvm_range_block(r, u->victim, &n, &base)->gpu[u->gpu];
  const struct page_set gone = o->there;
  uvm_space_leave(space_of(u), r, base, u->gpu, &gone);
  page_set_join(&o->left, &gone);
  release(u, base, now, 0);
}

/* False: nothing can make room. */
static bool evict(struct uvm *u, uint64_t but, picos now)
{
  const struct uvm_range *r;
  const uint64_t before = u->copies;
  unsigned n;
  if (!uvm_space_victim(space_of(u), u->gpu, but, &r, &u->victim)) return false;
  struct uvm_block *b = uvm_range_block(r, u->victim, &n, &u->victim);
  const struct page_set elsewhere = uvm_block_elsewhere(space_of(u), b, u->gpu);
  struct page_set moves = b->gpu[u->gpu].there;
  page_set_remove(&moves, &elsewhere);
  hold(u, b);
  uvm_space_close_to(space_of(u), u->victim, u->gpu, &b->gpu[u->gpu].there);
  uvm_space_close(space_of(u), u->victim, &moves);
  books(u)->stats.evictions++;
  books(u)->stats.evicted += uvm_bytes(&moves);
  post(u, u->victim, &moves, (int)u->gpu, UVM_HOST, now);
  wait_for_copies(u, UVM_EVICTS, before, now);
  return true;
}

/* Whether a block of which the GPU has nothing would be too much. */
static bool is_full(const struct uvm *u, const struct uvm_block *b, unsigned gpu)
{
  const struct uvm_gpu *g = &space_of(u)->gpu[gpu];
  return page_set_empty(&b->gpu[gpu].there) && g->resident >= g->room;
}

/* --- what happens to the pages of a block ---------------------------------------------------------- */

/* What a batch, or a job, does to a block. */
struct plan {
  struct page_set come, mapped, at_host; /* to the GPU; reached where they are; made at the host */
  bool any;
};

/* Of a part of the block that has one policy: pages that come to the GPU. */
static struct page_set wanted(const struct uvm *u, const struct uvm_policy *p, const struct uvm_block *b,
                              const struct page_set *asked, const struct page_set *part, unsigned n_pages)
{
  const struct page_set *there = &b->gpu[u->gpu].there;
  struct page_set s = page_set_both(asked, part);
  if (page_set_empty(&s)) return s;
  if (!u->job_runs && p->prefers == (int)u->gpu && page_set_empty(there)) return *part;
  if (u->job_runs && u->job->ticket == NO_TICKET) s = page_set_both(&s, &b->host); /* what is counted is there */
  page_set_remove(&s, there);
  if (u->job_runs) return s;
  s = density_tree_grow(there, &s, n_pages, u->params->uvm_tree_threshold);
  return page_set_both(&s, part);
}

/* Pages that stay on the GPU that the program prefers for them, or are made there: this one reaches them. */
static struct page_set stay(const struct uvm *u, const struct uvm_policy *p, const struct uvm_block *b,
                            const struct page_set *asked)
{
  struct page_set s = {{0}};
  const int on = p->prefers;
  if (u->job_runs || on < 0 || on == (int)u->gpu || p->read_mostly || !(books(u)->reaches >> on & 1)) return s;
  const struct page_set there = page_set_both(asked, &b->gpu[on].there);
  if (!is_full(u, b, (unsigned)on)) {
    struct page_set on_gpus = uvm_block_on_gpus(space_of(u), b);
    s = *asked;
    page_set_remove(&s, &on_gpus);
    page_set_remove(&s, &b->host);
  }
  page_set_join(&s, &there);
  page_set_remove(&s, &b->gpu[u->gpu].mapped);
  return s;
}

static struct plan plan_of(const struct uvm *u, const struct uvm_range *r, const struct uvm_block *b, uint64_t base,
                           const struct page_set *asked, unsigned n_pages)
{
  struct plan x = {0};
  struct page_set part;
  uint32_t cursor = 0;
  for (const struct uvm_policy *p; (p = uvm_range_part(r, base, &cursor, &part));) {
    struct page_set rest = page_set_both(asked, &part);
    const struct page_set stays = stay(u, p, b, &rest);
    page_set_remove(&rest, &stays);
    page_set_join(&x.mapped, &stays);
    struct page_set come = wanted(u, p, b, &rest, &part, n_pages);
    x.any |= !page_set_empty(&come) || !page_set_empty(&stays);
    if (u->job_runs || p->prefers != UVM_HOST || p->read_mostly) {
      page_set_join(&x.come, &come);
    } else { /* those that nobody has touched are made there */
      const struct page_set on = uvm_block_on_gpus(space_of(u), b);
      struct page_set fresh = come;
      page_set_remove(&fresh, &b->host);
      page_set_remove(&fresh, &on);
      page_set_join(&x.at_host, &fresh);
      come = page_set_both(&come, &on);
      page_set_join(&x.come, &come);
    }
  }
  return x;
}

static void tell_moved(const struct uvm *u, uint64_t base, const struct page_set *s)
{
  const struct uvm_machine *m = u->machine;
  for (unsigned first = 0, n; m->moved && (n = page_set_run(s, &first)) != 0; first += n)
    m->moved(m->ctx, base + (uint64_t)first * PAGE, (uint64_t)n * PAGE);
}

/* Pages of the plan that do not move. */
static void place_others(struct uvm *u, const struct uvm_range *r, struct uvm_block *b, uint64_t base,
                         const struct plan *x)
{
  struct uvm_space *space = space_of(u);
  static const struct page_set none;
  struct page_set part;
  uint32_t cursor = 0;
  uvm_space_touch(space, r, base, &x->at_host);
  if (page_set_empty(&x->mapped)) return;
  for (const struct uvm_policy *p; (p = uvm_range_part(r, base, &cursor, &part));) {
    struct page_set fresh = page_set_both(&x->mapped, &part);
    if (page_set_empty(&fresh)) continue;
    page_set_remove(&fresh, &b->gpu[p->prefers].there);
    space->gpu[p->prefers].stats.filled += uvm_bytes(&fresh);
    if (page_set_empty(&fresh)) continue;
    uvm_space_arrive(space, r, base, (unsigned)p->prefers, &fresh, &none);
    tell_moved(u, base, &fresh);
  }
  uvm_space_map(space, r, base, u->gpu, &x->mapped);
  books(u)->stats.peer_mapped += uvm_bytes(&x->mapped);
}

static picos block_ps(const struct uvm *u)
{
  return (picos)(u->job_runs ? u->params->uvm_prefetch_ns : u->params->uvm_block_ns) * PS_PER_NS;
}

/* Pages leave all GPUs, because the program asked for it, or because the one that touches them has no room and cannot
 * reach them. */
static void send_home(struct uvm *u, const struct uvm_block *b, uint64_t base, const struct page_set *asked, picos now)
{
  const struct page_set on = uvm_block_on_gpus(space_of(u), b);
  const uint64_t before = u->copies;
  u->goal = UVM_GO_HOME;
  u->pages = page_set_both(asked, &on);
  if (page_set_empty(&u->pages)) {
    next_block(u, now, now);
    return;
  }
  struct page_set left = u->pages;
  page_set_remove(&left, &b->host);
  uvm_space_close(space_of(u), base, &u->pages);
  for (unsigned k = 0; k < space_of(u)->n_gpus; k++) {
    const struct page_set moves = page_set_both(&left, &b->gpu[k].there);
    post(u, base, &moves, (int)k, UVM_HOST, now + block_ps(u));
    page_set_remove(&left, &moves);
  }
  wait_for_copies(u, UVM_MOVES, before, now + block_ps(u));
}

/* --- pages come ----------------------------------------------------------------------------------- */

/* Of these pages, those that no GPU keeps. */
static struct page_set given_up(const struct uvm *u, const struct uvm_range *r, const struct uvm_block *b,
                                uint64_t base, const struct page_set *written)
{
  struct page_set s = u->pages, part, keep;
  const struct page_set on = uvm_block_on_gpus(space_of(u), b);
  uint32_t cursor = 0;
  for (const struct uvm_policy *p; (p = uvm_range_part(r, base, &cursor, &part));) {
    if (!p->read_mostly) continue;
    keep = part;
    page_set_remove(&keep, written);
    page_set_remove(&s, &keep);
  }
  return page_set_both(&s, &on);
}

/* The pages that are to come: those on other GPUs by the way between them, where it is the best one or the only one;
 * those at the host; the rest by way of the host. */
static void fetch_pages(struct uvm *u, const struct uvm_range *r, const struct uvm_block *b, uint64_t base, picos now)
{
  const struct page_set leave = given_up(u, r, b, base, &u->work[u->current].written);
  const picos at = now + block_ps(u);
  const uint64_t before = u->copies;
  struct page_set rest = u->pages;
  u->goal = UVM_COME;
  u->staged = (struct page_set){{0}};
  if (!page_set_empty(&leave)) uvm_space_close(space_of(u), base, &leave);
  for (unsigned k = 0; k < space_of(u)->n_gpus; k++) {
    const struct uvm *o = u->machine->of[k];
    if (k == u->gpu || !(space_of(u)->gpu[k].reaches >> u->gpu & 1)) continue;
    struct page_set part = page_set_both(&rest, &b->gpu[k].there);
    if (o->cfg.peer[u->gpu].mbps < u->cfg.link[UVM_TO_GPU].mbps) page_set_remove(&part, &b->host);
    post(u, base, &part, (int)k, (int)u->gpu, at);
    page_set_remove(&rest, &part);
  }
  const struct page_set home = page_set_both(&rest, &b->host);
  post(u, base, &home, UVM_HOST, (int)u->gpu, at);
  page_set_remove(&rest, &home);
  for (unsigned k = 0; k < space_of(u)->n_gpus; k++) {
    const struct page_set part = page_set_both(&rest, &b->gpu[k].there);
    post(u, base, &part, (int)k, UVM_HOST, at);
    books(u)->stats.staged += uvm_bytes(&part);
    page_set_join(&u->staged, &part);
    page_set_remove(&rest, &part);
  }
  wait_for_copies(u, page_set_empty(&u->staged) ? UVM_MOVES : UVM_STAGES, before, at);
}

/* What was on its way through the host goes on. */
static void fetch_staged(struct uvm *u, picos now)
{
  const uint64_t base = u->work[u->current].base, before = u->copies;
  if (range_of(u, base)) post(u, base, &u->staged, UVM_HOST, (int)u->gpu, now);
  wait_for_copies(u, UVM_MOVES, before, now);
}

/* Pages for which there is no room are reached where they are. */
static void map_pages(struct uvm *u, const struct uvm_range *r, struct uvm_block *b, uint64_t base, picos now)
{
  struct page_set far = {{0}}, fresh = u->pages;
  const struct page_set on = uvm_block_on_gpus(space_of(u), b);
  for (unsigned k = 0; k < space_of(u)->n_gpus; k++)
    if (!(books(u)->reaches >> k & 1) && k != u->gpu) page_set_join(&far, &b->gpu[k].there);
  far = page_set_both(&far, &u->pages);
  page_set_remove(&far, &b->host);
  if (!page_set_empty(&far)) { /* they fault again when they are there */
    send_home(u, b, base, &far, now);
    return;
  }
  page_set_remove(&fresh, &on);
  books(u)->stats.mapped += uvm_bytes(&u->pages);
  uvm_space_touch(space_of(u), r, base, &fresh);
  uvm_space_map(space_of(u), r, base, u->gpu, &u->pages);
  next_block(u, now, now + block_ps(u));
}

static void begin_block(struct uvm *u, picos now)
{
  const struct uvm_work *w = &u->work[u->current];
  const struct uvm_range *r = range_of(u, w->base);
  unsigned n_pages;
  uint64_t base;
  if (!r) { /* freed */
    u->since = 0;
    next_block(u, now, now);
    return;
  }
  struct uvm_block *b = uvm_range_block(r, w->base, &n_pages, &base);
  const picos turn = turn_of(u, b, base, now);
  if (turn > now) {
    if (!u->since) u->since = now;
    goes_on(u, UVM_BLOCK, turn);
    return;
  }
  hold(u, b);
  if (u->job_runs && u->job->way == UVM_TO_HOST) {
    send_home(u, b, base, &w->faulted, now);
    return;
  }
  uvm_space_collapse(space_of(u), r, base, u->gpu, &w->written);
  const struct plan x = plan_of(u, r, b, base, &w->faulted, n_pages);
  u->pages = x.come;
  place_others(u, r, b, base, &x);
  if (page_set_empty(&u->pages)) {
    next_block(u, now, page_set_empty(&w->written) && !x.any ? now : now + block_ps(u));
  } else if (!is_full(u, b, u->gpu)) {
    fetch_pages(u, r, b, base, now);
  } else if (!evict(u, base, now)) {
    map_pages(u, r, b, base, now);
  }
}

/* --- pages are there ------------------------------------------------------------------------------ */

static void have_come(struct uvm *u, const struct uvm_range *r, const struct uvm_block *b, uint64_t base)
{
  const struct uvm_work *w = &u->work[u->current];
  struct page_set fresh = u->pages, more = u->pages;
  const struct page_set on = uvm_block_on_gpus(space_of(u), b);
  struct uvm_stats *n = &books(u)->stats;
  page_set_remove(&fresh, &b->host);
  page_set_remove(&fresh, &on);
  page_set_remove(&more, &w->faulted);
  n->filled += uvm_bytes(&fresh);
  if (u->job_runs && u->job->ticket != NO_TICKET) n->asked += uvm_bytes(&u->pages);
  else if (!u->job_runs) n->tree += uvm_bytes(&more);
  uvm_space_arrive(space_of(u), r, base, u->gpu, &u->pages, &w->written);
  tell_moved(u, base, &u->pages);
}

/* Its copies are done: the pages are in their place. */
static void end_block(struct uvm *u, picos now)
{
  const struct uvm_range *r = range_of(u, u->work[u->current].base);
  unsigned n_pages;
  uint64_t base;
  if (r) {
    const struct uvm_block *b = uvm_range_block(r, u->work[u->current].base, &n_pages, &base);
    if (u->goal == UVM_COME) have_come(u, r, b, base);
    for (unsigned k = 0; u->goal == UVM_GO_HOME && k < space_of(u)->n_gpus; k++) {
      const struct page_set gone = page_set_both(&u->pages, &b->gpu[k].there);
      if (!page_set_empty(&gone)) uvm_space_leave(space_of(u), r, base, k, &gone);
    }
  }
  next_block(u, now, now);
}

/* --- what happens next -------------------------------------------------------------------------- */

picos uvm_next(const struct uvm *u)
{
  if (!waits_for_copies(u)) return u->at;
  const struct dma_mover *m = &u->machine->mover[u->gpu];
  return m->moved == u->copies ? m->at : TIME_NEVER;
}

/* A batch, a prefetch, or nothing. */
static void choose(struct uvm *u, picos now)
{
  if (u->buffer.n_entries) {
    begin_batch(u, now);
  } else if (!u->n_jobs) {
    goes_on(u, UVM_IDLE, TIME_NEVER);
  } else if (u->job->arrive > now) {
    goes_on(u, UVM_FETCH, u->job->arrive);
  } else {
    u->job_runs = true;
    u->job->begin = now;
    next_of_job(u, now);
  }
}

static void work_done(struct uvm *u, picos now)
{
  if (u->job_runs) next_of_job(u, now);
  else goes_on(u, UVM_REPLAY, now + (picos)u->params->uvm_replay_ns * PS_PER_NS);
}

/* When it has reached the GPU, the driver looks at the buffer again. */
static void order_replay(struct uvm *u, picos now)
{
  uvm_machine_order(u->machine, u->gpu, &(struct fault_order){.kind = ORDER_REPLAY});
  if (u->cfg.latency) goes_on(u, UVM_FLUSH, now + u->cfg.latency);
  else choose(u, now); /* the only one: nobody waits for its blocks */
}

void uvm_step(struct uvm *u, picos now)
{
  switch (u->state) {
  case UVM_FLUSH: release_batch(u, now); /* fall through */
  case UVM_FETCH: choose(u, now); break;
  case UVM_BLOCK:
    if (u->current < u->n_work) begin_block(u, now);
    else work_done(u, now);
    break;
  case UVM_EVICTS:
    finish_eviction(u, now);
    goes_on(u, UVM_BLOCK, now);
    break;
  case UVM_STAGES: fetch_staged(u, now); break;
  case UVM_MOVES: end_block(u, now); break;
  case UVM_REPLAY: order_replay(u, now); break;
  case UVM_IDLE: break;
  }
}

picos uvm_gpu_next(const struct uvm *u)
{
  return space_of(u)->n_gpus == 1 ? uvm_next(u) : fault_buffer_next(&u->buffer);
}

void uvm_gpu_step(struct uvm *u, picos now)
{
  if (space_of(u)->n_gpus > 1) {
    fault_buffer_step(&u->buffer, now);
    return;
  }
  u->machine->now = now;
  uvm_step(u, now);
  u->machine->now = 0;
}
