#include "cuda/core/link_report.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/host_memory.h"
#include "cuda/core/shim.h"
#include "host/activity.h"
#include "host/simulator.h"
#include "host/surroundings.h"

enum { NAME_BYTES = 2 * NODE_NAME_MAX + 4, MOST_LINES = 8 };

struct link_report link_report_of(const struct shim *s)
{
  const struct surroundings *x = s->boards.n ? s->boards.of[0].simulator->around : NULL;
  if (!s->options.machine || !s->shared || !x) return (struct link_report){0};
  return (struct link_report){.machine = x->preset, .log = &x->links};
}

static const char *name_of(const struct link_report *r, unsigned flow, char name[NAME_BYTES])
{
  const struct machine_link *l = &r->machine->links[flow / 2];
  char a[NODE_NAME_MAX], b[NODE_NAME_MAX];
  snprintf(name, NAME_BYTES, "%s > %s", machine_node_name(r->machine, l->end[flow % 2], a),
           machine_node_name(r->machine, l->end[1 - flow % 2], b));
  return name;
}

static const struct link_params *kind_of(const struct link_report *r, unsigned flow)
{
  return &r->machine->link[r->machine->links[flow / 2].group];
}

/* Headers and all, in MB/s. */
static uint64_t mbps_of(const struct link_report *r, unsigned flow)
{
  const struct link_params *p = kind_of(r, flow);
  return (uint64_t)(flow % 2 ? p->back_mbps : p->mbps) * p->lanes;
}

/* --- table -------------------------------------------------------------------------------------- */

/* Of those that are left, the one taken for longest; n_flows: none has carried anything. */
static unsigned busiest(const struct link_log *l, const bool *done)
{
  unsigned most = l->n_flows;
  for (unsigned i = 0; i < l->n_flows; i++) {
    if (done[i] || !l->flow[i].bytes) continue;
    if (most == l->n_flows || link_flow_taken(&l->flow[i]) > link_flow_taken(&l->flow[most])) most = i;
  }
  return most;
}

static void write_line(FILE *f, const struct link_report *r, unsigned flow, uint64_t total_ps)
{
  char name[NAME_BYTES];
  const struct link_flow *x = &r->log->flow[flow];
  fprintf(f, "  %-24s %12.3f MB, %.3f MB with headers; taken for %.2f us, %.1f %% of the time\n",
          name_of(r, flow, name), (double)x->payload / 1e6, (double)x->bytes / 1e6,
          (double)link_flow_taken(x) / 1e6, total_ps ? 100.0 * (double)link_flow_taken(x) / (double)total_ps : 0);
}

void link_report_write(FILE *f, const struct link_report *r, uint64_t total_ps)
{
  if (!r->machine) return;
  const struct link_log *l = r->log;
  bool *done = mem_zeroed(l->n_flows, sizeof *done);
  unsigned n = 0;
  for (unsigned i; n < MOST_LINES && (i = busiest(l, done)) < l->n_flows; n++) {
    if (!n) fputs("links, the busiest first:\n", f);
    write_line(f, r, i, total_ps);
    done[i] = true;
  }
  if (n == MOST_LINES && busiest(l, done) < l->n_flows) fputs("  ... (all of them: --json)\n", f);
  mem_free(done);
}

/* --- JSON ---------------------------------------------------------------------------------------- */

static void put(json_t *o, const char *key, uint64_t v)
{
  json_object_set_new(o, key, json_integer((json_int_t)v));
}

/* Up to the last step in which something passed. */
static json_t *series_json(const struct link_flow *x)
{
  json_t *list = json_array();
  unsigned n = LINK_LOG_STEPS;
  while (n && !x->step[n - 1]) n--;
  for (unsigned i = 0; i < n; i++) json_array_append_new(list, json_integer((json_int_t)x->step[i]));
  return list;
}

static json_t *flow_json(const struct link_report *r, unsigned flow, bool with_series)
{
  char from[NODE_NAME_MAX], to[NODE_NAME_MAX];
  const struct machine_link *l = &r->machine->links[flow / 2];
  const struct link_flow *x = &r->log->flow[flow];
  json_t *o = json_pack("{s:s, s:s, s:s}", "from", machine_node_name(r->machine, l->end[flow % 2], from), "to",
                        machine_node_name(r->machine, l->end[1 - flow % 2], to), "kind",
                        link_kind_name[kind_of(r, flow)->kind]);
  NO_MEMORY_IF(!o);
  put(o, "mbps", mbps_of(r, flow));
  put(o, "messages", x->messages);
  put(o, "payload_bytes", x->payload);
  put(o, "bytes", x->bytes);
  put(o, "taken_ps", link_flow_taken(x));
  if (!with_series) return o;
  put(o, "step_ps", r->log->width);
  json_object_set_new(o, "step_bytes", series_json(x));
  return o;
}

json_t *link_report_json(const struct link_report *r, bool with_series)
{
  json_t *list = json_array();
  for (unsigned i = 0; r->machine && i < r->log->n_flows; i++)
    if (r->log->flow[i].messages) json_array_append_new(list, flow_json(r, i, with_series));
  return list;
}

/* --- timeline ------------------------------------------------------------------------------------ */

void link_report_show(const struct link_report *r, struct activity *a)
{
  char name[NAME_BYTES];
  for (unsigned i = 0; r->machine && i < r->log->n_flows; i++) {
    const struct link_flow *x = &r->log->flow[i];
    if (!x->bytes) continue;
    activity_link(a, &(struct activity_link){.name = name_of(r, i, name), .width = r->log->width, .step = x->step,
                                             .n = LINK_LOG_STEPS, .femtos_per_byte = x->femtos_per_byte});
  }
}
