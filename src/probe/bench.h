/* A bench runs small assembled programs on one simulated GPU, one after the other, and hands back what
 * they stored: the only thing a microbenchmark sees, here as on silicon.
 *
 * A program is an assembler file (docs/assembly.md) with one kernel named "probe" and one parameter,
 * the address of the result words, which are zero at the start.
 */
#ifndef WS_PROBE_BENCH_H
#define WS_PROBE_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "config/params.h"
#include "host/simulate.h"

struct bench;

/* params must outlive the bench. NULL: no host memory. */
struct bench *bench_new(const struct params *);
void bench_free(struct bench *);
const struct params *bench_params(const struct bench *);

/* Assembles and runs a program with ctas CTAs of `threads` threads, and copies the first n_words result
 * words to out. With SIM_HAZARDS_EMULATE they are what silicon computes; with SIM_HAZARDS_CHECK *stale says
 * whether an instruction reads or overwrites a register too early (else it may be NULL). False with e filled: the text
 * does not assemble, the kernel faults or does not fit. */
bool bench_run(struct bench *, const char *text, unsigned ctas, unsigned threads, uint32_t *out,
               size_t n_words, enum sim_hazards, bool *stale, struct err *e);

/* How memory is addressed in a target's code. */
struct bench_dialect {
  unsigned sm_min, sm_max;
  bool uniform;             /* it has uniform registers */
  unsigned param;           /* offset of the parameters in constant bank 0 */
  const char *load_descriptor; /* instruction that loads UR4, "" when none is needed */
  const char *descriptor;   /* what stands before a global address */
  const char *scope;        /* what follows LDG.E or STG.E and the width */
  const char *wide;         /* suffix of a 64-bit address register */
  const char *carries, *uniform_carries; /* carry outputs that IADD3 and UIADD3 name before operand 2 */
};

/* NULL with e filled: no microbenchmarks for this target. */
const struct bench_dialect *bench_dialect(unsigned sm, struct err *e);

#endif
