/* The device's memory as a launch found it, for going back to it in the same device: bytes that are not zero of all
 * allocations, and the blocks of its heap. (host/snapshot.h keeps the same for another process.)
 */
#ifndef WS_DEBUG_START_IMAGE_H
#define WS_DEBUG_START_IMAGE_H

#include <stdint.h>

#include "host/device.h"

struct start_image;

/* NULL with e filled: memory that is not zero is more than `most` bytes. */
struct start_image *start_image_take(const struct device *, uint64_t most, struct err *e);
void start_image_free(struct start_image *);

/* Memory is as it was. Allocations are those of the start: a launch makes and frees none. The heap is a new one
 * (device.heap). */
void start_image_restore(const struct start_image *, struct device *);

#endif
