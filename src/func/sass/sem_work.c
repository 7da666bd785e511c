/* CTAs that have not been launched, for those that run: UGETNEXTWORKID (PTX ISA: clusterlaunchcontrol.try_cancel). Who
 * steps the launch says which (COPY_WORK, isa/step.h); 16 bytes, which count at an mbarrier, go to the own CTA or,
 * .BROADCAST, to each of the cluster at the same offsets. What query_cancel reads there is from compiler output
 * (CUDA 13.0): x; y and above it z, of 16 bits each; bit 0: there was one.
 */
#include "func/sass/async_copy.h"
#include "func/sass/cluster.h"
#include "func/sass/guest_fault.h"

enum { ARG_TO, ARG_BARRIER, ARGS_ROW = 0 };
enum { ANSWER_X, ANSWER_YZ, ANSWER_FOUND, ANSWER_WORDS = 4, ANSWER_BYTES = 16, BARRIER_BYTES = 8 };

struct work_request {
  struct func_warp *w;
  struct effect *e;
  struct fault *f;
  uint32_t answer[ANSWER_WORDS];
};

static void write_answer(struct work_request *k)
{
  enum { Z_SHIFT = 16 };
  const struct mem_copy *c = &k->e->mem->copy;
  const uint32_t *g = k->w->launch->p.grid;
  if (!c->found) return;
  k->answer[ANSWER_X] = (uint32_t)(c->cta % g[0]);
  k->answer[ANSWER_YZ] = (uint32_t)(c->cta / g[0] % g[1]) | (uint32_t)(c->cta / g[0] / g[1]) << Z_SHIFT;
  k->answer[ANSWER_FOUND] = 1;
}

static bool deliver(void *work, uint32_t shared, uint32_t barrier)
{
  struct work_request *k = work;
  uint8_t *to = copy_near(k->w, k->e, shared, ANSWER_BYTES, k->f);
  if (!to) return false;
  memcpy(to, k->answer, ANSWER_BYTES);
  return copy_complete(k->w, k->e, barrier, ANSWER_BYTES, k->f);
}

static bool perform(struct func_warp *w, const struct uop *u, struct effect *e, uint32_t lanes, struct gmem_view *v,
                    struct fault *f)
{
  const mem_word *arg = mem_row(e->mem, ARGS_ROW);
  const uint32_t to = arg[ARG_TO], barrier = arg[ARG_BARRIER];
  struct work_request k = {.w = w, .e = e, .f = f};
  (void)lanes, (void)v;
  if (to % ANSWER_BYTES || barrier % BARRIER_BYTES)
    return func_fault(w, e, f, FAULT_MISALIGNED, bits_first((uint32_t)e->mem->lanes), to,
                      "try_cancel to 0x%x, mbarrier at 0x%x: not multiples of %d and %d", to, barrier, ANSWER_BYTES,
                      BARRIER_BYTES);
  write_answer(&k);
  return sass_get(u->s, FLD_WORK_CAST) && w->cta->cluster ? copy_multicast(e->mem->copy.ctas, to, barrier, deliver, &k)
                                                          : deliver(&k, to, barrier);
}

/* One request for the warp; its first lane stands for it. */
static bool ask(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  const unsigned ur = u->s->src[0].index;
  const uint32_t to = warp_uniform(w, ur);
  const bool all = sass_get(u->s, FLD_WORK_CAST);
  (void)f;
  const uint32_t ctas = all ? (1u << step_cluster_ctas(w->cta->step.source)) - 1 : copy_target(to);
  struct mem_effect *me = copy_begin(w, e, u, m, ctas, ANSWER_BYTES);
  mem_word *arg = mem_row(me, ARGS_ROW);
  arg[ARG_TO] = to, arg[ARG_BARRIER] = warp_uniform(w, ur + 1);
  return true;
}

uop_fn *sem_work_handler(const struct sass_inst *s, struct uop *u)
{
  if (s->sem != SEM_UGETNEXTWORKID) return NULL;
  u->flags = UOP_MEM;
  u->perform = perform;
  return ask;
}
