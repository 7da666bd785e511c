/* Directions of Sobol sequences. Their numbers are those that S. Joe and F. Y. Kuo published (Constructing Sobol
 * sequences with better two-dimensional projections, SIAM J. Sci. Comput. 30, 2008; their table new-joe-kuo-6,
 * Copyright (c) 2008 Frances Y. Kuo and Stephen Joe, under a BSD licence), packed by tools/joe_kuo.py.
 */
#include <pthread.h>
#include <stdlib.h>

#include "libs/curand/rand_types.h"

enum { MOST_DEGREE = 18, BITS = WS_SOBOL_BITS };

extern const unsigned char warpstep_image_joe_kuo[];

static uint64_t take_bits(uint64_t *at, int width)
{
  uint64_t v = 0;
  for (int b = 0; b < width; b++, ++*at) v |= (uint64_t)(warpstep_image_joe_kuo[*at / 8] >> (*at % 8) & 1) << b;
  return v;
}

/* The directions of the next dimension of the table. */
static void next_dimension(uint64_t *at, uint64_t *v)
{
  const int degree = (int)take_bits(at, 5);
  const uint64_t inner = take_bits(at, degree - 1); /* coefficients between the first and the last */
  for (int j = 0; j < BITS; j++) {
    if (j < degree) {
      v[j] = (take_bits(at, j) << 1 | 1) << (BITS - 1 - j);
      continue;
    }
    v[j] = v[j - degree] ^ (v[j - degree] >> degree);
    for (int k = 1; k < degree; k++)
      if (inner >> (degree - 1 - k) & 1) v[j] ^= v[j - k];
  }
}

/* J. Matousek, On the L2-discrepancy for anchored boxes (1998): digits are multiplied with a random lower triangle, and
 * a random number is added. Each dimension has its own. */
static void scramble(uint64_t dimension, uint64_t *v)
{
  uint64_t seed = dimension << 32, row[BITS];
  for (int i = 0; i < BITS; i++) {
    const uint64_t own = UINT64_C(1) << (BITS - 1 - i);
    row[i] = own | (rand_splitmix(&seed) & ~(own - 1));
  }
  for (int j = 0; j < BITS; j++) {
    uint64_t digits = 0;
    for (int i = 0; i < BITS; i++) digits = digits << 1 | (uint64_t)__builtin_parityll(v[j] & row[i]);
    v[j] = digits;
  }
  v[BITS] = rand_splitmix(&seed);
}

static void sobol_directions(uint64_t *v, uint32_t dimensions, bool scrambled)
{
  uint64_t at = 0;
  for (uint32_t d = 0; d < dimensions; d++, v += WS_SOBOL_WORDS) {
    if (d) next_dimension(&at, v);
    for (int j = 0; j < BITS && !d; j++) v[j] = UINT64_C(1) << (BITS - 1 - j);
    v[BITS] = 0;
    if (scrambled) scramble(d, v);
  }
}

bool rand_directions(struct generator *g)
{
  uint64_t *v = realloc(g->directions, g->dimensions * sizeof *v * WS_SOBOL_WORDS);
  if (!v) return false;
  g->directions = v;
  sobol_directions(v, g->dimensions, g->scrambled);
  return true;
}

/* Tables for kernels of programs stay until the process ends: nobody hands them back. */
static struct {
  pthread_mutex_t lock;
  struct tables {
    uint32_t *narrow, *narrow_constants;
    uint64_t *wide, *wide_constants;
  } of[2]; /* scrambled or not */
} the_directions = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool fill(struct tables *t, bool scrambled)
{
  enum { ALL = RAND_MOST_DIMENSIONS, NARROW = 32 };
  uint64_t *const v = calloc(ALL, sizeof *v * WS_SOBOL_WORDS), *const wide = calloc(ALL, sizeof *wide * BITS);
  uint64_t *const wide_constants = calloc(ALL, sizeof *wide_constants);
  uint32_t *const narrow = calloc(ALL, sizeof *narrow * NARROW), *const constants = calloc(ALL, sizeof *constants);
  const bool all = v && wide && wide_constants && narrow && constants;
  if (all) {
    sobol_directions(v, ALL, scrambled);
    for (size_t d = 0; d < ALL; d++) {
      const uint64_t *from = v + d * WS_SOBOL_WORDS;
      for (size_t j = 0; j < BITS; j++) wide[d * BITS + j] = from[j];
      for (size_t j = 0; j < NARROW; j++) narrow[d * NARROW + j] = (uint32_t)(from[j] >> 32);
      wide_constants[d] = from[BITS], constants[d] = (uint32_t)(from[BITS] >> 32);
    }
    *t = (struct tables){narrow, constants, wide, wide_constants};
  } else {
    free(wide), free(wide_constants), free(narrow), free(constants);
  }
  free(v);
  return all;
}

/* NULL: no memory. */
static const struct tables *tables_of(bool scrambled)
{
  struct tables *t = &the_directions.of[scrambled];
  pthread_mutex_lock(&the_directions.lock);
  const bool there = t->wide || fill(t, scrambled);
  pthread_mutex_unlock(&the_directions.lock);
  return there ? t : NULL;
}

enum { SET_32 = 101, SET_SCRAMBLED_32, SET_64, SET_SCRAMBLED_64 }; /* curandDirectionVectorSet */

PUBLIC rand_status curandGetDirectionVectors32(uint32_t **vectors, int set)
{
  if (!vectors || (set != SET_32 && set != SET_SCRAMBLED_32)) return RAND_OUT_OF_RANGE;
  const struct tables *t = tables_of(set == SET_SCRAMBLED_32);
  *vectors = t ? t->narrow : NULL;
  return t ? RAND_SUCCESS : RAND_ALLOCATION_FAILED;
}
PUBLIC rand_status curandGetDirectionVectors64(uint64_t **vectors, int set)
{
  if (!vectors || (set != SET_64 && set != SET_SCRAMBLED_64)) return RAND_OUT_OF_RANGE;
  const struct tables *t = tables_of(set == SET_SCRAMBLED_64);
  *vectors = t ? t->wide : NULL;
  return t ? RAND_SUCCESS : RAND_ALLOCATION_FAILED;
}
PUBLIC rand_status curandGetScrambleConstants32(uint32_t **constants)
{
  const struct tables *t = tables_of(true);
  if (!constants) return RAND_OUT_OF_RANGE;
  *constants = t ? t->narrow_constants : NULL;
  return t ? RAND_SUCCESS : RAND_ALLOCATION_FAILED;
}
PUBLIC rand_status curandGetScrambleConstants64(uint64_t **constants)
{
  const struct tables *t = tables_of(true);
  if (!constants) return RAND_OUT_OF_RANGE;
  *constants = t ? t->wide_constants : NULL;
  return t ? RAND_SUCCESS : RAND_ALLOCATION_FAILED;
}
