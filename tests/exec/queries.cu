// What a program asks and is told: objects, streams, peers, errors of calls (CUDA Runtime API, the functions' pages).
#include "check.h"
#include <cstring>

int main()
{
  // Texture and surface objects say what they were made of.
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  CUDA(cudaMallocArray(&array, &format, 8, 2, cudaArraySurfaceLoadStore));
  cudaResourceDesc resource = {}, said = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how = {}, told = {};
  how.addressMode[0] = cudaAddressModeMirror, how.normalizedCoords = 1, how.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t texture;
  cudaSurfaceObject_t surface;
  CUDA(cudaCreateTextureObject(&texture, &resource, &how, NULL));
  CUDA(cudaCreateSurfaceObject(&surface, &resource));
  CUDA(cudaGetTextureObjectResourceDesc(&said, texture));
  CHECK(said.resType == cudaResourceTypeArray && said.res.array.array == array);
  CUDA(cudaGetTextureObjectTextureDesc(&told, texture));
  CHECK(told.addressMode[0] == cudaAddressModeMirror && told.normalizedCoords == 1 &&
        told.filterMode == cudaFilterModeLinear);
  memset(&said, 0, sizeof said);
  CUDA(cudaGetSurfaceObjectResourceDesc(&said, surface));
  CHECK(said.res.array.array == array);
  CHECK(cudaGetTextureObjectResourceDesc(&said, surface) == cudaErrorInvalidValue);
  CUDA(cudaDestroyTextureObject(texture));
  CHECK(cudaGetTextureObjectResourceDesc(&said, texture) == cudaErrorInvalidValue);
  CUDA(cudaDestroySurfaceObject(surface));

  size_t texels;
  int most;
  CUDA(cudaDeviceGetTexture1DLinearMaxWidth(&texels, &format, 0));
  CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxTexture1DLinearWidth, 0));
  CHECK(texels == size_t(most) && cudaDeviceGetTexture1DLinearMaxWidth(&texels, &format, 1) == cudaErrorInvalidDevice);

  // Priorities outside of the range become its ends.
  int least, greatest, priority;
  cudaStream_t stream;
  CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest - 100));
  CUDA(cudaStreamGetPriority(stream, &priority));
  CHECK(priority == greatest);
  CUDA(cudaStreamDestroy(stream));
  CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, least + 100));
  CUDA(cudaStreamGetPriority(stream, &priority));
  CHECK(priority == least);

  // One device, which is no peer of itself.
  int can = 1, device = 7;
  char bus[32];
  CUDA(cudaDeviceCanAccessPeer(&can, 0, 0));
  CHECK(can == 0);
  CHECK(cudaDeviceEnablePeerAccess(0, 1) == cudaErrorInvalidValue);
  CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceDisablePeerAccess(1) == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice && cudaGetLastError() == cudaSuccess);
  CUDA(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
  CUDA(cudaDeviceGetByPCIBusId(&device, bus));
  CHECK(device == 0);
  CHECK(cudaDeviceGetByPCIBusId(&device, "0000:77:00.0") == cudaErrorInvalidDevice);

  // Bad calls.
  int *p = (int *)8;
  CHECK(cudaMalloc((void **)NULL, 10) == cudaErrorInvalidValue);
  CUDA(cudaMalloc(&p, 0));
  CHECK(p == NULL);
  CHECK(cudaMalloc(&p, (size_t)1 << 45) == cudaErrorMemoryAllocation);
  CUDA(cudaMalloc(&p, 400));
  CHECK(cudaFree(p + 1) == cudaErrorInvalidValue);
  CHECK(cudaMemset(p, 0, 4000) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(&can, p, sizeof can, (cudaMemcpyKind)9) == cudaErrorInvalidMemcpyDirection);
  CHECK(cudaMemcpy2D(&can, 2, p, 4, 4, 1, cudaMemcpyDeviceToHost) == cudaErrorInvalidPitchValue);
  CUDA(cudaFree(p));
}
