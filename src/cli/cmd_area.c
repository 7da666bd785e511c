/* warpstep area: what the dependence mechanisms cost in storage. */
#include <getopt.h>
#include <stdio.h>

#include "cli/commands.h"
#include "config/presets.h"
#include "time/gpu/area.h"

enum { OPT_GPU = CLI_OPT_FIRST, OPT_PRESETS, OPT_CONSUMERS };

enum { MAX_CONSUMERS = 1 << 20, WARP_LANES = 32 /* of every preset */ };

static const struct cli_option options[] = {
  {OPT_GPU, "gpu", "NAME", "whose SM (default rtx-a6000)"},
  {OPT_CONSUMERS, "consumers", "N", "one more scoreboard that counts N readers of a register"},
  {OPT_PRESETS, "presets", "DIR", "where the presets are"},
  {0},
};

static void row(const char *name, uint64_t per_warp, uint64_t per_sm, uint64_t register_file)
{
  printf("%-28s", name);
  if (per_warp)
    printf(" %9llu", (unsigned long long)per_warp);
  else
    printf(" %9s", "-");
  printf(" %10llu %8.2f %%\n", (unsigned long long)per_sm,
         100.0 * (double)per_sm / (double)register_file);
}

static void scoreboard_row(const struct params *p, uint32_t consumers)
{
  uint64_t per_warp = area_scoreboard_per_warp(consumers);
  char name[48];

  snprintf(name, sizeof name, "scoreboard, %u consumer%s", consumers, consumers == 1 ? "" : "s");
  row(name, per_warp, per_warp * p->sm_max_warps, area_register_file_per_sm(p));
}

static void table(const struct params *p, uint32_t consumers)
{
  static const uint32_t published[] = {1, 3, 63};
  uint64_t file = area_register_file_per_sm(p);

  printf("%s: %u warps and %llu bits of registers per SM\n\n", p->name, p->sm_max_warps,
         (unsigned long long)file);
  printf("%-28s %9s %10s %10s\n", "storage in bits", "per warp", "per SM", "of file");
  row("control bits", area_control_bits_per_warp(),
      area_control_bits_per_warp() * p->sm_max_warps, file);
  for (unsigned i = 0; i < sizeof published / sizeof *published; i++)
    scoreboard_row(p, published[i]);
  if (consumers) scoreboard_row(p, consumers);
  row("register-file cache", 0, area_register_cache_per_sm(p, WARP_LANES), file);
}

static int run_area(const struct cli_command *cmd, int argc, char **argv)
{
  const char *arg, *gpu = "rtx-a6000", *option = NULL;
  unsigned long consumers = 0;
  char dir[4096];
  struct err e = {0};
  struct params p;

  for (int id; (id = cli_next_option(cmd, argc, argv, &arg)) != CLI_OPT_END;) {
    switch (id) {
    case CLI_OPT_HELP: return cli_help(cmd);
    case OPT_GPU: gpu = arg; break;
    case OPT_PRESETS: option = arg; break;
    case OPT_CONSUMERS:
      if (!cli_number(arg, 1, MAX_CONSUMERS, &consumers))
        return cli_usage_error(cmd, "--consumers takes 1 to %d, not '%s'", MAX_CONSUMERS, arg);
      break;
    default: return CLI_BAD_INPUT;
    }
  }
  if (optind < argc)
    return cli_usage_error(cmd, "unexpected '%s'; did you mean --gpu %s", argv[optind],
                           argv[optind]);
  if (!presets_dir(option, dir, sizeof dir, &e) || !params_load(gpu, dir, &p, &e))
    return cli_error("%s", e.msg);
  table(&p, (uint32_t)consumers);
  return CLI_OK;
}

const struct cli_command cmd_area = {
  .name = "area",
  .synopsis = "[options]",
  .summary = "storage of dependence mechanisms and register-file cache",
  .options = options,
  .notes = "Bits of state that control bits, scoreboards and the register-file cache keep, beside the\n"
           "register file (Huerta et al., MICRO 2025, Table 7). Storage only, no logic.\n",
  .examples = "# the published table: 48 warps, 256 KiB of registers\n"
              "warpstep area --gpu rtx-a6000\n"
              "# Hopper's 64 warps, and a scoreboard for 15 readers\n"
              "warpstep area --gpu h200 --consumers 15\n",
  .run = run_area,
};
