/* warpstep help: the commands, or one of them. */
#include <stdio.h>

#include "cli/commands.h"

static int list_commands(void)
{
  printf("warpstep: runs CUDA programs cycle by cycle, with no GPU.\n\n"
         "Usage: warpstep COMMAND ...\n\n");
  for (unsigned i = 0; cli_commands[i]; i++)
    printf("  %-8s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
  printf("\n"
         "'warpstep help COMMAND' has the options and examples; 'warpstep --version' the version.\n"
         "\n"
         "Exit status: 0 it ran and all results match; 1 a result differs; 2 bad options or\n"
         "files; 3 the simulated program faulted; 4 a bug in warpstep.\n"
         "\n"
         "Examples:\n"
         "  warpstep run kernels/vecadd/vecadd.launch\n"
         "  warpstep disasm kernels/vecadd/vecadd.sm_86.cubin\n");
  return CLI_OK;
}

static int run_help(const struct cli_command *cmd, int argc, char **argv)
{
  const struct cli_command *about;

  if (argc < 2) return list_commands();
  if (argc > 2) return cli_usage_error(cmd, "one command at a time");
  if (!(about = cli_command_find(argv[1])))
    return cli_error("unknown command '%s'; see 'warpstep help'", argv[1]);
  return cli_help(about);
}

const struct cli_command cmd_help = {
  .name = "help",
  .synopsis = "[COMMAND]",
  .summary = "show the commands, or the options and examples of one",
  .examples = "  # everything about running kernels\n"
              "  warpstep help run\n",
  .run = run_help,
};
