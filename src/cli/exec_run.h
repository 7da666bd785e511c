/* What the commands that run a CUDA program have in common (exec, capture, sanitize, debug): their options, and what
 * these come to. Each command has a table of those that it takes.
 */
#ifndef WS_CLI_EXEC_RUN_H
#define WS_CLI_EXEC_RUN_H

#include "cli/cli.h"
#include "cli/exec_rv64.h"
#include "cli/exec_what_if.h"
#include "cli/rank_choice.h"
#include "debug/debug_session.h"
#include "host/activity.h"

enum {
  OPT_GPU = CLI_OPT_FIRST, OPT_PRESETS, OPT_SET, OPT_CLOCK, OPT_FUNCTIONAL, OPT_TIMED, OPT_TIME_KERNELS,
  OPT_STOP, OPT_COLD, OPT_THREADS, OPT_REPORT, OPT_JSON, OPT_TRACE, OPT_QUIET,
  OPT_PROGRESS, OPT_MAX_CYCLES, OPT_MAX_INSTRUCTIONS, OPT_SAMPLE,
  OPT_SAMPLE_CTAS, OPT_INTERLEAVE, OPT_TIMELINE, OPT_TIMELINE_SMS, OPT_TIMELINE_WARPS, OPT_TIMELINE_US, OPT_TOOL,
  OPT_PRINT_LEVEL, OPT_PRINT_LIMIT, OPT_LEAK_CHECK, OPT_ERROR_EXITCODE, OPT_LOG_FILE, OPT_HTML, OPT_HTML_BASELINE,
  OPT_WHAT_IF, OPT_MACHINE, OPT_LIBS, OPT_CHECKPOINT, OPT_CHECKPOINT_AT, OPT_RESTORE,
  OPT_SYSROOT, OPT_MEMORY, OPT_MISSING_CALLS, OPT_FUNCTIONAL_CPU, OPT_FAST_FORWARD, OPT_HOST_TIME, OPT_SPIN, OPT_MIG,
  OPT_RANKS, OPT_SHARE, OPT_OUTPUT = 'o',
};

/* Every command that starts a program has this option. */
#define LIBS_ROW                                                                                                    \
  {OPT_LIBS, "libs", "WHICH", "own: cuBLAS, cuDNN, cuFFT and others are warpstep's open ones (the default);\n"       \
                              "native: the system's (docs/libraries.md)"}

/* The options as the library reads them: lines KEY=VALUE. */
struct exec_run {
  const char *gpu, *machine, *mig, *presets, *which;
  const char *capture; /* folder; NULL: nothing is captured */
  const char *tools;   /* of the sanitizer; NULL: it is not used */
  const char *error_exitcode;
  const struct debug_options *debug; /* NULL: no debugger */
  bool timed;
  bool stop;
  const char *timeline, *json, *report, *log, *html, *baseline;
  bool timeline_choice;         /* options of what --timeline shows were given */
  struct exec_what_if what_if;
  struct activity_choice shown; /* what they are, to tell mistakes before the program starts */
  bool native;                  /* --libs native */
  struct exec_rv64 rv64;
  bool for_rv64, for_gpu;       /* options of either kind were given */
  unsigned long *times;         /* of --checkpoint-at */
  const char *restore;          /* --restore */
  unsigned threads;             /* --threads; 0: not given */
  struct rank_choice ranks;
  bool share, mps;              /* --share slices; mps */
  bool quiet;
  char *text;
  size_t bytes;
  FILE *out;
};

/* The command line up to the program, argv[optind]. CLI_OPT_HELP: help was asked for; another status than CLI_OK: a
 * line was printed. Mistakes are better told before the program starts. */
int exec_run_parse(const struct cli_command *, struct exec_run *, int argc, char **argv);

#endif
