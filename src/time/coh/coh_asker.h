/* The slices of a GPU's L2, whose model is a domain of its own, as an agent of coherent memory: it asks for the rights
 * that they lack (time/mem/l2_rights.h) and keeps what it was granted until they are told.
 *
 *   above    a cache that holds no bytes (coh_cache.h, beside): its lines are those to which the GPU has rights. A line
 *            that L2 has dropped stays one of them until its place is wanted, as in the region buffers of Power et al.,
 *            MICRO 2013
 *   cycle    an ask that has come, a grant
 *   time     what comes late, for CPUs have gone on, comes now
 */
#ifndef WS_TIME_COH_COH_ASKER_H
#define WS_TIME_COH_COH_ASKER_H

#include "time/coh/coh_system.h"
#include "time/mem/l2_rights.h"

struct coh_asker {
  struct l2_ask *ask; /* those behind `next` have yet to be made */
  uint32_t n_asks, next, room_asks;
  struct coh_granted {
    uint32_t slice;
    struct l2_grant grant;
  } * granted; /* since they were taken */
  uint32_t n_granted, room_granted;
  uint64_t under_way;
};

struct coh_agent coh_asker_agent(struct coh_asker *);
void coh_asker_free(struct coh_asker *);
/* Between windows, in the order of their times: `at` is of the CPUs' clock. The agent must be woken. */
void coh_asker_push(struct coh_asker *, const struct l2_ask *);
/* Between windows: all grants go to the slices. */
void coh_asker_tell(struct coh_asker *, struct l2_rights *);
/* What a GPU's L2 may do with a line whose cache above homes is this one. */
enum l2_right coh_asker_right(const struct coh_cache *, uint64_t line);

#endif
