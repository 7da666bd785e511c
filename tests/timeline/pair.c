/* Two GPUs at work at the same time, and a copy from one to the other (check.py says what its file has).
 *
 *   pair CUBIN     of kernels/vecadd
 */
#include "driver_calls.h"

enum { N = 1 << 17, BYTES = N * 4, BLOCK = 256, GPUS = 2 };

struct gpu {
  handle context, f, stream;
  address x, y;
};

static void begin(struct gpu *g, int number, const char *cubin)
{
  handle module;
  CALL(cuCtxCreate_v2, &g->context, 0, number);
  CALL(cuModuleLoad, &module, cubin);
  CALL(cuModuleGetFunction, &g->f, module, "vecadd");
  CALL(cuStreamCreate, &g->stream, 1);
  CALL(cuMemAlloc_v2, &g->x, (size_t)BYTES);
  CALL(cuMemAlloc_v2, &g->y, (size_t)BYTES);
}

int main(int argc, char **argv)
{
  struct gpu gpu[GPUS];
  if (argc != 2 || !load_driver()) return 1;
  CALL(cuInit, 0);
  for (int i = 0; i < GPUS; i++) begin(&gpu[i], i, argv[1]);
  for (int i = 0; i < GPUS; i++) {
    CALL(cuCtxSetCurrent, gpu[i].context);
    CALL(cuMemsetD32Async, gpu[i].x, 0x3f800000, (size_t)N, gpu[i].stream);
    CALL(cuMemsetD32Async, gpu[i].y, 0x40000000, (size_t)N, gpu[i].stream);
    launch(gpu[i].f, BLOCK, gpu[i].stream, gpu[i].x, gpu[i].y, gpu[i].y, N);
  }
  for (int i = 0; i < GPUS; i++) {
    CALL(cuCtxSetCurrent, gpu[i].context);
    CALL(cuCtxSynchronize);
  }
  CALL(cuMemcpyPeerAsync, gpu[1].x, gpu[1].context, gpu[0].y, gpu[0].context, (size_t)BYTES, gpu[1].stream);
  launch(gpu[1].f, BLOCK, gpu[1].stream, gpu[1].x, gpu[1].y, gpu[1].y, N);
  float sum;
  CALL(cuStreamSynchronize, gpu[1].stream);
  CALL(cuMemcpyDtoH_v2, &sum, gpu[1].y, sizeof sum);
  return sum != 6.0f;
}
