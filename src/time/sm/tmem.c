#include "time/sm/tmem.h"

#include "base/arith.h"
#include "base/bug.h"

enum { ISSUE_STAGES = 2, LANE_BYTES = 4 };

void tmem_init(struct tmem *t, struct arena *a, const struct params *p, unsigned txns)
{
  BUG_ON(p->sm_sub_cores > TMEM_SUB_CORES);
  *t = (struct tmem){.load_cycles = p->tmem_load_cycles,
                     .load_bytes = p->tmem_load_bytes,
                     .store_cycles = p->tmem_store_cycles,
                     .store_bytes = p->tmem_store_bytes,
                     .fence_cycles = p->tmem_fence_cycles,
                     .shared_bytes = p->tmem_shared_bytes,
                     .copy_cycles = p->tmem_copy_cycles,
                     .copy_bytes = p->tmem_copy_bytes,
                     .product_cycles = p->tmem_product_cycles,
                     .pair_cycles = p->tmem_pair_cycles,
                     .narrow_pair_cycles = p->tmem_narrow_pair_cycles,
                     .pair_read_cycles = p->tmem_pair_read_cycles,
                     .scaled_cycles = p->tmem_scaled_cycles,
                     .queue_cycles = p->tmem_queue_cycles,
                     .ideal = p->ideal_tensor,
                     .noted = ARENA_ARRAY(a, uint64_t, txns),
                     .queue = ARENA_ARRAY(a, struct tmem_commit, txns),
                     .cap = txns,
                     .next_at = CYCLE_NEVER};
}

/* --- loads and stores ------------------------------------------------------------------------ */

/* The port takes it from cycle *start on; returns how many cycles. */
static uint64_t pass_port(uint64_t *free_at, const struct inst *in, unsigned bytes_per_cycle, uint64_t now,
                          uint64_t *start)
{
  const uint64_t bytes = (uint64_t)in->tmem.registers * in->tmem.lanes * LANE_BYTES;
  const uint64_t cycles = later(div_up(bytes, bytes_per_cycle), 1);
  *start = later(now + ISSUE_STAGES, *free_at);
  *free_at = *start + cycles;
  return cycles;
}

static struct tmem_times load(struct tmem *t, unsigned sub_core, const struct inst *in, uint64_t now)
{
  uint64_t start, cycles = pass_port(&t->load_free_at[sub_core], in, t->load_bytes, now, &start);
  unsigned n = in->tmem.registers, step = (unsigned)(cycles / n ? cycles / n : 1);
  uint64_t visible = start + t->load_cycles + later(cycles, (uint64_t)step * n);
  t->stats->tmem_load_cycles += cycles;
  return (struct tmem_times){visible - 1 - (uint64_t)(n - 1) * step, visible, start, step};
}

static struct tmem_times store(struct tmem *t, unsigned sub_core, unsigned warp, const struct inst *in, uint64_t now)
{
  uint64_t start, cycles = pass_port(&t->store_free_at[sub_core], in, t->store_bytes, now, &start);
  uint64_t *there = &t->stored_at[sub_core][warp];
  *there = later(*there, start + cycles + t->store_cycles);
  t->stats->tmem_store_cycles += cycles;
  return (struct tmem_times){.visible = start + cycles, .read = start + cycles, .step = 1};
}

/* --- the tensor pipe ---------------------------------------------------------------------------- */

/* It takes the pipe for `interval` cycles from its turn on and is done `latency` behind its beginning. */
static struct tmem_times pass_pipe(struct tmem *t, unsigned sub_core, unsigned warp, uint64_t interval,
                                   uint64_t latency, uint64_t now)
{
  const bool waits = t->free_at > now;
  const uint64_t start = waits ? t->free_at : now;
  uint64_t *done = &t->done_at[sub_core][warp];
  const uint64_t taken = t->ideal ? 1 : interval;
  t->free_at = start + taken;
  *done = later(*done, start + latency + (waits ? t->queue_cycles : 0));
  t->stats->tmem_pipe_cycles += taken;
  return (struct tmem_times){.visible = now + ISSUE_STAGES + 1, .read = now + ISSUE_STAGES + 1, .step = 1};
}

static uint64_t load_of_a(const struct tmem *t, const struct tensor_work *x)
{
  return div_up(x->a_bytes, t->shared_bytes);
}

static struct tmem_times product(struct tmem *t, unsigned sub_core, unsigned warp, const struct tensor_work *x,
                                 uint64_t now)
{
  enum { WIDE_LOAD = 32, NARROW_LESS = 13, LEAST = 18 /* of all measured ones, where 16 cycles of columns are */ };
  const bool pair = x->ctas == 2, narrow = pair && x->narrow;
  const uint64_t columns = x->columns / (narrow ? 4u : 2u);
  uint64_t read = div_up(x->a_bytes + x->b_bytes, t->shared_bytes);
  uint64_t latency = t->product_cycles + columns, before = load_of_a(t, x);
  if (pair && !narrow && x->a_bytes) read += t->pair_read_cycles;
  if (x->scaled) latency += t->scaled_cycles;
  if (pair) latency += t->pair_cycles;
  if (narrow) latency += t->narrow_pair_cycles;
  if (narrow && x->a_bytes) { /* both matrices come before the first column, but for what 32 cycles hide */
    before = read < WIDE_LOAD ? read : WIDE_LOAD;
    before -= before < NARROW_LESS ? before : NARROW_LESS;
  }
  latency += before;
  t->stats->tmem_products++;
  return pass_pipe(t, sub_core, warp, later(later(columns, read), LEAST), latency, now);
}

static struct tmem_times copy(struct tmem *t, unsigned sub_core, unsigned warp, const struct tensor_work *x,
                              uint64_t now)
{
  const uint64_t cycles = later(div_up(x->a_bytes, t->copy_bytes), 1);
  return pass_pipe(t, sub_core, warp, cycles, t->copy_cycles + cycles, now);
}

struct tmem_times tmem_issue(struct tmem *t, unsigned sub_core, unsigned warp, const struct inst *in,
                             const struct tensor_work *x, uint64_t now)
{
  switch (in->tmem.op) {
  case TMEM_LOAD: return load(t, sub_core, in, now);
  case TMEM_STORE: return store(t, sub_core, warp, in, now);
  case TMEM_PRODUCT: return product(t, sub_core, warp, x, now);
  case TMEM_COPY: return copy(t, sub_core, warp, x, now);
  default: break; /* TMEM_FENCE */
  }
  uint64_t visible = later(now + t->fence_cycles, t->stored_at[sub_core][warp]);
  return (struct tmem_times){.first = visible - 1, .visible = visible, .read = now + ISSUE_STAGES + 1, .step = 1};
}

/* --- commits ----------------------------------------------------------------------------------- */

void tmem_note(struct tmem *t, unsigned sub_core, unsigned warp, uint16_t id)
{
  t->noted[id] = t->done_at[sub_core][warp];
}

void tmem_commit(struct tmem *t, uint16_t id, uint64_t now)
{
  const uint64_t at = later(t->noted[id], now + 1);
  unsigned i = t->n++;
  BUG_ON(t->n > t->cap);
  for (; i && t->queue[i - 1].at > at; i--) t->queue[i] = t->queue[i - 1];
  t->queue[i] = (struct tmem_commit){at, id};
  t->next_at = t->queue[0].at;
  t->stats->tmem_commits++;
}

void tmem_cycle(struct tmem *t, uint64_t now)
{
  while (t->n && t->queue[0].at <= now) {
    const uint16_t id = t->queue[0].id;
    t->n--;
    for (unsigned i = 0; i < t->n; i++) t->queue[i] = t->queue[i + 1];
    t->ports.due(t->ports.ctx, id, now);
  }
  t->next_at = t->n ? t->queue[0].at : CYCLE_NEVER;
}
