/* Instruction lines of one thread block, warp by warp, until the block can be written. */
#ifndef WS_TRACE_BLOCK_H
#define WS_TRACE_BLOCK_H

#include <stddef.h>
#include <stdint.h>

/* Lines end with a newline. */
struct trace_warp {
  char *text;
  size_t bytes, cap;
  uint32_t n; /* lines */
};

struct trace_block {
  uint64_t id; /* linear */
  unsigned n_warps;
  struct trace_warp warp[];
};

struct trace_block *trace_block_new(uint64_t id, unsigned n_warps);
void trace_block_free(struct trace_block *);
/* Room for `bytes` more characters at text + bytes of the warp. Ends the process when the host has no memory. */
char *trace_warp_room(struct trace_warp *, size_t bytes);

#endif
