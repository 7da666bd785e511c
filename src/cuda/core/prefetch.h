/* Prefetches of managed memory that moves (managed.h), as operations of streams. */
#ifndef WS_CUDA_PREFETCH_H
#define WS_CUDA_PREFETCH_H

#include "cuda/core/api.h"
#include "host/front.h"

struct board;
struct shim;
struct stream;
struct task;

/* [addr, addr + bytes), in one allocation, to a GPU, NULL: to the host, in the order of a stream. It cannot be
 * captured. */
CUresult prefetch_give(struct shim *, uint64_t addr, uint64_t bytes, const struct board *to, struct stream *);
enum command_way prefetch_start(struct task *, uint64_t now);

#endif
