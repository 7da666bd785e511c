/* Contexts: the primary ones of the GPUs and those a program makes. Those of one GPU see the same memory and modules.
 */
#ifndef WS_CUDA_CONTEXT_H
#define WS_CUDA_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/core/api.h"

struct board;
struct core_set;
struct shim;
struct shim_part;

struct context {
  struct context *next;
  struct board *board;
  unsigned flags;
  bool primary;
  struct green_context *green; /* green_context.h; NULL: it is none */
  const struct core_set *sms;  /* on which its kernels run (mps.h); NULL: as others of its GPU */
  unsigned users; /* primary: retained this often; others: 1 */
  uint64_t id;    /* of all contexts that there ever were */
  uint64_t limit[LIMIT__N];
  struct context **peer; /* those whose memory it has access to (peer_access.h) */
  uint32_t n_peers, peers_room;
};

struct contexts {
  struct context *first;
  bool had_any; /* also one that is gone */
};

/* Of the calling thread, NULL: none. */
struct context *context_current(struct shim *);
/* Its GPU; without one, device 0. */
struct board *board_current(struct shim *);
/* Of a GPU; made when there is none. */
struct context *context_primary(struct shim *, struct board *);
bool context_exists(const struct shim *, const struct context *);
CUresult context_create(struct shim *, CUcontext *, unsigned flags, struct board *);
/* What a green context is as a context, not yet current. */
struct context *context_new_green(struct shim *, struct board *, struct green_context *);
/* Makes it (NULL: none) the current one of the thread. */
CUresult context_set(struct shim *, CUcontext);
CUresult context_push(struct shim *, CUcontext);
CUresult context_pop(struct shim *, CUcontext *);

extern const struct shim_part context_part;

#endif
