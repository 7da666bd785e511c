/* Metrics by their names in Nsight Compute, as `warpstep ncu` prints them: rows of ncu_metric.def, and what their names
 * say of roll-ups and of what they are divided by:
 *
 *   sm__inst_executed . avg . per_cycle_active
 *   a row             . its roll-up over instances . what of it
 *
 * Formulas, with t the kernel's time, n the instances, e the elapsed and a the active cycles of one instance's clock,
 * p the peak of one instance in a cycle (NVIDIA, Nsight Compute's Profiling Guide, "Metrics Decoder"):
 *
 *   per_second v / t;  per_cycle_elapsed v / e;  per_cycle_active v / a;  peak_sustained p, of .sum p n;
 *   pct_of_peak_sustained_elapsed 100 v / (peak_sustained e), _active 100 v / (peak_sustained a)
 */
#ifndef WS_NCU_METRIC_H
#define WS_NCU_METRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "ncu/ncu_action.h"

/* GPUs that have a metric, by compute capability: bits. */
enum ncu_target {
  T70 = 128, T75 = 1, T80 = 2, T86 = 4, T89 = 8, T90 = 16, T100 = 32, T120 = 64,
  ALL = 255, FROM_75 = ALL & ~T70, FROM_80 = FROM_75 & ~T75, FROM_86 = FROM_80 & ~T80, FROM_90 = T90 | T100 | T120,
  UNTIL_100 = ALL & ~T120, UNTIL_90 = UNTIL_100 & ~T100,
};
/* The bit of 86; 0: none. */
unsigned ncu_target_of(unsigned cc);
/* What a chip of NVIDIA's is ("ga102"); 0: no chip we know. */
unsigned ncu_chip_cc(const char *chip);
/* The n-th chip; NULL: there are no more. */
const char *ncu_chip_at(unsigned n);

enum ncu_kind { NCU_COUNTER, NCU_PLAIN, NCU_HIGHEST };

struct ncu_metric_row {
  const char *name, *unit, *text; /* text "": what its name says */
  const char *parts;              /* NCU_HIGHEST: names with blanks between them */
  uint8_t kind, domain, targets;
  bool whole;  /* printed without decimals */
  bool absent; /* never known here */
};
const struct ncu_metric_row *ncu_metric_row(unsigned row);

enum ncu_roll { NCU_NO_ROLL, NCU_SUM, NCU_AVG, NCU_MIN, NCU_MAX };

enum { NCU_NAME = 192 };
struct ncu_metric {
  char name[NCU_NAME]; /* as it was asked for */
  int row;             /* -1: no such metric: n/a */
  uint8_t roll;        /* enum ncu_roll */
  uint8_t of;          /* index into the suffixes behind it */
};

/* False: no metric of ours has the name; the metric is n/a. Names that are too long are cut. */
bool ncu_metric_parse(const char *name, struct ncu_metric *);
/* Whether one of these GPUs has a metric of ours (enum ncu_target). */
bool ncu_metric_on(const char *name, unsigned targets);
/* NAN: not known, also of GPUs that have no such metric. */
double ncu_metric_value(const struct ncu_action *, const struct ncu_metric *);
/* The same by a name of ours, which must exist. */
double ncu_value(const struct ncu_action *, const char *name);
/* "inst/cycle". */
void ncu_metric_unit(const struct ncu_metric *, char *buf, size_t size);
/* Whether it is a count: printed without decimals. */
bool ncu_metric_whole(const struct ncu_metric *);

#endif
