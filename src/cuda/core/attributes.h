/* What a GPU says of itself: device attributes and cudaDeviceProp, from its preset and its place in the machine. */
#ifndef WS_CUDA_ATTRIBUTES_H
#define WS_CUDA_ATTRIBUTES_H

#include <stdbool.h>

#include "cuda/core/board.h"

enum {
  ATTRIBUTE_MAX_LINEAR_WIDTH = 69, /* of a texture of linear memory, texels */
  ATTRIBUTE_MAX_PERSISTING = 108,  /* bytes of L2 that can be set aside */
  ATTRIBUTE_MAX_WINDOW = 109,      /* of an access policy, bytes */
};

/* CUsharedconfig: banks of shared memory are four bytes wide since compute capability 5, whatever is asked for. */
enum { BANKS_DEFAULT, BANKS_4_BYTES, BANKS_8_BYTES };
static inline bool bank_config_exists(int config)
{
  return config >= BANKS_DEFAULT && config <= BANKS_8_BYTES;
}

/* CUdevice_attribute and cudaDeviceAttr. False: no such attribute. */
bool device_attribute(const struct board *, int attribute, int *value);
CUuuid device_uuid(const struct board *);

/* cudaDeviceProp of both runtime versions. */
#define PROP_HEAD                                                                                  \
  char name[256];                                                                                  \
  CUuuid uuid;                                                                                     \
  char luid[8];                                                                                    \
  unsigned luidDeviceNodeMask;                                                                     \
  size_t totalGlobalMem;

#define PROP(type, name, count, attribute) type name[count];
#define PROP_BOTH PROP

struct device_prop_12 {
  PROP_HEAD
#define PROP_ONLY12 PROP
#define PROP_ONLY13(type, name, count, attribute)
#include "cuda/core/properties.def"
#undef PROP_ONLY12
#undef PROP_ONLY13
  int reserved[63];
};

struct device_prop_13 {
  PROP_HEAD
#define PROP_ONLY12(type, name, count, attribute)
#define PROP_ONLY13 PROP
#include "cuda/core/properties.def"
#undef PROP_ONLY12
#undef PROP_ONLY13
  int reserved[56];
};

#undef PROP
#undef PROP_BOTH

void device_properties_12(const struct board *, struct device_prop_12 *);
void device_properties_13(const struct board *, struct device_prop_13 *);

#endif
