/* Registers and memory as one lane sees them. Every address is a guest's: what is not there is an error, never a host
 * address.
 */
#ifndef WS_DEBUG_LANE_VIEW_H
#define WS_DEBUG_LANE_VIEW_H

#include <stddef.h>

#include "debug/debug_target.h"

/* A lane of a resident CTA, or none. */
struct lane_view {
  struct debug_target *t;
  unsigned slot, warp, lane;
};

enum view_space { VIEW_GENERIC, VIEW_GLOBAL, VIEW_SHARED, VIEW_LOCAL, VIEW_CONST, VIEW_CODE, VIEW_SPACES };
extern const char *const view_space_name[VIEW_SPACES];

static inline struct step_cta *view_cta(const struct lane_view *v)
{
  return v->t->slot[v->slot];
}

/* blockIdx, threadIdx. */
struct view_place {
  uint32_t cta[3], thread[3];
};
struct view_place view_place_of(const struct lane_view *);

/* The lane's path; NULL: it has exited, or has no thread. */
const struct step_path *view_path(const struct lane_view *);
/* Where it goes on; 0: nowhere. */
uint64_t view_pc(const struct lane_view *);
/* Lanes of that path, none when the lane has exited: those that share its uniform registers. */
lane_mask view_lanes(const struct lane_view *);

/* Register by its number (isa/hazard_role.h); predicates are 0 or 1. False: the kernel has no such register. */
bool view_register(const struct lane_view *, unsigned reg, uint32_t *value);
/* Number of a register by its name: R0, UR3, P1, UP0, RZ, PT … with *zero for those that always read the same (RZ 0, PT
 * 1), in *value. -1: no such name. */
int view_register_number(const char *name, bool *fixed, uint32_t *value);

/* Special values by name: tid.x, ctaid.y, ntid.z, nctaid.x (also threadIdx.x …), laneid, warpid, pc. False: no such
 * name. */
bool view_special(const struct lane_view *, const char *name, uint64_t *value);

/* Copies n bytes. VIEW_CONST: addr is bank << 32 | offset. False with e filled: not all of them are there; code and
 * constants are not written. */
bool view_read(const struct lane_view *, enum view_space, uint64_t addr, void *buf, size_t n, struct err *e);
bool view_write(const struct lane_view *, enum view_space, uint64_t addr, const void *buf, size_t n, struct err *e);
/* Space of a generic address; *addr becomes the address in it. */
enum view_space view_resolve(const struct lane_view *, uint64_t *addr);

#endif
