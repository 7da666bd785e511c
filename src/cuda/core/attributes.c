#include "cuda/core/attributes.h"

#include <stdio.h>
#include <string.h>

#include "cuda/core/features.h"

const char device_pci_bus_id[] = "0000:01:00.0";

bool device_attribute(const struct params *p, int attribute, int *value)
{
  switch (attribute) {
#define ATTRIBUTE(number, name, v)                                                                 \
  case number: *value = (int)(v); return true;
#include "cuda/core/attributes.def"
#undef ATTRIBUTE
  default: return false;
  }
}

/* The same GPU has the same one: from its name. */
CUuuid device_uuid(const struct params *p)
{
  CUuuid u = { "warpstep" };
  uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */
  for (const char *c = p->name; *c; c++) h = (h ^ (uint8_t)*c) * UINT64_C(1099511628211);
  memcpy(u.bytes + 8, &h, sizeof h);
  return u;
}

static int attribute_or_0(const struct params *p, int attribute)
{
  int v = 0;
  device_attribute(p, attribute, &v);
  return v;
}

#define FILL_HEAD(p, out)                                                                          \
  do {                                                                                             \
    memset(out, 0, sizeof *(out));                                                                 \
    snprintf((out)->name, sizeof (out)->name, "%s", (p)->name);                                    \
    (out)->uuid = device_uuid(p);                                                                  \
    (out)->totalGlobalMem = (size_t)(p)->gpu_memory_mib << 20;                                     \
  } while (0)

#define PROP(type, field, count, attribute)                                                        \
  for (int i = 0; i < count; i++) out->field[i] = (type)attribute_or_0(p, attribute + i);
#define PROP_BOTH PROP

void device_properties_12(const struct params *p, struct device_prop_12 *out)
{
  FILL_HEAD(p, out);
#define PROP_ONLY12 PROP
#define PROP_ONLY13(type, field, count, attribute)
#include "cuda/core/properties.def"
#undef PROP_ONLY12
#undef PROP_ONLY13
}

void device_properties_13(const struct params *p, struct device_prop_13 *out)
{
  FILL_HEAD(p, out);
#define PROP_ONLY12(type, field, count, attribute)
#define PROP_ONLY13 PROP
#include "cuda/core/properties.def"
#undef PROP_ONLY12
#undef PROP_ONLY13
}
