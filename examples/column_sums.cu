/* Sums of columns, one thread each, in the order that is slow: the example of docs/tutorial.md. */
#include <cstdio>
#include <cuda_runtime.h>

__global__ void column_sums(const float *in, float *out, int rows, int columns)
{
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int row = 0; row < rows; row++) sum += in[column * rows + row]; /* neighbours are `rows` apart */
  out[column] = sum;
}

int main()
{
  const int rows = 64, columns = 4096;
  float *in, *out;
  cudaMallocManaged(&in, rows * columns * sizeof *in);
  cudaMallocManaged(&out, columns * sizeof *out);
  for (int i = 0; i < rows * columns; i++) in[i] = i % 7;
  column_sums<<<columns / 128, 128>>>(in, out, rows, columns);
  cudaDeviceSynchronize();
  printf("%s, out[0] = %g\n", cudaGetErrorString(cudaGetLastError()), out[0]);
}
