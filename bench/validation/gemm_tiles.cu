// Steps of a matrix product in FP32 and FP16, C = alpha A B + beta C, row-major: the same tiles, thread mapping, loads, bounds checks
// and 64-bit indices as the steps of leimao/CUDA-GEMM-Optimization (747e49b4), which others have timed at 4096 cubed. The inner
// extent `k` is apart from the leading dimensions, so that a part of the large product can be run with its addresses.
#include <cuda_fp16.h>
#include <mma.h>

template <class T> struct product {
  size_t m, n, k;
  T alpha;
  const T *a;
  size_t lda;
  const T *b;
  size_t ldb;
  T beta;
  T *c;
  size_t ldc;
};

static __device__ size_t linear_thread() { return threadIdx.y * blockDim.x + threadIdx.x; }

template <class T> static __device__ void put(const product<T> &p, size_t row, size_t column, T sum)
{
  if (row < p.m && column < p.n) p.c[row * p.ldc + column] = p.alpha * sum + p.beta * p.c[row * p.ldc + column];
}

template <class T> static __device__ void dot(const product<T> &p, size_t row, size_t column)
{
  if (row >= p.m || column >= p.n) return;
  T sum = 0;
  for (size_t k = 0; k < p.k; k++) sum += p.a[row * p.lda + k] * p.b[k * p.ldb + column];
  put(p, row, column, sum);
}

// Elements of a 128-bit access.
template <class T> constexpr size_t lanes = sizeof(int4) / sizeof(T);

template <class T> static __device__ T load_one(const T *from, size_t ld, size_t row, size_t column, size_t rows, size_t columns)
{
  T value = 0;
  if (row < rows && column < columns) value = from[row * ld + column];
  return value;
}

// Elements beyond the matrix become zero. The loop's extent is only known at run time, as in the original, which is why the compiler
// keeps most of these vectors in local memory.
template <class T>
static __device__ void load_vector(int4 &value, const T *from, size_t ld, size_t row, size_t column, size_t rows, size_t columns)
{
  if (row < rows && column < columns) value = *reinterpret_cast<const int4 *>(&from[row * ld + column]);
  if (column + lanes<T> > columns) {
    size_t beyond = column + lanes<T> - columns;
    T *const part = reinterpret_cast<T *>(&value);
    for (size_t i = 0; i < beyond; i++) part[lanes<T> - 1 - i] = static_cast<T>(0);
  }
}

// What a step has: A transposed in shared memory, 128-bit accesses (from global memory, to A's and to B's values and C), and
// whether neighbouring threads are spread over the CTA's tile or over a warp's 64 x 32 of it.
enum : unsigned { TRANSPOSED = 1, WIDE_LOAD = 2, WIDE_A = 4, WIDE_B = 8, WARP_TILES = 16 };

// A CTA's tiles in shared memory: M x K of A (or K x M), K x N of B; rows have PAD more elements.
template <class T, size_t M, size_t N, size_t K, size_t THREADS, unsigned HAS, size_t PAD = 0> struct tiles {
  static constexpr size_t A_ROWS = HAS & TRANSPOSED ? K : M, A_COLUMNS = (HAS & TRANSPOSED ? M : K) + PAD;
  typedef T tile_a[A_ROWS][A_COLUMNS];
  typedef T tile_b[K][N + PAD];

  static __device__ T &at(tile_a &a, size_t row, size_t k) { return HAS & TRANSPOSED ? a[k][row] : a[row][k]; }

  static __device__ void load_scalar(const product<T> &p, size_t k0, tile_a &a, tile_b &b)
  {
#pragma unroll
    for (size_t n = 0; n < M * K / THREADS; n++) {
      size_t i = linear_thread() + n * THREADS;
      at(a, i / K, i % K) = load_one(p.a, p.lda, blockIdx.y * M + i / K, k0 + i % K, p.m, p.k);
    }
#pragma unroll
    for (size_t n = 0; n < K * N / THREADS; n++) {
      size_t i = linear_thread() + n * THREADS;
      b[i / N][i % N] = load_one(p.b, p.ldb, k0 + i / N, blockIdx.x * N + i % N, p.k, p.n);
    }
  }

  static __device__ void load_wide(const product<T> &p, size_t k0, tile_a &a, tile_b &b)
  {
    constexpr size_t V = lanes<T>, KV = K / V, NV = N / V;
#pragma unroll
    for (size_t n = 0; n < (M * KV + THREADS - 1) / THREADS; n++) {
      size_t i = linear_thread() + n * THREADS, row = i / KV, column = i % KV * V;
      int4 value = {0, 0, 0, 0};
      load_vector(value, p.a, p.lda, blockIdx.y * M + row, k0 + column, p.m, p.k);
      if (row >= M) continue;
      if (HAS & TRANSPOSED)
        for (size_t j = 0; j < V; j++) at(a, row, column + j) = reinterpret_cast<const T *>(&value)[j];
      else
        *reinterpret_cast<int4 *>(&at(a, row, column)) = value;
    }
#pragma unroll
    for (size_t n = 0; n < (K * NV + THREADS - 1) / THREADS; n++) {
      size_t i = linear_thread() + n * THREADS, row = i / NV, column = i % NV * V;
      int4 value = {0, 0, 0, 0};
      load_vector(value, p.b, p.ldb, k0 + row, blockIdx.x * N + column, p.k, p.n);
      if (row < K) *reinterpret_cast<int4 *>(&b[row][column]) = value;
    }
  }

  static __device__ void load(const product<T> &p, size_t k0, tile_a &a, tile_b &b)
  {
    if (HAS & WIDE_LOAD)
      load_wide(p, k0, a, b);
    else
      load_scalar(p, k0, a, b);
  }
};

// N values that stand side by side in shared memory.
template <size_t N, class T> static __device__ void read_wide(T (&value)[N], const T *from)
{
#pragma unroll
  for (size_t i = 0; i < N; i += lanes<T>)
    *reinterpret_cast<int4 *>(&value[i]) = *reinterpret_cast<const int4 *>(&from[i]);
}

template <size_t N, class T> static __device__ void put_wide(const product<T> &p, size_t row, size_t column, const T (&sum)[N])
{
#pragma unroll
  for (size_t i = 0; i < N; i += lanes<T>) {
    if (row >= p.m || column + i >= p.n) continue;
    int4 *place = reinterpret_cast<int4 *>(&p.c[row * p.ldc + column + i]), value = *place;
    T *part = reinterpret_cast<T *>(&value);
#pragma unroll
    for (size_t j = 0; j < lanes<T>; j++) part[j] = p.alpha * sum[i + j] + p.beta * part[j];
    *place = value;
  }
}

// CTAs with M x N outputs, TM x TN per thread.
template <class T, size_t M, size_t N, size_t K, size_t TM, size_t TN, unsigned HAS> static __device__ void tiled(const product<T> &p)
{
  constexpr size_t THREADS = M * N / (TM * TN), WARP_M = 64, WARP_N = 32;
  typedef tiles<T, M, N, K, THREADS, HAS> shared;
  __shared__ typename shared::tile_a as;
  __shared__ typename shared::tile_b bs;
  size_t thread = linear_thread(), warp = thread / 32, lane = thread % 32;
  size_t row = thread / (N / TN) * TM, column = thread % (N / TN) * TN;
  if (HAS & WARP_TILES) {
    row = warp / (N / WARP_N) * WARP_M + lane / (WARP_N / TN) * TM;
    column = warp % (N / WARP_N) * WARP_N + lane % (WARP_N / TN) * TN;
  }
  T sum[TM][TN] = {static_cast<T>(0)};
  size_t n_tiles = (p.k + K - 1) / K;
  for (size_t t = 0; t < n_tiles; t++) {
    shared::load(p, t * K, as, bs);
    __syncthreads();
#pragma unroll
    for (size_t k = 0; k < K; k++) {
      T a[TM], b[TN];
      if constexpr (HAS & WIDE_A) {
        read_wide(a, &shared::at(as, row, k));
      } else {
#pragma unroll
        for (size_t i = 0; i < TM; i++) a[i] = shared::at(as, row + i, k);
      }
      if constexpr (HAS & WIDE_B) {
        read_wide(b, &bs[k][column]);
      } else {
#pragma unroll
        for (size_t j = 0; j < TN; j++) b[j] = bs[k][column + j];
      }
#pragma unroll
      for (size_t i = 0; i < TM; i++)
#pragma unroll
        for (size_t j = 0; j < TN; j++) sum[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }
  row += blockIdx.y * M, column += blockIdx.x * N;
#pragma unroll
  for (size_t i = 0; i < TM; i++) {
    if constexpr (HAS & WIDE_B) {
      put_wide(p, row + i, column, sum[i]);
    } else {
#pragma unroll
      for (size_t j = 0; j < TN; j++) put(p, row + i, column + j, sum[i][j]);
    }
  }
}

// Tensor cores: CTAs of 256 with 128 x 128 outputs, 64 x 32 per warp in tiles of 16 x 16.
template <unsigned HAS> static __device__ void tensor(const product<half> &p)
{
  using namespace nvcuda::wmma;
  enum { M = 128, N = 128, K = 16, THREADS = 256, PAD = 16, W = 16, WARP_M = 64, WARP_N = 32, ROWS = WARP_M / W, COLUMNS = WARP_N / W };
  typedef tiles<half, M, N, K, THREADS, HAS | TRANSPOSED, PAD> shared;
  __shared__ typename shared::tile_a as;
  __shared__ typename shared::tile_b bs;
  size_t warp = linear_thread() / 32, row = warp / (N / WARP_N) * WARP_M, column = warp % (N / WARP_N) * WARP_N;
  fragment<matrix_a, W, W, W, half, col_major> a[ROWS];
  fragment<matrix_b, W, W, W, half, row_major> b[COLUMNS];
  fragment<accumulator, W, W, W, half> sum[ROWS][COLUMNS], c;
#pragma unroll
  for (int i = 0; i < ROWS; i++)
#pragma unroll
    for (int j = 0; j < COLUMNS; j++) fill_fragment(sum[i][j], half(0));
  size_t n_tiles = (p.k + K - 1) / K;
  for (size_t t = 0; t < n_tiles; t++) {
    shared::load(p, t * K, as, bs);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ROWS; i++) load_matrix_sync(a[i], &as[0][row + i * W], M + PAD);
#pragma unroll
    for (int j = 0; j < COLUMNS; j++) load_matrix_sync(b[j], &bs[0][column + j * W], N + PAD);
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
      for (int j = 0; j < COLUMNS; j++) mma_sync(sum[i][j], a[i], b[j], sum[i][j]);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < ROWS; i++)
#pragma unroll
    for (int j = 0; j < COLUMNS; j++) {
      half *place = &p.c[(blockIdx.y * M + row + i * W) * p.n + blockIdx.x * N + column + j * W];
      load_matrix_sync(c, place, p.n, mem_row_major);
      for (int e = 0; e < c.num_elements; e++) c.x[e] = p.alpha * sum[i][j].x[e] + p.beta * c.x[e];
      store_matrix_sync(place, c, p.n, mem_row_major);
    }
}

#define KERNEL(name, T, ...) \
  extern "C" __global__ void name(size_t m, size_t n, size_t k, T alpha, const T *a, size_t lda, const T *b, size_t ldb, T beta, \
                                  T *c, size_t ldc) \
  { \
    const product<T> p = {m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}; \
    __VA_ARGS__; \
  }
#define BOTH(name, ...) \
  KERNEL(name##_f32, float, typedef float T; __VA_ARGS__) \
  KERNEL(name##_f16, half, typedef half T; __VA_ARGS__)

// CTAs of 32 x 32: neighbouring threads have neighbouring rows; neighbouring columns; tiles of 32 x 32.
BOTH(v00, dot<T>(p, blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y))
BOTH(v01, dot<T>(p, blockIdx.y * blockDim.y + threadIdx.y, blockIdx.x * blockDim.x + threadIdx.x))
BOTH(v02, tiled<T, 32, 32, 32, 1, 1, 0>(p))
BOTH(v02_vector, tiled<T, 32, 32, 32, 1, 1, WIDE_LOAD>(p))
// CTAs of 512: eight outputs of a column per thread.
BOTH(v03, tiled<T, 64, 64, 8, 8, 1, 0>(p))
BOTH(v03_vector, tiled<T, 64, 64, 8, 8, 1, WIDE_LOAD>(p))
// CTAs of 256: 8 x 8 outputs per thread.
BOTH(v04, tiled<T, 128, 128, 16, 8, 8, 0>(p))
BOTH(v04_vector, tiled<T, 128, 128, 16, 8, 8, WIDE_B>(p))
BOTH(v05, tiled<T, 128, 128, 16, 8, 8, TRANSPOSED>(p))
BOTH(v05_vector, tiled<T, 128, 128, 16, 8, 8, TRANSPOSED | WIDE_LOAD | WIDE_B>(p))
BOTH(v06, tiled<T, 128, 128, 16, 8, 8, TRANSPOSED | WARP_TILES>(p))
BOTH(v06_vector, tiled<T, 128, 128, 16, 8, 8, TRANSPOSED | WARP_TILES | WIDE_LOAD | WIDE_A | WIDE_B>(p))
KERNEL(v07_f16, half, tensor<0>(p))
KERNEL(v07_vector_f16, half, tensor<WIDE_LOAD>(p))
