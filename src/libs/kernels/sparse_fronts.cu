// Sparse QR and Cholesky on fronts (front_args.h), and systems with their factors. A CTA has a task of fronts and works on
// them one after the other, in memory; sums have a fixed order.
#include "dense.cuh"
#include "front_args.h"

// This CTA's matrix of the batch.
template <typename T> __device__ inline T *mine(const void *p, int64_t stride) { return (T *)p + blockIdx.y * stride; }

template <typename R> __device__ inline R over(R v, R by) { return v / by; }
template <typename R> __device__ inline complex_of<R> over(complex_of<R> v, R by) { return {v.x / by, v.y / by}; }

// The sum over the CTA, for all of it.
template <typename R> __device__ inline R warps(R v, R *part)
{
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  R sum = part[0];
#pragma unroll 1
  for (int w = 1; w < blockDim.x / 32; w++) sum = sum + part[w];
  return sum;
}
template <typename R> __device__ inline R over_block(R v)
{
  __shared__ R part[32];
  return warps(over_warp(v), part);
}

// What A has in the front; all else is 0.
template <typename T> __device__ void fill(const ws_fronts_args &p, const ws_front &f, T *to, int64_t row_step, int64_t column_step)
{
  const T *a = mine<T>(p.a, p.a_stride);
  const ws_front_entry *e = p.entries + f.entries;
  const T shift = number<T>((typename traits<T>::real)-p.shift_re, (typename traits<T>::real)-p.shift_im);
#pragma unroll 1
  for (int64_t i = threadIdx.x; i < (int64_t)f.m * f.n; i += blockDim.x) to[i] = zero<T>();
  __syncthreads();
#pragma unroll 1
  for (int64_t i = threadIdx.x; i < f.entry_count; i += blockDim.x) {
    const ws_front_entry at = e[i];
    if (i && e[i - 1].row == at.row && e[i - 1].column == at.column) continue;
    T sum = zero<T>();
#pragma unroll 1
    for (int64_t k = i; k < f.entry_count && e[k].row == at.row && e[k].column == at.column; k++) {
      const T v = e[k].source < 0 ? shift : a[e[k].source];
      sum = sum + (e[k].conjugated ? conjugate(v) : v);
    }
    to[at.row * row_step + at.column * column_step] = sum;
  }
  __syncthreads();
}

// Rows that a child's QR leaves become rows here.
template <typename T> __device__ void take_rows(const ws_fronts_args &p, const ws_front &f, T *to, T *values)
{
#pragma unroll 1
  for (int i = 0; i < f.child_count; i++) {
    const ws_front_child &c = p.children[f.children + i];
    const ws_front &g = p.fronts[c.front];
    const int width = g.n - g.pivots;
    const T *from = values + g.values + g.pivots * (int64_t)g.m + g.pivots;
#pragma unroll 1
    for (int column = threadIdx.x / 32; column < width; column += blockDim.x / 32)
#pragma unroll 1
      for (int row = threadIdx.x % 32; row <= column && row < c.row_count; row += 32)
        to[p.lists[c.columns + column] * (int64_t)f.m + p.lists[c.rows + row]] = from[column * (int64_t)g.m + row];
  }
  __syncthreads();
}

// The triangle that a child's Cholesky leaves is added.
template <typename T> __device__ void take_triangles(const ws_fronts_args &p, const ws_front &f, T *to, T *values)
{
#pragma unroll 1
  for (int i = 0; i < f.child_count; i++) {
    const ws_front_child &c = p.children[f.children + i];
    const ws_front &g = p.fronts[c.front];
    const int width = g.n - g.pivots;
    const T *from = values + g.values + g.pivots * (int64_t)g.n + g.pivots;
#pragma unroll 1
    for (int row = threadIdx.x / 32; row < width; row += blockDim.x / 32)
#pragma unroll 1
      for (int column = row + threadIdx.x % 32; column < width; column += 32) {
        T &at = to[p.lists[c.columns + row] * (int64_t)f.n + p.lists[c.columns + column]];
        at = at + from[row * (int64_t)g.n + column];
      }
    __syncthreads();
  }
}

// Reflector k of a front, and what it makes of the columns behind: a warp for each.
template <typename T> __device__ void reflect(const ws_fronts_args &p, const ws_front &f, T *a, T *tau, int k)
{
  using R = typename traits<T>::real;
  const int64_t m = f.m, end = p.lists[f.stair + k];
  T *v = a + k * m;
  R tail = 0;
#pragma unroll 1
  for (int64_t i = k + 1 + threadIdx.x; i < end; i += blockDim.x) tail += square(v[i]);
  tail = over_block(tail);
  const T alpha = v[k];
  T factor = zero<T>();
  R beta = real(alpha);
  if (tail != 0 || imaginary(alpha) != 0) {
    beta = sqrt(square(alpha) + tail);
    if (real(alpha) > 0) beta = -beta;
    factor = over(number<T>(beta, 0) - alpha, beta);
    const T to_beta = alpha - number<T>(beta, 0), by = over(conjugate(to_beta), square(to_beta));
#pragma unroll 1
    for (int64_t i = k + 1 + threadIdx.x; i < end; i += blockDim.x) v[i] = v[i] * by;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    v[k] = number<T>(beta, 0);
    tau[k] = factor;
    if (k < f.pivots) p.diagonal[blockIdx.y * p.diagonal_stride + p.lists[f.columns + k]] = size_of(beta);
  }
  const int lane = threadIdx.x % 32;
  const T by = conjugate(factor);
#pragma unroll 1
  for (int j = k + 1 + threadIdx.x / 32; j < f.n; j += blockDim.x / 32) {
    T *c = a + j * m, sum = lane ? zero<T>() : c[k];
#pragma unroll 1
    for (int64_t i = k + 1 + lane; i < end; i += 32) madd(sum, conjugate(v[i]), c[i]);
    sum = by * over_warp(sum);
    if (lane == 0) c[k] = c[k] - sum;
#pragma unroll 1
    for (int64_t i = k + 1 + lane; i < end; i += 32) c[i] = c[i] - sum * v[i];
  }
  __syncthreads();
}

// Element (k, k) of R for each pivot k, of which no more than `some` are there.
template <typename T> __device__ void say(const ws_fronts_args &p, const ws_front &f, const T *a, int64_t step, int some)
{
  const int bad = p.by_rows && *p.info ? *p.info - 1 : f.n; // what comes behind is no number
#pragma unroll 1
  for (int k = threadIdx.x; k < min(f.pivots, some); k += blockDim.x) {
    const double v = real(a[k * step]);
    p.diagonal[p.lists[f.columns + k]] = k > bad ? nan("") : p.by_rows ? v : fabs(v);
  }
}

template <typename T> __device__ void qr(const ws_fronts_args &p, const ws_front &f)
{
  T *values = mine<T>(p.values, p.values_stride), *a = values + f.values;
  if (p.part == WS_FRONT_SAY) return say(p, f, a, f.m + 1, f.m);
  fill(p, f, a, 1, f.m);
  take_rows(p, f, a, values);
#pragma unroll 1
  for (int k = f.wide && p.part == WS_FRONT_BRING ? f.n : 0; k < f.m && k < f.n; k++)
    reflect(p, f, a, mine<T>(p.tau, p.y_stride) + f.y, k);
  for (int k = f.m + threadIdx.x; k < f.pivots; k += blockDim.x)
    p.diagonal[blockIdx.y * p.diagonal_stride + p.lists[f.columns + k]] = 0;
}

// Row k of R from what rows `from` to k make of it.
template <typename T> __device__ void own_row(const ws_fronts_args &p, const ws_front &f, T *a, int from, int k)
{
  using R = typename traits<T>::real;
  const int64_t n = f.n;
#pragma unroll 1
  for (int64_t c = k + threadIdx.x; c < n; c += blockDim.x) {
    T v = zero<T>();
#pragma unroll 1
    for (int t = from; t < k; t++) madd(v, conjugate(a[t * n + k]), a[t * n + c]);
    a[k * n + c] = a[k * n + c] - v;
  }
  __syncthreads();
  const R pivot = real(a[k * n + k]), root = sqrt(pivot);
  __syncthreads();
  if (threadIdx.x == 0) p.diagonal[blockIdx.y * p.diagonal_stride + p.lists[f.columns + k]] = pivot > 0 ? root : pivot;
#pragma unroll 1
  for (int64_t c = k + threadIdx.x; c < n; c += blockDim.x) a[k * n + c] = c == k ? number<T>(root, 0) : over(a[k * n + c], root);
  __syncthreads();
}

template <typename T> __device__ void cholesky(const ws_fronts_args &p, const ws_front &f)
{
  enum { PANEL = 8 };
  T *values = mine<T>(p.values, p.values_stride), *a = values + f.values;
  const int64_t n = f.n;
  if (p.part == WS_FRONT_SAY) return say(p, f, a, n + 1, f.n);
  fill(p, f, a, n, 1);
  take_triangles(p, f, a, values);
  if (f.wide && p.part == WS_FRONT_BRING) return;
#pragma unroll 1
  for (int k = 0; k < f.pivots; k += PANEL) {
    const int end = min(k + PANEL, f.pivots);
#pragma unroll 1
    for (int i = k; i < end; i++) own_row(p, f, a, k, i);
#pragma unroll 1
    for (int64_t i = end + threadIdx.x / 32; i < n; i += blockDim.x / 32)
#pragma unroll 1
      for (int64_t c = i + threadIdx.x % 32; c < n; c += 32) {
        T v = zero<T>();
#pragma unroll 1
        for (int t = k; t < end; t++) madd(v, conjugate(a[t * n + i]), a[t * n + c]);
        a[i * n + c] = a[i * n + c] - v;
      }
    __syncthreads();
  }
}

// y = Q^H b.
template <typename T> __device__ void turn(const ws_fronts_args &p, const ws_front &f)
{
  const T *a = mine<T>(p.values, p.values_stride) + f.values, *tau = mine<T>(p.tau, p.y_stride) + f.y, *b = mine<T>(p.b, p.b_stride);
  T *all = mine<T>(p.y, p.y_stride), *y = all + f.y;
#pragma unroll 1
  for (int i = threadIdx.x; i < f.m; i += blockDim.x) {
    const int from = p.lists[f.rows + i];
    y[i] = from < 0 ? all[~from] : b[from];
  }
  __syncthreads();
#pragma unroll 1
  for (int k = 0; k < f.m && k < f.n; k++) {
    const int end = p.lists[f.stair + k];
    const T *v = a + k * (int64_t)f.m;
    T sum = zero<T>();
#pragma unroll 1
    for (int i = k + threadIdx.x; i < end; i += blockDim.x) madd(sum, i == k ? number<T>(1, 0) : conjugate(v[i]), y[i]);
    sum = conjugate(tau[k]) * over_block(sum);
#pragma unroll 1
    for (int i = k + threadIdx.x; i < end; i += blockDim.x) y[i] = y[i] - (i == k ? sum : sum * v[i]);
    __syncthreads();
  }
}

// R^H y = b.
template <typename T> __device__ void forward(const ws_fronts_args &p, const ws_front &f)
{
  const T *a = mine<T>(p.values, p.values_stride) + f.values, *b = mine<T>(p.b, p.b_stride);
  T *all = mine<T>(p.y, p.y_stride), *y = all + f.y;
#pragma unroll 1
  for (int i = threadIdx.x; i < f.n; i += blockDim.x) y[i] = i < f.pivots ? b[p.order[p.lists[f.columns + i]]] : zero<T>();
  __syncthreads();
#pragma unroll 1
  for (int i = 0; i < f.child_count; i++) {
    const ws_front_child &c = p.children[f.children + i];
    const ws_front &g = p.fronts[c.front];
#pragma unroll 1
    for (int k = g.pivots + threadIdx.x; k < g.n; k += blockDim.x) {
      T &at = y[p.lists[c.columns + k - g.pivots]];
      at = at + all[g.y + k];
    }
    __syncthreads();
  }
#pragma unroll 1
  for (int k = 0; k < f.pivots; k++) {
    const T *row = a + k * (int64_t)f.n, v = over(y[k], real(row[k]));
    __syncthreads();
#pragma unroll 1
    for (int c = k + threadIdx.x; c < f.n; c += blockDim.x) y[c] = c == k ? v : y[c] - conjugate(row[c]) * v;
    __syncthreads();
  }
}

// R x = y.
template <typename T> __device__ void backward(const ws_fronts_args &p, const ws_front &f)
{
  const int64_t row_step = p.by_rows ? f.n : 1, column_step = p.by_rows ? 1 : f.m;
  const T *a = mine<T>(p.values, p.values_stride) + f.values;
  T *y = mine<T>(p.y, p.y_stride) + f.y, *x = mine<T>(p.x, p.x_stride);
  const int *columns = p.lists + f.columns;
  const int rows = min(f.m, f.pivots);
#pragma unroll 1
  for (int k = threadIdx.x / 32; k < rows; k += blockDim.x / 32) {
    T sum = zero<T>();
#pragma unroll 1
    for (int c = f.pivots + threadIdx.x % 32; c < f.n; c += 32) madd(sum, a[k * row_step + c * column_step], x[p.order[columns[c]]]);
    sum = over_warp(sum);
    if (threadIdx.x % 32 == 0) y[k] = y[k] - sum;
  }
  for (int k = rows + threadIdx.x; k < f.pivots; k += blockDim.x) x[p.order[columns[k]]] = zero<T>(); // there is no such row
  __syncthreads();
#pragma unroll 1
  for (int k = rows - 1; k >= 0; k--) {
    const T v = over(y[k], real(a[k * row_step + k * column_step]));
#pragma unroll 1
    for (int i = threadIdx.x; i < k; i += blockDim.x) y[i] = y[i] - a[i * row_step + k * column_step] * v;
    if (threadIdx.x == 0) x[p.order[columns[k]]] = v;
    __syncthreads();
  }
}

// Solving with the factor: what a front does is said by `step`.
template <typename T> __device__ void solve(const ws_fronts_args &p, const ws_front &f)
{
  if (p.step == WS_FRONT_TURN) turn<T>(p, f);
  else if (p.step == WS_FRONT_FORWARD) forward<T>(p, f);
  else backward<T>(p, f);
}

#define KERNEL(name, call)                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) warpstep_##name(const __grid_constant__ ws_fronts_args p) \
  {                                                                                                           \
    const ws_front_task task = p.tasks[blockIdx.x];                                                           \
    const int count = task.end - task.first;                                                                  \
    for (int i = 0; i < count; i++) {                                                                         \
      call(p, p.fronts[p.step == WS_FRONT_BACKWARD ? task.end - 1 - i : task.first + i]);                      \
      __syncthreads();                                                                                        \
    }                                                                                                         \
  }
#define KERNELS(l, T)              \
  KERNEL(l##front_qr, qr<T>)       \
  KERNEL(l##front_cholesky, cholesky<T>) \
  KERNEL(l##front_solve, solve<T>)
KERNELS(s, float)
KERNELS(d, double)
KERNELS(c, c32)
KERNELS(z, c64)
