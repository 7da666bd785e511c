// Launches as CUDA 2 and 3 had them: shape and parameters kept with the function, cuLaunchGrid; contexts with counted users.
#include "driver_check.h"

extern "C" __global__ void scale(float *to, const float *from, float factor, int add)
{
  extern __shared__ float stage[];
  const int i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
  const int t = threadIdx.y * blockDim.x + threadIdx.x;
  stage[t] = from[i];
  __syncthreads();
  to[i] = stage[t] * factor + add;
}

__global__ void mark(int *flag)
{
  *flag += 1 + gridDim.x * gridDim.y * blockDim.x;
}

static CUfunction function_of(const void *symbol)
{
  cudaFunction_t f;
  CUDA(cudaGetFuncBySymbol(&f, symbol));
  return (CUfunction)f;
}

static const int n = 4 * 3 * 64;

static bool holds(CUdeviceptr to, float factor, int add)
{
  float out[n];
  CU(cuMemcpyDtoH(out, to, sizeof out));
  for (int i = 0; i < n; i++)
    if (out[i] != i * factor + add) return printf("%d: %g\n", i, out[i]), false;
  return true;
}

int main()
{
  CUDA(cudaFree(0));
  CUcontext c, again;
  CU(cuCtxGetCurrent(&c));
  CHECK(cuCtxDetach(c) == CUDA_ERROR_INVALID_CONTEXT); // a primary context is not detached from

  CUfunction f = function_of((const void *)scale), g = function_of((const void *)mark);
  CUdeviceptr from, to, flag;
  CU(cuMemAlloc(&from, n * sizeof(float)));
  CU(cuMemAlloc(&to, n * sizeof(float)));
  CU(cuMemAlloc(&flag, sizeof(int)));
  CU(cuMemsetD32(flag, 0, 1));
  float in[n];
  for (int i = 0; i < n; i++) in[i] = (float)i;
  CU(cuMemcpyHtoD(from, in, sizeof in));

  CHECK(cuLaunchGrid(f, 4, 3) == CUDA_ERROR_INVALID_VALUE); // no shape yet
  CHECK(cuFuncSetBlockShape(f, 0, 1, 1) == CUDA_ERROR_INVALID_VALUE); // an empty block
  CU(cuFuncSetBlockShape(f, 16, 4, 1));
  CU(cuFuncSetSharedSize(f, 64 * sizeof(float)));
  CU(cuParamSetv(f, 0, &to, sizeof to));
  CU(cuParamSetv(f, 8, &from, sizeof from));
  CU(cuParamSetf(f, 16, 2.5f));
  CU(cuParamSeti(f, 20, 7));
  CU(cuParamSetSize(f, 24));
  CU(cuLaunchGrid(f, 4, 3));
  CHECK(holds(to, 2.5f, 7)); // cuLaunchGrid

  CUstream st; // what was set stays set, and another function has its own
  CU(cuStreamCreate(&st, CU_STREAM_NON_BLOCKING));
  CU(cuFuncSetBlockShape(g, 3, 1, 1));
  CU(cuParamSetv(g, 0, &flag, sizeof flag));
  CU(cuParamSetSize(g, sizeof flag));
  CU(cuParamSeti(f, 20, (unsigned)-1));
  CU(cuLaunchGridAsync(f, 4, 3, st));
  CU(cuLaunch(g));
  CU(cuStreamSynchronize(st));
  CHECK(holds(to, 2.5f, -1)); // cuLaunchGridAsync
  int marks;
  CU(cuMemcpyDtoH(&marks, flag, sizeof marks));
  CHECK(marks == 4); // cuLaunch

  CHECK(cuParamSetSize(f, 25) == CUDA_ERROR_INVALID_VALUE); // more than the kernel takes
  CHECK(cuParamSeti(f, 21, 0) == CUDA_ERROR_INVALID_VALUE && cuParamSeti(f, -4, 0) == CUDA_ERROR_INVALID_VALUE &&
          cuParamSetv(f, 0x7ffffffc, in, 0xfffffff0u) == CUDA_ERROR_INVALID_VALUE); // a parameter outside
  CU(cuParamSetSize(f, 16)); // the rest reads as zero
  CU(cuLaunchGrid(f, 4, 3));
  CHECK(holds(to, 0, 0)); // a short block

  CUdevice device;
  CUdevprop prop;
  CU(cuDeviceGet(&device, 0));
  CU(cuDeviceGetProperties(&prop, device));
  int registers, align;
  CU(cuDeviceGetAttribute(&registers, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, device));
  CU(cuDeviceGetAttribute(&align, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, device));
  CHECK(prop.maxThreadsPerBlock == 1024 && prop.SIMDWidth == 32 && prop.maxThreadsDim[2] == 64 && prop.sharedMemPerBlock == 48 << 10 &&
          prop.regsPerBlock == registers && prop.textureAlign == align); // cuDeviceGetProperties

  CU(cuCtxCreate(&c, NULL, 0, device));
  CU(cuCtxAttach(&again, 0));
  CHECK(again == c && cuCtxAttach(&again, 1) == CUDA_ERROR_INVALID_VALUE); // cuCtxAttach
  CU(cuCtxDetach(c)); // of two users
  CU(cuCtxGetCurrent(&again));
  CHECK(again == c); // one user is left
  CU(cuCtxDetach(c));
  CU(cuCtxGetCurrent(&again));
  CHECK(again != c && cuCtxPushCurrent(c) == CUDA_ERROR_INVALID_CONTEXT); // the last one destroys it
  puts("launches that keep their parameters: right");
  return 0;
}
