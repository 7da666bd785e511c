/* Inference: instruction caches, prefetcher, instruction buffer, constant caches.
 *
 * Code that only the second pass of a window runs is new to all caches of the SM: R42 of the frame counts the
 * passes down from 2.
 */
#include <stdio.h>

#include "probe/infer.h"

enum { LINE = 128, LINE_INSTS = 8, KIB_LINES = 1024 / LINE };
/* A wait of more than 45 cycles: the longest there is. Long enough for every prefetch to arrive, when repeated. */
#define PAUSE "NOP{S0 Y}"
#define LONG_WAIT "24*" PAUSE

static bool run_clocks(struct infer *f, const struct infer_text *t, unsigned constants,
                       struct window_result *r, struct err *e)
{
  struct window w = {.code = t->text, .constants = constants, .warps = 1, .lanes = 32};
  return infer_window(f, &w, r, e);
}

static int64_t between(const struct window_result *r, unsigned from, unsigned to)
{
  return (int32_t)(r->clock[0][to] - r->clock[0][from]);
}

/* First line of a window that the first pass leaves at once for `out`. */
static void add_second_pass_only(struct infer_text *t)
{
  infer_add(t, "ISETP.NE.AND P0, PT, R42, 0x1, PT{S15 Y} | @P0 BRA out{S5} | 6*NOP");
}

/* ---- capacities and latencies ---- */

static unsigned common_divisor(unsigned a, unsigned b)
{
  return b ? common_divisor(b, a % b) : a;
}

/* Cache lines of code, visited three times in steps that no prefetcher foresees, with pauses that let every
 * prefetch end. A branch leaves each line early, so that fetch does not run on into the next. *cycles: of the
 * last round, per line. */
static bool jumps(struct infer *f, unsigned lines, int64_t *cycles, struct err *e)
{
  struct infer_text t = {0};
  struct window_result r;
  unsigned inner = lines - 2, step = inner * 5 / 8; /* the first line opens the round, the last one closes it */
  while (common_divisor(step, inner) > 1) step--;
  infer_add(&t, "MOV R20, 0x3{S6} | BRA first{S5} | 6*NOP | first: | CLK | 2*" PAUSE " | BRA line0{S5} | 4*NOP");
  for (unsigned i = 0; i < inner; i++) {
    infer_add(&t, " | line%u: | 3*" PAUSE " | BRA ", i);
    if ((i + step) % inner == 0) infer_add(&t, "close{S5} | 4*NOP");
    else infer_add(&t, "line%u{S5} | 4*NOP", (i + step) % inner);
  }
  infer_add(&t, " | close: | IADD3 R20, R20, -0x1, RZ{S5} | ISETP.NE.AND P0, PT, R20, RZ, PT{S13 Y} |"
                " @P0 BRA first{S5} | CLK | 4*NOP");
  bool ok = run_clocks(f, &t, 0, &r, e);
  infer_text_free(&t);
  *cycles = ok ? between(&r, 0, 1) / lines : 0;
  return ok;
}

/* Cycles per line of straight-line code. */
static bool straight(struct infer *f, unsigned kib, int64_t *cycles, struct err *e)
{
  unsigned lines = kib * KIB_LINES;
  if (!infer_cycles(f, 1, 32, cycles, e, "CLK | %u*NOP | CLK", lines * LINE_INSTS)) return false;
  *cycles = (*cycles + lines / 2) / lines;
  return true;
}

/* Sizes in KiB of the two sweeps. A cache of four ways or more misses every line of code that is a quarter larger, and
 * a part of what is less: no size lies in between. */
static const unsigned jump_kib[] = {8, 12, 16, 24, 32, 40, 64, 80, 96, 128, 160, 192};
static const unsigned straight_kib[] = {24, 48, 96, 192};

enum { N_JUMP = sizeof jump_kib / sizeof jump_kib[0], N_STRAIGHT = sizeof straight_kib / sizeof straight_kib[0] };

/* Cycles per line that tell plateaus apart: prefetches displace some lines of a cache that is just filled. */
enum { NOTICED = 32 };

/* How far the plateau goes that begins at `from`: the last size whose lines cost no more. */
static unsigned plateau_end(const int64_t *cycles, unsigned from)
{
  unsigned i = from;
  while (i + 1 < N_JUMP && cycles[i + 1] <= cycles[from] + NOTICED) i++;
  return i;
}

/* Lines that separate code, more than any prefetcher runs ahead. */
#define GAP "576*NOP"

/* A jump to code that only L2 has, less the same to code that L0 has. The stall count that a branch needs hides up
 * to HIDDEN cycles of the fetch. */
enum { HIDDEN = 3 };

static bool cold_jump(struct infer *f, int64_t *cycles, struct err *e)
{
  int64_t taken[2] = {0, 0};
  for (unsigned cold = 0; cold < 2; cold++) {
    struct infer_text t = {0};
    struct window_result r;
    if (cold) add_second_pass_only(&t);
    else infer_add(&t, "8*NOP");
    infer_add(&t, " | " GAP " | " LONG_WAIT " | CLK | BRA far{S5} | " GAP " | far: | CLK | " GAP " | out: | NOP");
    bool ok = run_clocks(f, &t, 0, &r, e);
    infer_text_free(&t);
    if (!ok) return false;
    taken[cold] = between(&r, 0, 1);
  }
  *cycles = taken[1] - taken[0];
  return true;
}

/* The time of one miss over the lines that are on their way at once. */
static int64_t miss_share(const struct params *p)
{
  int64_t lines = p->l0i_stream_lines + 1;
  return (params_l1i_miss_cycles(p) + HIDDEN + lines / 2) / lines;
}

/* Between lines streamed from L2: what its link takes, or, where L2 is far away, that share. */
static void report_streamed(struct infer *f, int64_t from_l2)
{
  int64_t link = f->params->l1i_miss_line_interval, share = miss_share(f->params);
  bool far = share >= link;
  infer_number(f, "cycles per line streamed from L2", from_l2, far ? share : link, INFER_UNKNOWN, far); /* rounded */
}

/* The next plateau begins a size later. */
static void report_caches(struct infer *f, const int64_t *jump, const int64_t *stream, int64_t from_memory)
{
  const struct params *p = f->params;
  unsigned l0 = plateau_end(jump, 0), next = l0 + 1 < N_JUMP ? l0 + 1 : l0;
  unsigned l1 = plateau_end(jump, next);
  int64_t from_l1 = INFER_UNKNOWN, from_l2 = INFER_UNKNOWN, miss = params_l1i_miss_cycles(p);
  for (unsigned i = 0; i < N_STRAIGHT; i++) {
    if (straight_kib[i] >= jump_kib[next] && straight_kib[i] <= jump_kib[l1]) from_l1 = stream[i];
    if (straight_kib[i] > jump_kib[l1] && l1 + 1 < N_JUMP) from_l2 = stream[i];
  }
  infer_number(f, "L0 instruction cache, KiB", jump_kib[l0], p->l0i_bytes / 1024, INFER_UNKNOWN, 0);
  infer_number(f, "L1 instruction cache, KiB", l1 + 1 < N_JUMP ? (int64_t)jump_kib[l1] : INFER_UNKNOWN,
               p->l1i_bytes / 1024, 128, 0);
  infer_number(f, "jump to a line of L1, more than of L0", jump[next] - jump[0], p->l1i_latency, INFER_UNKNOWN, HIDDEN);
  infer_number(f, "jump to a line of L2, more than of L0", from_memory, miss, INFER_UNKNOWN, HIDDEN);
  infer_number(f, "cycles per line streamed from L1", from_l1, p->l1i_line_interval, INFER_UNKNOWN, 0);
  report_streamed(f, from_l2);
}

bool infer_icache(struct infer *f, struct err *e)
{
  int64_t jump[N_JUMP], stream[N_STRAIGHT], from_memory;
  for (unsigned i = 0; i < N_JUMP; i++)
    if (!jumps(f, jump_kib[i] * KIB_LINES, &jump[i], e)) return false;
  for (unsigned i = 0; i < N_STRAIGHT; i++)
    if (!straight(f, straight_kib[i], &stream[i], e)) return false;
  if (!cold_jump(f, &from_memory, e)) return false;
  report_caches(f, jump, stream, from_memory);
  return true;
}

/* ---- instruction buffer and prefetcher ---- */

/* Line X is in L0, the next one is not and is not being prefetched: the prefetcher was sent elsewhere from X's
 * first instruction. An instruction of X pauses, `behind` others of X follow. When the buffer holds these and
 * one more, the next line is fetched during the pause. */
static bool run_off(struct infer *f, unsigned behind, int64_t *cycles, struct err *e)
{
  struct infer_text t = {0};
  struct window_result r;
  add_second_pass_only(&t);
  infer_add(&t, " | BRA x{S5} | 7*NOP | " GAP " | x: | BRA elsewhere{S5}");
  if (behind < 6) infer_add(&t, " | %u*NOP", 6 - behind);
  infer_add(&t, " | back: | " PAUSE);
  if (behind) infer_add(&t, " | %u*NOP", behind);
  infer_add(&t, " | CLK | BRA out{S5} | " GAP " | elsewhere: | " LONG_WAIT " | CLK | BRA back{S5} | " GAP
                " | out: | NOP");
  bool ok = run_clocks(f, &t, 0, &r, e);
  infer_text_free(&t);
  *cycles = ok ? between(&r, 1, 0) - behind : 0;
  return ok;
}

bool infer_ibuffer(struct infer *f, struct err *e)
{
  enum { MOST = 7, SHORTER = 16 };
  int64_t cycles[MOST], depth = 0, longest = 0;
  for (unsigned i = 0; i < MOST; i++) {
    if (!run_off(f, i, &cycles[i], e)) return false;
    if (cycles[i] > longest) longest = cycles[i];
  }
  while (depth < MOST && cycles[depth] + SHORTER < longest) depth++;
  infer_number(f, "instruction buffer of a warp", depth ? depth : INFER_UNKNOWN, f->params->fetch_ibuffer_entries,
               3, 0);
  return true;
}

/* From a new line the warp goes back to wait in code that it has run before, then runs through the lines behind the
 * new one: those that were prefetched take a cycle per instruction, the first one that was not waits for L2. */
bool infer_stream(struct infer *f, struct err *e)
{
  enum { LINES = WINDOW_MAX_CLOCKS - 1 };
  struct infer_text t = {0};
  struct window_result r;
  add_second_pass_only(&t);
  infer_add(&t, " | ISETP.NE.AND P1, PT, RZ, RZ, PT{S15 Y} | wait: | MOV R20, 0x18{S6} | turn: | " PAUSE
                " | IADD3 R20, R20, -0x1, RZ{S5} | ISETP.NE.AND P0, PT, R20, RZ, PT{S13 Y} | @P0 BRA turn{S5} |"
                " @P1 BRA through{S5} | BRA x{S5} | " GAP
                " | x: | ISETP.NE.AND P1, PT, R42, RZ, PT{S15 Y} | BRA wait{S5} | through: | 5*NOP | CLK");
  for (unsigned i = 0; i < LINES; i++) infer_add(&t, " | CLK | 7*NOP");
  infer_add(&t, " | " GAP " | out: | NOP");
  bool ok = run_clocks(f, &t, 0, &r, e);
  infer_text_free(&t);
  if (!ok) return false;
  unsigned n = 0;
  while (n < LINES && between(&r, n, n + 1) <= (n ? LINE_INSTS : 1) + 4) n++;
  infer_number(f, "lines the prefetcher runs ahead", n < LINES ? (int64_t)n : INFER_UNKNOWN,
               f->params->l0i_stream_lines, 8, 0);
  return true;
}

/* ---- constant caches ---- */

/* A constant of bank 3 at `offset`, read by an operand of a fixed-latency instruction or by LDC, one after the
 * other. */
static void add_read(struct infer_text *t, bool ldc, unsigned offset)
{
  if (ldc) infer_add(t, " | LDC R16, c[0x3][0x%x]{W0 S2} | NOP{B0}", offset);
  else infer_add(t, " | IADD3 R16, R4, c[0x3][0x%x], RZ{S2}", offset);
}

enum { CONST_BYTES = 32768, CONST_LARGEST = 4096, CONST_MISS = 24 /* cycles more: it missed */ };

/* The distance from which on a second constant is not in the line that the first one brought. */
static bool const_line(struct infer *f, bool ldc, unsigned *bytes, struct err *e)
{
  enum { FIRST = 8, SIZES = 7 };
  struct infer_text t = {0};
  struct window_result r;
  add_second_pass_only(&t);
  for (unsigned i = 0; i < SIZES; i++) {
    add_read(&t, ldc, 2048 * i);
    infer_add(&t, " | 4*" PAUSE " | CLK");
    add_read(&t, ldc, 2048 * i + ((unsigned)FIRST << i));
    infer_add(&t, " | NOP | CLK");
  }
  infer_add(&t, " | out: | NOP");
  bool ok = run_clocks(f, &t, CONST_BYTES, &r, e);
  infer_text_free(&t);
  *bytes = 0;
  for (unsigned i = SIZES; ok && i-- > 0;)
    if (between(&r, 2 * i, 2 * i + 1) > CONST_MISS + (ldc ? 32 : 0)) *bytes = (unsigned)FIRST << i;
  return ok;
}

/* Cycles of a second walk over `bytes` of constants, in steps of `line`. */
static bool const_walk(struct infer *f, bool ldc, unsigned bytes, unsigned line, int64_t *cycles, struct err *e)
{
  struct infer_text t = {0};
  struct window_result r;
  infer_add(&t, "NOP");
  for (unsigned round = 0; round < 2; round++) {
    for (unsigned i = 0; i < bytes; i += line) add_read(&t, ldc, i);
    infer_add(&t, " | 2*NOP | CLK");
  }
  bool ok = run_clocks(f, &t, CONST_BYTES, &r, e);
  infer_text_free(&t);
  *cycles = ok ? between(&r, 0, 1) : 0;
  return ok;
}

/* One constant in each of three states: new to the SM, in the cache, displaced from it by 8 KiB of others. */
static bool const_latency(struct infer *f, bool ldc, unsigned line, int64_t cycles[3], struct err *e)
{
  struct infer_text t = {0};
  struct window_result r;
  add_second_pass_only(&t);
  for (unsigned i = 0; i < 3; i++) {
    if (i == 2)
      for (unsigned k = CONST_BYTES / 2; k < 3 * CONST_BYTES / 4; k += line) add_read(&t, ldc, k);
    infer_add(&t, " | 16*" PAUSE " | CLK | NOP");
    add_read(&t, ldc, 0);
    infer_add(&t, " | NOP | CLK");
  }
  infer_add(&t, " | out: | NOP");
  bool ok = run_clocks(f, &t, CONST_BYTES, &r, e);
  infer_text_free(&t);
  for (unsigned i = 0; i < 3; i++) cycles[i] = ok ? between(&r, 2 * i, 2 * i + 1) : 0;
  return ok;
}

static bool const_cache(struct infer *f, bool ldc, struct err *e)
{
  const struct params *p = f->params;
  const char *name = ldc ? "L0 VL (LDC)" : "L0 FL (operands)";
  char text[64];
  unsigned line, fits = 0;
  int64_t few, cycles, latency[3];
  if (!const_line(f, ldc, &line, e)) return false;
  snprintf(text, sizeof text, "%s, line", name);
  infer_number(f, text, line, p->const_line, INFER_UNKNOWN, 0);
  if (!line) return true;
  if (!const_walk(f, ldc, 2 * line, line, &few, e) || !const_walk(f, ldc, 4 * line, line, &cycles, e)) return false;
  int64_t each = (cycles - few) / 2, rest = few - 2 * each;
  for (unsigned bytes = 4 * line; bytes <= 2 * CONST_LARGEST; bytes *= 2) {
    if (!const_walk(f, ldc, bytes, line, &cycles, e)) return false;
    if (cycles <= rest + each * (bytes / line) + CONST_MISS && fits * 2 == bytes * (fits != 0)) fits = bytes;
  }
  snprintf(text, sizeof text, "%s, bytes", name);
  infer_number(f, text, fits, ldc ? p->const_vl_bytes : p->const_fl_bytes, INFER_UNKNOWN, 0);
  if (!const_latency(f, ldc, line, latency, e)) return false;
  snprintf(text, sizeof text, "%s, miss that L1 has", name);
  infer_number(f, text, latency[2] - latency[1], p->l1i_latency, ldc ? INFER_UNKNOWN : 79, 1);
  snprintf(text, sizeof text, "%s, first access of all", name); /* that no cache has: DRAM's state says how long */
  infer_number(f, text, latency[0] - latency[1], INFER_UNKNOWN, INFER_UNKNOWN, 0);
  return true;
}

/* Two warps of one scheduler meet a constant that no cache has, in the second pass. The first one keeps the
 * scheduler for some cycles, then the second one gets there. */
static bool const_switch(struct infer *f, struct err *e)
{
  enum { WARPS = 8, SCHEDULERS = 4 };
  struct window_result r;
  struct window w = {.constants = CONST_BYTES, .warps = WARPS, .lanes = 32,
                     .code = "ISETP.NE.AND P0, PT, R42, 0x1, PT{S15 Y} | @P0 BRA out{S5} | 4*NOP{S15 Y} | CLK |"
                             " IADD3 R16, R4, c[0x3][0x2000], RZ | NOP | CLK | out: | NOP"};
  if (!infer_window(f, &w, &r, e)) return false;
  int32_t apart = (int32_t)(r.clock[SCHEDULERS][0] - r.clock[0][0]);
  infer_number(f, "constant miss, cycles until another warp issues", (apart < 0 ? -apart : apart) - 1,
               f->params->issue_const_miss_switch_cycles, 4, 0);
  return true;
}

bool infer_constants(struct infer *f, struct err *e)
{
  return const_cache(f, false, e) && const_cache(f, true, e) && const_switch(f, e);
}
