// Random programs without races over memory that is behind links, and over the GPU's own: what each load has to see follows from the memory model
// alone, whatever L1 keeps of lines elsewhere. Words have owners: one thread of all grids until a barrier of the CTA, one CTA until a barrier of
// all CTAs; or many read them and nobody writes. Owners' words lie in the same sectors, so that everybody's loads bring bytes that others are about
// to write. Barriers of all CTAs are drawn, too: fences and acquires of the scopes there are, or the cluster's; their counters lie here or at the
// host. With several GPUs each takes some of the CTAs. Between kernels the host, copies and fills write; pages of managed memory move at any time,
// and the host looks at words that nobody writes while kernels run. Kernels come by launches of the host or nodes of graphs and, compiled with
// -DBY_DEVICE (-rdc=true), a kernel launches the one that goes on: behind its end, or beside it once all CTAs have met.
// Arguments: first seed, programs, most GPUs.
#include "check.h"
#include "random.h"
#include "some_gpus.h"
#include <cstdint>
#include <cstring>
#include <vector>

enum { ROOM_WORDS = 96, THREADS = 64, MOST_CTAS = 6, OPS = 3, CELLS = 32 };
enum Load { WEAK, NON_COHERENT, VOLATILE, RELAXED, CV, CG, BYTE, VECTOR_2, VECTOR_4, GENERIC, SHARED, TO_SHARED, LOADS, NO_LOAD };
enum Store { PLAIN, STORE_BYTE, STORE_4, STORE_RELAXED, EXCHANGE, ADD, REDUCE, STORES, NO_STORE };
enum Barrier { CTA, CTA_MBARRIER, ALL_FENCE, ALL_FENCE_SYSTEM, ALL_RELEASE, ALL_ATOMIC, ALL_CLUSTER };

// Two loads about a store, one behind the other, before their values are looked at.
struct Op {
  uint32_t *from[2], *to;
  uint32_t want[2], value;
  uint8_t load[2], store, byte[3], nap;
};
struct Phase {
  uint32_t barrier; // at its end
  uint32_t *counter;
  Op op[MOST_CTAS][THREADS][OPS];
};
struct Found {
  unsigned wrong, phase, cta, thread, op, which, want, got;
};

__device__ static uint32_t mixed(uint32_t a, uint32_t b, uint32_t c, uint32_t d) { return a + 3 * b + 5 * c + 7 * d; }

__device__ static uint32_t load(unsigned kind, const uint32_t *p, unsigned byte, uint32_t *cell)
{
  uint32_t v = 0, a = 0, b = 0, c = 0;
  switch (kind) {
  case WEAK: asm volatile("ld.weak.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); break;
  case NON_COHERENT: asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); break;
  case VOLATILE: asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); break;
  case RELAXED: asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); break;
  case CV: asm volatile("ld.global.cv.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); break;
  case CG: asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); break;
  case BYTE: asm volatile("ld.global.u8 %0, [%1];" : "=r"(v) : "l"((const char *)p + byte) : "memory"); break;
  case VECTOR_2:
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(v), "=r"(a) : "l"(p) : "memory");
    return mixed(v, a, 0, 0);
  case VECTOR_4:
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v), "=r"(a), "=r"(b), "=r"(c) : "l"(p) : "memory");
    return mixed(v, a, b, c);
  case SHARED: p = cell; // fall through: lanes of one instruction in both
  case GENERIC: asm volatile("ld.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); break;
  case TO_SHARED:
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\ncp.async.wait_all;" ::"r"((unsigned)__cvta_generic_to_shared(cell + THREADS)), "l"(p) : "memory");
    v = *(volatile uint32_t *)(cell + THREADS);
#else
    v = *p;
#endif
    break;
  }
  return v;
}

__device__ static void store(unsigned kind, uint32_t *p, unsigned byte, uint32_t value)
{
  switch (kind) {
  case PLAIN: asm volatile("st.weak.global.u32 [%0], %1;" ::"l"(p), "r"(value) : "memory"); break;
  case STORE_BYTE: asm volatile("st.global.u8 [%0], %1;" ::"l"((char *)p + byte), "r"(value) : "memory"); break;
  case STORE_4: asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(value), "r"(value + 1), "r"(value + 2), "r"(value + 3) : "memory"); break;
  case STORE_RELAXED: asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(p), "r"(value) : "memory"); break;
  case EXCHANGE: atomicExch_system(p, value); break;
  case ADD: if (atomicAdd_system(p, value) == 0x80000000u) __nanosleep(1); break;
  case REDUCE: asm volatile("red.relaxed.sys.global.add.u32 [%0], %1;" ::"l"(p), "r"(value) : "memory"); break;
  }
}

// All CTAs, of all GPUs.
__device__ static void meet(unsigned kind, uint32_t *counter, unsigned ctas)
{
  uint32_t seen = 0;
#if __CUDA_ARCH__ >= 900
  if (kind == ALL_CLUSTER) {
    asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
    return;
  }
#endif
  __syncthreads();
  if (threadIdx.x == 0) switch (kind) {
  case ALL_FENCE:
    __threadfence();
    atomicAdd(counter, 1);
    while (*(volatile uint32_t *)counter < ctas);
    __threadfence();
    break;
  case ALL_FENCE_SYSTEM:
    __threadfence_system();
    atomicAdd_system(counter, 1);
    while (*(volatile uint32_t *)counter < ctas);
    __threadfence_system();
    break;
  case ALL_RELEASE:
    asm volatile("red.release.sys.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
    do asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
    while (seen < ctas);
    break;
  case ALL_ATOMIC:
    asm volatile("atom.acq_rel.sys.global.add.u32 %0, [%1], 1;" : "=r"(seen) : "l"(counter) : "memory");
    while (seen < ctas) asm volatile("atom.acquire.sys.global.add.u32 %0, [%1], 0;" : "=r"(seen) : "l"(counter) : "memory");
    break;
  }
  __syncthreads();
}

__device__ static void meet_cta(unsigned kind, uint64_t *barrier, unsigned parity)
{
#if __CUDA_ARCH__ >= 800
  if (kind == CTA_MBARRIER) {
    const unsigned at = __cvta_generic_to_shared(barrier);
    unsigned over = 0;
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at) : "memory");
    while (!over) {
#if __CUDA_ARCH__ >= 900
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }" : "=r"(over) : "r"(at), "r"(parity) : "memory");
#else
      asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }" : "=r"(over) : "r"(at), "r"(parity) : "memory");
#endif
    }
    return;
  }
#endif
  __syncthreads();
}

__device__ static void note(Found *found, unsigned phase, unsigned cta, unsigned op, unsigned which, uint32_t want, uint32_t got)
{
  if (got == want || atomicAdd(&found->wrong, 1)) return;
  found->phase = phase, found->cta = cta, found->thread = threadIdx.x, found->op = op, found->which = which, found->want = want, found->got = got;
}

// A kernel executes the phases before `split`, the one that it launches the rest.
__global__ void program(const Phase *phase, unsigned begin, unsigned split, unsigned phases, unsigned first, unsigned ctas, Found *found)
{
  __shared__ uint32_t cell[2 * THREADS];
  __shared__ uint64_t barrier;
  const unsigned cta = first + blockIdx.x, t = threadIdx.x;
  unsigned parity = 0;
  cell[t] = 0x5eed;
#if __CUDA_ARCH__ >= 800
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(&barrier)), "r"(THREADS) : "memory");
#endif
  __syncthreads();
  for (unsigned i = begin; i < split; i++) {
    for (unsigned k = 0; k < OPS; k++) {
      const Op o = phase[i].op[cta][t][k];
      uint32_t a = 0, b = 0;
      if (o.nap) __nanosleep(o.nap * 64);
      if (o.load[0] == WEAK && o.store == PLAIN && o.load[1] == WEAK) {
        asm volatile("ld.weak.global.u32 %0, [%2];\nst.weak.global.u32 [%3], %4;\nld.weak.global.u32 %1, [%5];"
                     : "=&r"(a), "=r"(b) : "l"(o.from[0]), "l"(o.to), "r"(o.value), "l"(o.from[1]) : "memory");
      } else {
        a = load(o.load[0], o.from[0], o.byte[0], cell + t);
        store(o.store, o.to, o.byte[2], o.value);
        b = load(o.load[1], o.from[1], o.byte[1], cell + t);
      }
      note(found, i, cta, k, 0, o.want[0], a);
      note(found, i, cta, k, 1, o.want[1], b);
    }
    if (phase[i].barrier <= CTA_MBARRIER) meet_cta(phase[i].barrier, &barrier, parity);
    else meet(phase[i].barrier, phase[i].counter, ctas);
    parity ^= phase[i].barrier == CTA_MBARRIER;
  }
#ifdef BY_DEVICE
  if (split == phases || blockIdx.x || t) return;
  const bool beside = phase[split - 1].barrier > CTA_MBARRIER;
  program<<<gridDim.x, THREADS, 0, beside ? cudaStreamFireAndForget : cudaStreamTailLaunch>>>(phase, split, phases, phases, first, ctas, found);
#endif
}

struct Room {
  uint32_t *at, *host; // as kernels name it, and as the host does, if it can
  bool managed;
};

struct World {
  std::vector<Room> rooms;
  std::vector<uint32_t> value; // of all words, as of now
  std::vector<int> cta;        // owner; -1: all CTAs read it
  std::vector<int> thread;     // owner within the owner's CTA; -1: they all read it
  int gpus, ctas;
  bool cluster, looks; // the host looks at managed memory beside kernels
  cudaGraphExec_t graph[MOST_GPUS];
  uint32_t *counters, *host_counters;
  Phase *phases;
  Found *found;
};
enum { MOST_PHASES = 12 };

static uint32_t *address(const World &w, int word) { return w.rooms[word / ROOM_WORDS].at + word % ROOM_WORDS; }
static bool chance(Random &r, unsigned in) { return r.next() % in == 0; }

// Owners of groups of words, so that vectors have one, or of single words.
template <class Draw> static void draw_owners(Random &r, std::vector<int> &owner, Draw draw)
{
  for (size_t i = 0; i < owner.size(); i += 4) {
    const bool group = chance(r, 2);
    const int all = draw(i);
    for (size_t k = i; k < i + 4; k++) owner[k] = group ? all : draw(k);
  }
}

struct Rights {
  const World &w;
  int cta, thread;
  bool reads(int i) const { return w.cta[i] < 0 || (w.cta[i] == cta && (w.thread[i] < 0 || w.thread[i] == thread)); }
  bool writes(int i) const { return w.cta[i] == cta && w.thread[i] == thread; }
};

static int find(Random &r, const World &w, bool (Rights::*may)(int) const, const Rights &rights, int near)
{
  const int n = (int)w.value.size();
  int at = chance(r, 2) && near >= 0 ? near / 8 * 8 : (int)(r.next() % n);
  for (int k = 0; k < n; k++, at = (at + 1) % n)
    if ((rights.*may)(at)) return at;
  return -1;
}

static uint32_t sum(const World &w, int i, int n)
{
  static const uint32_t factor[] = {1, 3, 5, 7};
  uint32_t s = 0;
  for (int k = 0; k < n; k++) s += factor[k] * w.value[i + k];
  return s;
}

static void draw_load(Random &r, const World &w, const Rights &rights, Op &o, int which, unsigned kind, int near, const std::vector<bool> &kept)
{
  o.load[which] = NO_LOAD;
  const int i = kind == SHARED ? 0 : find(r, w, &Rights::reads, rights, near);
  if (i < 0) return;
  const int width = kind == VECTOR_2 ? 2 : kind == VECTOR_4 ? 4 : 1;
  bool all = i % width == 0;
  for (int k = 0; all && k < width; k++) all = rights.reads(i + k);
  if (kind != SHARED && (!all || (kind == NON_COHERENT && !kept[i]))) kind = WEAK;
  o.load[which] = (uint8_t)kind;
  o.from[which] = address(w, i);
  o.byte[which] = (uint8_t)(r.next() % 4);
  o.want[which] = kind == SHARED ? 0x5eed : kind == BYTE ? w.value[i] >> 8 * o.byte[which] & 255 : sum(w, i, width == 1 || kind == WEAK ? 1 : width);
}

static void draw_store(Random &r, World &w, const Rights &rights, Op &o, unsigned kind)
{
  o.store = NO_STORE;
  const int i = find(r, w, &Rights::writes, rights, -1);
  if (i < 0) return;
  bool four = i % 4 == 0;
  for (int k = 0; four && k < 4; k++) four = rights.writes(i + k);
  if (kind == STORE_4 && !four) kind = PLAIN;
  o.store = (uint8_t)kind, o.to = address(w, i), o.value = r.next() * 2654435761u, o.byte[2] = (uint8_t)(r.next() % 4);
  uint32_t &v = w.value[i];
  switch (kind) {
  case STORE_BYTE: v = (v & ~(255u << 8 * o.byte[2])) | (o.value & 255) << 8 * o.byte[2]; break;
  case ADD:
  case REDUCE: v += o.value; break;
  case STORE_4: for (int k = 0; k < 4; k++) w.value[i + k] = o.value + k; break;
  default: v = o.value;
  }
}

static void draw_phase(Random &r, World &w, Phase &p, bool all, const std::vector<bool> &kept)
{
  draw_owners(r, w.thread, [&](size_t) { return chance(r, 3) ? -1 : (int)(r.next() % THREADS); });
  unsigned kind[THREADS / 32][OPS][3];
  for (auto &warp : kind)
    for (auto &op : warp) {
      const bool plain = chance(r, 2);
      for (int k = 0; k < 2; k++) op[k] = plain || chance(r, 3) ? WEAK : r.next() % LOADS;
      op[2] = plain || chance(r, 3) ? PLAIN : r.next() % STORES;
    }
  memset(&p, 0, sizeof p);
  for (int k = 0; k < OPS; k++)
    for (int c = 0; c < w.ctas; c++)
      for (int t = 0; t < THREADS; t++) {
        const Rights rights{w, c, t};
        Op &o = p.op[c][t][k];
        unsigned use[3];
        for (int n = 0; n < 3; n++) use[n] = chance(r, 8) ? r.next() % (n == 2 ? (unsigned)STORES : (unsigned)LOADS) : kind[t / 32][k][n];
        o.nap = chance(r, 12) ? (uint8_t)(r.next() % 100) : 0;
        draw_load(r, w, rights, o, 0, use[0], -1, kept);
        draw_store(r, w, rights, o, use[2]);
        draw_load(r, w, rights, o, 1, use[1], o.store == NO_STORE ? -1 : (int)(r.next() % w.value.size()), kept);
        if (o.store != NO_STORE && chance(r, 3)) { // its own word again
          for (size_t i = 0; i < w.value.size(); i++)
            if (address(w, (int)i) == o.to) o.load[1] = WEAK, o.from[1] = o.to, o.want[1] = w.value[i];
        }
      }
  static const unsigned device[] = {ALL_FENCE, ALL_FENCE_SYSTEM, ALL_RELEASE, ALL_ATOMIC, ALL_CLUSTER};
  p.barrier = !all ? r.next() % 2 : device[w.gpus > 1 ? 1 + r.next() % 3 : r.next() % (w.cluster ? 5 : 4)];
}

static void run_kernel(Random &r, World &w, cudaStream_t stream[])
{
  const unsigned phases = 2 + r.next() % (MOST_PHASES - 1);
  std::vector<Phase> p(phases);
  std::vector<bool> kept(w.value.size());
  for (size_t i = 0; i < kept.size(); i++) kept[i] = chance(r, 4) && i % 32 < 16; // nobody writes them in this kernel
  bool fresh = true;
  memset(w.host_counters, 0, MOST_PHASES * sizeof *w.counters);
  CUDA(cudaMemset(w.counters, 0, MOST_PHASES * sizeof *w.counters));
  for (unsigned i = 0; i < phases; i++) {
    if (fresh) {
      draw_owners(r, w.cta, [&](size_t) { return chance(r, 4) ? -1 : (int)(r.next() % w.ctas); });
      for (size_t k = 0; k < kept.size(); k++)
        if (kept[k]) w.cta[k] = -1;
    }
    fresh = chance(r, 2);
    draw_phase(r, w, p[i], fresh, kept);
    p[i].counter = (w.gpus > 1 || chance(r, 2) ? w.host_counters : w.counters) + i;
  }
#ifdef BY_DEVICE
  const unsigned split = 1 + r.next() % phases;
#else
  const unsigned split = phases;
#endif
  const bool graph = chance(r, 3);
  CUDA(cudaMemcpy(w.phases, p.data(), phases * sizeof(Phase), cudaMemcpyHostToDevice));
  for (int g = 0; g < w.gpus; g++) {
    const unsigned first = w.ctas * g / w.gpus, n = w.ctas * (g + 1) / w.gpus - first;
    CUDA(cudaSetDevice(g));
    cudaLaunchConfig_t c = {};
    c.gridDim = n, c.blockDim = THREADS, c.stream = stream[g];
    cudaLaunchAttribute a[1];
    a[0].id = cudaLaunchAttributeClusterDimension;
    a[0].val.clusterDim.x = n, a[0].val.clusterDim.y = a[0].val.clusterDim.z = 1;
    c.attrs = a, c.numAttrs = w.cluster;
    if (graph) CUDA(cudaStreamBeginCapture(stream[g], cudaStreamCaptureModeThreadLocal));
    CUDA(cudaLaunchKernelEx(&c, program, (const Phase *)w.phases, 0u, split, phases, first, (unsigned)w.ctas, w.found));
    if (!graph) continue;
    cudaGraph_t captured;
    CUDA(cudaStreamEndCapture(stream[g], &captured));
    CUDA(cudaGraphInstantiate(&w.graph[g], captured, 0));
    CUDA(cudaGraphDestroy(captured));
  }
  for (int g = 0; g < w.gpus && graph; g++) {
    CUDA(cudaSetDevice(g));
    CUDA(cudaGraphLaunch(w.graph[g], stream[g]));
    CUDA(cudaGraphExecDestroy(w.graph[g]));
  }
  for (const Room &room : w.rooms) // pages move while the kernel reads them
    if (room.managed && chance(r, 2)) {
      const int to = chance(r, 2) ? cudaCpuDeviceId : (int)(r.next() % w.gpus);
#if CUDART_VERSION >= 13000
      CUDA(cudaMemPrefetchAsync(room.at, ROOM_WORDS * 4, {to == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, to}, 0, stream[MOST_GPUS]));
#else
      CUDA(cudaMemPrefetchAsync(room.at, ROOM_WORDS * 4, to, stream[MOST_GPUS]));
#endif
    }
  CUDA(cudaSetDevice(0));
  for (int n = w.looks ? 8 : 0, i; n; n--) {
    if (i = (int)(r.next() % w.value.size()), !kept[i] || !w.rooms[i / ROOM_WORDS].host) continue;
    const uint32_t got = *(volatile uint32_t *)(w.rooms[i / ROOM_WORDS].host + i % ROOM_WORDS);
    if (got == w.value[i]) continue;
    printf("the host saw %08x in word %d of room %d, not %08x\n", got, i % ROOM_WORDS, i / ROOM_WORDS, w.value[i]);
    exit(1);
  }
}

// What comes between kernels: in the stream, or by the host when they are over.
static void between(Random &r, World &w, cudaStream_t stream, bool idle)
{
  for (unsigned n = r.next() % 4; n; n--) {
    const int i = (int)(r.next() % w.value.size()), room = i / ROOM_WORDS;
    const uint32_t v = r.next();
    if (idle && w.rooms[room].host) {
      w.rooms[room].host[i % ROOM_WORDS] = w.value[i] = v;
    } else if (!w.rooms[room].managed) {
      CUDA(cudaMemsetAsync(address(w, i), v & 255, 4, stream));
      w.value[i] = (v & 255) * 0x01010101u;
    }
  }
}

static void advise(World &w, Random &r, const Room &room)
{
  const int at = chance(r, 2) ? cudaCpuDeviceId : 0, by = (int)(r.next() % w.gpus);
#if CUDART_VERSION >= 13000
  const cudaMemLocation home = {at == 0 ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost, at}, reader = {cudaMemLocationTypeDevice, by};
#else
  const int home = at, reader = by;
#endif
  CUDA(cudaMemAdvise(room.at, ROOM_WORDS * 4, cudaMemAdviseSetPreferredLocation, home));
  if (chance(r, 2)) CUDA(cudaMemAdvise(room.at, ROOM_WORDS * 4, cudaMemAdviseSetAccessedBy, reader));
}

static int room_of(const World &w, const uint32_t *p)
{
  for (size_t k = 0; k < w.rooms.size(); k++)
    if (p >= w.rooms[k].at && p < w.rooms[k].at + ROOM_WORDS) return (int)k;
  return -1;
}

static void tell(const World &w, unsigned seed, const Found &f)
{
  Op o;
  CUDA(cudaMemcpy(&o, &w.phases[f.phase].op[f.cta][f.thread][f.op], sizeof o, cudaMemcpyDeviceToHost));
  printf("program %u: %u wrong; first: phase %u, CTA %u of %d, thread %u, operation %u.%u: %08x, not %08x\n", seed, f.wrong, f.phase, f.cta, w.ctas,
         f.thread, f.op, f.which, f.got, f.want);
  const uint32_t *const at[] = {o.from[0], o.to, o.from[1]};
  const unsigned kind[] = {o.load[0], o.store, o.load[1]};
  for (int k = 0; k < 3; k++) {
    const int room = room_of(w, at[k]);
    printf("  %s %u: room %d, word %d\n", k == 1 ? "store" : "load", kind[k], room, room < 0 ? 0 : (int)(at[k] - w.rooms[room].at));
  }
}

static bool run(World &w, unsigned seed, cudaStream_t stream[])
{
  Random r(seed * 2654435761u + 12345u);
  for (int k = 0; k < 5; k++) r.next();
  const int least = w.gpus > 2 ? w.gpus : 2;
  w.ctas = least + (int)(r.next() % (MOST_CTAS + 1 - least));
  w.looks = w.gpus > 1 || chance(r, 2);
  int major;
  CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
#ifndef BY_DEVICE // a kernel that another one launches is in no cluster
  w.cluster = major >= 9 && w.gpus == 1 && chance(r, 2);
#endif
  for (const Room &room : w.rooms)
    if (room.managed) advise(w, r, room);
  for (unsigned kernels = 1 + r.next() % 3; kernels; kernels--) {
    run_kernel(r, w, stream);
    const bool idle = w.gpus > 1 || chance(r, 2);
    if (idle) CUDA(cudaDeviceSynchronize());
    for (int g = 1; g < w.gpus; g++) CUDA(cudaStreamSynchronize(stream[g]));
    if (idle) CUDA(cudaStreamSynchronize(stream[0]));
    between(r, w, stream[0], idle);
    Found f;
    CUDA(cudaMemcpy(&f, w.found, sizeof f, cudaMemcpyDeviceToHost)); // waits; the list of the next kernel takes this one's place
    if (!f.wrong) continue;
    tell(w, seed, f);
    return false;
  }
  std::vector<uint32_t> now(ROOM_WORDS);
  for (size_t k = 0; k < w.rooms.size(); k++) {
    CUDA(cudaMemcpy(now.data(), w.rooms[k].at, ROOM_WORDS * 4, cudaMemcpyDefault));
    for (int i = 0; i < ROOM_WORDS; i++)
      if (now[i] != w.value[k * ROOM_WORDS + i]) {
        printf("program %u: word %d of room %zu is %08x at the end, not %08x\n", seed, i, k, now[i], w.value[k * ROOM_WORDS + i]);
        return false;
      }
  }
  return true;
}

int main(int argc, char **argv)
{
  const unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 5134, programs = argc > 2 ? (unsigned)atoi(argv[2]) : 6;
  World w = {};
  w.gpus = gpus_that_reach(argc > 3 ? atoi(argv[3]) : 2);
  CUDA(cudaSetDevice(0));
  uint32_t *at;
  const size_t bytes = ROOM_WORDS * sizeof *at;
  CUDA(cudaHostAlloc(&at, bytes, cudaHostAllocMapped));
  w.rooms.push_back({at, at, false});
  at = (uint32_t *)aligned_alloc(4096, 4096);
  CUDA(cudaHostRegister(at, 4096, cudaHostRegisterDefault));
  uint32_t *registered;
  CUDA(cudaHostGetDevicePointer(&registered, at, 0));
  w.rooms.push_back({registered, at, false});
  if (cudaMallocManaged(&at, bytes) == cudaSuccess) w.rooms.push_back({at, at, true}); // not with --ranks
  for (int g = 0; g < w.gpus; g++) {
    CUDA(cudaSetDevice(g));
    CUDA(cudaMalloc(&at, bytes));
    w.rooms.push_back({at, nullptr, false});
  }
  cudaStream_t stream[MOST_GPUS + 1];
  for (int g = 0; g < w.gpus; g++) {
    CUDA(cudaSetDevice(g));
    CUDA(cudaStreamCreate(&stream[g]));
  }
  CUDA(cudaSetDevice(0));
  CUDA(cudaStreamCreate(&stream[MOST_GPUS]));
  CUDA(cudaMalloc(&w.counters, MOST_PHASES * sizeof *w.counters));
  CUDA(cudaHostAlloc(&w.host_counters, MOST_PHASES * sizeof *w.counters, cudaHostAllocMapped));
  CUDA(cudaMalloc(&w.phases, MOST_PHASES * sizeof(Phase)));
  CUDA(cudaMalloc(&w.found, sizeof *w.found));
  CUDA(cudaMemset(w.found, 0, sizeof *w.found));
  const size_t words = w.rooms.size() * ROOM_WORDS;
  w.value.assign(words, 0), w.cta.assign(words, -1), w.thread.assign(words, -1);
  for (const Room &room : w.rooms) CUDA(cudaMemset(room.at, 0, bytes));
  CUDA(cudaDeviceSynchronize());
  for (unsigned i = 0; i < programs; i++)
    if (!run(w, seed + i, stream)) return 1;
  printf("%u programs\n", programs);
}
