/* nvidia-smi: its options (NVIDIA's manual page of nvidia-smi has them), as far as they ask and do not change a GPU. */
#include <stdio.h>
#include <string.h>

#include "smi/smi.h"

enum question {
  ASK_SCREEN, ASK_LIST, ASK_GPUS, ASK_PROCESSES, ASK_TOPOLOGY, ASK_VERSIONS,
  ASK_HELP, ASK_HELP_GPUS, ASK_HELP_PROCESSES, /* which need no GPU */
};

struct request {
  enum question what;
  const char *fields, *id; /* NULL: not given */
  const char *format;
};

static const char help[] =
  "nvidia-smi of warpstep: the GPUs that `warpstep exec` simulates.\n"
  "\n"
  "  nvidia-smi                            a table of the GPUs and of the processes on them\n"
  "  nvidia-smi -L, --list-gpus            a line for each GPU and MIG instance\n"
  "  nvidia-smi --query-gpu=FIELD,...      CSV; --help-query-gpu names the fields\n"
  "  nvidia-smi --query-compute-apps=FIELD,...\n"
  "                                        CSV of processes; --help-query-compute-apps\n"
  "             --format=csv[,noheader][,nounits]\n"
  "  nvidia-smi topo -m                    what lies between the GPUs\n"
  "  nvidia-smi --version                  versions\n"
  "  -i ID, --id=ID                        these alone: index, UUID or address of PCI, commas between\n"
  "\n"
  "Temperatures, power and use are never known. -q, loops (-l), dmon, pmon and all that changes a GPU are not there.";

/* The value of an option: behind its =, or the next argument. False: it is another option, or has none. */
static bool value_of(const char *option, char *const **at, const char **value)
{
  const size_t n = strlen(option);
  if (strncmp(**at, option, n) != 0) return false;
  if ((**at)[n] == '=') return *value = **at + n + 1, true;
  return !(**at)[n] && (*at)[1] && (*value = *++*at, true);
}

/* One argument, or two. */
static bool read_option(char *const **at, struct request *r)
{
  const char *const a = **at;
  if (!strcmp(a, "-L") || !strcmp(a, "--list-gpus")) return r->what = ASK_LIST, true;
  if (!strcmp(a, "--version")) return r->what = ASK_VERSIONS, true;
  if (!strcmp(a, "-h") || !strcmp(a, "--help")) return r->what = ASK_HELP, true;
  if (!strcmp(a, "--help-query-gpu")) return r->what = ASK_HELP_GPUS, true;
  if (!strcmp(a, "--help-query-compute-apps")) return r->what = ASK_HELP_PROCESSES, true;
  if (value_of("--query-gpu", at, &r->fields)) return r->what = ASK_GPUS, true;
  if (value_of("--query-compute-apps", at, &r->fields)) return r->what = ASK_PROCESSES, true;
  return value_of("--format", at, &r->format) || value_of("-i", at, &r->id) || value_of("--id", at, &r->id);
}

static bool refused(const char *argument)
{
  printf("Invalid combination of input arguments: %s is not there. Please run 'nvidia-smi -h' for help.\n", argument);
  return false;
}

static bool is_topology(char *const *at)
{
  return *at && !strcmp(*at, "topo") && at[1] && (!strcmp(at[1], "-m") || !strcmp(at[1], "--matrix"));
}

static bool read_request(char *const *at, struct request *r)
{
  if (is_topology(at)) {
    r->what = ASK_TOPOLOGY;
    at += 2;
    return !*at || refused(*at);
  }
  for (; *at; at++)
    if (!read_option(&at, r)) return refused(*at);
  return true;
}

static bool word_is(const char *at, size_t n, const char *word)
{
  return n == strlen(word) && !strncmp(at, word, n);
}

/* csv must be among the words. */
static bool read_format(const char *text, struct smi_format *f)
{
  bool csv = false;
  *f = (struct smi_format){.header = true, .units = true};
  for (const char *at = text ? text : ""; *at;) {
    const size_t blank = strspn(at, " ,"), n = strcspn(at + blank, " ,");
    at += blank;
    if (word_is(at, n, "csv")) csv = true;
    else if (word_is(at, n, "noheader")) f->header = false;
    else if (word_is(at, n, "nounits")) f->units = false;
    else if (n) csv = false, at += strlen(at + n);
    at += n;
  }
  if (!csv) puts("A query needs --format=csv, and may have ,noheader and ,nounits behind it.");
  return csv;
}

static int query(const struct request *r, const struct smi_gpus *g)
{
  struct smi_format f;
  if (!read_format(r->format, &f)) return SMI_INVALID;
  return r->what == ASK_GPUS ? smi_query_gpus(g, r->fields, f) : smi_query_processes(g, r->fields, f);
}

static int show_help(enum question what)
{
  if (what == ASK_HELP) puts(help);
  else if (what == ASK_HELP_GPUS) smi_help_gpus();
  else smi_help_processes();
  return SMI_OK;
}

static int answer(const struct request *r)
{
  struct smi_gpus g = smi_gpus_all();
  if (r->id && !smi_gpus_named(r->id, &g)) return SMI_NOT_FOUND;
  switch (r->what) {
  case ASK_GPUS:
  case ASK_PROCESSES: return query(r, &g);
  case ASK_LIST: return smi_show_list(&g), SMI_OK;
  case ASK_TOPOLOGY: return smi_show_topology(), SMI_OK;
  case ASK_VERSIONS: return smi_show_versions(), SMI_OK;
  default: return smi_show_screen(&g), SMI_OK;
  }
}

int main(int argc, char **argv)
{
  struct request r = {.what = ASK_SCREEN};
  (void)argc;
  if (!read_request(argv + 1, &r)) return SMI_INVALID;
  if (r.what >= ASK_HELP) return show_help(r.what);
  if (nvmlInit_v2() != NVML_SUCCESS) {
    puts("nvidia-smi of warpstep: there is no simulated GPU; it must run under 'warpstep exec'");
    return SMI_NO_DRIVER;
  }
  const int status = answer(&r);
  return fflush(stdout) == 0 && !ferror(stdout) ? status : 1;
}
