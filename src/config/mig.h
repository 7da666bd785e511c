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

/* Instances that a GPU is cut into at the same time. */
enum { MIG_MAX_INSTANCES = 7, MIG_PROFILE_TEXT = 32 };
struct mig_instance {
  char profile[MIG_PROFILE_TEXT];
  unsigned sms, engines;
  unsigned gpu_slices, memory_slices; /* of those that the whole GPU has */
  uint64_t memory_mib;
};

/* How many slices of SMs the GPU has for instances; 0: no instances of it are known. */
unsigned mig_gpu_slices(const struct params *);

/* A list such as "3g.20gb,1g.5gb", of every GPU of n_gpus; "1:3g.20gb,1g.5gb,3:1g.5gb": of GPU 1 and GPU 3, others stay
 * whole (what stands before the first number is of every GPU). */
struct mig_list {
  const char *text;
  unsigned n_gpus;
};

/* The instances that it has for GPU number `gpu`, 0: none, which the GPU has room for: slices of SMs and of memory
 * (NVIDIA's MIG user guide, "Partitioning": each is in one instance). False with *e filled: it has not, or has none
 * such, or the list names a GPU that is not there. */
bool mig_cut(const struct params *, struct mig_list, unsigned gpu, struct mig_instance to[MIG_MAX_INSTANCES],
             unsigned *n, struct err *e);

#endif
