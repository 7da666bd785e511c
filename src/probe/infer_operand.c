/* Inference: register banks and the register-file cache. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "probe/infer.h"

enum { REGS = 255, FEW_REGS = 32, PAIRS_AT_ONCE = WINDOW_MAX_CLOCKS - 1, RUN = 8 };

struct pairs {
  struct infer *f;
  unsigned regs; /* R0 to R(regs - 1) */
  uint16_t (*cycles)[REGS]; /* of a run of instructions that read both */
  struct { uint8_t a, b; } batch[PAIRS_AT_ONCE];
  unsigned n;
};

/* Runs of instructions between clock reads, one for each pair; two pipes take turns, so that neither is the
 * limit. Filled up with the last pair: every program reads the clock as often. */
static bool run_batch(struct pairs *p, struct err *e)
{
  struct infer_text t = {0};
  struct window_result r;
  if (!p->n) return true;
  infer_add(&t, "CLK");
  for (unsigned i = 0; i < PAIRS_AT_ONCE; i++) {
    unsigned k = i < p->n ? i : p->n - 1, a = p->batch[k].a, b = p->batch[k].b;
    infer_add(&t, " | %d*(FMUL R16, R%u, R%u | IADD3 R17, R%u, R%u, RZ) | 2*NOP | CLK", RUN, a, b, a, b);
  }
  struct window w = {.code = t.text, .warps = 1, .lanes = 32};
  bool ok = infer_window(p->f, &w, &r, e);
  infer_text_free(&t);
  for (unsigned i = 0; ok && i < p->n; i++)
    p->cycles[p->batch[i].a][p->batch[i].b] = (uint16_t)(r.clock[0][i + 1] - r.clock[0][i]);
  p->n = 0;
  return ok;
}

static bool measure_pairs(struct pairs *p, struct err *e)
{
  for (unsigned a = 0; a < p->regs; a++)
    for (unsigned b = 0; b < a; b++) {
      p->batch[p->n].a = (uint8_t)a;
      p->batch[p->n++].b = (uint8_t)b;
      if (p->n == PAIRS_AT_ONCE && !run_batch(p, e)) return false;
    }
  return run_batch(p, e);
}

/* Two registers conflict when reading both runs at 99.5 % of the best throughput or less. `rest` cycles of a
 * segment are not the run's. */
static bool conflict(const struct pairs *p, unsigned a, unsigned b, unsigned least)
{
  const unsigned rest = 3;
  unsigned cycles = a > b ? p->cycles[a][b] : p->cycles[b][a];
  return 1000u * (least - rest) <= 995u * (cycles - rest);
}

static void report_banks(struct pairs *p)
{
  unsigned class_of[REGS], classes = 0, least = UINT16_MAX, odd = 0, not_modulo = 0;
  for (unsigned a = 0; a < p->regs; a++)
    for (unsigned b = 0; b < a; b++)
      if (p->cycles[a][b] < least) least = p->cycles[a][b];
  for (unsigned a = 0; a < p->regs; a++) { /* each joins the class of the first register it conflicts with */
    class_of[a] = classes;
    for (unsigned b = a; b-- > 0;)
      if (conflict(p, a, b, least)) class_of[a] = class_of[b];
    classes += class_of[a] == classes;
  }
  for (unsigned a = 0; a < p->regs; a++) {
    for (unsigned b = 0; b < a; b++) odd += conflict(p, a, b, least) != (class_of[a] == class_of[b]);
    not_modulo += class_of[a] != a % classes;
  }
  infer_number(p->f, "register banks", classes < p->regs ? (int64_t)classes : INFER_UNKNOWN,
               p->f->params->regfile_banks, 2, 0);
  if (classes == p->regs) return; /* a bank serves two reads at once: no pair tells them apart */
  infer_number(p->f, "pairs that break the equivalence", odd, 0, 0, 0);
  infer_number(p->f, "registers not in bank number mod banks", not_modulo, 0, 0, 0);
}

/* A long run of instructions that read three registers of one bank, with up to eight banks. */
static bool report_ports(struct infer *f, struct err *e)
{
  int64_t cycles;
  if (!infer_growth(f, 1, "(FFMA R16, R4, R12, R20 | IADD3 R17, R4, R12, R20)", 32, 32, &cycles, e)) return false;
  int64_t ports = (3 * 64 + cycles / 2) / cycles;
  infer_number(f, "reads of a bank per cycle", ports, f->params->regfile_read_ports, 1, 0);
  return true;
}

static bool banks(struct infer *f, unsigned regs, struct err *e)
{
  struct pairs p = {.f = f, .regs = regs, .cycles = calloc(REGS, sizeof *p.cycles)};
  NO_MEMORY_IF(!p.cycles);
  bool ok = measure_pairs(&p, e);
  if (ok) report_banks(&p);
  free(p.cycles);
  return ok && report_ports(f, e);
}

bool infer_banks(struct infer *f, struct err *e)
{
  return banks(f, FEW_REGS, e);
}

bool infer_banks_all(struct infer *f, struct err *e)
{
  return banks(f, REGS, e);
}

/* ---- the register-file cache ---- */

/* Cycles that the second window is shorter. */
static bool saved(struct infer *f, const char *without, const char *with, int64_t *cycles, struct err *e)
{
  int64_t a, b;
  if (!infer_cycles(f, 1, 32, &a, e, "CLK | NOP | %s | NOP | CLK", without) ||
      !infer_cycles(f, 1, 32, &b, e, "CLK | NOP | %s | NOP | CLK", with))
    return false;
  *cycles = a - b;
  return true;
}

/* R10 is marked in each operand slot in turn and read in each: which pairs save a read. Reported: slots in which
 * a value is found in its own and in no other. */
static bool slots(struct infer *f, struct err *e)
{
  static const char *const first[] = {"IADD3 R9, R10%s, R5, R7", "IADD3 R9, R5, R10%s, R7",
                                      "IADD3 R9, R5, R7, R10%s"};
  static const char *const second[] = {"FFMA R12, R10, R6, R8", "FFMA R12, R6, R10, R8",
                                       "FFMA R12, R6, R8, R10"};
  int64_t cycles, good = 0;
  for (unsigned i = 0; i < 3; i++) {
    unsigned right = 0;
    for (unsigned k = 0; k < 3; k++) {
      char text[2][96], plain[48], kept[48];
      snprintf(plain, sizeof plain, first[i], "");
      snprintf(kept, sizeof kept, first[i], ".reuse");
      snprintf(text[0], sizeof text[0], "%s | %s", plain, second[k]);
      snprintf(text[1], sizeof text[1], "%s | %s", kept, second[k]);
      if (!saved(f, text[0], text[1], &cycles, e)) return false;
      right += (cycles > 0) == (i == k);
    }
    good += right == 3;
  }
  infer_number(f, "operand slots with a cached value of their own", good, f->params->regfile_cache ? 3 : 0, 3, 0);
  return true;
}

/* R10 is marked in slot 1 by the first instruction. A read that finds it saves a cycle: all other reads of
 * the second and third are from R10's bank, too, or leave its port enough time. */
bool infer_reuse(struct infer *f, struct err *e)
{
  static const struct {
    const char *name, *rest;
    int64_t saved; /* by the published rules */
  } rule[] = {
    {"reads saved: by the next instruction", "FFMA R12, R10, R6, R8", 1},
    {"by the next two, the bit not renewed", "FFMA R12, R10, R6, R8 | IADD3 R9, R10, R6, R8", 1},
    {"by the next two, the bit renewed", "FFMA R12, R10%s, R6, R8 | IADD3 R9, R10, R6, R8", 2},
    {"behind a read of the other bank", "FFMA R12, R5, R6, R8 | IADD3 R9, R10, R6, R8", 1},
    {"behind another read of its bank and slot", "FFMA R12, R4, R6, R8 | IADD3 R9, R10, R6, R8", 0},
    {"behind a read of its bank, other slots", "FFMA R12, R5, R4, R8 | IADD3 R9, R10, R6, R8", 1},
  };
  bool cache = f->params->regfile_cache;
  int64_t cycles;
  if (!slots(f, e)) return false;
  for (unsigned i = 0; i < sizeof rule / sizeof rule[0]; i++) {
    char text[2][128];
    for (unsigned k = 0; k < 2; k++) {
      const char *bit = k ? ".reuse" : "";
      int n = snprintf(text[k], sizeof text[k], "IADD3 R9, R10%s, R5, R7 | ", bit);
      snprintf(text[k] + n, sizeof text[k] - (size_t)n, rule[i].rest, bit);
    }
    if (!saved(f, text[0], text[1], &cycles, e)) return false;
    infer_number(f, rule[i].name, cycles, cache ? rule[i].saved : 0, rule[i].saved, 0);
  }
  /* One register in two slots is read once. */
  if (!saved(f, "IADD3 R9, R4, R6, R8 | FFMA R12, R10, R6, R8", "IADD3 R9, R4, R6, R8 | FFMA R12, R10, R10, R8",
             &cycles, e))
    return false;
  infer_number(f, "by one register in two slots", cycles, 1, INFER_UNKNOWN, 0);
  return true;
}
