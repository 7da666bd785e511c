#include "cli/rank_choice.h"

#include <string.h>

#include "base/ranks.h"
#include "cli/cli.h"

int rank_choice_take(const struct cli_command *cmd, struct rank_choice *c, const char *arg)
{
  unsigned long n;
  *c = (struct rank_choice){.given = true};
  if (strcmp(arg, "mpi") == 0) return CLI_OK;
  if (!cli_number(arg, 1, RANKS_MAX, &n))
    return cli_usage_error(cmd, "--ranks %.60s: mpi, or a number of processes from 1 to %d", arg, RANKS_MAX);
  c->n = (unsigned)n;
  return CLI_OK;
}

static bool has_line(const char *text, const char *begin)
{
  const size_t n = strlen(begin);
  for (; text; text = strchr(text, '\n'), text += text != NULL)
    if (strncmp(text, begin, n) == 0) return true;
  return false;
}

int shared_launches_check(const struct cli_command *cmd, const char *option, const char *text)
{
  static const char *const not[][2] = {
      {"sample=", "--sample-launches"},     {"sample_ctas=", "--sample-ctas"},
      {"cold=", "--cold"},                  {"max_cycles=", "--max-cycles"},
      {"max_insts=", "--max-instructions"}, {"trace=", "--trace"},
      {"spin=strict", "--spin strict"}};
  for (unsigned i = 0; i < sizeof not / sizeof *not; i++)
    if (has_line(text, not[i][0])) return cli_usage_error(cmd, "%s: not with %s", option, not[i][1]);
  return CLI_OK;
}

int rank_choice_check(const struct cli_command *cmd, const char *text)
{
  static const char *const not[][2] = {{"host_time=measured", "--host-time measured"},
                                       {"host_time=record", "--host-time record"}};
  for (unsigned i = 0; i < sizeof not / sizeof *not; i++)
    if (has_line(text, not[i][0])) return cli_usage_error(cmd, "--ranks: not with %s", not[i][1]);
  return shared_launches_check(cmd, "--ranks", text);
}
