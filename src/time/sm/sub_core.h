/* Sub-core: a quarter of the SM with its own scheduler (Huerta et al., MICRO 2025).
 * sub_core_cycle() is its block diagram.
 *
 *   fetch -> ibuffer -> ISSUE -> control -> operands (allocate, read x3) -> fixed-latency units
 *                          |        |
 *                          |        +-> lsu -> mem_unit (SM-shared) -> write ports (writeback)
 *                          +- step source: the warp's architectural step (results take effect at
 *                             once: control bits or scoreboards guarantee that nobody looks early;
 *                             emulate.h: when they should)
 *
 *   A latency is issue to dependent issue; when results are written: writeback.h.
 */
#ifndef WS_TIME_SM_SUB_CORE_H
#define WS_TIME_SM_SUB_CORE_H

#include "base/gmem_view.h"
#include "config/params.h"
#include "time/sm/const_cache.h"
#include "time/sm/depend.h"
#include "time/sm/emulate.h"
#include "time/sm/fetch.h"
#include "time/sm/fp64.h"
#include "time/sm/gmma.h"
#include "time/sm/tmem.h"
#include "time/sm/ideal.h"
#include "time/sm/issue.h"
#include "time/sm/l0i.h"
#include "time/sm/ledger.h"
#include "time/sm/lsu.h"
#include "time/sm/mem_unit.h"
#include "time/sm/observer.h"
#include "time/sm/operand.h"
#include "time/sm/scoreboard.h"
#include "time/sm/sfu.h"
#include "time/sm/writeback.h"

/* What a sub-core borrows from its SM. */
struct sub_core_ports {
  struct mem_unit *mem;
  struct gmma *gmma;
  struct tmem *tmem;
  struct l1i *l1i;
  struct ledger *ledger;
  struct gmem_view *view;
  struct fault *fault;    /* filled by the first faulting step of the SM */
  uint64_t *fp64_free_at; /* shared FP64 pipe */
  uint64_t *wake_at;      /* nothing can happen before this cycle; the SM keeps them side by side */
  /* The step changed other warps of the CTA (barrier released) or ended warp or CTA. */
  void (*cta_event)(void *ctx, unsigned cta_slot, uint32_t effect_flags, uint64_t now);
  void *ctx;
};

struct sub_core {
  const struct params *params;
  unsigned id;
  struct warp_table warps;
  struct l0i l0i;
  struct fetch fetch;
  struct const_cache fl; /* L0 FL */
  struct issue issue;
  struct depend depend;
  struct operand_path operands;
  struct writeback writeback;
  struct fp64_queue fp64; /* used when fp64.shared */
  struct sfu sfu;
  struct lsu lsu;
  struct observers *observers;   /* NULL: none */
  struct scoreboard *scoreboard; /* NULL: issue.dependence says control bits */
  struct scoreboard *boards;     /* the same, or NULL: this kernel runs by its control bits */
  struct emulate *emulate;   /* NULL: registers change at issue */
  struct ideal *ideal;       /* NULL: no cost is left out */
  struct effect effect; /* of instructions without a transaction */
  uint64_t slots_from;  /* ledger: slots before this cycle are charged */
  uint8_t sleep_charge; /* what the slots while asleep are charged to */
  struct sub_core_ports ports;
};

/* The sub-core is all zeros: most of it is not touched before it is used, some of it never. */
void sub_core_init(struct sub_core *, struct arena *, const struct params *, unsigned id,
                   struct sub_core_ports);

/* Grids start: caches are empty. control_bits: their instructions carry them. */
void sub_core_start(struct sub_core *, bool control_bits);

/* A warp arrives in a free slot; returns the slot. */
unsigned sub_core_add_warp(struct sub_core *, struct sm_grid *, struct step_warp *, unsigned cta_slot,
                           uint64_t now);
/* The warp's CTA is over. */
void sub_core_remove_warp(struct sub_core *, unsigned warp, uint64_t now);

/* The warp's paths changed from outside (barrier released): it may run again from cycle `at`. */
void sub_core_release(struct sub_core *, unsigned warp, uint64_t now, uint64_t at);

/* A line of code that was on its way from L2 is in L0 from cycle `at`, a later one, on. */
void sub_core_code_arrived(struct sub_core *, uint64_t line, uint64_t at);
/* The same of constants (l1i_const_line). */
void sub_core_const_arrived(struct sub_core *, uint64_t line, uint64_t at);

/* One cycle. False: the guest faulted (ports.fault). */
bool sub_core_cycle(struct sub_core *, uint64_t now);

/* Something outside changed: look again in cycle `at`. */
static inline void sub_core_wake(struct sub_core *p, uint64_t at)
{
  if (at < *p->ports.wake_at) *p->ports.wake_at = at;
}

/* Charges the slots before `now` that passed asleep. */
void sub_core_settle(struct sub_core *, uint64_t now);

/* One line per warp: what it waits for. */
void sub_core_dump(const struct sub_core *, uint64_t now, FILE *);

#endif
