/* Pages on their way: what the driver gives to the copy engines, and that it waits for them. */
#include "base/bug.h"
#include "time/dma/dma.h"
#include "time/uvm/uvm_driver.h"

enum { PEER_ENGINE = 3 }; /* of copies to other GPUs (LIVE_TO_PEER of host/live_gpu.h) */

/* Of the GPU that has the pages, or gets them from the host; it is there from now on. */
static struct uvm *engine_of(const struct uvm *u, int from, int to)
{
  struct uvm_machine *m = u->machine;
  struct uvm *e = m->of[from == UVM_HOST ? to : from];
  if (!e->dma && m->wake) m->wake(m->wake_ctx, e->cfg.node);
  BUG_ON(!e->dma);
  return e;
}

static void count(const struct uvm *u, uint64_t base, uint64_t bytes, int from, int to)
{
  struct uvm_space *x = uvm_space_of(u);
  if (to == UVM_HOST) UVM_COUNT(x, from, base, to_host, bytes);
  else if (from == UVM_HOST) UVM_COUNT(x, to, base, to_gpu, bytes);
  else UVM_COUNT(x, to, base, from_peers, bytes);
}

void uvm_copy_pages(struct uvm *u, uint64_t base, const struct page_set *s, int from, int to, picos arrive)
{
  if (page_set_empty(s)) return;
  const struct uvm *e = engine_of(u, from, to);
  const uint16_t socket = (uint16_t)uvm_range_of(u, base)->socket;
  const bool peer = from >= 0 && to >= 0;
  const struct uvm_link *l = peer ? &e->cfg.peer[to] : &e->cfg.link[to == UVM_HOST ? UVM_TO_HOST : UVM_TO_GPU];
  struct dma_copy c = {.ticket = u->gpu, .arrive = arrive + e->cfg.latency, .rows = 1, .setup = l->setup,
                       .window = l->window, .in_place = true, .dst_node = DMA_HERE, .src_node = DMA_HERE};
  if (from == UVM_HOST) c.src_node = socket;
  else c.dst_node = to == UVM_HOST ? socket : uvm_space_of(u)->gpu[to].node;
  c.engine = peer ? PEER_ENGINE : to == UVM_HOST ? UVM_TO_HOST : UVM_TO_GPU;
  for (unsigned first = 0, n; (n = page_set_run(s, &first)) != 0; first += n) {
    c.src = c.dst = base + (uint64_t)first * PAGE;
    c.bytes = (uint64_t)n * PAGE;
    dma_post(e->dma, &c);
    c.setup = 0;
    u->copies++;
  }
  count(u, base, uvm_bytes(s), from, to);
}

bool uvm_waits_for_copies(const struct uvm *u)
{
  return (u->state == UVM_EVICTS || u->state == UVM_STAGES || u->state == UVM_MOVES) && u->at == TIME_NEVER;
}

void uvm_wait_for_copies(struct uvm *u, enum uvm_state state, uint64_t before, picos at)
{
  uvm_goes_on(u, state, u->copies == before ? at : TIME_NEVER);
}
