/* Processes that a command has started, with all that these have started in turn: whether any of them computes.
 * Linux tells both below /proc (proc(5)). */
#ifndef WS_CLI_PROCESS_TREE_H
#define WS_CLI_PROCESS_TREE_H

#include <stdbool.h>
#include <sys/types.h>

/* What is known of a process by other means. */
enum process_known {
  PROCESS_LOOK,  /* nothing */
  PROCESS_RUNS,
  PROCESS_WAITS, /* it, not those that it has started */
  PROCESS_SKIP,  /* nor these */
};

/* The system tells children of processes. */
bool process_tree_is_served(void);
/* A process below `root` of which a thread runs, or is about to; 0: all sleep, or have ended. */
pid_t process_tree_running(pid_t root, enum process_known (*known)(void *ctx, pid_t), void *ctx);

#endif
