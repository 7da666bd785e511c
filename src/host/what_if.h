/* What a launch would gain without one of its costs: the same launch again, with that cost made ideal.
 *
 * Most rows change parameters of the machine (ideal.*, *.perfect, a pipe's interval); `tail` runs the whole waves of
 * the grid alone and gives the rest of its CTAs their rate. The gains are not a sum: without one cost another one
 * counts, and two together may save more or less than each.
 */
#ifndef WS_HOST_WHAT_IF_H
#define WS_HOST_WHAT_IF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "config/params.h"
#include "host/simulate.h"

struct what_if {
  const char *name, *text; /* "bank_conflicts"; what the run is without: one line */
  bool (*seen)(const struct sim_result *); /* is there such a cost in the run? */
  void (*apply)(struct params *);
  bool whole_waves;        /* tail: the grid changes, not the machine */
};

enum {
  WHAT_IF_N = 1 /* tail */
#define WHAT_IF(name, text, seen, ...) +1
#include "host/what_if.def"
#undef WHAT_IF
};
extern const struct what_if what_ifs[WHAT_IF_N];

/* One row of the table. */
struct what_if_result {
  const struct what_if *what;
  bool seen;           /* false: there was nothing to leave out, the rest is 0 */
  uint64_t cycles;     /* of the kernel without the cost; 0: not known, see why */
  const char *why;     /* NULL, or why its cycles are not known */
};

/* Bits of the rows that `list` names: "all", or names with commas between. False: e names what is none of them. */
bool what_if_choose(const char *list, uint64_t *rows, struct err *e);

/* Runs `launch`, whose memory is as before the run `base`, without the cost. `s` has the parameters of what_if.apply
 * and runs nothing else later. `o` as for the run. */
bool what_if_run(const struct what_if *, struct simulator *s, const struct params *, struct launch *,
                 const struct sim_options *o, const struct sim_result *base, struct what_if_result *, struct err *e);

/* The same for what the run `base` need not be repeated for. */
bool what_if_idle(const struct what_if *, const struct params *, struct launch *, const struct sim_result *base);

#endif
