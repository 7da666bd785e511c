// Launches of every kind that the report of exec tells apart: alike, by a kernel, in two streams at once, one of many CTAs.
__global__ void scale(float *x, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * 2 + 1;
}

#ifdef PARENT /* a module that launches kernels has none at the same time */
__global__ void parent(float *x)
{
  if (threadIdx.x == 0) scale<<<1, 32>>>(x, 32);
}
#endif

int main()
{
  enum { N = 1 << 20 };
  float *x, *managed;
  cudaStream_t s[2];
  if (cudaMalloc(&x, N * sizeof *x) || cudaMallocManaged(&managed, 32 * sizeof *managed)) return 1;
  scale<<<1, 32>>>(managed, 32);
  for (int i = 0; i < 2; i++) cudaStreamCreate(&s[i]);
  for (int i = 0; i < 6; i++) scale<<<4, 128>>>(x, 512);
  cudaDeviceSynchronize();
#ifdef PARENT
  parent<<<1, 32>>>(x);
#endif
  cudaDeviceSynchronize();
  scale<<<N / 256, 256>>>(x, N);
  cudaDeviceSynchronize();
  for (int i = 0; i < 2; i++) scale<<<N / 512, 256, 0, s[i]>>>(x + N / 2 * i, N / 2); // longer than a launch takes
  return cudaDeviceSynchronize() != cudaSuccess;
}
