// Steps of an FP32 matrix product, C = alpha A B + beta C, row-major: the same tiling, thread mapping and loads as the steps of
// siboehm/SGEMM_CUDA (60cba6f9), which others have timed at 4096 cubed. The inner extent `n_k` is apart from the leading dimension
// `ld`, so that a part of the large product can be run with its addresses.

struct product {
  const float *a, *b;
  float *c;
  int ld, n_k;
  float alpha, beta;
};

#define PRODUCT const float *all_a, const float *all_b, float *all_c, int ld, int n_k, float alpha, float beta
#define GIVEN product{all_a, all_b, all_c, ld, n_k, alpha, beta}

static __device__ void put(float *c, float sum, float alpha, float beta) { *c = alpha * sum + beta * *c; }

static __device__ float dot(const product &p, int row, int column)
{
  float sum = 0;
  for (int k = 0; k < p.n_k; k++) sum += p.a[row * p.ld + k] * p.b[k * p.ld + column];
  return sum;
}

// CTAs of 32 x 32; neighbouring threads have neighbouring rows.
extern "C" __global__ void gemm1_rows(PRODUCT)
{
  const product p = GIVEN;
  int row = blockIdx.x * 32 + threadIdx.x, column = blockIdx.y * 32 + threadIdx.y;
  put(&p.c[row * p.ld + column], dot(p, row, column), p.alpha, p.beta);
}

// CTAs of 1,024; neighbouring threads have neighbouring columns.
extern "C" __global__ void gemm2_columns(PRODUCT)
{
  const product p = GIVEN;
  int row = blockIdx.x * 32 + threadIdx.x / 32, column = blockIdx.y * 32 + threadIdx.x % 32;
  put(&p.c[row * p.ld + column], dot(p, row, column), p.alpha, p.beta);
}

// CTAs of 1,024, tiles of 32 x 32 in shared memory.
extern "C" __global__ void gemm3_shared(PRODUCT)
{
  const product p = GIVEN;
  __shared__ float as[32 * 32], bs[32 * 32];
  int y = threadIdx.x / 32, x = threadIdx.x % 32;
  const float *a = p.a + blockIdx.x * 32 * p.ld, *b = p.b + blockIdx.y * 32;
  float sum = 0;
  for (int t = 0; t < p.n_k; t += 32, a += 32, b += 32 * p.ld) {
    as[y * 32 + x] = a[y * p.ld + x];
    bs[y * 32 + x] = b[y * p.ld + x];
    __syncthreads();
    for (int k = 0; k < 32; k++) sum += as[y * 32 + k] * bs[k * 32 + x];
    __syncthreads();
  }
  put(&p.c[(blockIdx.x * 32 + y) * p.ld + blockIdx.y * 32 + x], sum, p.alpha, p.beta);
}

// CTAs of 512, tiles of 64 x 8 and 8 x 64, eight outputs of a column per thread.
extern "C" __global__ void gemm4_column_tile(PRODUCT)
{
  const product p = GIVEN;
  enum { M = 64, N = 64, K = 8, T = 8 };
  __shared__ float as[M * K], bs[K * N];
  int x = threadIdx.x % N, y = threadIdx.x / N;
  int ax = threadIdx.x % K, ay = threadIdx.x / K, bx = threadIdx.x % N, by = threadIdx.x / N;
  const float *a = p.a + blockIdx.y * M * p.ld, *b = p.b + blockIdx.x * N;
  float sum[T] = {0};
  for (int t = 0; t < p.n_k; t += K, a += K, b += K * p.ld) {
    as[ay * K + ax] = a[ay * p.ld + ax];
    bs[by * N + bx] = b[by * p.ld + bx];
    __syncthreads();
    for (int k = 0; k < K; k++) {
      float value = bs[k * N + x];
      for (int i = 0; i < T; i++) sum[i] += as[(y * T + i) * K + k] * value;
    }
    __syncthreads();
  }
  float *c = p.c + (blockIdx.y * M + y * T) * p.ld + blockIdx.x * N + x;
  for (int i = 0; i < T; i++) put(&c[i * p.ld], sum[i], p.alpha, p.beta);
}

enum { M = 128, N = 128, T = 8, THREADS = 256 };

// 8 x 8 outputs per thread of a tile: columns of A and a row of B, both at their places in shared memory.
template <class LoadA, class LoadB>
static __device__ void outer_product(float (&sum)[T][T], LoadA load_a, LoadB load_b)
{
  float a[T], b[T];
#pragma unroll
  for (int i = 0; i < T; i++) a[i] = load_a(i);
#pragma unroll
  for (int i = 0; i < T; i++) b[i] = load_b(i);
#pragma unroll
  for (int i = 0; i < T; i++)
#pragma unroll
    for (int j = 0; j < T; j++) sum[i][j] += a[i] * b[j];
}

// CTAs of 256, 32-bit loads.
extern "C" __global__ void __launch_bounds__(THREADS) gemm5_square_tile(PRODUCT)
{
  const product p = GIVEN;
  enum { K = 8 };
  __shared__ float as[M * K], bs[K * N];
  int x = threadIdx.x % (N / T), y = threadIdx.x / (N / T);
  int ax = threadIdx.x % K, ay = threadIdx.x / K, bx = threadIdx.x % N, by = threadIdx.x / N;
  const float *a = p.a + blockIdx.y * M * p.ld, *b = p.b + blockIdx.x * N;
  float sum[T][T] = {{0}};
  for (int t = 0; t < p.n_k; t += K, a += K, b += K * p.ld) {
    for (int i = 0; i < M; i += THREADS / K) as[(ay + i) * K + ax] = a[(ay + i) * p.ld + ax];
    for (int i = 0; i < K; i += THREADS / N) bs[(by + i) * N + bx] = b[(by + i) * p.ld + bx];
    __syncthreads();
    for (int k = 0; k < K; k++)
      outer_product(sum, [&](int i) { return as[(y * T + i) * K + k]; }, [&](int i) { return bs[k * N + x * T + i]; });
    __syncthreads();
  }
  float *c = p.c + (blockIdx.y * M + y * T) * p.ld + blockIdx.x * N + x * T;
  for (int i = 0; i < T; i++)
    for (int j = 0; j < T; j++) put(&c[i * p.ld + j], sum[i][j], p.alpha, p.beta);
}

static __device__ void put4(float *c, const float *sum, float alpha, float beta)
{
  float4 v = *reinterpret_cast<float4 *>(c);
  v.x = alpha * sum[0] + beta * v.x;
  v.y = alpha * sum[1] + beta * v.y;
  v.z = alpha * sum[2] + beta * v.z;
  v.w = alpha * sum[3] + beta * v.w;
  *reinterpret_cast<float4 *>(c) = v;
}

// Where B's elements stand in shared memory.
enum class layout { rows, linear, padded };

template <layout L> static __device__ int place(int row, int column)
{
  if (L == layout::linear) return (row * 8 + column % 8) * 16 + column / 8;
  return row * (L == layout::padded ? N + 5 : N) + column;
}

// CTAs of 256, 128-bit loads, A transposed in shared memory.
template <int K, layout L> static __device__ void vector_tile(const product &p)
{
  __shared__ float as[K * M], bs[K * (N + (L == layout::padded ? 5 : 0))];
  int x = threadIdx.x % (N / T), y = threadIdx.x / (N / T);
  int ax = threadIdx.x % (K / 4), ay = threadIdx.x / (K / 4), bx = threadIdx.x % (N / 4), by = threadIdx.x / (N / 4);
  const float *a = p.a + blockIdx.y * M * p.ld, *b = p.b + blockIdx.x * N;
  float sum[T][T] = {{0}};
  for (int t = 0; t < p.n_k; t += K, a += K, b += K * p.ld) {
    for (int i = 0; i < M; i += THREADS * 4 / K) {
      float4 v = *reinterpret_cast<const float4 *>(&a[(ay + i) * p.ld + ax * 4]);
      as[(ax * 4 + 0) * M + ay + i] = v.x;
      as[(ax * 4 + 1) * M + ay + i] = v.y;
      as[(ax * 4 + 2) * M + ay + i] = v.z;
      as[(ax * 4 + 3) * M + ay + i] = v.w;
    }
    for (int i = 0; i < K; i += THREADS * 4 / N) {
      float4 v = *reinterpret_cast<const float4 *>(&b[(by + i) * p.ld + bx * 4]);
      if (L == layout::rows) {
        *reinterpret_cast<float4 *>(&bs[(by + i) * N + bx * 4]) = v;
      } else {
        bs[place<L>(by + i, bx * 4 + 0)] = v.x;
        bs[place<L>(by + i, bx * 4 + 1)] = v.y;
        bs[place<L>(by + i, bx * 4 + 2)] = v.z;
        bs[place<L>(by + i, bx * 4 + 3)] = v.w;
      }
    }
    __syncthreads();
    for (int k = 0; k < K; k++)
      outer_product(sum, [&](int i) { return as[k * M + y * T + i]; }, [&](int i) { return bs[place<L>(k, x * T + i)]; });
    __syncthreads();
  }
  float *c = p.c + (blockIdx.y * M + y * T) * p.ld + blockIdx.x * N + x * T;
  for (int i = 0; i < T; i++)
    for (int j = 0; j < T; j += 4) put4(&c[i * p.ld + j], &sum[i][j], p.alpha, p.beta);
}

extern "C" __global__ void __launch_bounds__(THREADS) gemm6_vector(PRODUCT) { vector_tile<8, layout::rows>(GIVEN); }
extern "C" __global__ void __launch_bounds__(THREADS) gemm7_linear(PRODUCT) { vector_tile<8, layout::linear>(GIVEN); }
extern "C" __global__ void __launch_bounds__(THREADS) gemm8_padded(PRODUCT) { vector_tile<8, layout::padded>(GIVEN); }
extern "C" __global__ void __launch_bounds__(THREADS) gemm9_deep(PRODUCT) { vector_tile<16, layout::rows>(GIVEN); }

// CTAs of 128: a warp has 64 x 64 outputs, in four parts of 64 x 16; a thread 8 x 4 of each.
extern "C" __global__ void __launch_bounds__(128) gemm10_warp_tile(PRODUCT)
{
  const product p = GIVEN;
  enum { K = 16, THREADS_ = 128, W = 64, PARTS = 4, TN = 4 };
  __shared__ float as[K * M], bs[K * N];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int row = warp / 2 * W + lane / 4 * T, column = warp % 2 * W + lane % 4 * TN;
  int ax = threadIdx.x % (K / 4), ay = threadIdx.x / (K / 4), bx = threadIdx.x % (N / 4), by = threadIdx.x / (N / 4);
  const float *a = p.a + blockIdx.y * M * p.ld, *b = p.b + blockIdx.x * N;
  float sum[T][PARTS * TN] = {{0}};
  for (int t = 0; t < p.n_k; t += K, a += K, b += K * p.ld) {
    for (int i = 0; i < M; i += THREADS_ * 4 / K) {
      float4 v = *reinterpret_cast<const float4 *>(&a[(ay + i) * p.ld + ax * 4]);
      as[(ax * 4 + 0) * M + ay + i] = v.x;
      as[(ax * 4 + 1) * M + ay + i] = v.y;
      as[(ax * 4 + 2) * M + ay + i] = v.z;
      as[(ax * 4 + 3) * M + ay + i] = v.w;
    }
    for (int i = 0; i < K; i += THREADS_ * 4 / N)
      *reinterpret_cast<float4 *>(&bs[(by + i) * N + bx * 4]) =
          *reinterpret_cast<const float4 *>(&b[(by + i) * p.ld + bx * 4]);
    __syncthreads();
    for (int k = 0; k < K; k++) {
      float va[T], vb[PARTS * TN];
#pragma unroll
      for (int i = 0; i < T; i++) va[i] = as[k * M + row + i];
#pragma unroll
      for (int j = 0; j < PARTS * TN; j++) vb[j] = bs[k * N + column + j / TN * (W / PARTS) + j % TN];
#pragma unroll
      for (int j = 0; j < PARTS * TN; j++)
#pragma unroll
        for (int i = 0; i < T; i++) sum[i][j] += va[i] * vb[j];
    }
    __syncthreads();
  }
  float *c = p.c + (blockIdx.y * M + row) * p.ld + blockIdx.x * N + column;
  for (int i = 0; i < T; i++)
    for (int j = 0; j < PARTS; j++) put4(&c[i * p.ld + j * (W / PARTS)], &sum[i][j * TN], p.alpha, p.beta);
}
