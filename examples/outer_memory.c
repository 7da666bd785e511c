/* A GPU inside of another simulator: this program has the clock and the memory, the library the GPU.
 *
 *   cc outer_memory.c $(pkg-config --cflags --libs warpstep) -o outer_memory
 *   ./outer_memory kernels/vecadd/vecadd.sm_86.cubin rtx-3070 100
 *
 * The memory is a toy: one bus on which 32 bytes take a nanosecond, and a fixed latency behind it, in ns (third argument). It
 * stands for the ports of gem5 or SST: ask() is where a packet would be sent, and tick() where one that came back is handed on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <warpstep/warpstep.h>

enum { N = 65536, BLOCK = 256, ROOM = 1 << 16 };
#define NS UINT64_C(1000) /* ps */

static ws_error error = WS_ERROR_INIT;

static void must(int status)
{
  if (status == WS_OK) return;
  fprintf(stderr, "outer_memory: %s\n", error.message);
  exit(EXIT_FAILURE);
}

/* ---- the memory: a queue in order of arrival --------------------------------------------------- */

struct memory {
  ws_device *gpu;
  uint64_t latency_ps, bus_free_ps, reads, writes, bytes;
  struct { uint64_t id, done_ps; } queue[ROOM]; /* ring */
  size_t first, n;
};

static unsigned bytes_of(uint32_t sectors)
{
  return 32 * (unsigned)((sectors & 1) + (sectors >> 1 & 1) + (sectors >> 2 & 1) + (sectors >> 3 & 1));
}

/* L2 asks; called by ws_run_until. */
static void ask(void *context, const struct ws_memory_request *r)
{
  struct memory *m = context;
  unsigned bytes = bytes_of(r->sectors);
  if (m->bus_free_ps < r->time_ps) m->bus_free_ps = r->time_ps;
  m->bus_free_ps += bytes / 32 * NS;
  m->bytes += bytes;
  if (!r->id) {
    m->writes++;
    return;
  }
  if (m->n == ROOM) fprintf(stderr, "outer_memory: the queue is full\n"), exit(EXIT_FAILURE);
  m->reads++;
  m->queue[(m->first + m->n) % ROOM].id = r->id;
  m->queue[(m->first + m->n++) % ROOM].done_ps = m->bus_free_ps + m->latency_ps;
}

/* One nanosecond of the memory: what is done before its end goes back. */
static void tick(struct memory *m, uint64_t end_ps)
{
  for (; m->n && m->queue[m->first].done_ps < end_ps; m->first = (m->first + 1) % ROOM, m->n--)
    ws_memory_answer(m->gpu, m->queue[m->first].id, m->queue[m->first].done_ps, NULL);
}

/* ---- the program -------------------------------------------------------------------------------- */

static ws_address to_gpu(ws_device *gpu, const void *data, size_t bytes)
{
  ws_address at;
  must(ws_alloc(gpu, bytes, &at, &error));
  must(ws_copy_in(gpu, at, data, bytes, &error));
  return at;
}

/* Both simulators, a nanosecond at a time. Returns when the kernel has ended. */
static ws_result *co_simulate(struct memory *m, const ws_kernel *kernel, const struct ws_launch *launch)
{
  ws_run *run;
  ws_result *result;
  int ended = 0;
  must(ws_run_begin(kernel, launch, 0, &run, &error));
  for (uint64_t now = ws_run_now(run); !ended; now += NS) {
    tick(m, now + NS);
    must(ws_run_until(run, now + NS, &ended, &error));
  }
  must(ws_run_end(run, &result, &error));
  return result;
}

int main(int argc, char **argv)
{
  static struct memory memory;
  static float x[N], y[N], z[N];
  struct ws_device_options options = WS_DEVICE_OPTIONS_INIT;
  struct ws_launch launch = WS_LAUNCH_INIT;
  ws_module *module;
  const ws_kernel *kernel;
  unsigned n = N, wrong = 0;

  if (argc != 4) {
    fprintf(stderr, "usage: outer_memory CUBIN GPU LATENCY_NS\n");
    return EXIT_FAILURE;
  }
  memory.latency_ps = strtoull(argv[3], NULL, 10) * NS;
  options.preset = argv[2];
  options.memory = ask;
  options.memory_context = &memory;
  must(ws_device_create(&options, &memory.gpu, &error));
  must(ws_module_load(memory.gpu, argv[1], &module, &error));
  must(ws_module_kernel(module, "vecadd", &kernel, &error));

  for (unsigned i = 0; i < N; i++) x[i] = (float)i, y[i] = 0.5f;
  ws_address dx = to_gpu(memory.gpu, x, sizeof x), dy = to_gpu(memory.gpu, y, sizeof y), dz = to_gpu(memory.gpu, z, sizeof z);
  void *arguments[] = {&dx, &dy, &dz, &n};
  launch.grid[0] = (N + BLOCK - 1) / BLOCK;
  launch.block[0] = BLOCK;
  launch.arguments = arguments;

  ws_result *result = co_simulate(&memory, kernel, &launch);
  printf("%.0f ns; memory: %llu reads, %llu writes, %llu bytes\n", ws_result_nanoseconds(result),
         (unsigned long long)memory.reads, (unsigned long long)memory.writes, (unsigned long long)memory.bytes);
  must(ws_copy_out(memory.gpu, z, dz, sizeof z, &error));
  for (unsigned i = 0; i < N; i++) wrong += z[i] != x[i] + y[i];
  printf("%u of %d results are wrong\n", wrong, N);
  ws_result_destroy(result);
  ws_device_destroy(memory.gpu);
  return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
