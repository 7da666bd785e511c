/* Contexts: the primary one and those a program makes. All see the same memory and modules. */
#ifndef WS_CUDA_CONTEXT_H
#define WS_CUDA_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/core/api.h"

struct shim;
struct shim_part;

struct context {
  struct context *next;
  unsigned flags;
  bool primary;
  unsigned users; /* primary: retained this often; others: 1 */
  uint64_t id;    /* of all contexts that there ever were */
  uint64_t limit[LIMIT__N];
};

struct contexts {
  struct context *first, *primary;
};

/* Of the calling thread, NULL: none. */
struct context *context_current(struct shim *);
/* Made when there is none. */
struct context *context_primary(struct shim *);
bool context_exists(const struct shim *, const struct context *);
CUresult context_create(struct shim *, CUcontext *, unsigned flags);
/* Makes it (NULL: none) the current one of the thread. */
CUresult context_set(struct shim *, CUcontext);
CUresult context_push(struct shim *, CUcontext);
CUresult context_pop(struct shim *, CUcontext *);
CUresult context_limit(struct shim *, uint64_t *value, int limit);
CUresult context_limit_of(struct shim *, const struct context *, uint64_t *value, int limit);
CUresult context_set_limit(struct shim *, int limit, uint64_t value);

extern const struct shim_part context_part;

#endif
