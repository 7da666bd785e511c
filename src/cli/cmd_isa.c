/* warpstep isa: what is known of the instruction set. */
#include <getopt.h>
#include <stdio.h>

#include "cli/commands.h"
#include "isa/sass/sass.h"

enum { OPT_COVERAGE = CLI_OPT_FIRST };

static const struct cli_option options[] = {
  {OPT_COVERAGE, "coverage", NULL,
   "instructions known, decoded and executable, for each\narchitecture"},
  {0},
};

static int run_isa(const struct cli_command *cmd, int argc, char **argv)
{
  const char *arg;
  bool coverage = false;

  for (int id; (id = cli_next_option(cmd, argc, argv, &arg)) != CLI_OPT_END;) {
    if (id == CLI_OPT_BAD) return CLI_BAD_INPUT;
    if (id == CLI_OPT_HELP) return cli_help(cmd);
    coverage = true;
  }
  if (optind < argc) return cli_usage_error(cmd, "unexpected '%s'", argv[optind]);
  if (!coverage) return cli_usage_error(cmd, "nothing to show: give --coverage");
  sass_coverage(stdout);
  return CLI_OK;
}

const struct cli_command cmd_isa = {
  .name = "isa",
  .synopsis = "--coverage",
  .summary = "show which instructions are known and executable",
  .options = options,
  .examples = "  # can this build execute IMMA on sm_80?\n"
              "  warpstep isa --coverage | grep IMMA\n",
  .run = run_isa,
};
