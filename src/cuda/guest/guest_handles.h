/* Handles of a program on a simulated CPU: numbers that stand for what the interfaces point to. A number that was never
 * given out, or has gone, stands for nothing. */
#ifndef WS_CUDA_GUEST_GUEST_HANDLES_H
#define WS_CUDA_GUEST_GUEST_HANDLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum guest_handle {
  GUEST_NONE,
  GUEST_CUstream,
  GUEST_CUevent,
  GUEST_CUarray,
  GUEST_CUmipmappedArray,
  GUEST_CUmemoryPool,
  GUEST_CUgraph,
  GUEST_CUgraphNode,
  GUEST_CUgraphExec,
  GUEST_CUkernel,
  GUEST_CUmodule,
  GUEST_CUcontext,
  GUEST_BINARY, /* of __cudaRegisterFatBinary */
};
#define GUEST_CUfunction GUEST_CUkernel
#define GUEST_CUlibrary  GUEST_CUmodule

struct guest_handles {
  struct guest_handle_row {
    void *what;
    uint8_t kind; /* enum guest_handle */
  } *row;
  uint32_t n, room;
};

void guest_handles_free(struct guest_handles *);
/* Its number, which stays the same. */
uint64_t guest_handles_number(struct guest_handles *, void *what, enum guest_handle);
bool guest_handles_is(uint64_t number); /* it looks like one */
/* NULL: nothing of this kind. */
void *guest_handles_find(const struct guest_handles *, uint64_t number, enum guest_handle);
void guest_handles_end(struct guest_handles *, uint64_t number);
/* All but registered code: its device was reset. */
void guest_handles_reset(struct guest_handles *);

#endif
