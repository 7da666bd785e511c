/* What takes its place in a stream and is no kernel: copies, fills, events, callbacks. */
#ifndef WS_CUDA_OPERATION_H
#define WS_CUDA_OPERATION_H

#include <stdint.h>

#include "host/timeline.h"

struct shim;
struct stream;

/* For `ps`, from when the stream and the engine are free; `bytes` is for the timeline file alone. Returns
 * its end, ps. */
uint64_t operation_take(struct shim *, struct stream *, const char *name, enum timeline_engine, uint64_t ps,
                        uint64_t bytes);

#endif
