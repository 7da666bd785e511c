// Textbook kernels that others have timed on silicon (data/validation): the same work per thread, grid and block as in
// Debdeep23/Kernel_Performance_Prediction, f808e854. One thread per element unless said otherwise.

extern "C" __global__ void vector_add(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
                                      int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void saxpy(float k, const float *__restrict__ a, const float *__restrict__ b,
                                 float *__restrict__ c, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = k * a[i] + b[i];
}

// Even lanes add a long sum of constants, odd ones do not.
extern "C" __global__ void vector_add_divergent(const float *__restrict__ a, const float *__restrict__ b,
                                                float *__restrict__ c, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (i % 2 == 0) {
    float sum = 0;
#pragma unroll 16
    for (int t = 0; t < 128; t++) sum += 0.0001f * t;
    c[i] = a[i] + b[i] + sum;
  } else {
    c[i] = a[i] + b[i];
  }
}

// Every eighth element: one per sector.
extern "C" __global__ void strided_copy(const float *__restrict__ a, float *__restrict__ c, int n)
{
  int i = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) c[i] = a[i];
}

extern "C" __global__ void gather(const float *__restrict__ a, const int *__restrict__ index, float *__restrict__ b,
                                  int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[index[i]];
}

extern "C" __global__ void transpose_global(const float *__restrict__ a, float *__restrict__ b, int rows, int columns)
{
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows && column < columns) b[column * rows + row] = a[row * columns + column];
}

// CTAs of 32 x 32.
extern "C" __global__ void transpose_shared(const float *__restrict__ a, float *__restrict__ b, int rows, int columns)
{
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  if (x < columns && y < rows) tile[threadIdx.y][threadIdx.x] = a[y * columns + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  if (x < rows && y < columns) b[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}

// Two elements per thread, then a tree in shared memory with a barrier at each level.
static __device__ void tree_sum(float mine, float *out)
{
  extern __shared__ float s[];
  s[threadIdx.x] = mine;
  __syncthreads();
  for (int half = blockDim.x >> 1; half > 0; half >>= 1) {
    if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

extern "C" __global__ void reduce_sum(const float *__restrict__ a, float *__restrict__ out, int n)
{
  int i = blockIdx.x * blockDim.x * 2 + threadIdx.x, j = i + blockDim.x;
  tree_sum((i < n ? a[i] : 0.0f) + (j < n ? a[j] : 0.0f), out);
}

extern "C" __global__ void dot_product(const float *__restrict__ a, const float *__restrict__ b,
                                       float *__restrict__ out, int n)
{
  int i = blockIdx.x * blockDim.x * 2 + threadIdx.x, j = i + blockDim.x;
  tree_sum((i < n ? a[i] * b[i] : 0.0f) + (j < n ? a[j] * b[j] : 0.0f), out);
}

// 256 bins, counted in shared memory first.
extern "C" __global__ void histogram(const unsigned *__restrict__ data, int n, unsigned *__restrict__ bins)
{
  extern __shared__ unsigned own[];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) own[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    atomicAdd(&own[data[i] & 255], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], own[b]);
}

// All threads add to one word, `times` times each.
extern "C" __global__ void atomic_hotspot(unsigned *__restrict__ counter, int times)
{
  for (int i = 0; i < times; i++) atomicAdd(counter, 1u);
}

template <int N, bool UNROLL>
static __device__ void convolve(const float *__restrict__ image, const float *__restrict__ k, float *__restrict__ out,
                                int height, int width)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width - (N - 1) || y >= height - (N - 1)) return;
  float sum = 0;
#pragma unroll(UNROLL ? N : 1)
  for (int dy = 0; dy < N; dy++)
#pragma unroll
    for (int dx = 0; dx < N; dx++) sum += image[(y + dy) * width + x + dx] * k[dy * N + dx];
  out[y * width + x] = sum;
}

extern "C" __global__ void conv2d_3x3(const float *__restrict__ image, const float *__restrict__ k,
                                      float *__restrict__ out, int height, int width)
{
  convolve<3, true>(image, k, out, height, width);
}

extern "C" __global__ void conv2d_7x7(const float *__restrict__ image, const float *__restrict__ k,
                                      float *__restrict__ out, int height, int width)
{
  convolve<7, true>(image, k, out, height, width);
}

extern "C" __global__ void matmul_naive(const float *__restrict__ a, const float *__restrict__ b,
                                        float *__restrict__ c, int n)
{
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

// Tiles of 32 x 32, one output per thread.
extern "C" __global__ void matmul_tiled(const float *__restrict__ a, const float *__restrict__ b,
                                        float *__restrict__ c, int n)
{
  __shared__ float as[32][32], bs[32][32];
  int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n; t += 32) {
    as[threadIdx.y][threadIdx.x] = row < n && t + threadIdx.x < n ? a[row * n + t + threadIdx.x] : 0;
    bs[threadIdx.y][threadIdx.x] = t + threadIdx.y < n && column < n ? b[(t + threadIdx.y) * n + column] : 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; k++) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}
