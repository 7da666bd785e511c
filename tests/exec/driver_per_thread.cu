// The driver's entry points with per-thread default streams: stream 0 does not wait for other streams,
// which the legacy default stream does.
#include "driver_check.h"

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
  CU(cuInit(0));
  CU(cuDeviceGet(&device, 0));
  CU(cuDevicePrimaryCtxRetain(&context, device));
  CU(cuCtxSetCurrent(context));
  CU(cuStreamCreate(&other, CU_STREAM_DEFAULT));
  CU(cuEventCreate(&event, CU_EVENT_DEFAULT));
  CU(cuMemAlloc(&big, bytes));
  CU(cuMemAlloc(&small, sizeof back));
  CU(cuMemAllocHost(&host, bytes));
  CU(cuMemcpyHtoDAsync(big, host, bytes, other)); // milliseconds
  CU(cuMemsetD8Async(small, 9, sizeof back, 0));
  CU(cuEventRecord(event, 0));
  CU(cuMemcpyDtoH(back, small, sizeof back)); // waits for the thread's stream only
  for (unsigned char b : back) CHECK(b == 9);
  CHECK(cuEventQuery(event) == CUDA_SUCCESS);
  CHECK(cuStreamQuery(other) == CUDA_ERROR_NOT_READY);
  CUDA_ARRAY_DESCRIPTOR shape = {sizeof back, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1};
  CUarray array, copy;
  CU(cuArrayCreate(&array, &shape));
  CU(cuArrayCreate(&copy, &shape));
  CU(cuMemcpyDtoA(array, 0, small, sizeof back)); // inside of the device, too
  CU(cuMemcpyAtoA(copy, 0, array, 0, sizeof back));
  CU(cuMemcpyAtoD(small, copy, 0, sizeof back));
  CU(cuStreamSynchronize(0));
  CHECK(cuStreamQuery(other) == CUDA_ERROR_NOT_READY);
  // by name, the caller chooses
  CUresult (*record)(CUevent, CUstream) = nullptr;
  CUdriverProcAddressQueryResult found;
  CU(cuGetProcAddress("cuEventRecord", (void **)&record, 12000, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &found));
  CU(record(event, 0));
  CHECK(cuEventQuery(event) == CUDA_ERROR_NOT_READY); // behind the copy
  CU(cuGetProcAddress("cuEventRecord", (void **)&record, 12000,
                      CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &found));
  CU(record(event, CU_STREAM_LEGACY));
  CHECK(cuEventQuery(event) == CUDA_ERROR_NOT_READY);
  CU(cuStreamSynchronize(other));
  CU(cuCtxSynchronize());
  CHECK(cuEventQuery(event) == CUDA_SUCCESS);
  printf("ok\n");
}
