#include "probe/window.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/host_memory.h"
#include "base/regular.h"
#include "load/asm_source.h"

/* Registers of the frame, above those windows use. */
enum { R_OUT = 40, R_COUNT = 42, R_TMP = 43, R_TID = 44, R_SEED = 46, R_CLOCK = 48 };
/* First register of R#. */
enum { R_REPEAT = 16 };
enum { MAX_REPEAT = 65536, MAX_DEPTH = 4 };
/* Instructions of a cache line. */
enum { LINE_INSTS = 8 };
/* Bytes of the result buffer per warp: clock reads, the value, then two lines to load from. */
enum { WARP_BYTES = 1024, VALUE_WORD = 31, LINE_A = 512, LINE_B = 768 };

/* ---- the window language ---- */

struct reader {
  const char *p;
  FILE *out;
  const struct bench_dialect *dialect;
  unsigned n_clocks;
  unsigned n_insts; /* of the program so far */
  struct err *e;
};

static const char *skip_blanks(const char *p)
{
  while (*p == ' ') p++;
  return p;
}

/* {S4 W2 B2 Y} -> [B2:W2:Y:S04]; *p behind it. */
static bool put_control(struct reader *r, const char **p)
{
  unsigned stall = 1;
  fputc('[', r->out);
  if (**p == '{') {
    for (++*p; **p != '}'; *p = skip_blanks(*p)) {
      char what = *(*p)++;
      if (what == 'S' && isdigit((unsigned char)**p))
        stall = (unsigned)strtoul(*p, (char **)p, 10);
      else if (what == 'Y')
        fputs("Y:", r->out);
      else if (strchr("WRB", what) && **p >= '0' && **p <= '5')
        fprintf(r->out, "%c%c:", what, *(*p)++);
      else
        return err_set(r->e, "%s: control information is {S4 Y W2 R1 B2}", r->p);
    }
    ++*p;
  }
  if (stall > 15) return err_set(r->e, "%s: stall counts go to 15", r->p);
  fprintf(r->out, "S%02u] ", stall);
  return true;
}

/* Carry outputs that sums have from sm_100 on: what to write before operand 2, "" for other instructions. */
static const char *carries(const struct bench_dialect *d, const char *text)
{
  if (!strncmp(text, "IADD3 ", 6)) return d->carries;
  if (!strncmp(text, "UIADD3 ", 7)) return d->uniform_carries;
  return "";
}

/* The text of one instruction, n characters; `repeat` stands for #. */
static void put_text(const struct reader *r, const char *text, size_t n, unsigned repeat)
{
  const char *missing = carries(r->dialect, text);
  for (size_t i = 0; i < n; i++) {
    if (text[i] == '#') {
      fprintf(r->out, "%u", R_REPEAT + 2 * repeat);
    } else if (text[i] == '[' && text[i + strcspn(text + i, ".]")] == '.') {
      size_t close = i + strcspn(text + i, ".");
      fprintf(r->out, "%s%.*s%s", r->dialect->descriptor, (int)(close - i), text + i,
              r->dialect->wide);
      i = close + 2; /* .64 */
    } else if (text[i] == ',' && missing[0]) {
      fprintf(r->out, ", %s", missing);
      missing = "";
    } else {
      fputc(text[i], r->out);
    }
  }
}

static bool put_clock(struct reader *r)
{
  if (r->n_clocks == WINDOW_MAX_CLOCKS)
    return err_set(r->e, "at most %d clock reads", WINDOW_MAX_CLOCKS);
  fprintf(r->out, "CS2R.32 R%u, SR_CLOCKLO", R_CLOCK + r->n_clocks++);
  return true;
}

static bool put_instruction(struct reader *r, const char *text, size_t n, const char *control,
                            unsigned repeat)
{
  if (text[n - 1] == ':') { /* a label */
    fprintf(r->out, "%.*s\n", (int)n, text);
    return true;
  }
  if (!put_control(r, &control)) return false;
  if (n != 3 || memcmp(text, "CLK", 3) != 0) put_text(r, text, n, repeat);
  else if (!put_clock(r)) return false;
  fputs(" ;\n", r->out);
  r->n_insts++;
  return true;
}

/* An instruction of the frame, in the notation of windows behind its control information. */
static void __attribute__((format(printf, 3, 4)))
put_frame(struct reader *r, const char *control, const char *format, ...)
{
  char text[128];
  va_list args;
  va_start(args, format);
  int n = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  BUG_ON(n < 0 || (size_t)n >= sizeof text);
  fprintf(r->out, "[%s] ", control);
  put_text(r, text, (size_t)n, 0);
  fputs(" ;\n", r->out);
  r->n_insts++;
}

static bool put_sequence(struct reader *r, unsigned depth);

/* ( … ) at r->p, `times` times; r->p behind it. */
static bool put_group(struct reader *r, unsigned long times, unsigned depth)
{
  const char *first = ++r->p;
  for (unsigned long i = 0; i < times; i++) {
    r->p = first;
    if (!put_sequence(r, depth + 1)) return false;
    if (*r->p != ')') return err_set(r->e, "the group '(%s' is not closed", first);
  }
  r->p++;
  return true;
}

/* One element, up to |, ) or the end. */
static bool put_element(struct reader *r, unsigned depth)
{
  unsigned long times = 1;
  char *star;
  const char *text = r->p;
  if (isdigit((unsigned char)*text) && (times = strtoul(text, &star, 10), *star == '*'))
    text = star + 1;
  if (times < 1 || times > MAX_REPEAT)
    return err_set(r->e, "'%s': repeat 1 to %d times", r->p, MAX_REPEAT);
  r->p = text;
  if (*text == '(' && depth < MAX_DEPTH) return put_group(r, times, depth);
  size_t n = strcspn(text, "{|)");
  const char *control = text + n;
  while (n && text[n - 1] == ' ') n--;
  if (!n) return err_set(r->e, "an instruction is missing at '%s'", r->p);
  for (unsigned i = 0; i < times; i++)
    if (!put_instruction(r, text, n, control, i)) return false;
  r->p = text + strcspn(text, "|)");
  return true;
}

/* Elements between bars, up to ) or the end. */
static bool put_sequence(struct reader *r, unsigned depth)
{
  for (;;) {
    r->p = skip_blanks(r->p);
    if (!put_element(r, depth)) return false;
    r->p = skip_blanks(r->p);
    if (*r->p != '|') return true;
    r->p++;
  }
}

static bool put_window(struct reader *r, unsigned from)
{
  if (!put_sequence(r, 0)) return false;
  if (*r->p) return err_set(r->e, "'%s' was not expected", r->p);
  return r->n_clocks >= from + 2 ||
         err_set(r->e, "a window has at least two clock reads (CLK), and two from `from` on");
}

/* ---- the program around it ---- */

static void put_prologue(struct reader *r, unsigned sm, unsigned constants)
{
  const struct bench_dialect *d = r->dialect;
  fprintf(r->out, ".target sm_%u\n", sm);
  if (constants) fprintf(r->out, ".section .nv.constant3, align 256\n.zero %u\n", constants);
  fputs(".kernel probe\n.param 8\n.shared 8192\n", r->out);
  put_frame(r, "W0:S02", "S2R R%u, SR_TID.X", R_TID);
  put_frame(r, "B0:S05", "SHF.R.U32.HI R%u, RZ, 0x5, R%u", R_TMP, R_TID);
  if (d->load_descriptor[0]) fprintf(r->out, "%s\n", d->load_descriptor), r->n_insts++;
  put_frame(r, "S05", "MOV R%u, 0x%x", R_COUNT, WARP_BYTES);
  put_frame(r, "B0:Y:S12", "IMAD.WIDE.U32 R%u, R%u, R%u, c[0x0][0x%x]", R_OUT, R_TMP, R_COUNT, d->param);
  /* Both lines are in L2, none in L1, when the windows come to them. */
  for (int line = LINE_A; line <= LINE_B; line += LINE_B - LINE_A)
    put_frame(r, "B0:W0:S04", "LDG.E%s R%u, [R%u.64+0x%x]",
              d->scope[0] ? ".STRONG.SYS" : ".STRONG.GPU", R_TMP, R_OUT, line);
  put_frame(r, "B0:S05", "IADD3 R%u, R%u, 0x%x, RZ", R_SEED, R_OUT, LINE_A);
  put_frame(r, "S05", "MOV R%u, 0x2", R_COUNT);
  fputs("again:\n", r->out);
}

static uint32_t fp32_bits(float f)
{
  uint32_t u;
  memcpy(&u, &f, sizeof u);
  return u;
}

/* The same state for both passes, and nothing outstanding; the window begins with an instruction line. */
static void put_pass(struct reader *r, unsigned warps)
{
  for (unsigned i = 4; i < 12; i++)
    put_frame(r, "S05", "MOV R%u, 0x%x", i, fp32_bits((float)i - 3));
  put_frame(r, "S05", "MOV R%u, RZ", WINDOW_RESULT);
  put_frame(r, "S05", "MOV R14, 0x40");
  put_frame(r, "S05", "MOV R2, R%u", R_SEED);
  put_frame(r, "S05", "MOV R3, R%u", R_OUT + 1);
  put_frame(r, "S05", "IADD3 R%u, R%u, 0x%x, RZ", R_SEED, R_SEED, LINE_B - LINE_A);
  /* The same two addresses in uniform registers. */
  if (r->dialect->uniform) {
    put_frame(r, "Y:S15", "R2UR UR8, R2");
    put_frame(r, "Y:S15", "R2UR UR9, R3");
    put_frame(r, "Y:S15", "R2UR UR10, R14");
  }
  if (warps > 1) put_frame(r, "S06", "BAR.SYNC.DEFER_BLOCKING 0x0");
  do put_frame(r, "Y:S15", "NOP");
  while (r->n_insts % LINE_INSTS);
}

static void put_epilogue(struct reader *r)
{
  const struct bench_dialect *d = r->dialect;
  put_frame(r, "Y:S15", "NOP");
  put_frame(r, "B012345:Y:S15", "NOP");
  put_frame(r, "S05", "IADD3 R%u, R%u, -0x1, RZ", R_COUNT, R_COUNT);
  put_frame(r, "Y:S13", "ISETP.NE.AND P6, PT, R%u, RZ, PT", R_COUNT);
  put_frame(r, "S05", "@P6 BRA again");
  for (unsigned i = 0; i < r->n_clocks; i++)
    put_frame(r, "S02", "STG.E%s [R%u.64+0x%x], R%u", d->scope, R_OUT, 4 * i, R_CLOCK + i);
  put_frame(r, "S02", "STG.E%s [R%u.64+0x%x], R%u", d->scope, R_OUT, 4 * VALUE_WORD, WINDOW_RESULT);
  put_frame(r, "S05", "EXIT");
}

static bool put_program(struct reader *r, unsigned sm, const struct window *w)
{
  put_prologue(r, sm, w->constants);
  put_pass(r, w->warps);
  if (!put_window(r, w->from)) return false;
  put_epilogue(r);
  return true;
}

char *window_program(const struct window *w, unsigned sm, struct err *e)
{
  struct reader r = {.p = w->code, .dialect = bench_dialect(sm, e), .e = e};
  char *text = NULL;
  size_t bytes;
  if (!r.dialect) return NULL;
  NO_MEMORY_IF(!(r.out = open_memstream(&text, &bytes)));
  bool ok = put_program(&r, sm, w);
  fclose(r.out);
  if (ok) return text;
  free(text);
  return NULL;
}

bool window_assembles(const char *code, unsigned sm)
{
  struct err e = {0};
  struct arena a = {0};
  size_t bytes;
  char text[512];
  snprintf(text, sizeof text, "CLK | %s | CLK", code);
  struct window w = {.code = text, .warps = 1, .lanes = 32};
  char *program = window_program(&w, sm, &e);
  bool ok = program && asm_source_assemble(&a, program, strlen(program), "probe", NULL, &bytes, &e);
  arena_free(&a);
  free(program);
  return ok;
}

size_t window_result_bytes(const struct window *w)
{
  return (size_t)w->warps * WARP_BYTES;
}

unsigned window_threads(const struct window *w)
{
  return 32 * (w->warps - 1) + w->lanes;
}

/* Clock reads in the code, groups and repetitions unfolded: as many as the program stores. */
static unsigned count_clocks(const char *program)
{
  unsigned n = 0;
  for (const char *p = program; (p = strstr(p, "SR_CLOCKLO")) != NULL; p++) n++;
  return n;
}

static void take_words(const struct window *w, const char *program, const uint32_t *out,
                       struct window_result *res)
{
  res->n_clocks = count_clocks(program);
  for (unsigned k = 0; k < w->warps; k++) {
    const uint32_t *words = &out[k * WARP_BYTES / 4];
    memcpy(res->clock[k], words, res->n_clocks * sizeof *words);
    res->value[k] = words[VALUE_WORD];
  }
}

static bool run_program(struct bench *b, const struct window *w, const char *text,
                        enum sim_hazards hazards, struct window_result *res, struct err *e)
{
  uint32_t out[WINDOW_MAX_WARPS * WARP_BYTES / 4];
  if (!bench_run(b, text, 1, window_threads(w), out, window_result_bytes(w) / sizeof *out, hazards,
                 &res->stale, e))
    return false;
  take_words(w, text, out, res);
  return true;
}

bool window_run(struct bench *b, const struct window *w, struct window_result *res, struct err *e)
{
  char *text = window_program(w, bench_params(b)->arch_sm, e);
  if (!text) return false;
  bool ok = run_program(b, w, text, w->has_stale ? SIM_HAZARDS_CHECK : SIM_HAZARDS_OFF, res, e);
  if (ok && (w->has_value || w->has_wrong)) { /* what silicon computes; its cycles are the same */
    struct window_result silicon;
    ok = run_program(b, w, text, SIM_HAZARDS_EMULATE, &silicon, e);
    res->wrong = silicon.value[0] != res->value[0];
    memcpy(res->value, silicon.value, sizeof res->value);
  }
  free(text);
  return ok;
}

bool window_read(const struct window *w, unsigned sm, const char *path, struct window_result *res,
                 struct err *e)
{
  uint32_t out[WINDOW_MAX_WARPS * WARP_BYTES / 4 + 1];
  char *text = window_program(w, sm, e);
  FILE *f = text && file_is_regular(path, e) ? fopen(path, "rb") : NULL;
  size_t bytes = f ? fread(out, 1, sizeof out, f) : 0;
  bool ok = f && bytes == window_result_bytes(w);
  if (ok) take_words(w, text, out, res);
  else if (f) err_set(e, "%s: not the results of this program", path);
  if (f) fclose(f);
  free(text);
  return ok;
}

static int64_t cell_cycles(const struct window *w, const struct window_result *r, unsigned i)
{
  const struct window_cell *c = &w->cell[i];
  uint32_t start = r->clock[c->warp][w->from];
  for (unsigned k = 0; w->common && k < w->warps; k++)
    if ((int32_t)(r->clock[k][w->from] - start) < 0) start = r->clock[k][w->from];
  unsigned last = c->clock == WINDOW_LAST_CLOCK ? r->n_clocks - 1 : (unsigned)c->clock;
  return (int64_t)(r->clock[c->warp][last] - start);
}

/* The window of the warp that came to it first. */
static int64_t first_cycles(const struct window *w, const struct window_result *r)
{
  unsigned first = 0;
  for (unsigned k = 1; k < w->warps; k++)
    if ((int32_t)(r->clock[k][w->from] - r->clock[first][w->from]) < 0) first = k;
  return (int32_t)(r->clock[first][r->n_clocks - 1] - r->clock[first][w->from]);
}

static int by_value(const void *a, const void *b)
{
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

void window_cycles(const struct window *w, const struct window_result *r, int64_t *cycles)
{
  for (unsigned i = 0; i < w->n_cells; i++) cycles[i] = cell_cycles(w, r, i);
  if (w->first) cycles[0] = first_cycles(w, r);
  if (w->ascending) qsort(cycles, w->n_cells, sizeof *cycles, by_value);
}
