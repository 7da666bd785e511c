/* Ports of the copy engine (copy_engine.h) inside of a memory unit: a piece of a copy is read off its instruction,
 * requests leave by the SM's port, the data array is the one that accesses of the warps use, too, and data for other
 * CTAs of a cluster go through the SM-to-SM network. Arrivals at mbarriers that move no data (commits of tensor memory,
 * answers of the work dispatcher) take the same ways without the engine.
 */
#ifndef WS_TIME_SM_COPY_PORTS_H
#define WS_TIME_SM_COPY_PORTS_H

#include "time/sm/copy_engine.h"
#include "time/sm/txn.h"

struct mem_unit;

struct copy_ports copy_ports_of(struct mem_unit *);

static inline bool is_commit(const struct txn *t)
{
  return t->kind == TXN_COPY && t->inst->mem.copy == COPY_COMMIT;
}

static inline bool asks_for_work(const struct txn *t)
{
  return t->kind == TXN_COPY && t->inst->mem.copy == COPY_WORK;
}

/* What tells mbarriers something and moves no data: the copy engine has nothing to do with it. */
static inline bool is_message(const struct txn *t)
{
  return is_commit(t) || asks_for_work(t);
}

/* A message is due, a commit of tensor memory (tmem.h calls this) or what the work dispatcher has given away: it
 * arrives at mbarriers of the own CTA, or of others through the SM-to-SM network. */
void copy_ports_message_due(void *mem_unit, uint16_t id, uint64_t now);

/* All that a copy or a message had to do is done: its instruction completes. */
void copy_ports_done(struct mem_unit *, uint16_t id, uint64_t now);

#endif
