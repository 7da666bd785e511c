/* warpstep gpus: the GPUs that can be simulated, and what is known of one. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "config/presets.h"
#include "host/speed.h"

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

/* The GPUs and what of each people compare with data sheets. */
struct listing {
  struct params *params;
  const char **preset;
  int preset_width, product_width;
  unsigned n;
};

static int wider(int width, const char *text)
{
  int n = (int)strlen(text);
  return n > width ? n : width;
}

static int load_all(struct listing *l, const struct preset_names *names, const char *dir, struct arena *a)
{
  struct err e = {0};
  int status = CLI_OK;
  l->params = ARENA_ARRAY(a, struct params, names->n + 1);
  l->preset = ARENA_ARRAY(a, const char *, names->n + 1);
  for (unsigned i = 0; i < names->n; i++) {
    struct params *p = &l->params[l->n];
    if (!params_load(names->name[i], dir, p, &e)) {
      status = cli_error("%s", e.msg);
      continue;
    }
    l->preset[l->n++] = names->name[i];
    l->preset_width = wider(l->preset_width, names->name[i]);
    l->product_width = wider(l->product_width, p->name);
  }
  return status;
}

static void print_all(const struct listing *l)
{
  printf("%-*s  %-*s  %-6s %4s %6s %8s %8s %8s %7s %7s\n", l->preset_width, "preset", l->product_width, "product",
         "target", "SMs", "MHz", "TFLOP/s", "tensor", "GB/s", "GiB", "L2 MiB");
  for (unsigned i = 0; i < l->n; i++) {
    const struct params *p = &l->params[i];
    printf("%-*s  %-*s  sm_%-3u %4u %6.0f %8.2f %8.1f %8.1f %7.0f %7.1f\n", l->preset_width, l->preset[i],
           l->product_width, p->name, p->arch_sm, p->gpu_sms, p->gpu_clock_khz / 1e3,
           speed_flops_peak(p, WORK_FP32) / 1e12, speed_tensor_peak(p) / 1e12,
           (double)params_dram_bytes_per_second(p) / 1e9, p->gpu_memory_mib / 1024.0, p->l2_bytes / 1048576.0);
  }
}

static int list(const char *dir)
{
  struct arena a = {0};
  struct preset_names names;
  struct listing l = {.n = 0};
  struct err e = {0};
  int status;

  if (presets_list(dir, &a, &names, &e)) {
    status = load_all(&l, &names, dir, &a);
    print_all(&l);
  } else {
    status = cli_error("%s", e.msg);
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
  .notes = "TFLOP/s: FP32 of all lanes at that clock; tensor: mma on FP16 with sums in FP32, without sparsity;\n"
           "GB/s: of the pins of device memory.\n"
           "Each value says how we know it: doc (vendor document), ubench (microbenchmark), paper,\n"
           "fit (fitted to measurements) or guess.\n",
  .examples = "  # which GPUs are there?\n"
              "  warpstep gpus\n"
              "  # what is guessed about the RTX 3070?\n"
              "  warpstep gpus --resolve rtx-3070 | grep guess\n",
  .run = run_gpus,
};
