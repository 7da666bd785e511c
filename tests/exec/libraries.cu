// Code that the program compiles and loads itself, as a library of the runtime, and what can be asked of kernels and pointers.
#include "driver_check.h"
#include <cuda_runtime.h>
#include <cstring>
#include <nvrtc.h>
#include <string>
#include <vector>

static const char source[] = R"(
template <typename T> __global__ void axpy(T a, const T *x, T *y, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
__constant__ int offset;
__device__ int base = 5;
__managed__ int both = 1000;
extern "C" __global__ void read(int *out) { *out = base + offset + both++; }
)";

static std::vector<char> compile(std::string *name)
{
  nvrtcProgram p;
  const char *options[] = {"--gpu-architecture=sm_86"}, *lowered;
  size_t bytes;
  CHECK(nvrtcCreateProgram(&p, source, "source.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS);
  CHECK(nvrtcAddNameExpression(p, "axpy<float>") == NVRTC_SUCCESS);
  CHECK(nvrtcCompileProgram(p, 1, options) == NVRTC_SUCCESS);
  CHECK(nvrtcGetLoweredName(p, "axpy<float>", &lowered) == NVRTC_SUCCESS);
  *name = lowered;
  CHECK(nvrtcGetCUBINSize(p, &bytes) == NVRTC_SUCCESS);
  std::vector<char> cubin(bytes);
  CHECK(nvrtcGetCUBIN(p, cubin.data()) == NVRTC_SUCCESS);
  nvrtcDestroyProgram(&p);
  return cubin;
}

static void library()
{
  std::string name;
  std::vector<char> cubin = compile(&name);
  cudaLibrary_t library;
  cudaKernel_t axpy, read, list[2];
  unsigned n;
  CUDA(cudaLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUDA(cudaLibraryGetKernelCount(&n, library));
  CHECK(n == 2);
  CUDA(cudaLibraryEnumerateKernels(list, 2, library));
  CUDA(cudaLibraryGetKernel(&axpy, library, name.c_str()));
  CUDA(cudaLibraryGetKernel(&read, library, "read"));
  CHECK((list[0] == axpy && list[1] == read) || (list[0] == read && list[1] == axpy));
  CHECK(cudaLibraryGetKernel(&read, library, "write") != cudaSuccess && cudaGetLastError() != cudaSuccess);

  float a = 2, *x, *y;
  int count = 100, *out, value = 37;
  CUDA(cudaMallocManaged(&x, 400));
  CUDA(cudaMallocManaged(&y, 400));
  CUDA(cudaMallocManaged(&out, 4));
  for (int i = 0; i < count; i++) x[i] = (float)i, y[i] = 1;
  void *args[] = {&a, &x, &y, &count}, *read_args[] = {&out}, *where;
  CUDA(cudaLaunchKernel((void *)axpy, dim3(1), dim3(128), args, 0, nullptr));
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < count; i++) CHECK(y[i] == 1 + 2.0f * i);
  size_t bytes, offset;
  CUDA(cudaLibraryGetGlobal(&where, &bytes, library, "offset"));
  CHECK(bytes == 4);
  CUDA(cudaMemcpy(where, &value, 4, cudaMemcpyHostToDevice));
  cudaLaunchConfig_t config = {};
  config.gridDim = config.blockDim = 1;
  CUDA(cudaLaunchKernelExC(&config, (void *)read, read_args));
  CUDA(cudaDeviceSynchronize());
  CHECK(*out == 1042);

  // Of a __managed__ variable host and device have the same; what is not managed is not found.
  CUDA(cudaLibraryGetManaged(&where, &bytes, library, "both"));
  CHECK(bytes == 4 && *(int *)where == 1001);
  CHECK(cudaLibraryGetManaged(&where, &bytes, library, "base") == cudaErrorInvalidSymbol && cudaGetLastError());
  CUdeviceptr managed;
  CU(cuLibraryGetManaged(&managed, nullptr, (CUlibrary)library, "both"));
  CHECK((void *)managed == where);
  CHECK(cuLibraryGetManaged(&managed, &bytes, (CUlibrary)library, "base") == CUDA_ERROR_NOT_FOUND);
  CHECK(cuLibraryGetManaged(&managed, &bytes, (CUlibrary)library, "neither") == CUDA_ERROR_NOT_FOUND);
  CHECK(cuLibraryGetManaged(nullptr, nullptr, (CUlibrary)library, "both") == CUDA_ERROR_INVALID_VALUE);

  const char *said;
  CUlibrary owner;
  CU(cuKernelGetName(&said, (CUkernel)read));
  CHECK(strcmp(said, "read") == 0);
  CU(cuKernelGetParamInfo((CUkernel)axpy, 2, &offset, &bytes));
  CHECK(offset == 16 && bytes == 8);
  CHECK(cuKernelGetParamInfo((CUkernel)axpy, 4, &offset, &bytes) == CUDA_ERROR_INVALID_VALUE);
  CU(cuKernelGetLibrary(&owner, (CUkernel)axpy));
  CHECK(owner == (CUlibrary)library);
  CUDA(cudaLibraryUnload(library));
  CHECK(cudaLibraryGetKernel(&axpy, library, "read") != cudaSuccess && cudaGetLastError() != cudaSuccess);
}

__device__ int variable[4];

static void pointers()
{
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_HOST_POINTER};
  unsigned type;
  int ordinal, *device, *managed, local;
  size_t size;
  void *host, *out[] = {&type, &size, &ordinal, &host};
  CUDA(cudaMalloc(&device, 4096));
  CUDA(cudaMallocManaged(&managed, 4096));
  CU(cuPointerGetAttributes(4, which, out, (CUdeviceptr)(device + 100)));
  CHECK(type == CU_MEMORYTYPE_DEVICE && size == 4096 && ordinal == 0 && !host);
  CU(cuPointerGetAttributes(4, which, out, (CUdeviceptr)managed));
  CHECK(size == 4096 && host == managed);
  CU(cuPointerGetAttributes(4, which, out, (CUdeviceptr)&local));
  CHECK(type == 0 && size == 0 && ordinal == -2 && !host);

  // A variable of a module is memory of its GPU, too.
  CUdeviceptr at;
  CUDA(cudaGetSymbolAddress((void **)&at, variable));
  at += 4, ordinal = -5, type = 0;
  CU(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at));
  CU(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at));
  CU(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, at));
  CHECK(ordinal == 0 && type == CU_MEMORYTYPE_DEVICE && (CUdeviceptr)host == at);
  CHECK(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, at) == CUDA_ERROR_INVALID_VALUE);

  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaStreamAttachMemAsync(stream, managed));
  CUDA(cudaStreamAttachMemAsync(nullptr, managed, 0, cudaMemAttachGlobal));
  CHECK(cudaStreamAttachMemAsync(nullptr, managed, 0, cudaMemAttachSingle) == cudaErrorInvalidValue);
  CHECK(cudaStreamAttachMemAsync(stream, managed, 100, cudaMemAttachSingle) == cudaErrorInvalidValue);
  CHECK(cudaStreamAttachMemAsync(stream, device, 0, cudaMemAttachSingle) == cudaErrorInvalidValue);
  CHECK(cudaStreamAttachMemAsync(stream, managed, 0, 3) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}

int main()
{
  CUDA(cudaFree(nullptr));
  library();
  pointers();
}
