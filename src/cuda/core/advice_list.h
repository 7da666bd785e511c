/* What a program said about the pages of an allocation of managed memory, for it to read back: spans of bytes that
 * follow each other, each with one advice. An allocation of which nothing was said has none. */
#ifndef WS_CUDA_ADVICE_LIST_H
#define WS_CUDA_ADVICE_LIST_H

#include "cuda/core/board.h"

struct advice {
  bool read_mostly, accessed_by_host;
  board_mask accessed_by;
  CUmemLocation preferred, prefetched; /* type 0: none */
};

struct advice_span {
  uint64_t first; /* from this byte of the allocation to the next span */
  struct advice advice;
};

struct advice_list {
  struct advice_span *span; /* by their first bytes; the first one begins with 0 */
  uint32_t n, room;
};

void advice_list_free(const struct advice_list *);
/* The spans of [first, end), of which there are as many as said: none of them reaches beyond. */
struct advice_span *advice_list_cut(struct advice_list *, uint64_t first, uint64_t end, uint32_t *n);
/* The span that has a byte, and where it ends, UINT64_MAX: with the allocation. *next: of which to ask then. */
const struct advice *advice_list_at(const struct advice_list *, uint64_t byte, uint64_t *next);

#endif
