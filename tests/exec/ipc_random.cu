// Random programs of several processes that share memory and events (CUDA IPC): memory of cudaMalloc, of cuMemCreate and of pools, exported by
// either interface, also while work is under way; kernels, copies and fills of any process on memory of any; memory given back and made anew.
// Whoever comes next is put behind those who wrote and read before by an event of the other process, a value in its memory, or by hosts that
// wait and tell each other, but only where a vector clock for each stream of each process finds no order yet. All processes draw the same
// program and carry it out on the CPU; each does its own part of it on the GPU. Kernels dawdle, so that a missing order shows.
// Arguments: first seed, programs, steps of each, processes (0: two to four); one more and every step is printed.
#include "check.h"
#include "random.h"
#include <cstdint>
#include <cstring>
#include <cuda.h>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#define DRIVER(call) CHECK((call) == CUDA_SUCCESS)

enum { MOST = 4, STREAMS = 3, WORDS = 384, CTA = 64, EVENTS = 3, AREAS = 3, FLAGS = 512, PAGE = 2 << 20 };
enum { CLOCKS = MOST * (STREAMS + 1) }; // the streams of each process, then its host
enum Source { MALLOC, MAPPED, POOLED, PRIVATE };
enum Kind { KERNEL, COPY, FILL, COPY_2D, KINDS };

typedef std::vector<unsigned> Clock;

struct Access {
  int who;
  unsigned at;
};
struct Area {
  Source source;
  int owner;
  uint32_t *at; // here
  CUmemGenericAllocationHandle handle;
  std::vector<uint32_t> model;
  std::vector<Access> writes, reads;
};
struct Op {
  Kind kind;
  int dst, src[2];
  unsigned first, from, words, ctas, factor, dawdle;
};
struct Message { // what opens a piece of memory, or a token
  unsigned number;
  cudaIpcMemHandle_t memory;
  cudaMemPoolPtrExportData pooled;
};

static int me, processes, sockets[MOST];
static bool talks;
static unsigned tokens;

__global__ void mix(uint32_t *dst, const uint32_t *a, const uint32_t *b, Op op)
{
  if (threadIdx.x == 0)
    for (long long begin = clock64(); clock64() - begin < op.dawdle;);
  __syncthreads();
  for (unsigned i = blockIdx.x * CTA + threadIdx.x; i < op.words; i += op.ctas * CTA)
    dst[op.first + i] = dst[op.first + i] * op.factor + (a[(i * 5 + op.from) % WORDS] ^ b[(i + 3 * op.from) % WORDS]);
}

static void carry_out(std::vector<Area> &areas, const Op &op)
{
  uint32_t *dst = areas[op.dst].model.data();
  const std::vector<uint32_t> a = areas[op.src[0]].model, b = areas[op.src[1]].model;
  if (op.kind == KERNEL)
    for (unsigned i = 0; i < op.words; i++)
      dst[op.first + i] = dst[op.first + i] * op.factor + (a[(i * 5 + op.from) % WORDS] ^ b[(i + 3 * op.from) % WORDS]);
  if (op.kind == COPY) memcpy(dst + op.first, a.data() + op.from, op.words * 4);
  if (op.kind == FILL) memset((uint8_t *)(dst + op.first) + 1, (int)op.factor, op.words * 4 - 2);
  if (op.kind == COPY_2D)
    for (unsigned r = 0; r < op.words / 32; r++) memcpy(dst + r * 32, a.data() + r * 16, 13 * 4);
}

// Descriptors travel beside the bytes (unix(7)).
static void send_to(int process, const Message &m, int fd = -1)
{
  char control[CMSG_SPACE(sizeof(int))] = {};
  iovec io = {(void *)&m, sizeof m};
  msghdr h = {};
  h.msg_iov = &io, h.msg_iovlen = 1;
  if (fd >= 0) {
    h.msg_control = control, h.msg_controllen = sizeof control;
    cmsghdr *c = CMSG_FIRSTHDR(&h);
    c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
  }
  CHECK(sendmsg(sockets[process], &h, MSG_NOSIGNAL) == (ssize_t)sizeof m);
}
static Message receive_from(int process, int *fd = nullptr)
{
  Message m;
  char control[CMSG_SPACE(sizeof(int))] = {};
  iovec io = {&m, sizeof m};
  msghdr h = {};
  h.msg_iov = &io, h.msg_iovlen = 1, h.msg_control = control, h.msg_controllen = sizeof control;
  CHECK(recvmsg(sockets[process], &h, 0) == (ssize_t)sizeof m);
  if (fd) *fd = -1;
  if (fd && CMSG_FIRSTHDR(&h)) memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&h)), sizeof *fd);
  return m;
}
// From one process to another; all count them.
static void token(int from, int to)
{
  Message m = {};
  if (from == to) return;
  m.number = ++tokens;
  if (me == from) send_to(to, m);
  if (me == to) CHECK(receive_from(from).number == tokens);
}
static void meet() // all come here before any goes on
{
  for (int p = 1; p < processes; p++) token(p, 0);
  for (int p = 1; p < processes; p++) token(0, p);
}

class Shared { // what outlives a program: streams, pools, events
public:
  cudaStream_t stream[STREAMS];
  cudaEvent_t event[MOST][EVENTS]; // of each process, opened in all others
  cudaMemPool_t pool[MOST];        // the same

  Shared()
  {
    CUDA(cudaStreamCreate(&stream[0]));
    CUDA(cudaStreamCreateWithFlags(&stream[1], cudaStreamNonBlocking));
    stream[2] = cudaStreamLegacy;
    for (int p = 0; p < processes; p++) {
      for (int e = 0; e < EVENTS; e++) share_event(p, event[p][e], e);
      share_pool(p);
    }
  }

private:
  void share_event(int owner, cudaEvent_t &event, int number)
  {
    Message m = {};
    cudaIpcEventHandle_t handle;
    static_assert(sizeof handle == sizeof m.memory, "travels in its place");
    if (me == owner) {
      CUDA(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
      if (number == 1) CUDA(cudaEventRecord(event));
      if (number == 2) DRIVER(cuIpcGetEventHandle((CUipcEventHandle *)&handle, event));
      else CUDA(cudaIpcGetEventHandle(&handle, event));
      memcpy(&m.memory, &handle, sizeof handle);
      for (int p = 0; p < processes; p++)
        if (p != me) send_to(p, m);
      return;
    }
    m = receive_from(owner);
    memcpy(&handle, &m.memory, sizeof handle);
    CUDA(cudaIpcOpenEventHandle(&event, handle));
  }
  void share_pool(int owner)
  {
    int fd;
    if (me != owner) {
      receive_from(owner, &fd);
      CUDA(cudaMemPoolImportFromShareableHandle(&pool[owner], (void *)(uintptr_t)fd, cudaMemHandleTypePosixFileDescriptor, 0));
      close(fd);
      return;
    }
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned, props.handleTypes = cudaMemHandleTypePosixFileDescriptor;
    props.location.type = cudaMemLocationTypeDevice;
    CUDA(cudaMemPoolCreate(&pool[me], &props));
    CUDA(cudaMemPoolExportToShareableHandle(&fd, pool[me], cudaMemHandleTypePosixFileDescriptor, 0));
    for (int p = 0; p < processes; p++)
      if (p != me) send_to(p, {}, fd);
    close(fd);
  }
};

class Program {
public:
  Program(unsigned seed, Shared &shared) : random(seed), shared(shared), clock(CLOCKS, Clock(CLOCKS, 0))
  {
    memset(waiter, 0xff, sizeof waiter);
    for (int p = 0; p < processes; p++)
      for (int i = 0; i < AREAS; i++) areas.push_back(new_area((Source)(i ? below(4) : below(3)), p));
    flags_owner = (int)below((unsigned)processes);
    flags = new_area((Source)below(3), flags_owner); // values that streams write and wait for
    if (me == flags_owner) CUDA(cudaMemset(flags.at, 0, FLAGS * 4));
    if (me == flags_owner) CUDA(cudaDeviceSynchronize());
    meet();
  }
  void run(unsigned steps)
  {
    for (unsigned i = 0; i < steps; i++) step();
    for (size_t i = 0; i < areas.size(); i++) check((int)i, areas[i].source == PRIVATE ? areas[i].owner : (int)below((unsigned)processes));
    for (Area &area : areas) give_back(area);
    give_back(flags);
    meet();
  }

private:
  Random random;
  Shared &shared;
  std::vector<Clock> clock;
  std::vector<Area> areas;
  Area flags;
  int flags_owner;
  unsigned next_flag = 0, next_event[MOST] = {};
  int waiter[MOST][EVENTS]; // who was to wait for an event last, and is done with it before it is recorded again
  Clock legacy_done[MOST]; // what the blocking streams of a process come behind

  unsigned below(unsigned n) { return random.next() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }
  static int process_of(int who) { return who < MOST * STREAMS ? who / STREAMS : who - MOST * STREAMS; }
  static int host(int process) { return MOST * STREAMS + process; }
  static bool mine(int who) { return process_of(who) == me; }
  static bool legacy(int who) { return who < MOST * STREAMS && who % STREAMS == 2; }
  static bool blocking(int who) { return who < MOST * STREAMS && who % STREAMS == 0; }
  cudaStream_t handle(int who) { return shared.stream[who % STREAMS]; }
  static void merge(Clock &into, const Clock &from)
  {
    for (size_t i = 0; i < from.size(); i++)
      if (from[i] > into[i]) into[i] = from[i];
  }

  // Memory ------------------------------------------------------------------------------------------------------------

  static uint32_t *map(CUmemGenericAllocationHandle handle)
  {
    CUdeviceptr at;
    CUmemAccessDesc access = {};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE, access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    DRIVER(cuMemAddressReserve(&at, PAGE, 0, 0, 0));
    DRIVER(cuMemMap(at, PAGE, 0, handle, 0));
    DRIVER(cuMemSetAccess(at, PAGE, &access, 1));
    return (uint32_t *)at;
  }
  void make(Area &area, bool by_driver, Message *m, int *fd)
  {
    CUmemAllocationProp props = {};
    switch (area.source) {
    case MALLOC:
      CUDA(cudaMalloc(&area.at, FLAGS * 4));
      if (by_driver) DRIVER(cuIpcGetMemHandle((CUipcMemHandle *)&m->memory, (CUdeviceptr)area.at));
      else CUDA(cudaIpcGetMemHandle(&m->memory, area.at));
      break;
    case MAPPED:
      props.type = CU_MEM_ALLOCATION_TYPE_PINNED, props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
      props.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
      DRIVER(cuMemCreate(&area.handle, PAGE, &props, 0));
      DRIVER(cuMemExportToShareableHandle(fd, area.handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
      area.at = map(area.handle);
      break;
    case POOLED:
      CUDA(cudaMallocFromPoolAsync(&area.at, FLAGS * 4, shared.pool[me], 0));
      CUDA(cudaMemPoolExportPointer(&m->pooled, area.at));
      break;
    default: CUDA(cudaMalloc(&area.at, FLAGS * 4));
    }
  }
  void open(Area &area, bool by_driver, Message &m, int fd)
  {
    switch (area.source) {
    case MALLOC:
      if (by_driver) DRIVER(cuIpcOpenMemHandle((CUdeviceptr *)&area.at, *(CUipcMemHandle *)&m.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
      else CUDA(cudaIpcOpenMemHandle((void **)&area.at, m.memory, cudaIpcMemLazyEnablePeerAccess));
      break;
    case MAPPED:
      DRIVER(cuMemImportFromShareableHandle(&area.handle, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
      area.at = map(area.handle);
      break;
    case POOLED: CUDA(cudaMemPoolImportPointer((void **)&area.at, shared.pool[area.owner], &m.pooled)); break;
    default: break;
    }
  }
  // Its owner fills it and tells the others.
  Area new_area(Source source, int owner)
  {
    Area area = {source, owner, nullptr, 0, std::vector<uint32_t>(WORDS), {}, {}};
    const bool made_by_driver = chance(50), opened_by_driver = chance(50);
    for (uint32_t &word : area.model) word = random.next();
    Message m = {};
    int fd = -1;
    if (me == owner) {
      make(area, made_by_driver, &m, &fd);
      CUDA(cudaMemcpy(area.at, area.model.data(), WORDS * 4, cudaMemcpyHostToDevice));
      CUDA(cudaDeviceSynchronize()); // streams that do not block, and copies that had only taken their data
    }
    if (source == PRIVATE) return area;
    for (int p = 0; p < processes; p++) {
      if (p == owner) continue;
      if (me == owner) send_to(p, m, fd);
      if (me == p) {
        m = receive_from(owner, &fd);
        open(area, opened_by_driver, m, fd);
      }
    }
    if (fd >= 0) close(fd);
    return area;
  }

  // Those that opened it close it first (CUDA Runtime API, stream-ordered allocator).
  void give_back(Area &area)
  {
    if (area.source == PRIVATE) {
      if (me == area.owner) CUDA(cudaFree(area.at));
      return;
    }
    for (int p = 0; p < processes; p++) {
      if (p == area.owner) continue;
      if (me == p) CUDA(cudaDeviceSynchronize());
      if (me == p && area.source == MALLOC) CUDA(cudaIpcCloseMemHandle(area.at));
      if (me == p && area.source == MAPPED) unmap(area);
      if (me == p && area.source == POOLED) CUDA(cudaFree(area.at));
      token(p, area.owner);
    }
    if (me != area.owner) return;
    CUDA(cudaDeviceSynchronize());
    if (area.source == MALLOC) CUDA(cudaFree(area.at));
    if (area.source == MAPPED) unmap(area);
    if (area.source == POOLED) CUDA(cudaFreeAsync(area.at, 0));
  }
  static void unmap(Area &area)
  {
    DRIVER(cuMemUnmap((CUdeviceptr)area.at, PAGE));
    DRIVER(cuMemAddressFree((CUdeviceptr)area.at, PAGE));
    DRIVER(cuMemRelease(area.handle));
  }

  // Order -------------------------------------------------------------------------------------------------------------

  void enter(int who)
  {
    const int p = process_of(who);
    merge(clock[who], clock[host(p)]);
    if (legacy(who)) merge(clock[who], clock[p * STREAMS]);
    if (blocking(who)) merge(clock[who], legacy_done[p]);
  }
  void leave(int who)
  {
    clock[who][who]++;
    if (legacy(who)) legacy_done[process_of(who)] = clock[who];
  }
  void host_waits(int who)
  {
    if (mine(who)) {
      cudaError_t status;
      switch (clock[who][who] % 3) {
      case 0: CUDA(cudaStreamSynchronize(handle(who))); break;
      case 1:
        while ((status = cudaStreamQuery(handle(who))) == cudaErrorNotReady);
        CUDA(status);
        break;
      default: CUDA(cudaDeviceSynchronize());
      }
    }
    merge(clock[host(process_of(who))], clock[who]);
  }
  void wait_by_event(int who, int other)
  {
    const int p = process_of(other), q = process_of(who), owner = chance(50) ? p : q;
    const unsigned e = next_event[owner]++ % EVENTS, way = below(4);
    int &last = waiter[owner][e];
    if (last >= 0 && last != p) token(last, p);
    last = q;
    if (mine(other)) CUDA(cudaEventRecord(shared.event[owner][e], handle(other)));
    token(p, q);
    if (mine(who) && way == 0) CUDA(cudaEventSynchronize(shared.event[owner][e]));
    if (mine(who) && way == 1)
      while (cudaEventQuery(shared.event[owner][e]) == cudaErrorNotReady);
    if (mine(who) && way > 1) CUDA(cudaStreamWaitEvent(handle(who), shared.event[owner][e], 0));
    if (way < 2) merge(clock[host(q)], clock[other]);
    merge(clock[who], clock[other]);
  }
  void wait_by_value(int who, int other)
  {
    const CUdeviceptr flag = (CUdeviceptr)(flags.at + next_flag++);
    if (mine(other)) DRIVER(cuStreamWriteValue32(handle(other), flag, next_flag, 0));
    if (chance(50)) { // else the wait may be there first
      token(process_of(other), process_of(who));
      merge(clock[host(process_of(who))], clock[host(process_of(other))]);
    }
    if (mine(who)) DRIVER(cuStreamWaitValue32(handle(who), flag, next_flag, CU_STREAM_WAIT_VALUE_EQ));
    merge(clock[who], clock[other]);
  }
  void wait_for(int who, Access other)
  {
    if (clock[who][other.who] >= other.at) return;
    if (talks && (mine(who) || mine(other.who))) printf("%d: stream %d waits for operation %u of %d\n", me, who, other.at, other.who);
    const int p = process_of(other.who), q = process_of(who);
    const unsigned way = below(10);
    if (way < 2) {
      host_waits(other.who);
      if (p != q) token(p, q);
      merge(clock[host(q)], clock[host(p)]);
      merge(clock[who], clock[host(q)]);
    } else if (way < 4 && next_flag < FLAGS && !legacy(who) && !legacy(other.who)) wait_by_value(who, other.who);
    else if (p == q) {
      if (mine(who)) {
        cudaEvent_t event;
        CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        CUDA(cudaEventRecord(event, handle(other.who)));
        CUDA(cudaStreamWaitEvent(handle(who), event, 0));
        CUDA(cudaEventDestroy(event));
      }
      merge(clock[who], clock[other.who]);
    } else wait_by_event(who, other.who);
    CHECK(clock[who][other.who] >= other.at);
  }
  void before_reading(int who, const Area &area)
  {
    for (const Access &w : area.writes) wait_for(who, w);
  }
  void before_writing(int who, const Area &area)
  {
    before_reading(who, area);
    for (const Access &r : area.reads) wait_for(who, r);
  }
  void has_written(int who, Area &area)
  {
    area.writes = {{who, clock[who][who]}};
    area.reads.clear();
  }

  // Steps -------------------------------------------------------------------------------------------------------------

  int pick(int process)
  {
    int i;
    do i = (int)below((unsigned)areas.size());
    while (areas[i].source == PRIVATE && areas[i].owner != process);
    return i;
  }
  void issue(cudaStream_t s, const Op &op)
  {
    uint32_t *dst = areas[op.dst].at, *a = areas[op.src[0]].at, *b = areas[op.src[1]].at;
    if (op.kind == KERNEL) mix<<<op.ctas, CTA, 0, s>>>(dst, a, b, op);
    if (op.kind == COPY) CUDA(cudaMemcpyAsync(dst + op.first, a + op.from, op.words * 4, cudaMemcpyDefault, s));
    if (op.kind == FILL) CUDA(cudaMemsetAsync((uint8_t *)(dst + op.first) + 1, (int)op.factor, op.words * 4 - 2, s));
    if (op.kind == COPY_2D) CUDA(cudaMemcpy2DAsync(dst, 128, a, 64, 13 * 4, op.words / 32, cudaMemcpyDefault, s));
    CUDA(cudaGetLastError());
  }
  void operation()
  {
    const int process = (int)below((unsigned)processes), who = process * STREAMS + (int)below(STREAMS);
    Op op = {};
    op.kind = chance(50) ? KERNEL : (Kind)below(KINDS);
    op.words = 32 + below(WORDS / 2 - 32);
    op.first = below(WORDS - op.words), op.from = below(WORDS - op.words);
    op.ctas = 1 + below(4), op.factor = random.next() | 1, op.dawdle = chance(50) ? 0 : below(6000);
    op.dst = pick(process);
    do
      for (int &s : op.src) s = pick(process);
    while (op.src[0] == op.dst || op.src[1] == op.dst);
    enter(who);
    before_writing(who, areas[op.dst]);
    for (int i : op.src) before_reading(who, areas[i]);
    enter(who);
    if (talks && mine(who)) printf("%d: stream %d: %d, %d <- %d %d, %u cycles\n", me, who, op.kind, op.dst, op.src[0], op.src[1], op.dawdle);
    if (mine(who)) issue(handle(who), op);
    leave(who);
    for (int i : op.src) areas[i].reads.push_back({who, clock[who][who]});
    has_written(who, areas[op.dst]);
    carry_out(areas, op);
  }
  void check(int i, int process)
  {
    const int who = process * STREAMS + 2;
    Area &area = areas[i];
    enter(who);
    before_reading(who, area);
    enter(who);
    std::vector<uint32_t> here(WORDS);
    if (mine(who)) CUDA(cudaMemcpy(here.data(), area.at, WORDS * 4, cudaMemcpyDeviceToHost));
    leave(who);
    merge(clock[host(process)], clock[who]);
    area.reads.push_back({who, clock[who][who]});
    if (!mine(who)) return;
    for (unsigned k = 0; k < WORDS; k++) {
      if (here[k] == area.model[k]) continue;
      printf("process %d, area %d, word %u: %08x, expected %08x\n", me, i, k, here[k], area.model[k]);
      exit(1);
    }
  }
  void renew(int i)
  {
    const Source source = (Source)below(areas[i].source == PRIVATE ? 4 : 3);
    give_back(areas[i]);
    areas[i] = new_area(source, (int)below((unsigned)processes));
  }
  void step()
  {
    const unsigned what = below(100);
    if (what < 88) return operation();
    const int process = (int)below((unsigned)processes), i = pick(process);
    if (what < 96) return check(i, process);
    renew((int)below((unsigned)areas.size()));
  }
};

static void run_all(unsigned first, unsigned programs, unsigned steps)
{
  Shared shared;
  for (unsigned seed = first; seed < first + programs; seed++) {
    if (talks && !me) printf("seed %u\n", seed);
    if (talks) fflush(stdout);
    Program(seed, shared).run(steps);
  }
}

int main(int argc, char **argv)
{
  const unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 1, programs = argc > 2 ? (unsigned)atoi(argv[2]) : 6;
  const unsigned steps = argc > 3 ? (unsigned)atoi(argv[3]) : 60;
  processes = argc > 4 && atoi(argv[4]) ? atoi(argv[4]) : 2 + (int)(first % 3);
  talks = argc > 5;
  CHECK(processes >= 2 && processes <= MOST);
  const char *child = getenv("IPC_RANDOM_CHILD"); // its number, and a socket to each process
  if (child) {
    me = atoi(child);
    child = strchr(child, ':') + 1;
    for (int p = 0; p < processes; p++) sockets[p] = atoi(child), child = strchr(child, ',') + 1;
    run_all(first, programs, steps);
    return 0;
  }
  int pair[MOST][MOST];
  for (int p = 0; p < processes; p++)
    for (int q = p + 1; q < processes; q++) {
      int two[2];
      CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, two) == 0);
      pair[p][q] = two[0], pair[q][p] = two[1];
    }
  pid_t pid[MOST];
  for (int p = 1; p < processes; p++) {
    std::string text = std::to_string(p) + ":";
    for (int q = 0; q < processes; q++) text += std::to_string(q == p ? -1 : pair[p][q]) + ",";
    if ((pid[p] = fork()) != 0) continue;
    setenv("IPC_RANDOM_CHILD", text.c_str(), 1);
    for (int a = 0; a < processes; a++)
      for (int b = 0; b < processes; b++)
        if (a != b && a != p) close(pair[a][b]);
    execv("/proc/self/exe", argv);
    _exit(127);
  }
  for (int p = 1; p < processes; p++) {
    sockets[p] = pair[0][p];
    for (int q = 0; q < processes; q++)
      if (q != p) close(pair[p][q]);
  }
  run_all(first, programs, steps);
  for (int p = 1; p < processes; p++) {
    int status = 1;
    CHECK(waitpid(pid[p], &status, 0) == pid[p] && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  printf("%u programs of %d processes right\n", programs, processes);
}
