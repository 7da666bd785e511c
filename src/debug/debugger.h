/* One launch under the debugger's control: where the user looks (the focus: a lane), what makes it stop, and going
 * forwards and backwards. The faces are made of this.
 */
#ifndef WS_DEBUG_DEBUGGER_H
#define WS_DEBUG_DEBUGGER_H

#include "debug/breakpoint.h"
#include "debug/debug_target.h"
#include "debug/source_map.h"
#include "load/debug_info.h"

enum stop_kind {
  STOP_START,     /* position 0; going back it is as far as it goes */
  STOP_STEP,      /* what was asked for is done */
  STOP_BREAK,     /* `hit` */
  STOP_WATCH,     /* `hit` */
  STOP_END,       /* the launch has ended */
  STOP_FAULT,     /* target.fault */
  STOP_INTERRUPT, /* the user wanted it */
  STOP_REFUSED,   /* it cannot go back: why */
};

struct debug_stop {
  enum stop_kind kind;
  unsigned point; /* number of the breakpoint or watchpoint; 0: none */
  struct err why;
};

struct debugger {
  struct debug_target target;
  struct source_map map;
  struct debug_info variables;
  struct debug_points *points; /* the session's */
  struct expression_names names;
  struct lane_view focus; /* of a resident CTA, unless the launch has ended */
  struct {
    unsigned frame;
    uint64_t position;
    struct lane_view of;
  } chosen;               /* debugger_choose_frame */
  struct debug_stop stop; /* the last one */
  struct {
    uint64_t at;
    unsigned slot, warp;
  } told; /* the turn at which a breakpoint last stopped it */
  const struct module_kernel *kernel;
  uint64_t number;                /* of the launch in its program, from 1 */
  uint64_t home;                  /* a warp whose lane was chosen (debugger_stay), … */
  unsigned home_lane;             /* … and this */
  bool (*interrupted)(void *ctx); /* asked now and then; NULL: never */
  void *ctx;
};

/* The launch is at its start. The module's line table may be malformed, which is said on stderr and leaves it without.
 * False with e filled: the launch cannot be built. */
bool debugger_open(struct debugger *, struct device *, const struct module_instance *, const struct launch *,
                   const struct module_kernel *, struct debug_points *, const struct target_options *, struct err *e);
void debugger_close(struct debugger *);

/* Until something stops it. */
const struct debug_stop *debugger_continue(struct debugger *);

enum step_what {
  STEP_INST,      /* one instruction of the focus's path */
  STEP_OVER,      /* the same, and what it calls */
  STEP_LINE,      /* until it comes to another source line */
  STEP_LINE_OVER, /* the same, and what the line calls, inlined or not */
  STEP_OUT,       /* until the function has returned; out of the kernel: until the CTA has ended */
  STEP_CTA,       /* an instruction of each warp of the CTA that can go on */
};

/* Only the focus's path goes on, as long as it can: it waits for others while they go on. Breakpoints of others stop it
 * then. */
const struct debug_stop *debugger_step(struct debugger *, enum step_what);

/* Backwards: the launch is executed again from its start up to a position before this one. */
const struct debug_stop *debugger_reverse_continue(struct debugger *);
const struct debug_stop *debugger_reverse_step(struct debugger *, enum step_what);
/* To any position, without stops on the way; it may be the launch's end. */
const struct debug_stop *debugger_goto(struct debugger *, uint64_t position);

/* Lanes that are in the focus's path; 0: its lane has exited. */
lane_mask debugger_active(const struct debugger *);
/* Puts the focus on a lane. False with e filled: it is not resident, or there is no such lane. */
bool debugger_focus(struct debugger *, uint64_t cta, unsigned warp, unsigned lane, struct err *e);

/* Warps as numbers from 1 on, for faces that have threads: 1 + CTA * warps of a CTA + warp. */
uint64_t debugger_thread(const struct debugger *, const struct lane_view *);
/* Puts the focus on a warp: where it is of that warp it stays on its lane, else the lane that was last asked to stay,
 * else the first. False: the warp is not resident, or has ended. */
bool debugger_focus_thread(struct debugger *, uint64_t thread);
/* The focus's lane is the one to come back to. */
void debugger_stay(struct debugger *);

/* A call stack frame of the focus. */
enum { BACKTRACE_MOST = 1024 };
struct debug_frame {
  struct source_frame source;
  uint64_t pc;    /* of the frame: where it goes on */
  uint64_t at;    /* the instruction it is at: the innermost one's next, the callers' calls */
  bool called;    /* a function that it called runs */
  uint32_t depth; /* calls of the lane that led to it */
};
/* Frames of the focus, innermost first; returns how many were written. */
unsigned debugger_backtrace(const struct debugger *, struct debug_frame *out, unsigned most);
/* Chooses which of its frames is looked at, 0 the innermost, until it goes on or the focus moves. False with e filled:
 * it has no such frame. */
bool debugger_choose_frame(struct debugger *, uint64_t frame, struct err *e);
/* That frame; *number: which it is. False: the lane has exited. */
bool debugger_frame(const struct debugger *, struct debug_frame *out, unsigned *number);

/* Text of the instruction at pc, "" where there is none. */
void debugger_instruction(const struct debugger *, uint64_t pc, char *buf, size_t size);

#endif
