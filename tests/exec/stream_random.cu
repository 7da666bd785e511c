// Random programs of streams: kernels, copies, fills, functions of the host, values that streams write and wait for, memory of pools and
// graphs, captured or built node by node, cooperative kernels, advice and prefetches of managed memory, on up to four GPUs, which all use the
// memory of all, and count in one place without any order. Every piece of memory knows who wrote and read it last; whoever comes next is put
// behind them by one of the ways that CUDA documents (an event, a chain of events, a value, the legacy stream, the host), but only where no order
// exists already. What is ordered by a chain of such ways is known from a vector clock for each stream, so an order that is there by
// transitivity alone is relied on. Kernels dawdle, so that a missing order shows. The CPU carries out everything in the order of the calls.
// Arguments: first seed, programs, operations of each, threads that run such programs at once, GPUs; one more and every operation is printed.
#include "random.h"
#include "some_gpus.h"
#include <cstdint>
#include <cstring>
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <functional>
#include <thread>
#include <vector>

enum { WORDS = 384, CTA = 64, LANES = 3, STREAMS = 6, HOST = STREAMS * MOST_GPUS, CLOCKS };
enum Place { DEVICE, PINNED, MANAGED };
enum Kind { KERNEL, COPY, COPY_2D, COPY_3D, FILL, FILL_2D, COOPERATIVE, HOST_FUNCTION, KINDS };

typedef std::vector<unsigned> Clock; // of each stream and the host: how many of its operations come before

struct Access {
  int who;
  unsigned at;
};
struct Area {
  Place place;
  int gpu;
  uint32_t *at;
  std::vector<uint32_t> model;
  std::vector<Access> writes, reads; // those that somebody may still have to wait for
};
struct Op {
  Kind kind;
  int dst, src[2];
  unsigned first, from, words, ctas, factor, dawdle;
};
struct Graph {
  std::vector<Op> ops;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  std::vector<cudaGraphNode_t> nodes; // of a graph that was built, one for each operation
};

__global__ void mix(uint32_t *dst, const uint32_t *a, const uint32_t *b, Op op)
{
  if (threadIdx.x == 0)
    for (long long begin = clock64(); clock64() - begin < op.dawdle;);
  __syncthreads();
  for (unsigned i = blockIdx.x * CTA + threadIdx.x; i < op.words; i += op.ctas * CTA)
    dst[op.first + i] = dst[op.first + i] * op.factor + (a[(i * 5 + op.from) % WORDS] ^ b[(i + 3 * op.from) % WORDS]);
}

// All of the grid writes, then reads what others wrote.
__global__ void weave(uint32_t *dst, const uint32_t *a, Op op)
{
  const auto grid = cooperative_groups::this_grid();
  const unsigned n = op.ctas * CTA, me = blockIdx.x * CTA + threadIdx.x;
  if (threadIdx.x == 0)
    for (long long begin = clock64(); clock64() - begin < op.dawdle;);
  dst[me] = dst[me] * op.factor + a[(me + op.from) % WORDS];
  grid.sync();
  const uint32_t other = dst[n - 1 - me];
  grid.sync();
  dst[me] += 3 * other;
}

__global__ void count(uint32_t *counters, Op op)
{
  for (unsigned i = blockIdx.x * CTA + threadIdx.x; i < op.words; i += op.ctas * CTA)
    atomicAdd_system(&counters[(i * 7 + op.from) % WORDS], op.factor + i);
}

static bool talks;        // prints every operation
static bool alone = true; // else the legacy stream meets captures of other threads, which blocking streams forbid

static void carry_out(std::vector<Area> &areas, const Op &op)
{
  uint32_t *dst = areas[op.dst].model.data();
  const std::vector<uint32_t> a = areas[op.src[0]].model, b = areas[op.src[1]].model;
  const unsigned rows = op.words / 16; // two-dimensional: rows of 16 words, 32 words apart in the destination
  uint8_t *bytes = (uint8_t *)dst;
  switch (op.kind) {
  case KERNEL:
    for (unsigned i = 0; i < op.words; i++)
      dst[op.first + i] = dst[op.first + i] * op.factor + (a[(i * 5 + op.from) % WORDS] ^ b[(i + 3 * op.from) % WORDS]);
    break;
  case COPY: memcpy(dst + op.first, a.data() + op.from, op.words * 4); break;
  case COPY_2D:
    for (unsigned r = 0; r < rows / 2; r++) memcpy(dst + r * 32, a.data() + r * 16, 13 * 4);
    break;
  case COPY_3D:
    for (unsigned z = 0; z < op.words % 4 + 1; z++)
      for (unsigned y = 0; y < 3; y++) memcpy(dst + z * 96 + y * 24, a.data() + z * 48 + y * 16, 13 * 4);
    break;
  case COOPERATIVE: {
    const unsigned n = op.ctas * CTA;
    for (unsigned i = 0; i < n; i++) dst[i] = dst[i] * op.factor + a[(i + op.from) % WORDS];
    const std::vector<uint32_t> woven(dst, dst + n);
    for (unsigned i = 0; i < n; i++) dst[i] += 3 * woven[n - 1 - i];
    break;
  }
  case FILL: memset(bytes + op.first * 4 + 1, (int)op.factor, op.words * 4 - 2); break;
  case FILL_2D:
    for (unsigned r = 0; r < rows / 2; r++) memset(bytes + r * 128, (int)op.factor, 37);
    break;
  default:
    for (unsigned i = 0; i < WORDS; i++) dst[i] = dst[i] * op.factor + a[(i + op.from) % WORDS];
  }
}

struct HostCall {
  uint32_t *dst, *src;
  Op op;
};
static void CUDART_CB host_function(void *data)
{
  HostCall *call = (HostCall *)data;
  std::vector<uint32_t> src(call->src, call->src + WORDS);
  for (unsigned i = 0; i < WORDS; i++) call->dst[i] = call->dst[i] * call->op.factor + src[(i + call->op.from) % WORDS];
}
static void CUDART_CB callback(cudaStream_t, cudaError_t status, void *data)
{
  CHECK(status == cudaSuccess);
  host_function(data);
}

class Program {
public:
  Program(unsigned seed, int gpus) : random(seed), gpus(gpus), clock(CLOCKS, Clock(CLOCKS, 0))
  {
    for (int g = 0; g < gpus; g++) {
      CUDA(cudaSetDevice(g));
      int least, greatest;
      CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
      CUDA(cudaStreamCreate(&stream[g][0]));
      CUDA(cudaStreamCreateWithPriority(&stream[g][1], cudaStreamDefault, greatest));
      CUDA(cudaStreamCreateWithFlags(&stream[g][2], cudaStreamNonBlocking));
      CUDA(cudaStreamCreateWithPriority(&stream[g][3], cudaStreamNonBlocking, least));
      stream[g][4] = cudaStreamPerThread;
      stream[g][5] = cudaStreamLegacy;
      for (int i = 0; i < LANES; i++) CUDA(cudaStreamCreateWithFlags(&lane[g][i], i || !alone ? cudaStreamNonBlocking : cudaStreamDefault));
      for (int i = 0; i < 5; i++) add_area(DEVICE, g);
    }
    CUDA(cudaMalloc(&flags, 4096 * 4));
    CUDA(cudaMemset(flags, 0, 4096 * 4));
    for (int i = 0; i < 3; i++) add_area(PINNED, 0);
    for (int i = 0; i < 2; i++) add_area(MANAGED, 0);
    add_area((Place)below(3), (int)below((unsigned)gpus));
    counters = areas.back();
    areas.pop_back();
    if (gpus > 1) open_pools();
    CUDA(cudaSetDevice(0));
    CUDA(cudaDeviceSynchronize());
  }

  void run(unsigned operations)
  {
    for (unsigned i = 0; i < operations; i++) step();
    finish();
  }

private:
  Random random;
  int gpus, events_used = 0;
  unsigned next_flag = 0;
  std::vector<Clock> clock; // clock[who][other]: how many operations of the other whatever `who` does next comes behind
  std::vector<Area> areas;
  std::vector<Graph *> graphs;
  std::vector<HostCall *> calls;
  std::vector<cudaEvent_t> events;
  cudaStream_t stream[MOST_GPUS][STREAMS], lane[MOST_GPUS][LANES];
  uint32_t *flags;
  Area counters; // what kernels add to, in any order

  unsigned below(unsigned n) { return random.next() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }
  cudaStream_t handle(int who) { return stream[who / STREAMS][who % STREAMS]; }
  int gpu_of(int who) { return who / STREAMS; }
  bool blocking(int who) { return who % STREAMS < 2 || who % STREAMS == 4; }
  bool legacy(int who) { return who % STREAMS == 5; }
  int any_stream() { return (int)below((unsigned)gpus * STREAMS); }
  static void merge(Clock &into, const Clock &from)
  {
    for (int i = 0; i < CLOCKS; i++)
      if (from[i] > into[i]) into[i] = from[i];
  }

  void add_area(Place place, int gpu)
  {
    Area area = {place, gpu, nullptr, std::vector<uint32_t>(WORDS), {}, {}};
    for (uint32_t &word : area.model) word = random.next();
    if (place == DEVICE) CUDA(cudaMalloc(&area.at, WORDS * 4));
    if (place == PINNED) CUDA(cudaHostAlloc(&area.at, WORDS * 4, cudaHostAllocPortable));
    if (place == MANAGED) CUDA(cudaMallocManaged(&area.at, WORDS * 4));
    CUDA(cudaMemcpy(area.at, area.model.data(), WORDS * 4, cudaMemcpyDefault));
    areas.push_back(area);
  }

  void open_pools() // to kernels of all GPUs
  {
    for (int g = 0; g < gpus; g++) {
      cudaMemPool_t pool;
      std::vector<cudaMemAccessDesc> access(gpus);
      for (int other = 0; other < gpus; other++) {
        access[other].location.type = cudaMemLocationTypeDevice, access[other].location.id = other;
        access[other].flags = cudaMemAccessFlagsProtReadWrite;
      }
      CUDA(cudaDeviceGetDefaultMemPool(&pool, g));
      CUDA(cudaMemPoolSetAccess(pool, access.data(), access.size()));
    }
  }

  cudaEvent_t new_event(int gpu)
  {
    cudaEvent_t event;
    CUDA(cudaSetDevice(gpu));
    CUDA(cudaEventCreateWithFlags(&event, chance(50) ? cudaEventDisableTiming : cudaEventDefault));
    events.push_back(event);
    return event;
  }

  cudaEvent_t record(int who, Clock &knows)
  {
    cudaEvent_t event = new_event(gpu_of(who));
    CUDA(cudaEventRecord(event, handle(who)));
    knows = clock[who];
    return event;
  }

  // What `who` does next comes behind operation `at` of `other`.
  void wait_for(int who, Access other)
  {
    if (clock[who][other.who] >= other.at) return;
    if (talks) printf("stream %d waits for operation %u of %d\n", who, other.at, other.who);
    if (who == HOST) return host_waits(other.who);
    CUDA(cudaSetDevice(gpu_of(who)));
    const unsigned way = below(10);
    if (way == 0) {
      host_waits(other.who);
      merge(clock[who], clock[HOST]);
    } else if (way == 1 && !legacy(other.who) && !legacy(who)) {
      CUDA(cudaSetDevice(gpu_of(other.who)));
      const CUdeviceptr flag = (CUdeviceptr)(flags + next_flag++ % 4096);
      CHECK(cuStreamWriteValue32(handle(other.who), flag, next_flag, 0) == CUDA_SUCCESS);
      CUDA(cudaSetDevice(gpu_of(who)));
      CHECK(cuStreamWaitValue32(handle(who), flag, next_flag, CU_STREAM_WAIT_VALUE_EQ) == CUDA_SUCCESS);
      merge(clock[who], clock[other.who]);
    } else if (way == 2) { // through a third stream
      const int third = any_stream();
      Clock knows;
      const cudaEvent_t first = record(other.who, knows);
      CUDA(cudaStreamWaitEvent(handle_of(third), first, 0));
      merge(clock[third], knows);
      const cudaEvent_t second = record(third, knows);
      CUDA(cudaStreamWaitEvent(handle_of(who), second, 0));
      merge(clock[who], knows);
    } else {
      Clock knows;
      const cudaEvent_t event = record(other.who, knows);
      CUDA(cudaStreamWaitEvent(handle_of(who), event, 0));
      merge(clock[who], knows);
      if (chance(20)) { // whoever waits for it still does
        CUDA(cudaEventDestroy(event));
        events.pop_back();
      }
    }
    CHECK(clock[who][other.who] >= other.at);
  }
  cudaStream_t handle_of(int who)
  {
    CUDA(cudaSetDevice(gpu_of(who)));
    return handle(who);
  }

  void host_waits(int who)
  {
    if (talks) printf("host waits for stream %d\n", who);
    CUDA(cudaSetDevice(gpu_of(who)));
    Clock knows = clock[who];
    const unsigned way = below(4);
    if (way == 0) {
      const cudaEvent_t event = record(who, knows);
      CUDA(cudaEventSynchronize(event));
    } else if (way == 1) {
      const cudaEvent_t event = record(who, knows);
      cudaError_t status;
      while ((status = cudaEventQuery(event)) == cudaErrorNotReady);
      CUDA(status);
    } else if (way == 2) {
      CUDA(cudaDeviceSynchronize());
      for (int s = 0; s < STREAMS; s++) merge(clock[HOST], clock[gpu_of(who) * STREAMS + s]);
    } else {
      CUDA(cudaStreamSynchronize(handle(who)));
    }
    merge(clock[HOST], knows);
  }

  void before_reading(int who, Area &area)
  {
    for (const Access &w : area.writes) wait_for(who, w);
  }
  void before_writing(int who, Area &area)
  {
    before_reading(who, area);
    for (const Access &r : area.reads) wait_for(who, r);
  }
  void has_read(int who, Area &area) { area.reads.push_back({who, clock[who][who]}); }
  void has_written(int who, Area &area)
  {
    area.writes = {{who, clock[who][who]}};
    area.reads.clear();
  }

  // The rules of the legacy stream, and that nothing begins before it is asked for.
  void enter(int who)
  {
    CUDA(cudaSetDevice(gpu_of(who)));
    const int base = gpu_of(who) * STREAMS;
    merge(clock[who], clock[HOST]);
    if (legacy(who))
      for (int s = 0; s < STREAMS; s++)
        if (blocking(base + s)) merge(clock[who], clock[base + s]);
    if (blocking(who)) merge(clock[who], legacy_done[gpu_of(who)].empty() ? clock[who] : legacy_done[gpu_of(who)]);
  }
  void leave(int who)
  {
    clock[who][who]++;
    if (legacy(who)) legacy_done[gpu_of(who)] = clock[who];
  }
  Clock legacy_done[MOST_GPUS]; // what blocking streams come behind

  int pick(std::function<bool(const Area &)> fits)
  {
    int i;
    do i = (int)below((unsigned)areas.size());
    while (!fits(areas[i]));
    return i;
  }

  Op random_op()
  {
    Op op = {};
    op.kind = (Kind)below(KINDS);
    if (chance(40)) op.kind = KERNEL;
    auto any = [](const Area &) { return true; };
    auto on_host = [](const Area &a) { return a.place == PINNED; };
    op.words = 32 + below(WORDS / 2 - 32);
    op.first = below(WORDS - op.words);
    op.from = below(WORDS - op.words);
    op.ctas = 1 + below(4);
    op.factor = random.next() | 1;
    op.dawdle = chance(50) ? 0 : below(6000);
    op.dst = pick(op.kind == HOST_FUNCTION ? std::function<bool(const Area &)>(on_host) : any);
    do {
      for (int &s : op.src) s = pick(op.kind == HOST_FUNCTION ? std::function<bool(const Area &)>(on_host) : any);
    } while (op.kind != HOST_FUNCTION && (op.src[0] == op.dst || op.src[1] == op.dst));
    return op;
  }
  static bool reads_second(const Op &op) { return op.kind == KERNEL; }
  static bool reads_first(const Op &op) { return op.kind != FILL && op.kind != FILL_2D; }

  void order(int who, const Op &op)
  {
    before_writing(who, areas[op.dst]);
    if (reads_first(op)) before_reading(who, areas[op.src[0]]);
    if (reads_second(op)) before_reading(who, areas[op.src[1]]);
  }
  void note(int who, const Op &op)
  {
    if (reads_first(op)) has_read(who, areas[op.src[0]]);
    if (reads_second(op)) has_read(who, areas[op.src[1]]);
    has_written(who, areas[op.dst]);
  }

  HostCall *host_call(const Op &op)
  {
    calls.push_back(new HostCall{areas[op.dst].at, areas[op.src[0]].at, op});
    return calls.back();
  }

  void tell(const char *what, int who, const Op &op)
  {
    static const char *const names[] = {"kernel", "copy", "copy 2D", "copy 3D", "fill", "fill 2D", "cooperative kernel", "host function"};
    if (talks)
      printf("%s, stream %d: %s %d+%u <- %d %d, %u words from %u, factor %x, %u cycles\n", what, who, names[op.kind], op.dst, op.first, op.src[0],
             op.src[1], op.words, op.from, op.factor, op.dawdle);
  }

  void issue(cudaStream_t s, const Op &op, bool captured)
  {
    uint32_t *dst = areas[op.dst].at, *a = areas[op.src[0]].at, *b = areas[op.src[1]].at;
    switch (op.kind) {
    case KERNEL: mix<<<op.ctas, CTA, 0, s>>>(dst, a, b, op); break;
    case COPY:
      if (gpus > 1 && !captured && areas[op.dst].place == DEVICE && areas[op.src[0]].place == DEVICE && chance(50))
        CUDA(cudaMemcpyPeerAsync(dst + op.first, areas[op.dst].gpu, a + op.from, areas[op.src[0]].gpu, op.words * 4, s));
      else
        CUDA(cudaMemcpyAsync(dst + op.first, a + op.from, op.words * 4, cudaMemcpyDefault, s));
      break;
    case COPY_2D: CUDA(cudaMemcpy2DAsync(dst, 128, a, 64, 13 * 4, op.words / 16 / 2, cudaMemcpyDefault, s)); break;
    case COPY_3D: copy_3d(s, op, captured); break;
    case COOPERATIVE: {
      Op copy = op;
      void *args[] = {&dst, &a, &copy};
      CUDA(cudaLaunchCooperativeKernel((void *)weave, dim3(op.ctas), dim3(CTA), args, 0, s));
      break;
    }
    case FILL: CUDA(cudaMemsetAsync((uint8_t *)(dst + op.first) + 1, (int)op.factor, op.words * 4 - 2, s)); break;
    case FILL_2D: CUDA(cudaMemset2DAsync(dst, 128, (int)op.factor, 37, op.words / 16 / 2, s)); break;
    default:
      if (captured || chance(60)) CUDA(cudaLaunchHostFunc(s, host_function, host_call(op)));
      else CUDA(cudaStreamAddCallback(s, callback, host_call(op), 0));
    }
    CUDA(cudaGetLastError());
  }

  void copy_3d(cudaStream_t s, const Op &op, bool captured)
  {
    const Area &dst = areas[op.dst], &src = areas[op.src[0]];
    const cudaExtent extent = make_cudaExtent(13 * 4, 3, op.words % 4 + 1);
    if (gpus > 1 && !captured && dst.place == DEVICE && src.place == DEVICE && chance(50)) {
      cudaMemcpy3DPeerParms p = {};
      p.dstDevice = dst.gpu, p.srcDevice = src.gpu, p.extent = extent;
      p.dstPtr = make_cudaPitchedPtr(dst.at, 96, 96, 4), p.srcPtr = make_cudaPitchedPtr(src.at, 64, 64, 3);
      CUDA(cudaMemcpy3DPeerAsync(&p, s));
      return;
    }
    cudaMemcpy3DParms p = {};
    p.extent = extent, p.kind = cudaMemcpyDefault;
    p.dstPtr = make_cudaPitchedPtr(dst.at, 96, 96, 4), p.srcPtr = make_cudaPitchedPtr(src.at, 64, 64, 3);
    CUDA(cudaMemcpy3DAsync(&p, s));
  }

  // Without any order: others may count at the same time.
  void add_up(int who)
  {
    const Op op = random_op();
    enter(who);
    if (talks) printf("stream %d counts\n", who);
    count<<<op.ctas, CTA, 0, handle_of(who)>>>(counters.at, op);
    CUDA(cudaGetLastError());
    leave(who);
    for (unsigned i = 0; i < op.words; i++) counters.model[(i * 7 + op.from) % WORDS] += op.factor + i;
  }

  // Where managed memory is, and who reaches it there, changes no byte of it.
  void move_managed(int who)
  {
    const int i = pick([](const Area &a) { return a.place == MANAGED; });
    static const cudaMemoryAdvise advice[] = {cudaMemAdviseSetReadMostly, cudaMemAdviseUnsetReadMostly, cudaMemAdviseSetPreferredLocation,
                                              cudaMemAdviseUnsetPreferredLocation, cudaMemAdviseSetAccessedBy, cudaMemAdviseUnsetAccessedBy};
    cudaMemLocation where = {};
    where.type = chance(30) ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    where.id = where.type == cudaMemLocationTypeHost ? 0 : (int)below((unsigned)gpus);
    const unsigned what = below(12);
    enter(who);
    if (talks) printf("stream %d: managed area %d, %u of %d %d\n", who, i, what, where.type, where.id);
    if (what < 6) {
      CUDA(cudaMemAdvise(areas[i].at, WORDS * 4, advice[what], where));
      return;
    }
    CUDA(cudaMemPrefetchAsync(areas[i].at, WORDS * 4, where, 0, handle_of(who)));
    leave(who);
  }

  void plain(int who)
  {
    const Op op = random_op();
    enter(who);
    order(who, op);
    enter(who);
    tell("plain", who, op);
    issue(handle_of(who), op, false);
    leave(who);
    note(who, op);
    carry_out(areas, op);
  }

  // Ordinary memory of the host: a copy from it has taken the data when the call returns, one to it has brought them.
  void pageable(int who)
  {
    const int i = pick([](const Area &a) { return a.place == DEVICE; });
    std::vector<uint32_t> here(WORDS);
    enter(who);
    if (chance(50)) {
      before_writing(who, areas[i]);
      enter(who);
      for (uint32_t &word : here) word = random.next();
      areas[i].model = here;
      CUDA(cudaMemcpyAsync(areas[i].at, here.data(), WORDS * 4, cudaMemcpyHostToDevice, handle_of(who)));
      leave(who);
      has_written(who, areas[i]);
      for (uint32_t &word : here) word = 0xdeadbeef;
    } else {
      before_reading(who, areas[i]);
      enter(who);
      CUDA(cudaMemcpyAsync(here.data(), areas[i].at, WORDS * 4, cudaMemcpyDeviceToHost, handle_of(who)));
      leave(who);
      has_read(who, areas[i]);
      CHECK(here == areas[i].model);
      merge(clock[HOST], clock[who]);
    }
  }

  // Memory of a stream's pool: filled in one stream, read in another, given back in either.
  void temporary(int who)
  {
    int other = any_stream();
    Op in = random_op(), out;
    do out = random_op();
    while (out.kind != KERNEL);
    in.kind = COPY;
    in.words = WORDS, in.first = in.from = 0;
    enter(who);
    before_reading(who, areas[in.src[0]]);
    enter(who);
    Area area = {DEVICE, gpu_of(who), nullptr, areas[in.src[0]].model, {}, {}};
    CUDA(cudaMallocAsync(&area.at, WORDS * 4, handle_of(who)));
    leave(who);
    CUDA(cudaMemcpyAsync(area.at, areas[in.src[0]].at, WORDS * 4, cudaMemcpyDefault, handle_of(who)));
    leave(who);
    has_read(who, areas[in.src[0]]);
    has_written(who, area);
    areas.push_back(area);
    out.src[0] = (int)areas.size() - 1;
    enter(other);
    order(other, out);
    enter(other);
    tell("temporary, in", who, in);
    tell("temporary, out", other, out);
    issue(handle_of(other), out, false);
    leave(other);
    note(other, out);
    carry_out(areas, out);
    const int last = chance(50) || gpu_of(other) != gpu_of(who) ? who : other;
    enter(last);
    before_writing(last, areas.back());
    enter(last);
    CUDA(cudaFreeAsync(areas.back().at, handle_of(last)));
    leave(last);
    areas.pop_back();
  }

  // The host itself reads and writes what it can reach.
  void by_hand()
  {
    const int i = pick([](const Area &a) { return a.place != DEVICE; });
    before_writing(HOST, areas[i]);
    clock[HOST][HOST]++;
    if (talks) printf("host uses area %d\n", i);
    CHECK(memcmp(areas[i].at, areas[i].model.data(), WORDS * 4) == 0);
    for (unsigned k = below(7); k < WORDS; k += 7) areas[i].at[k] = areas[i].model[k] = random.next();
    has_written(HOST, areas[i]);
  }

  void synchronous()
  {
    const int i = pick([](const Area &a) { return a.place == DEVICE; }), who = areas[i].gpu * STREAMS + 5;
    enter(who);
    before_writing(who, areas[i]);
    enter(who);
    std::vector<uint32_t> here(WORDS);
    CUDA(cudaSetDevice(areas[i].gpu));
    CUDA(cudaMemcpy(here.data(), areas[i].at, WORDS * 4, cudaMemcpyDeviceToHost));
    leave(who);
    CHECK(here == areas[i].model);
    for (uint32_t &word : here) word ^= 0x5a5a5a5a;
    CUDA(cudaMemcpy(areas[i].at, here.data(), WORDS * 4, cudaMemcpyHostToDevice));
    leave(who);
    merge(clock[HOST], clock[who]);
    areas[i].model = here;
    has_written(who, areas[i]);
  }

  std::vector<int> conflicts(const std::vector<Op> &ops, const Op &op)
  {
    std::vector<int> found;
    for (int i = 0; i < (int)ops.size(); i++) {
      const Op &o = ops[i];
      bool meets = o.dst == op.dst || (reads_first(op) && o.dst == op.src[0]) || (reads_second(op) && o.dst == op.src[1]);
      if (reads_first(o) && o.src[0] == op.dst) meets = true;
      if (reads_second(o) && o.src[1] == op.dst) meets = true;
      if (meets) found.push_back(i);
    }
    return found;
  }

  // A graph captured from up to three streams; each operation waits for those of other streams that it meets.
  Graph *captured(int gpu)
  {
    Graph *g = new Graph;
    CUDA(cudaSetDevice(gpu));
    std::vector<int> lanes;
    std::vector<cudaEvent_t> done;
    int of[LANES]; // each lane is of some GPU
    for (int i = 0; i < LANES; i++) of[i] = i ? (int)below((unsigned)gpus) : gpu;
    bool joined[LANES] = {true};
    CUDA(cudaStreamBeginCapture(lane[gpu][0], cudaStreamCaptureModeThreadLocal));
    const cudaEvent_t fork = new_event(gpu);
    CUDA(cudaEventRecord(fork, lane[gpu][0]));
    for (unsigned n = 2 + below(7); n; n--) {
      const Op op = graph_op(true);
      const int at = (int)below(LANES);
      CUDA(cudaSetDevice(of[at]));
      if (!joined[at]) CUDA(cudaStreamWaitEvent(lane[of[at]][at], fork, 0));
      joined[at] = true;
      for (int i : conflicts(g->ops, op))
        if (lanes[i] != at) CUDA(cudaStreamWaitEvent(lane[of[at]][at], done[i], 0));
      issue(lane[of[at]][at], op, true);
      done.push_back(new_event(of[at]));
      CUDA(cudaEventRecord(done.back(), lane[of[at]][at]));
      g->ops.push_back(op);
      lanes.push_back(at);
    }
    for (int i = 1; i < LANES; i++)
      if (joined[i]) {
        const cudaEvent_t end = new_event(of[i]);
        CUDA(cudaEventRecord(end, lane[of[i]][i]));
        CUDA(cudaStreamWaitEvent(lane[gpu][0], end, 0));
      }
    CUDA(cudaSetDevice(gpu));
    CUDA(cudaStreamEndCapture(lane[gpu][0], &g->graph));
    return g;
  }
  Op graph_op(bool two_dimensions)
  {
    Op op;
    do op = random_op();
    while ((op.kind == COPY_2D || op.kind == COPY_3D || op.kind == COOPERATIVE) && !two_dimensions);
    return op;
  }

  Graph *built(int gpu)
  {
    Graph *g = new Graph;
    CUDA(cudaSetDevice(gpu));
    CUDA(cudaGraphCreate(&g->graph, 0));
    for (unsigned n = 2 + below(7); n; n--) {
      const Op op = graph_op(false);
      std::vector<cudaGraphNode_t> behind;
      for (int i : conflicts(g->ops, op)) behind.push_back(g->nodes[i]);
      g->nodes.push_back(add_node(g->graph, behind, op));
      g->ops.push_back(op);
    }
    return g;
  }
  cudaGraphNode_t add_node(cudaGraph_t graph, const std::vector<cudaGraphNode_t> &behind, Op op)
  {
    cudaGraphNode_t node;
    uint32_t *dst = areas[op.dst].at, *a = areas[op.src[0]].at, *b = areas[op.src[1]].at;
    if (op.kind == KERNEL) {
      void *args[] = {&dst, &a, &b, &op};
      cudaKernelNodeParams p = {};
      p.func = (void *)mix, p.gridDim = dim3(op.ctas), p.blockDim = dim3(CTA), p.kernelParams = args;
      CUDA(cudaGraphAddKernelNode(&node, graph, behind.data(), behind.size(), &p));
    } else if (op.kind == COPY) {
      CUDA(cudaGraphAddMemcpyNode1D(&node, graph, behind.data(), behind.size(), dst + op.first, a + op.from, op.words * 4, cudaMemcpyDefault));
    } else if (op.kind == HOST_FUNCTION) {
      cudaHostNodeParams p = {host_function, host_call(op)};
      CUDA(cudaGraphAddHostNode(&node, graph, behind.data(), behind.size(), &p));
    } else {
      cudaMemsetParams p = {};
      p.dst = op.kind == FILL ? (void *)((uint8_t *)(dst + op.first) + 1) : dst;
      p.value = op.factor & 0xff, p.elementSize = 1;
      p.width = op.kind == FILL ? op.words * 4 - 2 : 37, p.height = op.kind == FILL ? 1 : op.words / 16 / 2, p.pitch = 128;
      CUDA(cudaGraphAddMemsetNode(&node, graph, behind.data(), behind.size(), &p));
    }
    return node;
  }

  void change_kernel(Graph *g)
  {
    for (size_t i = 0; i < g->nodes.size(); i++) {
      Op &op = g->ops[i];
      if (op.kind != KERNEL || chance(50)) continue;
      op.factor = random.next() | 1, op.dawdle = below(3000);
      uint32_t *dst = areas[op.dst].at, *a = areas[op.src[0]].at, *b = areas[op.src[1]].at;
      void *args[] = {&dst, &a, &b, &op};
      cudaKernelNodeParams p = {};
      p.func = (void *)mix, p.gridDim = dim3(op.ctas), p.blockDim = dim3(CTA), p.kernelParams = args;
      CUDA(cudaGraphExecKernelNodeSetParams(g->exec, g->nodes[i], &p));
    }
  }

  void launch_graph(int who)
  {
    if (graphs.size() < 3 || chance(20)) {
      Graph *g = chance(50) ? captured(gpu_of(who)) : built(gpu_of(who));
      if (chance(30)) { // as the only child of another, behind a copy of it
        cudaGraph_t outer;
        cudaGraphNode_t first, second;
        CUDA(cudaGraphCreate(&outer, 0));
        CUDA(cudaGraphAddChildGraphNode(&first, outer, nullptr, 0, g->graph));
        CUDA(cudaGraphAddChildGraphNode(&second, outer, &first, 1, g->graph));
        CUDA(cudaGraphDestroy(g->graph));
        g->graph = outer;
        g->nodes.clear();
        const std::vector<Op> once = g->ops;
        g->ops.insert(g->ops.end(), once.begin(), once.end());
      }
      CUDA(cudaGraphInstantiate(&g->exec, g->graph, 0));
      graphs.push_back(g);
    }
    Graph *g = graphs[below((unsigned)graphs.size())];
    if (!g->nodes.empty() && chance(50)) change_kernel(g);
    enter(who);
    for (const Op &op : g->ops) order(who, op);
    enter(who);
    for (const Op &op : g->ops) tell(g->nodes.empty() ? "captured" : "built", who, op);
    CUDA(cudaGraphLaunch(g->exec, handle_of(who)));
    leave(who);
    for (const Op &op : g->ops) note_graph(who, op);
    for (const Op &op : g->ops) carry_out(areas, op);
    for (const Op &op : g->ops) areas[op.dst].writes = {{who, clock[who][who]}};
  }
  void note_graph(int who, const Op &op)
  {
    if (reads_first(op)) has_read(who, areas[op.src[0]]);
    if (reads_second(op)) has_read(who, areas[op.src[1]]);
  }

  void step()
  {
    const int who = any_stream();
    const unsigned what = below(100);
    if (what < 50) plain(who);
    else if (what < 55) add_up(who);
    else if (what < 60) move_managed(who);
    else if (what < 75) launch_graph(who);
    else if (what < 82) temporary(who);
    else if (what < 89) by_hand();
    else if (what < 96) pageable(who);
    else if (what < 98) synchronous();
    else host_waits(who);
  }

  void finish()
  {
    for (int g = 0; g < gpus; g++) {
      CUDA(cudaSetDevice(g));
      CUDA(cudaDeviceSynchronize());
    }
    std::vector<uint32_t> here(WORDS);
    areas.push_back(counters);
    for (size_t i = 0; i < areas.size(); i++) {
      CUDA(cudaMemcpy(here.data(), areas[i].at, WORDS * 4, cudaMemcpyDefault));
      for (unsigned k = 0; k < WORDS; k++)
        if (here[k] != areas[i].model[k]) {
          printf("area %zu, word %u: %08x, expected %08x\n", i, k, here[k], areas[i].model[k]);
          exit(1);
        }
      if (areas[i].place == PINNED) CUDA(cudaFreeHost(areas[i].at));
      else CUDA(cudaFree(areas[i].at));
    }
    CUDA(cudaFree(flags));
    for (Graph *g : graphs) {
      CUDA(cudaGraphExecDestroy(g->exec));
      CUDA(cudaGraphDestroy(g->graph));
      delete g;
    }
    for (cudaEvent_t event : events) CUDA(cudaEventDestroy(event));
    for (HostCall *call : calls) delete call;
    for (int g = 0; g < gpus; g++) {
      CUDA(cudaSetDevice(g));
      for (int i = 0; i < 4; i++) CUDA(cudaStreamDestroy(stream[g][i]));
      for (int i = 0; i < LANES; i++) CUDA(cudaStreamDestroy(lane[g][i]));
    }
  }
};

static void run_all(unsigned first, unsigned programs, unsigned operations, int gpus)
{
  for (unsigned seed = first; seed < first + programs; seed++) {
    if (alone) printf("seed %u\n", seed), fflush(stdout);
    Program(seed, gpus).run(operations);
  }
}

int main(int argc, char **argv)
{
  const unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 1, programs = argc > 2 ? (unsigned)atoi(argv[2]) : 6;
  const unsigned operations = argc > 3 ? (unsigned)atoi(argv[3]) : 80, n_threads = argc > 4 ? (unsigned)atoi(argv[4]) : 1;
  const int gpus = gpus_that_reach(argc > 5 ? atoi(argv[5]) : 2);
  alone = n_threads == 1;
  talks = argc > 6;
  std::vector<std::thread> threads;
  for (unsigned t = 1; t < n_threads; t++) threads.emplace_back(run_all, first + 1000 * t, programs, operations, gpus);
  run_all(first, programs, operations, gpus);
  for (std::thread &t : threads) t.join();
  printf("%u programs right\n", programs * n_threads);
}
