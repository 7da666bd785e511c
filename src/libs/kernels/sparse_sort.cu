// Sorting what is not zero by row and column, and the sum of two matrices with compressed rows.
#include "sparse.cuh"

// Keys and places of the elements as they are. Rows by coordinates, or compressed.
extern "C" __global__ void __launch_bounds__(256) warpstep_sparse_sort_keys(const __grid_constant__ ws_sparse_sort p)
{
  AT(k, p.n)
  {
    int64_t row = 0, high = p.lines - 1;
    if (p.major) row = p.major[k];
    else
      while (row < high) { // the last one that does not begin behind k
        const int64_t middle = row + (high - row + 1) / 2;
        if (p.offsets[middle] - p.base <= k) row = middle;
        else high = middle - 1;
      }
    p.key[0][k] = (uint64_t)row << 32 | (unsigned)p.minor[k];
    p.place[0][k] = (int)k;
  }
}

// How many keys of list[0] to list[n - 1], which ascend, are below `key`, or, with `equal`, not above it.
__device__ inline int64_t below(const uint64_t *list, int64_t n, uint64_t key, bool equal)
{
  int64_t low = 0, high = n;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (list[middle] < key || (equal && list[middle] == key)) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Sorted runs of `run` elements become runs of twice as many; equal ones stay in their order.
extern "C" __global__ void __launch_bounds__(256) warpstep_sparse_sort_merge(const __grid_constant__ ws_sparse_sort p)
{
  const uint64_t *key = p.key[p.from];
  AT(k, p.n)
  {
    const int64_t first = k / (2 * p.run) * (2 * p.run), middle = min(first + p.run, p.n), end = min(middle + p.run, p.n);
    const bool right = k >= middle;
    const int64_t others = right ? below(key + first, middle - first, key[k], true) : below(key + middle, end - middle, key[k], false);
    const int64_t to = k - (right ? middle - first : 0) + others;
    p.key[!p.from][to] = key[k];
    p.place[!p.from][to] = p.place[p.from][k];
  }
}

// What was sorted, and the numbers that the caller gave the elements.
extern "C" __global__ void __launch_bounds__(256) warpstep_sparse_sort_end(const __grid_constant__ ws_sparse_sort p)
{
  AT(k, p.n)
  {
    if (p.major) p.major[k] = (int)(p.key[p.from][k] >> 32);
    p.minor[k] = (int)(unsigned)p.key[p.from][k];
    if (p.numbers) p.place[!p.from][k] = p.numbers[p.place[p.from][k]];
  }
}

extern "C" __global__ void __launch_bounds__(256) warpstep_sparse_sort_numbers(const __grid_constant__ ws_sparse_sort p)
{
  AT(k, p.n) p.numbers[k] = p.place[!p.from] ? p.place[!p.from][k] : (int)k;
}

// The columns of a row of both matrices, from left to right: what the row of C has.
template <typename F> __device__ inline int64_t union_of_row(const ws_sparse_sum &p, int64_t row, F element)
{
  int64_t n = 0, i = first_of_row(p.a, row), j = first_of_row(p.b, row);
  const int64_t i_end = first_of_row(p.a, row + 1), j_end = first_of_row(p.b, row + 1);
  for (; i < i_end || j < j_end; n++) {
    const int64_t a = i < i_end ? column_of(p.a, i) : INT64_MAX, b = j < j_end ? column_of(p.b, j) : INT64_MAX;
    element(n, min(a, b), a <= b ? i : -1, b <= a ? j : -1);
    i += a <= b, j += b <= a;
  }
  return n;
}

extern "C" __global__ void __launch_bounds__(256) warpstep_sparse_sum_count(const __grid_constant__ ws_sparse_sum p)
{
  AT(row, p.a.rows) p.c_offsets[row] = (int)union_of_row(p, row, [](int64_t, int64_t, int64_t, int64_t) {});
}

template <typename T> __device__ void sum(const ws_sparse_sum &p)
{
  const T alpha = scalar<T>(p.alpha, kind<T>()), beta = scalar<T>(p.beta, kind<T>());
  AT(row, p.a.rows)
  {
    const int64_t first = p.c_offsets[row] - p.c_base;
    union_of_row(p, row, [&](int64_t n, int64_t column, int64_t i, int64_t j) {
      T v = i >= 0 ? alpha * ((const T *)p.a.values)[i] : zero<T>();
      if (j >= 0) v = v + beta * ((const T *)p.b.values)[j];
      p.c_columns[first + n] = (int)column + p.c_base;
      ((T *)p.c_values)[first + n] = v;
    });
  }
}

#define SUM(l, T)                                                                                            \
  extern "C" __global__ void __launch_bounds__(256) warpstep_##l##sparse_sum(const __grid_constant__ ws_sparse_sum p) \
  {                                                                                                          \
    sum<T>(p);                                                                                               \
  }
SUM(s, float)
SUM(d, double)
SUM(c, c32)
SUM(z, c64)
