#include "config/cpu_params.h"

#include <stddef.h>

#define X(id, name) name,
const char *const cpu_memory_name[CPU_MEMORY__N] = {CPU_MEMORY_LIST(X)};
const char *const cpu_protocol_name[CPU_PROTOCOL__N] = {CPU_PROTOCOL_LIST(X)};
const char *const cpu_topology_name[CPU_TOPOLOGY__N] = {CPU_TOPOLOGY_LIST(X)};
#undef X

enum { LINES_PER_CORE = 64 };

const char *cpu_params_check(const struct cpu_params *c, const char **key)
{
  const struct {
    const char *key;
    uint32_t sets;
  } sets[] = {{"l1i_sets", c->l1i_sets}, {"l1d_sets", c->l1d_sets}, {"l2_sets", c->l2_sets},
              {"gpu_sets", c->gpu_sets}, {"home_sets", c->home_sets}};
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
    *key = sets[i].key;
    if (sets[i].sets & (sets[i].sets - 1)) return "must be a power of two";
  }
  *key = "branch_entries";
  if (c->branch_entries & (c->branch_entries - 1)) return "must be a power of two, or 0";
  *key = "l1d_sets";
  if ((uint64_t)c->l1d_sets * c->l1d_ways > (uint64_t)c->l2_sets * c->l2_ways) return "L1 is larger than L2";
  *key = "l2_ways";
  if ((uint64_t)c->l2_sets * c->l2_ways > 1u << 20) return "L2 is larger than 64 MiB";
  *key = "gpu_ports";
  if (c->gpu_ports && c->memory == CPU_MEMORY_SPLIT) return "must be 0 where memory is split";
  *key = "gpu_tlb_entries";
  if (c->gpu_tlb_entries && c->memory != CPU_MEMORY_FUSED) return "must be 0 where memory is not fused";
  *key = "gpu_ways";
  if ((uint64_t)c->gpu_sets * c->gpu_ways > 1u << 22) return "more than 4194304 lines of the GPU";
  *key = "home_ways";
  if ((uint64_t)c->home_sets * c->home_ways > 1u << 22) return "more than 4194304 lines of a home";
  /* Cores that take each other's lines away for want of room never get through LR and SC. */
  if ((uint64_t)c->homes * c->home_sets * c->home_ways < (uint64_t)LINES_PER_CORE * c->cores)
    return "homes know fewer than 64 lines for each core";
  return NULL;
}
