/* Inference: memory queue, address generation, arbiter, latencies of memory instructions, bank conflicts. */
#include <stdio.h>
#include <string.h>

#include "probe/infer.h"

enum { LANES = 32, MAX_QUEUE = 16 };

/* The queue is full when a load no longer issues in the cycle behind the one before. From then on a load
 * issues when one leaves. */
bool infer_queue(struct infer *f, struct err *e)
{
  int64_t cycles, depth = INFER_UNKNOWN, shared, global;
  char load[64];
  for (unsigned n = 1; n <= MAX_QUEUE + 1; n++) {
    if (!infer_cycles(f, 1, LANES, &cycles, e, "CLK | %u*LDS R16, [R14]{R1} | CLK", n)) return false;
    if (cycles > n + 1 && depth == INFER_UNKNOWN) depth = n - 1;
  }
  const struct bench_dialect *d = bench_dialect(f->params->arch_sm, e);
  snprintf(load, sizeof load, "LDG.E%s R16, [R2.64]{R1}", d->scope);
  if (!infer_growth(f, 1, "LDS R16, [R14]{R1}", 16, 8, &shared, e) ||
      !infer_growth(f, 1, load, 16, 8, &global, e))
    return false;
  int64_t preset = LANES / f->params->mem_addr_lanes;
  infer_number(f, "memory instructions in the queue", depth, f->params->mem_queue_entries, 5, 0);
  infer_number(f, "cycles per shared load of one sub-core", shared / 8, INFER_UNKNOWN, 4, 0);
  infer_number(f, "cycles per address generation", global / 8, preset, 4, 0);
  return true;
}

/* With all sub-cores at it, one load per grant. Published: Table 1 grows by 8 with four sub-cores. */
bool infer_arbiter(struct infer *f, struct err *e)
{
  for (unsigned warps = 1; warps <= 4; warps++) {
    static const int published[] = {4, 4, 6, 8};
    int64_t cycles, unit = LANES / f->params->mem_addr_lanes;
    int64_t grants = (int64_t)warps * f->params->mem_arbiter_interval;
    char name[64];
    if (!infer_growth(f, warps, "LDS R16, [R14]{R1}", 16, 8, &cycles, e)) return false;
    snprintf(name, sizeof name, "cycles per load, %u sub-cores", warps);
    infer_number(f, name, cycles / 8, grants > unit ? grants : unit, published[warps - 1], 0);
  }
  return true;
}

/* ---- Table 2, which counts from clock read to clock read, and what it leaves out ---- */

/* What an instruction does with its address: kinds of code before it. */
enum warm { WARM_NONE, WARM_GLOBAL, WARM_SELF };

static const struct access {
  const char *name, *inst;
  enum warm warm;   /* what must have been there before it to hit */
  int war, raw;     /* published; INFER_UNKNOWN: not; 0: no such hazard */
} accesses[] = {
  {"LDG.32 uniform", "LDG.E R20, [UR8]", WARM_GLOBAL, 9, 29},
  {"LDG.64 uniform", "LDG.E.64 R20, [UR8]", WARM_GLOBAL, 9, 31},
  {"LDG.128 uniform", "LDG.E.128 R20, [UR8]", WARM_GLOBAL, 9, 35},
  {"LDG.32 regular", "LDG.E R20, [R2.64]", WARM_GLOBAL, 11, 32},
  {"LDG.64 regular", "LDG.E.64 R20, [R2.64]", WARM_GLOBAL, 11, 34},
  {"LDG.128 regular", "LDG.E.128 R20, [R2.64]", WARM_GLOBAL, 11, 38},
  {"STG.32 uniform", "STG.E [UR8], R4", WARM_GLOBAL, 10, 0},
  {"STG.64 uniform", "STG.E.64 [UR8], R4", WARM_GLOBAL, 12, 0},
  {"STG.128 uniform", "STG.E.128 [UR8], R4", WARM_GLOBAL, 16, 0},
  {"STG.32 regular", "STG.E [R2.64], R4", WARM_GLOBAL, 14, 0},
  {"STG.64 regular", "STG.E.64 [R2.64], R4", WARM_GLOBAL, 16, 0},
  {"STG.128 regular", "STG.E.128 [R2.64], R4", WARM_GLOBAL, 20, 0},
  {"LDS.32 uniform", "LDS R20, [UR10]", WARM_NONE, 9, 23},
  {"LDS.64 uniform", "LDS.64 R20, [UR10]", WARM_NONE, 9, 23},
  {"LDS.128 uniform", "LDS.128 R20, [UR10]", WARM_NONE, 9, 25},
  {"LDS.32 regular", "LDS R20, [R14]", WARM_NONE, 9, 24},
  {"LDS.64 regular", "LDS.64 R20, [R14]", WARM_NONE, 9, 24},
  {"LDS.128 regular", "LDS.128 R20, [R14]", WARM_NONE, 9, 26},
  {"STS.32 uniform", "STS [UR10], R4", WARM_NONE, 10, 0},
  {"STS.64 uniform", "STS.64 [UR10], R4", WARM_NONE, 12, 0},
  {"STS.128 uniform", "STS.128 [UR10], R4", WARM_NONE, 16, 0},
  {"STS.32 regular", "STS [R14], R4", WARM_NONE, 12, 0},
  {"STS.64 regular", "STS.64 [R14], R4", WARM_NONE, 14, 0},
  {"STS.128 regular", "STS.128 [R14], R4", WARM_NONE, 18, 0},
  {"LDC.32 immediate", "LDC R20, c[0x0][0x160]", WARM_SELF, 10, 26},
  {"LDC.32 regular", "LDC R20, c[0x0][R14]", WARM_SELF, 29, 29},
  {"LDC.64 regular", "LDC.64 R20, c[0x0][R14]", WARM_SELF, 29, 29},
  {"LDGSTS.32 regular", "LDGSTS.E [R14], [R2.64]", WARM_GLOBAL, 13, 39},
  {"LDGSTS.64 regular", "LDGSTS.E.64 [R14], [R2.64]", WARM_GLOBAL, 13, 39},
  {"LDGSTS.128 regular", "LDGSTS.E.128 [R14], [R2.64]", WARM_GLOBAL, 13, 39},
  {"LDSM.1", "LDSM.16.M88 R20, [R14]", WARM_NONE, INFER_UNKNOWN, INFER_UNKNOWN},
  {"LDSM.2", "LDSM.16.M88.2 R20, [R14]", WARM_NONE, INFER_UNKNOWN, INFER_UNKNOWN},
  {"LDSM.4", "LDSM.16.M88.4 R20, [R14]", WARM_NONE, INFER_UNKNOWN, INFER_UNKNOWN},
  {"ATOMS.ADD", "ATOMS.ADD R20, [R14], R9", WARM_NONE, INFER_UNKNOWN, INFER_UNKNOWN},
};

/* One thread: cycles until an instruction may overwrite a source (counter released at operand read) or use the
 * result (counter released at write-back). */
static bool access_hazard(struct infer *f, const struct access *a, const char *before, char counter,
                          int64_t published, struct err *e)
{
  int64_t cycles;
  char name[64];
  if (published == 0) return true;
  if (!infer_cycles(f, 1, 1, &cycles, e, "%sCLK | %s{%c0 S2} | CLK{B0}", before, a->inst, counter)) return false;
  snprintf(name, sizeof name, "%s, %s", a->name, counter == 'R' ? "WAR" : "RAW and WAW");
  infer_number(f, name, cycles, INFER_UNKNOWN, published, 0);
  return true;
}

bool infer_access(struct infer *f, struct err *e)
{
  const struct bench_dialect *d = bench_dialect(f->params->arch_sm, e);
  for (unsigned i = 0; i < sizeof accesses / sizeof accesses[0]; i++) {
    const struct access *a = &accesses[i];
    char before[96] = "";
    struct access own = *a;
    char inst[64];
    if (strstr(a->inst, "G.E")) { /* sm_75 names the scope of global accesses, behind the width */
      int n = (int)strcspn(a->inst, " ");
      snprintf(inst, sizeof inst, "%.*s%s%s", n, a->inst, d->scope, a->inst + n);
      own.inst = inst;
    }
    if (!infer_has(f, own.inst)) continue;
    if (a->warm == WARM_GLOBAL)
      snprintf(before, sizeof before, "LDG.E%s R16, [R2.64]{W0 S2} | NOP{B0} | ", d->scope);
    if (a->warm == WARM_SELF) snprintf(before, sizeof before, "%s{W0 S2} | NOP{B0} | ", a->inst);
    if (!access_hazard(f, &own, before, 'R', a->war, e) || !access_hazard(f, &own, before, 'W', a->raw, e))
      return false;
  }
  return true;
}

/* ---- bank conflicts ---- */

/* Passes over 32 banks of one word that lanes first, first + step and so on below `end` need when lane i reads `words`
 * words from word i * stride on. */
static unsigned passes(unsigned first, unsigned end, unsigned step, unsigned words, unsigned stride)
{
  unsigned most = 0;
  for (unsigned bank = 0; bank < 32; bank++) {
    unsigned distinct = 0;
    for (unsigned i = first; i < end; i += step)
      for (unsigned k = 0; k < words; k++) distinct += (i * stride + k) % 32 == bank;
    if (distinct > most) most = distinct;
  }
  return most;
}

/* Cycles for which a load holds the banks: wider ones go by halves and quarters of a warp. Where the way from the banks
 * is narrower than they are, neighbouring lanes take `turns`, and only those of one turn meet in a bank
 * (docs/blocks/smem.md). */
static int64_t bank_cycles(unsigned words, unsigned stride, unsigned turns)
{
  int64_t sum = 0;
  for (unsigned group = 0; group < words; group++) {
    const unsigned first = group * LANES / words, end = first + LANES / words;
    const bool meet = passes(first, end, 1, words, stride) > 1;
    if (!meet) sum += turns;
    for (unsigned k = 0; meet && k < turns; k++) sum += passes(first + k, end, turns, words, stride);
  }
  return sum;
}

static const char *load_width(unsigned words)
{
  return words == 1 ? "" : words == 2 ? ".64" : ".128";
}

/* Lane i loads `words` words from word i * stride on. */
static bool strided_load(struct infer *f, unsigned words, unsigned stride, int64_t *cycles, struct err *e)
{
  return infer_cycles(f, 1, LANES, cycles, e,
                      "S2R R16, SR_LANEID{W1 S2} | IMAD R16, R16, 0x%x, RZ{B1 S6} | CLK |"
                      " LDS%s R20, [R16]{W0 S2} | CLK{B0}", 4 * stride, load_width(words));
}

/* Cycles of the banks by stride, from what a load takes longer than the densest one. */
static bool conflict_curve(struct infer *f, unsigned words, unsigned turns, struct err *e)
{
  int64_t first = 0, cycles;
  for (unsigned stride = words; stride <= LANES; stride += words) {
    char name[64];
    if (!strided_load(f, words, stride, &cycles, e)) return false;
    if (stride == words) first = cycles;
    snprintf(name, sizeof name, "bank cycles of LDS%s, stride %u words", load_width(words), stride);
    infer_number(f, name, cycles - first + bank_cycles(words, words, turns), bank_cycles(words, stride, turns),
                 INFER_UNKNOWN, 0);
  }
  return true;
}

/* Cycles of a wavefront, which is the turns that its lanes take: a stride of 32 words needs one cycle for each lane. */
static bool wavefront_cycles(struct infer *f, unsigned *turns, struct err *e)
{
  enum { WORD = 4 };
  int64_t one, all, preset = (LANES * WORD + f->params->l1_bytes_per_cycle - 1) / f->params->l1_bytes_per_cycle;
  if (!strided_load(f, 1, 1, &one, e) || !strided_load(f, 1, LANES, &all, e)) return false;
  const int64_t seen = LANES - (all - one);
  infer_number(f, "cycles per wavefront", seen, preset, INFER_UNKNOWN, 0);
  *turns = seen < 1 || seen > LANES ? 1 : (unsigned)seen;
  return true;
}

bool infer_conflicts(struct infer *f, struct err *e)
{
  unsigned turns;
  return wavefront_cycles(f, &turns, e) && conflict_curve(f, 1, turns, e) && conflict_curve(f, 2, turns, e) &&
         conflict_curve(f, 4, turns, e);
}
