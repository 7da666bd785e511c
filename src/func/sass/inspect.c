#include "func/sass/inspect.h"

#include "func/sass/func_launch.h"
#include "func/sass/paths.h"

static struct func_warp *warp_of(const struct step_cta *c, unsigned warp)
{
  return (struct func_warp *)c->warp[warp];
}

uint8_t *func_shared_memory(struct step_cta *c, uint64_t *bytes)
{
  const struct func_cta *cta = (const struct func_cta *)c;
  *bytes = cta->warps[0].launch->shared_limit;
  return *bytes ? cta->shared : NULL;
}

uint8_t *func_local_memory(struct step_cta *c, unsigned warp, unsigned lane, uint64_t *bytes)
{
  *bytes = c->source->local_bytes;
  if (!*bytes) return NULL;
  ((struct func_cta *)c)->local_dirty = true; /* it may be written: the next CTA here finds zeros */
  return warp_of(c, warp)->local + *bytes * lane;
}

unsigned func_register_count(const struct step_cta *c)
{
  return ((const struct func_cta *)c)->warps[0].launch->n_regs;
}

int func_describe_path(const struct step_cta *c, unsigned warp, unsigned i, char *buf, size_t size)
{
  return path_describe(warp_of(c, warp), i, buf, size);
}

/* 64-bit FNV-1a over words instead of bytes: registers and memory come in words. */
static uint64_t mix(uint64_t h, const void *data, size_t bytes)
{
  const uint32_t *word = data;
  for (size_t i = 0; i < bytes / sizeof *word; i++) h = (h ^ word[i]) * UINT64_C(0x100000001b3);
  for (size_t i = bytes & ~(size_t)3; i < bytes; i++) h = (h ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001b3);
  return h;
}

static uint64_t mix_number(uint64_t h, uint64_t n)
{
  return mix(h, &n, sizeof n);
}

static uint64_t mix_paths(uint64_t h, const struct step_paths *p)
{
  for (unsigned i = 0; i < p->n; i++) {
    h = mix_number(h, p->p[i].pc);
    h = mix_number(h, p->p[i].mask);
    h = mix_number(h, (uint64_t)p->p[i].wait << 1 | p->p[i].yielded);
  }
  return h;
}

static uint64_t mix_warp(uint64_t h, const struct func_warp *w)
{
  const struct func_launch *l = w->launch;
  h = mix_number(h, w->mactive);
  h = mix_paths(h, &w->step.paths);
  h = mix(h, w->base[BASE_REG], l->n_regs * (size_t)ROW_BYTES);
  h = mix(h, w->base[BASE_UREG], l->n_uregs * (size_t)ROW_BYTES);
  h = mix(h, w->pred, sizeof w->pred);
  for (unsigned b = 0; b < N_BREGS; b++)
    if (w->bregs_set >> b & 1) h = mix(h, w->breg[b], sizeof w->breg[b]);
  return mix(h, w->local, (size_t)l->source.local_bytes * LANES);
}

uint64_t func_digest(struct step_cta *c, uint64_t seed)
{
  uint64_t bytes, h = mix_number(seed, c->id);
  const uint8_t *shared = func_shared_memory(c, &bytes);
  if (shared) h = mix(h, shared, bytes);
  for (unsigned k = 0; k < c->n_warps; k++) h = mix_warp(h, warp_of(c, k));
  return h;
}
