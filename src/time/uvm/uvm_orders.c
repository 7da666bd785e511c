/* What drivers say: to GPUs what they are to do, to who steps them when they go on. */
#include "time/uvm/uvm_driver.h"

void uvm_machine_order(struct uvm_machine *m, unsigned gpu, const struct fault_order *o)
{
  struct fault_order x = *o;
  x.at = m->now ? m->now + m->of[gpu]->cfg.latency : 0;
  fault_buffer_order(&m->of[gpu]->buffer, &x);
}

/* Its driver is woken. */
static void wake_driver(struct uvm_machine *m, unsigned gpu, picos at)
{
  picos *wake = m->space.n_gpus > 1 ? m->next : m->of[gpu]->buffer.wake;
  if (wake && at < *wake) *wake = at;
}

void uvm_goes_on(struct uvm *u, enum uvm_state state, picos at)
{
  u->state = state;
  u->at = at;
  wake_driver(u->machine, u->gpu, at);
}
