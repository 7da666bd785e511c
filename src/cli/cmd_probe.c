/* warpstep probe: microbenchmarks on the model, beside what silicon gave and what was published. */
#include <getopt.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/probe_windows.h"
#include "config/presets.h"

enum { OPT_GPU = CLI_OPT_FIRST, OPT_PRESETS, OPT_SET, OPT_ALL, OPT_CLOCKS, OPT_PAPER, OPT_LIST, OPT_EMIT, OPT_FROM };

static const struct cli_option options[] = {
  {OPT_PAPER, "paper", NULL, "every cell of the published core study (data/paper/)"},
  {OPT_LIST, "list", NULL, "list the tests that find parameters"},
  {OPT_GPU, "gpu", "NAME", "the GPU to simulate (default: the one the file names;\nrtx-a6000 for tests)"},
  {OPT_SET, "set", "KEY=VALUE", "change one parameter of the preset"},
  {OPT_ALL, "all", NULL, "list every window, not only those that differ"},
  {OPT_CLOCKS, "clocks", NULL, "print every clock read, relative to the first of all warps"},
  {OPT_EMIT, "emit", "DIR", "also write the programs there: .sass, .cubin and .launch"},
  {OPT_FROM, "from", "DIR", "infer from what a GPU stored for the written programs of\nthe tests: DIR/PROGRAM/out.bin"},
  {OPT_PRESETS, "presets", "DIR", "where the presets are"},
  {0},
};

static int verdict(const struct probe_count *c)
{
  return c->differ || c->closed ? CLI_MISMATCH : CLI_OK;
}

/* A file, or one of data/windows by its name. */
static int run_file(const struct probe_options *o, const char *path)
{
  struct probe_count count = {0};
  char root[4096], ours[4400];
  struct err e = {0};
  if (!strchr(path, '/') && access(path, F_OK) != 0 && data_root(o->presets, root, sizeof root, &e)) {
    snprintf(ours, sizeof ours, "%s/data/windows/%.255s", root, path);
    if (access(ours, F_OK) == 0) path = ours;
  }
  return probe_windows(o, path, &count, &e) ? verdict(&count) : cli_error("%s", e.msg);
}

static int run_paper(struct probe_options *o)
{
  char root[4096], pattern[4200];
  struct probe_count count = {0};
  struct err e = {0};
  glob_t files;
  o->all = true;
  if (!data_root(o->presets, root, sizeof root, &e)) return cli_error("%s", e.msg);
  snprintf(pattern, sizeof pattern, "%s/data/paper/*.windows", root);
  if (glob(pattern, 0, NULL, &files) != 0)
    return cli_error("no published values: %s matches nothing", pattern);
  bool ok = true;
  for (size_t i = 0; ok && i < files.gl_pathc; i++) {
    ok = probe_windows(o, files.gl_pathv[i], &count, &e);
    putchar('\n');
  }
  globfree(&files);
  if (!ok) return cli_error("%s", e.msg);
  printf("published: %u same, %u known gaps, %u differ, %u gaps closed\n", count.same, count.gaps,
         count.differ, count.closed);
  return verdict(&count);
}

static int run_infer(const struct probe_options *o, char *const *names, int n_names)
{
  struct err e = {0};
  bool differ;
  if (!probe_infer(o, names, n_names, &differ, &e)) return cli_error("%s", e.msg);
  return differ ? CLI_MISMATCH : CLI_OK;
}

/* Names of tests have no slash. */
static bool is_file(const char *name)
{
  size_t n = strlen(name), suffix = strlen(".windows");
  return strchr(name, '/') || (n > suffix && !strcmp(name + n - suffix, ".windows"));
}

static int run_probe(const struct cli_command *cmd, int argc, char **argv)
{
  struct probe_options o = {0};
  bool paper = false;
  const char *arg;
  for (int id; (id = cli_next_option(cmd, argc, argv, &arg)) != CLI_OPT_END;) {
    switch (id) {
    case CLI_OPT_HELP: return cli_help(cmd);
    case OPT_PAPER: paper = true; break;
    case OPT_LIST: return probe_list(), CLI_OK;
    case OPT_GPU: o.gpu = arg; break;
    case OPT_SET: o.set = arg; break;
    case OPT_ALL: o.all = true; break;
    case OPT_CLOCKS: o.clocks = true; break;
    case OPT_EMIT: o.emit = arg; break;
    case OPT_FROM: o.from = arg; break;
    case OPT_PRESETS: o.presets = arg; break;
    default: return CLI_BAD_INPUT;
    }
  }
  bool file = optind < argc && is_file(argv[optind]);
  if ((paper && optind < argc) || (file && optind + 1 < argc))
    return cli_usage_error(cmd, "give --paper, one file of windows, or tests");
  if (o.from && (paper || file || o.emit)) return cli_usage_error(cmd, "--from goes with tests alone");
  if (paper) return run_paper(&o);
  return file ? run_file(&o, argv[optind]) : run_infer(&o, argv + optind, argc - optind);
}

const struct cli_command cmd_probe = {
  .name = "probe",
  .synopsis = "[TEST...] | FILE.windows | --paper [options]",
  .summary = "microbenchmarks of the core, beside silicon and publications",
  .options = options,
  .notes = "A test finds parameters of the core from the cycles of windows alone (--list; none named:\n"
           "all) and prints them beside the preset's and the published values.\n"
           "A window is a few instructions with their control information between clock reads;\n"
           "docs/probe.md has the language; a file that is not there is looked for in data/windows.\n"
           "Exit status 1: something differs, or a known gap is closed.\n",
  .examples = "  # control bits, register banks, register-file cache and LDS queue of an A100\n"
              "  warpstep probe a100-control-bits.windows --all\n"
              "  # Tables 1 and 2, Listings 1 to 4, Figures 2 and 4 of the core study\n"
              "  warpstep probe --paper\n"
              "  # what the core's parameters look like from outside\n"
              "  warpstep probe --gpu rtx-3070\n"
              "  warpstep probe banks reuse --gpu a100\n",
  .run = run_probe,
};
