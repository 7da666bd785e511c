/* The CPU of a machine: the group `cpu` of its file (machine_preset.h). Its cores execute programs of RISC-V in time.
 *
 * Source of each value: the file's. Ranges: cpu_params.def. Counts of sets are powers of two. */
#ifndef WS_CONFIG_CPU_PARAMS_H
#define WS_CONFIG_CPU_PARAMS_H

#include <stdint.h>

/* Whose memory CPU and GPU see. */
#define CPU_MEMORY_LIST(X)                                                                   \
  X(FUSED, "fused") /* one chip: one memory, behind the same homes */                        \
  X(SPLIT, "split") /* two memories: data moves by copies and what links let a GPU access */ \
  X(C2C, "c2c")     /* two memories in one address space: either reaches both, coherently */

enum cpu_memory {
#define X(id, name) CPU_MEMORY_##id,
  CPU_MEMORY_LIST(X)
#undef X
  CPU_MEMORY__N
};

/* As coh_protocol_names, coh_topology have them (time/coh). */
#define CPU_PROTOCOL_LIST(X) \
  X(MI, "mi") X(MESI, "mesi") X(HAMMER, "hammer") X(VI_HAMMER, "vi_hammer") X(HSC, "hsc")
#define CPU_TOPOLOGY_LIST(X) X(CROSSBAR, "crossbar") X(RING, "ring") X(MESH, "mesh") X(CLUSTERS, "clusters")

enum cpu_protocol {
#define X(id, name) CPU_PROTOCOL_##id,
  CPU_PROTOCOL_LIST(X)
#undef X
  CPU_PROTOCOL__N
};
enum cpu_topology {
#define X(id, name) CPU_TOPOLOGY_##id,
  CPU_TOPOLOGY_LIST(X)
#undef X
  CPU_TOPOLOGY__N
};

extern const char *const cpu_memory_name[CPU_MEMORY__N], *const cpu_protocol_name[CPU_PROTOCOL__N],
  *const cpu_topology_name[CPU_TOPOLOGY__N];

struct cpu_params {
#define CPU_INT(key, least, most) uint32_t key;
#define CPU_CHOICE(key, names, n) uint32_t key;
#include "config/cpu_params.def"
#undef CPU_CHOICE
#undef CPU_INT
};

/* What is wrong with a group whose values all lie in their ranges; NULL: nothing. *key: with which value. */
const char *cpu_params_check(const struct cpu_params *, const char **key);

#endif
