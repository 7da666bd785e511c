/* Memory instructions on random addresses and data: see rig.c, whose programs these are with
 * memory. The handlers of memory are compiled for one x86-64 level only.
 */
#include <stdio.h>

#include "base/gmem_view.h"
#include "base/host_memory.h"
#include "func/sass/func_launch.h"
#include "mem_rig.h"

enum { RIG_BASE = 0x10000, WORDS = 256, MOST_TRIES = 20000, SHOWN_FAILURES = 3, MOST_MISSES = 20 };

struct mem_rig {
  struct rng rng;
  struct tally *tally;
  uint8_t bank[N_BANK][CONST_BYTES];
  struct mem_state st, expected, got;
  unsigned n, shown;
  struct sass_inst sass[WORDS];
  struct inst inst[WORDS];
  struct gmem *mem;
  uint64_t base; /* of the global buffer */
  struct func_launch *l;
  struct func_warp *w;
};

/* ---- programs -------------------------------------------------------------------------------- */

/* What the compiler always writes, and operands for which an address can be made. */
static bool usable(const struct sass_inst *s, const struct inst *t)
{
  const struct mem_form f = mem_form(s);
  if (!mem_bytes(s)) return false;
  if (sass_has(s, FLD_MEM_E) && !sass_get(s, FLD_MEM_E)) return false;
  if (f.wide && !f.wide_a && !f.ur) return false; /* neither base is 64 bits wide */
  if (s->sem == SEM_ULDC) return true;
  if (s->src[0].kind != SRC_REG || s->src[0].index == SASS_RZ || s->src[0].index + 1 >= N_REGS)
    return false;
  if (f.wide_a && s->src[0].index % 2) return false;
  if (s->sem == SEM_LDGSTS && (s->src[1].kind != SRC_REG || s->src[1].index == SASS_RZ)) return false;
  if (s->sem == SEM_LDGSTS && (s->src[1].index | 1) == (s->src[0].index | 1)) return false;
  (void)t;
  return true;
}

static void program_new(struct mem_rig *g, const struct sass_row *row, unsigned form, unsigned sm)
{
  const unsigned all = gen_combinations(row);
  struct err e = {0};
  g->n = 0;
  for (unsigned tries = 0; g->n < WORDS && tries < MOST_TRIES; tries++) {
    struct word128 w;
    unsigned combo = all > WORDS ? below(&g->rng, all) : tries % all;
    if (!gen_word(&g->rng, row, form, sm, combo, &w)) continue;
    sass_decode(sm, w, RIG_BASE + 16 * g->n, &g->sass[g->n], &g->inst[g->n], &e);
    if (sass_has(&g->sass[g->n], FLD_LDS_STRIDE)) { /* what a multiple can make up for */
      w.lo &= ~(15ull << 40);
      sass_decode(sm, w, RIG_BASE + 16 * g->n, &g->sass[g->n], &g->inst[g->n], &e);
    }
    g->n += usable(&g->sass[g->n], &g->inst[g->n]);
  }
  if (!g->n) return;
  struct func_params f = {.sm = sm,
                          .code = {.base = RIG_BASE, .end = RIG_BASE + 16 * g->n, .shift = 4, .inst = g->inst,
                                   .decoded = g->sass},
                          .entry_pc = RIG_BASE,
                          .grid = {1, 1, 1},
                          .block = {SEM_LANES, 1, 1},
                          .regs_per_thread = N_REGS,
                          .shared_static = SHARED_BYTES,
                          .local_bytes = LOCAL_BYTES,
                          .shared_window = SHARED_WINDOW,
                          .local_window = LOCAL_WINDOW,
                          .image = g->mem,
                          .n_workers = 1,
                          .slots_per_worker = 1,
                          .kernel_name = "semantics"};
  for (unsigned b = 0; b < N_BANK; b++) f.bank[b] = g->bank[b], f.bank_bytes[b] = CONST_BYTES;
  g->l = func_launch_new(&f, &e);
  if (!g->l) {
    fprintf(stderr, "%s\n", e.msg);
    abort();
  }
  struct step_source *s = func_source(g->l);
  g->w = ((struct func_cta *)s->ops->cta_begin(s, 0, 0, 0, 0))->warps;
}

/* ---- operands -------------------------------------------------------------------------------- */

static void put64(uint32_t (*file)[SEM_LANES], unsigned r, unsigned lane, uint64_t v, bool wide)
{
  file[r][lane] = (uint32_t)v;
  if (wide) file[r + 1][lane] = (uint32_t)(v >> 32);
}

/* Where lane i's access goes: slots of 16 bytes, all different for stores, few for atomics. */
static void slots(struct rng *r, unsigned n, bool distinct, unsigned slot[SEM_LANES])
{
  const unsigned few = below(r, 2) ? n : 4;
  const unsigned step = 1 + 2 * below(r, n / 2), first = below(r, n); /* odd: no slot twice */
  const bool lined_up = below(r, 3) == 0;
  for (unsigned i = 0; i < SEM_LANES; i++)
    slot[i] = distinct || lined_up ? (first + i * (lined_up ? 1 : step)) % n : below(r, few);
}

enum space { GLOBAL, SHARED, LOCAL, CONSTANT };

static enum space space_of(struct rng *r, const struct sass_inst *s, bool any)
{
  switch (s->sem) {
  case SEM_LDG:
  case SEM_STG:
  case SEM_ATOMG:
  case SEM_ATOMG_CAS:
  case SEM_RED:
  case SEM_LDGSTS: return GLOBAL;
  case SEM_LDL:
  case SEM_STL: return LOCAL;
  case SEM_LDC:
  case SEM_ULDC: return CONSTANT;
  case SEM_LD:
  case SEM_ST:
  case SEM_ATOM:
  case SEM_ATOM_CAS:
  case SEM_ATOM_POPC_INC:
  case SEM_QSPC: return any ? (enum space)below(r, 3) : GLOBAL;
  default: return SHARED;
  }
}

static bool generic(unsigned sem)
{
  return sem == SEM_LD || sem == SEM_ST || sem == SEM_ATOM || sem == SEM_ATOM_CAS ||
         sem == SEM_ATOM_POPC_INC || sem == SEM_QSPC;
}

/* Registers that make the addresses: Ra = (target - offset - UR) / stride. */
static void make_addresses(struct mem_rig *g, const struct sass_inst *s)
{
  static const unsigned n_slots[] = {GLOBAL_BYTES / 16, SHARED_BYTES / 16, LOCAL_BYTES / 16,
                                     CONST_BYTES / 16};
  struct rng *r = &g->rng;
  const struct mem_form f = mem_form(s);
  const unsigned bytes = mem_bytes(s), unit = f.stride > bytes ? f.stride : bytes;
  const bool mixed = f.wide_a && below(r, 2);
  const enum space one = space_of(r, s, f.wide_a);
  const bool store = s->sem == SEM_STG || s->sem == SEM_ST || s->sem == SEM_STS ||
                     s->sem == SEM_STL || s->sem == SEM_STSM || s->sem == SEM_LDGSTS;
  unsigned slot[SEM_LANES];
  slots(r, n_slots[one == LOCAL ? SHARED : one], store, slot);
  /* what the offset leaves of the alignment comes from the uniform register, or from the slots */
  uint64_t fix = (uint64_t)f.offset % unit, ur = 0;
  if (f.ur) {
    ur = f.wide_a ? rnd64(r)
         : f.wide ? g->base - (uint64_t)f.offset - below(r, 1 << 20) * 16u
                  : rnd(r);
    if (f.stride > 1 || !f.wide_a) ur -= ((uint64_t)f.offset + ur) % unit;
    fix = ((uint64_t)f.offset + ur) % unit;
    for (unsigned i = 0; i < SEM_LANES; i++) put64(g->st.s.ureg, s->ua, i, ur, f.wide);
  }
  if (f.stride == 1) fix = 0;
  for (unsigned i = 0; i < SEM_LANES; i++) {
    const enum space sp = mixed ? space_of(r, s, true) : one;
    uint64_t t = slot[i] % n_slots[sp] * 16 + fix;
    if (unit < 16) t += below(r, 16 / unit) * unit;
    if (sp == GLOBAL) t += g->base;
    if (sp == SHARED && generic(s->sem)) t += SHARED_WINDOW;
    if (sp == LOCAL && generic(s->sem)) t += LOCAL_WINDOW;
    put64(g->st.s.reg, s->src[0].index, i, (t - (uint64_t)f.offset - ur) / f.stride, f.wide_a);
  }
}

/* c[bank][UR + offset]: an offset of the word itself must lie in the bank, aligned. */
static bool make_constant(struct mem_rig *g, const struct sass_inst *s)
{
  const unsigned bytes = mem_bytes(s);
  if (s->ua == SASS_URZ) return s->offset >= 0 && s->offset % bytes == 0;
  const uint32_t t = below(&g->rng, CONST_BYTES / 16) * 16;
  for (unsigned i = 0; i < SEM_LANES; i++) g->st.s.ureg[s->ua][i] = t - (uint32_t)s->offset;
  return true;
}

static void fill_bytes(struct rng *r, uint8_t *p, size_t n)
{
  for (size_t k = 0; k < n; k += 4) {
    uint32_t v = gen_value(r, below(r, VAL_F64));
    memcpy(p + k, &v, 4);
  }
}

static void fill(struct mem_rig *g, const struct sass_inst *s)
{
  struct rng *r = &g->rng;
  const unsigned rows = s->sem == SEM_STSM ? 4 : (mem_bytes(s) + 3) / 4;
  for (unsigned k = 1; k < 3; k++)
    for (unsigned n = 0; s->src[k].kind == SRC_REG && n < rows && s->src[k].index + n < N_REGS; n++)
      for (unsigned i = 0; i < SEM_LANES; i++)
        g->st.s.reg[s->src[k].index + n][i] = gen_value(r, below(r, VAL_F64));
  for (unsigned k = 0; k < 7; k++) {
    g->st.s.pred[k] = rnd(r);
    g->st.s.pred[8 + k] = rnd(r) & 1 ? UINT32_MAX : 0;
  }
  g->st.s.pred[7] = g->st.s.pred[15] = UINT32_MAX;
  /* a stretch of each memory is new; compares must often find what they look for */
  fill_bytes(r, g->st.global + below(r, 16) * (GLOBAL_BYTES / 16), GLOBAL_BYTES / 16);
  fill_bytes(r, g->st.shared + below(r, 16) * (SHARED_BYTES / 16), SHARED_BYTES / 16);
  for (unsigned i = 0; i < SEM_LANES; i += 8)
    fill_bytes(r, g->st.local[i + below(r, 8)] + below(r, 4) * 16, 16);
}

static void fill_compare(struct mem_rig *g, const struct sass_inst *s)
{
  const struct mem_form form = mem_form(s);
  const unsigned bytes = mem_bytes(s);
  for (unsigned i = 0; i < SEM_LANES; i++) {
    uint64_t a = mem_address(s, &form, &g->st.s, i);
    const uint8_t *p = s->sem == SEM_ATOMS_CAS ? g->st.shared + a : g->st.global + (a - g->base);
    if (below(&g->rng, 2) || (s->sem != SEM_ATOMS_CAS && a - g->base >= GLOBAL_BYTES)) continue;
    for (unsigned k = 0; 4 * k < bytes; k++)
      memcpy(&g->st.s.reg[s->src[1].index + k][i], p + 4 * k, 4);
  }
}

static void fill_shared_address(struct mem_rig *g, const struct sass_inst *s)
{
  const uint32_t base = ldgsts_base(s, &g->st.s);
  unsigned slot[SEM_LANES];
  slots(&g->rng, SHARED_BYTES / 16, true, slot);
  for (unsigned i = 0; i < SEM_LANES; i++)
    g->st.s.reg[s->src[1].index][i] = 16 * slot[i] - base;
}

/* ---- one warp -------------------------------------------------------------------------------- */

static void put_memory(struct mem_rig *g)
{
  memcpy(g->w->base[BASE_REG], g->st.s.reg, sizeof g->st.s.reg);
  memcpy(g->w->base[BASE_UREG], g->st.s.ureg, sizeof g->st.s.ureg);
  memcpy(g->w->pred, g->st.s.pred, sizeof g->st.s.pred);
  memcpy(gmem_ptr(g->mem, g->base, GLOBAL_BYTES), g->st.global, GLOBAL_BYTES);
  memcpy(g->w->cta->shared, g->st.shared, SHARED_BYTES);
  memcpy(g->w->local, g->st.local, sizeof g->st.local);
}

static void get_memory(struct mem_rig *g)
{
  memcpy(g->got.s.reg, g->w->base[BASE_REG], sizeof g->st.s.reg);
  memcpy(g->got.s.ureg, g->w->base[BASE_UREG], sizeof g->st.s.ureg);
  memcpy(g->got.s.pred, g->w->pred, sizeof g->st.s.pred);
  memcpy(g->got.global, gmem_ptr(g->mem, g->base, GLOBAL_BYTES), GLOBAL_BYTES);
  memcpy(g->got.shared, g->w->cta->shared, SHARED_BYTES);
  memcpy(g->got.local, g->w->local, sizeof g->st.local);
}

static bool step(struct mem_rig *g, unsigned i, uint32_t active, struct fault *f)
{
  struct step_warp *sw = &g->w->step;
  struct mem_effect me;
  struct effect e = {.mem = &me};
  struct gmem_view view = {.image = g->mem};
  put_memory(g);
  sw->paths.p[0].pc = RIG_BASE + 16 * i;
  sw->paths.p[0].mask = active;
  g->w->mactive = active;
  if (!sw->ops->step(sw, 0, &e, f)) return false;
  if (e.flags & EFF_MEM) {
    if (!sw->ops->perform(sw, &e, me.lanes | me.near_lanes, &view, f)) return false;
    sw->ops->finish(sw, &e);
  }
  get_memory(g);
  return true;
}

static void report(struct mem_rig *g, unsigned i, const struct fault *f, uint32_t exec)
{
  char text[200];
  const struct sass_inst *s = &g->sass[i];
  const uint32_t *e = (const uint32_t *)&g->expected, *x = (const uint32_t *)&g->got,
                 *b = (const uint32_t *)&g->st;
  if (g->shown++ >= SHOWN_FAILURES) return;
  sass_print(s, &g->inst[i], false, text, sizeof text);
  fprintf(stderr, "sm_%u %016llx %016llx %s executes %08x\n", s->sm, (unsigned long long)s->word.hi,
          (unsigned long long)s->word.lo, text, exec);
  if (f) {
    fprintf(stderr, "  fault: %s\n", f->text);
    return;
  }
  for (size_t k = 0; k < sizeof g->got / 4; k++) {
    if (e[k] == x[k]) continue;
    const size_t regs = sizeof g->st.s / 4;
    if (k < (N_REGS + N_UREG) * SEM_LANES)
      fprintf(stderr, "  %s%zu lane %zu", k / SEM_LANES < N_REGS ? "R" : "UR",
              k / SEM_LANES % N_REGS, k % SEM_LANES);
    else
      fprintf(stderr, "  %s 0x%zx", k < regs ? "predicate" : "memory byte",
              k < regs ? k % 16 : 4 * (k - regs));
    fprintf(stderr, ": before %08x, expected %08x, got %08x\n", b[k], e[k], x[k]);
    for (unsigned n = 0; n < 3 && k < (N_REGS + N_UREG) * SEM_LANES; n++)
      if (s->src[n].kind == SRC_REG && s->src[n].index < N_REGS - 1)
        fprintf(stderr, "  %c %08x %08x", "abc"[n], g -> st.s.reg[s->src[n].index][k % SEM_LANES],
                g->st.s.reg[s->src[n].index + 1][k % SEM_LANES]);
    fputc('\n', stderr);
    return;
  }
}

/* Operand sets done; 0: not this word (no handler, no rule). */
static unsigned one_warp(struct mem_rig *g, unsigned i)
{
  const struct sass_inst *s = &g->sass[i];
  const bool whole = s->sem == SEM_LDSM || s->sem == SEM_STSM;
  struct fault f = {0};
  uint32_t active = UINT32_MAX;
  while (!whole && below(&g->rng, 2) && !(active = rnd(&g->rng)))
    ;
  fill(g, s);
  if (s->sem == SEM_ULDC) {
    if (!make_constant(g, s)) return 0;
  } else {
    make_addresses(g, s);
    if (s->sem == SEM_LDGSTS) fill_shared_address(g, s);
    if (sass_has(s, FLD_CAS_OP) && s->src[1].index != SASS_RZ &&
        s->src[1].index != s->src[0].index && s->src[1].index / 8 != s->src[0].index / 8)
      fill_compare(g, s);
  }
  other_paths(&g->rng, &g->st.s, active);
  uint32_t guard = g->st.s.pred[s->guard.index + (s->guard.uniform ? 8 : 0)];
  uint32_t pp = g->st.s.pred[s->pp.index];
  struct mem_in in = {.s = s,
                      .active = active,
                      .exec = active & (s->guard.neg ? ~guard : guard),
                      .pp = s->pp.neg ? ~pp : pp,
                      .global_base = g->base,
                      .bank = g->bank,
                      .form = mem_form(s)};
  g->expected = g->st;
  if (!in.exec || !ref_mem(&in, &g->expected)) return 0;
  if (!step(g, i, active, &f)) {
    if (f.kind == FAULT_UNSUPPORTED) return 0;
    g->tally->failures++;
    report(g, i, &f, in.exec);
  } else if (memcmp(&g->expected, &g->got, sizeof g->got) != 0) {
    g->tally->failures++;
    report(g, i, NULL, in.exec);
  }
  return (unsigned)__builtin_popcount(in.exec);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void run_form(struct mem_rig *g, const struct sass_row *row, unsigned form,
                     unsigned long sets)
{
  static const unsigned targets[] = {70, 75, 80, 86, 89, 90, 100, 110, 120};
  unsigned k = 0, used = 0;
  while (!(row_forms(row, targets[k]) >> form & 1)) k++;
  program_new(g, row, form, targets[k]);
  uint64_t done = 0;
  unsigned left = g->n;
  uint8_t missed[WORDS] = {0}; /* times a word did nothing, for want of a rule or of lanes */
  bool seen[WORDS] = {0};
  for (unsigned i = 0; left && done < sets; i = (i + 1) % g->n) {
    if (missed[i] == MOST_MISSES) continue;
    unsigned n = one_warp(g, i);
    done += n;
    if (n)
      used += !seen[i], seen[i] = true, missed[i] = 0;
    else if (++missed[i] == MOST_MISSES)
      left--;
  }
  if (g->n) func_launch_free(g->l);
  g->tally->sets += done, g->tally->words += used;
  if (done)
    g->tally->forms++;
  else
    g->tally->refused++, printf("# not executed: %s sm_%u\n", row->name, targets[k]);
}

void mem_rig_all(unsigned long sets, struct tally *t)
{
  struct mem_rig *g = calloc(1, sizeof *g);
  const char *only = getenv("SEMANTICS_ONLY");
  g->tally = t;
  g->mem = gmem_new(16);
  g->base = gmem_alloc(g->mem, GLOBAL_BYTES, "buf");
  for (unsigned i = 0; i < sass_n_rows; i++) {
    const struct sass_row *row = &sass_rows[i];
    const unsigned before = t->failures, forms = t->forms;
    if (!mem_wanted(row->sem) || (only && strcmp(only, row->name) != 0)) continue;
    g->rng.x = 0x94d049bb133111ebull + i;
    for (unsigned b = 0; b < N_BANK; b++) fill_bytes(&g->rng, g->bank[b], CONST_BYTES);
    g->shown = 0;
    for (unsigned form = 0; form < 16; form++)
      if (row->forms >> form & 1) run_form(g, row, form, sets);
    if (t->forms > forms) t->rows++;
    if (t->failures > before)
      fprintf(stderr, "%s: %u warps differ\n", row->name, t->failures - before);
  }
  gmem_free(g->mem);
  free(g);
}
