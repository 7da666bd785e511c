/* User objects: memory of the program that graphs refer to. When the last reference goes, its destructor
 * is called (CUDA programming guide, "CUDA User Objects"). Copies of a graph, instantiated or not, refer
 * to what it does.
 */
#ifndef WS_CUDA_USER_OBJECT_H
#define WS_CUDA_USER_OBJECT_H

#include <stdint.h>

#include "cuda/core/api.h"

struct shim;

struct user_objects {
  struct user_object *live;
  struct user_object *dead; /* whose destructors are to be called */
};

/* References that a graph holds. */
struct user_reference {
  struct user_reference *next;
  struct user_object *object;
  uint64_t count;
};

/* The caller gets `count` references. */
CUresult user_object_create(struct shim *, CUuserObject *, void *data, void (*destroy)(void *), unsigned count,
                            unsigned flags);
CUresult user_object_retain(struct shim *, CUuserObject, unsigned count);
CUresult user_object_release(struct shim *, CUuserObject, unsigned count);
/* To a graph's references, and from them. flags: CUgraphRetainUserObject_flags: the caller's become the
 * graph's, or it gets new ones. */
CUresult user_object_give(struct shim *, struct user_reference **, CUuserObject, unsigned count, unsigned flags);
CUresult user_object_take(struct shim *, struct user_reference **, CUuserObject, unsigned count);

/* A graph is copied; it goes. */
void user_object_copy(struct user_reference **to, const struct user_reference *from);
void user_object_drop_all(struct shim *, struct user_reference **);
/* Calls the destructors of those that nothing refers to any more, without the lock. */
void user_object_bury(struct shim *);

#endif
