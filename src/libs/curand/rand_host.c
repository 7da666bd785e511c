/* Generators of the host: what the kernels do, by the calling thread. */
#include "libs/curand/rand_types.h"
#include "libs/kernels/rand_numbers.h"

static void lanes(const struct ws_rand_args *a)
{
  for (uint64_t i = 0; i < a->count; i++) {
    const uint32_t lane = (uint32_t)((a->position + i) % WS_RAND_LANES);
    uint32_t s[WS_RAND_LANE_WORDS];
    for (uint32_t w = 0; w < WS_RAND_LANE_WORDS; w++) s[w] = a->state[w * WS_RAND_LANES + lane];
    a->out[i] = lane_next(a->kind, s);
    for (uint32_t w = 0; w < WS_RAND_LANE_WORDS; w++) a->state[w * WS_RAND_LANES + lane] = s[w];
  }
}

static void mersenne(const struct ws_rand_args *a)
{
  uint32_t *s = a->state, *at = &s[WS_MT_WORDS];
  for (uint64_t done = 0; done < a->count; done++) {
    for (uint32_t i = 0; *at == WS_MT_WORDS && i < WS_MT_WORDS; i++)
      s[i] = mt_twist(s[i], s[(i + 1) % WS_MT_WORDS], s[(i + 397) % WS_MT_WORDS]);
    if (*at == WS_MT_WORDS) *at = 0;
    a->out[done] = mt_temper(s[(*at)++]);
  }
}

static void sobol(const struct ws_rand_args *a)
{
  for (uint64_t i = 0; i < a->count; i++) {
    const uint64_t x = sobol_point(a->directions + i / a->points * WS_SOBOL_WORDS, a->position + i % a->points);
    if (a->wide) ((uint64_t *)a->out)[i] = x;
    else a->out[i] = (uint32_t)(x >> 32);
  }
}

void rand_host_words(const struct ws_rand_args *a)
{
  if (a->kind == WS_SOBOL) {
    sobol(a);
  } else if (a->kind == WS_MT19937) {
    mersenne(a);
  } else if (a->kind == WS_PHILOX) {
    for (uint64_t i = 0; i < a->count; i++) a->out[i] = philox_word(a->seed, a->position + i);
  } else {
    lanes(a);
  }
}

void rand_host_numbers(const struct ws_rand_number_args *a)
{
  const uint32_t step = number_step(a);
  for (uint64_t i = 0; i + step <= a->count; i += step) make_number(a, i);
}
