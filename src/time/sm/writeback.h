/* Write side of a sub-core's register files: result queue, write ports and their arbiter (Huerta et al.,
 * MICRO 2025, section 5.3).
 *
 *   params  regfile.banks, regfile.write_ports (of a bank of the vector registers; uniform registers
 *           are one bank with one port), regfile.result_queue
 *   rule    A fixed-latency result has the port before any other. When two of them meet in one bank,
 *           the later one waits in the result queue; its fixed-latency consumers get it from there, so
 *           nobody is delayed. A result of a variable-latency unit that meets one waits a cycle, and
 *           its dependence counter with it. A full result queue holds the issue port.
 *   callers no cycle of its own: the sub-core books fixed-latency results as they issue (writeback_fixed); depend.c
 *           takes what ports are left in its own (writeback_take)
 *   order   fixed-latency results reserve their cycle when they issue; at the end of each cycle the
 *           others take what is left, in the order they are due
 * Consumers of a fixed-latency result: through bypass or queue from lat.* on when they are of fixed latency;
 * memory addresses and the other variable-latency units read the register file, a cycle later or more: the
 * distances gap.* (paper's Listing 3), which the compiler keeps.
 *   not modelled: ports of predicates and uniform predicates (a bit per lane: no shortage is known)
 */
#ifndef WS_TIME_SM_WRITEBACK_H
#define WS_TIME_SM_WRITEBACK_H

#include "config/params.h"
#include "isa/inst.h"
#include "time/sm/ports.h"
#include "time/sm/sm_stats.h"

/* Banks of the vector registers, then one of the uniform registers. */
enum { WRITEBACK_MAX_BANKS = 9 };

struct writeback {
  unsigned banks, ports, entries; /* params */
  struct ports bank[WRITEBACK_MAX_BANKS]; /* write ports */
  struct sm_stats *stats;
};

void writeback_init(struct writeback *, const struct params *, struct sm_stats *);

/* writeback_fixed for results of any shape. */
uint64_t writeback_fixed_any(struct writeback *, const struct inst *, uint64_t now, uint64_t at);

/* A fixed-latency instruction issues at `now`; its result reaches the write port in cycle `at`.
 * Reserves a port for each of its registers; returns the first cycle in which the next instruction may
 * issue as far as the result queue is concerned (now + 1 unless it is full). */
static inline uint64_t writeback_fixed(struct writeback *w, const struct inst *in, uint64_t now,
                                       uint64_t at)
{
  const struct operand *o = &in->dst[0];
  if (in->n_dst == 1 && o->file == FILE_R && o->width == 1) { /* nearly always, and free */
    struct ports *p = &w->bank[o->index & (w->banks - 1)];
    ports_advance(p, w->ports, now);
    if (ports_open(p, 0, at, 1)) {
      ports_take(p, 0, at);
      return now + 1;
    }
  }
  return writeback_fixed_any(w, in, now, at);
}

/* First bank a variable-latency result writes, and its number of registers in *n (0: predicates only,
 * or no result). */
unsigned writeback_bank(const struct writeback *, const struct inst *, unsigned *n);

/* A variable-latency result wants to write a register of this bank in cycle `now`. False: the port
 * is taken, try again in the next cycle. */
bool writeback_take(struct writeback *, unsigned bank, uint64_t now);

/* The bank behind `bank` for a result of several registers. */
static inline unsigned writeback_next_bank(const struct writeback *w, unsigned bank)
{
  return bank == w->banks ? bank : (bank + 1) & (w->banks - 1);
}

#endif
