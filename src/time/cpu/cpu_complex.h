/* The CPU of a machine: cores (cpu_core.h) with their caches, homes of memory and the network (time/coh), as a domain.
 *
 *   phases   cores with their caches and homes at once; the network; what stands for the operating system
 *   nodes    cores' caches, then those that stand for the L2 of a GPU on the same memory (coh_asker.h), lines to each
 *            in turn; then homes. Clusters: the cores in one, the others in the other
 *   memory   is the caller's, by line; of a rate and a latency */
#ifndef WS_TIME_CPU_CPU_COMPLEX_H
#define WS_TIME_CPU_CPU_COMPLEX_H

#include "time/coh/coh_asker.h"
#include "time/coh/coh_system.h"
#include "time/cpu/cpu_core.h"

struct cpu_complex_config {
  const struct cpu_params *params; /* live as long as the complex */
  uint32_t memory_mbps, memory_latency_ns; /* of all homes together */
  const struct cpu_step_ops *ops;
  void *const *hart;               /* [cores] */
  uint8_t *(*memory)(void *ctx, uint64_t line); /* bytes of a line, for reading and writing; called at once for several
                                                   homes */
  void *ctx;
  struct l2_rights *rights; /* what the GPU's L2 and the caches tell each other; NULL: they share no memory */
};

struct cpu_complex {
  struct arena arena;
  struct cpu_core *core;
  struct coh_agent *agent;
  struct coh_system *coherence;
  uint32_t n_cores, n_askers;
  struct coh_asker *asker; /* [params.gpu_ports] */
  struct coh_agent *asking;
  struct l2_rights *rights;
};

/* NULL with e filled. */
struct cpu_complex *cpu_complex_new(const struct cpu_complex_config *, struct err *e);
void cpu_complex_free(struct cpu_complex *);
/* For domain_new, but for `between`. os: answers what cores ask, behind each window. */
struct domain_config cpu_complex_domain(struct cpu_complex *, struct part *os);
/* Between windows: core i runs from pc on at `at`. */
void cpu_complex_run(struct cpu_complex *, uint32_t i, uint64_t pc, picos at);
/* Between windows, for a GPU beside it: what its slices ask comes to the caches; what was granted, to the slices. */
void cpu_complex_hear(struct cpu_complex *);
void cpu_complex_tell(struct cpu_complex *);
/* What the caches of the GPU's L2 have counted. */
struct coh_cache_stats cpu_complex_gpu_stats(const struct cpu_complex *);
void cpu_complex_dump(const struct cpu_complex *, FILE *);

#endif
