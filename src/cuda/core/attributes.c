#include "cuda/core/attributes.h"

#include <stdio.h>
#include <string.h>

#include "cuda/core/device_name.h"
#include "cuda/core/features.h"
#include "cuda/core/shim.h"
#include "cuda/core/visible_boards.h"

bool device_attribute(const struct board *b, int attribute, int *value)
{
  const struct params *p = &b->preset.params;
  switch (attribute) {
#define ATTRIBUTE(number, name, v)                                                                 \
  case number: *value = (int)(v); return true;
#include "cuda/core/attributes.def"
#undef ATTRIBUTE
  default: return false;
  }
}

CUuuid device_uuid(const struct board *b)
{
  const struct boards *x = &b->shim->boards;
  if (x->instance >= 0) return instance_uuid(x, (unsigned)x->instance);
  return board_uuid(b->preset.params.name, b->node);
}

static int attribute_or_0(const struct board *b, int attribute)
{
  int v = 0;
  device_attribute(b, attribute, &v);
  return v;
}

#define FILL_HEAD(b, out)                                                                          \
  do {                                                                                             \
    memset(out, 0, sizeof *(out));                                                                 \
    char name_[DEVICE_NAME_TEXT];                                                                  \
    snprintf((out)->name, sizeof (out)->name, "%s", device_name((b)->preset.params.name, name_));  \
    (out)->uuid = device_uuid(b);                                                                  \
    (out)->totalGlobalMem = board_memory_bytes(b);                                                 \
  } while (0)

#define PROP(type, field, count, attribute)                                                        \
  for (int i = 0; i < count; i++) out->field[i] = (type)attribute_or_0(b, attribute + i);
#define PROP_BOTH PROP

void device_properties_12(const struct board *b, struct device_prop_12 *out)
{
  FILL_HEAD(b, out);
#define PROP_ONLY12 PROP
#define PROP_ONLY13(type, field, count, attribute)
#include "cuda/core/properties.def"
#undef PROP_ONLY12
#undef PROP_ONLY13
}

void device_properties_13(const struct board *b, struct device_prop_13 *out)
{
  FILL_HEAD(b, out);
#define PROP_ONLY12(type, field, count, attribute)
#define PROP_ONLY13 PROP
#include "cuda/core/properties.def"
#undef PROP_ONLY12
#undef PROP_ONLY13
}
