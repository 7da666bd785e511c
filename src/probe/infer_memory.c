/* Inference: memory queue, address generation, arbiter, latencies through counters, bank conflicts. */
#include <stdio.h>

#include "probe/infer.h"

enum { LANES = 32, MAX_QUEUE = 32 };

/* The queue is full when a load no longer issues in the cycle behind the one before. From then on a load
 * issues when one leaves. */
static bool queue(struct infer *f, struct err *e)
{
  int64_t cycles, depth = INFER_UNKNOWN, interval;
  for (unsigned n = 1; n <= MAX_QUEUE && depth < 0; n++) {
    if (!infer_cycles(f, 1, LANES, &cycles, e, "CLK | %u*LDS R16, [R14]{R1} | CLK", n)) return false;
    if (cycles > n + 1) depth = n - 1;
  }
  if (!infer_growth(f, 1, "LDS R16, [R14]{R1}", 16, 8, &interval, e)) return false;
  f->report(f->ctx, "mem.queue_entries", depth, f->params->mem_queue_entries, 5);
  f->report(f->ctx, "cycles per address generation", interval / 8, LANES / f->params->mem_addr_lanes, 4);
  return true;
}

/* With all sub-cores at it, one load per grant. Published: Table 1 grows by 8 with four sub-cores. */
static bool arbiter(struct infer *f, struct err *e)
{
  for (unsigned warps = 1; warps <= 4; warps++) {
    static const int published[] = {4, 4, 6, 8};
    int64_t cycles, unit = LANES / f->params->mem_addr_lanes;
    int64_t grants = (int64_t)warps * f->params->mem_arbiter_interval;
    char name[64];
    if (!infer_growth(f, warps, "LDS R16, [R14]{R1}", 16, 8, &cycles, e)) return false;
    snprintf(name, sizeof name, "cycles per load, %u sub-cores", warps);
    f->report(f->ctx, name, cycles / 8, grants > unit ? grants : unit, published[warps - 1]);
  }
  return true;
}

/* Issue to the earliest issue of an instruction that waits for the result, one thread. */
static bool latency(struct infer *f, struct err *e)
{
  const struct params *p = f->params;
  const struct bench_dialect *d = bench_dialect(p->arch_sm, e);
  char load[64], warm[96];
  if (!d) return false;
  snprintf(load, sizeof load, "LDG.E%s R16, [R2.64]", d->scope);
  snprintf(warm, sizeof warm, "%s{W0 S2} | NOP{B0} | ", load);
  /* Elsewhere its latency is fixed, and for stall counts. */
  int64_t dadd = p->fp64_shared ? (int64_t)p->lat[LAT_FP64] : INFER_UNKNOWN;
  const struct {
    const char *name, *before, *inst;
    int64_t expected, published;
  } row[] = {
    {"MUFU", "", "MUFU.RCP R16, R9", p->lat[LAT_SFU], INFER_UNKNOWN},
    {"I2F", "", "I2F R16, R9", p->lat[LAT_SFU], INFER_UNKNOWN},
    {"POPC", "", "POPC R16, R9", p->lat[LAT_SFU], INFER_UNKNOWN},
    {"SHFL", "", "SHFL.BFLY PT, R16, R9, 0x1, 0x1f", p->lat[LAT_SHFL], INFER_UNKNOWN},
    {"S2R", "", "S2R R16, SR_TID.X", p->lat[LAT_S2R], INFER_UNKNOWN},
    {"DADD", "", "DADD R16, R4, R6", dadd, INFER_UNKNOWN},
    {"LDS", "", "LDS R16, [R14]", INFER_UNKNOWN, 24},
    {"ATOMS", "", "ATOMS.ADD R16, [R14], R9", INFER_UNKNOWN, INFER_UNKNOWN},
    {"LDG, L1 hit", warm, load, INFER_UNKNOWN, 32},
    {"LDC", "LDC R16, c[0x0][0x160]{W0 S2} | NOP{B0} | ", "LDC R16, c[0x0][0x160]", INFER_UNKNOWN, 26},
  };
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    int64_t cycles;
    char name[64];
    if (!infer_cycles(f, 1, 1, &cycles, e, "%sCLK | %s{W0 S2} | CLK{B0}", row[i].before, row[i].inst))
      return false;
    snprintf(name, sizeof name, "latency of %s", row[i].name);
    f->report(f->ctx, name, cycles - 1, row[i].expected, row[i].published);
  }
  return true;
}

static unsigned common_divisor(unsigned a, unsigned b)
{
  return b ? common_divisor(b, a % b) : a;
}

/* Lane i loads word i * stride: 32 banks of one word are hit gcd(stride, 32) times each. */
static bool conflicts(struct infer *f, struct err *e)
{
  int64_t first = 0, cycles;
  for (unsigned stride = 1; stride <= LANES; stride++) {
    char name[64];
    if (!infer_cycles(f, 1, LANES, &cycles, e,
                      "S2R R16, SR_LANEID{W1 S2} | IMAD R16, R16, 0x%x, RZ{B1 S6} | CLK |"
                      " LDS R18, [R16]{W0 S2} | CLK{B0}", 4 * stride))
      return false;
    if (stride == 1) first = cycles;
    snprintf(name, sizeof name, "wavefronts of LDS, stride %u", stride);
    f->report(f->ctx, name, cycles - first + 1, common_divisor(stride, LANES), INFER_UNKNOWN);
  }
  return true;
}

const struct infer_test infer_memory[] = {
  {"queue", "memory queue and address generation of a sub-core", queue},
  {"arbiter", "loads of one to four sub-cores", arbiter},
  {"latency", "variable-latency instructions, through their counters", latency},
  {"conflicts", "shared-memory bank conflicts by stride", conflicts},
  {0},
};
