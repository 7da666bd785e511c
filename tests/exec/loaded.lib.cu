// A library with the static runtime inside: its kernel is registered when it is loaded.
__global__ void triple(int *x)
{
  x[threadIdx.x] *= 3;
}

extern "C" int tripled(int value)
{
  int host[32], *device;
  for (int &v : host) v = value;
  if (cudaMalloc(&device, sizeof host) != cudaSuccess) return -1;
  if (cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice) != cudaSuccess) return -2;
  triple<<<1, 32>>>(device);
  if (cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return -3;
  for (int v : host)
    if (v != host[0]) return -4;
  return cudaFree(device) == cudaSuccess ? host[0] : -5;
}
