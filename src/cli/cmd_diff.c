/* warpstep diff: two reports beside each other. */
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "view/run_diff.h"

enum { OPT_ROWS = CLI_OPT_FIRST, OPT_ALL, OPT_FAIL_ABOVE };

static const struct cli_option options[] = {
  {OPT_ROWS, "rows", "N", "lines of each table (12)"},
  {OPT_ALL, "all", NULL, "all lines"},
  {OPT_FAIL_ABOVE, "fail-above", "PERCENT", "exit with 1 when B takes that much more cycles than A"},
  {0},
};

struct diff_options {
  unsigned long rows;
  double fail_above; /* percent; below 0: not asked for */
};

static bool percent_of(const char *text, double *value)
{
  char *end;
  *value = strtod(text, &end);
  return end != text && !*end && *value >= 0 && *value <= 1e6;
}

/* CLI_OK: compare; otherwise what to return, with -1 for the help. */
static int parse(const struct cli_command *cmd, int argc, char **argv, struct diff_options *o)
{
  const char *arg;
  for (int id; (id = cli_next_option(cmd, argc, argv, &arg)) != CLI_OPT_END;) {
    switch (id) {
    case CLI_OPT_HELP: return -1;
    case OPT_ALL: o->rows = UINT_MAX; break;
    case OPT_ROWS:
      if (!cli_number(arg, 1, UINT_MAX, &o->rows))
        return cli_usage_error(cmd, "--rows takes a number from 1, not '%s'", arg);
      break;
    case OPT_FAIL_ABOVE:
      if (!percent_of(arg, &o->fail_above))
        return cli_usage_error(cmd, "--fail-above takes a percentage from 0 to 1000000, not '%s'", arg);
      break;
    default: return CLI_BAD_INPUT;
    }
  }
  return argc - optind == 2 ? CLI_OK : cli_usage_error(cmd, "two reports are needed, not %d", argc - optind);
}

/* Exit status: B went wrong where A did not; with a limit, it is slower than allowed, or misses launches of A. */
static int verdict(const struct run_doc *a, const struct run_doc *b, double fail_above)
{
  double was = run_doc_cycles(a), is = run_doc_cycles(b);
  if (run_doc_good(a) && !run_doc_good(b)) return CLI_MISMATCH;
  if (fail_above < 0) return CLI_OK;
  if (was <= 0 || is <= 0)
    return cli_error("--fail-above: %s has no cycles: it was run without time, or stopped", (was <= 0 ? a : b)->path);
  bool fewer = run_doc_launches(b) < run_doc_launches(a);
  return fewer || !run_doc_good(b) || is > was * (1 + fail_above / 100) ? CLI_MISMATCH : CLI_OK;
}

static int compare(const struct run_doc *a, const struct run_doc *b, const struct diff_options *o)
{
  if (a->program != b->program)
    return cli_error("%s is of 'run', %s of 'exec': compare two of a kind", (a->program ? b : a)->path,
                     (a->program ? a : b)->path);
  run_diff_write(stdout, a, b, (unsigned)o->rows);
  return verdict(a, b, o->fail_above);
}

static int run_diff(const struct cli_command *cmd, int argc, char **argv)
{
  struct diff_options o = {.rows = 12, .fail_above = -1};
  struct run_doc a, b;
  struct err e = {""};
  int status = parse(cmd, argc, argv, &o);
  if (status == -1) return cli_help(cmd);
  if (status != CLI_OK) return status;
  if (!run_doc_read(&a, argv[optind], &e)) return cli_error("%s", e.msg);
  if (run_doc_read(&b, argv[optind + 1], &e)) {
    status = compare(&a, &b, &o);
    run_doc_free(&b);
  } else {
    status = cli_error("%s", e.msg);
  }
  run_doc_free(&a);
  return status;
}

const struct cli_command cmd_diff = {
  .name = "diff",
  .synopsis = "A.json B.json [options]",
  .summary = "two reports beside each other: what differs, and what it did to the cycles",
  .options = options,
  .notes = "The reports are of 'run --json' or of 'exec --json', both of the same. Of runs: parameters and launch,\n"
           "instructions executed, issue slots by reason (their changes add up to that of the cycles in which "
           "SMs were\n"
           "active, times their schedulers), counters. Of programs: their launches; the k-th launch of a kernel and\n"
           "geometry in A is compared with the k-th in B.\n"
           "\n"
           "Exit status: 0; 1 when B faulted, was stopped or gave wrong results and A did not, or, with "
           "--fail-above, when B\n"
           "is slower than allowed or has fewer launches; 2 bad options or files, or --fail-above without cycles.\n",
  .examples = "# what does round robin do to this kernel?\n"
              "warpstep run kernels/sgemm_reg/sgemm_reg.launch --json a.json\n"
              "warpstep run kernels/sgemm_reg/sgemm_reg.launch --set issue.policy=lrr --json b.json\n"
              "warpstep diff a.json b.json\n"
              "# in a test of a program: no more than 5 % slower than before\n"
              "warpstep diff before.json after.json --fail-above 5\n",
  .run = run_diff,
};
