/* Kernels without time on several GPUs: one on each, which take turns, so that they can wait for each other's flags as
 * those of a collective operation do.
 *
 *   order  the one whose nominal time (func/func.h) is behind the others' goes on, for TURN_INSTS warp instructions; so
 *          results are the same on every run
 *   end    when one ends in a fault, the others are cut off
 *   not so with one GPU, or when somebody looks at each launch (captured, debugged, checked …): a launch runs to its
 *          end inside the call that makes it possible
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
  TURN_SLICE = 128, /* most instructions of a warp before others of its CTA go on: in long slices they would spin */
};

struct kernel_turn {
  struct fiber *fiber;
  struct task *work;
  struct board *board;
  struct launch_watch *watch;
  uint64_t start, now; /* ps: nominal */
  bool cut;
};

/* The GPU as the front end sees it. */
struct front_gpu kernel_turns_gpu(struct board *);
/* A kernel begins on a GPU that has none: `fn` runs it, with kernel_turn_poll as its poll (ctx: the turn). */
struct kernel_turn *kernel_turn_begin(struct board *, struct task *, uint64_t start, void (*fn)(void *task));
bool kernel_turn_poll(void *turn, const struct run_progress *);

#endif
