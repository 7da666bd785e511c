#include "libs/host/kernel_set.h"

#include <string.h>

/* The fat binaries, put into the library by mk/libs.mk. */
#define IMAGE(name) extern const unsigned char warpstep_image_##name[];
#define KERNEL(name, image)
#include "libs/host/kernels.def"

struct image_place {
  const char *name;
  enum lib_image image;
};

static const struct image_place places[LIB_KERNELS] = {
#define IMAGE(name)
#define KERNEL(name, image) {"warpstep_" #name, IMAGE_##image},
#include "libs/host/kernels.def"
};

static const unsigned char *const images[LIB_IMAGES] = {
#define IMAGE(name) warpstep_image_##name,
#define KERNEL(name, image)
#include "libs/host/kernels.def"
};

bool kernel_set_open(struct kernel_set *s)
{
  int major, minor;
  memset(s, 0, sizeof *s);
  if (cudaFree(NULL) != DRIVER_OK || cuCtxGetDevice(&s->device) != DRIVER_OK) return false;
  if (cuDeviceGetAttribute(&s->sms, DRIVER_ATTR_SMS, s->device) != DRIVER_OK ||
      cuDeviceGetAttribute(&major, DRIVER_ATTR_MAJOR, s->device) != DRIVER_OK ||
      cuDeviceGetAttribute(&minor, DRIVER_ATTR_MINOR, s->device) != DRIVER_OK)
    return false;
  s->capability = major * 10 + minor;
  return true;
}

void kernel_set_close(struct kernel_set *s)
{
  for (unsigned i = 0; i < LIB_IMAGES; i++)
    if (s->image[i]) cuLibraryUnload(s->image[i]);
}

static driver_kernel find(struct kernel_set *s, enum lib_kernel k)
{
  const enum lib_image i = places[k].image;
  if (s->kernel[k]) return s->kernel[k];
  if (!s->image[i] && cuLibraryLoadData(&s->image[i], images[i], NULL, NULL, 0, NULL, NULL, 0) != DRIVER_OK) {
    s->image[i] = NULL;
    return NULL;
  }
  if (cuLibraryGetKernel(&s->kernel[k], s->image[i], places[k].name) != DRIVER_OK) s->kernel[k] = NULL;
  return s->kernel[k];
}

bool kernel_set_launch_shared(struct kernel_set *s, enum lib_kernel k, struct launch_shape shape, unsigned shared,
                              driver_stream stream, const void *args)
{
  enum { WITHOUT_ASKING = 48 * 1024 };
  void *arg[] = {(void *)(uintptr_t)args};
  driver_kernel f = find(s, k);
  if (!f) return false;
  if (shared > WITHOUT_ASKING && cuKernelSetAttribute(DRIVER_KERNEL_SHARED, (int)shared, f, s->device) != DRIVER_OK)
    return false;
  return cuLaunchKernel(f, shape.x, shape.y, shape.z, shape.threads, 1, 1, shared, stream, arg, NULL) == DRIVER_OK;
}

bool kernel_set_launch(struct kernel_set *s, enum lib_kernel k, struct launch_shape shape, driver_stream stream,
                       const void *args)
{
  return kernel_set_launch_shared(s, k, shape, 0, stream, args);
}
