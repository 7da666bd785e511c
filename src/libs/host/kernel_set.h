/* The kernels of our libraries on one device: images are loaded when one of their kernels is first launched. */
#ifndef WS_LIBS_KERNEL_SET_H
#define WS_LIBS_KERNEL_SET_H

#include <stdbool.h>

#include "libs/host/driver.h"

enum lib_image {
#define IMAGE(name) IMAGE_##name,
#define KERNEL(name, image)
#include "libs/host/kernels.def"
  LIB_IMAGES,
};

enum lib_kernel {
#define IMAGE(name)
#define KERNEL(name, image) KERNEL_##name,
#include "libs/host/kernels.def"
  LIB_KERNELS,
};

struct kernel_set {
  driver_image image[LIB_IMAGES];
  driver_kernel kernel[LIB_KERNELS];
  int device, sms, capability; /* 86 for 8.6 */
};

/* Takes the calling thread's device, which gets a context when it has none. False: there is none. */
bool kernel_set_open(struct kernel_set *s);
void kernel_set_close(struct kernel_set *s);

struct launch_shape {
  unsigned x, y, z, threads;
};

/* A kernel with one argument. False: it could not be launched. */
bool kernel_set_launch(struct kernel_set *s, enum lib_kernel k, struct launch_shape shape, driver_stream stream,
                       const void *args);
/* The same with bytes of dynamic shared memory. */
bool kernel_set_launch_shared(struct kernel_set *s, enum lib_kernel k, struct launch_shape shape, unsigned shared,
                              driver_stream stream, const void *args);

#endif
