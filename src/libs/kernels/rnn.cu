// Recurrent layers, a time step per launch: the products of the state with the recurrent weights, and what the gates do
// with them. A CTA has 32 units of 8 sequences; its warps share the terms, and their sums are added in a fixed order.
#include "memory.cuh"
#include "rnn_args.h"

enum { ROWS = 8, UNITS = 32, WARPS = 4, CHUNK = 256, PER_WARP = CHUNK / WARPS, MOST_GATES = 4 };

template <typename C> struct step_room {
  C state[ROWS][CHUNK];
  C sum[WARPS][MOST_GATES][ROWS][UNITS];
};

// Of the CTA's rows, terms k0 on: what `chain` has; of rows without, forward (there is a y), `start`.
template <typename T, typename C>
__device__ void load_state(step_room<C> &s, const ws_rnn_args &p, int row0, int k0, int terms)
{
  for (int i = threadIdx.x; i < ROWS * CHUNK; i += WARPS * 32) {
    const int r = i / CHUNK, row = row0 + r, k = k0 + i % CHUNK;
    C v = 0;
    if (row < p.rows && k < terms) {
      if (row < p.chained) v = (C)memory<T>::load((const T *)p.chain + row * p.chain_row, k, p.type);
      else if (p.start && p.y) v = (C)memory<T>::load((const T *)p.start + (int64_t)row * p.hidden, k, p.type);
    }
    s.state[r][i % CHUNK] = v;
  }
}

// sum[g][row] += state[row][k] * weights[k][g * hidden + unit], k over all terms; rows of weights are `width` long.
template <typename T, typename C, int G>
__device__ void multiply(step_room<C> &s, const ws_rnn_args &p, int row0, int unit, int terms, int width)
{
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int column = min(unit, p.hidden - 1);
  C sum[G][ROWS];
#pragma unroll
  for (int g = 0; g < G; g++)
#pragma unroll
    for (int r = 0; r < ROWS; r++) sum[g][r] = 0;
  for (int k0 = 0; k0 < terms; k0 += CHUNK) {
    __syncthreads();
    load_state<T, C>(s, p, row0, k0, terms);
    __syncthreads();
    const int end = min(PER_WARP, terms - k0 - warp * PER_WARP);
#pragma unroll 2
    for (int i = 0; i < end; i++) {
      const int k = warp * PER_WARP + i;
      C w[G];
#pragma unroll
      for (int g = 0; g < G; g++) w[g] = (C)memory<T>::load(p.weights, (k0 + k) * width + g * p.hidden + column, p.type);
#pragma unroll
      for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int g = 0; g < G; g++) sum[g][r] += s.state[r][k] * w[g];
    }
  }
#pragma unroll
  for (int g = 0; g < G; g++)
#pragma unroll
    for (int r = 0; r < ROWS; r++) s.sum[warp][g][r][lane] = sum[g][r];
  __syncthreads();
}

template <typename C> __device__ inline C total(const step_room<C> &s, int g, int r, int lane)
{
  C v = 0;
  for (int w = 0; w < WARPS; w++) v += s.sum[w][g][r][lane];
  return v;
}

template <typename C> __device__ inline C sigmoid(C x) { return 1 / (1 + exp(-x)); }

template <typename T, typename C> __device__ inline C load_or_0(const void *p, int64_t at, int type)
{
  return p ? (C)memory<T>::load((const T *)p + at, 0, type) : (C)0;
}

// One unit of one sequence, `part` the products of its state with the recurrent weights.
template <typename T, typename C> __device__ void end_forward(const ws_rnn_args &p, int row, int unit, const C *part)
{
  C *gate = (C *)p.gate + row * p.gate_row + unit, in[MOST_GATES], rec[MOST_GATES];
  for (int g = 0; g < p.gates; g++) {
    const int at = g * p.hidden + unit;
    in[g] = gate[g * p.hidden] + load_or_0<T, C>(p.bias_w, at, p.type);
    rec[g] = part[g] + load_or_0<T, C>(p.bias_r, at, p.type);
  }
  const bool chained = row < p.chained;
  const int64_t own = (int64_t)row * p.hidden + unit;
  const int64_t kept = row * p.cell_row + unit;
  const C before = chained ? load_or_0<T, C>(p.chain, row * p.chain_row + unit, p.type)
                           : load_or_0<T, C>(p.start, own, p.type);
  C h;
  if (p.mode == WS_RNN_LSTM) {
    const C i = sigmoid(in[0] + rec[0]), f = sigmoid(in[1] + rec[1]), n = tanh(in[2] + rec[2]);
    const C o = sigmoid(in[3] + rec[3]);
    const C old = chained ? ((const C *)p.chain_cell)[row * p.chain_cell_row + unit]
                          : load_or_0<T, C>(p.start_cell, own, p.type);
    const C c = f * old + i * n;
    gate[0] = i, gate[p.hidden] = f, gate[2 * p.hidden] = n, gate[3 * p.hidden] = o;
    ((C *)p.cell)[kept] = c;
    ((C *)p.cell_before)[kept] = old;
    h = o * tanh(c);
    if (row >= p.last_row && p.end_cell) memory<T>::store(p.end_cell, own, c, p.type);
  } else if (p.mode == WS_RNN_GRU) {
    const C r = sigmoid(in[0] + rec[0]), z = sigmoid(in[1] + rec[1]), n = tanh(in[2] + r * rec[2]);
    gate[0] = r, gate[p.hidden] = z, gate[2 * p.hidden] = n;
    ((C *)p.cell)[kept] = rec[2];
    h = (1 - z) * n + z * before;
  } else {
    const C v = in[0] + rec[0];
    h = p.mode == WS_RNN_TANH ? tanh(v) : v > 0 ? v : 0;
    gate[0] = h;
  }
  if (p.before) memory<T>::store(p.before, kept, before, p.type);
  memory<T>::store((T *)p.y + row * p.y_row, unit, h, p.type);
  if (row >= p.last_row && p.end) memory<T>::store(p.end, own, h, p.type);
}

template <typename T, typename C> __device__ void forward(const ws_rnn_args &p)
{
  __shared__ __align__(16) step_room<C> s;
  const int row0 = p.first_row + blockIdx.y * ROWS, unit0 = blockIdx.x * UNITS;
  const int unit = unit0 + threadIdx.x % 32;
  if (p.gates == 4) multiply<T, C, 4>(s, p, row0, unit, p.hidden, p.gates * p.hidden);
  else if (p.gates == 3) multiply<T, C, 3>(s, p, row0, unit, p.hidden, p.gates * p.hidden);
  else multiply<T, C, 1>(s, p, row0, unit, p.hidden, p.gates * p.hidden);
  for (int r = threadIdx.x / 32; r < ROWS; r += WARPS) {
    if (row0 + r >= p.rows || unit >= p.hidden) continue;
    C part[MOST_GATES];
    for (int g = 0; g < p.gates; g++) part[g] = total(s, g, r, threadIdx.x % 32);
    end_forward<T, C>(p, row0 + r, unit, part);
  }
}

// `part`: the products of the gradients of the gates after this step with the weights.
template <typename T, typename C> __device__ void end_backward(const ws_rnn_args &p, int row, int unit, C part)
{
  const C *gate = (const C *)p.gate + row * p.gate_row + unit;
  const bool chained = row < p.chained;
  const int64_t own = (int64_t)row * p.hidden + unit, kept = row * p.cell_row + unit;
  const C carried = chained && p.mode >= WS_RNN_LSTM ? ((const C *)p.chain_cell)[row * p.chain_cell_row + unit] : (C)0;
  if (p.dstart || p.dstart_cell) {
    if (p.dstart) memory<T>::store(p.dstart, own, part + (p.mode == WS_RNN_GRU ? carried : 0), p.type);
    if (p.dstart_cell) memory<T>::store(p.dstart_cell, own, carried, p.type);
    return;
  }
  C dh = chained ? part : load_or_0<T, C>(p.start, own, p.type), in[MOST_GATES], rec;
  dh += load_or_0<T, C>(p.dy, row * p.y_row + unit, p.type);
  C carry = 0;
  if (p.mode == WS_RNN_LSTM) {
    const C i = gate[0], f = gate[p.hidden], n = gate[2 * p.hidden], o = gate[3 * p.hidden];
    const C c = tanh(((const C *)p.cell)[kept]), old = ((const C *)p.cell_before)[kept];
    const C dc = (chained ? carried : load_or_0<T, C>(p.start_cell, own, p.type)) + dh * o * (1 - c * c);
    in[0] = dc * n * i * (1 - i), in[1] = dc * old * f * (1 - f), in[2] = dc * i * (1 - n * n);
    in[3] = rec = dh * c * o * (1 - o);
    carry = dc * f;
  } else if (p.mode == WS_RNN_GRU) {
    dh += carried;
    const C r = gate[0], z = gate[p.hidden], n = gate[2 * p.hidden];
    const C before = (C)memory<T>::load((const T *)p.before + kept, 0, p.type);
    const C dn = dh * (1 - z) * (1 - n * n);
    in[0] = dn * ((const C *)p.cell)[kept] * r * (1 - r), in[1] = dh * (before - n) * z * (1 - z);
    in[2] = dn, rec = dn * r;
    carry = dh * z;
  } else {
    const C h = gate[0];
    in[0] = rec = p.mode == WS_RNN_TANH ? dh * (1 - h * h) : h > 0 ? dh : 0;
  }
  if (p.mode >= WS_RNN_LSTM) ((C *)p.carry)[row * (int64_t)p.hidden + unit] = carry;
  for (int g = 0; g < p.gates; g++) {
    const int64_t at = row * p.dgate_row + g * p.hidden + unit;
    memory<T>::store(p.dgate, at, in[g], p.type);
    if (p.dgate_r != p.dgate) memory<T>::store(p.dgate_r, at, g + 1 == p.gates ? rec : in[g], p.type);
  }
}

template <typename T, typename C> __device__ void backward(const ws_rnn_args &p)
{
  __shared__ __align__(16) step_room<C> s;
  const int row0 = p.first_row + blockIdx.y * ROWS, unit = blockIdx.x * UNITS + threadIdx.x % 32;
  multiply<T, C, 1>(s, p, row0, unit, p.gates * p.hidden, p.hidden);
  for (int r = threadIdx.x / 32; r < ROWS; r += WARPS)
    if (row0 + r < p.rows && unit < p.hidden)
      end_backward<T, C>(p, row0 + r, unit, total(s, 0, r, threadIdx.x % 32));
}

// to[column][row] = from[row][column].
template <typename T> __device__ void transpose(const ws_rnn_matrix_args &p)
{
  __shared__ T tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x % 32, y = blockIdx.y * 32 + threadIdx.x / 32;
  for (int i = 0; i < 32; i += 8)
    if (x < p.columns && y + i < p.rows)
      tile[threadIdx.x / 32 + i][threadIdx.x % 32] = ((const T *)p.from)[(y + i) * p.row + x];
  __syncthreads();
  const int to_x = blockIdx.y * 32 + threadIdx.x % 32, to_y = blockIdx.x * 32 + threadIdx.x / 32;
  for (int i = 0; i < 32; i += 8)
    if (to_x < p.rows && to_y + i < p.columns)
      ((T *)p.to)[(int64_t)(to_y + i) * p.rows + to_x] = tile[threadIdx.x % 32][threadIdx.x / 32 + i];
}

// Sums of the columns of a matrix: eight threads have every eighth row of a column.
template <typename T, typename C> __device__ void sum_columns(const ws_rnn_matrix_args &p)
{
  __shared__ C part[8][32];
  const int column = blockIdx.x * 32 + threadIdx.x % 32, own = threadIdx.x / 32;
  C sum = 0;
  if (column < p.columns)
    for (int r = own; r < p.rows; r += 8) sum += (C)memory<T>::load((const T *)p.from + r * p.row, column, p.type);
  part[own][threadIdx.x % 32] = sum;
  __syncthreads();
  if (own || column >= p.columns) return;
  for (int i = 1; i < 8; i++) sum += part[i][threadIdx.x];
  if (p.beta != 0) sum += (C)p.beta * (C)memory<T>::load(p.to, column, p.type);
  memory<T>::store(p.to, column, sum, p.type);
}

#define RNN_KERNELS(suffix, T, C)                                                                                     \
  extern "C" __global__ void __launch_bounds__(128) warpstep_rnn_forward_##suffix(const __grid_constant__ ws_rnn_args p) \
  {                                                                                                                   \
    forward<T, C>(p);                                                                                                 \
  }                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(128) warpstep_rnn_backward_##suffix(const __grid_constant__ ws_rnn_args p) \
  {                                                                                                                   \
    backward<T, C>(p);                                                                                                \
  }                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(256)                                                                   \
  warpstep_rnn_transpose_##suffix(const __grid_constant__ ws_rnn_matrix_args p)                                       \
  {                                                                                                                   \
    transpose<T>(p);                                                                                                  \
  }                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(256)                                                                   \
  warpstep_rnn_sums_##suffix(const __grid_constant__ ws_rnn_matrix_args p)                                            \
  {                                                                                                                   \
    sum_columns<T, C>(p);                                                                                             \
  }
RNN_KERNELS(f32, float, float)
RNN_KERNELS(b16, unsigned short, float)
RNN_KERNELS(f64, double, double)
