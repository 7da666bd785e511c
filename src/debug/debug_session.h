/* A debugging session: one user, one face, the launches of a program one behind another. Breakpoints live here.
 *
 *   struct debug_session *s = debug_session_new(&options, &e);
 *   … of each launch: if (!debug_session_run(s, &launch, &result, &e)) simulate as always
 *   status = debug_session_end(s, status);
 */
#ifndef WS_DEBUG_SESSION_H
#define WS_DEBUG_SESSION_H

#include "debug/breakpoint.h"
#include "debug/debugger.h"
#include "host/simulate.h"

struct debug_options {
  const char *gdb;    /* port of this machine to wait for gdb at, "-": stdin and stdout; NULL: no gdb */
  bool dap;           /* the Debug Adapter Protocol on stdin and stdout */
  const char *script; /* commands of the console from a file; NULL: none */
  bool batch;         /* no commands from stdin behind them */
  bool one_launch;    /* there is one launch: it stops at its end, too */
  unsigned slice;     /* debug_target.h */
};

/* What the user wants. */
enum debug_answer {
  DEBUG_GO_ON,  /* the launch goes on to its end, and later ones stop as breakpoints say */
  DEBUG_DETACH, /* nothing stops any more */
  DEBUG_KILL,   /* the program ends */
};

/* Talks with the user. */
struct debug_face {
  void *ctx;
  /* A launch is at its start; returns when it has ended, or need not stop any more. */
  enum debug_answer (*talk)(void *ctx, struct debugger *);
  /* The program has ended with this status; the face ends, too. */
  void (*end)(void *ctx, int status);
};

struct debug_session {
  struct debug_options o;
  struct debug_points points;
  struct debug_face face;
  bool stop_next; /* the next launch stops at its start, whatever the breakpoints say */
  bool detached;
  uint64_t launches;
  unsigned mistakes; /* commands of a batch that failed */
};

/* A launch that has not run. */
struct debug_launch {
  struct device *device;
  const struct module_instance *code;
  const struct launch *launch;
  const struct module_kernel *kernel;
  uint64_t number; /* in its program, from 1 */
  uint64_t start_ps, start_clock;
  uint32_t clock_ps;
};

/* NULL with e filled: no such file, no such port. Waits for gdb when it is wanted. */
struct debug_session *debug_session_new(const struct debug_options *, struct err *e);
/* Runs the launch to its end, under the user's control. False: it is none that the user wants to look at, nothing has
 * happened; or, with e filled, it cannot be. */
bool debug_session_run(struct debug_session *, const struct debug_launch *, struct sim_result *, struct err *e);
/* Returns the status that the process shall end with. */
int debug_session_end(struct debug_session *, int status);

#endif
