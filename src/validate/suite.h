/* A validation suite: measured figures of kernels, and how to run each of them here.
 *
 * data/validation/README.md has the format of FILE.suite and of the CSV beside it.
 */
#ifndef WS_VALIDATE_SUITE_H
#define WS_VALIDATE_SUITE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

enum suite_counter {
  COUNTER_WARP_INSTS, COUNTER_FP16, COUNTER_FP32, COUNTER_FP64, COUNTER_INTEGER,
  COUNTER_L1_BYTES, COUNTER_L2_BYTES, COUNTER_DRAM_BYTES, COUNTER__N
};

/* The name of its column. */
const char *suite_counter_name(enum suite_counter);

struct suite_row {
  const char *id, *group, *run, *series; /* run: "": the program of the command line */
  bool fitted;
  unsigned launch;             /* 0: `run` has one launch, or it is the first of `kernel` */
  const char *kernel;          /* its name, NULL: not known; grid[0], block[0]: 0: any */
  unsigned grid[3], block[3];
  double measured;             /* > 0 */
  double size;                 /* NAN: none */
  double counter[COUNTER__N];  /* NAN: not measured */
  double recorded;             /* signed error in percent of the last accepted run, NAN: none */
  /* Filled by a run: */
  bool ran;
  const char *why;             /* why it did not run */
  double simulated;
  double got[COUNTER__N];      /* NAN: not known */
  bool comparable;             /* counters agree */
};

struct suite {
  const char *path, *title, *source, *gpu, *unit, *recorded_path;
  const char **set;
  unsigned n_set;
  double tolerance_pct, agree_pct;
  bool agree[COUNTER__N];
  bool cold;
  struct suite_row *row;
  size_t n_rows;
  struct arena arena;
};

/* data: another CSV than the suite names; NULL: that one. Call suite_free even after a failure. */
bool suite_load(struct suite *, const char *path, const char *data, struct err *e);
void suite_free(struct suite *);

/* Signed error of a row in percent: above zero is too slow. Only for rows that ran. */
double suite_error(const struct suite_row *);
/* Whether the error is larger than the recorded one and the tolerance. */
bool suite_worse(const struct suite *, const struct suite_row *);
/* Whether the counters that must agree do. Only for rows that ran. */
bool suite_counters_agree(const struct suite *, const struct suite_row *);

/* Replaces the file of recorded errors by the rows that ran, and keeps those that did not. */
bool suite_record(const struct suite *, struct err *e);

#endif
