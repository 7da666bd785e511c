/* Where sequences begin. Lanes of a generator are places of its sequence far from each other (2^67 words of XORWOW,
 * 2^76 of MRG32k3a, as L'Ecuyer's substreams), found by powers of the matrix that makes a state of the one before.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libs/curand/rand_types.h"
#include "libs/kernels/rand_sequences.h"

enum { XORWOW_APART = 67, MRG_APART = 76, XOR_WORDS = 5, XOR_BITS = 32 * XOR_WORDS };

/* Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014). */
uint64_t rand_splitmix(uint64_t *s)
{
  uint64_t z = *s += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* A linear map of 160 bits: what it makes of each. */
struct bits {
  uint32_t word[XOR_WORDS];
};
struct xor_map {
  struct bits of[XOR_BITS];
};

static struct bits xor_apply(const struct xor_map *m, const struct bits *v)
{
  struct bits r = {{0}};
  for (int i = 0; i < XOR_BITS; i++)
    if (v->word[i / 32] >> (i % 32) & 1)
      for (int w = 0; w < XOR_WORDS; w++) r.word[w] ^= m->of[i].word[w];
  return r;
}

/* m after m */
static void xor_square(struct xor_map *m, struct xor_map *spare)
{
  for (int i = 0; i < XOR_BITS; i++) spare->of[i] = xor_apply(m, &m->of[i]);
  *m = *spare;
}

static void xor_step(struct xor_map *m)
{
  for (int i = 0; i < XOR_BITS; i++) {
    uint32_t s[WS_RAND_LANE_WORDS] = {0};
    s[i / 32] = UINT32_C(1) << (i % 32);
    xorwow_next(s);
    memcpy(m->of[i].word, s, sizeof m->of[i].word);
  }
}

static bool seed_xorwow(struct generator *g, const uint64_t *steps)
{
  struct xor_map *m = malloc(2 * sizeof *m);
  struct bits lane;
  uint64_t s = g->seed;
  if (!m) return false;
  for (int w = 0; w < XOR_WORDS; w++) lane.word[w] = (uint32_t)(rand_splitmix(&s) >> 32);
  if (!(lane.word[0] | lane.word[1] | lane.word[2] | lane.word[3] | lane.word[4])) lane.word[0] = 1;
  const uint32_t d = (uint32_t)(rand_splitmix(&s) >> 32);
  xor_step(m);
  for (int i = 0; i < XORWOW_APART; i++) xor_square(m, m + 1);
  for (int l = 0; l < WS_RAND_LANES; l++, lane = xor_apply(m, &lane)) {
    for (int w = 0; w < XOR_WORDS; w++) g->state[w * WS_RAND_LANES + l] = lane.word[w];
    g->state[XOR_WORDS * WS_RAND_LANES + l] = d + (uint32_t)steps[l] * 362437u; /* 2^67 of them add 0 */
  }
  xor_step(m);
  for (int bit = 0; bit < 64 && steps[0] >> bit; bit++, xor_square(m, m + 1))
    for (int l = 0; l < WS_RAND_LANES; l++)
      if (steps[l] >> bit & 1) {
        struct bits v;
        for (int w = 0; w < XOR_WORDS; w++) v.word[w] = g->state[w * WS_RAND_LANES + l];
        v = xor_apply(m, &v);
        for (int w = 0; w < XOR_WORDS; w++) g->state[w * WS_RAND_LANES + l] = v.word[w];
      }
  free(m);
  return true;
}

struct matrix {
  uint64_t of[3][3];
};

static void multiply(struct matrix *a, const struct matrix *b, uint64_t m)
{
  struct matrix r = {{{0}}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++) r.of[i][j] = (r.of[i][j] + a->of[i][k] * b->of[k][j] % m) % m;
  *a = r;
}
static void apply(const struct matrix *a, uint32_t *v, uint64_t m)
{
  uint64_t r[3] = {0};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) r[i] = (r[i] + a->of[i][k] * v[k] % m) % m;
  for (int i = 0; i < 3; i++) v[i] = (uint32_t)r[i];
}

static void seed_mrg(struct generator *g, const uint64_t *steps)
{
  static const struct {
    struct matrix step;
    uint64_t modulus;
  } part[2] = {{{{{0, 1, 0}, {0, 0, 1}, {MRG_M1 - MRG_A13, MRG_A12, 0}}}, MRG_M1},
               {{{{0, 1, 0}, {0, 0, 1}, {MRG_M2 - MRG_A23, 0, MRG_A21}}}, MRG_M2}};
  uint64_t s = g->seed;
  for (int c = 0; c < 2; c++) {
    const uint64_t m = part[c].modulus;
    struct matrix far = part[c].step, one = far;
    uint32_t lane[3] = {12345, 12345, 12345}; /* L'Ecuyer's, of seed 0 */
    for (int w = 0; w < 3 && g->seed; w++) lane[w] = (uint32_t)(1 + rand_splitmix(&s) % (m - 1));
    for (int i = 0; i < MRG_APART; i++) multiply(&far, &far, m);
    for (int l = 0; l < WS_RAND_LANES; l++, apply(&far, lane, m))
      for (int w = 0; w < 3; w++) g->state[(3 * c + w) * WS_RAND_LANES + l] = lane[w];
    for (int bit = 0; bit < 64 && steps[0] >> bit; bit++, multiply(&one, &one, m))
      for (int l = 0; l < WS_RAND_LANES; l++) {
        if (!(steps[l] >> bit & 1)) continue;
        for (int w = 0; w < 3; w++) lane[w] = g->state[(3 * c + w) * WS_RAND_LANES + l];
        apply(&one, lane, m);
        for (int w = 0; w < 3; w++) g->state[(3 * c + w) * WS_RAND_LANES + l] = lane[w];
      }
  }
}

/* The lanes at the generator's offset: lane l has made those words before it whose number is l of `lanes`. */
static bool seed_lanes(struct generator *g)
{
  uint64_t *steps = malloc(WS_RAND_LANES * sizeof *steps);
  if (!steps) return false;
  for (uint32_t l = 0; l < WS_RAND_LANES; l++)
    steps[l] = g->offset / WS_RAND_LANES + (l < g->offset % WS_RAND_LANES);
  bool done = true;
  if (g->kind == WS_XORWOW) done = seed_xorwow(g, steps);
  else seed_mrg(g, steps);
  free(steps);
  return done;
}

static void mt_start(uint32_t *s, uint32_t seed)
{
  s[0] = seed;
  for (uint32_t i = 1; i < WS_MT_WORDS; i++) s[i] = UINT32_C(1812433253) * (s[i - 1] ^ (s[i - 1] >> 30)) + i;
}

/* As the authors' program of 2002 seeds: by a number, or by an array of two. */
static void seed_mt(struct generator *g)
{
  uint32_t *s = g->state;
  s[WS_MT_WORDS] = WS_MT_WORDS;
  if (g->seed >> 32 == 0) {
    mt_start(s, (uint32_t)g->seed);
    return;
  }
  const uint32_t key[2] = {(uint32_t)g->seed, (uint32_t)(g->seed >> 32)};
  uint32_t i = 1;
  mt_start(s, UINT32_C(19650218));
  for (uint32_t k = 0; k < WS_MT_WORDS; k++) {
    s[i] = (s[i] ^ ((s[i - 1] ^ (s[i - 1] >> 30)) * UINT32_C(1664525))) + key[k % 2] + k % 2;
    if (++i == WS_MT_WORDS) s[0] = s[WS_MT_WORDS - 1], i = 1;
  }
  for (uint32_t k = 1; k < WS_MT_WORDS; k++) {
    s[i] = (s[i] ^ ((s[i - 1] ^ (s[i - 1] >> 30)) * UINT32_C(1566083941))) - i;
    if (++i == WS_MT_WORDS) s[0] = s[WS_MT_WORDS - 1], i = 1;
  }
  s[0] = UINT32_C(0x80000000);
}

size_t rand_state_words(const struct generator *g)
{
  if (g->kind == WS_MT19937) return WS_MT_WORDS + 1;
  return g->kind == WS_XORWOW || g->kind == WS_MRG32K3A ? WS_RAND_LANES * WS_RAND_LANE_WORDS : 0;
}

bool rand_seed(struct generator *g)
{
  const size_t words = rand_state_words(g);
  g->position = g->offset;
  if (!words) return true;
  if (!g->state) g->state = malloc(words * sizeof *g->state);
  if (!g->state) return false;
  if (g->kind != WS_MT19937) return seed_lanes(g);
  seed_mt(g);
  return true;
}

bool rand_poisson_table(struct generator *g, double lambda)
{
  const double reach = 40 + 12 * sqrt(lambda), least = floor(lambda - reach);
  const double first = least > 0 ? least : 0;
  const uint32_t entries = (uint32_t)(lambda + reach - first) + 1;
  double *t = realloc(g->table, entries * sizeof *t), sum = 0;
  if (!t) return false;
  for (uint32_t i = 0; i < entries; i++) {
    const double k = first + i;
    sum += exp(k * log(lambda) - lambda - lgamma(k + 1));
    t[i] = sum;
  }
  for (uint32_t i = 0; i < entries; i++) t[i] /= sum;
  g->table = t;
  g->least = (uint32_t)first;
  g->entries = entries;
  g->lambda = lambda;
  return true;
}
