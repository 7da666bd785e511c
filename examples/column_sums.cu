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
  static float host[rows * columns];
  float *in, *out;
  for (int i = 0; i < rows * columns; i++) host[i] = i % 7;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, columns * sizeof *out);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  column_sums<<<columns / 128, 128>>>(in, out, rows, columns);
  cudaMemcpy(host, out, columns * sizeof *out, cudaMemcpyDeviceToHost);
  printf("%s, out[0] = %g\n", cudaGetErrorString(cudaGetLastError()), host[0]);
}
