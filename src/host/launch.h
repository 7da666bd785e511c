/* Kernel launch: checks it against the kernel's and the device's limits, builds constant bank 0 and
 * the step source.
 */
#ifndef WS_HOST_LAUNCH_H
#define WS_HOST_LAUNCH_H

#include <stdint.h>

#include "base/err.h"
#include "func/func.h"
#include "host/device.h"

struct params;

struct launch_desc {
  const struct module_instance *code; /* on the device; has the kernel */
  const struct module_kernel *kernel;
  uint32_t grid[3], block[3];
  uint32_t cluster[3];     /* CTAs of a cluster; all 0: as the kernel says, mostly none */
  uint32_t shared_dynamic; /* bytes per CTA */
  uint32_t stack_bytes;    /* per thread, for kernels that have a stack; 0 = 1024, as CUDA does */
  const void *params;      /* packed as the kernel's parameter block; exactly kernel->param_bytes */
  uint32_t param_bytes;
  struct access_window window; /* of L2; 0 bytes: none */
  uint8_t shared_share;    /* isa/step.h */
  const struct core_set *cores; /* SMs that it may run on, as long as the launch lives; NULL: all */
  bool not_cooperative;    /* known: grid.sync() traps. Else that is taken from the grid's size */
  uint64_t graph;          /* what %current_graph_exec reads */
  const struct device_runtime *runtime; /* func/device_call.h; NULL: kernels cannot launch kernels */
};

struct launch {
  struct func_params params;  /* what func/ was given */
  struct func_launch *func;   /* func_source(func) is the step source */
  uint8_t *bank0;             /* a block */
  uint64_t params_copy; /* guest address of a copy of the parameters, for code that takes one's address; 0 = none */
  uint64_t grid_barrier;      /* guest address of its workspace, 0 = none */
};

/* Cluster size of the launch: its own, or the one the kernel was compiled for; all 0: no clusters. */
void launch_cluster(const struct module_kernel *, const uint32_t asked[3], uint32_t cluster[3]);

/* Validates without building anything. Errors name the limit and its value. */
bool launch_check(const struct device *, const struct launch_desc *, struct err *e);
/* Checks and builds. The device must outlive the launch. Call launch_free only after success. */
bool launch_init(struct launch *l, struct device *, const struct launch_desc *, struct err *e);
void launch_free(struct launch *l);
/* SMs that its CTAs may run on. launch NULL: all. */
unsigned launch_sms(const struct launch *, const struct params *);

#endif
