#include "cli/ncu_options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"

enum {
  OPT_SET = CLI_OPT_FIRST,
  OPT_SECTION,
  OPT_METRICS,
  OPT_NAME_BASE,
  OPT_KERNEL_ID,
  OPT_SKIP_BEFORE,
  OPT_CSV,
  OPT_PAGE,
  OPT_UNITS,
  OPT_FP,
  OPT_SOURCE,
  OPT_DETAILS,
  OPT_METRIC_NAME,
  OPT_PRINT_BASE,
  OPT_LOG,
  OPT_TARGETS,
  OPT_REPLAY,
  OPT_CLOCK,
  OPT_CACHE,
  OPT_NVTX,
  OPT_FROM_START,
  OPT_INTERVAL,
  OPT_QUIET,
  OPT_LIST_SETS,
  OPT_LIST_SECTIONS,
  OPT_LIST_METRICS,
  OPT_LIST_CHIPS,
  OPT_QUERY,
  OPT_CHIPS,
  OPT_GPU,
  OPT_PARAM,
  OPT_PRESETS,
  OPT_NAME = 'k',
  OPT_SKIP = 's',
  OPT_COUNT = 'c',
  OPT_EXPORT = 'o',
  OPT_FORCE = 'f',
  OPT_IMPORT = 'i',
};

const struct cli_option ncu_option_table[] = {
    {OPT_SET, "set", "SET", "sections: basic (the default), detailed, full, roofline, source, none"},
    {OPT_SECTION, "section", "ID", "add this section, or those that match regex:... (repeatable)"},
    {OPT_METRICS, "metrics", "LIST",
     "add metrics: names, names without roll-up for all of them, regex:...,\n"
     "breakdown:NAME for the parts of a throughput"},
    {OPT_NAME, "kernel-name", "NAME", "profile kernels of this name, or that match regex:..."},
    {OPT_NAME_BASE, "kernel-name-base", "BASE", "what is compared: function (the default), demangled, mangled"},
    {OPT_KERNEL_ID, "kernel-id", "ID", "CONTEXT:STREAM:NAME:NTH, each part may be empty"},
    {OPT_SKIP, "launch-skip", "N", "leave out the first N launches that match"},
    {OPT_COUNT, "launch-count", "N", "profile so many launches at most"},
    {OPT_SKIP_BEFORE, "launch-skip-before-match", "N", "leave out the first N launches, whatever they are"},
    {OPT_EXPORT, "export", "FILE",
     "write a report FILE.ncu-rep (our own format), print nothing unless\n"
     "--page asks for it; %h host, %p process, %i first free number, %q{VARIABLE}"},
    {OPT_FORCE, "force-overwrite", NULL, "replace a report that is there"},
    {OPT_IMPORT, "import", "FILE", "print a report instead of running a program"},
    {OPT_PAGE, "page", "PAGE", "details (the default), raw, source"},
    {OPT_CSV, "csv", NULL, "comma-separated values, in base units unless --print-units says auto"},
    {OPT_UNITS, "print-units", "UNITS", "auto (scaled, the default of tables) or base"},
    {OPT_FP, "print-fp", NULL, "numbers with all decimals"},
    {OPT_DETAILS, "print-details", "WHAT", "header (the default), body or all rows of sections"},
    {OPT_METRIC_NAME, "print-metric-name", "WHAT", "label (the default), name, label-name"},
    {OPT_PRINT_BASE, "print-kernel-base", "BASE", "names that are printed: demangled (the default), function, mangled"},
    {OPT_SOURCE, "print-source", "WHAT", "the source page shows sass (the default), cuda, or cuda,sass"},
    {OPT_INTERVAL, "sampling-interval", "N",
     "the source page has a sample in 2^(5+N) warp-cycles; auto (the default):\n"
     "in every one"},
    {OPT_LOG, "log-file", "FILE", "write everything of ours there (stdout, stderr or a file)"},
    {OPT_QUIET, "quiet", NULL, "no lines ==PROF=="},
    {OPT_CACHE, "cache-control", "MODE", "all (the default): each profiled launch begins with empty caches; none"},
    {OPT_FROM_START, "profile-from-start", "MODE", "yes (the default); no: only between cudaProfilerStart and Stop"},
    {OPT_CLOCK, "clock-control", "MODE", "base or none: taken and ignored, clocks are the preset's"},
    {OPT_REPLAY, "replay-mode", "MODE", "taken and ignored: all metrics come from one run"},
    {OPT_TARGETS, "target-processes", "MODE", "taken and ignored: all processes of the program are profiled"},
    {OPT_NVTX, "nvtx", NULL, "taken and ignored"},
    {OPT_LIST_SETS, "list-sets", NULL, "list sets of sections"},
    {OPT_LIST_SECTIONS, "list-sections", NULL, "list sections, and which are chosen"},
    {OPT_LIST_METRICS, "list-metrics", NULL, "list the metrics of what is chosen"},
    {OPT_LIST_CHIPS, "list-chips", NULL, "list chips for --chips"},
    {OPT_QUERY, "query-metrics", NULL, "list all metrics of --chips, else of all"},
    {OPT_CHIPS, "chips", "CHIP", "for --query-metrics: ga102"},
    {OPT_GPU, "gpu", "PRESET", "the GPU to simulate; by default one the program has code for (ours)"},
    {OPT_PARAM, "param", "KEY=VALUE", "change one parameter of the preset (ours; repeatable)"},
    {OPT_PRESETS, "presets", "DIR", "where the presets are (ours)"},
    {0},
};

/* Which of the names it is; -1 after a line that says what there is. */
static int one_of(const struct cli_command *cmd, const char *option, const char *arg, const char *names)
{
  int i = 0;
  for (const char *p = names; *p; i++) {
    const size_t n = strcspn(p, "|");
    if (strlen(arg) == n && !strncmp(p, arg, n)) return i;
    p += n + (p[n] == '|');
  }
  cli_usage_error(cmd, "--%s %s: not one of %s", option, arg, names);
  return -1;
}

/* The same into a field. */
#define CHOOSE(field, option, names)                                                                                   \
  do {                                                                                                                 \
    const int n_ = one_of(cmd, option, arg, names);                                                                    \
    if (n_ < 0) return CLI_BAD_INPUT;                                                                                  \
    field = n_;                                                                                                        \
  } while (0)

static const char *filter_name(int id)
{
  for (const struct cli_option *o = ncu_option_table; o->name; o++)
    if (o->id == id) return o->name;
  BUG("no option %d", id);
}

static int take_filter(const struct cli_command *cmd, struct ncu_options *o, int id, const char *arg)
{
  struct err e = {""};
  if (!ncu_filter_take(&o->filter, filter_name(id), arg, &e)) return cli_usage_error(cmd, "%s", e.msg);
  fprintf(o->out, "ncu_%s=%s\n", filter_name(id), arg);
  return CLI_OK;
}

static int take_choice(const struct cli_command *cmd, struct ncu_options *o, int id, const char *arg)
{
  struct err e = {""};
  o->set_given = true;
  if (id == OPT_SET)
    return ncu_choice_set(&o->choice, arg)
               ? CLI_OK
               : cli_usage_error(cmd, "--set %s: not one of basic, detailed, full, roofline, source, none", arg);
  const bool ok = id == OPT_SECTION ? ncu_choice_section(&o->choice, arg, &e) : ncu_choice_metrics(&o->choice, arg, &e);
  return ok ? CLI_OK : cli_usage_error(cmd, "%s", e.msg);
}

/* How things are printed; CLI_OPT_BAD: another option. */
static int take_layout(const struct cli_command *cmd, struct ncu_options *o, int id, const char *arg)
{
  struct ncu_layout *l = &o->layout;
  unsigned long n;
  int i;
  switch (id) {
  case OPT_CSV: l->csv = true; return CLI_OK;
  case OPT_FP: l->fp = true; return CLI_OK;
  case OPT_PAGE:
    CHOOSE(l->page, "page", "details|raw|source");
    o->page_given = true;
    return CLI_OK;
  case OPT_DETAILS: CHOOSE(l->details, "print-details", "header|body|all"); return CLI_OK;
  case OPT_METRIC_NAME: CHOOSE(l->names, "print-metric-name", "label|name|label-name"); return CLI_OK;
  case OPT_PRINT_BASE: CHOOSE(l->kernel, "print-kernel-base", "function|demangled|mangled"); return CLI_OK;
  case OPT_SOURCE: CHOOSE(l->source, "print-source", "sass|cuda|cuda,sass"); return CLI_OK;
  case OPT_UNITS:
    CHOOSE(i, "print-units", "auto|base");
    l->scale = !i;
    o->base_given = true;
    return CLI_OK;
  case OPT_INTERVAL:
    if (!strcmp(arg, "auto")) return CLI_OK;
    if (!cli_number(arg, 0, 26, &n))
      return cli_usage_error(cmd, "--sampling-interval %s: not auto or a number from 0 to 26", arg);
    l->interval = 1u << (5 + n);
    return CLI_OK;
  default: return CLI_OPT_BAD;
  }
}

/* What is taken so that command lines of others work. */
static int take_ignored(const struct cli_command *cmd, int id, const char *arg)
{
  int i = 0;
  if (id == OPT_CLOCK) CHOOSE(i, "clock-control", "base|none");
  if (id == OPT_REPLAY) CHOOSE(i, "replay-mode", "kernel|application|range|app-range");
  if (id == OPT_TARGETS) CHOOSE(i, "target-processes", "all|application-only");
  return i < 0 ? CLI_BAD_INPUT : CLI_OK;
}

static int take_list(struct ncu_options *o, int id)
{
  o->list = id == OPT_LIST_SETS       ? NCU_LIST_SETS
            : id == OPT_LIST_SECTIONS ? NCU_LIST_SECTIONS
            : id == OPT_LIST_METRICS  ? NCU_LIST_METRICS
            : id == OPT_LIST_CHIPS    ? NCU_LIST_CHIPS
                                      : NCU_QUERY;
  return CLI_OK;
}

static int take_option(const struct cli_command *cmd, struct ncu_options *o, int id, const char *arg)
{
  int i;
  if (arg && strchr(arg, '\n')) return cli_usage_error(cmd, "an option's value has a line break");
  switch (id) {
  case OPT_SET:
  case OPT_SECTION:
  case OPT_METRICS: return take_choice(cmd, o, id, arg);
  case OPT_NAME:
  case OPT_NAME_BASE:
  case OPT_KERNEL_ID:
  case OPT_SKIP:
  case OPT_COUNT:
  case OPT_SKIP_BEFORE: return take_filter(cmd, o, id, arg);
  case OPT_EXPORT: o->export = arg; break;
  case OPT_FORCE: o->force = true; break;
  case OPT_IMPORT: o->import = arg; break;
  case OPT_LOG: o->log = arg; break;
  case OPT_QUIET: o->quiet = true; break;
  case OPT_CACHE:
    CHOOSE(i, "cache-control", "all|none");
    o->warm = i == 1;
    break;
  case OPT_FROM_START:
    CHOOSE(i, "profile-from-start", "yes|on|true|1|no|off|false|0");
    if (i >= 4) fprintf(o->out, "ncu_waits=1\n");
    break;
  case OPT_CLOCK:
  case OPT_REPLAY:
  case OPT_TARGETS:
  case OPT_NVTX: return take_ignored(cmd, id, arg);
  case OPT_CHIPS: o->chips = arg; break;
  case OPT_GPU: o->gpu = arg; break;
  case OPT_PARAM: fprintf(o->out, "set=%s\n", arg); break;
  case OPT_PRESETS: o->presets = arg; break;
  case OPT_LIST_SETS:
  case OPT_LIST_SECTIONS:
  case OPT_LIST_METRICS:
  case OPT_LIST_CHIPS:
  case OPT_QUERY: return take_list(o, id);
  default: return take_layout(cmd, o, id, arg);
  }
  return CLI_OK;
}

int ncu_options_parse(const struct cli_command *cmd, struct ncu_options *o, int argc, char **argv)
{
  const char *arg;
  *o = (struct ncu_options){.layout = {.kernel = NCU_NAME_DEMANGLED, .scale = true, .interval = 1}};
  NO_MEMORY_IF(!(o->out = open_memstream(&o->text, &o->bytes)));
  for (int id; (id = cli_next_option(cmd, argc, argv, &arg)) != CLI_OPT_END;) {
    if (id == CLI_OPT_HELP) return CLI_OPT_HELP;
    if (id == CLI_OPT_BAD) return CLI_BAD_INPUT;
    const int status = take_option(cmd, o, id, arg);
    if (status != CLI_OK) return status;
  }
  if (o->layout.csv && !o->base_given) o->layout.scale = false;
  if (!o->set_given && !o->import) ncu_choice_set(&o->choice, "basic");
  if (o->import && optind < argc) return cli_usage_error(cmd, "--import and a program");
  if (o->import && o->export) return cli_usage_error(cmd, "--import and --export: a report is there already");
  if (!o->import && !o->list && optind == argc) return cli_usage_error(cmd, "no program given");
  return CLI_OK;
}

void ncu_options_free(struct ncu_options *o)
{
  ncu_choice_free(&o->choice);
  ncu_filter_free(&o->filter);
  if (o->out) fclose(o->out);
  free(o->text);
}
