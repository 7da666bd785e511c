/* warpstep isa: what is known of the instruction set. */
#include <getopt.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/isa_check.h"
#include "isa/sass/sass.h"

enum { OPT_COVERAGE = CLI_OPT_FIRST, OPT_CHECK };

static const struct cli_option options[] = {
  {OPT_COVERAGE, "coverage", NULL,
   "instructions known, decoded and executable, for each\narchitecture"},
  {OPT_CHECK, "check", NULL, "whether every word of the files decodes, and prints and\nassembles back to itself"},
  {0},
};

static int run_isa(const struct cli_command *cmd, int argc, char **argv)
{
  const char *arg;
  bool coverage = false, check = false;

  for (int id; (id = cli_next_option(cmd, argc, argv, &arg)) != CLI_OPT_END;) {
    if (id == CLI_OPT_BAD) return CLI_BAD_INPUT;
    if (id == CLI_OPT_HELP) return cli_help(cmd);
    if (id == OPT_COVERAGE) coverage = true;
    else check = true;
  }
  if (check && coverage) return cli_usage_error(cmd, "give --coverage or --check");
  if (check && optind == argc) return cli_usage_error(cmd, "--check needs files");
  if (check) return isa_check(argc - optind, argv + optind);
  if (optind < argc) return cli_usage_error(cmd, "unexpected '%s'", argv[optind]);
  if (!coverage) return cli_usage_error(cmd, "nothing to show: give --coverage or --check");
  sass_coverage(stdout);
  return CLI_OK;
}

const struct cli_command cmd_isa = {
  .name = "isa",
  .synopsis = "--coverage | --check FILE...",
  .summary = "show which instructions are known and executable",
  .options = options,
  .notes = "--check reads cubins and programs of any target. Status 1: a word does not decode or does not\n"
           "come back, or a file does not load.\n",
  .examples = "  # how much of sm_80 can this build execute and time?\n"
              "  warpstep isa --coverage | grep sm_80\n"
              "  # is everything in this program understood?\n"
              "  warpstep isa --check a.out\n",
  .run = run_isa,
};
