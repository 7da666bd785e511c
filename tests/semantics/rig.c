/* Words to launches, warps through the step source, results against the reference. */
#include <stdio.h>

#include "base/gmem.h"
#include "base/host_memory.h"
#include "func/sass/func_launch.h"
#include "sem.h"

enum {
  RIG_BASE = 0x10000,
  WORDS = 400,
  MOST_TRIES = 40000,
  SHOWN_FAILURES = 3,
  LEVELS = 3,
  MOST_WORDS = 4096
};

static const unsigned level_number[LEVELS] = {1, 3, 4};

/* Code of one row, form and target, prepared on every level. */
struct program {
  unsigned sm, n, n_levels;
  struct sass_inst *sass;
  struct inst *inst;
  struct func_launch *l[LEVELS];
  struct func_warp *w[LEVELS];
  bool *runs; /* the word has a handler */
  struct gmem *mem;
};

struct rig {
  struct rng rng;
  unsigned long sets;
  struct tally *tally;
  uint8_t bank[N_BANK][CONST_BYTES];
  struct state st, expected, got;
  struct ref_in in;
  struct ref_out out;
  unsigned shown; /* failures of this row and form */
};

/* ---- programs -------------------------------------------------------------------------------- */

static struct func_launch *launch(const struct program *p, const struct rig *g, unsigned level)
{
  struct err e = {0};
  struct func_params f = {.sm = p->sm,
                          .code = {.base = RIG_BASE, .end = RIG_BASE + 16 * p->n, .shift = 4, .inst = p->inst,
                                   .decoded = p->sass},
                          .entry_pc = RIG_BASE,
                          .grid = {1, 1, 1},
                          .block = {SEM_LANES, 1, 1},
                          .regs_per_thread = N_REGS,
                          .shared_static = 1024,
                          .image = p->mem,
                          .n_workers = 1,
                          .slots_per_worker = 1,
                          .kernel_name = "semantics",
                          .host_level = level};
  for (unsigned b = 0; b < N_BANK; b++) f.bank[b] = g->bank[b], f.bank_bytes[b] = CONST_BYTES;
  struct func_launch *l = func_launch_new(&f, &e);
  if (!l) {
    fprintf(stderr, "%s\n", e.msg);
    abort();
  }
  return l;
}

/* A word that decodes to the row but has no handler faults when it executes. */
static bool has_handler(struct program *p, unsigned i)
{
  struct effect e = {0};
  struct mem_effect me;
  struct fault f = {0};
  struct func_warp *w = p->w[0];
  e.mem = &me;
  const struct uop *u = &p->l[0]->uop[i];
  if (u->flags & UOP_CONTROL) return false;
  w->step.paths.p[0].pc = RIG_BASE + 16 * i;
  w->step.paths.p[0].mask = UINT32_MAX;
  memset(w->pred, 0xff, sizeof w->pred);
  if (p->sass[i].guard.neg) memset(w->pred, 0, 7 * 4), memset(w->pred + 8, 0, 7 * 4);
  if (p->sass[i].guard.neg && p->sass[i].guard.index == 7) return false; /* never executes */
  return w->step.ops->step(&w->step, 0, &e, &f);
}

static void program_free(struct program *p)
{
  for (unsigned k = 0; k < p->n_levels; k++) func_launch_free(p->l[k]);
  if (p->mem) gmem_free(p->mem);
  free(p->sass), free(p->inst), free(p->runs);
}

static bool program_new(struct program *p, struct rig *g, const struct sass_row *row, unsigned form,
                        unsigned sm)
{
  const unsigned all = gen_combinations(row);
  const unsigned want = all > WORDS ? all : WORDS;
  struct err e;
  *p = (struct program){.sm = sm};
  p->sass = calloc(want, sizeof *p->sass);
  p->inst = calloc(want, sizeof *p->inst);
  p->runs = calloc(want, sizeof *p->runs);
  for (unsigned tries = 0; p->n < want && tries < MOST_TRIES; tries++) {
    struct word128 w;
    if (!gen_word(&g->rng, row, form, sm, tries % all, &w)) continue;
    sass_decode(sm, w, RIG_BASE + 16 * p->n, &p->sass[p->n], &p->inst[p->n], &e);
    p->n++;
  }
  if (!p->n) return false;
  p->mem = gmem_new(16);
  for (unsigned k = 0; k < LEVELS; k++) {
    if (!sem_select(level_number[k])) continue;
    p->l[p->n_levels] = launch(p, g, level_number[k]);
    struct step_source *s = func_source(p->l[p->n_levels]);
    p->w[p->n_levels++] = ((struct func_cta *)s->ops->cta_begin(s, 0, 0, 0, 0))->warps;
  }
  unsigned legal = 0;
  for (unsigned i = 0; i < p->n; i++) legal += p->runs[i] = has_handler(p, i);
  return legal;
}

/* ---- one warp -------------------------------------------------------------------------------- */

static uint32_t predicate(const struct state *st, const struct sass_pred *p)
{
  uint32_t v = st->pred[p->index + (p->uniform ? 8 : 0)];
  return p->neg ? ~v : v;
}

/* A constant is the upper word of a 64-bit number: FP64, and integers of 64 bits that are converted (compiler output, CUDA 13.0:
 * 0x500000000 is written as 0x5). */
static bool takes_upper_word(const struct sass_inst *s, unsigned sem, unsigned k)
{
  enum { SIZE_64 = 3 };
  return gen_kind(s, sem, k) == VAL_F64 || sass_get(s, FLD_CVT_SRC_ISIZE) == SIZE_64;
}

static void read_source(struct rig *g, const struct sass_inst *s, unsigned k, bool upper)
{
  const struct sass_src *src = &s->src[k];
  uint32_t(*to)[SEM_LANES] = g->in.src[k];
  uint32_t v[2] = {0, 0};
  memset(to, 0, sizeof g->in.src[k]);
  if (src->kind == SRC_REG && src->index < N_REGS) {
    unsigned n = N_REGS - src->index < REF_ROWS ? N_REGS - src->index : REF_ROWS;
    memcpy(to, g->st.reg[src->index], n * sizeof *to);
  } else if (src->kind == SRC_UREG && src->index < N_UREG) {
    unsigned n = N_UREG - src->index < REF_ROWS ? N_UREG - src->index : REF_ROWS;
    memcpy(to, g->st.ureg[src->index], n * sizeof *to);
  } else if (src->kind == SRC_IMM) {
    v[0] = upper ? 0 : src->imm, v[1] = upper ? src->imm : src->imm_hi;
  } else if (src->kind == SRC_CONST) {
    memcpy(v, g->bank[src->bank] + src->imm, src->imm + 8 <= CONST_BYTES ? 8 : 4);
  }
  if (src->kind != SRC_IMM && src->kind != SRC_CONST) return;
  for (unsigned i = 0; i < SEM_LANES; i++) to[0][i] = v[0], to[1][i] = v[1];
}

void other_paths(struct rng *r, struct state *st, uint32_t active)
{
  for (unsigned i = 0; i < SEM_LANES; i++)
    for (unsigned n = 0; n < N_UREG && !lane_of(active, i); n++) st->ureg[n][i] = rnd(r);
  for (unsigned k = 8; k < 15; k++) st->pred[k] = (st->pred[k] & active) | (rnd(r) & ~active);
}

static void fill(struct rig *g, const struct sass_inst *s, unsigned sem)
{
  struct rng *r = &g->rng;
  uint32_t active;
  gen_sources(r, s, sem, &g->st);
  for (unsigned k = 0; k < 7; k++) {
    g->st.pred[k] = rnd(r);
    g->st.pred[8 + k] = rnd(r) & 1 ? UINT32_MAX : 0;
  }
  g->st.pred[7] = g->st.pred[15] = UINT32_MAX;
  do active = below(r, 2) ? UINT32_MAX : rnd(r);
  while (!active);
  other_paths(r, &g->st, active);
  g->in.s = s, g->in.sem = sem, g->in.before = &g->st;
  for (unsigned k = 0; k < 3; k++) read_source(g, s, k, takes_upper_word(s, sem, k));
  g->in.pp = predicate(&g->st, &s->pp);
  g->in.pq = predicate(&g->st, &s->pq);
  g->in.pr = predicate(&g->st, &s->pr);
  g->in.active = active;
  g->in.exec = active & predicate(&g->st, &s->guard);
}

static unsigned first_of_path(const struct rig *g)
{
  return (unsigned)__builtin_ctz(g->in.active);
}

static void put_pred(struct rig *g, unsigned p, bool whole, uint32_t exec, uint32_t v)
{
  uint32_t *to = &g->expected.pred[p + (whole ? 8 : 0)];
  if (p == SASS_PT) return;
  if (whole) exec = g->in.active, v = lane_of(v, first_of_path(g)) ? UINT32_MAX : 0;
  *to = (*to & ~exec) | (v & exec);
}

/* The reference's result applied to the state before. */
static void expect(struct rig *g, const struct sass_inst *s)
{
  const struct ref_out *o = &g->out;
  const bool whole = s->pu_uniform;
  g->expected = g->st;
  if (!g->in.exec) return;
  for (unsigned n = 0; n < o->rows; n++)
    for (unsigned i = 0; i < SEM_LANES; i++) {
      if (s->udst != SASS_URZ && lane_of(g->in.active, i)) g->expected.ureg[s->udst + n][i] = o->d[n][first_of_path(g)];
      if (s->dst != SASS_RZ && lane_of(o->exec, i)) g->expected.reg[s->dst + n][i] = o->d[n][i];
    }
  put_pred(g, s->pu, whole, o->exec, o->pu);
  if (!o->no_pv) put_pred(g, s->pv, whole, o->exec, o->pv);
  for (unsigned k = 0; k < 7; k++)
    if (!whole || lane_of(o->pred_write[k], first_of_path(g)))
      put_pred(g, k, whole, o->pred_write[k] & o->exec, o->pred_value[k]);
}

static double as_number(uint32_t v, unsigned format)
{
  float f;
  double d;
  uint64_t v64 = (uint64_t)v << 32;
  if (format == AS_F64_HIGH) return memcpy(&d, &v64, 8), d;
  if (format == AS_BF16) v <<= 16;
  if (format == AS_F16) {
    int e = v >> 10 & 31;
    double m = (v & 1023) + (e ? 1024 : 0);
    double x = e == 31 ? (v & 1023 ? __builtin_nan("") : __builtin_inf())
                       : __builtin_ldexp(m, (e ? e : 1) - 25);
    return v >> 15 ? -x : x;
  }
  memcpy(&f, &v, 4);
  return f;
}

/* Results known within bounds, and FP64 NaN, take the simulator's bits where acceptable. */
static void accept(struct rig *g, const struct sass_inst *s)
{
  const struct ref_out *o = &g->out;
  if (o->pu_any && s->pu != SASS_PT) {
    uint32_t *e = &g->expected.pred[s->pu];
    *e = (*e & ~o->pu_any) | (g->got.pred[s->pu] & o->pu_any);
  }
  if (s->dst == SASS_RZ) return;
  for (unsigned i = 0; i < SEM_LANES; i++) {
    if (!lane_of(o->exec & g->in.exec, i)) continue;
    uint32_t *e = &g->expected.reg[s->dst][i], got = g->got.reg[s->dst][i];
    if (o->bounded && o->lo[i] <= o->hi[i]) {
      double x = as_number(got, o->bound_format);
      if (x >= o->lo[i] && x <= o->hi[i]) *e = got;
    }
    for (unsigned n = 0; o->any_nan64 && n + 1 < o->rows; n += 2) {
      uint32_t *hi = &g->expected.reg[s->dst + n + 1][i], *lo = &g->expected.reg[s->dst + n][i];
      uint32_t got_hi = g->got.reg[s->dst + n + 1][i];
      bool nan = (*hi & 0x7fffffff) > 0x7ff00000 || ((*hi & 0x7fffffff) == 0x7ff00000 && *lo);
      if (nan && (got_hi & 0x7ff80000) == 0x7ff80000) *hi = got_hi, *lo = g->got.reg[s->dst + n][i];
    }
  }
}

static void show_words(const char *what, const struct rig *g, unsigned k, unsigned lane)
{
  fprintf(stderr, " %s", what);
  for (unsigned n = g->out.rows > 2 ? 4 : 2; n-- > 0;)
    fprintf(stderr, " %08x", g->in.src[k][n][lane]);
}

/* First difference: the instruction, its operands, what was expected and what came. */
static void report(struct rig *g, const struct program *p, unsigned i, unsigned level)
{
  char text[200];
  const struct sass_inst *s = &p->sass[i];
  if (g->shown++ >= SHOWN_FAILURES) return;
  sass_print(s, &p->inst[i], false, text, sizeof text);
  fprintf(stderr, "sm_%u %016llx %016llx %s\n", p->sm, (unsigned long long)s->word.hi,
          (unsigned long long)s->word.lo, text);
  const uint32_t *e = (const uint32_t *)&g->expected, *x = (const uint32_t *)&g->got;
  for (size_t k = 0; k < sizeof g->got / 4; k++) {
    if (e[k] == x[k]) continue;
    const size_t n = k / SEM_LANES, lane = k % SEM_LANES;
    if (n >= N_REGS + N_UREG) {
      size_t pr = k - (N_REGS + N_UREG) * SEM_LANES;
      unsigned bit = (unsigned)__builtin_ctz(e[k] ^ x[k]);
      fprintf(stderr, "  v%u, lane %u: %s%zu expected %u, got %u;", level, bit, pr < 8 ? "P" : "UP",
              pr % 8, e[k] >> bit & 1, x[k] >> bit & 1);
      for (unsigned src = 0; src < 3; src++) show_words(&"a\0b\0c"[2 * src], g, src, bit);
      fprintf(stderr, " Pp %u Pq %u Pr %u\n", g->in.pp >> bit & 1, g->in.pq >> bit & 1,
              g->in.pr >> bit & 1);
      return;
    }
    fprintf(stderr, "  v%u, lane %zu (%s): %s%zu expected %08x, got %08x;", level, lane,
            lane_of(g->in.exec, (unsigned)lane) ? "executes" : "does not execute",
            n < N_REGS ? "R" : "UR", n < N_REGS ? n : n - N_REGS, e[k], x[k]);
    for (unsigned src = 0; src < 3; src++) show_words(&"a\0b\0c"[2 * src], g, src, (unsigned)lane);
    fprintf(stderr, " Pp %u Pq %u\n", g->in.pp >> lane & 1, g->in.pq >> lane & 1);
    if (g->out.bounded && g->out.lo[lane] <= g->out.hi[lane])
      fprintf(stderr, "  expected %a to %a, got %a\n", g->out.lo[lane], g->out.hi[lane],
              as_number(x[k], g->out.bound_format));
    return;
  }
}

static bool run_warp(struct rig *g, const struct program *p, unsigned i, unsigned k)
{
  struct func_warp *w = p->w[k];
  struct effect e = {0};
  struct mem_effect me;
  struct fault f = {0};
  e.mem = &me;
  memcpy(w->base[BASE_REG], g->st.reg, sizeof g->st.reg);
  memcpy(w->base[BASE_UREG], g->st.ureg, sizeof g->st.ureg);
  memcpy(w->pred, g->st.pred, sizeof w->pred);
  w->step.paths.p[0].pc = RIG_BASE + 16 * i;
  w->step.paths.p[0].mask = g->in.active;
  if (!w->step.ops->step(&w->step, 0, &e, &f)) {
    if (g->shown++ < SHOWN_FAILURES) fprintf(stderr, "fault: %s\n", f.text);
    return false;
  }
  memcpy(g->got.reg, w->base[BASE_REG], sizeof g->st.reg);
  memcpy(g->got.ureg, w->base[BASE_UREG], sizeof g->st.ureg);
  memcpy(g->got.pred, w->pred, sizeof w->pred);
  return true;
}

/* One operand set per lane. False: the reference has no rule for the word. */
static bool one_warp(struct rig *g, const struct program *p, unsigned i, unsigned sem, ref_fn *ref)
{
  const struct sass_inst *s = &p->sass[i];
  fill(g, s, sem);
  g->in.sm = p->sm;
  memset(&g->out.pu, 0, sizeof g->out - offsetof(struct ref_out, pu));
  g->out.rows = 0;
  g->out.exec = g->in.exec;
  if (!ref(&g->in, &g->out)) return false;
  expect(g, s);
  for (unsigned k = 0; k < p->n_levels; k++) {
    bool ok = run_warp(g, p, i, k);
    if (ok && k == 0) accept(g, s); /* the other levels must then have the same bits */
    if (ok && memcmp(&g->expected, &g->got, sizeof g->got) == 0) continue;
    g->tally->failures++;
    if (ok) report(g, p, i, level_number[k]);
    break;
  }
  g->tally->sets += (unsigned)__builtin_popcount(g->in.exec);
  return true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const unsigned targets[] = {70, 75, 80, 86, 89, 90, 100, 103, 110, 120, 121};
enum { N_TARGETS = sizeof targets / sizeof *targets };

/* Targets of a row on which it is run: the first and the last, all where the arithmetic differs. */
static bool runs_on(const struct sass_row *row, unsigned form, unsigned sem, unsigned t)
{
  unsigned first = 0, last = N_TARGETS - 1;
  while (!(row_forms(row, targets[first]) >> form & 1)) first++;
  while (targets[last] > row->sm_max) last--;
  if (t < first || t > last) return false;
  bool differs = sem == SEM_HMMA || sem == SEM_HMMA_884 || sem == SEM_QMMA || sem == SEM_MUFU;
  return t == first || t == last || (differs && targets[t] != 103 && targets[t] != 110);
}

static unsigned long run_form(struct rig *g, const struct sass_row *row, unsigned form, unsigned sm,
                              unsigned long sets)
{
  struct program p;
  const unsigned sem = ref_vector_sem(row->sem);
  ref_fn *ref = ref_of(sem);
  const uint64_t before = g->tally->sets;
  unsigned unknown = 0, legal = 0;
  if (program_new(&p, g, row, form, sm)) {
    for (unsigned i = 0; i < p.n; i++) legal += p.runs[i];
    for (unsigned i = 0; g->tally->sets - before < sets && unknown < 2 * p.n; i = (i + 1) % p.n)
      if (p.runs[i] && !one_warp(g, &p, i, sem, ref))
        unknown++;
      else if (!p.runs[i])
        unknown += legal == 0;
    g->tally->words += legal;
  }
  if (unknown)
    fprintf(stderr, "# %s sm_%u form %u: %u words without a rule\n", row->name, sm, form, unknown);
  program_free(&p);
  return g->tally->sets - before;
}

static void run_row(struct rig *g, const struct sass_row *row)
{
  const unsigned before = g->tally->failures, forms = g->tally->forms;
  for (unsigned form = 0; form < 16; form++) {
    unsigned n = 0;
    uint64_t done = 0;
    g->shown = 0;
    if (!(row->forms >> form & 1)) continue;
    for (unsigned t = 0; t < N_TARGETS; t++) n += runs_on(row, form, ref_vector_sem(row->sem), t);
    for (unsigned t = 0; t < N_TARGETS; t++)
      if (runs_on(row, form, ref_vector_sem(row->sem), t))
        done += run_form(g, row, form, targets[t], g->sets / n + 1);
    if (done)
      g->tally->forms++;
    else
      g->tally->refused++, printf("# not executed: %s, form %u\n", row->name, form);
  }
  if (g->tally->forms > forms) g->tally->rows++;
  if (g->tally->failures > before)
    fprintf(stderr, "%s: %u warps differ\n", row->name, g->tally->failures - before);
}

void rig_all(bool (*wanted)(unsigned sem), unsigned long sets, struct tally *t)
{
  struct rig *g = calloc(1, sizeof *g);
  const char *only = getenv("SEMANTICS_ONLY");
  g->sets = sets, g->tally = t;
  for (unsigned i = 0; i < sass_n_rows; i++) {
    const struct sass_row *row = &sass_rows[i];
    if (!wanted(ref_vector_sem(row->sem)) || !ref_of(ref_vector_sem(row->sem))) continue;
    if (only && strcmp(only, row->name) != 0) continue;
    g->rng.x = 0x853c49e6748fea9bull + i; /* each row alone gives the same as all */
    for (unsigned b = 0; b < N_BANK; b++)
      for (unsigned k = 0; k < CONST_BYTES; k += 4) {
        uint32_t v = gen_value(&g->rng, below(&g->rng, VAL_F8));
        memcpy(g->bank[b] + k, &v, 4);
      }
    run_row(g, row);
  }
  free(g);
}
