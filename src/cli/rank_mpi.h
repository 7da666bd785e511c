/* The few calls of MPI that ranks need (cli/rank_hub.h), of a library that is loaded when it is asked for: nothing of
 * MPI is needed to build. Only Open MPI's: others have other numbers for what they call a communicator. */
#ifndef WS_CLI_RANK_MPI_H
#define WS_CLI_RANK_MPI_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/ranks.h"

struct rank_mpi;

/* MPI has begun. NULL with *e filled: there is no library, or no other process was started. */
struct rank_mpi *rank_mpi_begin(unsigned *rank, unsigned *n, struct err *e);
/* Frames of all; then bytes of all behind each other, into `all`, which has room for them. */
void rank_mpi_frames(struct rank_mpi *, const struct rank_frame *mine, struct rank_frame *all);
void rank_mpi_bytes(struct rank_mpi *, const void *mine, const struct rank_frame *frame, void *all);
void rank_mpi_end(struct rank_mpi *);
/* What mpirun has put into the environment goes: it differs from rank to rank. */
void rank_mpi_clean_environment(void);

#endif
