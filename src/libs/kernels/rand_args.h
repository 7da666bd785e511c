/* What the kernels of random numbers take (kernels/rand.cu), seen by the host (C) and by the kernels (CUDA C++). One
 * kernel writes raw words to where the numbers are to be, another makes numbers of them in their places.
 */
#ifndef WS_RAND_ARGS_H
#define WS_RAND_ARGS_H

#include <stdint.h>

enum {
  WS_RAND_LANES = 4096, /* word k of a sequence with lanes is number k / 4096 of lane k % 4096 */
  WS_RAND_LANE_WORDS = 6,
  WS_MT_WORDS = 624,
  WS_SOBOL_BITS = 64,
  WS_SOBOL_WORDS = WS_SOBOL_BITS + 1, /* directions, and what is added to each point */
};

enum ws_rand_kind { WS_XORWOW, WS_MRG32K3A, WS_MT19937, WS_PHILOX, WS_SOBOL };
enum ws_rand_form { WS_RAW, WS_UNIFORM, WS_NORMAL, WS_LOG_NORMAL, WS_POISSON };

struct ws_rand_args {
  uint32_t kind;
  uint64_t seed, position; /* of the first word in the sequence */
  uint64_t count;          /* words; Sobol: numbers */
  uint32_t *state;         /* lanes: word w of lane l at w * lanes + l; MT19937: its words, then the next one's index */
  uint32_t *out;
  /* Sobol: */
  const uint64_t *directions; /* WS_SOBOL_WORDS of each dimension */
  uint64_t points;            /* of each dimension */
  uint32_t wide;              /* 64 bits of each number are stored, not the upper 32 */
};

struct ws_rand_number_args {
  uint32_t form;
  uint32_t wide;  /* numbers of two words each: binary64 */
  uint32_t quasi; /* normal numbers by the inverse of their distribution, one word each */
  uint64_t count; /* numbers */
  double scale, shift; /* a word w is (w + shift) * scale of the unit interval */
  double mean, deviation;
  const double *table; /* Poisson: the distribution function from `least` on */
  uint32_t least, entries;
  uint32_t *out;
};

#endif
