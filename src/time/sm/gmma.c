#include "time/sm/gmma.h"

#include "base/bug.h"

enum { GMMA_READY = GMMA_GROUPS * GMMA_QUEUE, ROWS = 64 };

void gmma_init(struct gmma *g, struct arena *a, const struct params *p)
{
  *g = (struct gmma){.column_cycles = p->gmma_column_cycles,
                     .shared_bytes = p->gmma_shared_bytes,
                     .latency = p->lat[LAT_GMMA],
                     .ideal = p->ideal_tensor,
                     .next_at = CYCLE_NEVER};
  BUG_ON(p->gmma_queue_entries > GMMA_QUEUE || p->sm_sub_cores > GMMA_SUB_CORES);
  g->group = ARENA_ARRAY(a, struct gmma_group, GMMA_GROUPS);
  g->ready = ARENA_ARRAY(a, uint8_t, GMMA_READY);
}

static struct warp_slot *warp_of(const struct gmma *g, const struct gmma_part *x)
{
  return &g->client[x->sub_core].warps->slot[x->warp];
}

void gmma_issue(struct gmma *g, unsigned group, unsigned member, const struct inst *in, struct gmma_part part,
                uint64_t now)
{
  struct gmma_group *w = &g->group[group];
  struct gmma_product *x = &w->product[(w->head + w->issued[member]) % GMMA_QUEUE];
  BUG_ON(w->issued[member] == GMMA_QUEUE);
  w->issued[member]++;
  warp_of(g, &part)->in_flight++;
  x->inst = in;
  x->part[x->n_parts++] = part;
  if (x->n_parts < GMMA_WARPS) return;
  g->ready[(g->ready_head + g->n_ready++) % GMMA_READY] = (uint8_t)group;
  if (now < g->next_at) g->next_at = now < g->free_at ? g->free_at : now;
  if (g->next_at < *g->due) *g->due = g->next_at;
}

/* Cycles that the product takes the tensor units. */
static uint64_t duration(const struct gmma *g, const struct inst_gmma *x)
{
  unsigned compute = x->columns / 8 * g->column_cycles;
  unsigned bytes = x->columns * x->column_bytes + (x->a_shared ? ROWS * x->row_bytes : 0u);
  unsigned read = (bytes + g->shared_bytes - 1) / g->shared_bytes;
  return compute > read ? compute : read;
}

static void drop(struct gmma_client *c, unsigned warp, unsigned sb, uint64_t now, uint64_t at)
{
  if (sb != SB_NONE) depend_drop_at(c->depend, c->warps, now, at, warp, sb);
}

/* The part's result is written in cycle `at`. */
static void end_part(struct gmma *g, const struct inst *in, const struct gmma_part *x, uint64_t now, uint64_t at)
{
  struct gmma_client *c = &g->client[x->sub_core];
  struct warp_slot *w = warp_of(g, x);
  drop(c, x->warp, x->write_sb, now, at);
  drop(c, x->warp, x->read_sb, now, at);
  if (in->gmma.ends_group) drop(c, x->warp, SB_GMMA, now, at);
  w->in_flight--;
  w->gmma.queued--;
  warp_changed(c->warps, x->warp);
  g->wake |= 1u << x->sub_core;
  if (!g->observers) return;
  const struct observed o = {.inst = in, .seq = x->seq, .sub_core = x->sub_core, .warp = x->warp};
  observe_stage(g->observers, &o, STAGE_EXECUTE, now);
  observe_stage(g->observers, &o, STAGE_WRITE, at - 1);
  observe_done(g->observers, &o, at);
  observe_written(g->observers, &o, at);
  observe_sources_read(g->observers, &o, at);
}

static void begin(struct gmma *g, uint64_t now)
{
  struct gmma_group *w = &g->group[g->ready[g->ready_head]];
  struct gmma_product *x = &w->product[w->head];
  const uint64_t cycles = duration(g, &x->inst->gmma), taken = g->ideal ? 1 : cycles;
  g->ready_head = (g->ready_head + 1) % GMMA_READY;
  g->n_ready--;
  g->free_at = now + taken;
  g->stats->gmma_products++;
  g->stats->gmma_cycles += taken;
  for (unsigned i = 0; i < GMMA_WARPS; i++) {
    end_part(g, x->inst, &x->part[i], now, now + cycles + g->latency);
    w->issued[i]--;
  }
  x->n_parts = 0;
  w->head = (uint8_t)((w->head + 1) % GMMA_QUEUE);
}

void gmma_cycle(struct gmma *g, uint64_t now)
{
  g->wake = 0;
  while (g->n_ready && g->free_at <= now) begin(g, now);
  g->next_at = g->n_ready ? g->free_at : CYCLE_NEVER;
}
