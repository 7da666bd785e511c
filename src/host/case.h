/* A launch case on a device: set up, (the caller runs it), check, save.
 *
 *   struct case_run *r = case_setup(&lc, &config, &e);
 *   … func_run(case_launch(r)->func, …)  or a timed run of func_source(case_launch(r)->func) …
 *   case_check(r, &list, &n, &e);
 *   case_free(r);
 */
#ifndef WS_HOST_CASE_H
#define WS_HOST_CASE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "host/launch.h"
#include "host/launchfile.h"

struct case_run;

/* Loads the module for config->sm ("%d" in the cubin path), allocates and fills buffers, sets
 * symbols, packs the arguments, builds the launch. config->print (may be NULL) gets device printf
 * as it is written, and it is captured. The launch case must outlive the run. */
struct case_run *case_setup(const struct launch_case *, const struct device_config *config,
                            struct err *e);
void case_free(struct case_run *);

/* Before a checkpoint: what the kernel has printed is passed on. Behind it, in a process that goes on from there: what
 * it prints goes to `print`, as in case_setup. */
void case_flush(struct case_run *);
void case_print_again(struct case_run *, FILE *print);
struct launch *case_launch(struct case_run *);
struct device *case_device(struct case_run *);
struct device_code *case_code(struct case_run *);
/* Guest address of a buffer; 0 when there is none of this name. */
uint64_t case_buffer_address(const struct case_run *, const char *name);

/* One expectation and how it came out. */
struct case_result {
  const char *name;      /* of the buffer or symbol; "stdout" */
  bool ok;
  struct compare_result values; /* buffers and symbols */
  char text[256];        /* one line for people: "z: 3 of 16384 differ; [0] got 1, want 2" */
};

/* Compares all expectations, in the order of the case; of a captured launch, all of memory. The list lives as long as
 * the run. False: an expected file is missing or has the wrong size (e filled), not a mismatch. */
bool case_check(struct case_run *, const struct case_result **list, unsigned *n, struct err *e);

/* Writes every buffer and symbol to DIR/NAME.bin (raw little-endian; of a captured launch, every allocation to
 * DIR/ADDRESS.bin), and device printf, if any, to
 * DIR/stdout.txt; DIR is created when missing. */
bool case_save(struct case_run *, const char *dir, struct err *e);

#endif
