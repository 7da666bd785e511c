/* Who gives out a GPU that several processes have in turns (`exec --share slices`, docs/exec.md): a process beside the
 * program, with a socket to each process that has the GPU. It answers a question once all processes of the program ask
 * or sleep, so that none can ask for an earlier time any more (base/time_slices.h).
 */
#ifndef WS_CLI_SHARE_HUB_H
#define WS_CLI_SHARE_HUB_H

#include <sys/types.h>

#include "base/err.h"

enum { SHARE_NAME = 64 };

struct share_hub {
  pid_t process;
  char name[SHARE_NAME]; /* for option `share` (cuda/core/options.h) */
};

/* False with *e filled: there is none. */
bool share_hub_start(struct share_hub *, struct err *e);
/* The program, found as execvp does, with all that it starts; the exit status, behind its end. */
int share_hub_run(struct share_hub *, char **program);

#endif
