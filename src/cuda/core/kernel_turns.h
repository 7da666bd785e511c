/* Kernels without time that stop on their way and go on in later calls: one on each GPU.
 *
 *   several  GPUs: kernels take turns, so that they can wait for each other's flags as those of a collective do
 *   one      GPU: a kernel goes on inside the call that makes it possible, for PATIENCE warp instructions. One that
 *            takes more may wait for the host, which goes on beside it from then on. Whoever waits for it lets it go
 *            on, and so does a program that waits in its own code (idle_watch.h)
 *   order    the one whose nominal time (func/func.h) is behind the others' goes on, for TURN_INSTS warp instructions;
 *            so results are the same on every run
 *   end      when one ends in a fault, the others are cut off; all are when the program has ended and no CTA of theirs
 *            for ENDING_INSTS
 *   not so   when somebody looks at each launch (captured, debugged, checked …), or with one GPU and several host
 *            threads: a launch runs to its end inside the call that makes it possible
 */
#ifndef WS_CUDA_KERNEL_TURNS_H
#define WS_CUDA_KERNEL_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "host/front.h"
#include "isa/watch.h"

struct board;
struct fiber;
struct launch_watch;
struct task;

enum {
  TURN_INSTS = 4096,
  PATIENT_TURN = 1 << 16, /* the same with one GPU */
  PATIENCE = 1 << 24,
  ENDING_INSTS = 1 << 25,
  TURN_SLICE = 128, /* most instructions of a warp before others of its CTA go on: in long slices they would spin */
};

struct kernel_turn {
  struct fiber *fiber;
  struct task *work;
  struct board *board;
  struct launch_watch *watch;
  uint64_t start, now; /* ps: nominal */
  uint64_t insts, stops; /* warp instructions so far; it does not stop before so many */
  uint64_t ctas, quiet;  /* that have ended, as last seen; instructions then */
  bool cut;
};

/* The GPU as the front end sees it. */
struct front_gpu kernel_turns_gpu(struct board *);
/* Its kernel goes on. True: that has ended, and the turn is gone. */
bool kernel_turn_resume(struct kernel_turn *);
/* A kernel begins on a GPU that has none: `fn` runs it, with kernel_turn_poll as its poll (ctx: the turn). */
struct kernel_turn *kernel_turn_begin(struct board *, struct task *, uint64_t start, void (*fn)(void *task));
bool kernel_turn_poll(void *turn, const struct run_progress *);

#endif
