#include "view/details.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>

#include "view/columns.h"

static const char *with_percent(double v, char *buf, size_t size)
{
  if (isnan(v))
    snprintf(buf, size, "n/a");
  else
    snprintf(buf, size, "%.1f %%", 100 * v);
  return buf;
}

static const char *with_amount(double v, char *buf, size_t size)
{
  if (isnan(v))
    snprintf(buf, size, "n/a");
  else
    with_commas((uint64_t)v, buf);
  return buf;
}

static void write_speed(FILE *f, const struct report *r)
{
  fprintf(f, "%-24s%17s %-6s%14s%12s%12s\n", "Units, of their peak", "amount", "", "peak per cycle", "of kernel",
          "of active");
  for (enum speed_unit u = 0; u < SPEED__N; u++) {
    const struct speed *s = &r->speed[u];
    char amount[28], elapsed[16], active[16];
    fprintf(f, "  %-22s%17s %-6s%14.1f%12s%12s\n", speed_name(u), with_amount(s->amount, amount, sizeof amount),
            speed_amount_unit(u), s->peak, with_percent(s->elapsed, elapsed, sizeof elapsed),
            with_percent(s->active, active, sizeof active));
  }
}

static const char *with_tera(double v, char *buf, size_t size)
{
  if (isnan(v))
    snprintf(buf, size, "n/a");
  else
    snprintf(buf, size, "%.3g", v * 1e-12);
  return buf;
}

static void write_roofline(FILE *f, const struct report *r)
{
  static const enum work_kind kinds[] = {WORK_FP16, WORK_FP32, WORK_FP64};
  char a[16], b[16], c[16], d[16];
  const struct roofline *dram = &r->roofline[WORK_FP32];
  fprintf(f, "%-24s%10s of %-12s%s\n", "Roofline", "TFLOP/s", "peak",
          "FLOP per byte of DRAM, and where the roofs meet");
  for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    const struct roofline *l = &r->roofline[kinds[i]];
    if (!(l->flops > 0)) continue;
    snprintf(c, sizeof c, isnan(l->intensity) ? "n/a" : "%.3g", l->intensity);
    snprintf(d, sizeof d, isnan(l->ridge) ? "n/a" : "%.3g", l->ridge);
    fprintf(f, "  %-22s%10s of %-12s%s, %s\n", work_kind_name(kinds[i]), with_tera(l->flops, a, sizeof a),
            with_tera(l->flops_peak, b, sizeof b), c, d);
  }
  fprintf(f, "  %-22s%10s of %-12s\n", "DRAM, TB/s", with_tera(dram->bytes, a, sizeof a),
          with_tera(dram->bytes_peak, b, sizeof b));
}

static void write_limit(FILE *f, const char *name, unsigned ctas, unsigned of)
{
  if (ctas != UINT_MAX) fprintf(f, "  %-22s%10u CTAs%s\n", name, ctas, ctas == of ? "   the limit" : "");
}

static void write_step(FILE *f, const char *name, const char *unit, unsigned now, struct room_step s)
{
  if (s.ctas)
    fprintf(f, "  %-22s%10u CTAs   with %u %s, %u less\n", name, s.ctas, s.value, unit, now - s.value);
  else
    fprintf(f, "  %-22s%10s        less gives nothing: something else limits\n", name, "n/a");
}

static void write_room(FILE *f, const struct report *r)
{
  const struct room_limits *is = &r->room.is;
  uint64_t resident = report_u64(r, "warp_cycles"), active = report_u64(r, "active_cycles");
  if (!is->ctas) return;
  fprintf(f, "%-24s%10u CTAs = %u of %u warps per SM", "Occupancy", is->ctas, is->ctas * is->warps_of_cta,
          is->max_warps);
  if (active) fprintf(f, "; %.1f on average", (double)resident / (double)active);
  fputc('\n', f);
  write_limit(f, "CTA slots", is->slots, is->ctas);
  write_limit(f, "warps", is->warps, is->ctas);
  write_limit(f, "registers", is->registers, is->ctas);
  write_limit(f, "shared memory", is->shared, is->ctas);
  write_step(f, "fewer registers", "a thread", is->regs_per_thread, r->room.registers);
  write_step(f, "less shared memory", "bytes a CTA", is->shared_bytes, r->room.shared);
}

void view_details_write(FILE *f, const struct report *r)
{
  if (!r->timed || !r->preset || r->end != RUN_DONE) return;
  write_speed(f, r);
  write_roofline(f, r);
  write_room(f, r);
}
