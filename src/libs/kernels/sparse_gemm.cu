// Sparse matrices times sparse matrices; compressed columns of a matrix with compressed rows. Sums have a fixed order.
#include "sparse.cuh"

// One CTA: a thread sums its part of the list, then all parts before its own.
extern "C" __global__ void __launch_bounds__(256) warpstep_sparse_scan(const __grid_constant__ ws_sparse_scan p)
{
  __shared__ int64_t sums[256];
  const int64_t per = (p.n + 255) / 256, first = min(p.n, threadIdx.x * per), end = min(p.n, first + per);
  int64_t sum = 0;
  for (int64_t i = first; i < end; i++) sum += number(p.list, p.wide, i);
  sums[threadIdx.x] = sum;
  __syncthreads();
  int64_t before = p.base;
  for (int t = 0; t < threadIdx.x; t++) before += sums[t];
  for (int64_t i = first; i < end; i++) {
    const int64_t v = number(p.list, p.wide, i);
    put(p.list, p.wide, i, before);
    before += v;
  }
  if (threadIdx.x == 255) put(p.list, p.wide, p.n, before);
}

// How many products each row of C has.
extern "C" __global__ void __launch_bounds__(256) warpstep_sparse_products(const __grid_constant__ ws_sparse_gemm p)
{
  AT(row, p.a.rows)
  {
    int64_t n = 0;
    for (int64_t k = first_of_row(p.a, row), end = first_of_row(p.a, row + 1); k < end; k++) {
      const int64_t of = column_of(p.a, k);
      n += first_of_row(p.b, of + 1) - first_of_row(p.b, of);
    }
    p.first[row] = n;
  }
}

// Of numbers in memory, by the lanes of a warp: a bitonic network whose comparisons all look the same way, so that what
// would be behind the end never moves.
__device__ void sort(uint64_t *list, int64_t n)
{
  const int lane = threadIdx.x % 32;
  for (int64_t size = 2; size < 2 * n; size *= 2)
    for (int64_t by = size / 2; by; by /= 2) {
      __syncwarp();
      for (int64_t t = lane;; t += 32) {
        const int64_t low = t / by * 2 * by + t % by;
        if (low >= n) break;
        const int64_t high = by == size / 2 ? low ^ (size - 1) : low + by;
        if (high >= n) continue;
        const uint64_t a = list[low], b = list[high];
        if (a > b) list[low] = b, list[high] = a;
      }
    }
  __syncwarp();
}

// The lists of products, sorted, and how many columns each has.
template <typename T> __device__ void expand(const ws_sparse_gemm &p)
{
  ROWS(row, p.a.rows)
  {
    const int64_t first = p.first[row], n = p.first[row + 1] - first;
    int64_t at = 0, columns = 0;
    for (int64_t k = first_of_row(p.a, row), end = first_of_row(p.a, row + 1); k < end; k++) {
      const int64_t of = column_of(p.a, k), from = first_of_row(p.b, of), count = first_of_row(p.b, of + 1) - from;
      const T v = ((const T *)p.a.values)[k];
      for (int64_t i = lane; i < count; i += 32) {
        p.keys[first + at + i] = (uint64_t)column_of(p.b, from + i) << WS_PLACE_BITS | (uint64_t)(at + i);
        ((T *)p.products)[first + at + i] = v * ((const T *)p.b.values)[from + i];
      }
      at += count;
    }
    sort(p.keys + first, n);
    for (int64_t i = 0; i < n; i += 32) {
      const uint64_t *key = p.keys + first + i + lane;
      const bool is_first = i + lane < n && (i + lane == 0 || key[0] >> WS_PLACE_BITS != key[-1] >> WS_PLACE_BITS);
      columns += __popc(__ballot_sync(~0u, is_first));
    }
    if (lane == 0) p.counts[row] = columns;
  }
}

// Elements of C: each the sum of the products of its column, in the order of the list.
template <typename T> __device__ void collect(const ws_sparse_gemm &p)
{
  const T alpha = scalar<T>(p.alpha, kind<T>()), beta = scalar<T>(p.beta, kind<T>());
  ROWS(row, p.a.rows)
  {
    const int64_t first = p.first[row], n = p.first[row + 1] - first;
    int64_t to = p.counts[row];
    if (lane == 0 && p.c_offsets) {
      put(p.c_offsets, p.c_wide_offsets, row, to + p.c_base);
      if (row + 1 == p.a.rows) put(p.c_offsets, p.c_wide_offsets, row + 1, p.counts[row + 1] + p.c_base);
    }
    for (int64_t i = 0; i < n; i += 32) {
      const uint64_t *key = p.keys + first + i + lane;
      const bool is_first = i + lane < n && (i + lane == 0 || key[0] >> WS_PLACE_BITS != key[-1] >> WS_PLACE_BITS);
      const unsigned all = __ballot_sync(~0u, is_first);
      if (is_first) {
        const uint64_t column = *key >> WS_PLACE_BITS;
        const int64_t own = to + __popc(all & ((1u << lane) - 1));
        T sum = zero<T>();
        for (int64_t k = i + lane; k < n && *key >> WS_PLACE_BITS == column; k++, key++)
          sum = sum + ((const T *)p.products)[first + (int64_t)(*key & 0xffffffffu)];
        if (p.c_columns) put(p.c_columns, p.c_wide_indices, own, (int64_t)column + p.c_base);
        if (p.c_values) {
          T &v = ((T *)p.c_values)[own];
          v = is_zero(beta) ? alpha * sum : alpha * sum + beta * v;
        }
      }
      to += __popc(all);
    }
  }
}

// Compressed columns: how many each has, ...
extern "C" __global__ void __launch_bounds__(256) warpstep_sparse_turn_count(const __grid_constant__ ws_sparse_turn p)
{
  AT(k, p.a.count) atomicAdd(&p.offsets[column_of(p.a, k)], 1);
}
// ... a place for each of them within its column, in any order, ...
extern "C" __global__ void __launch_bounds__(256) warpstep_sparse_turn_place(const __grid_constant__ ws_sparse_turn p)
{
  AT(k, p.a.count)
  {
    const int64_t j = column_of(p.a, k);
    p.order[p.offsets[j] - p.a.base + atomicAdd(&p.at[j], 1)] = (int)k;
  }
}
// The row of an element: the last one that does not begin behind it.
__device__ int64_t row_of(const ws_sparse &a, int64_t k)
{
  int64_t low = 0, high = a.rows - 1;
  while (low < high) {
    const int64_t middle = (low + high + 1) / 2;
    if (first_of_row(a, middle) <= k) low = middle;
    else high = middle - 1;
  }
  return low;
}
// Of numbers in memory, by one thread: each of them sinks to its place in a heap.
__device__ void sort_alone(int *list, int64_t n)
{
  for (int64_t start = n / 2, end = n; end > 1;) {
    if (start) start--;
    else {
      const int last = list[--end];
      list[end] = list[0], list[0] = last;
    }
    const int v = list[start];
    int64_t at = start, child;
    while ((child = 2 * at + 1) < end) {
      if (child + 1 < end && list[child + 1] > list[child]) child++;
      if (list[child] <= v) break;
      list[at] = list[child];
      at = child;
    }
    list[at] = v;
  }
}
// ... which is then made that of the rows.
extern "C" __global__ void __launch_bounds__(256) warpstep_sparse_turn(const __grid_constant__ ws_sparse_turn p)
{
  AT(j, p.a.cols)
  {
    const int64_t first = p.offsets[j] - p.a.base, end = p.offsets[j + 1] - p.a.base;
    sort_alone(p.order + first, end - first);
    for (int64_t i = first; i < end; i++) {
      const int64_t k = p.order[i];
      p.rows[i] = (int)row_of(p.a, k) + p.a.base;
      for (int b = 0; p.values && b < p.bytes; b++) ((char *)p.values)[i * p.bytes + b] = ((const char *)p.a.values)[k * p.bytes + b];
    }
  }
}

#define KERNEL(name, call) \
  extern "C" __global__ void __launch_bounds__(256) warpstep_##name(const __grid_constant__ ws_sparse_gemm p) { call(p); }
#define GEMM(l, T)                     \
  KERNEL(l##sparse_expand, expand<T>)  \
  KERNEL(l##sparse_collect, collect<T>)
GEMM(s, float)
GEMM(d, double)
GEMM(c, c32)
GEMM(z, c64)
