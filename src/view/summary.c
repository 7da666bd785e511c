/* One-screen summary of a run; see summary.h. Sections whose statistics a run does not have (a
 * function-only run has no slots) are left out. */
#include "view/summary.h"

#include <inttypes.h>
#include <string.h>

#include "time/msg.h"
#include "view/columns.h"

enum { TOP_MNEMONICS = 6, TOP_REASONS = 6, MAX_CHECKS_SHOWN = 5, MAX_PLACES_SHOWN = 12 };

static const char *base_name(const char *path)
{
  const char *slash = path ? strrchr(path, '/') : NULL;
  return slash ? slash + 1 : path ? path : "";
}

static uint64_t product(const uint32_t d[3])
{
  return (uint64_t)d[0] * d[1] * d[2];
}

/* "64 x 64", without dimensions of 1 behind the last other one. buf at least 40 bytes. */
static const char *extent(const uint32_t d[3], char *buf)
{
  int n = snprintf(buf, 40, "%" PRIu32, d[0]);

  if (d[1] > 1 || d[2] > 1) n += snprintf(buf + n, 40 - (size_t)n, " x %" PRIu32, d[1]);
  if (d[2] > 1) snprintf(buf + n, 40 - (size_t)n, " x %" PRIu32, d[2]);
  return buf;
}

static void write_launch(FILE *f, const struct report *r)
{
  const struct func_params *p = &r->launch->params;
  uint64_t threads = product(p->block), ctas = product(p->grid);
  char grid[40], block[40], warps[28], total[28];

  fprintf(f, "%.40s (%.60s), sm_%u%s%s\n", r->kernel->name, base_name(r->lc->origin), p->sm,
          r->gpu ? " on " : "", r->gpu ? r->gpu : "");
  fprintf(f, "  grid       %s CTAs of %s threads: %s warps, %s threads\n", extent(p->grid, grid),
          extent(p->block, block), with_commas(ctas * ((threads + 31) / 32), warps),
          with_commas(ctas * threads, total));
  fprintf(f, "  thread     %u registers, %" PRIu64 " B local; CTA: %" PRIu32 " B static + %" PRIu32
             " B dynamic shared\n",
          p->regs_per_thread, p->local_bytes, p->shared_static, p->shared_dynamic);
}

static void write_occupancy(FILE *f, const struct report *r)
{
  const struct func_params *p = &r->launch->params;
  uint64_t warps = r->ctas_per_sm * ((product(p->block) + 31) / 32);
  uint64_t resident = report_u64(r, "warp_cycles"), active = report_u64(r, "active_cycles");

  fprintf(f, "  occupancy  %u CTAs per SM", r->ctas_per_sm);
  if (r->preset)
    fprintf(f, " = %" PRIu64 " of %u warps", warps, r->preset->params.sm_max_warps);
  if (r->limiter) fprintf(f, ", limited by %s", r->limiter);
  if (active) fprintf(f, "; %.1f on average", (double)resident / (double)active);
  fputc('\n', f);
}

static void write_time(FILE *f, const struct report *r)
{
  char cycles[28], insts[28], time[16];
  uint64_t active = report_u64(r, "active_cycles");

  if (r->timed) {
    fprintf(f, "  time       %s cycles", with_commas(r->cycles, cycles));
    if (r->time_ps) fprintf(f, " = %s", with_seconds((double)r->time_ps * 1e-12, time));
    if (r->preset)
      fprintf(f, " at %.0f MHz on %u SMs", r->preset->params.gpu_clock_khz / 1e3,
              launch_sms(r->launch, &r->preset->params));
    fputc('\n', f);
  }
  fprintf(f, "  work       %s warp instructions", with_commas(r->warp_insts, insts));
  if (r->warp_insts)
    fprintf(f, ", %.1f lanes each", (double)r->thread_insts / (double)r->warp_insts);
  if (active) fprintf(f, "; IPC %.2f per busy SM", (double)r->warp_insts / (double)active);
  fputc('\n', f);
}

static const char *mnemonic_name(const void *ctx, unsigned i)
{
  return ((const struct isa *)ctx)->mnemonic(i);
}

static const char *element_name(const void *ctx, unsigned i)
{
  const struct stat_desc *d = ctx;
  const char *name = d->names ? d->names[i] : "?";

  /* A warp is selected; its slot is issued. */
  return !strcmp(d->name, "slot") && !strcmp(name, "selected") ? "issued" : name;
}

/* A ranking of the elements of a VEC row. */
static void rank_row(struct column *c, const struct report *r, const char *row, unsigned most)
{
  struct report_stat s = report_find(r, row);
  uint64_t value[256];

  if (!s.desc) return;
  unsigned n = s.desc->count < 256 ? s.desc->count : 256;
  for (unsigned i = 0; i < n; i++) value[i] = report_at(s, i);
  column_rank(c, value, element_name, s.desc, n, most, report_u64(r, row));
}

static void write_mix(FILE *f, const struct report *r)
{
  struct column left = {0}, right = {0};

  if (r->mix && r->warp_insts) {
    column_add(&left, "%-20s%11s %5s", "Instructions", "warp insts", "%");
    column_rank(&left, r->mix, mnemonic_name, r->isa, r->isa->n_mnemonics(), TOP_MNEMONICS,
                r->warp_insts);
  }
  if (report_u64(r, "pipe")) {
    column_add(&right, "%-20s%11s %5s", "Pipes", "warp insts", "%");
    rank_row(&right, r, "pipe", TOP_MNEMONICS);
  }
  if (left.n)
    columns_write(f, &left, &right);
  else
    columns_write(f, &right, &left);
}

static void write_slots(FILE *f, const struct report *r)
{
  struct column left = {0}, right = {0};

  if (!report_has(r, "slot")) return;
  column_add(&left, "%-20s%11s %5s", "Issue slots went to", "slots", "%");
  rank_row(&left, r, "slot", TOP_REASONS);
  column_add(&right, "%-20s%11s %5s", "Warps were in state", "cycles", "%");
  rank_row(&right, r, "warp_state", TOP_REASONS);
  columns_write(f, &left, &right);
}

/* One line of the memory table; what is 0 prints as "-". No line when a level saw nothing; no share when
 * it is negative. */
static void write_level(FILE *f, const char *level, uint64_t requests, uint64_t amount,
                        const char *unit, uint64_t bytes, double share, const char *of)
{
  char a[28], b[28], c[16];

  if (!requests && !amount && !bytes) return;
  fprintf(f, "  %-11s%13s %13s %-7s%10s", level, requests ? with_commas(requests, a) : "-",
          amount ? with_commas(amount, b) : "-", unit, bytes ? with_bytes(bytes, c) : "-");
  if (share >= 0) fprintf(f, "  %5.1f %% %s", share, of);
  fputc('\n', f);
}

static double dram_use(const struct report *r, uint64_t bytes)
{
  if (!r->preset || !r->time_ps) return -1;
  double peak = (double)params_dram_bytes_per_second(&r->preset->params);
  return 100.0 * (double)bytes / (peak * (double)r->time_ps * 1e-12);
}

/* Two operations of L2 in a row of the statistics. */
static uint64_t both_ops(const struct report *r, const char *row, enum l2_op a, enum l2_op b)
{
  struct report_stat s = report_find(r, row);
  return report_at(s, a) + report_at(s, b);
}

/* Requests and sectors of two operations at L2; hits include sectors on their way. */
static void write_l2(FILE *f, const struct report *r, const char *level, enum l2_op a, enum l2_op b)
{
  uint64_t sectors = both_ops(r, "op_sectors", a, b), misses = both_ops(r, "op_misses", a, b);
  write_level(f, level, both_ops(r, "op_requests", a, b), sectors, "sectors", sectors * SECTOR_BYTES,
              sectors ? percent(sectors - misses, sectors) : -1, "hit");
}

static void write_l2_writes(FILE *f, const struct report *r)
{
  uint64_t sectors = report_at(report_find(r, "op_sectors"), L2_OP_WRITE);
  write_level(f, "L2 writes", report_at(report_find(r, "op_requests"), L2_OP_WRITE), sectors, "sectors",
              sectors * SECTOR_BYTES, -1, "");
}

static void write_memory(FILE *f, const struct report *r)
{
  uint64_t sector = r->preset ? r->preset->params.l1_sector : 32;
  uint64_t passes = report_u64(r, "shared_passes"), conflicts = report_u64(r, "shared_conflicts");
  uint64_t l1_read = report_u64(r, "l1_read_sectors");
  uint64_t l1_write = report_u64(r, "l1_write_sectors");
  uint64_t dram_read = report_u64(r, "dram_read_bytes");
  uint64_t dram_write = report_u64(r, "dram_write_bytes");

  if (!report_has(r, "l1_read_sectors")) return;
  fprintf(f, "%-13s%13s %13s %7s%10s\n", "Memory", "requests", "amount", "", "bytes");
  write_level(f, "shared", report_u64(r, "shared_insts"), passes, "passes", 0,
              passes ? percent(conflicts, passes) : -1, "conflicts");
  write_level(f, "global", report_u64(r, "global_insts"), report_u64(r, "global_lines"), "lines", 0,
              -1, "");
  write_level(f, "L1 loads", 0, l1_read, "sectors", l1_read * sector,
              l1_read ? percent(report_u64(r, "l1_hit_sectors"), l1_read) : -1, "hit");
  write_level(f, "L1 stores", 0, l1_write, "sectors", l1_write * sector, -1, "");
  write_l2(f, r, "L2 reads", L2_OP_READ, L2_OP_CODE);
  write_l2_writes(f, r);
  write_l2(f, r, "L2 atomics", L2_OP_ATOM, L2_OP_RED);
  write_level(f, "DRAM reads", 0, dram_read / sector, "sectors", dram_read,
              dram_use(r, dram_read), "of peak");
  write_level(f, "DRAM writes", 0, dram_write / sector, "sectors", dram_write,
              dram_use(r, dram_write), "of peak");
}

/* What bounds the kernel, and how to learn what that costs. */
static void write_limiter(FILE *f, const struct report *r)
{
  if (!r->timed || !r->preset || r->end != RUN_DONE) return;
  fprintf(f, "Limiter        %s", limiter_name(r->bound.id));
  const char *costs = limiter_costs(r->bound.id);
  if (!r->n_what_if && *costs) fprintf(f, " (what it costs: --what-if %s)", costs);
  fprintf(f, "\n               %s\n", r->bound.evidence);
}

/* Mismatches first: they are what the reader looks for. */
static void write_checks(FILE *f, const struct report *r)
{
  unsigned good = 0, bad = 0, shown = 0;

  if (r->end != RUN_DONE && !r->fault)
    fprintf(f, "Results        not compared: the kernel was stopped\n");
  if (!r->checked || r->fault) return;
  for (unsigned i = 0; i < r->n_checks; i++) r->check[i].ok ? good++ : bad++;
  if (!r->n_checks)
    fprintf(f, "Results        nothing to compare with\n");
  else if (!bad)
    fprintf(f, "Results        all %u match\n", good);
  else
    fprintf(f, "Results        %u of %u DIFFER\n", bad, good + bad);
  for (unsigned i = 0; i < r->n_checks; i++) {
    if (r->check[i].ok || shown++ >= MAX_CHECKS_SHOWN) continue;
    fprintf(f, "  %.77s\n", r->check[i].text);
  }
}

static void write_host(FILE *f, const struct report *r)
{
  double s = r->host.seconds;
  char time[16];

  if (s <= 0) return;
  fprintf(f, "Simulation     %s, %.2f M warp instructions/s", with_seconds(s, time),
          (double)r->warp_insts / s * 1e-6);
  if (r->timed) fprintf(f, ", %.0f k cycles/s", (double)r->cycles / s * 1e-3);
  fprintf(f, ", %u thread%s\n", r->host.threads, r->host.threads == 1 ? "" : "s");
}

void view_summary_write(FILE *f, const struct report *r)
{
  write_launch(f, r);
  if (r->timed) write_occupancy(f, r);
  write_time(f, r);
  write_mix(f, r);
  write_slots(f, r);
  write_memory(f, r);
  write_limiter(f, r);
  write_checks(f, r);
  write_host(f, r);
}

/* "  12 warps  kernel+0x120  BRA ...  ready", most first. */
static void write_where(FILE *f, const struct report *r)
{
  char where[256], inst[256];

  for (unsigned i = 0; r->where && i < r->where->n && i < MAX_PLACES_SHOWN; i++) {
    const struct position *p = &r->where->row[i];
    module_where(r->module, p->pc, where, sizeof where);
    report_inst_text(r, p->pc, inst, sizeof inst);
    fprintf(f, "  %6" PRIu64 " warp%s at %s  %s  (%s)\n", p->warps, p->warps == 1 ? " " : "s", where,
            inst, path_wait_name(p->wait));
  }
  if (r->where && r->where->n > MAX_PLACES_SHOWN)
    fprintf(f, "  and at %u more places\n", r->where->n - MAX_PLACES_SHOWN);
}

void view_stop_write(FILE *f, const struct report *r)
{
  char why[128];

  report_stop_text(r, why, sizeof why);
  fprintf(f, "kernel %s was stopped: %s\n", r->kernel->name, why);
  write_where(f, r);
}

static bool has_address(unsigned kind)
{
  return kind == FAULT_ILLEGAL_ADDRESS || kind == FAULT_MISALIGNED || kind == FAULT_SHARED_RANGE ||
         kind == FAULT_LOCAL_RANGE;
}

void view_fault_write(FILE *f, const struct report *r, const struct gmem *mem)
{
  const struct fault *t = r->fault;
  char where[256], inst[256], near[256] = "";

  fprintf(f, "%s in kernel %s: the kernel was stopped\n", fault_kind_name(t->kind),
          r->kernel->name);
  fprintf(f, "  what         %s\n", t->text);
  if (t->kind == FAULT_DEADLOCK) {
    write_where(f, r);
    return;
  }
  module_where(r->module, t->pc, where, sizeof where);
  report_inst_text(r, t->pc, inst, sizeof inst);
  fprintf(f, "  instruction  %s  %s\n", where, inst);
  fprintf(f, "  thread       (%" PRIu32 ", %" PRIu32 ", %" PRIu32 ") of CTA (%" PRIu32 ", %" PRIu32
             ", %" PRIu32 ")\n",
          t->thread[0], t->thread[1], t->thread[2], t->cta[0], t->cta[1], t->cta[2]);
  if (!has_address(t->kind)) return;
  if (t->kind == FAULT_ILLEGAL_ADDRESS) gmem_describe(mem, t->addr, near, sizeof near);
  fprintf(f, "  address      0x%" PRIx64 "%s%s\n", t->addr, *near ? ": " : "", near);
}
