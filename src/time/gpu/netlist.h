/* The netlist: creates every block of the GPU and connects their ports. Nothing else sees all blocks; of cores it sees
 * what all kinds have in common (time/core/core.h). */
#ifndef WS_TIME_GPU_NETLIST_H
#define WS_TIME_GPU_NETLIST_H

#include "time/core/core.h"
#include "time/core/requester.h"
#include "time/gpu/dispatcher.h"
#include "time/link/hub_out.h"
#include "time/mem/commit.h"
#include "time/mem/mmu.h"
#include "time/mem/outer_memory.h"
#include "time/mem/partition.h"
#include "time/noc/cluster_net.h"
#include "time/noc/probe_net.h"
#include "time/noc/xbar.h"
#include "time/part.h"
#include "time/sm/sm_stats.h"

/* The last ones are there for some GPUs alone, and one of them at most: an MMU is joined, memory outside is not. */
enum { SERIAL_COMMIT, SERIAL_CLUSTERS, SERIAL_DISPATCHER, SERIAL_MORE, SERIAL__N };

struct netlist {
  struct arena arena;
  unsigned n_cores, n_partitions;
  unsigned n_ports; /* of cores into the crossbar */
  bool ports_busy;  /* some was when netlist_share_ports looked last */
  struct core **core;
  struct core_node *node; /* a core and its side of the crossbar */
  struct requester *const *requester; /* besides cores, numbered behind them */
  unsigned n_requesters;
  struct hub_out *outward; /* the caller's; NULL: no memory is elsewhere */
  struct requester_node *asker; /* a requester and its side of the crossbar */
  struct xbar xbar;
  struct span_list *written; /* gets what strong accesses change; NULL: nobody looks */
  struct mmu *mmu;          /* NULL: cores translate by themselves */
  struct probe_net *probes; /* NULL: no core takes probes */
  struct partition *partition;
  struct outer_memory *outer; /* NULL: DRAM is the GPU's own */
  struct l2_policy policy; /* of their slices */
  struct commit commit;
  struct cluster_net clusters;
  struct dispatcher dispatcher;
  struct part *core_part;          /* n_cores, then n_requesters */
  struct part *partition_part;     /* n_partitions, then the hub's, if it has one */
  struct part serial[SERIAL__N];
};

/* kind: of each of gpu.sms cores; NULL: all are SMs. Requesters are the caller's, with the numbers behind the cores.
 * Rights: what CPUs on the same memory and L2 tell each other (time/mem/l2_rights.h); NULL: there are none. */
void netlist_build(struct netlist *, const struct params *, const struct core_kind *const *kind,
                   struct requester *const *requester, unsigned n_requesters, struct hub_out *, struct l2_rights *);
/* From its first run on the GPU walks these page tables. */
void netlist_walk(struct netlist *, const struct params *, struct page_tables *);
/* Parts of the phase of the memory side; of the serial one. */
unsigned netlist_memory_parts(const struct netlist *);
unsigned netlist_serial_parts(const struct netlist *);
/* Memory outside of the GPU takes the place of its DRAM, which was not used yet. */
void netlist_replace_memory(struct netlist *, const struct params *, const struct outer_port *);
void netlist_free(struct netlist *);

/* What keeps the caches of cores coherent from now on; some core takes probes, and the GPU is idle. */
void netlist_cohere(struct netlist *, struct coherence *);

/* The GPU, which is idle, begins anew at `now`: L2 keeps its lines. Counters go on. */
void netlist_start(struct netlist *, struct gmem *image, picos now);
/* … and its cores, before the first grid comes: L1 and the caches of instructions and constants are empty. */
void netlist_start_cores(struct netlist *, struct gmem *image, bool control_bits);

/* Between windows: so many bytes of L2 are set aside for lines that persist, in whole ways of its sets (rounded up),
 * and DRAM is read in pieces of fetch_bytes. */
void netlist_set_l2(struct netlist *, const struct params *, uint64_t aside_bytes, unsigned fetch_bytes);
/* Between windows: no line persists any more. */
void netlist_reset_residency(struct netlist *);

/* A grid comes, into a free slot: its books lie in the arena. const_space: sm_open_grid. */
void netlist_open_grid(struct netlist *, unsigned slot, struct step_source *, const struct dispatch_grid *,
                       unsigned const_space, struct arena *);
/* It goes: it has ended, or not begun. */
void netlist_close_grid(struct netlist *, unsigned slot);
/* No core waits for anything, not for code either. */
bool netlist_cores_idle(const struct netlist *);
/* All its CTAs are done and all its stores are in L2. */
bool netlist_grid_ended(const struct netlist *, unsigned slot);

/* Which parts ran in a window. The others are as they were. */
struct netlist_ran {
  bool cores;  /* some did */
  bool memory; /* some partition, or the hub */
};

/* Between windows: cores of one port that are both busy there take turns in the next window. */
void netlist_share_ports(struct netlist *, picos now, struct netlist_ran);

/* The guest fault of the window, in order of core, then of partition, so that the host's threads do not
 * choose; NULL: none. */
const struct fault *netlist_fault(const struct netlist *, struct netlist_ran);

/* Counters, summed over the boxes of a kind. */
struct netlist_stats {
  struct sm_stats sm;
  struct noc_stats noc;
  struct l2_stats l2;
  struct dram_stats dram;
  uint64_t requester_sectors[L2_OP__N]; /* asked for by requesters that are no cores */
  struct hub_out_stats outward;         /* of cores, for memory behind links */
};
/* Since netlist_build. */
void netlist_sum(const struct netlist *, struct netlist_stats *);
/* after -= before: of the time in between. */
void netlist_since(struct netlist_stats *after, const struct netlist_stats *before);

/* What the launch that has the slot, or an earlier one that had it, moved since netlist_build; GRID_NONE: code. */
void netlist_traffic(const struct netlist *, unsigned slot, struct traffic *);

/* A few of them, since netlist_build, and what is there now: for those who look often. */
struct netlist_flow {
  uint64_t insts;      /* warp instructions */
  uint64_t mem_busy;   /* cycles of all memory units of cores */
  uint64_t l2_sectors; /* of requests of cores */
  uint64_t dram_bytes; /* read and written */
  uint64_t warps;      /* of the CTAs that the dispatcher has handed out and not heard of again: now */
};
void netlist_flow(const struct netlist *, struct netlist_flow *);

/* When the last request of the grid was answered: stores may come home after their CTA. */
picos netlist_last_answer(const struct netlist *, unsigned slot);

/* Laws between blocks, of the counters of a time that begins and ends with an idle GPU. */
bool netlist_check_laws(const struct netlist *, const struct netlist_stats *, struct err *);

#endif
