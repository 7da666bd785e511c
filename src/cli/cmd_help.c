/* warpstep help: the commands, or one of them. */
#include <getopt.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/man.h"

enum { OPT_MAN = CLI_OPT_FIRST };

static const struct cli_option options[] = {
  {OPT_MAN, "man", NULL, "the manual page of all commands, in troff"},
  {0},
};

const char cli_exit_text[] =
  "Exit status: 0 it ran and all results match; 1 a result differs; 2 bad options or\n"
  "files, outputs that cannot be written, too little host memory; 3 the simulated\n"
  "program faulted; 4 a bug in warpstep; 5 a limit was reached; 130 interrupted by\n"
  "Ctrl-C.\n";

static int list_commands(void)
{
  printf("warpstep: runs CUDA programs cycle by cycle, with no GPU.\n\n"
         "Usage: warpstep COMMAND ...\n\n");
  for (unsigned i = 0; cli_commands[i]; i++)
    printf("  %-8s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
  printf("\n"
         "'warpstep help COMMAND' has the options and examples; 'warpstep --version' the version.\n"
         "Documents named in these texts (docs/..., data/...) lie in the source tree; of an installation, in\n"
         "share/doc/warpstep and share/warpstep.\n"
         "\n");
  fputs(cli_exit_text, stdout);
  printf("\n"
         "Examples:\n"
         "  warpstep run kernels/vecadd/vecadd.launch\n"
         "  warpstep disasm kernels/vecadd/vecadd.sm_86.cubin\n");
  return CLI_OK;
}

static int run_help(const struct cli_command *cmd, int argc, char **argv)
{
  const struct cli_command *about;
  const char *arg;

  for (int id; (id = cli_next_option(cmd, argc, argv, &arg)) != CLI_OPT_END;) {
    if (id == CLI_OPT_HELP) return cli_help(cmd);
    if (id != OPT_MAN) return CLI_BAD_INPUT;
    man_write();
    return CLI_OK;
  }
  if (optind == argc) return list_commands();
  if (optind + 1 < argc) return cli_usage_error(cmd, "one command at a time");
  if (!(about = cli_command_find(argv[optind])))
    return cli_unknown_command(argv[optind]);
  return cli_help(about);
}

const struct cli_command cmd_help = {
  .name = "help",
  .synopsis = "[COMMAND]",
  .summary = "show the commands, or the options and examples of one",
  .options = options,
  .examples = "  # everything about running kernels\n"
              "  warpstep help run\n",
  .run = run_help,
};
