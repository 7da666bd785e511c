// A step of LU and Cholesky of a large dense matrix (cusolver/solver_factors.c): the columns of a block of LU, what they do to its
// rows, the factor below a block of Cholesky, and the product that takes both from the rest.
//
// Loops over columns are loops of the machine, too: numbers of a row lie in registers, and each step moves them on by one, so that
// the column at hand is always the first. That costs products with zeros and saves code, which a launch finds cold. Such a product
// is NaN where the other number is not finite, and must not come to a number that is finished.
#include "solve_moves.cuh"

enum { BLOCK = WS_SOLVE_BLOCK };

// A pivot that is sought: its size, and the row where it is now. Of equal ones the first row counts.
template <typename R> struct candidate {
  R size;
  int row;
  __device__ void take(R s, int r)
  {
    if (s > size || (s == size && r < row)) size = s, row = r;
  }
};

// The best of a warp, in all lanes. A size of -1 is none.
template <typename R> __device__ void over_warp(candidate<R> &c)
{
#pragma unroll 1
  for (int by = 16; by; by /= 2) {
    const R size = __shfl_xor_sync(~0u, c.size, by);
    const int row = __shfl_xor_sync(~0u, c.row, by);
    c.take(size, row);
  }
}
#if __CUDA_ARCH__ >= 800
template <> __device__ void over_warp(candidate<float> &c)
{
  const unsigned key = c.size < 0 ? 0 : __float_as_uint(c.size) + 1; // sizes are ordered as their words are
  const unsigned most = __reduce_max_sync(~0u, key);
  c.row = __reduce_min_sync(~0u, key == most ? c.row : INT32_MAX);
  c.size = most ? __uint_as_float(most - 1) : -1.f;
}
#endif

template <typename T, int COLUMNS> struct shared_of_panel {
  candidate<typename traits<T>::real> best[32];
  __align__(16) T row[COLUMNS + 16 / sizeof(T)]; // the pivot's, zeros behind
};

// What is behind the matrix is its last row or column again, which nobody keeps.
template <typename T, int ROWS, int COLUMNS>
__device__ void load(const ws_solve_args &p, T (&a)[ROWS][COLUMNS], int (&place)[ROWS])
{
  const int m = (int)p.m, n = (int)p.n;
  for (int q = 0; q < ROWS; q++) place[q] = threadIdx.x + q * blockDim.x;
  const T *from = (const T *)p.a;
#pragma unroll 1
  for (int c0 = 0; c0 < COLUMNS; c0 += 8) {
    for (int q = 0; q < ROWS; q++) turn(a[q]);
    for (int c = 0; c < 8; c++) {
      for (int q = 0; q < ROWS; q++) a[q][COLUMNS - 8 + c] = from[min(place[q], m - 1)];
      if (c0 + c + 1 < n) from += p.lda;
    }
  }
}

// Returns the first column whose pivot is 0, from 1 on; 0: none. CAREFUL: without products with zeros. What such a product spoils is
// a factor, by a later one of its row that is not finite, or a number of a pivot's row, before it is at hand: both make `odd` true.
template <bool CAREFUL, typename T, int ROWS, int COLUMNS>
__device__ int factor(const ws_solve_args &p, shared_of_panel<T, COLUMNS> &s, T (&a)[ROWS][COLUMNS], int (&place)[ROWS], bool &odd)
{
  using R = typename traits<T>::real;
  enum { GROUP = 16 / sizeof(T) };
  T none = zero<T>();
  const int m = (int)p.m, n = (int)p.n, warps = blockDim.x / 32;
  int info = 0;
#pragma unroll 1
  for (int j = 0; j < COLUMNS; j++) { // those behind n only move on
    int with = j;
    if (p.pivots && j < n) {
      candidate<R> mine = {-1, j};
      for (int q = 0; q < ROWS; q++)
        if (place[q] >= j && place[q] < m) mine.take(size_of(a[q][0]), place[q]);
      over_warp(mine);
      if (threadIdx.x % 32 == 0) s.best[threadIdx.x / 32] = mine;
      __syncthreads();
      mine = threadIdx.x % 32 < warps ? s.best[threadIdx.x % 32] : candidate<R>{-1, j};
      over_warp(mine);
      with = mine.row;
      if (threadIdx.x == 0) p.pivots[j] = (int)(with + 1 + p.first);
    } else {
      __syncthreads();
    }
    for (int q = 0; q < ROWS; q++)
      if (place[q] == with) {
        for (int c = 0; c < COLUMNS; c += GROUP)
          if (c < COLUMNS - j)
            for (int i = 0; i < GROUP; i++) s.row[c + i] = a[q][c + i];
        for (int i = 0; i < GROUP; i++) s.row[COLUMNS - j + i] = zero<T>();
      }
    for (int q = 0; q < ROWS; q++) place[q] = place[q] == with ? j : place[q] == j ? with : place[q];
    __syncthreads();
    const T pivot = s.row[0];
    const bool nothing = size_of(pivot) == 0; // but zeros below
    if (nothing && !info && j < n) info = j + 1;
    const quotient<T> share(pivot);
    for (int q = 0; q < ROWS; q++) {
      const bool counts = place[q] > j && j < n && !nothing;
      const T v = a[q][0], f = counts ? share.of(v) : zero<T>(), less = zero<T>() - f, last = counts ? f : v;
      const int changes = counts ? COLUMNS - j : 0;
      add_product(none, last, zero<T>());
      for (int c = 1; c < COLUMNS; c++) {
        T next = a[q][c];
        add_product(next, less, s.row[c]);
        a[q][c - 1] = CAREFUL && c >= changes ? a[q][c] : next;
      }
      a[q][COLUMNS - 1] = last;
    }
  }
  odd = size_of(none) != 0;
  return info;
}

// LU of a[m][n], n at most COLUMNS. Where a number comes out that is not finite, which is rare, products with zeros may have made it:
// then all again, without them. A thread has ROWS rows in registers. Rows change places when all is done; until then each knows its
// place.
template <typename T, int ROWS, int COLUMNS> __device__ void lu_columns(const ws_solve_args &p)
{
  __shared__ shared_of_panel<T, COLUMNS> s;
  T a[ROWS][COLUMNS];
  int place[ROWS];
  bool odd;
  load(p, a, place);
  int info = factor<false>(p, s, a, place, odd);
  if (__syncthreads_or(odd)) {
    load(p, a, place);
    info = factor<true>(p, s, a, place, odd);
  }
  const int m = (int)p.m, n = (int)p.n;
  T *to = (T *)p.a;
#pragma unroll 1
  for (int c0 = 0; c0 < n; c0 += 8) {
    for (int c = 0; c < 8; c++) {
      for (int q = 0; q < ROWS; q++)
        if (place[q] < m && c0 + c < n) to[place[q]] = a[q][c];
      to += p.lda;
    }
    for (int q = 0; q < ROWS; q++) turn(a[q]);
  }
  say(p, info);
}

// The n unknowns of a triangular system, x[0] first; l[k][c] is element (k + 1 + c, k). keep(k, v) takes each that is found.
template <typename T, typename D, typename K>
__device__ void substitute(T (&x)[BLOCK], const T (*l)[BLOCK], int n, const D &inverse, const K &keep)
{
#pragma unroll 1
  for (int k = 0; k < n; k++) {
    const T v = inverse(x[0], k), less = zero<T>() - v;
    keep(k, v);
    for (int c = 1; c < BLOCK; c++) {
      x[c - 1] = x[c];
      add_product(x[c - 1], less, l[k][c - 1]);
    }
  }
}

// A CTA has so many columns.
template <typename T> __device__ void lu_rows(const ws_rows_args &p)
{
  enum { COLUMNS = WS_SOLVE_ROWS, EACH = BLOCK * BLOCK / 256 };
  __shared__ __align__(16) T l[BLOCK][BLOCK];
  __shared__ T tile[COLUMNS][PLACES + 1];
  __shared__ moves s;
  const ws_exchange_args &x = p.rows;
  const int place = threadIdx.x % PLACES;
  const int64_t c0 = (int64_t)blockIdx.x * COLUMNS;
  if (threadIdx.x < 32) plan(x, s, x.first, x.count);
  for (int q = 0; q < EACH; q++) {
    const int i = threadIdx.x % BLOCK, k = threadIdx.x / BLOCK * EACH + q, c = i - k - 1;
    if (c >= 0) l[k][c] = i < p.nb && k < p.nb ? ((const T *)p.block)[k * x.ldb + i] : zero<T>();
    else l[k][BLOCK + c] = zero<T>(); // i = 0: the last of them, that lies behind all
  }
  __syncthreads();
  const int64_t to = s.row[place], from = to < 0 ? 0 : s.row[s.from[place]];
  auto column = [&](int64_t c) { return (T *)x.b + (c < x.gap_at ? c : c + x.gap) * x.ldb; };
  for (int c = threadIdx.x / PLACES; c < COLUMNS; c += 4)
    tile[c][place] = to >= 0 && c0 + c < x.columns ? column(c0 + c)[from] : zero<T>();
  __syncthreads();
  if (threadIdx.x < COLUMNS && c0 + threadIdx.x >= x.gap_at) {
    T v[BLOCK];
    for (int i = 0; i < BLOCK; i++) v[i] = tile[threadIdx.x][i];
    substitute(v, l, p.nb, [](T u, int) { return u; }, [&](int k, T u) { tile[threadIdx.x][k] = u; });
  }
  __syncthreads();
  for (int c = threadIdx.x / PLACES; c < COLUMNS; c += 4)
    if (to >= 0 && c0 + c < x.columns) column(c0 + c)[to] = tile[c][place];
}

// A warp has BLOCK rows. What is behind the matrix or the block is its last row or column again, which nobody keeps.
template <typename T> __device__ void cholesky_below(const ws_below_args &p)
{
  using R = typename traits<T>::real;
  __shared__ __align__(16) T l[BLOCK][BLOCK];
  __shared__ T tile[BLOCK][BLOCK + 1];
  __shared__ R inverse[BLOCK];
  if (*p.info) return;
  const bool upper = p.upper != 0;
  const int64_t r0 = (int64_t)blockIdx.x * BLOCK;
  const int lane = threadIdx.x, rows = (int)min((int64_t)BLOCK, p.rows - r0), last = p.nb - 1;
  // Lanes go along memory: of the factor rows, or columns.
  T *const first = (T *)p.a + r0 * (upper ? p.lda : 1), *to = first + lane;
  const T *of_block = (const T *)p.block + min(lane, last), *from = first + min(lane, upper ? last : rows - 1);
#pragma unroll 8
  for (int u = 0; u < BLOCK; u++) {
    const int i = upper ? u : lane, k = upper ? lane : u, c = i - k - 1;
    const T v = of_block[min(u, last) * p.lda], w = from[min(u, upper ? rows - 1 : last) * p.lda];
    l[k][c < 0 ? BLOCK + c : c] = c < 0 ? zero<T>() : upper ? v : conjugate(v);
    if (i == k) inverse[k] = real(v);
    tile[k][i] = upper ? conjugate(w) : w;
  }
  __syncwarp();
  inverse[lane] = 1 / inverse[lane];
  T v[BLOCK];
  for (int k = 0; k < BLOCK; k++) v[k] = tile[k][lane];
  __syncwarp();
  substitute(v, l, p.nb, [&](T u, int k) { return u * number<T>(inverse[k], 0); }, [&](int k, T u) { tile[k][lane] = u; });
  __syncwarp();
#pragma unroll 8
  for (int u = 0; u < BLOCK; u++) {
    const int i = upper ? u : lane, k = upper ? lane : u;
    const T w = tile[k][i];
    if (i < rows && k <= last) to[u * p.lda] = upper ? conjugate(w) : w;
  }
}

// One operand of a tile, `lines` of it, each of k numbers, to to[k][line]. Threads go along memory: over lines, or over k.
template <typename T, int TILE>
__device__ void bring(T (*to)[TILE + 4], const T *from, int64_t ld, bool over_k, int lines, int k, bool conj)
{
  const int i = over_k ? threadIdx.x / BLOCK : threadIdx.x % TILE, j = over_k ? threadIdx.x % BLOCK : threadIdx.x / TILE;
  const int most = over_k ? (j < k ? lines - i : 0) : i < lines ? k - j : 0, step = 256 / (over_k ? BLOCK : TILE);
  const int64_t on = step * ld;
  T *at = &to[j][i];
  from += over_k ? i * ld + j : j * ld + i;
#pragma unroll 4
  for (int u = 0; u < TILE * BLOCK / 256; u++) {
    const T v = u * step < most ? *from : zero<T>();
    *at = conj ? conjugate(v) : v;
    from += on, at += over_k ? step : step * (TILE + 4);
  }
}

// A CTA has a tile of c, a thread SIDE x SIDE of its numbers, 16 apart along columns.
template <typename T, int SIDE> __device__ void update(const ws_update_args &p)
{
  enum { TILE = 16 * SIDE };
  __shared__ __align__(16) T a[BLOCK][TILE + 4], b[BLOCK][TILE + 4];
  int64_t i0 = blockIdx.x, j0 = blockIdx.y;
  if (p.half) {
    if (*p.info) return;
    // Tiles of a half, counted row by row.
    i0 = (int64_t)((sqrt(8. * blockIdx.x + 1) - 1) / 2);
    j0 = blockIdx.x - i0 * (i0 + 1) / 2;
    if (p.upper) {
      const int64_t t = i0;
      i0 = j0, j0 = t;
    }
  }
  // Of a half, which of the numbers of a tile on the diagonal count: those whose row less column is on that side of 0.
  const int side = !p.half || i0 != j0 ? 0 : p.upper ? -1 : 1;
  i0 *= TILE, j0 *= TILE;
  const int rows = (int)min(p.m - i0, (int64_t)TILE), columns = (int)min(p.n - j0, (int64_t)TILE);
  const bool along = !p.half || p.upper; // k is along b's memory
  bring<T, TILE>(a, (const T *)p.a + i0 * (p.upper ? p.lda : 1), p.lda, p.upper != 0, rows, p.k, p.upper != 0);
  bring<T, TILE>(b, (const T *)p.b + j0 * (along ? p.ldb : 1), p.ldb, along, columns, p.k, !along);
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16 * SIDE;
  T *c = (T *)p.c + j0 * p.ldc + i0, *mine = c + ty * p.ldc + tx;
  auto counts = [&](int i, int j) { return i < rows && j < columns && side * (i - j) >= 0; };
  T sum[SIDE][SIDE];
  for (int j = 0; j < SIDE; j++)
    for (int i = 0; i < SIDE; i++) sum[j][i] = zero<T>();
  __syncthreads();
#pragma unroll(traits<T>::complex ? 1 : 4)
  for (int k = 0; k < BLOCK; k++) {
    T x[SIDE], y[SIDE];
    for (int i = 0; i < SIDE; i++) x[i] = a[k][tx + 16 * i];
    for (int j = 0; j < SIDE; j++) y[j] = b[k][ty + j];
    for (int j = 0; j < SIDE; j++)
      for (int i = 0; i < SIDE; i++) add_product(sum[j][i], x[i], y[j]);
  }
  T old[SIDE][SIDE];
  for (int j = 0; j < SIDE; j++)
    for (int i = 0; i < SIDE; i++) old[j][i] = counts(tx + 16 * i, ty + j) ? mine[j * p.ldc + 16 * i] : zero<T>();
  for (int j = 0; j < SIDE; j++)
    for (int i = 0; i < SIDE; i++)
      if (counts(tx + 16 * i, ty + j)) mine[j * p.ldc + 16 * i] = old[j][i] - sum[j][i];
  if (!p.next || blockIdx.x) return;
  // The next block's factor.
  __syncthreads();
  if (threadIdx.x >= 32) return;
  const lower_part<T> l = {c, p.ldc, p.upper != 0};
  const int info = cholesky_warp(l, p.next);
  if (info && threadIdx.x == 0) *p.info = info + (int)p.first;
}

#define KERNEL(name, args, threads, ...) \
  extern "C" __global__ void __launch_bounds__(threads) warpstep_##name(const __grid_constant__ args p) { __VA_ARGS__(p); }
#define STEPS(l, T, SIDE)                                        \
  KERNEL(l##solve_lu_rows, ws_rows_args, 256, lu_rows<T>)        \
  KERNEL(l##solve_below, ws_below_args, 32, cholesky_below<T>)   \
  KERNEL(l##solve_update, ws_update_args, 256, update<T, SIDE>)
STEPS(s, float, 4)
STEPS(d, double, 4)
STEPS(c, c32, 4)
STEPS(z, c64, 2)

#define COLUMNS(l, T, rows, columns) \
  KERNEL(l##solve_lu_##columns, ws_solve_args, WS_SOLVE_PANEL, lu_columns<T, rows, columns>)
COLUMNS(s, float, 2, 32)
COLUMNS(s, float, 4, 16)
COLUMNS(d, double, 1, 32)
COLUMNS(d, double, 2, 16)
COLUMNS(d, double, 4, 8)
COLUMNS(c, c32, 1, 32)
COLUMNS(c, c32, 2, 16)
COLUMNS(z, c64, 1, 16)
