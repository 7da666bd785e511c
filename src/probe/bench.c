#include "probe/bench.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/host_memory.h"
#include "host/simulate.h"
#include "load/asm_source.h"
#include "time/sm/hazard.h"

enum { MAX_CYCLES = 50000000 };

enum { BENCH_MODES = SIM_HAZARDS_EMULATE + 1 };

struct bench {
  const struct params *params;
  struct simulator *simulator[BENCH_MODES]; /* by enum sim_hazards: caches stay warm in each */
};

/* Offsets in constant bank 0: compiler output (CUDA 13.0; 11.8 for Volta). */
static const struct bench_dialect dialects[] = {
  {70, 72, false, 0x160, "", "", ".SYS", "", "", ""},
  {75, 75, true, 0x160, "", "", ".SYS", "", "", ""},
  {80, 89, true, 0x160, "[Y:S12] ULDC.64 UR4, c[0x0][0x118] ;", "desc[UR4]", "", ".64", "", ""},
  {90, 90, true, 0x210, "[Y:S12] ULDC.64 UR4, c[0x0][0x208] ;", "desc[UR4]", "", ".64", "", ""},
  {100, 129, true, 0x380, "[W0:S02] LDCU.64 UR4, c[0x0][0x358] ;", "desc[UR4]", "", ".64", "PT, PT,",
   "UPT, UPT,"},
};

const struct bench_dialect *bench_dialect(unsigned sm, struct err *e)
{
  for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++)
    if (sm >= dialects[i].sm_min && sm <= dialects[i].sm_max) return &dialects[i];
  err_set(e, "no microbenchmarks for sm_%u", sm);
  return NULL;
}

struct bench *bench_new(const struct params *p)
{
  struct bench *b = calloc(1, sizeof *b);
  if (!b) return NULL;
  b->params = p;
  for (unsigned i = 0; i < BENCH_MODES; i++) {
    if ((b->simulator[i] = simulator_new(p))) continue;
    bench_free(b);
    return NULL;
  }
  return b;
}

void bench_free(struct bench *b)
{
  if (!b) return;
  for (unsigned i = 0; i < BENCH_MODES; i++) simulator_free(b->simulator[i]);
  free(b);
}

const struct params *bench_params(const struct bench *b)
{
  return b->params;
}

static bool place(struct device *d, const char *text, struct device_code *code, struct err *e)
{
  struct arena a = {0};
  struct module *m = NULL;
  size_t bytes;
  const uint8_t *image = asm_source_assemble(&a, text, strlen(text), "probe", NULL, &bytes, e);
  if (image) m = module_load_memory(image, bytes, "probe", e);
  arena_free(&a);
  return m && device_place(d, m, code, e);
}

static bool run_to_end(struct bench *b, struct launch *l, enum sim_hazards hazards,
                       bool *stale, struct err *e)
{
  struct sim_options o = {
    .timed = true, .threads = 1, .max_cycles = MAX_CYCLES,
    .hazards = hazards};
  struct sim_result r;
  if (!simulate(b->simulator[hazards], l, &o, &r, e)) return false;
  if (hazards == SIM_HAZARDS_CHECK) *stale = r.hazards && r.hazards->n_findings > 0;
  if (r.end == RUN_DONE) return true;
  if (r.end == RUN_FAULT) return err_set(e, "the program faults: %s", r.fault.text);
  return err_set(e, "the program does not end within %d cycles", MAX_CYCLES);
}

static bool run_kernel(struct bench *b, struct device *d, const struct device_code *code,
                       unsigned ctas, unsigned threads, uint64_t out,
                       enum sim_hazards hazards, bool *stale, struct err *e)
{
  const struct module_kernel *kernel = module_kernel(code->module, "probe", e);
  struct launch l;
  if (!kernel) return false;
  struct launch_desc desc = {.code = code->instance, .kernel = kernel, .grid = {ctas, 1, 1},
                             .block = {threads, 1, 1}, .params = &out, .param_bytes = sizeof out};
  if (!launch_init(&l, d, &desc, e)) return false;
  bool ok = run_to_end(b, &l, hazards, stale, e);
  launch_free(&l);
  return ok;
}

bool bench_run(struct bench *b, const char *text, unsigned ctas, unsigned threads, uint32_t *out,
               size_t n_words, enum sim_hazards hazards, bool *stale, struct err *e)
{
  struct device_config config = device_config_for(b->params, true);
  struct device d;
  struct device_code code = {0};
  bool ok = device_init(&d, &config, e);
  if (ok) {
    uint64_t words = gmem_alloc(d.mem, n_words * sizeof *out, "results");
    BUG_ON(!words);
    ok = place(&d, text, &code, e) &&
         run_kernel(b, &d, &code, ctas, threads, words, hazards, stale, e);
    if (ok) BUG_ON(!gmem_read(d.mem, words, out, n_words * sizeof *out));
  }
  device_unload(&code);
  device_free(&d);
  return ok;
}
