/* A command that stays beside the program it starts, to say something when it has ended. */
#ifndef WS_CLI_PROGRAM_PARENT_H
#define WS_CLI_PROGRAM_PARENT_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* Signals while the program runs, which its parent takes. */
struct program_parent {
  sigset_t signals, before;
  struct sigaction child; /* what the caller does about ended children */
  pid_t program;
  int status; /* how the program ended, as wait() says it */
};

/* Runs the program, found as execvp does, and waits for it. `unstarted` is called with ctx, in the new process, when it
 * cannot be started, which is said; memory that both share may take a note of it. False, said: there is no new
 * process. */
bool program_parent_run(struct program_parent *, char **program, void (*unstarted)(void *ctx), void *ctx);
/* The exit status of the program. When a signal ended it, it ends this process, too. */
int program_parent_end(const struct program_parent *);

#endif
