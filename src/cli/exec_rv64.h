/* `warpstep exec` of a RISC-V program: a simulated CPU in the place of the host's, without time or, on a machine that
 * has such a CPU, with it (docs/rv64.md). */
#ifndef WS_CLI_EXEC_RV64_H
#define WS_CLI_EXEC_RV64_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"

struct checkpoint;

struct exec_rv64 {
  const char *sysroot; /* NULL: where Debian's cross libraries are, if they are */
  uint64_t max_insts;  /* 0: no limit */
  uint64_t memory_mib; /* 0: EXEC_RV64_MEMORY_MIB */
  bool missing_calls;
  /* Its GPU (docs/rv64.md): a machine, or the preset of a discrete one; neither: there is none */
  const char *machine, *gpu, *presets;
  const char *options; /* KEY=VALUE lines for the library (cuda/core/options.h) */
  /* In time, on the machine's cores if it has some and they are to be: */
  bool timed, functional_cpu;
  bool forward;           /* … without time up to the first region of interest, */
  uint64_t forward_insts; /* or to so many instructions; 0: no matter how many */
  const char *report, *json; /* files; NULL: the report to stderr; no JSON */
  bool quiet;                /* no report */
  /* To be saved (cli/checkpoint.h), with its cores in time: where it runs; NULL: it is not to be */
  struct checkpoint *checkpoint;
  const char *checkpoint_file;
  bool checkpoint_region;             /* when a region of interest begins */
  const unsigned long *checkpoint_at; /* else at these times, ns, ascending */
  unsigned n_checkpoints;
};

enum { EXEC_RV64_MEMORY_MIB = 4096 };

/* Whether the file is an executable of 64-bit RISC-V. */
bool exec_rv64_is(const char *path);
/* Runs it to its end; returns its exit status, 128 + the number of a signal that ended it, or an enum cli_status. */
int exec_rv64(const struct exec_rv64 *, char *const *argv);

#endif
