/* Command line: the table of subcommands and what they share. Only this folder prints messages and
 * chooses the exit status.
 */
#ifndef WS_CLI_CLI_H
#define WS_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bug.h"

/* Exit status of the process, the same for all commands. */
enum cli_status {
  CLI_OK = 0,
  CLI_MISMATCH = 1,  /* the program ran and its results differ from the expected ones */
  CLI_BAD_INPUT = 2, /* options, files, presets */
  CLI_FAULT = 3,     /* the simulated program faulted */
  CLI_BUG = BUG_EXIT_STATUS,
  CLI_LIMIT = 5,         /* the simulated program reached a limit of the user */
  CLI_INTERRUPTED = 130, /* 128 + SIGINT, as shells report it */
};

struct cli_option {
  int id;           /* what cli_next_option returns; a letter: the option has this short form, too */
  const char *name; /* without dashes */
  const char *arg;  /* name of its argument in the help; NULL: a flag */
  const char *text; /* one help line; '\n' starts another */
};

/* Ids of options without a short form begin above all characters. */
enum { CLI_MAX_OPTIONS = 64, CLI_OPT_FIRST = 256, CLI_OPT_END = -1, CLI_OPT_BAD = -2,
       CLI_OPT_HELP = -3 };

struct cli_command {
  const char *name;
  const char *synopsis; /* after the name: "FILE [options]" */
  const char *summary;  /* one line */
  const struct cli_option *options; /* ends with a zeroed element; may be NULL */
  bool program_follows; /* options end at the first operand: the rest belongs to it */
  const char *notes;    /* further paragraphs, may be NULL */
  const char *examples; /* command lines, one per line, each "# what" above it */
  int (*run)(const struct cli_command *, int argc, char **argv); /* argv[0] = name */
};

/* All commands, ends with NULL. */
extern const struct cli_command *const cli_commands[];
const struct cli_command *cli_command_find(const char *name);
/* Prints that there is no such command, and which one may be meant; returns CLI_BAD_INPUT. */
int cli_unknown_command(const char *name);

/* Next option of argv: its id, with its argument in *arg (NULL for flags); CLI_OPT_END when only operands
 * are left (argv[optind] on); CLI_OPT_HELP for --help and -h; CLI_OPT_BAD after printing one line.
 * Operands and options may be mixed. */
int cli_next_option(const struct cli_command *, int argc, char **argv, const char **arg);

/* Prints "warpstep: …" on stderr and returns CLI_BAD_INPUT. */
int cli_error(const char *fmt, ...) __attribute__((format(printf, 1, 2), cold));
/* The same with "; see 'warpstep help NAME'". */
int cli_usage_error(const struct cli_command *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), cold));
/* Prints the help of a command on stdout; returns CLI_OK. */
int cli_help(const struct cli_command *);

/* Whole of s as an unsigned number in [min, max]. */
bool cli_number(const char *s, unsigned long min, unsigned long max, unsigned long *n);
/* The value of an option, a number from 1. False: none, and a line was printed. */
bool cli_count(const struct cli_command *, const char *option, const char *arg, unsigned most, unsigned *to);

#endif
