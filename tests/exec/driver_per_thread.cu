// The driver's entry points with per-thread default streams: stream 0 does not wait for other streams,
// which the legacy default stream does.
#include <cuda.h>

#include "check.h"

#define OK(call) CHECK((call) == CUDA_SUCCESS)

int main()
{
  const size_t bytes = 64 << 20;
  CUcontext context;
  CUdevice device;
  CUstream other;
  CUevent event;
  CUdeviceptr big, small;
  void *host;
  unsigned char back[16];
  OK(cuInit(0));
  OK(cuDeviceGet(&device, 0));
  OK(cuDevicePrimaryCtxRetain(&context, device));
  OK(cuCtxSetCurrent(context));
  OK(cuStreamCreate(&other, CU_STREAM_DEFAULT));
  OK(cuEventCreate(&event, CU_EVENT_DEFAULT));
  OK(cuMemAlloc(&big, bytes));
  OK(cuMemAlloc(&small, sizeof back));
  OK(cuMemAllocHost(&host, bytes));
  OK(cuMemcpyHtoDAsync(big, host, bytes, other)); // milliseconds
  OK(cuMemsetD8Async(small, 9, sizeof back, 0));
  OK(cuEventRecord(event, 0));
  OK(cuMemcpyDtoH(back, small, sizeof back)); // waits for the thread's stream only
  for (unsigned char b : back) CHECK(b == 9);
  CHECK(cuEventQuery(event) == CUDA_SUCCESS);
  CHECK(cuStreamQuery(other) == CUDA_ERROR_NOT_READY);
  // by name, the caller chooses
  CUresult (*record)(CUevent, CUstream) = nullptr;
  CUdriverProcAddressQueryResult found;
  OK(cuGetProcAddress("cuEventRecord", (void **)&record, 12000, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &found));
  OK(record(event, 0));
  CHECK(cuEventQuery(event) == CUDA_ERROR_NOT_READY); // behind the copy
  OK(cuGetProcAddress("cuEventRecord", (void **)&record, 12000,
                      CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &found));
  OK(record(event, CU_STREAM_LEGACY));
  CHECK(cuEventQuery(event) == CUDA_ERROR_NOT_READY);
  OK(cuStreamSynchronize(other));
  OK(cuCtxSynchronize());
  CHECK(cuEventQuery(event) == CUDA_SUCCESS);
  printf("ok\n");
}
