/* A grid whose CTAs an SM may hold: what its warps have in common, and its books in this SM. Grids that run at
 * the same time share an SM as far as its room goes (time/gpu/dispatcher.h). Each has a slot, the same in all SMs.
 *
 *   caches   an instruction is looked up at pc + code.place, a constant in bank + const_space: code of another
 *            module lies at the same pcs, and banks are a launch's own; global memory that scalar loads read lies in
 *            banks of 4 GiB from GRID_SCALAR_BANKS on
 */
#ifndef WS_TIME_SM_GRID_H
#define WS_TIME_SM_GRID_H

#include "isa/step.h"
#include "time/part.h"

/* Spaces are given out in turn while the GPU is busy: one comes again when nothing of it can be left in a cache. */
enum { GRID_BANKS = 256, GRID_CONST_SPACES = 1 << 14, GRID_SCALAR_BANKS = GRID_BANKS * GRID_CONST_SPACES };

struct sm_grid {
  struct code_view code; /* of source */
  unsigned const_space;
  uint8_t number;       /* its slot */
  uint64_t space;       /* line_of_space of its global memory */
  const struct places *places; /* where its pages are; NULL: all here */
  unsigned node;               /* of this GPU */
  bool apart;                  /* bytes of others are in other processes (isa/step.h) */
  uint8_t lanes;        /* of a warp, … */
  lane_mask all_lanes;  /* … all of them */
  uint8_t in_order;     /* mask of dependence counters, see in_order.h */
  /* ledger: per instruction of the code view */
  uint64_t n_insts;
  uint64_t *by_inst; /* [index * WARP_STATE__N + state], warp-cycles */
  uint64_t *issued;  /* [index], warp instructions */
  uint64_t *threads; /* [index], thread instructions: lanes with a true guard */
  uint64_t *sectors; /* [index], sectors of global, local and texture accesses */
  uint64_t *excess;  /* [index], of the sectors of global loads and stores, those beyond the fewest */
  uint64_t *passes, *conflicts; /* [index], passes through the banks of shared memory; of those, above the least */
  struct step_source *source; /* NULL: the slot is free */
  uint64_t slots;    /* bit i: the source's slot i of this SM holds a CTA */
  bool used;         /* … or one has held one: the books are not empty */
  picos last_answer; /* when the last of its stores here was answered */
};

/* Index of the instruction at pc in the books; n_insts or more: it is none of the grid's. */
static inline uint64_t sm_grid_index(const struct sm_grid *g, uint64_t pc)
{
  return code_index(&g->code, pc);
}

#endif
