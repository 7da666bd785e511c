/* Host memory of a launch: what it needs is kept for the launches behind it (func_rooms in func/func.h). */
#ifndef WS_FUNC_SASS_LAUNCH_ROOM_H
#define WS_FUNC_SASS_LAUNCH_ROOM_H

#include "base/arena.h"
#include "base/kept_array.h"
#include "func/func.h"

/* Operations are cleared by so many, rows of the pool by so many bytes. */
enum { ROOM_OPS = 32, ROOM_POOL_BYTES = 4096 };

struct launch_room {
  struct arena arena;     /* what is small */
  struct kept_array ops;  /* func_launch.uop */
  struct kept_array pool; /* func_launch.pool */
  struct kept_array ctas; /* func_launch.cta_mem: a part for each slot of each worker */
  struct func_rooms *home;
  struct launch_room *next; /* of those that no launch has */
};

/* One that is empty, for a launch; `home` NULL: for this one alone. */
struct launch_room *launch_room_take(struct func_rooms *home);
/* The launch has ended: its parts are as they were before kept_begin. */
void launch_room_give(struct launch_room *);

#endif
