/* warpstep machines: the machines that can be simulated, and how the GPUs of one are joined. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/machine_nccl.h"
#include "config/presets.h"
#include "config/topology.h"

enum { OPT_SHOW = CLI_OPT_FIRST, OPT_RESOLVE, OPT_NCCL, OPT_PRESETS };

static const struct cli_option options[] = {
  {OPT_SHOW, "show", "NAME", "links of one machine, and how its GPUs reach each other"},
  {OPT_RESOLVE, "resolve", "NAME", "every value of one machine, with its line and source"},
  {OPT_NCCL, "nccl-topology", "NAME", "one machine as NCCL reads it (NCCL_TOPO_FILE)"},
  {OPT_PRESETS, "presets", "DIR", "where the presets are"},
  {0},
};

struct view {
  struct machine_preset m;
  struct arena arena;
  struct topology *t;
};

static bool view_load(struct view *v, const char *name, const char *dir, struct err *e)
{
  *v = (struct view){.t = NULL};
  TRY(machine_load(name, dir, &v->m, e));
  v->t = topology_new(&v->m, &v->arena);
  return true;
}

static void view_free(struct view *v)
{
  arena_free(&v->arena);
  machine_preset_free(&v->m);
}

/* --- one machine -------------------------------------------------------------------------------- */

static void print_nodes(const struct machine_preset *m)
{
  char a[NODE_NAME_MAX];
  printf("%s\n", m->name);
  for (unsigned i = 0; i < m->n_gpus; i++) printf("  %-14s %s\n", machine_node_name(m, i, a), m->params[i].name);
  for (unsigned i = 0; i < m->n_sockets; i++)
    printf("  %-14s %u GiB of memory, %.1f GB/s\n", machine_node_name(m, m->n_gpus + i, a), m->memory_mib / 1024,
           m->memory_mbps / 1e3);
}

static void print_links(const struct machine_preset *m)
{
  printf("\n%-14s %-7s %5s %9s %9s %7s %5s  %s\n", "links", "kind", "lanes", "GB/s", "back", "ns", "peers", "between");
  for (unsigned g = 0; g < m->n_link_groups; g++) {
    const struct link_params *p = &m->link[g];
    printf("%-14s %-7s %5u %9.1f %9.1f %7u %5s  %s\n", p->name, link_kind_name[p->kind], p->lanes,
           (double)link_payload_rate(p, false) / 1e9, (double)link_payload_rate(p, true) / 1e9, p->latency_ns,
           p->peer ? "yes" : "no", p->ends);
  }
}

static void print_cell(const struct view *v, unsigned from, unsigned to, bool rates)
{
  char label[16];
  if (from == to) printf(" %8s", "X");
  else if (!rates) printf(" %8s", topology_label(v->t, from, to, label));
  else if (topology_reaches(v->t, from, to)) printf(" %8.1f", (double)topology_rate(v->t, from, to) / 1e9);
  else printf(" %8s", "-");
}

static void print_matrix(const struct view *v, bool rates)
{
  const struct machine_preset *m = &v->m;
  unsigned n = m->n_gpus + m->n_sockets;
  char a[NODE_NAME_MAX];
  printf("\n%-8s", rates ? "GB/s to" : "joined");
  for (unsigned i = 0; i < n; i++) printf(" %8s", machine_node_name(m, i, a));
  printf("\n");
  for (unsigned i = 0; i < m->n_gpus; i++) {
    printf("%-8s", machine_node_name(m, i, a));
    for (unsigned k = 0; k < n; k++) print_cell(v, i, k, rates);
    printf("\n");
  }
}

static int show(const char *name, const char *dir)
{
  struct err e = {0};
  struct view v;
  if (!view_load(&v, name, dir, &e)) return cli_error("%s", e.msg);
  print_nodes(&v.m);
  print_links(&v.m);
  print_matrix(&v, false);
  print_matrix(&v, true);
  view_free(&v);
  return CLI_OK;
}

static int resolve(const char *name, const char *dir)
{
  struct err e = {0};
  struct machine_preset m;
  if (!machine_load(name, dir, &m, &e)) return cli_error("%s", e.msg);
  machine_write_resolved(stdout, &m);
  machine_preset_free(&m);
  return CLI_OK;
}

static int nccl(const char *name, const char *dir)
{
  struct err e = {0};
  struct view v;
  if (!view_load(&v, name, dir, &e)) return cli_error("%s", e.msg);
  machine_write_nccl(stdout, &v.m, v.t);
  view_free(&v);
  return CLI_OK;
}

/* --- all of them -------------------------------------------------------------------------------- */

static void print_row(const struct view *v, const char *name)
{
  const struct machine_preset *m = &v->m;
  char host[16], peers[16] = "-";
  unsigned socket = topology_socket(v->t, 0);
  if (m->n_gpus > 1) topology_label(v->t, 0, 1, peers);
  printf("%-20s  %-40s  %4u %7u  %-5s %8.1f  ", name, m->name, m->n_gpus, m->n_sockets,
         topology_label(v->t, 0, socket, host), (double)topology_rate(v->t, socket, 0) / 1e9);
  if (m->n_gpus > 1 && topology_reaches(v->t, 0, 1))
    printf("%-5s %8.1f\n", peers, (double)topology_rate(v->t, 0, 1) / 1e9);
  else
    printf("%-5s %8s\n", peers, "-");
}

static int list(const char *dir)
{
  struct arena a = {0};
  struct preset_names names;
  struct err e = {0};
  int status = CLI_OK;
  if (!machines_list(dir, &a, &names, &e)) return cli_error("%s", e.msg);
  printf("%-20s  %-40s  %4s %7s  %-14s  %-14s\n", "machine", "product", "GPUs", "sockets", "to host, GB/s",
         "to peers, GB/s");
  for (unsigned i = 0; i < names.n; i++) {
    struct view v;
    if (!view_load(&v, names.name[i], dir, &e)) {
      status = cli_error("%s", e.msg);
      continue;
    }
    print_row(&v, names.name[i]);
    view_free(&v);
  }
  arena_free(&a);
  return status;
}

static int run_machines(const struct cli_command *cmd, int argc, char **argv)
{
  const char *arg, *shown = NULL, *resolved = NULL, *topology = NULL, *option = NULL;
  char dir[4096];
  struct err e = {0};

  for (int id; (id = cli_next_option(cmd, argc, argv, &arg)) != CLI_OPT_END;) {
    switch (id) {
    case CLI_OPT_HELP: return cli_help(cmd);
    case OPT_SHOW: shown = arg; break;
    case OPT_RESOLVE: resolved = arg; break;
    case OPT_NCCL: topology = arg; break;
    case OPT_PRESETS: option = arg; break;
    default: return CLI_BAD_INPUT;
    }
  }
  if (optind < argc)
    return cli_usage_error(cmd, "unexpected '%s'; did you mean --show %s", argv[optind], argv[optind]);
  if (!presets_dir(option, dir, sizeof dir, &e)) return cli_error("%s", e.msg);
  if (topology) return nccl(topology, dir);
  return resolved ? resolve(resolved, dir) : shown ? show(shown, dir) : list(dir);
}

const struct cli_command cmd_machines = {
  .name = "machines",
  .synopsis = "[--show NAME | --resolve NAME | --nccl-topology NAME]",
  .summary = "list machines of several GPUs, or the links of one",
  .options = options,
  .notes = "GB/s: payload of full packets, one way. NV: so many NVLinks; C2C: NVLink-C2C; PIX: one PCI Express\n"
           "switch; PXB: several; PHB: through a socket of the host; SYS: through two. '-': not as peers.\n"
           "NAME may be a file of your own (docs/machines.md).\n",
  .examples = "  # which machines are there?\n"
              "  warpstep machines\n"
              "  # how are the GPUs of a DGX A100 joined?\n"
              "  warpstep machines --show dgx-a100\n",
  .run = run_machines,
};
