/* Which CTAs, and which chosen warps, are in the slots of a GPU's SMs, from when to when, and what the warps wait for:
 * observers of SMs (time/sm/observer.h), whose notes of a launch are taken once it has ended.
 *
 *   struct sm_stays *s = sm_stays_new(&way, &params);
 *   options.observers = sm_stays_observers(s);       of a simulator that is freed before
 *   simulate(…);
 *   sm_stays_take(s, source, &list);                 for each of its launches: appends
 *   sm_stay_list_free(&list);
 */
#ifndef WS_HOST_SM_STAYS_H
#define WS_HOST_SM_STAYS_H

#include "config/params.h"
#include "isa/step.h"

struct activity_choice;
struct sm_stays;
struct sim_observers;

/* A CTA in its slot, or a warp in its; a warp's states are the next n_states of the list. */
struct sm_stay {
  uint64_t cta, begin, end; /* ps of the program; end SM_STAY_OPEN: it was there when its launch ended */
  uint32_t n_states;
  uint16_t sm;
  uint8_t slot, warp, sub_core; /* warp: its number in the CTA */
  bool is_warp;
};

#define SM_STAY_OPEN UINT64_MAX

/* A warp waits for the same, or issues; enum warp_state. */
struct sm_state {
  uint64_t from, until, state;
};

struct sm_stay_list {
  struct sm_stay *stay;
  struct sm_state *state;
  uint32_t n_stays, room_stays, n_states, room_states;
  uint64_t lost; /* stays and states for which there was no room */
};

struct sm_stays_way {
  const struct activity_choice *choice; /* what begins when, on which SMs; which warps. It is copied */
  uint64_t unit;                        /* ps: of the choice's times */
  uint32_t most;                        /* an SM keeps so many stays, and states, of launches that were not taken */
  uint64_t (*time)(const void *ctx, uint64_t gpu_ps); /* the program's time of a moment of the GPU's clock, ps */
  const void *ctx;
};

struct sm_stays *sm_stays_new(const struct sm_stays_way *, const struct params *);
void sm_stays_free(struct sm_stays *);
const struct sim_observers *sm_stays_observers(const struct sm_stays *);
/* When the simulator's run began, ps of the GPU's clock. */
uint64_t sm_stays_begun(const struct sm_stays *);

/* Of this launch, by SM, as they came; forgets them. */
void sm_stays_take(struct sm_stays *, const struct step_source *, struct sm_stay_list *);
void sm_stay_list_free(struct sm_stay_list *);

#endif
