/* What the parts of the shim do at moments that concern all of them. A part says it in a `struct
 * shim_part`; who brings such a moment about (a reset, a report) knows none of them.
 *
 * The parts of core are in a list (shim.c); an interface that has state of its own adds its part with it.
 */
#ifndef WS_CUDA_PARTS_H
#define WS_CUDA_PARTS_H

#include <stddef.h>

struct board;
struct shim;

/* NULL: nothing. With the lock held. */
struct shim_part {
  void (*settle)(struct shim *); /* what work under way may need is about to go: all that can happen happens */
  void (*tell)(struct shim *);   /* the program ends: says on stderr what was left undone */
  void (*drop)(struct shim *, struct board *);  /* the GPU's contexts are about to be reset: what has not begun there
                                                   never will */
  void (*reset)(struct shim *, struct board *); /* they are, and nothing runs there: what was made in them goes */
};

/* A part beside the list, and its state. */
struct extension;

/* For all parts, extensions first. */
void parts_settle(struct shim *);
void parts_tell(struct shim *);
void parts_drop(struct shim *, struct board *);
void parts_reset(struct shim *, struct board *);

/* The state of a part, `bytes` zeroed bytes when it is asked for the first time, which adds the part. */
void *part_state(struct shim *, const struct shim_part *, size_t bytes);

#endif
