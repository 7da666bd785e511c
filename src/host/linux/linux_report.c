#include "host/linux/linux_report.h"

#include <inttypes.h>

#include "host/linux/linux_process.h"
#include "time/cpu/cpu_complex.h"
#include "time/mem/page_tables.h"

enum { PS_PER_NS = 1000 };

static struct cpu_stats sum(const struct linux_report *o)
{
  struct cpu_stats s = {0};
  for (uint32_t i = 0; i < o->cpu->n_cores; i++) {
#define X(id, what) s.id += o->cpu->core[i].stats.id;
    CPU_STAT_LIST(X)
#undef X
  }
  return s;
}

static double ratio(uint64_t a, uint64_t b)
{
  return b ? (double)a / (double)b : 0;
}

static void print_row(FILE *f, const char *name, const struct cpu_stats *s)
{
  fprintf(f, "%-6s %14" PRIu64 " %14" PRIu64 " %6.2f %12" PRIu64 " %7.2f %12" PRIu64 " %7.2f %7.2f\n", name,
          s->cycles, s->insts, ratio(s->insts, s->cycles), s->l1d_misses,
          100 * ratio(s->l1d_misses, s->loads + s->atomics), s->l2_misses,
          100 * ratio(s->mispredicted, s->branches), 100 * ratio(s->tlb_misses, s->loads + s->stores + s->atomics));
}

static void print_regions(FILE *f, const struct linux_report *o)
{
  const struct linux_regions *r = o->regions;
  if (o->start) fprintf(f, "the first %.3f ms of its clock went without time\n", (double)o->start / 1e9);
  if (r->ended) fprintf(f, "region of interest: %.3f us\n", (double)r->total_ns / 1e3);
}

/* What the GPU's L2 and the caches of cores had to do with each other. */
static void print_gpu(FILE *f, const struct linux_report *o)
{
  if (!o->cpu->rights) return;
  const struct l2_rights_stats s = l2_rights_sum(o->cpu->rights);
  const struct coh_cache_stats c = cpu_complex_gpu_stats(o->cpu);
  const char *where = o->machine->cpu.memory == CPU_MEMORY_C2C ? "link" : "L2";
  fprintf(f, "GPU's %s: %" PRIu64 " rights to read and %" PRIu64 " to write asked for, %" PRIu64 " came from caches of "
             "cores; %" PRIu64 " requests waited %.1f ns; asked by cores or homes %" PRIu64 " times\n",
          where, s.read_asks, s.write_asks, s.of_caches, s.parked, ratio(s.waited_ps, s.parked) / PS_PER_NS,
          c.forwards);
}

static void print_tables(FILE *f, const struct linux_report *o)
{
  if (!o->tables) return;
  const struct page_tables_stats *s = &o->tables->stats;
  fprintf(f, "GPU's pages: %" PRIu64 " asked for by SMs, %" PRIu64 " in the TLB that they share; ", s->asks,
          s->shared_hits);
  fprintf(f, "%" PRIu64 " walks read %" PRIu64 " entries, %" PRIu64 " pages were brought\n", s->walks, s->reads,
          s->faults);
}

void linux_report_print(const struct linux_report *o, FILE *f)
{
  const struct cpu_stats all = sum(o);
  const struct cpu_params *p = &o->machine->cpu;
  char name[16];
  fprintf(f, "%s: %.3f ms, %u cores at %u MHz, %s\n", o->machine->name, (double)o->now / 1e9, p->cores, p->clock_mhz,
          cpu_protocol_name[p->protocol]);
  fprintf(f, "%-6s %14s %14s %6s %12s %7s %12s %7s %7s\n", "core", "cycles", "instructions", "IPC", "L1 misses", "%",
          "L2 misses", "wrong %", "TLB %");
  for (uint32_t i = 0; i < o->cpu->n_cores; i++) {
    if (!o->cpu->core[i].stats.insts) continue;
    snprintf(name, sizeof name, "%u", i);
    print_row(f, name, &o->cpu->core[i].stats);
  }
  print_row(f, "all", &all);
  print_gpu(f, o);
  print_tables(f, o);
  print_regions(f, o);
}

static void put_stats(struct json_out *j, const struct cpu_stats *s)
{
#define X(id, what) json_out_u64(j, #id, s->id);
  CPU_STAT_LIST(X)
#undef X
}

static void put_network(struct json_out *j, const struct linux_report *o)
{
  const struct coh_net_stats *n = coh_system_net(o->cpu->coherence);
  json_out_object(j, "network");
  json_out_u64(j, "messages", n->messages);
  json_out_u64(j, "hops", n->hops);
  json_out_u64(j, "bytes", n->bytes);
  json_out_end(j);
}

static void put_gpu(struct json_out *j, const struct linux_report *o)
{
  if (!o->cpu->rights) return;
  const struct l2_rights_stats s = l2_rights_sum(o->cpu->rights);
  const struct coh_cache_stats c = cpu_complex_gpu_stats(o->cpu);
  json_out_object(j, o->machine->cpu.memory == CPU_MEMORY_C2C ? "gpu_link" : "gpu_l2");
#define X(id, what) json_out_u64(j, #id, s.id);
  L2_RIGHTS_STAT_LIST(X)
#undef X
  json_out_u64(j, "misses", c.misses);
  json_out_u64(j, "forwards", c.forwards);
  json_out_u64(j, "writebacks", c.writebacks);
  json_out_end(j);
}

static void put_tables(struct json_out *j, const struct linux_report *o)
{
  if (!o->tables) return;
  json_out_object(j, "gpu_pages");
#define X(id, what) json_out_u64(j, #id, o->tables->stats.id);
  PAGE_TABLES_STAT_LIST(X)
#undef X
  json_out_end(j);
}

void linux_report_json(const struct linux_report *o, struct json_out *j)
{
  const struct cpu_stats all = sum(o);
  json_out_object(j, NULL);
  json_out_text(j, "machine", o->machine->name);
  json_out_text(j, "protocol", cpu_protocol_name[o->machine->cpu.protocol]);
  json_out_u64(j, "time_ps", o->now);
  json_out_u64(j, "forwarded_ps", o->start);
  json_out_u64(j, "regions", o->regions->ended);
  json_out_u64(j, "regions_ns", o->regions->total_ns);
  json_out_object(j, "cpu");
  put_stats(j, &all);
  json_out_end(j);
  json_out_array(j, "cores");
  for (uint32_t i = 0; i < o->cpu->n_cores; i++) {
    json_out_object(j, NULL);
    put_stats(j, &o->cpu->core[i].stats);
    json_out_end(j);
  }
  json_out_end(j);
  put_network(j, o);
  put_gpu(j, o);
  put_tables(j, o);
  json_out_end(j);
}
