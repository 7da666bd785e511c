/* What keeps the caches of cores coherent, if anything does. The GPUs there are today have no such thing: an L1 drops
 * its lines when a kernel starts, and strong accesses pass it by. Then there is none of these, and it costs a
 * comparison for each request.
 *
 *   in     requests of cores, as a slice takes them; answers of cores to its probes
 *   out    probes (time/noc/probe_net.h)
 *   state  is its own, apart for each slice: slices call at once, each in (arrival, core, sequence) order of its
 *          requests
 */
#ifndef WS_TIME_MEM_COHERENCE_H
#define WS_TIME_MEM_COHERENCE_H

#include "time/noc/probe_net.h"

/* First member of what implements it. */
struct coherence {
  void (*taken)(struct coherence *, struct probe_net *, unsigned slice, const struct mem_req *, picos now);
  void (*answered)(struct coherence *, struct probe_net *, unsigned slice, const struct probe *, picos now);
};

#endif
