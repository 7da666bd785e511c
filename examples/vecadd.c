/* z = x + y on a simulated GPU, through the library.
 *
 *   cc vecadd.c $(pkg-config --cflags --libs warpstep) -o vecadd
 *   ./vecadd kernels/vecadd/vecadd.sm_86.cubin rtx-3070
 *
 * The kernel is vecadd(const float *x, const float *y, float *z, unsigned n).
 */
#include <stdio.h>
#include <stdlib.h>
#include <warpstep/warpstep.h>

enum { N = 1000, BLOCK = 256 };

static ws_error error = WS_ERROR_INIT;

static void must(int status)
{
  if (status == WS_OK) return;
  fprintf(stderr, "vecadd: %s\n", error.message);
  exit(EXIT_FAILURE);
}

static ws_address to_gpu(ws_device *gpu, const void *data, size_t bytes)
{
  ws_address at;
  must(ws_alloc(gpu, bytes, &at, &error));
  must(ws_copy_in(gpu, at, data, bytes, &error));
  return at;
}

static void report(const ws_result *result)
{
  struct ws_fault fault = WS_FAULT_INIT;
  const char *cause;
  uint64_t slots;

  if (ws_result_fault(result, &fault, NULL) == WS_OK) {
    printf("%s at %s: %s\n", fault.kind_name, fault.where, fault.message);
    return;
  }
  printf("%llu cycles, %.0f ns, %llu warp instructions\n",
         (unsigned long long)ws_result_cycles(result), ws_result_nanoseconds(result),
         (unsigned long long)ws_result_instructions(result));
  for (size_t i = 0; ws_result_slot_at(result, i, &cause, &slots, NULL) == WS_OK; i++)
    if (slots) printf("  %-20s %8llu issue slots\n", cause, (unsigned long long)slots);
}

int main(int argc, char **argv)
{
  struct ws_device_options options = WS_DEVICE_OPTIONS_INIT;
  struct ws_launch launch = WS_LAUNCH_INIT;
  ws_device *gpu;
  ws_module *module;
  const ws_kernel *kernel;
  ws_result *result;
  static float x[N], y[N], z[N];
  unsigned n = N, wrong = 0;

  if (argc != 3) {
    fprintf(stderr, "usage: vecadd CUBIN GPU\n");
    return EXIT_FAILURE;
  }
  options.preset = argv[2];
  must(ws_device_create(&options, &gpu, &error));
  must(ws_module_load(gpu, argv[1], &module, &error));
  must(ws_module_kernel(module, "vecadd", &kernel, &error));

  for (unsigned i = 0; i < N; i++) x[i] = (float)i, y[i] = 0.5f;
  ws_address dx = to_gpu(gpu, x, sizeof x), dy = to_gpu(gpu, y, sizeof y), dz = to_gpu(gpu, z, sizeof z);
  void *arguments[] = {&dx, &dy, &dz, &n};
  launch.grid[0] = (N + BLOCK - 1) / BLOCK;
  launch.block[0] = BLOCK;
  launch.arguments = arguments;
  must(ws_launch(kernel, &launch, &result, &error));
  report(result);

  must(ws_copy_out(gpu, z, dz, sizeof z, &error));
  for (unsigned i = 0; i < N; i++) wrong += z[i] != x[i] + y[i];
  printf("%u of %d results are wrong\n", wrong, N);
  ws_result_destroy(result);
  ws_device_destroy(gpu);
  return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
