/* The GPUs of a program of which several processes simulate a part each (host/ranked.h; exec --ranks): this process is
 * one of them. All run the program; the first one alone reports.
 *
 *   not so   what this process would have to look at in the memory of a GPU that another one has, and what depends on
 *            real time: refused, alike in all ranks
 */
#ifndef WS_CUDA_BOARD_RANKS_H
#define WS_CUDA_BOARD_RANKS_H

#include <stdbool.h>

#include "base/err.h"
#include "cuda/core/api.h"

struct board;
struct shim;

/* Before the GPUs are made: the others are there, if the options say so. */
bool board_ranks_join(struct shim *, struct err *e);
/* Behind that: each rank has its GPUs, or, where there are too few, the process ends. */
void board_ranks_share(struct shim *);
/* CUDA_ERROR_NOT_SUPPORTED, told once, where there are ranks. */
CUresult board_ranks_refuse(struct shim *, const char *what);
/* The program waits in its own code, for long: ends the process where there are ranks. */
void board_ranks_tell_wait(const struct shim *);

#endif
