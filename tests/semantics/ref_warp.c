/* Reference: instructions across the lanes of a warp. Rules: PTX ISA 9.0 (shfl.sync, vote.sync,
 * match.sync, redux.sync, elect.sync) with the executing lanes as the member mask. A lane that
 * does not execute is read as its register is (PTX leaves it undefined). R2UR takes the value of
 * the first executing lane; ELECT elects the first.
 */
#include <math.h>
#include <string.h>

#include "sem.h"

#define EACH_LANE for (unsigned i = 0; i < SEM_LANES; i++)

static bool shfl(const struct ref_in *in, struct ref_out *o)
{
  o->pu = 0;
  EACH_LANE
  {
    const uint32_t b = in->src[1][0][i] & 31, c = in->src[2][0][i], seg = c >> 8 & 31,
                   clamp = c & 31;
    const int lane = (int)i, max_lane = (int)((i & seg) | (clamp & ~seg));
    int j;
    bool p;
    switch (get(in, FLD_SHFL_MODE)) {
    case 0: j = (int)((i & seg) | (b & ~seg)), p = j <= max_lane; break;
    case 1: j = lane - (int)b, p = j >= max_lane; break;
    case 2: j = lane + (int)b, p = j <= max_lane; break;
    default: j = (int)(i ^ b), p = j <= max_lane;
    }
    o->d[0][i] = in->src[0][0][p ? j & 31 : lane];
    o->pu |= (uint32_t)p << i;
  }
  return true;
}

static bool vote(const struct ref_in *in, struct ref_out *o)
{
  unsigned yes = 0, no = 0;
  uint32_t ballot = 0;
  EACH_LANE
  {
    if (!lane_of(in->exec, i)) continue;
    if (lane_of(in->pp, i))
      yes++, ballot |= 1u << i;
    else
      no++;
  }
  bool r;
  switch (get(in, FLD_VOTE_OP)) {
  case 0: r = no == 0; break;
  case 1: r = yes > 0; break;
  case 2: r = yes == 0 || no == 0; break;
  default: return false;
  }
  EACH_LANE o->d[0][i] = ballot;
  o->pu = r ? UINT32_MAX : 0;
  return true;
}

static uint64_t value(const struct ref_in *in, unsigned lane, bool wide)
{
  return wide ? pair(in, 0, 0, lane) : in->src[0][0][lane];
}

static bool match(const struct ref_in *in, struct ref_out *o)
{
  const bool any = get(in, FLD_MATCH_ANY), wide = get(in, FLD_MATCH_U64);
  bool all = true;
  EACH_LANE
  {
    o->d[0][i] = 0;
    for (unsigned k = 0; k < SEM_LANES; k++) {
      if (!lane_of(in->exec, k)) continue;
      bool same = value(in, k, wide) == value(in, i, wide);
      o->d[0][i] |= (uint32_t)same << k;
      if (lane_of(in->exec, i)) all &= same;
    }
  }
  EACH_LANE if (!any) o->d[0][i] = all ? in->exec : 0;
  o->pu = all ? UINT32_MAX : 0;
  return !any || in->s->pu == SASS_PT; /* ANY has no predicate in PTX */
}

static uint32_t combine(uint64_t op, bool sign, uint32_t x, uint32_t y)
{
  const bool less = sign ? (int32_t)x < (int32_t)y : x < y;
  switch (op) {
  case 0: return x & y;
  case 1: return x | y;
  case 2: return x ^ y;
  case 3: return x + y;
  case 4: return less ? x : y;
  default: return less ? y : x;
  }
}

/* A uniform register. */
static void to_path(struct ref_out *o, uint32_t v)
{
  EACH_LANE o->d[0][i] = v;
}

/* redux.sync of FP32: magnitudes with bit 0 of the operation; NaN counts with .NAN alone, -0 is below +0. */
static bool redux_f32(const struct ref_in *in, struct ref_out *o)
{
  const bool min = get(in, FLD_CREDUX_OP) & 2, nan_wins = get(in, FLD_CREDUX_NAN);
  bool any = false, nan = false;
  float r = 0;
  EACH_LANE
  {
    float v;
    uint32_t bits = in->src[0][0][i];
    if (get(in, FLD_CREDUX_OP) & 1) bits &= 0x7fffffff;
    memcpy(&v, &bits, sizeof v);
    if (!lane_of(in->exec, i)) continue;
    if (v != v) {
      nan = true;
      continue;
    }
    const bool below = v < r || (v == r && signbit(v) && !signbit(r));
    if (!any || (v != r || signbit(v) != signbit(r) ? below == min : false)) r = v;
    any = true;
  }
  uint32_t bits;
  memcpy(&bits, &r, sizeof r);
  to_path(o, !any || (nan && nan_wins) ? 0x7fffffff : bits);
  return true;
}

static bool redux(const struct ref_in *in, struct ref_out *o)
{
  const unsigned type = (unsigned)get(in, FLD_CREDUX_TYPE);
  if (type == 2) return redux_f32(in, o);
  if (type > 2 || get(in, FLD_CREDUX_OP) & 1 || get(in, FLD_CREDUX_NAN)) return false;
  const uint64_t op =
      in->sem == SEM_CREDUX ? (get(in, FLD_CREDUX_OP) & 2 ? 4 : 5) : get(in, FLD_REDUX_OP);
  bool first = true;
  uint32_t r = 0;
  EACH_LANE
  {
    if (!lane_of(in->exec, i)) continue;
    r = first ? in->src[0][0][i] : combine(op, get(in, FLD_SIGNED_OR_NONE) || type == 1, r, in->src[0][0][i]);
    first = false;
  }
  to_path(o, r);
  return op <= 5;
}

/* Pu: the value is not the one moved; with ACC or what it was (compiler output: loops over the
 * different values of a warp). */
static bool r2ur(const struct ref_in *in, struct ref_out *o)
{
  unsigned first = 0;
  uint32_t any = 0;
  while (first < 31 && !lane_of(in->exec, first)) first++;
  EACH_LANE
  {
    if (lane_of(in->exec, i)) any |= in->src[0][0][i];
    o->pu = (o->pu & ~(1u << i)) | (uint32_t)(in->src[0][0][i] != in->src[0][0][first]) << i;
  }
  if (get(in, FLD_R2UR_ACC)) o->pu |= in->before->pred[in->s->pu];
  to_path(o, get(in, FLD_R2UR_OR) ? any : in->src[0][0][first]);
  return true;
}

static bool elect(const struct ref_in *in, struct ref_out *o)
{
  o->pu = 0;
  to_path(o, 0);
  EACH_LANE
  {
    if (!lane_of(in->exec & in->pp, i) || o->pu) continue;
    o->pu = 1u << i;
    to_path(o, i);
  }
  return true;
}

bool ref_warp(const struct ref_in *in, struct ref_out *o)
{
  o->rows = 1;
  switch (in->sem) {
  case SEM_SHFL: return shfl(in, o);
  case SEM_VOTE:
  case SEM_VOTEU: return vote(in, o);
  case SEM_MATCH: return match(in, o);
  case SEM_REDUX:
  case SEM_CREDUX: return redux(in, o);
  case SEM_R2UR: return r2ur(in, o);
  case SEM_ELECT: return elect(in, o);
  default: return false;
  }
}
