/* Who stands between the ranks of a program (base/ranks.h): starts them, gives each what all have sent, and ends when
 * they have. Ranks of this machine are its children; with MPI each process that mpirun has started has one, and they
 * meet through MPI. */
#ifndef WS_CLI_RANK_HUB_H
#define WS_CLI_RANK_HUB_H

#include "base/err.h"

/* The socket's number in every rank. */
enum { RANK_HUB_FD = 198 };

/* The program `n` times; n == 0: once, as one of the ranks that mpirun has started. Their environment is that of this
 * process. Returns the exit status of the first rank, or of one that did not end well; a signal that ended the first
 * one ends this process, too. */
int rank_hub_run(unsigned n, char **program);

#endif
