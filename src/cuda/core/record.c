#include "cuda/core/record.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/host_memory.h"
#include "cuda/core/stalls.h"
#include "cuda/core/time_share.h"
#include "load/plain_name.h"

enum { TABLE_HEAD = 40, TABLE_TAIL = 10, NAME_COLUMN = 32, DIM_TEXT = 40 };

uint64_t record_next(struct record *r)
{
  if (r->n == r->cap) {
    r->cap = r->cap ? 2 * r->cap : 64;
    r->launch = realloc(r->launch, r->cap * sizeof *r->launch);
    NO_MEMORY_IF(!r->launch);
  }
  r->launch[r->n] = (struct launch_record){0};
  return ++r->n;
}

void record_keep(struct record *r, uint64_t number, const struct launch_record *l)
{
  struct launch_record *mine = &r->launch[number - 1];
  *mine = *l;
  NO_MEMORY_IF(!(mine->kernel = strdup(l->kernel)));
}

bool record_has_all(const struct record *r, uint64_t n)
{
  if (r->n < n) return false;
  while (n && r->launch[n - 1].kernel) n--;
  return n == 0;
}

static uint64_t count(const struct record *r)
{
  uint64_t n = 0;
  for (uint64_t i = 0; i < r->n; i++) n += r->launch[i].kernel != NULL;
  return n;
}

static const char *dims(const uint32_t d[3], char *buf)
{
  int n = snprintf(buf, DIM_TEXT, "%u", d[0]);
  if (d[1] > 1 || d[2] > 1) n += snprintf(buf + n, DIM_TEXT - (size_t)n, "x%u", d[1]);
  if (d[2] > 1) snprintf(buf + n, DIM_TEXT - (size_t)n, "x%u", d[2]);
  return buf;
}

/* What stands behind the columns of a row. */
static void write_remarks(FILE *f, const struct launch_record *l, bool machine)
{
  if (machine) fprintf(f, "  on GPU %u", l->gpu);
  if (l->parent) fprintf(f, "  by launch %llu", (unsigned long long)l->parent);
  if (l->sampled_ctas)
    fprintf(f, "  +- %llu (%.2f %%) from %llu CTAs", (unsigned long long)l->error_cycles,
            100.0 * (double)l->error_cycles / (double)l->cycles, (unsigned long long)l->sampled_ctas);
  if (l->faulted) fputs("  faulted", f);
}

static void write_row(FILE *f, uint64_t number, const struct launch_record *l, bool machine)
{
  char grid[DIM_TEXT], block[DIM_TEXT], cycles[24] = "-", time[24] = "-";
  if (l->timed || l->estimated) {
    snprintf(cycles, sizeof cycles, "%s%llu", l->estimated || l->sampled_ctas ? "~" : "",
             (unsigned long long)l->cycles);
    snprintf(time, sizeof time, "%.2f", (double)(l->end_ps - l->start_ps) / 1e6);
  }
  size_t n;
  const char *name = plain_name(l->kernel, &n);
  fprintf(f, "%6llu  %-*.*s  %12s  %10s  %12llu  %12s  %10s", (unsigned long long)number, NAME_COLUMN,
          n < NAME_COLUMN ? (int)n : NAME_COLUMN, name, dims(l->grid, grid), dims(l->block, block),
          (unsigned long long)l->warp_insts, cycles, time);
  write_remarks(f, l, machine);
  fputc('\n', f);
}

/* How the names of kernels begin that our open libraries launch. */
#define OWN_KERNELS "warpstep_"

static void put(json_t *o, const char *key, uint64_t v)
{
  json_object_set_new(o, key, json_integer((json_int_t)v));
}

static double mb(uint64_t bytes)
{
  return (double)bytes / 1e6;
}

/* Two lines: what moved and why; one more where there are several GPUs, where a GPU's memory was too small, and where
 * pages went to and fro. */
static void write_managed(FILE *f, const struct record *r)
{
  const struct uvm_stats all = uvm_stats_sum(r->managed, r->n_managed), *m = &all;
  fprintf(f, "managed memory: %llu faults (%llu duplicates) in %llu batches, %llu faults of the host\n",
          (unsigned long long)m->faults, (unsigned long long)m->repeats, (unsigned long long)m->batches,
          (unsigned long long)m->host_faults);
  fprintf(f, "  %.2f MB to the GPU, %.2f MB to the host, %.2f MB first touched on the GPU; ", mb(m->to_gpu),
          mb(m->to_host), mb(m->filled));
  fprintf(f, "%.2f MB of these by the tree, %.2f MB by prefetches\n", mb(m->tree), mb(m->asked));
  if (r->n_managed > 1)
    fprintf(f, "  %.2f MB from GPU to GPU, %.2f MB by way of the host; %.2f MB reached on other GPUs\n",
            mb(m->from_peers), mb(m->staged), mb(m->peer_mapped));
  if (m->evictions || m->mapped)
    fprintf(f, "  the GPU was full: %llu evictions (%.2f MB), %.2f MB came again (thrashing), %.2f MB stayed behind\n",
            (unsigned long long)m->evictions, mb(m->evicted), mb(m->thrashed), mb(m->mapped));
  if (m->put_off || m->host_put_off || m->pinned)
    fprintf(f, "  pages went to and fro: %llu faults of GPUs and %llu of the host were put off, %.2f MB pinned\n",
            (unsigned long long)m->put_off, (unsigned long long)m->host_put_off, mb(m->pinned));
}

static json_t *managed_json(const struct uvm_stats *m, bool several)
{
  json_t *o = json_object();
#define X(field, key, what) put(o, key, m->field);
  UVM_STATS(X)
  if (several) {
    UVM_PEER_STATS(X)
  }
#undef X
  return o;
}

/* Of all GPUs; where there are several, of each, too. */
static json_t *managed_gpus_json(const struct record *r)
{
  const struct uvm_stats all = uvm_stats_sum(r->managed, r->n_managed);
  json_t *o = managed_json(&all, r->n_managed > 1), *list = r->n_managed > 1 ? json_array() : NULL;
  for (unsigned i = 0; list && i < r->n_managed; i++)
    json_array_append_new(list, managed_json(&r->managed[i], true));
  if (list) json_object_set_new(o, "gpus", list);
  return o;
}

static void write_polls(FILE *f, const struct record *r)
{
  fprintf(f, "%llu polls of memory that kernels write, each at its simulated time (docs/exec-time.md)\n",
          (unsigned long long)r->polls);
  if (r->graces)
    fprintf(f, "%llu times a thread of the program went on computing while time passed for others: times may differ "
            "from run to run\n", (unsigned long long)r->graces);
}

/* What the lines around the table say of all launches. */
struct totals {
  uint64_t launches, timed, cycles;
  bool nominal; /* some without time and not estimated */
  bool own;     /* some of our open libraries */
};

static struct totals totals_of(const struct record *r)
{
  struct totals t = {.launches = count(r)};
  for (uint64_t i = 0; i < r->n; i++) {
    const struct launch_record *l = &r->launch[i];
    if (!l->kernel) continue;
    t.timed += l->timed;
    t.cycles += l->timed ? l->cycles : 0;
    t.nominal |= !l->timed && !l->estimated;
    t.own |= strncmp(l->kernel, OWN_KERNELS, sizeof OWN_KERNELS - 1) == 0;
  }
  return t;
}

/* The middle of many is left out. */
static void write_rows(FILE *f, const struct record *r, uint64_t n)
{
  const bool all = n <= TABLE_HEAD + TABLE_TAIL;
  uint64_t row = 0;
  for (uint64_t i = 0; i < r->n; i++) {
    if (!r->launch[i].kernel) continue;
    if (!all && row == TABLE_HEAD) fprintf(f, "   ...\n");
    if (all || row < TABLE_HEAD || row >= n - TABLE_TAIL) write_row(f, i + 1, &r->launch[i], r->machine);
    row++;
  }
}

static void write_notes(FILE *f, const struct record *r, const struct totals *t)
{
  if (t->own)
    fprintf(f, "warpstep_*: kernels of warpstep's own libraries, not NVIDIA's, with their times (docs/libraries.md)\n");
  if (r->host_time) fprintf(f, "host time: %s (docs/exec-time.md)\n", r->host_time);
  if (r->spun) fprintf(f, "the program waited in its own code: time went on without its calls (docs/exec-time.md)\n");
  if (r->strict) write_polls(f, r);
  if (r->n_managed) write_managed(f, r);
  if (r->share)
    fprintf(f, "time slices: kernels waited %llu times for other processes, %.2f us in all (docs/sharing.md)\n",
            (unsigned long long)r->share->stands, (double)r->share->stood / 1e6);
}

static const char *plural(uint64_t n)
{
  return n == 1 ? "" : "es";
}

void record_write_table(FILE *f, const struct record *r, const char *gpu, uint64_t total_ps)
{
  const struct totals t = totals_of(r);
  fprintf(f, "warpstep: %llu kernel launch%s on %s\n", (unsigned long long)t.launches, plural(t.launches), gpu);
  fprintf(f, "launch  %-*s  %12s  %10s  %12s  %12s  %10s\n", NAME_COLUMN, "kernel", "grid", "block",
          "warp insts", "cycles", "us");
  write_rows(f, r, t.launches);
  fprintf(f, "%llu launch%s timed: %llu cycles; the program's simulated time: %.2f us%s\n",
          (unsigned long long)t.timed, plural(t.timed), (unsigned long long)t.cycles, (double)total_ps / 1e6,
          t.nominal ? ", nominal for launches without time" : "");
  write_notes(f, r, &t);
  link_report_write(f, &r->links, total_ps);
  stalls_write_table(f, r);
}

static json_t *link_use_json(const struct link_use *u)
{
  json_t *o = json_pack("{s:f}", "taken", u->taken);
  NO_MEMORY_IF(!o);
  put(o, "requests", u->requests);
  put(o, "reads", u->reads);
  put(o, "read_wait_ps", u->read_wait_ps);
  return o;
}

static json_t *launch_json(const struct launch_record *l, uint64_t number, bool machine)
{
  json_t *work = json_object();
  json_t *o = json_pack("{s:I, s:s, s:[I,I,I], s:[I,I,I], s:I, s:I, s:b, s:b, s:I, s:I, s:I, s:I}",
                        "launch", (json_int_t)number, "kernel", l->kernel,
                        "grid", (json_int_t)l->grid[0], (json_int_t)l->grid[1],
                        (json_int_t)l->grid[2],
                        "block", (json_int_t)l->block[0], (json_int_t)l->block[1],
                        (json_int_t)l->block[2],
                        "shared_dynamic_bytes", (json_int_t)l->shared,
                        "stream", (json_int_t)l->stream,
                        "timed", l->timed, "faulted", l->faulted,
                        "warp_insts", (json_int_t)l->warp_insts,
                        "thread_insts", (json_int_t)l->thread_insts,
                        "start_ps", (json_int_t)l->start_ps, "end_ps", (json_int_t)l->end_ps);
  BUG_ON(!o);
  for (enum work_kind k = 0; k < WORK__N; k++) put(work, work_kind_name(k), l->work.ops[k]);
  json_object_set_new(o, "work", work);
  if (machine) put(o, "gpu", l->gpu);
  if (l->parent) put(o, "parent", l->parent);
  if (l->estimated) json_object_set_new(o, "estimated", json_true());
  if (l->timed || l->estimated) put(o, "cycles", l->cycles);
  if (l->sampled_ctas) {
    put(o, "sampled_ctas", l->sampled_ctas);
    put(o, "error_cycles", l->error_cycles);
  }
  if (l->together > 1) put(o, "together", l->together);
  if (!l->timed) return o;
  if (l->together <= 1) put(o, "l1_sectors", l->l1_sectors);
  put(o, "l2_sectors", l->l2_sectors);
  put(o, "dram_bytes", l->dram_bytes);
  if (l->links.taken > 0 || l->links.requests) json_object_set_new(o, "links", link_use_json(&l->links));
  stalls_put_json(o, l->stalls);
  return o;
}

json_t *record_json(const struct record *r, const char *gpu, uint64_t total_ps, uint64_t most)
{
  json_t *list = json_array();
  uint64_t n = 0;
  for (uint64_t i = 0; i < r->n && n < most; i++)
    if (r->launch[i].kernel) json_array_append_new(list, launch_json(&r->launch[i], i + 1, r->machine)), n++;
  json_t *all = json_pack("{s:s, s:s, s:I, s:o}", "schema", RECORD_JSON_SCHEMA, "gpu", gpu, "time_ps",
                          (json_int_t)total_ps,
                          "launches", list);
  NO_MEMORY_IF(!all);
  if (r->host_time) json_object_set_new(all, "host_time", json_string(r->host_time));
  if (r->spun) json_object_set_new(all, "waited_in_own_code", json_true());
  if (r->strict) put(all, "polls", r->polls);
  if (r->strict) put(all, "graces", r->graces);
  if (r->n_managed) json_object_set_new(all, "managed_memory", managed_gpus_json(r));
  if (r->share) put(all, "waits_for_others", r->share->stands);
  if (r->share) put(all, "waited_for_others_ps", r->share->stood);
  if (r->links.machine) json_object_set_new(all, "links", link_report_json(&r->links, most != UINT64_MAX));
  if (n < count(r)) put(all, "launches_left_out", count(r) - n);
  return all;
}

void record_write_json(FILE *f, const struct record *r, const char *gpu, uint64_t total_ps, const char *cpu)
{
  json_t *all = record_json(r, gpu, total_ps, UINT64_MAX);
  if (cpu) json_object_set_new(all, "cpu", json_loads(cpu, 0, NULL));
  json_dumpf(all, f, JSON_INDENT(1)); /* the stream keeps whether all of it was taken */
  fputc('\n', f);
  json_decref(all);
}
