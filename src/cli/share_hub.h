/* Who gives out a GPU that several processes have in turns (`exec --share slices`, docs/sharing.md): a process beside
 * the program, with a socket to each process that has the GPU. It answers a question once all processes of the program
 * ask or sleep, so that none can ask for an earlier time any more (base/time_slices.h).
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
/* The same for another kind of server. Where programs find it, and what both have: a page that all map. Then the new
 * process (true), which must not return from it, and the parent. */
struct share_place {
  char name[SHARE_NAME];
  pid_t root; /* who starts the program */
  int listener, page;
};
bool share_hub_place(struct share_place *, int type, size_t page_bytes, struct err *e);
bool share_hub_fork(struct share_hub *, const struct share_place *);
bool share_hub_parent(struct share_hub *, const struct share_place *, struct err *e);
/* The program, found as execvp does, with all that it starts; the exit status, behind its end. */
int share_hub_run(struct share_hub *, char **program);

#endif
