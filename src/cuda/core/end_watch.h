/* The end of the program, or of its contexts (cudaDeviceReset), as its GPUs see it. What is under way goes on to its
 * own end, although nobody can read its results any more: reports want it. A kernel that waits for what the program
 * would have done never ends; a GPU's driver destroys the context with the process, and with it the kernel.
 *
 *   rule     kernels are cut off once none of their CTAs and no copy has ended, or gone on, for END_QUIET_US of
 *            simulated time since the program's end
 *   without  the timing model: after so many instructions (kernel_turns.h)
 */
#ifndef WS_CUDA_END_WATCH_H
#define WS_CUDA_END_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct shim;

enum { END_QUIET_US = 1000 };

struct end_watch {
  bool on;         /* the program, or a GPU's contexts, have ended */
  bool cut;        /* kernels were cut off */
  uint64_t ctas;   /* that have ended in the runs of all GPUs, as last seen */
  uint64_t events; /* commands that were open then */
  uint64_t quiet;  /* ps: since then nothing has ended, by the looks at it */
  uint64_t look;   /* ps: the next one */
};

/* The program has ended. */
void end_watch_begin(struct shim *);
/* Whether at `now`, ps, what is under way has been quiet for too long. */
bool end_watch_is_over(struct shim *, uint64_t now);

#endif
