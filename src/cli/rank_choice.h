/* --ranks of warpstep exec (cli/rank_hub.h). */
#ifndef WS_CLI_RANK_CHOICE_H
#define WS_CLI_RANK_CHOICE_H

#include <stdbool.h>

struct cli_command;

struct rank_choice {
  bool given;
  unsigned n; /* processes; 0: those that mpirun has started */
};

/* CLI_OK, or what is wrong was said. */
int rank_choice_take(const struct cli_command *, struct rank_choice *, const char *arg);
/* The options as the library reads them: whether some are there with which kernels do not share a GPU as they come
 * (`option`: what wants that). */
int shared_launches_check(const struct cli_command *, const char *option, const char *text);
/* … or that depend on real time. */
int rank_choice_check(const struct cli_command *, const char *text);

#endif
