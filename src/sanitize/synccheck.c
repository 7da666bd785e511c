#include "sanitize/synccheck.h"

#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"

enum { BARRIERS = 16, MAX_WARPS = 32, LANES_OF_WARP = 32, MAX_ALONE = 8 };

/* The present phase of a barrier: lanes of each warp that have arrived, and where the first did. */
struct sync_barrier {
  bool busy;
  uint16_t count;
  uint32_t arrived[MAX_WARPS];
  struct finding_access at[MAX_WARPS];
};

/* Where threads of a warp have been since its last barrier of the whole CTA.
 *
 * A thread that ends is not waited for (CUDA C++ Programming Guide, __syncthreads), and a kernel may well begin with a
 * `return` of some threads. It is a defect when a barrier stands in code that others of the warp went around: they had
 * come to barriers before, or they executed the code behind this one, to which those who waited came later. */
struct sync_warp {
  uint32_t alive;      /* when the phase began */
  uint32_t took_part;  /* in an earlier phase */
  uint32_t alone;      /* touched memory apart from the rest of the warp, in this phase */
  unsigned n_alone;
  uint64_t alone_pc[MAX_ALONE];
  struct finding doubt; /* a.pc != 0: threads went around this barrier; is the code behind it theirs, too? */
  uint32_t doubt_waited;
  unsigned n_doubt;
  uint64_t doubt_pc[MAX_ALONE];
};

struct sync_cta {
  struct sync_cta *next;
  uint64_t id;
  unsigned n_warps;
  uint32_t busy; /* a bit per barrier */
  struct sync_warp warp[MAX_WARPS];
  struct sync_barrier barrier[BARRIERS];
};

static struct sync_cta **place_of(struct synccheck *k, const struct step_cta *cta)
{
  struct sync_cta **at = &k->ctas;
  while (*at && (*at)->id != cta->id) at = &(*at)->next;
  return at;
}

/* Lanes that have a thread. */
static uint32_t lanes_of(const struct step_source *s, unsigned warp)
{
  const unsigned before = warp * LANES_OF_WARP;
  const unsigned n = s->threads_per_cta > before ? s->threads_per_cta - before : 0;
  return n >= LANES_OF_WARP ? UINT32_MAX : (1u << n) - 1;
}

static struct sync_cta *cta_of(struct synccheck *k, const struct step_cta *cta)
{
  struct sync_cta **at = place_of(k, cta), *c = *at;
  if (c) {
    *at = c->next;
  } else {
    c = calloc(1, sizeof *c);
    NO_MEMORY_IF(!c);
    c->id = cta->id;
    c->n_warps = cta->n_warps < MAX_WARPS ? cta->n_warps : MAX_WARPS;
    for (unsigned w = 0; w < c->n_warps; w++) c->warp[w].alive = lanes_of(cta->source, w);
  }
  c->next = k->ctas;
  return k->ctas = c;
}

void synccheck_cta_end(struct synccheck *k, const struct step_cta *cta)
{
  struct sync_cta **at = place_of(k, cta), *c = *at;
  if (!c) return;
  *at = c->next;
  free(c);
}

void synccheck_end(struct synccheck *k)
{
  while (k->ctas) {
    struct sync_cta *c = k->ctas;
    k->ctas = c->next;
    free(c);
  }
}

static struct finding like(const struct finding_access *a, enum finding_level level, const char *what,
                           const char *detail)
{
  struct finding f = {.kind = FINDING_BARRIER, .level = level, .a = *a};
  snprintf(f.what, sizeof f.what, "Barrier error detected. %s", what);
  snprintf(f.detail[0], sizeof f.detail[0], "%s", detail);
  return f;
}

static void report(const struct watched_launch *l, const struct finding_access *a, const char *what, const char *detail,
                   uint64_t threads)
{
  const struct finding f = like(a, LEVEL_ERROR, what, detail);
  bool fresh;
  (void)finding_note(l->findings, &f, threads, &fresh);
}

/* Threads of the warp ended in this phase, while others came to the barrier. */
static void went_around(const struct watched_launch *l, struct sync_warp *w, const struct sync_barrier *b,
                        unsigned warp, uint32_t gone)
{
  const uint32_t came = b->arrived[warp];
  const unsigned n = bits_count(came);
  bool fresh;
  char detail[128];
  snprintf(detail, sizeof detail, "%u thread%s of the warp came to it, %u went around it to the end of the kernel", n,
           n == 1 ? "" : "s", bits_count(gone));
  struct finding f =
      like(&b->at[warp], gone & w->took_part ? LEVEL_ERROR : LEVEL_WARNING, "Divergent thread(s) in block.", detail);
  f.count = bits_count(came | gone);
  if (f.level == LEVEL_ERROR || !(gone & w->alone)) {
    (void)finding_note(l->findings, &f, f.count, &fresh);
    return;
  }
  w->doubt = f;
  w->doubt_waited = came;
  w->n_doubt = w->n_alone;
  memcpy(w->doubt_pc, w->alone_pc, sizeof w->doubt_pc);
}

/* The phase is over: everybody came, but for threads that ended. */
static void end_phase(const struct watched_step *s, struct sync_cta *c, unsigned id)
{
  struct sync_barrier *b = &c->barrier[id];
  for (unsigned k = 0; !b->count && k < c->n_warps; k++) {
    struct sync_warp *w = &c->warp[k];
    const uint32_t alive = func_live_lanes(s->cta, k), gone = w->alive & ~alive & ~b->arrived[k];
    if (gone && b->arrived[k]) went_around(s->l, w, b, k, gone);
    w->alive = alive;
    w->took_part |= b->arrived[k];
    w->alone = w->n_alone = 0;
  }
  c->busy &= ~(1u << id);
  memset(b, 0, sizeof *b);
}

static void end_phases(const struct watched_step *s, struct sync_cta *c)
{
  for (uint32_t r = c->busy; r; r &= r - 1)
    if (!func_barrier_busy(s->cta, bits_first(r))) end_phase(s, c, bits_first(r));
}

static void arrive(struct synccheck *k, const struct watched_step *s)
{
  const struct step_barrier *a = &s->e->barrier;
  const uint32_t lanes = (uint32_t)s->e->exec;
  struct sync_cta *c = cta_of(k, s->cta);
  if (s->warp >= c->n_warps || a->id >= BARRIERS) return;
  struct sync_barrier *b = &c->barrier[a->id];
  const struct finding_access here = watched_access(s, bits_first(lanes), MEM_NONE);
  if (b->busy && b->count != a->count)
    report(s->l, &here, "Invalid arguments.", "Threads name different numbers of threads for the same barrier",
           bits_count(lanes));
  if (!b->arrived[s->warp]) b->at[s->warp] = here;
  b->busy = true, b->count = a->count;
  c->busy |= 1u << a->id;
  b->arrived[s->warp] |= lanes;
  end_phases(s, c);
}

/* Threads touch memory apart from others of their warp; or they come to where others, who went around a barrier,
 * were. */
static void note_memory(struct synccheck *k, const struct watched_step *s)
{
  const uint32_t lanes = (uint32_t)s->e->exec, apart = func_live_lanes(s->cta, s->warp) & ~(uint32_t)s->e->active;
  if (!apart && !k->ctas) return;
  struct sync_cta *c = cta_of(k, s->cta);
  if (s->warp >= c->n_warps) return;
  struct sync_warp *w = &c->warp[s->warp];
  for (unsigned i = 0; w->doubt.a.pc && lanes & w->doubt_waited && i < w->n_doubt; i++) {
    bool fresh;
    if (w->doubt_pc[i] != s->e->pc) continue;
    w->doubt.level = LEVEL_ERROR;
    (void)finding_note(s->l->findings, &w->doubt, w->doubt.count, &fresh);
    w->doubt.a.pc = 0;
  }
  if (!apart) return;
  w->alone |= lanes;
  if (w->n_alone < MAX_ALONE) w->alone_pc[w->n_alone++] = s->e->pc;
}

static void check_mask(const struct watched_step *s)
{
  const uint32_t outside = func_outside_mask(s->cta, s->warp, s->e);
  if (!outside) return;
  const struct finding_access here = watched_access(s, bits_first(outside), MEM_NONE);
  report(s->l, &here, "Invalid arguments.", "The thread is not in the mask that it gives", bits_count(outside));
}

void synccheck_step(struct synccheck *k, const struct watched_step *s)
{
  if (s->e->inst->flags & INST_BAR && s->e->exec) arrive(k, s);
  if (s->e->inst->flags & (INST_CONVERGE | INST_BRANCH) && s->e->exec) check_mask(s);
  if (s->e->flags & EFF_MEM && s->e->exec) note_memory(k, s);
  if (s->e->flags & (EFF_EXITED | EFF_BAR_RELEASED) && k->ctas) end_phases(s, cta_of(k, s->cta));
}

bool synccheck_fault(const struct watched_launch *l, const struct fault *f)
{
  if (f->kind != FAULT_DEADLOCK) return false;
  struct finding_access a = {.pc = f->pc};
  memcpy(a.at.cta, f->cta, sizeof a.at.cta);
  memcpy(a.at.thread, f->thread, sizeof a.at.thread);
  char detail[128];
  snprintf(detail, sizeof detail, "%.127s", f->text);
  report(l, &a, "Threads wait for others that never come.", detail, 1);
  return true;
}
