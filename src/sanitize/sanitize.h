/* The sanitizer: finds defects of kernels while they run without time, as compute-sanitizer does on a GPU
 * (docs/sanitize.md).
 *
 *   struct sanitizer *s = sanitizer_new(&options, gmem);
 *   … sim_options.tap = sanitizer_begin(s, module, launch);  simulate(…);  sanitizer_end(s, &result.fault);
 *   errors = sanitizer_finish(s);
 *   sanitizer_free(s);
 *
 * It watches steps through isa/watch.h, and asks func/sass/step_observer.h for what lies behind them. What the host
 * does to device memory it must be told.
 */
#ifndef WS_SANITIZE_SANITIZE_H
#define WS_SANITIZE_SANITIZE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "host/launch.h"
#include "isa/watch.h"
#include "load/module.h"

enum sanitize_tool {
  SANITIZE_MEMCHECK = 1 << 0,  /* addresses */
  SANITIZE_RACECHECK = 1 << 1, /* accesses that nothing orders */
  SANITIZE_INITCHECK = 1 << 2, /* reads of what nobody wrote */
  SANITIZE_SYNCCHECK = 1 << 3, /* barriers and masks */
  SANITIZE_ALL = 15,
  SANITIZE_LEAKS = 1 << 4,     /* memory that is never freed, told at the end */
};

struct sanitize_options {
  unsigned tools;      /* enum sanitize_tool */
  unsigned level;      /* 0: errors; 1: and warnings; 2: and notes (finding.h) */
  uint64_t limit;      /* findings that are printed; 0: 100 */
  FILE *out;           /* for the reports */
};

struct sanitizer;

/* Between allocations of a run that is watched: an address that is a little off hits none. Bytes. */
enum { SANITIZE_GAP = 64 << 10 };

/* "error", "warn" or "info": options.level. False: none of these. */
bool sanitize_level_parse(const char *text, unsigned *level);
/* "memcheck", "racecheck", "initcheck", "synccheck", "all", several with commas. False: *bad is the one that is
 * none. */
bool sanitize_tools_parse(const char *text, unsigned *tools, const char **bad);

/* mem must outlive it. Ends the process when the host has no memory. */
struct sanitizer *sanitizer_new(const struct sanitize_options *, const struct gmem *mem);
void sanitizer_free(struct sanitizer *);

/* A launch of a kernel of the module begins. The tap is for sim_options; it and the launch last until sanitizer_end. */
const struct step_tap *sanitizer_begin(struct sanitizer *, const struct module *, const struct launch *);
/* It has ended; fault->kind is FAULT_NONE when nothing went wrong. Prints what was found. */
void sanitizer_end(struct sanitizer *, const struct fault *fault);

/* Errors so far. */
uint64_t sanitizer_errors(const struct sanitizer *);

/* What the host did. A new allocation of device memory holds nothing; without this call all of it counts as written. */
void sanitizer_allocated(struct sanitizer *, uint64_t addr, uint64_t bytes);
void sanitizer_freed(struct sanitizer *, uint64_t addr);
void sanitizer_written(struct sanitizer *, uint64_t addr, uint64_t bytes);
void sanitizer_copied(struct sanitizer *, uint64_t to, uint64_t from, uint64_t bytes);
/* Memory that was never freed, for SANITIZE_LEAKS. */
void sanitizer_leaked(struct sanitizer *, uint64_t addr, uint64_t bytes);

/* Prints the summary; the number of errors. */
uint64_t sanitizer_finish(struct sanitizer *);

#endif
