/* Inference: how often each pipe takes an instruction, and when its results can be read. */
#include <stdio.h>
#include <string.h>

#include "probe/infer.h"
#include "time/sm/gap.h"

enum { FEW = 32, MORE = 32 };

/* Cycles between two of them; without one when the target has no such instruction. */
static bool interval(struct infer *f, const char *name, const char *inst, int64_t preset, struct err *e)
{
  int64_t cycles;
  char text[64];
  if (!infer_has(f, inst)) return true;
  if (!infer_growth(f, 1, inst, FEW, MORE, &cycles, e)) return false;
  snprintf(text, sizeof text, "cycles per %s", name);
  infer_number(f, text, (cycles + MORE / 2) / MORE, preset, INFER_UNKNOWN, 0);
  return true;
}

/* A chain of branches, each to the instruction behind it. */
static bool branch_interval(struct infer *f, struct err *e)
{
  int64_t cycles[2];
  for (unsigned i = 0; i < 2; i++) {
    struct infer_text t = {0};
    unsigned n = i ? FEW + MORE : FEW;
    infer_add(&t, "CLK");
    for (unsigned k = 0; k < n; k++) infer_add(&t, " | BRA step%u{S5} | NOP | step%u:", k, k);
    infer_add(&t, " | CLK");
    bool ok = infer_cycles(f, 1, 32, &cycles[i], e, "%s", t.text);
    infer_text_free(&t);
    if (!ok) return false;
  }
  infer_number(f, "cycles per taken BRA", (cycles[1] - cycles[0] + MORE / 2) / MORE, INFER_UNKNOWN,
               INFER_UNKNOWN, 0);
  return true;
}

bool infer_intervals(struct infer *f, struct err *e)
{
  const uint32_t *pipe = f->params->pipe_interval, *mma = f->params->mma_interval;
  const struct { /* few registers: read ports must not be the limit */
    const char *name, *inst;
    int64_t preset;
  } row[] = {
    {"IADD3", "IADD3 R16, R4, R5, RZ", pipe[PIPE_ALU]},
    {"LOP3", "LOP3.LUT R16, R4, R5, RZ, 0xc0, !PT", pipe[PIPE_ALU]},
    {"FADD", "FADD R16, R4, R5", f->params->issue_fp32_on_alu ? 1 : pipe[PIPE_FMA]},
    {"FFMA", "FFMA R16, R4, R5, RZ", f->params->issue_fp32_on_alu ? 1 : pipe[PIPE_FMA]},
    {"IMAD", "IMAD R16, R4, R5, RZ", pipe[PIPE_FMA]},
    {"HADD2", "HADD2 R16, R4, R5", pipe[PIPE_HALF]},
    {"HFMA2", "HFMA2 R16, R4, R5, RZ", pipe[PIPE_HALF]},
    {"DADD", "DADD R16, R4, R6", pipe[PIPE_FP64]},
    {"DFMA", "DFMA R16, R4, R4, R4", pipe[PIPE_FP64]},
    {"MUFU", "MUFU.RCP R16, R9", pipe[PIPE_SFU]},
    {"I2F", "I2F R16, R9", pipe[PIPE_SFU]},
    {"POPC", "POPC R16, R9", pipe[PIPE_SFU]},
    {"UIADD3", "UIADD3 UR12, UR8, UR9, URZ", pipe[PIPE_UNIFORM]},
    {"VOTE", "VOTE.ALL R16, PT, PT", pipe[PIPE_MISC]},
    {"NOP", "NOP", pipe[PIPE_FRONT]},
    {"HMMA.16816.F32", "HMMA.16816.F32 R16, R4, R4, R4", mma[LAT_MMA_16816_F32 - MMA_FIRST]},
    {"HMMA.16816.F16", "HMMA.16816.F16 R16, R4, R4, R4", mma[LAT_MMA_16816_F16 - MMA_FIRST]},
    {"HMMA.1688.F32", "HMMA.1688.F32 R16, R4, R4, R4", mma[LAT_MMA_1688 - MMA_FIRST]},
    {"IMMA.16816.S8", "IMMA.16816.S8.S8 R16, R4.ROW, R4.COL, R4", mma[LAT_MMA_INT - MMA_FIRST]},
    {"IMMA.8816.S8", "IMMA.8816.S8.S8 R16, R4.ROW, R4.COL, R4", mma[LAT_MMA_INT - MMA_FIRST]},
    {"DMMA.884", "DMMA.884 R16, R4, R4, R4", mma[LAT_MMA_F64 - MMA_FIRST]},
    {"DMMA.8x8x4", "DMMA.8x8x4 R16, R4, R4, R4", mma[LAT_MMA_F64 - MMA_FIRST]},
  };
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++)
    if (!interval(f, row[i].name, row[i].inst, row[i].preset, e)) return false;
  return branch_interval(f, e);
}

/* Issue to the earliest issue of an instruction that waits for the result, one thread. */
bool infer_latency(struct infer *f, struct err *e)
{
  const struct params *p = f->params;
  /* Elsewhere its latency is fixed, and for stall counts. */
  int64_t dadd = p->fp64_shared ? (int64_t)p->lat[LAT_FP64] : INFER_UNKNOWN;
  const struct {
    const char *name, *inst;
    int64_t preset;
  } row[] = {
    {"MUFU", "MUFU.RCP R16, R9", p->lat[LAT_SFU]},
    {"I2F", "I2F R16, R9", p->lat[LAT_SFU]},
    {"F2I", "F2I.TRUNC.NTZ R16, R9", p->lat[LAT_SFU]},
    {"POPC", "POPC R16, R9", p->lat[LAT_SFU]},
    {"FLO", "FLO.U32 R16, R9", p->lat[LAT_SFU]},
    {"SHFL", "SHFL.BFLY PT, R16, R9, 0x1, 0x1f", p->lat[LAT_SHFL]},
    {"MATCH", "MATCH.ANY R16, R9", p->lat[LAT_SHFL]},
    {"S2R", "S2R R16, SR_TID.X", p->lat[LAT_S2R]},
    {"S2UR", "S2UR UR12, SR_CTAID.X", p->lat[LAT_S2R]},
    {"DADD", "DADD R16, R4, R6", dadd},
  };
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    int64_t cycles;
    char name[64];
    if (!infer_has(f, row[i].inst)) continue;
    if (!infer_cycles(f, 1, 1, &cycles, e, "CLK | %s{W0 S2} | CLK{B0}", row[i].inst)) return false;
    snprintf(name, sizeof name, "latency of %s", row[i].name);
    infer_number(f, name, cycles - 1, row[i].preset, INFER_UNKNOWN, 0);
  }
  return true;
}

/* ---- fixed-latency results: the value tells whether a consumer came too early ---- */

/* Where a result lies. */
enum result_place { IN_R20, IN_P0, IN_UR12, PLACE__N };

struct producer {
  const char *name, *inst; /* its result differs from 0, false */
  enum lat_class lat;
  enum result_place place;
  const char *same, *cross; /* consumers in its own pipe and in another one, into R28; NULL: none */
  bool address;             /* the low word of the result is a shared address that holds something */
};

/* R22 = 8, R23 = 0x3ff00000, R24 = 1, R25 = 1.0 as FP16 pair; R32 to R35 a number in every format; UR13 = 8.
 * Before a producer its result is 0. */
static const struct producer producers[] = {
  {"IADD3", "IADD3 R20, R22, RZ, RZ", LAT_ALU, IN_R20, "IADD3 R28, R20, RZ, RZ", "IMAD R28, R20, R24, RZ", true},
  {"IMAD", "IMAD R20, R22, R24, RZ", LAT_FMA, IN_R20, "IMAD R28, R20, R24, RZ", "IADD3 R28, R20, RZ, RZ", true},
  {"IMAD.WIDE", "IMAD.WIDE R20, R22, R24, RZ", LAT_IMAD_WIDE, IN_R20, "IMAD R28, R20, R24, RZ",
   "IADD3 R28, R20, RZ, RZ", true},
  {"HADD2", "HADD2 R20, R22, -RZ", LAT_HALF, IN_R20, "HADD2 R28, R20, -RZ", "IADD3 R28, R20, RZ, RZ", true},
  {"HFMA2.MMA", "HFMA2.MMA R20, R22, R25, RZ", LAT_HALF_MMA, IN_R20, "HFMA2.MMA R28, R20, R25, RZ",
   "IADD3 R28, R20, RZ, RZ", true},
  {"DADD", "DADD R20, R22, RZ", LAT_FP64, IN_R20, "DADD R28, R20, RZ", "IADD3 R28, R20, RZ, RZ", true},
  {"VOTE", "VOTE.ALL R20, PT, PT", LAT_VOTE, IN_R20, NULL, "IADD3 R28, R20, RZ, RZ", false},
  {"HMMA.16816.F32", "HMMA.16816.F32 R20, R36, R38, R32", LAT_MMA_16816_F32, IN_R20,
   "HMMA.16816.F32 R28, R36, R38, R20", "IADD3 R28, R20, RZ, RZ", false},
  {"HMMA.16816.F16", "HMMA.16816.F16 R20, R36, R38, R32", LAT_MMA_16816_F16, IN_R20,
   "HMMA.16816.F16 R28, R36, R38, R20", "IADD3 R28, R20, RZ, RZ", false},
  {"HMMA.1688.F32", "HMMA.1688.F32 R20, R36, R38, R32", LAT_MMA_1688, IN_R20, "HMMA.1688.F32 R28, R36, R38, R20",
   "IADD3 R28, R20, RZ, RZ", false},
  {"IMMA.16816.S8", "IMMA.16816.S8.S8 R20, R36.ROW, R38.COL, R32", LAT_MMA_INT, IN_R20,
   "IMMA.16816.S8.S8 R28, R36.ROW, R38.COL, R20", "IADD3 R28, R20, RZ, RZ", false},
  {"IMMA.8816.S8", "IMMA.8816.S8.S8 R20, R36.ROW, R38.COL, R32", LAT_MMA_INT, IN_R20,
   "IMMA.8816.S8.S8 R28, R36.ROW, R38.COL, R20", "IADD3 R28, R20, RZ, RZ", false},
  {"ISETP", "ISETP.NE.U32.AND P0, PT, R22, RZ, PT", LAT_PRED, IN_P0, NULL, NULL, false},
  {"DSETP", "DSETP.NEU.AND P0, PT, R22, RZ, PT", LAT_FP64, IN_P0, NULL, NULL, false},
  {"UIADD3", "UIADD3 UR12, UR13, URZ, URZ", LAT_UNIFORM, IN_UR12, "UIADD3 UR14, UR12, URZ, URZ",
   "IADD3 R28, RZ, UR12, RZ", false},
};

/* What else reads a result, by its place, into R28. */
static const struct reader {
  const char *inst;
  enum hazard_role role;
  enum result_place place;
} readers[] = {
  {"POPC R28, R20", ROLE_QUEUED, IN_R20},
  {"LDS R28, [R20]", ROLE_ADDR, IN_R20},
  {"@P0 MOV R28, R24", ROLE_GUARD, IN_P0},
  {"SEL R28, R24, RZ, P0", ROLE_PRED, IN_P0},
  {"POPC R28, UR12", ROLE_QUEUED, IN_UR12},
};

enum { DISTANCES = 32, FAR = 75 }; /* FP64 of GB103 needs 64 */

#define WAIT "NOP{B0 S15 Y} | 4*NOP{S15 Y}"

/* The producer, and `distance` cycles later the consumer, whose result is in R28 at the end. */
static void add_trial(struct infer_text *t, const struct producer *p, const char *consumer, unsigned distance,
                      bool uniform)
{
  static const char *const zero[PLACE__N] = {
    [IN_R20] = "MOV R20, RZ{S5} | MOV R21, RZ{S5} | MOV R22, 0x8{S5} | MOV R23, 0x3ff00000{S5}",
    [IN_P0] = "ISETP.NE.U32.AND P0, PT, RZ, RZ, PT{S5}", [IN_UR12] = "UMOV UR12, URZ{S5}"};
  bool queued = strstr(consumer, "POPC") || strstr(consumer, "LDS");
  infer_add(t, "%s | MOV R28, RZ{S5} | %s" WAIT " | %s", zero[p->place], uniform ? "UMOV UR14, URZ{S5} | " : "",
            p->inst);
  for (; distance > 15; distance -= 15) infer_add(t, "{S15 Y} | NOP");
  infer_add(t, "{S%u%s} | %s%s | " WAIT " | ", distance, distance > 11 ? " Y" : "", consumer,
            queued ? "{W0 S2}" : "");
  if (strstr(consumer, "UR14")) infer_add(t, "MOV R28, UR14{S5} | ");
}

/* *right: bit i says that the consumer sees the result base + i cycles behind the producer. */
static bool run_trials(struct infer *f, const struct producer *p, const char *consumer, unsigned base,
                       uint32_t *right, struct err *e)
{
  struct infer_text t = {0};
  struct window_result r;
  bool uniform = infer_has(f, "UMOV UR13, 0x8"); /* registers that all lanes share */
  infer_add(&t, "CLK | MOV R22, 0x8{S5} | MOV R23, 0x3ff00000{S5} | MOV R24, 0x1{S5} | MOV R25, 0x3c003c00{S5} |"
                " MOV R32, 0x3f800008{S5} | MOV R33, 0x3ff00000{S5} | MOV R34, R32{S5} | MOV R35, R33{S5} |"
                " MOV R36, RZ{S5} | MOV R37, RZ{S5} | MOV R38, RZ{S5} | MOV R39, RZ{S5} |"
                " MOV R12, RZ{S5} | MOV R29, 0x5{S5} | STS [RZ], R29{R0 S2} | MOV R30, 0x9{B0 S5} |"
                " STS [R22], R30{R0 S2} | NOP{B0} | ");
  if (uniform) infer_add(&t, "UMOV UR13, 0x8{S5} | ");
  add_trial(&t, p, consumer, FAR, uniform);
  infer_add(&t, "MOV R15, R28{S5}");
  for (unsigned i = 0; i < DISTANCES; i++) {
    infer_add(&t, " | ");
    add_trial(&t, p, consumer, base + i, uniform);
    infer_add(&t, "ISETP.EQ.U32.AND P1, PT, R28, R15, PT{S13 Y} | @P1 LOP3.LUT R12, R12, 0x%x, RZ, 0xfc, !PT{S5}",
              1u << i);
  }
  infer_add(&t, " | CLK");
  struct window w = {.code = t.text, .warps = 1, .lanes = 32, .has_value = true};
  bool ok = infer_window(f, &w, &r, e);
  infer_text_free(&t);
  *right = r.value[0];
  return ok;
}

/* What the preset says. A result at no fixed time is in its register before the counter that protects it is seen; the
 * next instruction of the same pipe comes no earlier than the pipe takes it, whatever the
 * stall count. */
static int64_t preset_distance(const struct params *p, const struct producer *from, enum hazard_role role)
{
  uint32_t gap = gap_cycles(p, from->lat, role), interval = 1;
  if (p->fp64_shared && from->lat == LAT_FP64) return p->lat[LAT_FP64] - p->counter_path_cycles;
  unsigned shape = (unsigned)from->lat - MMA_FIRST;
  if (role == ROLE_SAME && shape < MMA__N) interval = p->mma_interval[shape];
  if (role == ROLE_SAME && from->lat == LAT_UNIFORM) interval = p->pipe_interval[PIPE_UNIFORM];
  return gap <= interval ? 1 : gap;
}

/* From its issue on: the least distance from which on the consumer always sees the result. */
static bool result(struct infer *f, const struct producer *p, const char *consumer, enum hazard_role role,
                   struct err *e)
{
  uint32_t early, late = UINT32_MAX >> (32 - DISTANCES);
  char name[96];
  int64_t least = INFER_UNKNOWN;
  if (!consumer || !infer_has(f, consumer)) return true;
  bool slow = p->lat >= LAT_FP64 && p->lat <= LAT_MMA_F64; /* FP64 and matrices: may take longer than DISTANCES */
  if (!run_trials(f, p, consumer, 1, &early, e) ||
      (slow && !run_trials(f, p, consumer, 1 + DISTANCES, &late, e)))
    return false;
  uint64_t right = early | (uint64_t)late << DISTANCES;
  for (unsigned d = 2 * DISTANCES; d > 0 && right >> (d - 1) & 1; d--) least = d;
  snprintf(name, sizeof name, "%s to %.*s, %s", p->name, (int)strcspn(consumer, " "), consumer,
           hazard_role_name[role]);
  infer_number(f, name, least, preset_distance(f->params, p, role), INFER_UNKNOWN, 0);
  return true;
}

bool infer_results(struct infer *f, struct err *e)
{
  for (unsigned i = 0; i < sizeof producers / sizeof producers[0]; i++) {
    const struct producer *p = &producers[i];
    if (!infer_has(f, p->inst)) continue;
    if (!result(f, p, p->same, ROLE_SAME, e) || !result(f, p, p->cross, ROLE_CROSS, e)) return false;
    for (unsigned k = 0; k < sizeof readers / sizeof readers[0]; k++) {
      const struct reader *c = &readers[k];
      if (c->place != p->place || (c->role == ROLE_ADDR && !p->address)) continue;
      if (!result(f, p, c->inst, c->role, e)) return false;
    }
  }
  return true;
}
