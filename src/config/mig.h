/* Multi-Instance GPU: an instance is a smaller GPU, with its share of SMs, of L2 and its slices, of DRAM channels and
 * memory, and of copy engines. Nothing of it is shared with another instance but the link to the host, whose whole rate
 * it has when nobody else uses it. */
#ifndef WS_CONFIG_MIG_H
#define WS_CONFIG_MIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct params;

/* Values that the instance has in the place of the GPU's. */
struct mig_value {
  const char *key;
  uint64_t value;
};
enum { MIG_VALUES = 10 };

/* The instance "3g.20gb" of this GPU. False with *e filled: it has none such; e says which it has. */
bool mig_values(const struct params *, const char *profile, struct mig_value v[MIG_VALUES], struct err *e);

#endif
