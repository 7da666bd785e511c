/* User objects: memory of the program that graphs refer to. When the last reference goes, its destructor is called
 * (CUDA programming guide, "CUDA User Objects"). Copies of a graph, instantiated or not, refer to what it does.
 */
#ifndef WS_CUDA_USER_OBJECT_H
#define WS_CUDA_USER_OBJECT_H

#include "cuda/core/graph.h"

/* References that a graph holds. */
struct user_reference {
  struct user_reference *next;
  struct cu_user *object;
  uint64_t count;
};

/* The caller gets `count` references. */
CUresult user_object_create(struct shim *, CUuserObject *, void *data, void (*destroy)(void *), unsigned count,
                            unsigned flags);
CUresult user_object_retain(struct shim *, CUuserObject, unsigned count);
CUresult user_object_release(struct shim *, CUuserObject, unsigned count);
/* flags: CUgraphRetainUserObject_flags: the caller's references become the graph's, or it gets new ones. */
CUresult user_object_give(struct shim *, CUgraph, CUuserObject, unsigned count, unsigned flags);
CUresult user_object_take(struct shim *, CUgraph, CUuserObject, unsigned count);

/* A graph is copied; it goes. */
void user_object_copy(struct user_reference **to, const struct user_reference *from);
void user_object_drop_all(struct shim *, struct user_reference **);
/* Calls the destructors of those that nothing refers to any more, without the lock. */
void user_object_bury(struct shim *);

#endif
