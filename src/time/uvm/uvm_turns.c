/* Who works on a block: one driver at a time, the one that has waited longest; what a batch got it keeps until the
 * accesses that waited for it have been tried again. */
#include "time/uvm/uvm_driver.h"

void uvm_hold(struct uvm *u, struct uvm_block *b)
{
  u->since = 0;
  b->held = (uint8_t)(u->gpu + 1);
}

static bool waits_for(const struct uvm *u, uint64_t base)
{
  return u->state == UVM_BLOCK && u->since && u->work[u->current].base == base;
}

picos uvm_turn_of(const struct uvm *u, const struct uvm_block *b, uint64_t base, picos now)
{
  if (b->held) return b->held == u->gpu + 1 ? now : TIME_NEVER;
  if (b->kept > now && b->kept_by != u->gpu + 1 && !u->job_runs) return b->kept;
  for (unsigned k = 0; k < uvm_space_of(u)->n_gpus; k++) {
    const struct uvm *o = u->machine->of[k];
    if (o != u && waits_for(o, base) && o->since < (u->since ? u->since : now)) return TIME_NEVER;
  }
  return now;
}

/* Another driver has left the block for which it may wait. */
static void look_again(struct uvm *u, uint64_t base, picos now)
{
  if (waits_for(u, base)) uvm_goes_on(u, UVM_BLOCK, now);
}

void uvm_wait_no_more(struct uvm *u, uint64_t base)
{
  look_again(u, base, 0); /* as soon as time passes: who has the block finds it gone and hands nothing over */
}

void uvm_release(struct uvm *u, uint64_t base, picos now, picos kept)
{
  const struct uvm_range *r = uvm_range_of(u, base);
  unsigned n;
  uint64_t at;
  struct uvm_block *b = r ? uvm_range_block(r, base, &n, &at) : NULL;
  if (!b || b->held != u->gpu + 1) return;
  b->held = 0;
  b->kept_by = kept ? (uint8_t)(u->gpu + 1) : 0;
  b->kept = kept;
  for (unsigned k = 0; k < uvm_space_of(u)->n_gpus; k++) look_again(u->machine->of[k], base, now);
}

void uvm_release_batch(struct uvm *u, picos now)
{
  const picos kept = now ? now + (picos)u->params->uvm_replay_ns * PS_PER_NS : 0;
  for (uint32_t i = 0; i < u->n_work; i++) uvm_release(u, u->work[i].base, now, kept);
}

void uvm_next_block(struct uvm *u, picos now, picos at)
{
  const bool alone = uvm_space_of(u)->n_gpus == 1;
  if (u->job_runs || alone) uvm_release(u, u->work[u->current].base, now, 0); /* else a batch keeps what it has got */
  u->current++;
  uvm_goes_on(u, UVM_BLOCK, at);
}

/* Of its work: whether it may change places of this block now. */
static bool is_at(const struct uvm *u, uint64_t base)
{
  if (u->state == UVM_IDLE || u->state == UVM_FETCH) return false;
  return (u->state == UVM_EVICTS && u->victim == base) || (u->current < u->n_work && u->work[u->current].base == base);
}

bool uvm_is_under_way(const struct uvm_machine *m, uint64_t base)
{
  for (unsigned k = 0; k < m->space.n_gpus; k++)
    if (is_at(m->of[k], base)) return true;
  return false;
}
