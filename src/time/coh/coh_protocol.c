#include "time/coh/coh_protocol.h"

#include <string.h>

#define X(id, holds, rests) #id,
const char *const coh_state_name[COH_STATES] = {COH_STATE_LIST(X)};
#undef X
#define X(id, holds, rests) holds,
const bool coh_state_holds[COH_STATES] = {COH_STATE_LIST(X)};
#undef X
#define X(id, holds, rests) rests,
const bool coh_state_rests[COH_STATES] = {COH_STATE_LIST(X)};
#undef X
#define X(id) #id,
const char *const coh_event_name[COH_EVENTS] = {COH_EVENT_LIST(X)};
#undef X
#define X(name) #name,
const char *const coh_protocol_names[] = {COH_PROTOCOL_LIST(X) NULL};
#undef X

static const uint16_t action_nets[COH_ACTIONS] = {
#define X(id, nets) nets,
  COH_ACTION_LIST(X)
#undef X
};

/* Actions by their own names, in the tables. */
enum {
#define X(id, nets) id = COH_DO_##id,
  COH_ACTION_LIST(X)
#undef X
};

#define ROW(role, state, event, next, ...) {COH_##role, COH_ST_##state, COH_EV_##event, COH_ST_##next, {__VA_ARGS__}},
static const struct coh_row mi_rows[] = {
#include "time/coh/coh_mi.def"
};
static const struct coh_row mesi_rows[] = {
#include "time/coh/coh_mesi.def"
};
static const struct coh_row hammer_rows[] = {
#include "time/coh/coh_hammer.def"
};
static const struct coh_row vi_hammer_rows[] = {
#include "time/coh/coh_hammer.def"
#include "time/coh/coh_vi.def"
};
static const struct coh_row hsc_rows[] = {
#include "time/coh/coh_hsc.def"
#include "time/coh/coh_vi.def"
};

struct table {
  const struct coh_row *row;
  size_t n;
};

#define X(name) {name##_rows, sizeof name##_rows / sizeof name##_rows[0]},
static const struct table table[] = {COH_PROTOCOL_LIST(X)};
#undef X

static void enter(struct coh_protocol *p, unsigned i)
{
  const struct coh_row *r = &p->row[i];
  uint16_t *at = &p->at[r->role][r->state][r->event];
  unsigned nets = 0;
  BUG_ON(*at); /* twice */
  *at = (uint16_t)(i + 1);
  for (unsigned k = 0; k < COH_ROW_ACTIONS; k++) nets |= action_nets[r->action[k]];
  p->nets[i] = (uint8_t)nets;
  p->levels |= r->role == COH_L1;
}

const struct coh_protocol *coh_protocol_new(const char *name, struct arena *a)
{
  for (unsigned i = 0; coh_protocol_names[i]; i++) {
    if (strcmp(name, coh_protocol_names[i]) != 0) continue;
    struct coh_protocol *p = ARENA_NEW(a, struct coh_protocol);
    BUG_ON(table[i].n > COH_MAX_ROWS);
    p->name = coh_protocol_names[i];
    p->row = table[i].row;
    p->n_rows = (unsigned)table[i].n;
    for (unsigned k = 0; k < p->n_rows; k++) enter(p, k);
    return p;
  }
  return NULL;
}
