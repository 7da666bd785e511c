/* The timed GPU: runs kernels from a step source and answers with cycles and counters. It is a domain; a machine
 * (time/machine/machine.h) lets its time pass:
 *
 *   gpu_begin(gpu, launch.source, image);
 *   gpu_open(gpu, &launch, &slot, &e);         gpu_watch(gpu, &watch, false);
 *   machine_run(machine, TIME_NEVER);
 *   end = gpu_finish(gpu, &fault, NULL);       counters, gpu_launch_times(gpu, slot, …), …
 *   gpu_close(gpu, slot);
 *
 * Launches come and go while it runs, each in a slot of its own.
 */
#ifndef WS_TIME_GPU_GPU_H
#define WS_TIME_GPU_GPU_H

#include "base/gmem.h"
#include "base/line_op.h"
#include "config/params.h"
#include "isa/step.h"
#include "isa/watch.h"
#include "stats/stat.h"
#include "time/domain.h"
#include "time/gpu/occupancy.h"
#include "time/mem/traffic.h"
#include "time/sm/hazard.h"

struct gpu;

enum { GPU_MAX_GROUPS = 8, GPU_SLOTS = 128 };

struct core_kind;
struct gpu *gpu_new(const struct params *);
/* With cores of these kinds (time/core/core.h), gpu.sms of them. */
struct gpu *gpu_new_of(const struct params *, const struct core_kind *const *kind);
/* With memory outside in the place of its DRAM (time/mem/outer_memory.h). */
struct outer_port;
struct gpu *gpu_new_outside(const struct params *, const struct outer_port *);
/* Its memory, NULL: its own DRAM. */
struct outer_memory *gpu_outer_memory(struct gpu *);

/* What a GPU has besides cores, at a node of a machine (config/machine_preset.h): copy engines (time/dma/dma.h), and
 * hubs (time/link/): to memory of others, where step_source.places says so, and of others to its own. */
struct gpu_join {
  uint16_t node;    /* its own */
  uint16_t sockets; /* the first that is no GPU: n_gpus */
  bool lines;       /* copies never take the short way of those that meet nobody */
  uint32_t reads, peer_reads; /* loads and atomics that cores have under way: of the host's memory; of other GPUs' */
  line_apply_fn *apply; /* atomics of others on its memory, and of its cores there */
  struct span_list *written;  /* gets what changes in its memory; NULL: nobody looks */
  struct l2_rights *rights;   /* of CPUs on its memory, if L2 has one partition (time/mem/l2_rights.h); NULL: none */
  struct page_tables *tables; /* of a CPU on its memory, which it walks (time/mem/page_tables.h); NULL: none */
  struct gmem *const *images; /* as others see memory, by node, the caller's; NULL: as this one does */
};
struct gpu *gpu_new_joined(const struct params *, const struct core_kind *const *kind, const struct gpu_join *);
struct dma;
/* Its copy engines; NULL: none. Copies are posted between windows, while a run has begun. */
struct dma *gpu_dma(struct gpu *);
/* Its ports, LINK_PORT__N of them, for fabric_join (time/link/fabric.h). */
struct link_port;
struct link_port *const *gpu_ports(struct gpu *);
/* Managed memory of a GPU that is joined (time/uvm/uvm.h): who serves its faults. Between windows; it outlives the
 * GPU's last run. */
struct uvm;
void gpu_serve_faults(struct gpu *, struct uvm *);
void gpu_free(struct gpu *);
/* What keeps the caches of its cores coherent, for all launches that follow; it lives as long as the GPU, some of whose
 * cores take probes (time/mem/coherence.h). */
struct coherence;
void gpu_cohere(struct gpu *, struct coherence *);
struct domain *gpu_domain(struct gpu *);

struct gpu_launch {
  struct step_source *source;
  uint64_t start; /* when it reaches the GPU, ps; in the past: at once */
  bool beside;    /* others run at the same time: it asks for shared memory that never limits its CTAs */
  bool prepared;  /* behind other nodes of its graph (launch.graph_cycles) */
  bool gang;      /* its CTAs wait for each other: all are resident at once */
  int priority;   /* its CTAs go before those of launches with a lower one */
};

/* An idle GPU without launches begins a run: caches stay warm in L2, L1 starts empty, counters and gpu_stats_groups
 * begin. All launches of a run have this memory, and control bits as the first has, or none; a run that begins with a
 * copy has none yet (NULL), and counters begin with the launch that finds copies alone. It lasts until gpu_finish, also
 * while no launch is there. */
void gpu_begin(struct gpu *, const struct step_source *first, struct gmem *image);
/* A launch comes, behind those that are there (time/gpu/dispatcher.h); none waits for another. Its slot is free until
 * then. False with *e filled: it does not fit this GPU. */
bool gpu_open(struct gpu *, const struct gpu_launch *, unsigned *slot, struct err *e);
/* Whether it could come to this GPU when it is empty. */
bool gpu_fits(const struct gpu *, const struct gpu_launch *, struct err *e);
/* No slot is free. */
bool gpu_full(const struct gpu *);
/* It goes: it has ended, or none of its CTAs has been handed out. What is asked for by its slot is gone, too. */
void gpu_close(struct gpu *, unsigned slot);

/* Between windows, for all that follows: so many bytes of L2 are set aside for lines that persist (step_source.window),
 * and DRAM is read in pieces of fetch_bytes, 32, 64 or 128. */
void gpu_set_l2(struct gpu *, uint64_t aside_bytes, unsigned fetch_bytes);
/* Between windows: no line persists any more. */
void gpu_reset_residency(struct gpu *);

/* Who watches the run from now on, which must live until gpu_finish. `ends`: the machine's run stops with a notice when
 * a launch has ended; gpu_stopped then says RUN_DONE, as it does when the watcher's window asked for the caller. */
void gpu_watch(struct gpu *, const struct run_watch *, bool ends);
/* Why the machine's run stopped with a notice. */
enum run_end gpu_stopped(const struct gpu *);
/* CTAs of the run's launches that have ended. */
uint64_t gpu_ctas_done(const struct gpu *);
/* In a machine of several, whose epochs have this length: what the caller does comes that much behind its clock. */
void gpu_may_be_ahead(struct gpu *, uint64_t epoch_ps);
/* Another GPU of the machine has failed, or nobody wants the run any more: it ends here, before gpu_finish. */
void gpu_cut(struct gpu *);

/* The machine has stopped: idle, stuck or with a notice that is no end of a launch. How the launches ended: all of
 * them, at a limit, or because the watcher stopped them. RUN_FAULT fills *fault; a deadlock of the guest is a fault
 * whose details go to `report` (may be NULL). After any end but RUN_DONE the counters say what was done so far, and
 * the GPU cannot run another kernel: its blocks are still full of these. */
enum run_end gpu_finish(struct gpu *, struct fault *, FILE *report);

/* When a launch reached the GPU, and when it ended: its last CTA, its last store in L2. False: it has not ended. */
bool gpu_launch_times(const struct gpu *, unsigned slot, uint64_t *start, uint64_t *end);

/* --- a GPU that another process simulates --------------------------------------------------------
 * It is there like any other: launches are opened and closed, its ports take part in links. But its windows pass
 * elsewhere (time/machine/machine.h), and what happened in them it is told. */

/* How it stands: at the end of an epoch. */
struct gpu_report {
  struct domain_report domain;
  uint64_t ctas_done;
  uint32_t stopped; /* enum run_end */
};
struct gpu_report gpu_report(const struct gpu *);
void gpu_follow(struct gpu *, const struct gpu_report *);

/* A launch: when it reached the GPU and ended, what it moved. */
struct gpu_launch_report {
  uint64_t start, end;
  uint64_t moved[4]; /* struct traffic */
  uint64_t ended;    /* bool */
};
struct gpu_launch_report gpu_launch_report(const struct gpu *, unsigned slot);
void gpu_follow_launch(struct gpu *, unsigned slot, const struct gpu_launch_report *);

struct gpu_inst_profile;
/* Counters, as the last gpu_finish or gpu_count left them: bytes that a GPU of the same build takes. And the books of a
 * launch, as gpu_profile has them: numbers of 64 bits. */
const void *gpu_count_report(struct gpu *, size_t *bytes);
void gpu_follow_count(struct gpu *, const void *);
size_t gpu_count_bytes(void);
size_t gpu_books_size(uint64_t n_insts); /* bytes, of so many instructions */
/* Of such bytes, which stay the caller's: as gpu_stats_groups has them; gpu_profile's, of books of so many
 * instructions. */
unsigned gpu_count_groups(void *count, struct stat_group out[GPU_MAX_GROUPS]);
struct gpu_inst_profile gpu_profile_of(uint64_t *books, uint64_t n_insts);
size_t gpu_books_bytes(const struct gpu *, unsigned slot);
uint64_t *gpu_books(const struct gpu *, unsigned slot, size_t *bytes); /* the caller's: mem_free */
void gpu_follow_books(struct gpu *, unsigned slot, const uint64_t *);

/* Simulated time since gpu_new, ps. */
uint64_t gpu_now(const struct gpu *);
/* Without launches: nothing happens until `when`, ps, rounded up to an SM cycle: the next kernel starts then. In the
 * past: no effect. */
void gpu_idle_until(struct gpu *, uint64_t when);

/* Turns the hazard checker on, in cores that have control bits, for the kernels that follow (time/sm/hazard.h). */
void gpu_check_hazards(struct gpu *);
/* Turns hazard emulation on for the kernels that follow (time/sm/emulate.h). Once. */
void gpu_emulate_hazards(struct gpu *);
/* Each core that has a pipeline to observe gets the observer that `of` says from now on, for all kernels that follow;
 * NULL: none. They live as long as the GPU. The GPU is idle. */
struct observer;
void gpu_observe(struct gpu *, struct observer *(*of)(void *ctx, unsigned core), void *ctx);
/* Findings of the last kernel, summed over SMs; NULL when not checked. */
const struct hazard *gpu_hazards(const struct gpu *);

/* Between windows: counters are as they are now, for gpu_stats_groups. */
void gpu_count(struct gpu *);
/* Counters of the run as gpu_finish or gpu_count found them, all launches together and copies since the first of them
 * came: gpu (resident CTAs: of the first), sm (sum over SMs), noc, l2, dram. Returns how many groups. */
unsigned gpu_stats_groups(struct gpu *, struct stat_group out[GPU_MAX_GROUPS]);

/* Whether runs that begin from now on also count each instance of a unit alone; how the last run's did, NULL: it was
 * not asked for. Valid until the next run begins. */
struct gpu_instances;
void gpu_count_instances(struct gpu *, bool on);
const struct gpu_instances *gpu_instances_of_run(const struct gpu *);

/* What the launches of that run asked of memory behind links; NULL: the GPU has no links. */
struct hub_out_stats;
const struct hub_out_stats *gpu_links_of_run(const struct gpu *);

struct netlist_stats;
/* All counters since gpu_new, at any time between windows: what happened between two of them is their difference. */
void gpu_counters(const struct gpu *, struct netlist_stats *);
/* A few of them (time/gpu/netlist.h). */
struct netlist_flow;
void gpu_flow(const struct gpu *, struct netlist_flow *);

/* What a launch has moved through L2 and DRAM so far; GPU_SLOTS: what no launch has to itself, which is code, since
 * gpu_begin. Together this is what the counters of the run say. */
void gpu_traffic(const struct gpu *, unsigned slot, struct traffic *);
/* The same of all launches in an address space since gpu_begin; a write-back counts for the space of the launch that
 * caused it. Code has no space. */
enum { GPU_SPACES = 256 };
void gpu_space_traffic(const struct gpu *, unsigned space, struct traffic *);

const struct occupancy *gpu_occupancy(const struct gpu *, unsigned slot);

/* How fast the CTAs of a launch were done between its first wave and its last: the times, ps, of
 * GPU_RATE_STEPS batches of *ctas CTAs one behind the other. False: it had too few CTAs. */
enum { GPU_RATE_STEPS = 8 };
bool gpu_rate(const struct gpu *, unsigned slot, uint64_t batch_ps[GPU_RATE_STEPS], uint64_t *ctas);

/* Per-instruction books of a launch, summed over SMs; index as in the code view. */
struct gpu_inst_profile {
  uint64_t n_insts;
  unsigned n_states;
  const char *const *state_name;
  uint64_t *by_inst; /* [index * n_states + state], warp-cycles */
  uint64_t *issued, *threads;   /* [index], warp and thread instructions */
  uint64_t *sectors;            /* [index], 32-byte sectors of global, local and texture accesses */
  uint64_t *excess;             /* [index], of those of global loads and stores: beyond the fewest that hold as much */
  uint64_t *passes, *conflicts; /* [index], passes through the banks of shared memory; of those, above the least */
};
struct gpu_inst_profile gpu_profile(const struct gpu *, unsigned slot);
void gpu_profile_free(struct gpu_inst_profile *);

#endif
