/* A program for the driver interface, without nvcc: two streams, copies, fills, kernels at the same time, events, a graph and a
 * callback. Prints what its events measured, for check.py: "copy NAME MICROSECONDS" lines.
 *
 *   program CUBIN     of kernels/vecadd
 */
#include "driver_calls.h"

enum { N = 1 << 16, BYTES = N * 4, BLOCK = 256 };

static void called(void *data)
{
  *(int *)data += 1;
}

/* Between two events, behind a fill: the copy is issued before the stream comes to it, so that it takes all the time between. */
static void timed_copy(const char *what, handle stream, address spare, address device, void *host, int to_device)
{
  handle begin, end;
  float ms;
  CALL(cuEventCreate, &begin, 0);
  CALL(cuEventCreate, &end, 0);
  CALL(cuMemsetD32Async, spare, 0, (size_t)N, stream);
  CALL(cuEventRecord, begin, stream);
  if (to_device) CALL(cuMemcpyHtoDAsync_v2, device, host, (size_t)BYTES, stream);
  else CALL(cuMemcpyDtoHAsync_v2, host, device, (size_t)BYTES, stream);
  CALL(cuEventRecord, end, stream);
  CALL(cuStreamSynchronize, stream);
  CALL(cuEventElapsedTime, &ms, begin, end);
  printf("copy %s %.6f\n", what, (double)ms * 1000);
}

int main(int argc, char **argv)
{
  handle context, module, f, a, b, graph, exec;
  address x, y, z, spare;
  float *host;
  int calls = 0;
  if (argc != 2 || !load_driver()) return 1;
  CALL(cuInit, 0);
  CALL(cuCtxCreate_v2, &context, 0, 0);
  CALL(cuModuleLoad, &module, argv[1]);
  CALL(cuModuleGetFunction, &f, module, "vecadd");
  CALL(cuMemAllocHost_v2, (void **)&host, (size_t)BYTES);
  CALL(cuMemAlloc_v2, &x, (size_t)BYTES);
  CALL(cuMemAlloc_v2, &y, (size_t)BYTES);
  CALL(cuMemAlloc_v2, &z, (size_t)BYTES);
  CALL(cuMemAlloc_v2, &spare, (size_t)BYTES);
  CALL(cuStreamCreate, &a, 1);
  CALL(cuStreamCreate, &b, 1);
  for (unsigned i = 0; i < N; i++) host[i] = (float)i;
  timed_copy("to the device", a, spare, x, host, 1);
  CALL(cuMemsetD32Async, y, 0, (size_t)N, b);
  CALL(cuCtxSynchronize);
  launch(f, BLOCK, a, x, y, z, 4 * BLOCK); /* simulated together */
  launch(f, BLOCK, b, x, y, y, 4 * BLOCK); /* y = x */
  CALL(cuCtxSynchronize);
  launch(f, BLOCK, a, x, y, z, N);
  CALL(cuLaunchHostFunc, a, called, &calls);
  timed_copy("to the host", a, spare, z, host, 0);
  CALL(cuStreamBeginCapture_v2, a, 0);
  CALL(cuMemcpyHtoDAsync_v2, x, host, (size_t)BYTES, a);
  launch(f, BLOCK, a, x, y, z, N);
  CALL(cuMemcpyDtoHAsync_v2, host, z, (size_t)BYTES, a);
  CALL(cuStreamEndCapture, a, &graph);
  CALL(cuGraphInstantiateWithFlags, &exec, graph, 0ull);
  CALL(cuGraphLaunch, exec, a);
  CALL(cuGraphLaunch, exec, a);
  CALL(cuStreamSynchronize, a);
  return calls != 1 || host[100] != 400.0f; /* x + y, and y more with each launch of the graph */
}
