/* Accesses of a warp to memory that is elsewhere, apart from the warp (base/line_op.h). */
#ifndef WS_FUNC_SASS_REMOTE_H
#define WS_FUNC_SASS_REMOTE_H

#include "base/line_op.h"
#include "func/sass/func_warp.h"
#include "func/sass/uop.h"

/* step_ops.line_op. */
bool func_line_op(struct step_warp *, struct effect *, lane_mask lanes, struct line_op *);

/* Of an atomic (sem_atom.c): operands of these lanes, whose addresses lie in one line. False: it is none that can be
 * performed elsewhere. */
bool atom_line_op(const struct uop *, struct mem_effect *, uint32_t lanes, struct line_op *);
void atom_line_apply(const struct line_op *, uint8_t *line);

/* Of a load from a multicast object (sem_multicast.c): which bytes its lanes want, and how they are reduced. */
bool multicast_line_op(const struct uop *, struct mem_effect *, uint32_t lanes, struct line_op *);
void multicast_line_reduce(const struct line_op *, unsigned n, const uint8_t (*line)[LINE_OP_BYTES],
                           uint8_t out[LINE_OP_BYTES]);

#endif
