#include "time/uvm/uvm.h"

#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "base/host_memory.h"
#include "time/uvm/uvm_driver.h"

/* --- life -------------------------------------------------------------------------------------------- */

void uvm_init(struct uvm *u, struct uvm_machine *m, unsigned gpu, const struct uvm_config *cfg)
{
  *u = (struct uvm){.machine = m, .gpu = gpu, .params = cfg->params, .cfg = *cfg, .at = TIME_NEVER};
  u->buffer.places = cfg->places;
  u->buffer.at_once = m->space.n_gpus == 1;
  if (cfg->places && !m->space.coherent) cfg->places->rights = u->buffer.rights = places_new();
}

void uvm_free(struct uvm *u)
{
  fault_buffer_free(&u->buffer);
  mem_free(u->work);
  mem_free(u->job);
}

void uvm_connect(struct uvm *u, struct dma *d, picos *wake)
{
  if (u->state == UVM_EVICTS) uvm_finish_eviction(u, 0);
  if (u->current < u->n_work) uvm_give_up(u);
  uvm_release_batch(u, 0);
  u->dma = d;
  u->state = UVM_IDLE, u->at = TIME_NEVER;
  u->copies = u->since = 0;
  u->machine->mover[u->gpu] = (struct dma_mover){.wake = uvm_space_of(u)->n_gpus > 1 ? u->machine->next : wake};
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
  const bool driver = uvm_space_of(u)->n_gpus == 1 && uvm_busy(u);
  return driver || u->buffer.n_parked || fault_buffer_next(&u->buffer) != TIME_NEVER;
}

uint64_t uvm_progress(const struct uvm *u)
{
  return u->copies + uvm_books(u)->stats.batches;
}

/* --- the fault buffer -------------------------------------------------------------------------------- */

static uint64_t address_of(const struct mem_req *r)
{
  return line_number(r->line) * LINE_BYTES;
}

void uvm_park(struct uvm *u, const struct mem_req *r, picos now)
{
  if (!fault_buffer_park(&u->buffer, r, now)) return;
  const picos heard = now + (picos)u->params->uvm_interrupt_ns * PS_PER_NS;
  if (u->state == UVM_IDLE || (u->state == UVM_FETCH && u->at > heard)) uvm_goes_on(u, UVM_FETCH, heard);
}

/* --- batches ----------------------------------------------------------------------------------------- */

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
  if (!uvm_range_of(u, addr)) { /* freed in the meantime: who asked will see */
    uvm_books(u)->stats.faults++;
    return;
  }
  struct uvm_work *w = work_on(u, addr / BLOCK * BLOCK);
  const unsigned page = (unsigned)(e->page % UVM_BLOCK_PAGES);
  UVM_COUNT(uvm_space_of(u), u->gpu, addr, repeats, page_set_has(&w->faulted, page));
  UVM_COUNT(uvm_space_of(u), u->gpu, addr, faults, 1);
  page_set_add(&w->faulted, page);
  if (e->writes) page_set_add(&w->written, page);
  if (e->atomic) page_set_add(&w->atomic, page);
}

/* A batch is one of each whose pages are in it. */
static void count_for_owners(const struct uvm *u)
{
  const struct uvm_space *x = uvm_space_of(u);
  struct uvm_stats *last = NULL;
  for (uint32_t i = 0; x->owner && i < u->n_work; i++) {
    struct uvm_stats *own = x->owner(x->owner_ctx, u->work[i].base);
    if (own && own != last) own->batches++;
    last = own;
  }
}

static void begin_batch(struct uvm *u, picos now)
{
  const struct fault_buffer *b = &u->buffer;
  uint32_t n = 0;
  u->n_work = u->current = 0;
  while (n < b->n_entries && n < u->params->uvm_batch && b->entry[n].at <= now) take_entry(u, &b->entry[n++]);
  if (!n) { /* woken by something else, before the first of them */
    uvm_goes_on(u, UVM_FETCH, b->entry[0].at);
    return;
  }
  qsort(u->work, u->n_work, sizeof *u->work, by_base);
  uvm_books(u)->stats.batches++;
  count_for_owners(u);
  uvm_goes_on(u, UVM_BLOCK, now + (picos)n * u->params->uvm_fault_ns * PS_PER_NS);
}

/* Pages whose time has come are pinned no more: found when something is done, so that nothing waits for it. */
static void unpin(struct uvm *u, picos now)
{
  if (uvm_unpin_next(u->machine) <= now) uvm_unpin(u->machine, uvm_program_time(u->machine, now));
}

/* --- prefetches -------------------------------------------------------------------------------------- */

void uvm_prefetch(struct uvm *u, uint64_t addr, uint64_t bytes, enum uvm_way way, picos arrive, uint64_t ticket)
{
  u->job = mem_more(u->job, u->n_jobs, &u->room_jobs, sizeof *u->job);
  u->job[u->n_jobs++] = (struct uvm_job){.ticket = ticket, .addr = addr, .end = addr + bytes, .next = addr,
                                         .arrive = arrive, .way = way};
  if (u->state == UVM_IDLE) uvm_goes_on(u, UVM_FETCH, arrive);
}

void uvm_remote(struct uvm *u, const struct mem_req *r, picos now)
{
  const uint64_t addr = address_of(r);
  if (uvm_space_of(u)->n_gpus == 1) unpin(u, now); /* else its hub may not change what others see */
  const struct uvm_range *range = uvm_space_of(u)->coherent ? uvm_range_of(u, addr) : NULL;
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
  UVM_COUNT(uvm_space_of(u), u->gpu, base, counted, 1);
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
    uvm_goes_on(u, UVM_FETCH, now);
    return;
  }
  const uint64_t base = j->next / BLOCK * BLOCK, end = earlier(base + BLOCK, j->end);
  const unsigned first = (unsigned)((j->next - base) / PAGE), past = (unsigned)((end - base + PAGE - 1) / PAGE);
  u->n_work = u->current = 0;
  page_set_add_range(&work_on(u, base)->faulted, first, past - first);
  j->next = base + BLOCK;
  uvm_goes_on(u, UVM_BLOCK, now);
}

/* --- what happens next ------------------------------------------------------------------------------- */

picos uvm_next(const struct uvm *u)
{
  if (!uvm_waits_for_copies(u)) return u->at;
  const struct dma_mover *m = &u->machine->mover[u->gpu];
  return m->moved == u->copies ? m->at : TIME_NEVER;
}

/* A batch, a prefetch, or nothing. */
static void choose(struct uvm *u, picos now)
{
  if (u->buffer.n_entries) {
    begin_batch(u, now);
  } else if (!u->n_jobs) {
    uvm_goes_on(u, UVM_IDLE, TIME_NEVER);
  } else if (u->job->arrive > now) {
    uvm_goes_on(u, UVM_FETCH, u->job->arrive);
  } else {
    u->job_runs = true;
    u->job->begin = now;
    next_of_job(u, now);
  }
}

static void work_done(struct uvm *u, picos now)
{
  if (u->job_runs) next_of_job(u, now);
  else uvm_goes_on(u, UVM_REPLAY, now + (picos)u->params->uvm_replay_ns * PS_PER_NS);
}

/* When it has reached the GPU, the driver looks at the buffer again. */
static void order_replay(struct uvm *u, picos now)
{
  uvm_machine_order(u->machine, u->gpu, &(struct fault_order){.kind = ORDER_REPLAY});
  if (u->cfg.latency) uvm_goes_on(u, UVM_FLUSH, now + u->cfg.latency);
  else choose(u, now); /* the only one: nobody waits for its blocks */
}

void uvm_step(struct uvm *u, picos now)
{
  unpin(u, now);
  switch (u->state) {
  case UVM_FLUSH: uvm_release_batch(u, now); /* fall through */
  case UVM_FETCH: choose(u, now); break;
  case UVM_BLOCK:
    if (u->current < u->n_work) uvm_begin_block(u, now);
    else work_done(u, now);
    break;
  case UVM_EVICTS:
    uvm_finish_eviction(u, now);
    uvm_goes_on(u, UVM_BLOCK, now);
    break;
  case UVM_STAGES: uvm_fetch_staged(u, now); break;
  case UVM_MOVES: uvm_end_block(u, now); break;
  case UVM_REPLAY: order_replay(u, now); break;
  case UVM_IDLE: break;
  }
}

picos uvm_gpu_next(const struct uvm *u)
{
  return uvm_space_of(u)->n_gpus == 1 ? uvm_next(u) : fault_buffer_next(&u->buffer);
}

void uvm_gpu_step(struct uvm *u, picos now)
{
  if (uvm_space_of(u)->n_gpus > 1) {
    fault_buffer_step(&u->buffer, now);
    return;
  }
  u->machine->now = now;
  uvm_step(u, now);
  u->machine->now = 0;
}
