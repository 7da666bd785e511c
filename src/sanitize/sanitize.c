#include "sanitize/sanitize.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "base/host_memory.h"
#include "sanitize/initcheck.h"
#include "sanitize/memcheck.h"
#include "sanitize/racecheck.h"
#include "sanitize/synccheck.h"

enum { DEFAULT_LIMIT = 100 };
#define SHADOW_LIMIT (UINT64_C(4) << 30) /* of host memory, for racecheck */

struct sanitizer {
  struct sanitize_options options;
  const struct gmem *mem;
  struct findings findings;
  struct step_tap tap;
  struct watched_launch launch;
  const struct module *module;
  struct memcheck memcheck;
  struct racecheck racecheck;
  struct initcheck initcheck;
  struct synccheck synccheck;
  uint64_t leaks, leaked_bytes;
};

bool sanitize_tools_parse(const char *text, unsigned *tools, const char **bad)
{
  static const struct {
    const char *name;
    unsigned tool;
  } known[] = {{"memcheck", SANITIZE_MEMCHECK}, {"racecheck", SANITIZE_RACECHECK}, {"initcheck", SANITIZE_INITCHECK},
               {"synccheck", SANITIZE_SYNCCHECK}, {"all", SANITIZE_ALL}};
  *tools = 0;
  for (const char *at = text; ; at++) {
    const size_t n = strcspn(at, ",");
    unsigned tool = 0;
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
      if (strlen(known[i].name) == n && !strncmp(known[i].name, at, n)) tool = known[i].tool;
    *bad = at;
    if (!tool) return false;
    *tools |= tool;
    at += n;
    if (!*at) return true;
  }
}

bool sanitize_level_parse(const char *text, unsigned *level)
{
  static const char *const name[] = {"error", "warn", "info"};
  for (unsigned i = 0; i < sizeof name / sizeof *name; i++) {
    if (strcmp(text, name[i]) != 0) continue;
    *level = i;
    return true;
  }
  return false;
}

struct sanitizer *sanitizer_new(const struct sanitize_options *o, const struct gmem *mem)
{
  struct sanitizer *s = calloc(1, sizeof *s);
  NO_MEMORY_IF(!s);
  s->options = *o;
  s->mem = mem;
  s->findings = (struct findings){.out = o->out, .limit = o->limit ? o->limit : DEFAULT_LIMIT,
                                  .least = o->level == 0 ? LEVEL_ERROR : o->level == 1 ? LEVEL_WARNING : LEVEL_NOTE};
  racecheck_init(&s->racecheck, SHADOW_LIMIT);
  fputs("========= WARPSTEP SANITIZER\n", o->out);
  fflush(o->out); /* a child of the process must not print it again */
  return s;
}

void sanitizer_free(struct sanitizer *s)
{
  if (!s) return;
  racecheck_free(&s->racecheck);
  initcheck_free(&s->initcheck);
  synccheck_end(&s->synccheck);
  findings_free(&s->findings);
  free(s);
}

/* --- a launch ------------------------------------------------------------------------------------------ */

static bool has(const struct sanitizer *s, unsigned tool)
{
  return s->options.tools & tool;
}

static void see_step(void *ctx, const struct step_cta *cta, unsigned warp, const struct effect *e)
{
  struct sanitizer *s = ctx;
  const struct watched_step step = {.l = &s->launch, .cta = cta, .warp = warp, .e = e};
  if (has(s, SANITIZE_INITCHECK)) initcheck_step(&s->initcheck, &step);
  if (has(s, SANITIZE_RACECHECK)) racecheck_step(&s->racecheck, &step);
  if (has(s, SANITIZE_SYNCCHECK)) synccheck_step(&s->synccheck, &step);
}

static lane_mask see_access(void *ctx, const struct step_cta *cta, unsigned warp, const struct effect *e)
{
  struct sanitizer *s = ctx;
  struct watched_step step = {.l = &s->launch, .cta = cta, .warp = warp, .e = e,
                              .lanes = (uint32_t)(e->mem->lanes | e->mem->near_lanes)};
  const uint32_t bad = has(s, SANITIZE_MEMCHECK) ? memcheck_access(&s->memcheck, &step) : 0;
  step.lanes &= ~bad;
  if (!step.lanes) return bad;
  if (has(s, SANITIZE_INITCHECK)) initcheck_access(&s->initcheck, &step);
  if (has(s, SANITIZE_RACECHECK)) racecheck_access(&s->racecheck, &step);
  return bad;
}

static void see_cta_end(void *ctx, const struct step_cta *cta)
{
  struct sanitizer *s = ctx;
  racecheck_cta_end(&s->racecheck, cta);
  initcheck_cta_end(&s->initcheck, cta);
  synccheck_cta_end(&s->synccheck, cta);
}

const struct step_tap *sanitizer_begin(struct sanitizer *s, const struct module *m, const struct launch *l)
{
  const struct func_params *p = &l->params;
  const uint64_t own = (uint64_t)p->shared_reserved + p->shared_static + p->shared_dynamic;
  const uint64_t system = align_up(own, FUNC_SHARED_GRANULE);
  s->module = m;
  s->launch = (struct watched_launch){.params = p, .source = func_source(l->func), .mem = s->mem,
                                      .findings = &s->findings, .shared_end = own, .system_shared = system,
                                      .shared_limit = system + p->shared_behind};
  s->tap = (struct step_tap){.ctx = s, .step = see_step, .veto = see_access, .cta_end = see_cta_end,
                             .registers_unseen = !has(s, SANITIZE_INITCHECK)};
  memcheck_begin(&s->memcheck);
  initcheck_begin(&s->initcheck, &s->launch);
  racecheck_begin(&s->racecheck, &s->launch);
  return &s->tap;
}

/* With the source lines of the module, where it has a table of them that is not damaged. */
static void print_findings(struct sanitizer *s)
{
  struct line_table lines = {0};
  struct err e;
  const bool ok = s->findings.kept.n && line_table_read(s->module, &lines, &e);
  findings_flush(&s->findings, s->module, ok ? &lines : NULL);
  line_table_free(&lines);
}

void sanitizer_end(struct sanitizer *s, const struct fault *f)
{
  const bool faulted = f->kind != FAULT_NONE;
  if (faulted && !synccheck_fault(&s->launch, f)) memcheck_fault(&s->launch, f);
  racecheck_end(&s->racecheck, &s->launch);
  initcheck_end(&s->initcheck);
  synccheck_end(&s->synccheck);
  print_findings(s);
}

uint64_t sanitizer_errors(const struct sanitizer *s)
{
  return s->findings.errors;
}

/* --- the host ------------------------------------------------------------------------------------------ */

void sanitizer_allocated(struct sanitizer *s, uint64_t addr, uint64_t bytes)
{
  if (has(s, SANITIZE_INITCHECK)) initcheck_allocated(&s->initcheck, addr, bytes);
}

void sanitizer_freed(struct sanitizer *s, uint64_t addr)
{
  initcheck_freed(&s->initcheck, addr);
}

void sanitizer_written(struct sanitizer *s, uint64_t addr, uint64_t bytes)
{
  initcheck_written(&s->initcheck, addr, bytes);
}

void sanitizer_copied(struct sanitizer *s, uint64_t to, uint64_t from, uint64_t bytes)
{
  initcheck_copied(&s->initcheck, to, from, bytes);
}

void sanitizer_leaked(struct sanitizer *s, uint64_t addr, uint64_t bytes)
{
  if (!has(s, SANITIZE_LEAKS)) return;
  fprintf(s->options.out, "========= Leaked %" PRIu64 " bytes at 0x%" PRIx64 "\n=========\n", bytes, addr);
  s->leaks++;
  s->leaked_bytes += bytes;
  s->findings.errors++;
}

/* Silence must not pass for "there was nothing". */
static void print_left_out(const struct findings *f, FILE *out)
{
  const uint64_t notes = f->left_out[LEVEL_NOTE], warnings = f->left_out[LEVEL_WARNING];
  if (!notes && !warnings) return;
  fputs("========= Not shown:", out);
  if (warnings) fprintf(out, " %" PRIu64 " warning%s", warnings, warnings == 1 ? "" : "s");
  if (notes) fprintf(out, "%s %" PRIu64 " note%s", warnings ? "," : "", notes, notes == 1 ? "" : "s");
  fprintf(out, " (--print-level %s)\n", notes ? "info" : "warn");
}

uint64_t sanitizer_finish(struct sanitizer *s)
{
  const struct findings *f = &s->findings;
  FILE *out = s->options.out;
  if (has(s, SANITIZE_LEAKS))
    fprintf(out, "========= LEAK SUMMARY: %" PRIu64 " bytes leaked in %" PRIu64 " allocations\n", s->leaked_bytes,
            s->leaks);
  if (f->hidden) fprintf(out, "========= %" PRIu64 " more findings are not printed (--print-limit)\n", f->hidden);
  if (has(s, SANITIZE_RACECHECK))
    fprintf(out, "========= RACECHECK SUMMARY: %" PRIu64 " hazard%s displayed\n", f->races, f->races == 1 ? "" : "s");
  print_left_out(f, out);
  if (f->warnings)
    fprintf(out, "========= WARNING SUMMARY: %" PRIu64 " warning%s\n", f->warnings, f->warnings == 1 ? "" : "s");
  fprintf(out, "========= ERROR SUMMARY: %" PRIu64 " error%s\n", f->errors, f->errors == 1 ? "" : "s");
  fflush(out);
  return f->errors;
}
