/* warpstep: the table of subcommands. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "warpstep/warpstep.h"

const struct cli_command *const cli_commands[] = {
  &cmd_run, &cmd_exec, &cmd_ncu, &cmd_sanitize, &cmd_debug, &cmd_capture, &cmd_trace, &cmd_disasm, &cmd_asm,
  &cmd_isa, &cmd_gpus, &cmd_machines, &cmd_probe, &cmd_validate, &cmd_area, &cmd_diff, &cmd_sweep, &cmd_help, NULL,
};

int cli_unknown_command(const char *name)
{
  char hint[NEAREST_HINT];
  struct nearest near;
  nearest_start(&near, name);
  for (unsigned i = 0; cli_commands[i]; i++) nearest_offer(&near, cli_commands[i]->name);
  return cli_error("unknown command '%s'; see 'warpstep help'%s", name, nearest_hint(&near, hint));
}

const struct cli_command *cli_command_find(const char *name)
{
  for (unsigned i = 0; cli_commands[i]; i++)
    if (!strcmp(cli_commands[i]->name, name)) return cli_commands[i];
  return NULL;
}

static int unknown_option(const char *word)
{
  char hint[NEAREST_HINT];
  struct nearest near;
  nearest_start(&near, word);
  nearest_offer(&near, "--help");
  nearest_offer(&near, "--version");
  return cli_error("unknown option '%s'; see 'warpstep help'%s", word, nearest_hint(&near, hint));
}

/* A full disk or a closed pipe is neither success nor a result; bad input and outputs have said their reason. */
static int output_end(int status)
{
  if (!fflush(stdout) && !ferror(stdout)) return status;
  if (status != CLI_BAD_INPUT) cli_error("cannot write the output");
  return status == CLI_OK || status == CLI_MISMATCH ? CLI_BAD_INPUT : status;
}

int main(int argc, char **argv)
{
  const struct cli_command *cmd;

  if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
    cmd = &cmd_help, argc = 1;
  else if (!strcmp(argv[1], "--version"))
    return printf("warpstep %s\n", ws_version()), output_end(CLI_OK);
  else if (argv[1][0] == '-')
    return unknown_option(argv[1]);
  else if (!(cmd = cli_command_find(argv[1])))
    return cli_unknown_command(argv[1]);
  else
    argv++, argc--;

  signal(SIGXFSZ, SIG_IGN); /* a limit of file sizes is an error like a full disk */
  return output_end(cmd->run(cmd, argc, argv));
}
