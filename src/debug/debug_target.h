/* A launch that is executed one warp instruction at a time, and can be taken back to its start: what the debugger's
 * faces (console.h, gdb_stub.h) control through debugger.h.
 *
 * Execution is that of a run without time (func/) in one fixed order: the resident CTAs' warps take turns of `slice`
 * instructions, CTAs come one cluster after another, and another one comes in when nothing can go on, or for long
 * nothing has ended. A user who steps a warp puts it at the head of that order (target_force). The number of warp
 * instructions executed so far, the position, and the list of such turns name every state of the launch: going back to
 * a position is executing the launch again from its saved start up to there.
 */
#ifndef WS_DEBUG_TARGET_H
#define WS_DEBUG_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/gmem_view.h"
#include "debug/call_stack.h"
#include "debug/start_image.h"
#include "func/device_call.h"
#include "host/launch.h"
#include "isa/sass/sass.h"

enum target_state { TARGET_RUNS, TARGET_ENDED, TARGET_FAULTED };

struct target_options {
  unsigned slice;        /* warp instructions of a turn; 0: 1 */
  uint64_t start_clock;  /* cycles that the device's clocks read at the start */
  uint32_t clock_ps;     /* a cycle */
  bool caller_registers; /* keep what functions' callers had in registers */
  uint64_t most_kept;    /* bytes of memory to keep for going back; 0: 8 GiB */
};

/* The path that executes the next instruction. */
struct target_turn {
  unsigned slot, warp, path;
};

/* At position `at` this warp's turn came, because the user wanted it. */
struct target_forced {
  uint64_t at, cta;
  unsigned warp, lane; /* a lane of the path */
};

enum { TARGET_EDIT_BYTES = 16 };
enum target_edit_kind { EDIT_REGISTER, EDIT_GLOBAL, EDIT_SHARED, EDIT_LOCAL };

/* The user changed something at position `at`; it happens again when the launch comes there again. */
struct target_edit {
  uint64_t at, cta, addr; /* addr: byte address, or number of a register (isa/hazard_role.h) */
  unsigned warp;
  lane_mask lanes;
  uint8_t kind, bytes;
  uint8_t data[TARGET_EDIT_BYTES];
};

struct debug_target {
  struct target_options o;
  struct device *device;
  const struct module_instance *code;
  struct func_params params; /* the launch's, with our own `print` */
  FILE *print, *real_print;
  struct func_launch *func;
  struct step_source *source;
  struct start_image *start; /* NULL: no way back, why_not says why */
  struct err why_not;
  struct device_runtime runtime; /* ours, around the launch's */

  enum target_state state;
  uint64_t position; /* warp instructions executed */
  uint64_t thread_insts;
  uint64_t furthest; /* highest position so far: what was printed up to there was printed */
  struct fault fault;
  struct effect e; /* of the last step, which was taken by: */
  struct mem_effect mem;
  struct target_turn last;
  uint64_t last_cta;
  struct gmem_view view;

  struct step_cta **slot;   /* NULL: empty */
  struct warp_calls *calls; /* of warp k of slot i: i * warps_per_cta + k */
  uint32_t *arrived;        /* of each slot: whether its CTA is at the cluster's barrier (1), or gone (2) */
  unsigned n_slots, open;
  uint64_t next_cta, quiet; /* quiet: steps since a CTA ended or came */
  bool decided;
  struct target_turn turn; /* if decided */
  unsigned slice_left;

  struct target_forced *forced; /* ascending positions */
  size_t n_forced, room_forced, at_forced;
  struct target_edit *edit; /* ascending positions */
  size_t n_edits, room_edits, at_edit;
};

/* Takes the launch over before it has run: keeps its start, and is at position 0. The launch, the device and the code
 * outlive the target; of the launch only `params` is used. */
bool target_open(struct debug_target *, struct device *, const struct module_instance *, const struct launch *,
                 const struct target_options *, struct err *e);
void target_close(struct debug_target *);

/* Whose turn it is; NULL: the launch has ended, or faulted (state, fault). Does not execute anything. */
const struct target_turn *target_turn_now(struct debug_target *);
/* Executes one warp instruction; the turn exists. Its effect is then in e and mem. */
void target_step(struct debug_target *);
/* The turn passes to the path of this lane, which is ready, if it does not have it. What the user had wanted for later
 * positions is forgotten when it does. */
void target_force(struct debug_target *, unsigned slot, unsigned warp, unsigned path);

/* Changes something now, and whenever the launch comes by here again. False: there is no such place; nothing
 * happened. */
bool target_edit(struct debug_target *, const struct target_edit *);

/* Back to position 0. False with e filled: there is no way back. */
bool target_rewind(struct debug_target *, struct err *e);

/* The slot of a CTA; -1: it is not resident. */
int target_slot_of(const struct debug_target *, uint64_t cta);
/* Path of a warp that holds the lane; -1: the lane has exited or has no thread. */
int target_path_of(const struct step_cta *, unsigned warp, unsigned lane);
/* What the instruction at pc means; NULL: none is there. */
const struct sass_inst *target_inst(const struct debug_target *, uint64_t pc);
struct warp_calls *target_calls(const struct debug_target *, unsigned slot, unsigned warp);

/* A number that follows from the whole state: memory of all allocations and every resident CTA. */
uint64_t target_digest(struct debug_target *);

#endif
