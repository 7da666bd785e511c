/* The source page: what each instruction, or each line of the source, took part in. */
#include "ncu/ncu_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "ncu/ncu_number.h"
#include "view/source_text.h"

/* Sums of one instruction, or of several. */
struct cost {
  uint64_t samples, issued, threads, requests, excess, sectors, local, passes, conflicts, shared;
  uint64_t state[WARP_STATE__N];
};

static void add(struct cost *c, const struct ncu_inst *in)
{
  for (unsigned k = 0; k < WARP_STATE__N; k++) {
    c->state[k] += in->state[k];
    c->samples += in->state[k];
  }
  c->issued += in->issued;
  c->threads += in->threads;
  if (in->global)
    c->sectors += in->sectors, c->excess += in->excess, c->requests += in->sectors ? in->issued : 0;
  else if (in->local)
    c->local += in->sectors;
  c->passes += in->passes;
  c->conflicts += in->conflicts;
  if (in->shared) c->shared += in->issued;
}

/* --- columns ------------------------------------------------------------------------------------ */

struct page_column {
  const char *label;
  double (*of)(const struct cost *, unsigned interval); /* NULL: not known here */
  bool ratio;
};

static double sampled(uint64_t cycles, unsigned interval)
{
  return floor((double)cycles / interval + 0.5);
}

static double quotient(uint64_t a, uint64_t b)
{
  return b ? (double)a / (double)b : 0;
}

#define OF(name, expression)                                                                                           \
  static double of_##name(const struct cost *c, unsigned interval)                                                     \
  {                                                                                                                    \
    (void)interval;                                                                                                    \
    return expression;                                                                                                 \
  }
OF(samples, sampled(c->samples, interval))
OF(issued, (double)c->issued)
OF(threads, (double)c->threads)
OF(lanes, quotient(c->threads, c->issued))
OF(requests, (double)c->requests)
OF(ways, quotient(c->passes, c->shared))
OF(conflicts, (double)c->conflicts)
OF(passes, (double)c->passes)
OF(ideal_passes, (double)(c->passes - c->conflicts))
OF(excess, (double)c->excess)
OF(sectors, (double)c->sectors)
OF(ideal_sectors, (double)(c->sectors - c->excess))
OF(local, (double)c->local)

/* In the order of Nsight Compute's section file of 2025; what stands behind Address and Source. */
static const struct page_column first_columns[] = {
    {"Warp Stall Sampling (All Samples)", of_samples, false},
    {"Warp Stall Sampling (Not-issued Samples)", NULL, false},
    {"# Samples", of_samples, false},
    {"Instructions Executed", of_issued, false},
    {"Thread Instructions Executed", NULL, false},
    {"Predicated-On Thread Instructions Executed", of_threads, false},
    {"Avg. Threads Executed", NULL, true},
    {"Avg. Predicated-On Threads Executed", of_lanes, true},
    {"Divergent Branches", NULL, false},
};
static const struct page_column last_columns[] = {
    {"L1 Tag Requests Global", of_requests, false},
    {"L1 Conflicts Shared N-Way", of_ways, true},
    {"L1 Wavefronts Shared Excessive", of_conflicts, false},
    {"L1 Wavefronts Shared", of_passes, false},
    {"L1 Wavefronts Shared Ideal", of_ideal_passes, false},
    {"L2 Theoretical Sectors Global Excessive", of_excess, false},
    {"L2 Theoretical Sectors Global", of_sectors, false},
    {"L2 Theoretical Sectors Global Ideal", of_ideal_sectors, false},
    {"L2 Theoretical Sectors Local", of_local, false},
};
enum { N_FIRST = sizeof first_columns / sizeof *first_columns, N_LAST = sizeof last_columns / sizeof *last_columns };

/* Reasons as they are called there, of one state of ours or of two; NONE: not known here. */
enum { NONE = WARP_STATE__N };
static const struct {
  const char *name;
  unsigned a, b;
} stalls[] = {
    {"stall_barrier", WS_BARRIER, NONE},
    {"stall_branch_resolving", WS_BRANCH_RESOLVING, NONE},
    {"stall_dispatch", WS_DISPATCH, NONE},
    {"stall_drain", WS_DRAIN, NONE},
    {"stall_imc", WS_IMC_MISS, NONE},
    {"stall_lg", WS_LG_THROTTLE, NONE},
    {"stall_long_sb", WS_LONG_SCOREBOARD, NONE},
    {"stall_math", WS_MATH_PIPE, NONE},
    {"stall_membar", WS_MEMBAR, NONE},
    {"stall_mio", WS_MIO_THROTTLE, NONE},
    {"stall_misc", WS_CONVERGE, WS_SERVICE},
    {"stall_no_inst", WS_NO_INSTRUCTION, NONE},
    {"stall_not_selected", WS_NOT_SELECTED, NONE},
    {"stall_selected", WS_SELECTED, NONE},
    {"stall_short_sb", WS_SHORT_SCOREBOARD, NONE},
    {"stall_sleep", WS_SLEEPING, NONE},
    {"stall_tex", NONE, NONE},
    {"stall_wait", WS_WAIT, NONE},
    {"stall_gmma", WS_GMMA, NONE},
};
enum { N_STALLS = sizeof stalls / sizeof *stalls };

static void put(FILE *f, double v, bool ratio, bool last)
{
  const struct ncu_number n = ncu_number(v, "", !ratio, false, false);
  ncu_csv_field(f, n.value, last);
}

/* What accesses of one instruction are; of several, or of none: empty. */
static void put_access(FILE *f, const struct ncu_inst *in)
{
  static const char *const ops[] = {"Load", "Store", "Atomic", "Reduction", "Load/Store", "Load", "Prefetch"};
  const bool is = in && (in->shared || in->global || in->local) && in->bytes;
  const char *space = !is                        ? ""
                      : in->shared && in->global ? "Generic"
                      : in->global               ? "Global"
                      : in->local                ? "Local"
                                                 : "Shared";
  char size[12] = "";
  if (is) snprintf(size, sizeof size, "%u", 8u * in->bytes);
  ncu_csv_field(f, space, false);
  ncu_csv_field(f, is && in->op < sizeof ops / sizeof *ops ? ops[in->op] : "", false);
  ncu_csv_field(f, size, false);
}

static double stalled(const struct cost *c, unsigned i, unsigned interval)
{
  if (stalls[i].a == NONE) return NAN;
  return sampled(c->state[stalls[i].a] + (stalls[i].b == NONE ? 0 : c->state[stalls[i].b]), interval);
}

static void put_columns(FILE *f, const struct cost *c, const struct ncu_inst *in, unsigned interval)
{
  for (unsigned i = 0; i < N_FIRST; i++)
    put(f, first_columns[i].of ? first_columns[i].of(c, interval) : (double)NAN, first_columns[i].ratio, false);
  put_access(f, in);
  for (unsigned i = 0; i < N_LAST; i++) put(f, last_columns[i].of(c, interval), last_columns[i].ratio, false);
  for (unsigned i = 0; i < N_STALLS; i++) put(f, stalled(c, i, interval), false, i + 1 == N_STALLS);
}

static void put_labels(FILE *f)
{
  static const char *const access[] = {"Address Space", "Access Operation", "Access Size"};
  for (unsigned i = 0; i < N_FIRST; i++) ncu_csv_field(f, first_columns[i].label, false);
  for (unsigned i = 0; i < 3; i++) ncu_csv_field(f, access[i], false);
  for (unsigned i = 0; i < N_LAST; i++) ncu_csv_field(f, last_columns[i].label, false);
  for (unsigned i = 0; i < N_STALLS; i++) ncu_csv_field(f, stalls[i].name, i + 1 == N_STALLS);
}

/* --- rows --------------------------------------------------------------------------------------- */

/* A table for people has the address, what costs and the instruction. */
static void table_row(FILE *f, const char *at, const char *text, const struct cost *c, unsigned interval)
{
  fprintf(f, "  %10s %12.0f %12llu %8.2f %8.2f %8.2f  %s\n", at, sampled(c->samples, interval),
          (unsigned long long)c->issued, quotient(c->threads, c->issued), quotient(c->sectors, c->requests),
          quotient(c->passes, c->shared), text);
}

static void table_head(FILE *f, const char *at)
{
  fprintf(f, "  %10s %12s %12s %8s %8s %8s  %s\n", at, "# Samples", "Instructions", "Threads", "Sect/Req", "N-Way",
          "Source");
}

static void sass_row(FILE *f, const struct ncu_layout *how, const struct ncu_inst *in, bool behind_line)
{
  struct cost c = {0};
  char at[24];
  add(&c, in);
  snprintf(at, sizeof at, "0x%08llx", (unsigned long long)in->pc);
  if (!how->csv) {
    table_row(f, at, in->text, &c, how->interval);
    return;
  }
  if (behind_line) fputs("\"\",\"\",", f);
  ncu_csv_field(f, at, false);
  ncu_csv_field(f, in->text, false);
  put_columns(f, &c, in, how->interval);
}

static void cuda_row(FILE *f, const struct ncu_layout *how, uint32_t line, const char *text, const struct cost *c)
{
  char at[24];
  snprintf(at, sizeof at, "%u", line);
  if (!how->csv) {
    table_row(f, at, text, c, how->interval);
    return;
  }
  ncu_csv_field(f, at, false);
  ncu_csv_field(f, text, false);
  if (how->source == NCU_SOURCE_CUDA_SASS) fputs("\"-\",\"-\",", f);
  put_columns(f, c, NULL, how->interval);
}

static void head(FILE *f, const struct ncu_layout *how, const char *key, const char *value)
{
  if (!how->csv) {
    fprintf(f, "  %s: %s\n", key, value);
    return;
  }
  ncu_csv_field(f, key, false);
  ncu_csv_field(f, value, true);
}

static void labels(FILE *f, const struct ncu_layout *how)
{
  const bool lines = how->source != NCU_SOURCE_SASS;
  if (!how->csv) {
    table_head(f, lines ? "Line No" : "Address");
    return;
  }
  if (lines) fputs("\"Line No\",\"Source\",", f);
  if (how->source != NCU_SOURCE_CUDA) fputs("\"Address\",\"Source\",", f);
  put_labels(f);
}

/* --- pages -------------------------------------------------------------------------------------- */

static void sass_page(FILE *f, const struct ncu_layout *how, const struct ncu_action *a)
{
  labels(f, how);
  for (uint32_t i = 0; i < a->n_insts; i++) {
    if (!how->csv && a->n_sections > 1 && (!i || a->inst[i].section != a->inst[i - 1].section))
      fprintf(f, "  %s:\n", a->section[a->inst[i].section]);
    sass_row(f, how, &a->inst[i], false);
  }
}

static int by_line(const void *x, const void *y)
{
  const struct ncu_inst *a = *(const struct ncu_inst *const *)x, *b = *(const struct ncu_inst *const *)y;
  if (a->line != b->line) return a->line < b->line ? -1 : 1;
  return (a > b) - (a < b);
}

/* Lines of one file, n instructions in their order. */
static void write_lines(FILE *f, const struct ncu_layout *how, const struct source_text *t,
                        const struct ncu_inst *const *in, size_t n)
{
  for (size_t i = 0, end; i < n; i = end) {
    struct cost c = {0};
    for (end = i; end < n && in[end]->line == in[i]->line; end++) add(&c, in[end]);
    cuda_row(f, how, in[i]->line, source_text_line(t, in[i]->line), &c);
    for (size_t k = i; how->source == NCU_SOURCE_CUDA_SASS && k < end; k++) sass_row(f, how, in[k], true);
  }
}

static void file_page(FILE *f, const struct ncu_layout *how, const struct ncu_action *a, uint32_t file,
                      const struct ncu_inst **in)
{
  const struct ncu_file *of = &a->file[file];
  size_t n = 0;
  for (uint32_t i = 0; i < a->n_insts; i++)
    if (a->inst[i].line && a->inst[i].file == file) in[n++] = &a->inst[i];
  if (!n) return;
  char path[8192];
  const bool whole = of->name[0] == '/' || !*of->folder;
  snprintf(path, sizeof path, "%s%s%s", whole ? "" : of->folder, whole ? "" : "/", of->name);
  head(f, how, "File Path", path);
  head(f, how, "Function Name", a->section[in[0]->section]);
  labels(f, how);
  qsort(in, n, sizeof *in, by_line);
  struct source_text t = source_text_read(of->folder, of->name);
  write_lines(f, how, &t, in, n);
  source_text_free(&t);
}

void ncu_source_page(FILE *f, const struct ncu_layout *how, const struct ncu_action *a, const char *kernel)
{
  head(f, how, "Kernel Name", kernel);
  if (how->source == NCU_SOURCE_SASS) {
    sass_page(f, how, a);
  } else {
    const struct ncu_inst **in = calloc(a->n_insts + 1, sizeof *in);
    NO_MEMORY_IF(!in);
    for (uint32_t i = 0; i < a->n_files; i++) file_page(f, how, a, i, in);
    free(in);
  }
  fputc('\n', f);
}
