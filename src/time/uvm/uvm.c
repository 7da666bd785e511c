#include "time/uvm/uvm.h"

#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "time/dma/dma.h"
#include "time/uvm/density_tree.h"

#define NO_TICKET UINT64_MAX /* of a job that nobody waits for */
enum { PAGE = 1 << UVM_PAGE_BITS, BLOCK = 1 << UVM_BLOCK_BITS, PS_PER_NS = 1000, CORE_BITS = 12 };

/* --- life --------------------------------------------------------------------------------------- */

struct uvm *uvm_new(const struct params *p, struct places *places, int socket, const struct uvm_link link[UVM_WAYS])
{
  struct uvm *u = mem_zeroed(1, sizeof *u);
  *u = (struct uvm){.params = p, .at = TIME_NEVER,
                    .space = {.places = places, .socket = socket, .coherent = p->uvm_ats}};
  memcpy(u->link, link, sizeof u->link);
  return u;
}

void uvm_free(struct uvm *u)
{
  if (!u) return;
  uvm_space_free(&u->space);
  mem_free(u->entry);
  mem_free(u->known);
  mem_free(u->parked);
  mem_free(u->ready);
  mem_free(u->work);
  mem_free(u->job);
  mem_free(u->done);
  mem_free(u);
}

static void forget_entries(struct uvm *u)
{
  u->n_entries = u->n_known = 0;
  if (u->known) memset(u->known, 0, u->known_cap * sizeof *u->known);
}

static struct uvm_range *range_of(const struct uvm *u, uint64_t base)
{
  return uvm_space_range(&u->space, base);
}

static void finish_eviction(struct uvm *);

void uvm_connect(struct uvm *u, struct dma *d, picos *wake)
{
  if (u->state == UVM_EVICTS) finish_eviction(u);
  u->dma = d, u->wake = wake;
  u->state = UVM_IDLE, u->at = TIME_NEVER;
  u->copies = 0;
  u->n_parked = u->n_ready = u->taken = u->n_work = u->n_jobs = u->n_done = 0;
  u->job_runs = false;
  forget_entries(u);
}

bool uvm_busy(const struct uvm *u)
{
  return u->state != UVM_IDLE || u->n_jobs || u->n_parked;
}

static void goes_on(struct uvm *u, enum uvm_state state, picos at)
{
  u->state = state;
  u->at = at;
  if (u->wake && at < *u->wake) *u->wake = at;
}

/* --- the fault buffer --------------------------------------------------------------------------- */

static uint64_t *known_slot(const struct uvm *u, uint64_t key)
{
  uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 20;
  while (u->known[at & (u->known_cap - 1)] && u->known[at & (u->known_cap - 1)] != key) at++;
  return &u->known[at & (u->known_cap - 1)];
}

static void grow_known(struct uvm *u)
{
  uint64_t *old = u->known;
  const uint32_t n = u->known_cap;
  u->known_cap = n ? 2 * n : 1024;
  u->known = mem_zeroed(u->known_cap, sizeof *u->known);
  for (uint32_t i = 0; i < n; i++)
    if (old[i]) *known_slot(u, old[i]) = old[i];
  mem_free(old);
}

static uint64_t address_of(const struct mem_req *r)
{
  return line_number(r->line) * LINE_BYTES;
}

/* One entry for each core and page. */
static void enter(struct uvm *u, const struct mem_req *r, picos now)
{
  const uint64_t page = address_of(r) / PAGE;
  const uint16_t from = r->from;
  const uint64_t key = (page << CORE_BITS | (from & ((1u << CORE_BITS) - 1))) + 1;
  if (2 * u->n_known >= u->known_cap) grow_known(u);
  uint64_t *slot = known_slot(u, key);
  if (*slot) return;
  *slot = key;
  u->n_known++;
  u->entry = mem_more(u->entry, u->n_entries, &u->room_entries, sizeof *u->entry);
  u->entry[u->n_entries++] = (struct uvm_entry){page, now, from, mem_op_writes(r->op)};
}

static bool faults(const struct uvm *u, const struct mem_req *r)
{
  const unsigned place = place_of(u->space.places, address_of(r));
  return place == PLACE_FAULTS || (place == PLACE_READS && mem_op_writes(r->op));
}

static void make_ready(struct uvm *u, const struct mem_req *r)
{
  if (u->taken == u->n_ready) u->taken = u->n_ready = 0;
  u->ready = mem_more(u->ready, u->n_ready, &u->room_ready, sizeof *u->ready);
  u->ready[u->n_ready++] = *r;
}

bool uvm_take_ready(struct uvm *u, struct mem_req *out)
{
  if (u->taken == u->n_ready) return false;
  *out = u->ready[u->taken++];
  return true;
}

void uvm_park(struct uvm *u, const struct mem_req *r, picos now)
{
  if (!faults(u, r)) { /* it has come in the meantime */
    make_ready(u, r);
    return;
  }
  u->parked = mem_more(u->parked, u->n_parked, &u->room_parked, sizeof *u->parked);
  u->parked[u->n_parked++] = *r;
  enter(u, r, now);
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
  u->space.stats.repeats += page_set_has(&w->faulted, page);
  page_set_add(&w->faulted, page);
  if (e->writes) page_set_add(&w->written, page);
}

static void begin_batch(struct uvm *u, picos now)
{
  uint32_t n = 0;
  u->n_work = u->current = 0;
  while (n < u->n_entries && n < u->params->uvm_batch && u->entry[n].at <= now) take_entry(u, &u->entry[n++]);
  if (!n) { /* woken by something else, before the first of them */
    goes_on(u, UVM_FETCH, u->entry[0].at);
    return;
  }
  qsort(u->work, u->n_work, sizeof *u->work, by_base);
  u->space.stats.batches++;
  u->space.stats.faults += n;
  goes_on(u, UVM_BLOCK, now + (picos)n * u->params->uvm_fault_ns * PS_PER_NS);
}

/* All that waits is sent again, or faults again. */
static void replay(struct uvm *u, picos now)
{
  uint32_t kept = 0;
  forget_entries(u);
  for (uint32_t i = 0; i < u->n_parked; i++) {
    const struct mem_req r = u->parked[i];
    if (!faults(u, &r) || !range_of(u, address_of(&r))) {
      make_ready(u, &r);
      continue;
    }
    u->parked[kept++] = r;
    enter(u, &r, now);
  }
  u->n_parked = kept;
}

/* --- prefetches --------------------------------------------------------------------------------- */

void uvm_prefetch(struct uvm *u, uint64_t addr, uint64_t bytes, enum uvm_way way, picos arrive, uint64_t ticket)
{
  u->job = mem_more(u->job, u->n_jobs, &u->room_jobs, sizeof *u->job);
  u->job[u->n_jobs++] = (struct uvm_job){.ticket = ticket, .addr = addr, .end = addr + bytes, .next = addr,
                                         .arrive = arrive, .way = way};
  if (u->state == UVM_IDLE) goes_on(u, UVM_FETCH, arrive);
}

bool uvm_take_done(struct uvm *u, struct uvm_job_done *out)
{
  if (!u->n_done) return false;
  *out = u->done[0];
  memmove(u->done, u->done + 1, --u->n_done * sizeof *u->done);
  return true;
}

void uvm_remote(struct uvm *u, const struct mem_req *r, picos now)
{
  const uint64_t addr = address_of(r);
  const struct uvm_range *range = u->space.coherent ? range_of(u, addr) : NULL;
  unsigned n_pages;
  uint64_t base;
  if (!range || range->at_host) return;
  struct uvm_block *b = uvm_range_block(range, addr, &n_pages, &base);
  if (++b->remote != u->params->uvm_counter_threshold) return;
  u->space.stats.counted++;
  uvm_prefetch(u, base, (uint64_t)n_pages * PAGE, UVM_TO_GPU, now + (picos)u->params->uvm_interrupt_ns * PS_PER_NS,
               NO_TICKET);
}

static void end_job(struct uvm *u, picos now)
{
  if (u->job->ticket != NO_TICKET) {
    u->done = mem_more(u->done, u->n_done, &u->room_done, sizeof *u->done);
    u->done[u->n_done++] = (struct uvm_job_done){u->job->ticket, u->job->begin, now};
  }
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

/* --- blocks ------------------------------------------------------------------------------------- */

static void post(struct uvm *u, uint64_t base, const struct page_set *s, enum uvm_way way, picos arrive)
{
  const struct uvm_link *l = &u->link[way];
  struct dma_copy c = {.arrive = arrive, .rows = 1, .setup = l->setup, .window = l->window, .in_place = true,
                       .dst_node = DMA_HERE, .src_node = DMA_HERE, .engine = (uint8_t)way};
  if (way == UVM_TO_GPU) c.src_node = (uint16_t)u->space.socket;
  else c.dst_node = (uint16_t)u->space.socket;
  for (unsigned first = 0, n; (n = page_set_run(s, &first)) != 0; first += n) {
    c.src = c.dst = base + (uint64_t)first * PAGE;
    c.bytes = (uint64_t)n * PAGE;
    dma_post(u->dma, &c);
    c.setup = 0;
    u->copies++;
  }
  *(way == UVM_TO_GPU ? &u->space.stats.to_gpu : &u->space.stats.to_host) += uvm_bytes(s);
}

static void finish_eviction(struct uvm *u)
{
  const struct uvm_range *r = range_of(u, u->victim);
  unsigned n;
  uint64_t base;
  if (!r) return;
  struct uvm_block *b = uvm_range_block(r, u->victim, &n, &base);
  const struct page_set gone = b->gpu;
  uvm_space_leave(&u->space, r, base, &gone);
  page_set_join(&b->left, &gone);
}

/* False: nothing can make room. */
static bool evict(struct uvm *u, uint64_t but, picos now)
{
  const struct uvm_range *r;
  unsigned n;
  if (!uvm_space_victim(&u->space, but, &r, &u->victim)) return false;
  const struct uvm_block *b = uvm_range_block(r, u->victim, &n, &u->victim);
  struct page_set moves = b->gpu;
  page_set_remove(&moves, &b->both);
  uvm_space_close(&u->space, u->victim, &b->gpu);
  u->space.stats.evictions++;
  u->space.stats.evicted += uvm_bytes(&moves);
  post(u, u->victim, &moves, UVM_TO_HOST, now);
  goes_on(u, UVM_EVICTS, page_set_empty(&moves) ? now : TIME_NEVER);
  return true;
}

/* Pages of the block that move to the GPU. */
static struct page_set wanted(const struct uvm *u, const struct uvm_range *r, const struct uvm_block *b,
                              const struct page_set *asked, unsigned n_pages)
{
  struct page_set s = {0}, all = {0};
  page_set_add_range(&all, 0, n_pages);
  if (!u->job_runs && r->stays && page_set_empty(&b->gpu)) return all;
  s = page_set_both(asked, &all);
  if (u->job_runs && u->job->ticket == NO_TICKET) s = page_set_both(&s, &b->host); /* what is counted is there */
  page_set_remove(&s, &b->gpu);
  return u->job_runs ? s : density_tree_grow(&b->gpu, &s, n_pages, u->params->uvm_tree_threshold);
}

static void next_block(struct uvm *u, picos at)
{
  u->current++;
  goes_on(u, UVM_BLOCK, at);
}

static picos block_ps(const struct uvm *u)
{
  return (picos)(u->job_runs ? u->params->uvm_prefetch_ns : u->params->uvm_block_ns) * PS_PER_NS;
}

/* Those of a batch that nobody has touched, where the host is their place. */
static bool make_at_host(struct uvm *u, const struct uvm_range *r, const struct uvm_block *b, uint64_t base)
{
  if (u->job_runs || !r->at_host) return false;
  page_set_remove(&u->pages, &b->host);
  uvm_space_touch(&u->space, r, base, &u->pages);
  return true;
}

/* Pages leave because the program asked for it. */
static void send_home(struct uvm *u, const struct uvm_block *b, uint64_t base, const struct page_set *asked, picos now)
{
  u->pages = page_set_both(asked, &b->gpu);
  if (page_set_empty(&u->pages)) {
    next_block(u, now);
    return;
  }
  struct page_set moves = u->pages;
  page_set_remove(&moves, &b->both);
  uvm_space_close(&u->space, base, &u->pages);
  post(u, base, &moves, UVM_TO_HOST, now + block_ps(u));
  goes_on(u, UVM_MOVES, page_set_empty(&moves) ? now + block_ps(u) : TIME_NEVER);
}

static void fetch_pages(struct uvm *u, const struct uvm_block *b, uint64_t base, picos now)
{
  const struct page_set there = page_set_both(&u->pages, &b->host);
  const picos at = now + block_ps(u);
  post(u, base, &there, UVM_TO_GPU, at);
  goes_on(u, UVM_MOVES, page_set_empty(&there) ? at : TIME_NEVER);
}

static void begin_block(struct uvm *u, picos now)
{
  const struct uvm_work *w = &u->work[u->current];
  const struct uvm_range *r = range_of(u, w->base);
  unsigned n_pages;
  uint64_t base;
  if (!r) { /* freed */
    next_block(u, now);
    return;
  }
  const struct uvm_block *b = uvm_range_block(r, w->base, &n_pages, &base);
  if (u->job_runs && u->job->way == UVM_TO_HOST) {
    send_home(u, b, base, &w->faulted, now);
    return;
  }
  uvm_space_collapse(&u->space, r, base, &w->written);
  u->pages = wanted(u, r, b, &w->faulted, n_pages);
  const bool full = page_set_empty(&b->gpu) && u->space.resident >= u->space.room;
  if (page_set_empty(&u->pages)) {
    next_block(u, page_set_empty(&w->written) ? now : now + block_ps(u));
  } else if (make_at_host(u, r, b, base)) {
    next_block(u, now + block_ps(u));
  } else if (!full) {
    fetch_pages(u, b, base, now);
  } else if (!evict(u, base, now)) {
    u->space.stats.mapped += uvm_bytes(&u->pages);
    uvm_space_touch(&u->space, r, base, &u->pages);
    uvm_space_open_at_host(&u->space, base, &u->pages);
    next_block(u, now + block_ps(u));
  }
}

/* Its copies are done: the pages are in their place. */
static void end_block(struct uvm *u, picos now)
{
  const struct uvm_work *w = &u->work[u->current];
  const struct uvm_range *r = range_of(u, w->base);
  unsigned n_pages;
  uint64_t base;
  if (!r) {
    next_block(u, now);
    return;
  }
  const struct uvm_block *b = uvm_range_block(r, w->base, &n_pages, &base);
  if (u->job_runs && u->job->way == UVM_TO_HOST) {
    uvm_space_leave(&u->space, r, base, &u->pages);
  } else {
    struct page_set fresh = u->pages, more = u->pages;
    page_set_remove(&fresh, &b->host);
    page_set_remove(&more, &w->faulted);
    u->space.stats.filled += uvm_bytes(&fresh);
    const bool asked = u->job_runs && u->job->ticket != NO_TICKET;
    if (asked) u->space.stats.asked += uvm_bytes(&u->pages);
    else if (!u->job_runs) u->space.stats.tree += uvm_bytes(&more);
    uvm_space_arrive(&u->space, r, base, &u->pages, &w->written);
    for (unsigned first = 0, n; u->moved && (n = page_set_run(&u->pages, &first)) != 0; first += n)
      u->moved(u->ctx, base + (uint64_t)first * PAGE, (uint64_t)n * PAGE);
  }
  next_block(u, now);
}

/* --- what happens next -------------------------------------------------------------------------- */

static bool waits_for_copies(const struct uvm *u)
{
  return (u->state == UVM_EVICTS || u->state == UVM_MOVES) && u->at == TIME_NEVER;
}

picos uvm_next(const struct uvm *u)
{
  if (!waits_for_copies(u)) return u->at;
  return u->dma->moved == u->copies ? u->dma->moved_at : TIME_NEVER;
}

/* A batch, a prefetch, or nothing. */
static void choose(struct uvm *u, picos now)
{
  if (u->n_entries) {
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

void uvm_step(struct uvm *u, picos now)
{
  switch (u->state) {
  case UVM_FETCH: choose(u, now); break;
  case UVM_BLOCK:
    if (u->current < u->n_work) begin_block(u, now);
    else work_done(u, now);
    break;
  case UVM_EVICTS:
    finish_eviction(u);
    goes_on(u, UVM_BLOCK, now);
    break;
  case UVM_MOVES: end_block(u, now); break;
  case UVM_REPLAY:
    replay(u, now);
    choose(u, now);
    break;
  case UVM_IDLE: break;
  }
}

/* --- the host ----------------------------------------------------------------------------------- */

static bool is_under_way(const struct uvm *u, uint64_t base)
{
  if (u->state == UVM_IDLE || u->state == UVM_FETCH) return false;
  return (u->state == UVM_EVICTS && u->victim == base) || (u->current < u->n_work && u->work[u->current].base == base);
}

/* A fault of the host on a leaf, and what the prefetcher brings with it. */
static picos bring_back(struct uvm *u, const struct uvm_range *r, struct uvm_block *b, uint64_t base, unsigned leaf,
                        unsigned n_pages)
{
  struct page_set fault = {0}, all = {0};
  page_set_add_range(&fault, leaf, leaf + UVM_LEAF_PAGES < n_pages ? UVM_LEAF_PAGES : n_pages - leaf);
  page_set_add_range(&all, 0, n_pages);
  struct page_set there = all; /* all that is not on the GPU counts as there, what nobody has touched does not */
  page_set_remove(&there, &b->gpu);
  there = page_set_both(&there, &b->host);
  page_set_join(&there, &b->both);
  const unsigned threshold = r->stays ? 0 : u->params->uvm_tree_threshold;
  const struct page_set grown = density_tree_grow(&there, &fault, n_pages, threshold);
  struct page_set back = page_set_both(&grown, &b->gpu);
  page_set_remove(&back, &b->both);
  const uint64_t bytes = uvm_bytes(&back);
  u->space.stats.host_faults++;
  u->space.stats.to_host += bytes;
  uvm_space_leave(&u->space, r, base, &back);
  return (picos)u->params->uvm_host_fault_ns * PS_PER_NS + bytes * 1000000 / u->link[UVM_TO_HOST].mbps;
}

picos uvm_host_touch(struct uvm *u, uint64_t addr, const struct page_set *touched, bool *served)
{
  const struct uvm_range *r = range_of(u, addr);
  unsigned n_pages;
  uint64_t base;
  picos took = 0;
  BUG_ON(!r);
  struct uvm_block *b = uvm_range_block(r, addr, &n_pages, &base);
  *served = !is_under_way(u, base);
  if (!*served) return 0;
  struct page_set fresh = *touched;
  page_set_remove(&fresh, &b->gpu);
  page_set_remove(&fresh, &b->host);
  uvm_space_touch(&u->space, r, base, &fresh);
  for (unsigned leaf = 0; !u->space.coherent && leaf < n_pages; leaf += UVM_LEAF_PAGES) {
    bool any = false;
    for (unsigned i = leaf; i < leaf + UVM_LEAF_PAGES && i < n_pages; i++)
      any |= page_set_has(touched, i) && page_set_has(&b->gpu, i) && !page_set_has(&b->both, i);
    if (any) took += bring_back(u, r, b, base, leaf, n_pages);
  }
  return took;
}

void uvm_host_wrote(struct uvm *u, uint64_t base, const struct page_set *written)
{
  const struct uvm_range *r = range_of(u, base);
  unsigned n_pages;
  uint64_t start;
  if (!r || is_under_way(u, base)) return;
  const struct uvm_block *b = uvm_range_block(r, base, &n_pages, &start);
  const struct page_set gone = page_set_both(written, &b->both);
  u->space.stats.collapsed += uvm_bytes(&gone);
  uvm_space_leave(&u->space, r, base, &gone);
}
