/* warpstep gpus: the GPUs that can be simulated, and what is known of one. */
#include <getopt.h>
#include <stdio.h>

#include "cli/commands.h"
#include "config/presets.h"

enum { OPT_RESOLVE = CLI_OPT_FIRST, OPT_PRESETS, OPT_KEYS };

static const struct cli_option options[] = {
  {OPT_RESOLVE, "resolve", "NAME", "every parameter of one GPU, with the file and the source\n"
                                   "of its value"},
  {OPT_KEYS, "keys", NULL, "all parameters with range and meaning (Markdown)"},
  {OPT_PRESETS, "presets", "DIR", "where the presets are"},
  {0},
};

static int resolve(const char *name, const char *dir)
{
  struct err e = {0};
  struct preset p;

  if (!preset_load(name, dir, &p, &e)) return cli_error("%s", e.msg);
  preset_write_resolved(stdout, &p);
  preset_free(&p);
  return CLI_OK;
}

static int list(const char *dir)
{
  struct arena a = {0};
  struct preset_names names;
  struct err e = {0};
  struct params p;
  int status = CLI_OK;

  if (!presets_list(dir, &a, &names, &e)) {
    arena_free(&a);
    return cli_error("%s", e.msg);
  }
  printf("%-14s %-32s %-6s %4s %6s\n", "preset", "product", "target", "SMs", "MHz");
  for (unsigned i = 0; i < names.n; i++) {
    if (!params_load(names.name[i], dir, &p, &e)) {
      status = cli_error("%s", e.msg);
      continue;
    }
    printf("%-14s %-32s sm_%-3u %4u %6.0f\n", names.name[i], p.name, p.arch_sm, p.gpu_sms,
           p.gpu_clock_khz / 1e3);
  }
  arena_free(&a);
  return status;
}

static int run_gpus(const struct cli_command *cmd, int argc, char **argv)
{
  const char *arg, *name = NULL, *option = NULL;
  char dir[4096];
  struct err e = {0};
  bool keys = false;

  for (int id; (id = cli_next_option(cmd, argc, argv, &arg)) != CLI_OPT_END;) {
    switch (id) {
    case CLI_OPT_HELP: return cli_help(cmd);
    case OPT_RESOLVE: name = arg; break;
    case OPT_PRESETS: option = arg; break;
    case OPT_KEYS: keys = true; break;
    default: return CLI_BAD_INPUT;
    }
  }
  if (optind < argc)
    return cli_usage_error(cmd, "unexpected '%s'; did you mean --resolve %s", argv[optind],
                           argv[optind]);
  if (keys) {
    params_write_doc(stdout);
    return CLI_OK;
  }
  if (!presets_dir(option, dir, sizeof dir, &e)) return cli_error("%s", e.msg);
  return name ? resolve(name, dir) : list(dir);
}

const struct cli_command cmd_gpus = {
  .name = "gpus",
  .synopsis = "[--resolve NAME]",
  .summary = "list the GPUs that can be simulated, or the parameters of one",
  .options = options,
  .notes = "Each value says how we know it: doc (vendor document), ubench (microbenchmark), paper,\n"
           "fit (fitted to measurements) or guess.\n",
  .examples = "  # which GPUs are there?\n"
              "  warpstep gpus\n"
              "  # what is guessed about the RTX 3070?\n"
              "  warpstep gpus --resolve rtx-3070 | grep guess\n",
  .run = run_gpus,
};
