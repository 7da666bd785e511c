// Connectionist temporal classification (Graves, Fernandez, Gomez, Schmidhuber 2006): minus the logarithm of the probability of
// a sample's labels, summed over all paths that have them, and its gradient for the activations before the softmax. A CTA
// per sample, a thread per state. Probabilities are logarithms in FP32, those of a time relative to the largest of its states, so
// that rounding is that of small numbers; sums are in a fixed order.
#include "ctc_args.h"

enum { THREADS = 256, WARPS = THREADS / 32 };

struct chain {
  int symbol[WS_CTC_STATES]; // of each state: blanks are the even ones
  int next[WS_CTC_STATES];   // the next state of that symbol, or 0
  bool first[WS_CTC_STATES]; // none before has that symbol
  float row[2][WS_CTC_STATES], part[WS_CTC_STATES];
  float of_warp[3][WARPS]; // what over_cta() has between barriers
};

struct sample {
  const ws_ctc_args &p;
  chain &c;
  int n, times, states;
  float *sums, *alpha; // in the room: logarithm of a softmax's sum, of each time; forward variables

  __device__ float in(int t, int k) const { return p.x[t * p.x_stride[0] + n * p.x_stride[1] + k * p.x_stride[2]]; }
  __device__ float log_of(int t, int k) const { return p.softmax ? in(t, k) - sums[t] : logf(in(t, k)); }
  __device__ float *gradient(int t, int k) const
  {
    return p.gradients + t * p.gradient_stride[0] + n * p.gradient_stride[1] + k * p.gradient_stride[2];
  }
  __device__ float probability(int t, int k) const { return p.softmax ? expf(log_of(t, k)) : in(t, k); }
  // Whether a path may come to state s from the one before the blank.
  __device__ bool jumps(int s) const { return (s & 1) && s >= 3 && c.symbol[s] != c.symbol[s - 2]; }
};

#define EACH(i, n) for (int i = threadIdx.x; i < (n); i += THREADS)

__device__ inline float log_add(float a, float b, float c)
{
  const float most = fmaxf(a, fmaxf(b, c));
  if (most == -INFINITY) return most;
  return most + logf(expf(a - most) + expf(b - most) + expf(c - most));
}

__device__ inline float over_warp(float v, bool largest)
{
  for (int step = 16; step; step /= 2) {
    const float other = __shfl_xor_sync(~0u, v, step);
    v = largest ? fmaxf(v, other) : v + other;
  }
  return v;
}

// Over all threads, which have passed a barrier when it returns. One room may be used again after another barrier.
__device__ float over_cta(float (&room)[WARPS], float v, bool largest)
{
  v = over_warp(v, largest);
  if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = v;
  __syncthreads();
  v = room[0];
  for (int w = 1; w < WARPS; w++) v = largest ? fmaxf(v, room[w]) : v + room[w];
  return v;
}
// The same of what is taken off logarithms: where all are those of 0, nothing.
__device__ inline float largest_over_cta(float (&room)[WARPS], float v)
{
  v = over_cta(room, v, true);
  return v == -INFINITY ? 0 : v;
}

// Logarithms of the sums of softmax, a warp for each time.
__device__ void softmax_sums(const sample &q)
{
  const int lane = threadIdx.x % 32;
  for (int t = threadIdx.x / 32; t < q.times; t += WARPS) {
    float most = -INFINITY, sum = 0;
    for (int k = lane; k < q.p.symbols; k += 32) most = fmaxf(most, q.in(t, k));
    most = over_warp(most, true);
    for (int k = lane; k < q.p.symbols; k += 32) sum += expf(q.in(t, k) - most);
    sum = over_warp(sum, false);
    if (!lane) q.sums[t] = most + logf(sum);
  }
}

// The states of a sample's labels. False: one is no symbol, or a blank.
__device__ bool make_chain(const sample &q, const int32_t *labels)
{
  bool right = true;
  EACH(s, q.states)
  {
    const int k = s & 1 ? labels[s / 2] : 0;
    q.c.symbol[s] = k;
    right = right && (!(s & 1) || (k > 0 && k < q.p.symbols));
  }
  right = __syncthreads_and(right);
  EACH(s, q.states)
  {
    int before = s & 1 ? s - 2 : -1, behind = s + 2;
    while (before > 0 && q.c.symbol[before] != q.c.symbol[s]) before -= 2;
    while (behind < q.states && q.c.symbol[behind] != q.c.symbol[s]) behind += 2;
    q.c.first[s] = before < 0;
    q.c.next[s] = (s & 1) && behind < q.states ? behind : 0;
  }
  __syncthreads();
  return right;
}

// Between two labels that are the same a path has a blank.
__device__ bool fits(const sample &q)
{
  int repeats = 0;
  for (int s = 3; s < q.states; s += 2) repeats += q.c.symbol[s] == q.c.symbol[s - 2];
  return q.states / 2 + repeats <= q.times;
}

// Forward variables of all times, each relative to the time before; the logarithm of the labels' probability.
__device__ double forward(const sample &q)
{
  double all = 0;
  float before = 0;
  for (int t = 0; t < q.times; t++) {
    float *now = q.c.row[t & 1], most = -INFINITY;
    const float *last = q.c.row[~t & 1];
    EACH(s, q.states)
    {
      float v = s < 2 ? 0 : -INFINITY;
      if (t) v = log_add(last[s], s ? last[s - 1] : -INFINITY, q.jumps(s) ? last[s - 2] : -INFINITY) - before;
      now[s] = q.alpha[(int64_t)t * q.states + s] = v + q.log_of(t, q.c.symbol[s]);
      most = fmaxf(most, now[s]);
    }
    all += before;
    before = largest_over_cta(q.c.of_warp[t & 1], most);
  }
  const float *last = q.c.row[(q.times - 1) & 1];
  const float end = q.times ? log_add(last[q.states - 1], q.states > 1 ? last[q.states - 2] : -INFINITY, -INFINITY) : 0;
  __syncthreads();
  return all + end;
}

// Of one time: a symbol's probability less the share of all paths that are at it. The shares of all states are 1 together.
__device__ void gradient_of(const sample &q, int t, const float *beta)
{
  float most = -INFINITY, sum = 0;
  EACH(s, q.states) most = fmaxf(most, q.c.part[s] = q.alpha[(int64_t)t * q.states + s] + beta[s]);
  most = over_cta(q.c.of_warp[0], most, true);
  EACH(s, q.states) sum += q.c.part[s] = expf(q.c.part[s] - most);
  EACH(k, q.p.symbols) *q.gradient(t, k) = q.probability(t, k);
  sum = over_cta(q.c.of_warp[1], sum, false);
  EACH(s, q.states)
  {
    if (!(s & 1) || !q.c.first[s]) continue;
    float share = 0;
    for (int i = s; i; i = q.c.next[i]) share += q.c.part[i];
    *q.gradient(t, q.c.symbol[s]) = q.probability(t, q.c.symbol[s]) - share / sum;
  }
  if (threadIdx.x >= 32) return;
  float blanks = 0;
  for (int s = threadIdx.x * 2; s < q.states; s += 64) blanks += q.c.part[s];
  blanks = over_warp(blanks, false);
  if (!threadIdx.x) *q.gradient(t, 0) = q.probability(t, 0) - blanks / sum;
}

// Backward variables, without what a state itself gives, and gradients of all times.
__device__ void backward(const sample &q)
{
  float *beta = q.c.row[0], *given = q.c.row[1];
  EACH(s, q.states) beta[s] = s + 2 >= q.states ? 0 : -INFINITY;
  for (int t = q.times - 1; t >= 0; t--) {
    float most = -INFINITY;
    gradient_of(q, t, beta);
    EACH(s, q.states) most = fmaxf(most, given[s] = beta[s] + q.log_of(t, q.c.symbol[s]));
    most = largest_over_cta(q.c.of_warp[2], most);
    EACH(s, q.states)
      beta[s] = log_add(given[s], s + 1 < q.states ? given[s + 1] : -INFINITY,
                        s + 2 < q.states && q.jumps(s + 2) ? given[s + 2] : -INFINITY) - most;
  }
}

__device__ void fill_gradients(const sample &q, int from, float v)
{
  for (int t = from; t < q.p.times; t++) EACH(k, q.p.symbols) *q.gradient(t, k) = v;
}

extern "C" __global__ void __launch_bounds__(THREADS) warpstep_ctc(const __grid_constant__ ws_ctc_args p)
{
  __shared__ chain c;
  const int n = blockIdx.x, labels = p.label_lengths[n], times = p.input_lengths[n];
  const int64_t most_states = 2 * (int64_t)p.most_labels + 1;
  float *room = p.room + n * (int64_t)p.times * (1 + most_states);
  sample q = {p, c, n, times, 2 * labels + 1, room, room + p.times};
  int64_t at = 0;
  for (int i = 0; i < n; i++) at += p.label_lengths[i];
  // Lengths and labels that cannot be give what is not a number.
  if (labels < 0 || labels > p.most_labels || times < 0 || times > p.times || !make_chain(q, p.labels + at)) {
    if (!threadIdx.x) p.costs[n] = NAN;
    if (p.gradients) fill_gradients(q, 0, NAN);
    return;
  }
  if (p.softmax) softmax_sums(q);
  __syncthreads();
  const bool possible = fits(q);
  const double likelihood = possible ? forward(q) : -INFINITY;
  if (!threadIdx.x) p.costs[n] = (float)-likelihood;
  if (!p.gradients || (!possible && p.keeps_gradients)) return;
  if (possible) backward(q);
  fill_gradients(q, possible ? q.times : 0, 0);
}
