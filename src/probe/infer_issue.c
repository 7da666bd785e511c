/* Inference: intervals of the pipes, stall counts and yield, register banks, barrier. */
#include <stdio.h>

#include "probe/infer.h"

/* Cycles between independent instructions of one pipe, times n. */
static bool intervals(struct infer *f, struct err *e)
{
  const uint32_t *interval = f->params->pipe_interval;
  const struct {
    const char *name, *inst;
    int64_t expected;
  } row[] = {
    {"IADD3", "IADD3 R16, R4, R5, RZ", interval[PIPE_ALU]},
    {"FADD", "FADD R16, R4, R5", f->params->issue_fp32_on_alu ? 1 : interval[PIPE_FMA]},
    {"IMAD", "IMAD R16, R4, R5, RZ", interval[PIPE_FMA]},
    {"HADD2", "HADD2 R16, R4, R5", interval[PIPE_HALF]},
    {"DADD", "DADD R16, R4, R6", interval[PIPE_FP64]},
    {"MUFU", "MUFU.RCP R16, R9", interval[PIPE_SFU]},
    {"NOP", "NOP", interval[PIPE_FRONT]},
  };
  enum { FEW = 32, MORE = 32 };
  for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
    int64_t cycles;
    char name[64];
    if (!infer_growth(f, 1, row[i].inst, FEW, MORE, &cycles, e)) return false;
    snprintf(name, sizeof name, "cycles per %s", row[i].name);
    f->report(f->ctx, name, (cycles + MORE / 2) / MORE, row[i].expected, INFER_UNKNOWN);
  }
  return true;
}

/* Cycles to the next instruction for a stall count and yield bit, between two clock reads: one less. */
static bool stall_cycles(struct infer *f, unsigned stall, bool yield, int64_t *cycles, struct err *e)
{
  if (!infer_cycles(f, 1, 32, cycles, e, "CLK | NOP{S%u%s} | CLK", stall, yield ? " Y" : ""))
    return false;
  --*cycles;
  return true;
}

/* Every stall count with and without yield. The rules are the published ones (section 4), with the preset's
 * numbers. */
static bool stalls(struct infer *f, struct err *e)
{
  const struct params *p = f->params;
  for (unsigned yield = 0; yield < 2; yield++)
    for (unsigned stall = 0; stall < 16; stall++) {
      int64_t cycles, expected = stall ? stall : 1;
      char name[64];
      if (yield && stall == 0) expected = p->issue_stall0_yield_cycles;
      if (yield && stall == 1) expected = 2;
      if (!yield && stall >= p->issue_big_stall_from) expected = p->issue_big_stall_no_yield_cycles;
      if (!stall_cycles(f, stall, yield, &cycles, e)) return false;
      snprintf(name, sizeof name, "stall %u%s", stall, yield ? ", yield" : "");
      f->report(f->ctx, name, cycles, expected, yield && stall == 0 ? 45 : INFER_UNKNOWN);
    }
  return true;
}

enum { FIRST_REG = 4, N_REGS = 8, LONG = 32 };

/* A long run of instructions that read R4 + i and R4 + k; two pipes take turns, so that neither is the limit. */
static bool pair_cycles(struct infer *f, unsigned i, unsigned k, int64_t *cycles, struct err *e)
{
  char inst[64];
  snprintf(inst, sizeof inst, "(FMUL R16, R%u, R%u | IADD3 R17, R%u, R%u, RZ)", FIRST_REG + i,
           FIRST_REG + k, FIRST_REG + i, FIRST_REG + k);
  return infer_growth(f, 1, inst, LONG, LONG, cycles, e);
}

/* Two registers are in one bank when reading both takes longer than the fastest pair. Each register joins the
 * class of the first register it conflicts with. */
static bool banks(struct infer *f, struct err *e)
{
  int64_t cycles[N_REGS][N_REGS], least = INT64_MAX;
  unsigned class_of[N_REGS], n = 0;
  for (unsigned i = 0; i < N_REGS; i++)
    for (unsigned k = 0; k < i; k++) {
      if (!pair_cycles(f, i, k, &cycles[i][k], e)) return false;
      if (cycles[i][k] < least) least = cycles[i][k];
    }
  for (unsigned i = 0; i < N_REGS; i++) {
    class_of[i] = n;
    for (unsigned k = i; k-- > 0;)
      if (cycles[i][k] > least) class_of[i] = class_of[k];
    n += class_of[i] == n;
  }
  f->report(f->ctx, "register banks", n, f->params->regfile_banks, 2);
  return true;
}

static bool barrier(struct infer *f, struct err *e)
{
  int64_t cycles;
  if (!infer_cycles(f, 1, 32, &cycles, e, "CLK | BAR.SYNC.DEFER_BLOCKING 0x0{S6} | CLK")) return false;
  f->report(f->ctx, "CTA barrier of one warp", cycles - 1, f->params->lat[LAT_BAR], INFER_UNKNOWN);
  return true;
}

const struct infer_test infer_issue[] = {
  {"intervals", "cycles between independent instructions of each pipe", intervals},
  {"stalls", "stall counts with and without yield", stalls},
  {"banks", "register banks, from conflicts of pairs", banks},
  {"barrier", "CTA barrier", barrier},
  {0},
};
