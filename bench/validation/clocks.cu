// Kernels that others have timed at locked clocks (blackjack2015/NV-DVFS-Benchmark, f189504f): the same work per thread, CTA and
// addresses as in the programs named, written anew. Grids may be smaller than there: pitches are arguments.

// CUDA samples, transpose: CTAs of 16 x 16 through a tile without padding.
extern "C" __global__ void transpose_tile(float *out, const float *in, int pitch)
{
  __shared__ float tile[16][16];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * pitch + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x;
  y = blockIdx.x * 16 + threadIdx.y;
  out[y * pitch + x] = tile[threadIdx.x][threadIdx.y];
}

// CUDA samples, matrixMul: CTAs of 32 x 32, tiles of A and B in shared memory.
extern "C" __global__ void matrix_product(float *c, const float *a, const float *b, int pitch, int inner)
{
  __shared__ float as[32][32], bs[32][32];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + x;
  float sum = 0;
  for (int t = 0; t < inner; t += 32) {
    as[y][x] = a[row * pitch + t + x];
    bs[y][x] = b[(t + y) * pitch + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; k++) sum += as[y][k] * bs[k][x];
    __syncthreads();
  }
  c[row * pitch + column] = sum;
}

// Rodinia, gaussian: one elimination step; x runs along a column of the matrix. CTAs of 4 x 4.
extern "C" __global__ void eliminate(const float *factor, float *a, float *b, int size, int step)
{
  int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= size - 1 - step || column >= size - step) return;
  row += 1 + step;
  float f = factor[size * row + step];
  a[size * row + column + step] -= f * a[size * step + column + step];
  if (column == 0) b[row] -= f * b[step];
}

// Rodinia, backprop: products of 16 inputs with the weights to 16 units, summed up in shared memory. CTAs of 16 x 16.
extern "C" __global__ void layer_forward(const float *input, float *weights, float *partial, int units)
{
  __shared__ float node[16], product[16][16];
  int x = threadIdx.x, y = threadIdx.y, row = 16 * blockIdx.y + y + 1, at = (units + 1) * row + x + 1;
  if (x == 0) node[y] = input[row];
  __syncthreads();
  product[y][x] = weights[at];
  __syncthreads();
  product[y][x] *= node[y];
  __syncthreads();
  for (int i = 1; i <= __log2f(16); i++) {
    int power = (int)__powf(2, i);
    if (y % power == 0) product[y][x] += product[y + power / 2][x];
    __syncthreads();
  }
  weights[at] = product[y][x];
  __syncthreads();
  if (x == 0) partial[blockIdx.y * units + y] = product[x][y];
}
