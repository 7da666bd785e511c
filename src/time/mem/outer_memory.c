#include "time/mem/outer_memory.h"

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "time/mem/l2_map.h"
#include "time/mem/partition.h"

enum { READ_BITS = 20, NO_READ = (1 << READ_BITS) - 1 }; /* an id's low bits are the read's number */

void outer_memory_init(struct outer_memory *o, struct arena *a, const struct params *p, const struct outer_port *port,
                       struct partition *part, unsigned n_partitions)
{
  *o = (struct outer_memory){.params = p, .port = *port, .n_channels = p->dram_channels, .horizon = TIME_NEVER,
                             .n_reads = l2_slice_max_reads(p) * p->l2_slices};
  BUG_ON(o->n_reads > NO_READ);
  o->dram = ARENA_ARRAY(a, struct dram *, o->n_channels);
  o->channel = ARENA_ARRAY(a, struct outer_channel, o->n_channels);
  o->read = ARENA_ARRAY(a, struct outer_read, o->n_reads);
  for (uint32_t i = 0; i < o->n_reads; i++) o->read[i].next = i + 1 < o->n_reads ? i + 1 : NO_READ;
  for (unsigned i = 0, c = 0; i < n_partitions; i++)
    for (unsigned k = 0; k < part[i].n_channels; k++, c++) {
      o->dram[c] = &part[i].channel[k];
      dram_replace(o->dram[c], &o->channel[c]);
    }
}

void outer_memory_free(struct outer_memory *o)
{
  for (uint32_t i = 0; i < o->n_channels; i++) mem_free(o->channel[i].item);
}

void outer_channel_put(struct outer_channel *c, const struct outer_item *x)
{
  if (c->n == c->room) {
    c->room = c->room ? 2 * c->room : 64;
    c->item = mem_resize(c->item, c->room, sizeof *c->item);
  }
  c->item[c->n++] = *x;
}

/* ---- addresses: back from a channel to the GPU's memory --------------------------------------- */

static uint64_t line_of(const struct outer_memory *o, uint32_t channel, const struct outer_item *x)
{
  const struct params *p = o->params;
  const unsigned partitions = partition_count(p);
  const unsigned slices = p->l2_slices / partitions, channels = p->dram_channels / partitions;
  const uint32_t partition = channel / channels;
  const struct l2_place of_many = {partition, x->local * channels + channel % channels};
  const struct l2_place of_one = {partition * slices + (uint32_t)(x->local % slices), x->local / slices};
  return l2_line_at(p, channels > 1 ? of_many : of_one);
}

/* ---- requests ---------------------------------------------------------------------------------- */

static uint64_t wait_for(struct outer_memory *o, uint32_t channel, const struct outer_item *x)
{
  const uint32_t i = o->free;
  BUG_ON(i == NO_READ);
  struct outer_read *r = &o->read[i];
  o->free = r->next;
  *r = (struct outer_read){.id = ++o->serial << READ_BITS | i, .line = x->line, .channel = channel,
                           .sectors = x->sectors, .slice = x->slice};
  o->waiting++;
  return r->id;
}

static void hand_over(struct outer_memory *o, uint32_t channel, const struct outer_item *x)
{
  const struct outer_request q = {.id = x->write ? 0 : wait_for(o, channel, x), .at = x->at,
                                  .line = line_of(o, channel, x), .sectors = x->sectors, .partial = x->partial};
  o->handed++;
  o->port.request(o->port.ctx, &q);
}

static picos next_at(const struct outer_channel *c)
{
  return c->handed < c->n ? c->item[c->handed].at : TIME_NEVER;
}

/* A merge of the channels' lists, which are few and mostly empty. */
static void hand_over_all(struct outer_memory *o)
{
  for (;;) {
    picos first = TIME_NEVER;
    uint32_t from = 0;
    for (uint32_t i = 0; i < o->n_channels; i++)
      if (next_at(&o->channel[i]) < first) first = next_at(&o->channel[i]), from = i;
    if (first == TIME_NEVER) break;
    hand_over(o, from, &o->channel[from].item[o->channel[from].handed++]);
  }
  for (uint32_t i = 0; i < o->n_channels; i++) o->channel[i].n = o->channel[i].handed = 0;
}

/* ---- answers ----------------------------------------------------------------------------------- */

static void answer(struct outer_memory *o, uint32_t i, picos at)
{
  struct outer_read *r = &o->read[i];
  at = later(at, o->now);
  dram_deliver(o->dram[r->channel], &(struct dram_answer){.at = at, .line = r->line, .row = r->id >> READ_BITS,
                                                          .sectors = r->sectors, .slice = r->slice});
  part_wake(o->channel[r->channel].wake, at);
  r->id = 0;
  r->next = o->free;
  o->free = i;
  o->waiting--;
}

bool outer_memory_answer(struct outer_memory *o, uint64_t id, picos at)
{
  const uint32_t i = (uint32_t)(id & NO_READ);
  if (!id || i >= o->n_reads || o->read[i].id != id) return false;
  answer(o, i, at);
  return true;
}

static void answer_all(struct outer_memory *o)
{
  for (uint32_t i = 0; o->waiting && i < o->n_reads; i++)
    if (o->read[i].id) answer(o, i, o->now);
}

/* ---- the part ----------------------------------------------------------------------------------- */

static picos outer_run(void *self, picos from, picos to)
{
  struct outer_memory *o = self;
  (void)from;
  o->now = to;
  hand_over_all(o);
  if (o->waiting && o->done(o->ctx)) answer_all(o);
  return !o->waiting || o->horizon == TIME_NEVER ? TIME_NEVER : later(o->horizon, to);
}

static uint64_t outer_progress(const void *self)
{
  return ((const struct outer_memory *)self)->handed;
}

static bool outer_busy(const void *self)
{
  return ((const struct outer_memory *)self)->waiting;
}

static void outer_dump(const void *self, FILE *out)
{
  const struct outer_memory *o = self;
  fprintf(out, "  memory outside of the GPU: %u reads wait for an answer\n", o->waiting);
}

const struct part_ops outer_memory_ops = {outer_run, outer_progress, outer_busy, outer_dump};
