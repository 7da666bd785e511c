/* Protocols of coherent memory, as tables: what a controller does when something happens to a line in some state.
 *
 *   rows    ROW(controller, state, event, next state, actions…), one file for each protocol, coh_*.def. An operation
 *           or a request for which there is no row waits; anything else without a row is a mistake in the table
 *   homes   take one request for a line at a time: the next is looked at when the requestor has said that it is done.
 *           So the states between need no rows for what others do meanwhile
 *   answers of a request are counted before they are events: PART is one that is not the last; LAST_SHARED and
 *           LAST_ALONE tell whether anybody else has a copy
 *
 * What each protocol is, with its sources: docs/blocks/coherence.md. */
#ifndef WS_TIME_COH_COH_PROTOCOL_H
#define WS_TIME_COH_COH_PROTOCOL_H

#include "base/arena.h"
#include "time/coh/coh_msg.h"

/* name, whether the line's bytes are there, whether nothing is under way */
#define COH_STATE_LIST(X)                                                                 \
  X(I, false, true)    /* not here; home: memory alone has the line, or copies to read */ \
  X(S, true, true)     /* a copy to read; home: such copies, memory is current */         \
  X(E, true, true)     /* the only copy, as memory has it */                              \
  X(O, true, true)     /* owned, others may read; home: an owner and such copies */       \
  X(M, true, true)     /* the only copy, changed */                                       \
  X(V, true, true)     /* a copy that nobody keeps fresh */                               \
  X(X, false, true)    /* home: a cache owns the line alone, or it is not known */        \
  X(IS, false, false)  /* asked to read */                                                \
  X(IM, false, false)  /* asked to write */                                               \
  X(SM, true, false)   /* … with a copy at hand */                                        \
  X(OM, true, false)   /* … as its owner */                                               \
  X(MI, true, false)   /* asked to write back */                                          \
  X(II, false, false)  /* … and lost the line meanwhile */                                \
  X(IV, false, false)  /* asked the level above */                                        \
  X(IVI, false, false) /* … and shall not keep it */                                      \
  X(B, false, false)   /* home: until the requestor is done */                            \
  X(BX, false, false)  /* home: the same, a cache owned the line before */                \
  X(BC, false, false)  /* home: the same, and until the owner's copy is in memory */      \
  X(BD, false, false)  /* home: the requestor is done, the owner's copy is to come */     \
  X(BW, false, false)  /* home: until the line is written back */                         \
  X(BO, false, false)  /* home: the same, others keep copies */                           \
  X(BR, false, false)  /* home: takes the line back from everybody, for want of room */

enum coh_state {
#define X(id, holds, rests) COH_ST_##id,
  COH_STATE_LIST(X)
#undef X
  COH_STATES
};

#define COH_EVENT_LIST(X)                                                                                \
  X(LOAD) X(STORE) X(ATOMIC) X(ACQUIRE)                                                                  \
  X(REPLACE) /* its place is wanted */                                                                   \
  X(FWD_GETS) X(FWD_GETX) X(INV) X(WB_ACK) X(WB_NACK)                                                    \
  X(PART) X(LAST_SHARED) X(LAST_ALONE)                                                                   \
  X(DONE) /* the level above has answered a load */                                                      \
  X(GETS) X(GETX)                                                                                        \
  X(GETX_OWNER) /* of the line's owner */                                                                \
  X(PUT) X(PUT_OTHER) /* of one that no longer owns it, or no owner is known */                          \
  X(UNBLOCK_S) X(UNBLOCK_X) X(WB_DATA) X(WB_NONE) X(COPY)

enum coh_event {
#define X(id) COH_EV_##id,
  COH_EVENT_LIST(X)
#undef X
  COH_EVENTS
};

/* name, networks it sends on (bits), the message. Actions of a row happen in its order. */
#define COH_ACTION_LIST(X)                                                                                        \
  X(NONE, 0)                                                                                                      \
  /* caches */                                                                                                    \
  X(HIT, COH_BIT(REPLIES))        /* performs the operation and replies */                                        \
  X(FINISH, COH_BIT(REPLIES))     /* the same for the one that has waited */                                      \
  X(ASK_S, COH_BIT(REQUESTS))     /* GETS */                                                                      \
  X(ASK_X, COH_BIT(REQUESTS))     /* GETX */                                                                      \
  X(ASK_PUT, COH_BIT(REQUESTS))   /* PUT */                                                                       \
  X(GIVE_S, COH_TO_REQUESTOR)     /* DATA, to be read */                                                          \
  X(GIVE_X, COH_TO_REQUESTOR)     /* DATA, the only copy */                                                       \
  X(SAY_ACK, COH_TO_REQUESTOR)                                                                                    \
  X(SAY_SHARED, COH_TO_REQUESTOR) /* ACK: there is a copy here */                                                 \
  X(GIVE_COPY, COH_BIT(ENDS))     /* COPY, to the home */                                                         \
  X(GIVE_BACK, COH_BIT(ENDS))     /* WB_DATA */                                                                   \
  X(GIVE_NONE, COH_BIT(ENDS))     /* WB_NONE */                                                                   \
  X(UNBLOCK_S, COH_BIT(ENDS)) X(UNBLOCK_X, COH_BIT(ENDS))                                                         \
  X(ASK_ABOVE, COH_BIT(OPS))      /* the load, for the whole line */                                              \
  X(PASS, COH_BIT(OPS))           /* the operation goes to the level above, which replies */                      \
  X(WRITE_OWN, 0)                 /* a store into the copy here */                                                \
  /* homes */                                                                                                     \
  X(MEM_S, COH_BIT(ANSWERS))      /* DATA of memory, to be read */                                                \
  X(MEM_E, COH_BIT(ANSWERS))      /* … the only copy; nobody else has one */                                      \
  X(MEM_X, COH_BIT(ANSWERS))      /* … the only copy, behind the acknowledgements of those that have one */       \
  X(MEM_ALL, COH_BIT(ANSWERS))    /* … in case no cache has it, behind the answers of all */                      \
  X(GRANT, COH_BIT(ANSWERS))      /* no data: the requestor's are good, behind acknowledgements */                \
  X(TELL_S, COH_BIT(FORWARDS))    /* FWD_GETS to the owner */                                                     \
  X(TELL_X, COH_BIT(FORWARDS))    /* FWD_GETX to the owner, who passes on how many acknowledge */                 \
  X(TELL_SHARERS, COH_CAST)       /* INV to all that have a copy, but for the requestor */                        \
  X(CAST_S, COH_CAST) X(CAST_X, COH_CAST) /* FWD_… to all caches but the requestor */                             \
  X(SAY_WB_ACK, COH_BIT(FORWARDS)) X(SAY_WB_NACK, COH_BIT(FORWARDS))                                              \
  X(KEEP, 0)                      /* the bytes of the message, if it has any, into memory */                      \
  X(OWNER, 0)                     /* the requestor is the owner; nobody else has a copy */                        \
  X(SHARER, 0)                    /* the requestor has a copy to read */                                          \
  X(OWNER_SHARES, 0)              /* the owner has a copy to read, and owns it no longer */                       \
  X(NO_OWNER, 0)                  /* others keep copies */                                                        \
  /* A home that takes a line back waits for the owner, who says how many others answer, or: */                   \
  X(AWAIT_SHARERS, 0)             /* for those that have a copy */                                                \
  X(AWAIT_ALL, 0)                 /* for all caches */

enum {
#define COH_BIT(net) (1u << COH_##net)
  COH_TO_REQUESTOR = 1u << COH_ANSWERS | 1u << COH_ENDS, /* a cache, or a home that takes the line back */
  COH_CAST = 1u << COH_NETS,                             /* several messages: one such row at a time */
};

enum coh_action {
#define X(id, nets) COH_DO_##id,
  COH_ACTION_LIST(X)
#undef X
  COH_ACTIONS
};

enum { COH_ROW_ACTIONS = 5, COH_MAX_ROWS = 96 };

/* A line's controllers. */
enum coh_role {
  COH_L1,    /* below another cache, writes through */
  COH_CACHE, /* below the home */
  COH_HOME,
  COH_ROLES
};

struct coh_row {
  uint8_t role, state, event, next;
  uint8_t action[COH_ROW_ACTIONS];
};

#define COH_PROTOCOL_LIST(X) \
  X(mi) X(mesi) X(hammer) X(vi_hammer) X(hsc)

struct coh_protocol {
  const char *name;
  const struct coh_row *row;
  unsigned n_rows;
  uint16_t at[COH_ROLES][COH_STATES][COH_EVENTS]; /* row + 1; 0: none */
  uint8_t nets[COH_MAX_ROWS];                     /* it sends on, bits of enum coh_net and COH_CAST */
  bool levels; /* it has caches of the role L1 */
};

/* By name, of the arena; NULL: there is none of that name. */
const struct coh_protocol *coh_protocol_new(const char *name, struct arena *);
/* All names, behind each other, the last one NULL. */
extern const char *const coh_protocol_names[];

/* -1: none. */
static inline int coh_protocol_row(const struct coh_protocol *p, enum coh_role role, unsigned state, unsigned event)
{
  return (int)p->at[role][state][event] - 1;
}

extern const char *const coh_state_name[COH_STATES], *const coh_event_name[COH_EVENTS];
extern const bool coh_state_holds[COH_STATES], coh_state_rests[COH_STATES];

#endif
