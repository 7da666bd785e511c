/* Private to func/: a lane's view of memory through generic addresses, for services that run for one
 * thread. */
#ifndef WS_FUNC_SASS_GUEST_H
#define WS_FUNC_SASS_GUEST_H

#include "func/sass/func_warp.h"

struct guest {
  struct func_warp *w;
  unsigned lane;
};

/* False: not all of the bytes are mapped; nothing is transferred then. ctx is a struct guest. */
bool guest_read(void *ctx, uint64_t addr, void *buf, size_t bytes);
bool guest_write(void *ctx, uint64_t addr, const void *buf, size_t bytes);
/* `bytes` bytes of the thread's own memory, at an offset into it. */
bool guest_read_local(const struct guest *, uint64_t off, void *buf, size_t bytes);

#endif
