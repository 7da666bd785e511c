/* Coherent memory as parts of a domain: agents (cores, or what plays them) with their caches, caches above them, homes,
 * and the network between.
 *
 *   nodes    caches that homes know: of CPU agents, then of GPU agents or, in a protocol with two levels, the GPU's L2;
 *            then the homes; then, in such a protocol, L1s of GPU agents. An L2 of a GPU whose model is another
 *            domain (coh_asker.h) stands in the place of GPU agents, whatever the protocol: it has agents itself
 *   phases   caches and homes at once; then the network. An agent runs with its cache, in one part
 *   window   at most net.hop: nothing that leaves in a window is there in it
 *   lines    home of a line: its number modulo the homes; L2 of a line likewise
 */
#ifndef WS_TIME_COH_COH_SYSTEM_H
#define WS_TIME_COH_COH_SYSTEM_H

#include "base/err.h"
#include "time/coh/coh_cache.h"
#include "time/coh/coh_home.h"
#include "time/coh/coh_net.h"
#include "time/domain.h"

/* What runs above a cache. It offers operations (coh_cache_offer) and takes replies, in their order, from `replies`. */
struct coh_agent {
  /* At `now`. Returns when it has something to do by itself, ps, TIME_NEVER: it waits for a reply. One whose operation
   * is refused is called again when its cache has done something. *did: it did something. Nothing comes to its cache
   * before `until` (> now), so it may go on until then by itself. */
  picos (*cycle)(void *self, struct coh_cache *, struct coh_queue *replies, picos now, picos until, bool *did);
  bool (*busy)(const void *self);
  void *self;
};

struct coh_system_config {
  const char *protocol; /* of coh_protocol_names */
  uint32_t n_cpus, n_gpus, n_l2, n_homes; /* agents; n_l2: of a protocol with two levels, >= 1 if there are n_gpus */
  struct coh_cache_config cpu, gpu, l2; /* role, nodes are set here */
  struct coh_home_config home;
  struct coh_net_config net; /* topology.n_nodes is set here */
  uint32_t places;           /* in each queue, >= 1 */
  picos window;
  const struct coh_agent *agent; /* [n_cpus + n_gpus] */
  const struct coh_agent *l2_agent; /* [n_l2], numbered behind the others; NULL: GPU agents are above L2 */
};

struct coh_system;

/* NULL with e filled: no such protocol, more than COH_MAX_NODES nodes, or GPU agents without the cache above them. */
struct coh_system *coh_system_new(const struct coh_system_config *, struct err *e);
void coh_system_free(struct coh_system *);

/* Its parts, for a domain: those that run at once, and the serial one. */
struct domain_config coh_system_domain(struct coh_system *);

/* Between windows: an agent has something to do at `when`, ps. */
void coh_system_wake(struct coh_system *, uint32_t agent, picos when);
/* Between windows, for who sees memory without time, as an operating system does: the memory behind the homes has the
 * current bytes of lines [first, first + lines) afterwards; or all copies have those of memory. What agents have not
 * offered yet is not part of it. */
void coh_system_to_memory(struct coh_system *, uint64_t first, uint64_t lines);
void coh_system_from_memory(struct coh_system *, uint64_t first, uint64_t lines);

/* Between windows: from now on caches note the lines that agents store to, or no longer. */
void coh_system_note_stores(struct coh_system *, bool on);
/* … the memory behind the homes has the current bytes of those that were noted; none are any more. */
void coh_system_stores_to_memory(struct coh_system *);

struct coh_cache *coh_system_cache(struct coh_system *, uint32_t agent);
/* Times that each row of the protocol was taken, [coh_protocol.n_rows], summed over all controllers. */
const struct coh_protocol *coh_system_rows(const struct coh_system *, uint64_t *taken);
const struct coh_net_stats *coh_system_net(const struct coh_system *);
void coh_system_dump(const struct coh_system *, FILE *);

#endif
