/* Inference: parameters of a core found from cycles alone, as one would on silicon. A test runs windows
 * (probe/window.h), derives numbers from their clock reads, and reports each beside the preset's value
 * and the published one. Tests never look at the preset to find a number.
 */
#ifndef WS_PROBE_INFER_H
#define WS_PROBE_INFER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "config/params.h"
#include "probe/bench.h"

enum { INFER_UNKNOWN = -1, INFER_CODE = 4096 /* characters of a window */ };

struct infer {
  struct bench *bench;
  const struct params *params; /* only to report beside what was inferred */
  /* Called for every number. expected: what preset or formula say; published: for GA102 by Huerta et al.,
   * MICRO 2025; INFER_UNKNOWN each when there is none. */
  void (*report)(void *ctx, const char *name, int64_t inferred, int64_t expected, int64_t published);
  void *ctx;
};

struct infer_test {
  const char *name, *what;
  bool (*run)(struct infer *, struct err *);
};

/* Themes, each ended by a test without name. */
extern const struct infer_test infer_memory[], infer_issue[];

/* Cycles from the first clock read of all warps to the latest last one of any; `lanes` threads in the last
 * warp. False with e filled as by window_run. */
bool infer_cycles(struct infer *, unsigned warps, unsigned lanes, int64_t *cycles, struct err *e,
                  const char *code, ...) __attribute__((format(printf, 6, 7)));
/* Steady state: cycles that `more` further repetitions of an instruction take. */
bool infer_growth(struct infer *, unsigned warps, const char *inst, unsigned few, unsigned more,
                  int64_t *cycles, struct err *e);

#endif
