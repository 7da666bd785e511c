/* What the core keeps per resident warp, and the warp table of one sub-core. The boxes of the
 * sub-core (fetch, issue, control, units) all work on this table; nothing else is shared by them.
 */
#ifndef WS_TIME_SM_WARP_H
#define WS_TIME_SM_WARP_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/step.h"
#include "time/sm/async_group.h"
#include "time/sm/grid.h"
#include "time/sm/warp_state.h"

enum {
  SUB_CORE_MAX_WARPS = 16, /* 64 warps on 4 sub-cores */
  IBUFFER_MAX = 8,
  NO_WARP = 0xff,
};
#define CYCLE_NEVER UINT64_MAX

/* Instruction buffer: consecutive instructions of the current path, fetched or being decoded. */
struct ibuffer {
  uint8_t head, n;
  bool line_due;                  /* fetch_at is when a line comes that this warp waits for */
  uint64_t next_pc;               /* next instruction to fetch, or what is left of it */
  uint64_t fetch_at; /* not before this cycle: a jump is being resolved, a line comes; CYCLE_NEVER: from L2 */
  uint64_t valid_at[IBUFFER_MAX]; /* ring: first cycle in which the entry can issue */
};

/* One dependence counter (Huerta et al., MICRO 2025), with what the ledger needs to name the wait. */
struct dep_counter {
  uint8_t count;    /* 0..63 */
  uint8_t state;    /* WS_LONG_SCOREBOARD or WS_SHORT_SCOREBOARD: kind of the last increment */
  uint64_t zero_at; /* cycle from which the counter reads 0 */
};

/* A register an instruction waits for, or waited for last. */
struct reg_wait {
  uint8_t state;  /* enum warp_state: what the wait is called; WS_SELECTED = none */
  uint64_t until; /* cycle from which it is free; CYCLE_NEVER = not known yet */
};

/* Its place among the warps of a product (gmma.h). */
struct warp_gmma {
  uint8_t group, member; /* its warpgroup, and which of the four warps it is */
  uint8_t queued; /* products of its warpgroup that it has issued and that have not begun */
};

enum { DEPBAR_HELD = 1 << 8 };

/* For the ledger (ledger.h). */
struct warp_books {
  uint64_t born;        /* cycle it arrived */
  uint64_t accounted;   /* warp-cycles before this one are in the books */
  uint64_t jump_until;  /* end of the last jump's resolution */
  uint8_t blocked_state; /* what it waits for when its unit is taken, enum warp_state */
  uint8_t depbar_state;  /* enum warp_state: what a DEPBAR has held the warp in */
  uint16_t depbar_waits; /* counters the last DEPBAR waits for; DEPBAR_HELD: it holds the warp, or has until … */
  uint32_t depbar_until; /* … this cycle, its low bits: a slot of 8 bytes more costs the issue stage 3 % */
};

/* What the issue stage looks at every cycle comes first; what only few instructions of few kernels need is in arrays of
 * its own in the table. */
struct warp_slot {
  struct step_warp *step;  /* NULL: free */
  const struct inst *next; /* instruction at the running path's pc; NULL: there is none */
  uint64_t issue_at;       /* stall count and yield: not before this cycle */
  uint64_t hold_until;     /* CYCLE_NEVER: until something releases it */
  uint64_t hold_from;      /* a barrier lets fixed-latency instructions issue until then */
  struct sm_grid *grid;
  uint8_t path;            /* index of the path that runs */
  uint8_t cta_slot;
  uint8_t sub_core, number; /* where it is: its own slot */
  bool done;           /* all lanes have exited */
  uint8_t hold;        /* enum warp_state of an open-ended wait; WS_SELECTED = none */
  uint8_t dep_busy;    /* bit i: counter i is not zero */
  uint16_t in_flight;  /* counter drops due and memory transactions but stores on their way: the CTA stays until 0 */
  uint8_t queued;      /* memory instructions that have not reached the head of their queue */
  uint32_t fence;      /* what the fence or service that holds the warp waits for (fence_epochs.h) */
  uint64_t stored_at;  /* its last store to memory issued then, 0: none */
  bool fence_wide;     /* that fence is of the GPU's scope or wider */
  struct warp_gmma gmma;
  uint8_t unread;      /* hazard emulation: memory instructions that have not read their sources */
  struct ibuffer ib;
  const struct inst *const_inst; /* its constant operand was requested … */
  uint64_t const_at;             /* … and can be read from this cycle on */
  const struct inst *depbar;     /* DEPBAR in force, NULL = none */
  uint64_t depbar_from;          /* it holds the warp from this cycle on */
  struct dep_counter dep[DEP_COUNTERS];
  struct warp_books books;
};

/* Warps of one sub-core. `order` lists slots oldest first (issue.age). Whoever changes what the issue stage looks at
 * says so in `changed`: it looks again only then, or at the time it saw itself. */
struct warp_table {
  struct warp_slot slot[SUB_CORE_MAX_WARPS];
  struct async_groups copies[SUB_CORE_MAX_WARPS]; /* by slot */
  uint8_t order[SUB_CORE_MAX_WARPS];
  uint8_t place[SUB_CORE_MAX_WARPS]; /* of a slot's warp in `order` */
  uint32_t changed;    /* bit per place, since the issue stage looked */
  uint32_t held;       /* bit per slot: hold is not WS_SELECTED */
  uint64_t hold_due;   /* no hold ends before this cycle */
  uint8_t n;        /* resident warps */
  uint8_t capacity; /* slots in use by this preset */
};

static inline uint64_t warp_pc(const struct warp_slot *w)
{
  return w->step->paths.p[w->path].pc;
}

/* Something that the issue stage looks at changed, other than by time. */
static inline void warp_changed(struct warp_table *t, unsigned warp)
{
  t->changed |= 1u << t->place[warp];
}

/* The same, of something that is seen from cycle `at` on and that the stage does not ask about before the
 * stall count of the last instruction is over; then it looks by itself. */
static inline void warp_changed_at(struct warp_table *t, unsigned warp, uint64_t at)
{
  const struct warp_slot *w = &t->slot[warp];
  if (at >= w->issue_at || w->hold != WS_SELECTED) warp_changed(t, warp);
}

/* The warp's hold may end from cycle `at` on. */
static inline void warp_hold_until(struct warp_table *t, unsigned warp, uint64_t at)
{
  t->slot[warp].hold_until = at;
  if (at < t->hold_due) t->hold_due = at;
  warp_changed(t, warp);
}

/* The running path or its pc changed. */
static inline void warp_find_next(struct warp_slot *w)
{
  w->next = code_at(&w->grid->code, warp_pc(w));
}

#endif
