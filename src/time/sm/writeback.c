#include "time/sm/writeback.h"

#include "base/bug.h"

void writeback_init(struct writeback *w, const struct params *p, struct sm_stats *stats)
{
  *w = (struct writeback){.banks = p->regfile_banks,
                          .ports = p->regfile_write_ports,
                          .entries = p->regfile_result_queue,
                          .stats = stats};
  BUG_ON(w->banks >= WRITEBACK_MAX_BANKS || w->ports > PORTS_MAX);
}

static unsigned ports_of(const struct writeback *w, unsigned bank)
{
  return bank == w->banks ? 1 : w->ports;
}

/* -1: a file whose ports are not modelled. */
static int bank_of(const struct writeback *w, const struct operand *o)
{
  if (o->file == FILE_R) return (int)(o->index & (w->banks - 1));
  return o->file == FILE_UR ? (int)w->banks : -1;
}

/* Reserves a port for one register; returns the cycles it waits in the result queue. */
static unsigned reserve(struct writeback *w, unsigned bank, uint64_t now, uint64_t at)
{
  struct ports *p = &w->bank[bank];
  ports_advance(p, ports_of(w, bank), now);
  return (unsigned)(ports_take_first(p, ports_of(w, bank), at) - at);
}

/* Longest wait of the operand's registers; a bank takes one of them per cycle. */
static unsigned reserve_all(struct writeback *w, const struct operand *o, uint64_t now, uint64_t at)
{
  int first = bank_of(w, o);
  if (first < 0) return 0;
  unsigned longest = 0, bank = (unsigned)first;
  for (unsigned k = 0; k < o->width; k++) {
    unsigned wait = reserve(w, bank, now, at + k / w->banks);
    if (wait > longest) longest = wait;
    bank = writeback_next_bank(w, bank);
  }
  return longest;
}

uint64_t writeback_fixed_any(struct writeback *w, const struct inst *in, uint64_t now, uint64_t at)
{
  unsigned longest = 0;
  for (unsigned i = 0; i < in->n_dst; i++) {
    unsigned wait = reserve_all(w, &in->dst[i], now, at);
    if (wait > longest) longest = wait;
  }
  if (longest == 0) return now + 1;
  w->stats->result_waits += longest;
  return longest < w->entries ? now + 1 : now + 1 + (longest - w->entries + 1);
}

unsigned writeback_bank(const struct writeback *w, const struct inst *in, unsigned *n)
{
  *n = 0;
  for (unsigned i = 0; i < in->n_dst; i++) {
    int bank = bank_of(w, &in->dst[i]);
    if (bank < 0) continue;
    *n = in->dst[i].width;
    return (unsigned)bank;
  }
  return 0;
}

bool writeback_take(struct writeback *w, unsigned bank, uint64_t now)
{
  struct ports *p = &w->bank[bank];
  unsigned n_ports = ports_of(w, bank);
  ports_advance(p, n_ports, now);
  for (unsigned k = 0; k < n_ports; k++) {
    if (!ports_open(p, k, now, 1)) continue;
    ports_take(p, k, now);
    return true;
  }
  w->stats->write_waits++;
  return false;
}
