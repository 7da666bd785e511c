/* Inference: parameters of a core found from cycles alone, as one would on silicon. A test runs windows
 * (probe/window.h), derives numbers from their clock reads, and reports each beside the preset's value
 * and the published one. Tests never look at the preset to find a number: only the target decides which
 * instructions there are.
 */
#ifndef WS_PROBE_INFER_H
#define WS_PROBE_INFER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "config/params.h"
#include "probe/bench.h"
#include "probe/window.h"

enum { INFER_UNKNOWN = -1 };

/* One number or word that was found. "" stands for a preset or published value that there is not. */
struct infer_finding {
  const char *name, *inferred, *preset, *published;
  bool as_preset, as_published; /* equal, or within what the test allows */
};

struct infer {
  struct bench *bench;
  const struct params *params; /* only to report beside what was inferred */
  const char *emit;            /* folder that gets the programs; NULL: none */
  const char *from;            /* folder with what silicon stored, PROGRAM/out.bin each; NULL: the bench runs */
  const char *test;            /* that runs; names the programs */
  unsigned n_windows;          /* it ran so far */
  void (*report)(void *ctx, const struct infer_finding *);
  void *ctx;
};

struct infer_test {
  const char *name, *what;
  bool (*run)(struct infer *, struct err *);
  bool long_one; /* only when it is named */
};

/* All tests, ended by one without name (infer_tests.c). */
extern const struct infer_test infer_tests[];

/* Runs a test and reports what it finds. False with e filled: a window does not assemble or run. */
bool infer_run(struct infer *, const struct infer_test *, struct err *e);

/* ---- for tests ---- */

/* preset: what preset or formula say; published: for GA102 by Huerta et al., MICRO 2025; INFER_UNKNOWN each
 * when there is none. slack: cycles that the method cannot tell apart. */
void infer_number(struct infer *, const char *name, int64_t inferred, int64_t preset, int64_t published,
                  int64_t slack);
/* The same with words, "" when there is none. */
void infer_word(struct infer *, const char *name, const char *inferred, const char *preset,
                const char *published);

/* Runs a window; its name and cells are not looked at. has_value: R12 counts, too, as silicon
 * computes it. False with e filled as by window_run. */
bool infer_window(struct infer *, const struct window *, struct window_result *, struct err *e);
/* Whether the target has the instruction. */
bool infer_has(const struct infer *, const char *inst);
/* Cycles from the first clock read of all warps to the latest last one of any. */
bool infer_cycles(struct infer *, unsigned warps, unsigned lanes, int64_t *cycles, struct err *e,
                  const char *code, ...) __attribute__((format(printf, 6, 7)));
/* Steady state: cycles that `more` further repetitions of an instruction take. */
bool infer_growth(struct infer *, unsigned warps, const char *inst, unsigned few, unsigned more,
                  int64_t *cycles, struct err *e);

/* Text of a window that is put together piece by piece. */
struct infer_text {
  char *text;
  size_t n, capacity;
};
void infer_add(struct infer_text *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void infer_text_free(struct infer_text *);

/* ---- the tests, by file ---- */

typedef bool infer_function(struct infer *, struct err *);
infer_function infer_intervals, infer_latency, infer_results;        /* infer_pipe.c */
infer_function infer_stalls, infer_control, infer_policy, infer_barrier; /* infer_issue.c */
infer_function infer_banks, infer_banks_all, infer_reuse;            /* infer_operand.c */
infer_function infer_icache, infer_ibuffer, infer_stream, infer_constants; /* infer_front.c */
infer_function infer_queue, infer_arbiter, infer_access, infer_conflicts; /* infer_memory.c */

#endif
