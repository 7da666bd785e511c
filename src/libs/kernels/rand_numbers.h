/* Numbers of a distribution out of raw words, once for the host (C) and for kernels (CUDA C++). */
#ifndef WS_RAND_NUMBERS_H
#define WS_RAND_NUMBERS_H

#include <math.h>
#include <stdbool.h>

#include "libs/kernels/rand_sequences.h"

/* Above 0, at most 1. */
RAND_FN double unit_of(const struct ws_rand_number_args *p, uint32_t high, uint32_t low)
{
  const double w = p->wide ? (double)high + ((double)low + 0.5) * 0x1p-32 : (double)high + p->shift;
  return w * p->scale;
}

/* The number below which a normal one lies with probability u: a start (Abramowitz and Stegun 26.2.23, good to 4.5e-4)
 * and two steps of Halley's iteration. */
RAND_FN double normal_quantile(double u)
{
  const bool upper = u > 0.5;
  const double small = upper ? 1 - u : u, tail = small > 1e-300 ? small : 1e-300; /* u = 1: far out */
  const double t = sqrt(-2 * log(tail));
  double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  for (int i = 0; i < 2; i++) { /* x: that above which `tail` is */
    const double off = (0.5 * erfc(x * 0.70710678118654752440) - tail) * 2.50662827463100050242 * exp(x * x / 2);
    x += off / (1 + off * x / 2);
  }
  return upper ? x : -x;
}

RAND_FN void normal_pair(double u, double v, double *a, double *b)
{
  const double r = sqrt(-2 * log(u)), angle = 6.28318530717958647692 * v;
  *a = r * sin(angle), *b = r * cos(angle);
}
RAND_FN void normal_pair_f32(float u, float v, double *a, double *b)
{
  const float r = sqrtf(-2 * logf(u)), angle = 6.28318530717958647692f * v;
  *a = r * sinf(angle), *b = r * cosf(angle);
}

RAND_FN void put_number(const struct ws_rand_number_args *p, uint64_t i, double v)
{
  if (p->form == WS_NORMAL || p->form == WS_LOG_NORMAL) v = p->mean + p->deviation * v;
  if (p->form == WS_LOG_NORMAL) v = p->wide ? exp(v) : (double)expf((float)v);
  if (p->wide) ((double *)p->out)[i] = v;
  else ((float *)p->out)[i] = (float)v;
}

RAND_FN double take_unit(const struct ws_rand_number_args *p, uint64_t i)
{
  return p->wide ? unit_of(p, p->out[2 * i + 1], p->out[2 * i]) : unit_of(p, p->out[i], 0);
}

RAND_FN uint32_t poisson_of(const struct ws_rand_number_args *p, double u)
{
  uint32_t low = 0, high = p->entries - 1; /* the first entry that is not below u */
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (p->table[middle] < u) low = middle + 1;
    else high = middle;
  }
  return p->least + low;
}

/* Numbers i and i + 1 when they are a pair of normal ones, else number i: which is done says `number_step`. */
RAND_FN uint32_t number_step(const struct ws_rand_number_args *p)
{
  return (p->form == WS_NORMAL || p->form == WS_LOG_NORMAL) && !p->quasi ? 2 : 1;
}
RAND_FN void make_number(const struct ws_rand_number_args *p, uint64_t i)
{
  const double u = take_unit(p, i);
  if (p->form == WS_POISSON) {
    p->out[i] = poisson_of(p, u);
  } else if (p->form == WS_UNIFORM) {
    put_number(p, i, u);
  } else if (p->quasi) {
    put_number(p, i, normal_quantile(u));
  } else {
    double a, b;
    const double v = take_unit(p, i + 1);
    if (p->wide) normal_pair(u, v, &a, &b);
    else normal_pair_f32((float)u, (float)v, &a, &b);
    put_number(p, i, a);
    put_number(p, i + 1, b);
  }
}

#endif
