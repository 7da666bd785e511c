/* A program for a page: 40 launches that take alike long but for one, the 37th. */
__global__ void work(float *x, int rounds)
{
  float v = x[threadIdx.x];
  for (int i = 0; i < rounds; i++) v = v * 1.5f + i;
  x[threadIdx.x] = v;
}

int main()
{
  float *x;
  if (cudaMalloc(&x, 32 * sizeof *x) != cudaSuccess) return 1;
  for (int i = 1; i <= 40; i++) {
    work<<<1, 32>>>(x, i == 37 ? 4000 : 10);
    cudaDeviceSynchronize(); /* each alone */
  }
  return cudaGetLastError() != cudaSuccess;
}
