// What programs of several GPUs ask, on a machine with one: codes of the driver and runtime interface, and copies between
// contexts of the same device.
#include "driver_check.h"
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

static void contexts(CUdevice device, CUcontext primary)
{
  CUcontext other;
  int value;
  CU(cuCtxCreate(&other, nullptr, 0, device));
  CHECK(cuCtxEnablePeerAccess(other, 0) == CUDA_ERROR_INVALID_CONTEXT); // itself
  CHECK(cuCtxEnablePeerAccess(nullptr, 0) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(cuCtxEnablePeerAccess(primary, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuCtxEnablePeerAccess(primary, 0) == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  CHECK(cuCtxDisablePeerAccess(primary) == CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  CHECK(cuCtxDisablePeerAccess((CUcontext)&value) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0) == CUDA_ERROR_INVALID_DEVICE);
  CHECK(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1) == CUDA_ERROR_INVALID_DEVICE);
  CHECK(cuDeviceGetP2PAttribute(&value, (CUdevice_P2PAttribute)0, 0, 1) == CUDA_ERROR_INVALID_VALUE);

  CUdeviceptr a, b;
  std::vector<int> from(100), to(100);
  for (int i = 0; i < 100; i++) from[i] = i * i;
  CU(cuMemAlloc(&a, 400));
  CU(cuMemAlloc(&b, 400));
  CU(cuMemcpyHtoD(a, from.data(), 400));
  CU(cuMemcpyPeer(b, primary, a, other, 400));
  CU(cuMemcpyDtoH(to.data(), b, 400));
  CHECK(to == from);
  CHECK(cuMemcpyPeer(b, primary, a, nullptr, 400) == CUDA_ERROR_INVALID_CONTEXT);
  CU(cuMemsetD8(b, 0, 400));
  CU(cuMemcpyPeerAsync(b + 200, other, a + 200, primary, 200, nullptr));
  CU(cuMemcpyDtoH(to.data(), b, 400));
  for (int i = 0; i < 100; i++) CHECK(to[i] == (i < 50 ? 0 : i * i));

  // rows 1 and 2 of 4 x 100 bytes, to rows 0 and 1
  CUDA_MEMCPY3D_PEER p;
  memset(&p, 0, sizeof p);
  p.srcMemoryType = p.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  p.srcDevice = a, p.srcY = 1, p.srcPitch = 100, p.srcHeight = 4;
  p.dstDevice = b, p.dstPitch = 100, p.dstHeight = 4;
  p.WidthInBytes = 100, p.Height = 2, p.Depth = 1;
  CHECK(cuMemcpy3DPeer(&p) == CUDA_ERROR_INVALID_CONTEXT);
  p.srcContext = primary, p.dstContext = other;
  CU(cuMemcpy3DPeer(&p));
  CU(cuMemcpy3DPeerAsync(&p, nullptr));
  CU(cuMemcpyDtoH(to.data(), b, 400));
  for (int i = 0; i < 50; i++) CHECK(to[i] == (i + 25) * (i + 25));
  CU(cuMemFree(a));
  CU(cuMemFree(b));
  CU(cuCtxDestroy(other));
}

static void runtime()
{
  int value;
  int *a, *b, h[64];
  for (int i = 0; i < 64; i++) h[i] = 3 * i;
  CHECK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrPerformanceRank, 0, 1) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceGetP2PAttribute(nullptr, cudaDevP2PAttrPerformanceRank, 0, 1) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CUDA(cudaMalloc(&a, sizeof h));
  CUDA(cudaMalloc(&b, sizeof h));
  CUDA(cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice));
  // 4 rows of 32 bytes from each of 2 planes
  cudaMemcpy3DPeerParms p = {};
  p.srcPtr = make_cudaPitchedPtr(a, 32, 32, 4);
  p.dstPtr = make_cudaPitchedPtr(b, 32, 32, 4);
  p.extent = make_cudaExtent(32, 4, 2);
  p.srcDevice = 1;
  CHECK(cudaMemcpy3DPeer(&p) == cudaErrorInvalidDevice);
  p.srcDevice = 0;
  CUDA(cudaMemset(b, 0, sizeof h));
  CUDA(cudaMemcpy3DPeer(&p));
  memset(h, 0, sizeof h);
  CUDA(cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; i++) CHECK(h[i] == 3 * i);
  CUDA(cudaFree(a));
  CUDA(cudaFree(b));
}

int main()
{
  CUdevice device;
  CUcontext primary;
  CU(cuInit(0));
  CU(cuDeviceGet(&device, 0));
  CU(cuDevicePrimaryCtxRetain(&primary, device));
  CU(cuCtxSetCurrent(primary));
  contexts(device, primary);
  runtime();
}
