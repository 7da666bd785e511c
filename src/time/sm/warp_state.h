/* Where warps spend their cycles, in the words of Nsight Compute ("warp states"), and what an
 * issue slot without an instruction is charged to. Slots use the same words, plus ISSUED and
 * NO_WARP.
 */
#ifndef WS_TIME_SM_WARP_STATE_H
#define WS_TIME_SM_WARP_STATE_H

#define WARP_STATE_LIST(X)                                                                         \
  X(SELECTED, "selected")                 /* issued an instruction in this cycle                */ \
  X(NOT_SELECTED, "not_selected")         /* ready, another warp was picked                     */ \
  X(WAIT, "wait")                         /* stall count of the previous instruction, or yield  */ \
  X(NO_INSTRUCTION, "no_instruction")     /* ibuffer head not valid yet                         */ \
  X(IMC_MISS, "imc_miss")                 /* constant operand not in the L0 constant cache      */ \
  X(BRANCH_RESOLVING, "branch_resolving") /* after a jump, until the target can be fetched    */   \
  X(LONG_SCOREBOARD, "long_scoreboard")   /* counter of a global, local or texture access       */ \
  X(SHORT_SCOREBOARD, "short_scoreboard") /* any other counter: SFU, shared memory, WAR of loads */ \
  X(GMMA, "gmma")                         /* WARPGROUP.DEPBAR: products of its warpgroup        */ \
  X(MATH_PIPE, "math_pipe_throttle")      /* input latch of the unit is taken                   */ \
  X(DISPATCH, "dispatch_stall")           /* Control stage occupied: register read ports busy   */ \
  X(LG_THROTTLE, "lg_throttle")           /* memory queue full, global or local access          */ \
  X(MIO_THROTTLE, "mio_throttle")         /* memory queue full, other access                    */ \
  X(BARRIER, "barrier")                   /* CTA barrier                                        */ \
  X(MEMBAR, "membar")                     /* memory fence                                       */ \
  X(CONVERGE, "converge")                 /* BSYNC or WARPSYNC: other lanes must arrive         */ \
  X(SLEEPING, "sleeping")                 /* NANOSLEEP                                          */ \
  X(SERVICE, "service")                   /* runtime service call (printf, malloc)              */ \
  X(DRAIN, "drain")                       /* exited, its CTA is still there                     */

enum warp_state {
#define X(id, name) WS_##id,
  WARP_STATE_LIST(X)
#undef X
      WARP_STATE__N
};

/* Issue slots: ISSUED, NO_WARP, or the state of the warp the policy would have picked. */
enum { SLOT_ISSUED = WS_SELECTED, SLOT_NO_WARP = WARP_STATE__N, SLOT__N };

#endif
