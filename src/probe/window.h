/* Windows: a few instructions between clock reads, as control-bit studies measure them, and files of
 * them with what silicon took (docs/probe.md).
 *
 *   CLK | NOP | FADD R8,R9,R10{S4} | FFMA R12,R8,R8,R8 | NOP | CLK
 *
 * CLK reads the SM clock. Braces hold the control information that differs from stall 1, no yield, no
 * counters: S stall, Y yield, W and R the counters released at write-back and at operand read, B the
 * counters waited for. n*X repeats an instruction or a group (X | Y); R# in
 * an instruction is R16, R18, and so on. [Rn.64] is a global address in any
 * target's notation; IADD3 is written without carry outputs. NAME: is a label for BRA.
 *
 * A window runs twice in a loop, by one warp or several that start together; the second time counts, when
 * the instruction caches hold it. Before it R2:R3 and R14 hold a global address and a shared one, UR8:UR9
 * and UR10 the same two, R4 to R11 the values n - 3, as FP32.
 */
#ifndef WS_PROBE_WINDOW_H
#define WS_PROBE_WINDOW_H

#include "base/arena.h"
#include "base/err.h"
#include "probe/bench.h"

enum { WINDOW_MAX_CLOCKS = 24, WINDOW_MAX_WARPS = 32, WINDOW_RESULT = 12 /* R12 */ };
enum { WINDOW_LAST_CLOCK = -1, WINDOW_MAX_CELLS = WINDOW_MAX_WARPS * WINDOW_MAX_CLOCKS };

/* One number to compare: cycles from clock read window.from to another one. */
struct window_cell {
  unsigned warp;
  int clock;      /* 0, the first, …, or WINDOW_LAST_CLOCK */
  int64_t cycles; /* stated by the source; -1: not stated */
};

struct window {
  const char *name, *code;
  unsigned constants; /* bytes of constant bank 3, all zero */
  unsigned warps;    /* of one CTA */
  unsigned lanes;    /* threads of its last warp */
  unsigned from;     /* clock read the cycles count from: 0, the first, … */
  unsigned n_cells;  /* at least one */
  struct window_cell *cell;
  bool common;       /* cells count from the first warp's clock read, not from their own warp's */
  bool ascending;    /* cells of the last clock reads are compared in ascending order: which sub-core an arbiter
                        serves first depends on what went before */
  bool first; /* the one cell is of the warp that reads the clock first: which one an arbiter serves first depends
                 on what went before */
  uint32_t slack;    /* cycles that memory noise allows */
  const struct window *minus; /* only the difference of the first cells counts; may be NULL */
  bool has_stale, stale; /* the source states whether results are wrong (right) for want of waiting */
  bool has_wrong, wrong; /* the source states whether R12 holds something else than the program says */
  bool has_value;    /* the source states what R12 holds behind the window */
  uint32_t value;
  const char *gap;   /* why the model is known to differ; NULL: it must not */
};

struct window_file {
  const char *gpu;    /* preset to simulate */
  const char *source; /* board and publication */
  unsigned n;
  struct window *window;
};

/* What a window gave. */
struct window_result {
  unsigned n_clocks;
  uint32_t clock[WINDOW_MAX_WARPS][WINDOW_MAX_CLOCKS];
  bool stale; /* by the hazard checker; only when the window states it */
  bool wrong; /* by hazard emulation; only when the window states that or a value */
  uint32_t value[WINDOW_MAX_WARPS]; /* R12 of lane 0 behind the window */
};

/* Reads a file of windows; strings live in the arena. Errors name file and line. */
bool window_file_read(struct window_file *, struct arena *, const char *path, struct err *e);

/* False with e filled: the code is not understood or does not run. */
bool window_run(struct bench *, const struct window *, struct window_result *, struct err *e);
/* The same from the result buffer that a GPU stored in a file; nothing is known about hazards then. False with e
 * filled: the file is missing or has another size. */
bool window_read(const struct window *, unsigned sm, const char *path, struct window_result *, struct err *e);
/* The program of a window, to be freed. NULL with e filled as by window_run. */
char *window_program(const struct window *, unsigned sm, struct err *e);
/* Whether the target has the instructions of the code. */
bool window_assembles(const char *code, unsigned sm);
/* Bytes of the result buffer, the program's parameter. */
size_t window_result_bytes(const struct window *);
unsigned window_threads(const struct window *);
/* What the run gave for every cell, in cycles: n_cells numbers. */
void window_cycles(const struct window *, const struct window_result *, int64_t *cycles);

#endif
