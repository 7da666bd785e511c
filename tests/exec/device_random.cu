// Grids that launch grids, drawn at random: trees of several levels, launched by divergent threads of several CTAs into the block's stream, named
// streams with events between them, fire-and-forget and as tails, with parameters of several sizes and dynamic shared memory; copies and fills by
// the device; and graphs that launch graphs in the three ways there are. Every grid takes numbers from one clock when its CTAs begin and
// end, and looks for what its predecessors have written. The CPU checks by these numbers each order that NVIDIA documents (CUDA programming guide, "CUDA
// Dynamic Parallelism" and "Device Graph Launch"): a grid is over when all that it launched is, tails come after that and one by one, streams
// and events order. What streams do to memory is compared with the same on the CPU.
// Arguments: first seed, programs, most grids of each; one more and every grid is printed.
#include "check.h"
#include "random.h"
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

enum { MOST_CTAS = 4, MOST_AFTER = 4, BUFFER_WORDS = 64, NAMED = 2, DEPTH = 5, PHASES = 3 };
enum Into { BLOCK, FIRST_NAMED, COMMON = FIRST_NAMED + NAMED, FORGOTTEN, TAIL, SIBLING, HOST }; // COMMON: a stream of all threads of a CTA
enum Kind { LAUNCH, SET, SET_2D, COPY, COPY_2D, MEET };

// What one thread of a grid does, in the order of the list. Between two phases the CTA's threads meet at a barrier.
struct Action {
  Kind kind;
  int cta, thread, into;
  int grid;            // LAUNCH: which; of graphs: which graph; MEET: the stream to wait for
  uint32_t *dst, *src; // buffers
  unsigned value;
  int phase;
};
struct Grid {
  dim3 ctas, threads;
  unsigned shared, parameters; // bytes; which size
  int first, actions;
  long long early, late; // cycles that it dawdles, before and after launching
  uint32_t *buffer;      // what its first CTA mixes at its end, or none
  int after[MOST_AFTER]; // grids whose writes it has to see, or -1
};
struct Tables {
  const Grid *grids;
  const Action *actions;
  unsigned *clock, *begin, *end, *ran, *wrong; // begin, end: the earliest and latest number of a grid
  uint32_t *written;                           // a word for each CTA of each grid
  uint32_t *mail;                              // a word for each grid, from whoever launches it
  cudaGraphExec_t *graphs;
};
template <int WORDS> struct Words {
  uint32_t word[WORDS];
};

__host__ __device__ static uint32_t mark(int grid, unsigned i) { return (uint32_t)(grid + 1) * 2654435761u ^ i * 40503u; }
__host__ __device__ static uint32_t mixed(uint32_t old, int grid, unsigned i) { return old * 5 + mark(grid, i); }

__device__ static void expect(const Tables &t, int grid, bool right, unsigned what)
{
  if (!right) atomicOr(&t.wrong[grid], 1u << what);
}
__device__ static void dawdle(long long cycles)
{
  for (long long begin = clock64(); clock64() - begin < cycles;);
}
__device__ static unsigned cta() { return blockIdx.x + gridDim.x * blockIdx.y; }
__device__ static unsigned thread() { return threadIdx.x + blockDim.x * threadIdx.y; }

template <int WORDS> __global__ void work(char c, Words<WORDS> words, short s, Tables t, int id);

template <int WORDS> __device__ static void launch_with(const Tables &t, int id, cudaStream_t stream)
{
  const Grid &g = t.grids[id];
  Words<WORDS> words;
  for (int i = 0; i < WORDS; i++) words.word[i] = mark(id, i);
  work<WORDS><<<g.ctas, g.threads, g.shared, stream>>>((char)(id * 3), words, (short)(id * 77), t, id);
}
__device__ static void launch(const Tables &t, int id, cudaStream_t stream)
{
  t.mail[id] = mark(id, 99);
  switch (t.grids[id].parameters) {
  case 0: launch_with<1>(t, id, stream); break;
  case 1: launch_with<3>(t, id, stream); break;
  case 2: launch_with<30>(t, id, stream); break;
  default: launch_with<200>(t, id, stream);
  }
}

// `b` waits for what is in `a` so far.
__device__ static cudaError_t meet(cudaStream_t a, cudaStream_t b)
{
  cudaEvent_t event;
  cudaError_t bad = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  if (!bad) bad = cudaEventRecord(event, a);
  if (!bad) bad = cudaStreamWaitEvent(b, event, 0);
  return bad ? bad : cudaEventDestroy(event);
}

__device__ static void act(const Tables &t, const Action &a, cudaStream_t *streams, int id)
{
  cudaStream_t into = streams[a.into];
  cudaError_t bad = cudaSuccess;
  switch (a.kind) {
  case LAUNCH:
    launch(t, a.grid, into);
    bad = cudaGetLastError();
    break;
  case SET: bad = cudaMemsetAsync(a.dst + 1, (int)a.value, 4 * BUFFER_WORDS - 9, into); break;
  case SET_2D: bad = cudaMemset2DAsync(a.dst, 32, (int)a.value, 13, BUFFER_WORDS / 8, into); break;
  case COPY: bad = cudaMemcpyAsync(a.dst + 5, a.src, 4 * BUFFER_WORDS - 20, cudaMemcpyDeviceToDevice, into); break;
  case COPY_2D: bad = cudaMemcpy2DAsync(a.dst, 32, a.src, 16, 15, BUFFER_WORDS / 8, cudaMemcpyDeviceToDevice, into); break;
  case MEET: bad = meet(streams[a.grid], into); break;
  }
  expect(t, id, bad == cudaSuccess, 1 + a.kind);
}

__device__ static void carry_out(const Tables &t, const Grid &g, int id)
{
  __shared__ cudaStream_t common;
  if (thread() == 0 && g.actions) expect(t, id, cudaStreamCreateWithFlags(&common, cudaStreamNonBlocking) == cudaSuccess, 8);
  __syncthreads();
  cudaStream_t streams[TAIL + 1] = {0, 0, 0, common, cudaStreamFireAndForget, cudaStreamTailLaunch};
  for (int phase = 0; phase < PHASES; phase++) {
    for (int i = g.first; i < g.first + g.actions; i++) {
      const Action &a = t.actions[i];
      if (a.phase != phase || a.cta != (int)cta() || a.thread != (int)thread()) continue;
      for (int s : {a.into, a.kind == MEET ? a.grid : a.into})
        if (s >= FIRST_NAMED && s < COMMON && !streams[s]) expect(t, id, cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking) == cudaSuccess, 8);
      act(t, a, streams, id);
    }
    __syncthreads();
  }
  for (int s = FIRST_NAMED; s < COMMON; s++)
    if (streams[s]) expect(t, id, cudaStreamDestroy(streams[s]) == cudaSuccess, 9);
  if (thread() == 0 && g.actions) expect(t, id, cudaStreamDestroy(common) == cudaSuccess, 9);
}

__device__ static void begin(const Tables &t, const Grid &g, int id)
{
  if (thread() == 0) {
    atomicMin(&t.begin[id], atomicAdd(t.clock, 1));
    atomicAdd(&t.ran[id], 1);
    dawdle(g.early);
  }
  __syncthreads();
  for (int other : g.after)
    if (other >= 0)
      for (unsigned c = 0; c < t.grids[other].ctas.x * t.grids[other].ctas.y; c++)
        expect(t, id, t.written[other * MOST_CTAS + c] == mark(other, c), 10);
}
__device__ static void end(const Tables &t, const Grid &g, int id)
{
  if (thread() == 0) dawdle(g.late);
  if (g.buffer && cta() == 0)
    for (unsigned i = thread(); i < BUFFER_WORDS; i += blockDim.x * blockDim.y) g.buffer[i] = mixed(g.buffer[i], id, i);
  __syncthreads();
  if (thread() != 0) return;
  t.written[id * MOST_CTAS + cta()] = mark(id, cta());
  __threadfence();
  atomicMax(&t.end[id], atomicAdd(t.clock, 1));
}

template <int WORDS> __global__ void work(char c, Words<WORDS> words, short s, Tables t, int id)
{
  extern __shared__ uint32_t shared[];
  const Grid &g = t.grids[id];
  const unsigned n = g.shared / 4, threads = blockDim.x * blockDim.y;
  begin(t, g, id);
  expect(t, id, gridDim.x == g.ctas.x && gridDim.y == g.ctas.y && blockDim.x == g.threads.x && blockDim.y == g.threads.y, 11);
  expect(t, id, c == (char)(id * 3) && s == (short)(id * 77) && t.mail[id] == mark(id, 99), 12);
  for (int i = 0; i < WORDS; i++) expect(t, id, words.word[i] == mark(id, i), 13);
  unsigned size;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(size));
  expect(t, id, size == g.shared, 14);
  for (unsigned i = thread(); i < n; i += threads) shared[i] = mark(id, i + cta());
  __syncthreads();
  carry_out(t, g, id);
  __syncthreads();
  for (unsigned i = thread(); i < n; i += threads) expect(t, id, shared[n - 1 - i] == mark(id, n - 1 - i + cta()), 15);
  end(t, g, id);
}

// A node of a graph, which may launch graphs but no grids.
__global__ void node(Tables t, int id)
{
  const Grid &g = t.grids[id];
  begin(t, g, id);
  expect(t, id, t.mail[id] == mark(id, 99), 12);
  for (int i = g.first; i < g.first + g.actions; i++) {
    const Action &a = t.actions[i];
    if (a.cta != (int)cta() || a.thread != (int)thread()) continue;
    const cudaStream_t into = a.into == TAIL ? cudaStreamGraphTailLaunch : a.into == SIBLING ? cudaStreamGraphFireAndForgetAsSibling : cudaStreamGraphFireAndForget;
    expect(t, id, cudaGraphLaunch(t.graphs[a.grid], into) == cudaSuccess, 16);
  }
  __syncthreads();
  end(t, g, id);
}

static bool talks;

class Program {
public:
  Program(unsigned seed, unsigned most) : random(seed), most(most) { CUDA(cudaMalloc(&pool, sizeof(uint32_t) * BUFFER_WORDS * 4096)); }

  void run()
  {
    const int roots = 1 + (int)below(4);
    for (int i = 0; i < roots; i++) {
      draw_grid(-1, HOST, 0, 0, -1);
      root.push_back({i, (int)below(2)});
      root.back().grid = last_root;
    }
    start();
    for (const Root &r : root) launch_root(r);
    finish();
    for (size_t i = 1; i < root.size(); i++)
      for (size_t k = 0; k < i; k++)
        if (root[k].stream == root[i].stream) before(root[k].grid, root[i].grid, "stream of the host");
    check();
  }

  void run_graphs()
  {
    const int graph = draw_graph(-1, HOST, 0);
    start();
    for (size_t i = graphs.size(); i--;) build(graphs[i]);
    std::vector<cudaGraphExec_t> execs;
    for (const Graph &g : graphs) execs.push_back(g.exec);
    CUDA(cudaMemcpy(tables.graphs, execs.data(), execs.size() * sizeof execs[0], cudaMemcpyHostToDevice));
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaGraphLaunch(graphs[graph].exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    finish();
    check_graphs();
    for (cudaGraphExec_t exec : execs) CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaStreamDestroy(stream));
  }

  ~Program()
  {
    for (void *p : memory) cudaFree(p);
    cudaFree(pool);
  }

private:
  // What the CPU knows of a grid beside what the GPU does.
  struct Node {
    int parent, into, cta, thread, phase; // who launched it, and how
    std::vector<int> children;
    std::vector<int> streams_after; // siblings that it comes behind by a stream or an event
  };
  struct Root {
    int grid, stream;
  };
  struct Graph {
    int parent, into; // graph that launched it
    int launcher, thread;
    std::vector<int> nodes, children; // nodes in a chain
    cudaGraphExec_t exec;
  };
  struct Buffer {
    uint32_t *at;
    std::vector<uint32_t> model;
  };

  Random random;
  unsigned most;
  int last_root = -1;
  std::vector<Grid> grids;
  std::vector<Node> nodes;
  std::vector<std::vector<Action>> scripts;
  std::vector<Action> actions;
  std::vector<Root> root;
  std::vector<Graph> graphs;
  std::vector<Buffer> buffers;
  std::vector<void *> memory;
  std::vector<unsigned> first_number, last_number, ran, wrong;
  Tables tables = {};
  uint32_t *pool;
  cudaStream_t streams[2];

  unsigned below(unsigned n) { return random.next() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }

  // Drawing.

  int new_grid(int parent, int into, int cta, int thread)
  {
    Grid g = {};
    g.ctas = dim3(1 + below(2), chance(30) ? 2 : 1), g.threads = dim3(chance(30) ? 1 + below(70) : 32, chance(20) ? 2 : 1);
    g.shared = chance(50) ? 0 : 4 * (1 + below(chance(20) ? 10000 : 300));
    g.parameters = below(4), g.early = chance(50) ? 0 : below(3000), g.late = chance(50) ? 0 : below(3000);
    for (int &a : g.after) a = -1;
    grids.push_back(g);
    nodes.push_back({parent, into, cta, thread, 0, {}, {}});
    scripts.push_back({});
    const int id = (int)grids.size() - 1;
    if (parent >= 0) nodes[parent].children.push_back(id);
    return id;
  }

  // A grid and what it launches; in `buffer`'s stream it mixes that.
  int draw_grid(int parent, int into, int cta, int thread, int buffer, int depth = 0)
  {
    const int id = new_grid(parent, into, cta, thread);
    if (parent < 0) last_root = id;
    if (talks) printf("grid %d of %d, CTA %d, thread %d, into %d, %u x %u CTAs of %u x %u\n", id, parent, cta, thread, into, grids[id].ctas.x, grids[id].ctas.y, grids[id].threads.x, grids[id].threads.y);
    const unsigned ctas = grids[id].ctas.x * grids[id].ctas.y, threads = grids[id].threads.x * grids[id].threads.y;
    std::vector<unsigned> busy;
    for (unsigned n = depth < DEPTH ? below(depth ? 3 : 5) : 0; n && grids.size() < most; n--) {
      const unsigned who = below(ctas * threads);
      if (std::find(busy.begin(), busy.end(), who) == busy.end()) draw_script(id, (int)(who / threads), (int)(who % threads), depth);
      busy.push_back(who);
    }
    if (buffer >= 0) {
      grids[id].buffer = buffers[buffer].at;
      for (unsigned i = 0; i < BUFFER_WORDS; i++) buffers[buffer].model[i] = mixed(buffers[buffer].model[i], id, i);
    }
    return id;
  }

  int new_buffer()
  {
    Buffer b = {pool + buffers.size() * BUFFER_WORDS, std::vector<uint32_t>(BUFFER_WORDS)};
    CHECK(buffers.size() < 4096);
    for (uint32_t &w : b.model) w = random.next();
    CUDA(cudaMemcpy(b.at, b.model.data(), 4 * BUFFER_WORDS, cudaMemcpyHostToDevice));
    buffers.push_back(b);
    return (int)buffers.size() - 1;
  }

  // Everything that one thread asks for. Each of its named streams has a buffer.
  void draw_script(int id, int cta, int thread, int depth)
  {
    std::vector<int> behind[TAIL + 1]; // what a stream's next grid comes behind
    int buffer[NAMED];
    for (int &b : buffer) b = new_buffer();
    int phase = 0;
    for (unsigned n = 1 + below(6); n; n--) {
      if (chance(30)) phase = std::min(phase + 1, PHASES - 1);
      Action a = {LAUNCH, cta, thread, (int)below(TAIL + 1), -1, nullptr, nullptr, below(256), phase};
      const bool named = a.into >= FIRST_NAMED && a.into < COMMON;
      const int own = a.into - FIRST_NAMED;
      if (named && chance(50)) draw_memory(id, a, buffer, behind);
      else if (a.into <= COMMON && chance(15)) draw_meeting(id, a, behind);
      else if (grids.size() < most) {
        a.grid = draw_grid(id, a.into, cta, thread, named ? buffer[own] : -1, depth + 1);
        scripts[id].push_back(a);
        Node &c = nodes[a.grid];
        c.streams_after = behind[a.into], c.phase = phase;
        look_for(a.grid, c.streams_after);
        if (a.into != FORGOTTEN) behind[a.into].push_back(a.grid);
      }
    }
  }
  void draw_meeting(int id, Action a, std::vector<int> *behind)
  {
    a.kind = MEET, a.grid = (int)below(COMMON + 1);
    if (a.grid == a.into) return;
    scripts[id].push_back(a);
    const std::vector<int> &its = behind[a.grid];
    behind[a.into].insert(behind[a.into].end(), its.begin(), its.end());
  }
  void look_for(int grid, const std::vector<int> &others)
  {
    for (int i = 0; i < MOST_AFTER && !others.empty(); i++) grids[grid].after[i] = descendant(others[below((unsigned)others.size())]);
  }
  int descendant(int grid)
  {
    while (!nodes[grid].children.empty() && chance(70)) grid = nodes[grid].children[below((unsigned)nodes[grid].children.size())];
    return grid;
  }

  void draw_memory(int id, Action a, const int *buffer, std::vector<int> *behind)
  {
    const int own = a.into - FIRST_NAMED, other = (own + 1) % NAMED;
    Buffer &b = buffers[buffer[own]], &o = buffers[buffer[other]];
    uint8_t *to = (uint8_t *)b.model.data();
    const uint8_t *from = (const uint8_t *)o.model.data();
    a.kind = (Kind)(SET + below(4)), a.dst = b.at, a.src = o.at;
    const Action there = {MEET, a.cta, a.thread, a.into, other + FIRST_NAMED, nullptr, nullptr, 0, a.phase};
    const Action back = {MEET, a.cta, a.thread, other + FIRST_NAMED, a.into, nullptr, nullptr, 0, a.phase};
    const bool copies = a.kind == COPY || a.kind == COPY_2D;
    if (copies) scripts[id].push_back(there);
    scripts[id].push_back(a);
    if (copies) scripts[id].push_back(back);
    if (a.kind == SET) memset(to + 4, (int)a.value, 4 * BUFFER_WORDS - 9);
    if (a.kind == COPY) memcpy(to + 20, from, 4 * BUFFER_WORDS - 20);
    for (int r = 0; r < BUFFER_WORDS / 8; r++) {
      if (a.kind == SET_2D) memset(to + 32 * r, (int)a.value, 13);
      if (a.kind == COPY_2D) memcpy(to + 32 * r, from + 16 * r, 15);
    }
    if (!copies) return;
    std::vector<int> &mine = behind[a.into], &its = behind[other + FIRST_NAMED];
    mine.insert(mine.end(), its.begin(), its.end());
    its = mine;
  }

  // A graph of a chain of nodes, whose threads launch graphs. Each graph is launched once.
  int draw_graph(int parent, int into, int depth)
  {
    const int id = (int)graphs.size();
    graphs.push_back({parent, into, -1, -1, {}, {}, nullptr});
    for (unsigned n = 1 + below(3); n; n--) {
      const int g = new_grid(-1, into, 0, 0);
      if (!graphs[id].nodes.empty()) grids[g].after[0] = graphs[id].nodes.back();
      graphs[id].nodes.push_back(g);
      for (unsigned k = depth < DEPTH ? below(4) : 0; k && graphs.size() < most / 2; k--) {
        const unsigned threads = grids[g].threads.x * grids[g].threads.y;
        Action a = {LAUNCH, (int)below(grids[g].ctas.x * grids[g].ctas.y), (int)below(threads), FORGOTTEN + (int)below(3), -1, nullptr, nullptr, 0, 0};
        a.grid = draw_graph(id, a.into, depth + 1);
        graphs[a.grid].launcher = g, graphs[a.grid].thread = a.cta * 1024 + a.thread;
        graphs[id].children.push_back(a.grid);
        scripts[g].push_back(a);
        if (talks) printf("graph %d of %d, node %d, into %d\n", a.grid, id, g, a.into);
      }
    }
    return id;
  }
  void build(Graph &g)
  {
    cudaGraph_t graph;
    CUDA(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t behind = nullptr;
    for (int id : g.nodes) {
      void *args[] = {&tables, &id};
      cudaKernelNodeParams p = {};
      behind = add_mail(graph, behind, id);
      p.func = (void *)node, p.gridDim = grids[id].ctas, p.blockDim = grids[id].threads, p.kernelParams = args;
      cudaGraphNode_t n;
      CUDA(cudaGraphAddKernelNode(&n, graph, &behind, 1, &p));
      behind = n;
    }
    CUDA(cudaGraphInstantiate(&g.exec, graph, cudaGraphInstantiateFlagDeviceLaunch));
    CUDA(cudaGraphUpload(g.exec, 0));
    CUDA(cudaGraphDestroy(graph));
  }

  // What the kernel looks for comes by a fill or a copy.
  cudaGraphNode_t add_mail(cudaGraph_t graph, cudaGraphNode_t behind, int id)
  {
    cudaGraphNode_t n;
    if (chance(50)) {
      cudaMemsetParams p = {};
      p.dst = tables.mail + id, p.value = mark(id, 99), p.elementSize = 4, p.width = 1, p.height = 1;
      CUDA(cudaGraphAddMemsetNode(&n, graph, behind ? &behind : nullptr, behind != nullptr, &p));
    } else {
      const uint32_t *from = on_gpu(std::vector<uint32_t>(1, mark(id, 99)));
      CUDA(cudaGraphAddMemcpyNode1D(&n, graph, behind ? &behind : nullptr, behind != nullptr, tables.mail + id, from, 4, cudaMemcpyDeviceToDevice));
    }
    return n;
  }

  // Carrying out.

  template <class T> T *on_gpu(const std::vector<T> &v)
  {
    T *p;
    CUDA(cudaMalloc(&p, std::max<size_t>(v.size(), 1) * sizeof(T)));
    CUDA(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    memory.push_back(p);
    return p;
  }
  void start()
  {
    const size_t n = grids.size();
    for (size_t i = 0; i < n; i++) {
      grids[i].first = (int)actions.size(), grids[i].actions = (int)scripts[i].size();
      actions.insert(actions.end(), scripts[i].begin(), scripts[i].end());
    }
    tables.grids = on_gpu(grids), tables.actions = on_gpu(actions), tables.clock = on_gpu(std::vector<unsigned>(1, 1));
    tables.begin = on_gpu(std::vector<unsigned>(n, ~0u));
    for (unsigned **p : {&tables.end, &tables.ran, &tables.wrong}) *p = on_gpu(std::vector<unsigned>(n, 0));
    std::vector<uint32_t> mail(n);
    for (const Root &r : root) mail[r.grid] = mark(r.grid, 99);
    tables.written = on_gpu(std::vector<uint32_t>(n * MOST_CTAS, 0)), tables.mail = on_gpu(mail);
    tables.graphs = on_gpu(std::vector<cudaGraphExec_t>(graphs.size(), nullptr));
    for (cudaStream_t &s : streams) CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  }
  template <int WORDS> void launch_as(int id, cudaStream_t s)
  {
    const Grid &g = grids[id];
    Words<WORDS> words;
    for (int i = 0; i < WORDS; i++) words.word[i] = mark(id, i);
    work<WORDS><<<g.ctas, g.threads, g.shared, s>>>((char)(id * 3), words, (short)(id * 77), tables, id);
    CUDA(cudaGetLastError());
  }
  void launch_root(const Root &r)
  {
    const cudaStream_t s = streams[r.stream];
    if (chance(70)) return launch_in(r, s);
    cudaGraph_t graph; // as a graph of its own
    cudaGraphExec_t exec;
    CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    launch_in(r, s);
    CUDA(cudaStreamEndCapture(s, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphLaunch(exec, s));
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
  }
  void launch_in(const Root &r, cudaStream_t s)
  {
    switch (grids[r.grid].parameters) {
    case 0: return launch_as<1>(r.grid, s);
    case 1: return launch_as<3>(r.grid, s);
    case 2: return launch_as<30>(r.grid, s);
    default: return launch_as<200>(r.grid, s);
    }
  }
  void finish()
  {
    const size_t n = grids.size();
    CUDA(cudaDeviceSynchronize());
    first_number.resize(n), last_number.resize(n), ran.resize(n), wrong.resize(n);
    CUDA(cudaMemcpy(first_number.data(), tables.begin, 4 * n, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(last_number.data(), tables.end, 4 * n, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(ran.data(), tables.ran, 4 * n, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(wrong.data(), tables.wrong, 4 * n, cudaMemcpyDeviceToHost));
    for (cudaStream_t s : streams) CUDA(cudaStreamDestroy(s));
    for (size_t i = 0; i < n; i++)
      if (ran[i] != grids[i].ctas.x * grids[i].ctas.y || wrong[i]) {
        printf("grid %zu: %u CTAs of %u, wrong: %x\n", i, ran[i], grids[i].ctas.x * grids[i].ctas.y, wrong[i]);
        exit(1);
      }
  }

  // Checking.

  unsigned end_of(int grid) // of all that it launched
  {
    unsigned end = last_number[grid];
    for (int c : nodes[grid].children) end = std::max(end, end_of(c));
    return end;
  }
  void before(int a, int b, const char *why)
  {
    if (end_of(a) < first_number[b]) return;
    printf("%s: grid %d ends at %u, %d begins at %u\n", why, a, end_of(a), b, first_number[b]);
    exit(1);
  }
  // Launches of one thread, and those of a CTA on two sides of a barrier.
  static bool in_order(const Node &a, const Node &b, bool drawn_in_order)
  {
    return a.cta == b.cta && (a.phase < b.phase || (a.thread == b.thread && drawn_in_order));
  }
  void check_shared_streams(int id)
  {
    for (int a : nodes[id].children)
      for (int b : nodes[id].children)
        if (nodes[a].into == nodes[b].into && (nodes[a].into == BLOCK || nodes[a].into == COMMON) && in_order(nodes[a], nodes[b], a < b)) before(a, b, "stream of a CTA");
  }
  void check_tails(int id)
  {
    for (int t : nodes[id].children) {
      if (nodes[t].into != TAIL) continue;
      CHECK(last_number[id] < first_number[t]);
      for (int other : nodes[id].children) {
        if (nodes[other].into != TAIL) before(other, t, "tail behind children");
        else if (in_order(nodes[other], nodes[t], other < t)) before(other, t, "tails in order");
        else if (other < t && !in_order(nodes[t], nodes[other], false)) CHECK(end_of(other) < first_number[t] || end_of(t) < first_number[other]);
      }
    }
  }
  void check()
  {
    for (int id = 0; id < (int)grids.size(); id++) {
      const Node &n = nodes[id];
      if (n.parent >= 0) CHECK(first_number[n.parent] < first_number[id]);
      for (int other : n.streams_after) before(other, id, "stream");
      check_tails(id);
      check_shared_streams(id);
    }
    std::vector<uint32_t> here(BUFFER_WORDS);
    for (size_t i = 0; i < buffers.size(); i++) {
      CUDA(cudaMemcpy(here.data(), buffers[i].at, 4 * BUFFER_WORDS, cudaMemcpyDeviceToHost));
      for (unsigned k = 0; k < BUFFER_WORDS; k++)
        if (here[k] != buffers[i].model[k]) {
          printf("buffer %zu, word %u: %08x, expected %08x\n", i, k, here[k], buffers[i].model[k]);
          exit(1);
        }
    }
  }

  // A graph's siblings belong to whatever launched that graph, those of the first to the stream; a tail takes its graph's place.
  unsigned end_of_graph(int graph)
  {
    unsigned end = last_number[graphs[graph].nodes.back()];
    for (int c : graphs[graph].children) {
      if (graphs[c].into != SIBLING) end = std::max(end, end_of_graph(c));
      if (graphs[c].into == FORGOTTEN) end = std::max(end, end_of_siblings(c));
    }
    return end;
  }
  unsigned end_of_siblings(int graph) // of those that it asked for, and of theirs
  {
    unsigned end = 0;
    for (int c : graphs[graph].children) {
      if (graphs[c].into == SIBLING) end = std::max(end, end_of_graph(c));
      if (graphs[c].into != FORGOTTEN) end = std::max(end, end_of_siblings(c));
    }
    return end;
  }
  void check_graphs()
  {
    for (int id = 0; id < (int)graphs.size(); id++) {
      const Graph &g = graphs[id];
      for (size_t i = 1; i < g.nodes.size(); i++) CHECK(last_number[g.nodes[i - 1]] < first_number[g.nodes[i]]);
      if (g.launcher >= 0) CHECK(first_number[g.launcher] < first_number[g.nodes[0]]);
      if (g.into != TAIL) continue;
      const Graph &p = graphs[g.parent];
      const unsigned begins = first_number[g.nodes[0]];
      CHECK(last_number[p.nodes.back()] < begins);
      for (int other : p.children) {
        if (graphs[other].into == FORGOTTEN) CHECK(std::max(end_of_graph(other), end_of_siblings(other)) < begins);
        if (graphs[other].into != TAIL || other >= id) continue;
        const bool in_order = end_of_graph(other) < begins, same = graphs[other].launcher == g.launcher;
        if (!same || graphs[other].thread == g.thread) CHECK(in_order);
        else CHECK(in_order || end_of_graph(id) < first_number[graphs[other].nodes[0]]);
      }
    }
  }
};

int main(int argc, char **argv)
{
  const unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 1, programs = argc > 2 ? (unsigned)atoi(argv[2]) : 4;
  const unsigned most = argc > 3 ? (unsigned)atoi(argv[3]) : 30;
  talks = argc > 4;
  for (unsigned seed = first; seed < first + programs; seed++) {
    printf("seed %u\n", seed), fflush(stdout);
    if (seed % 3) Program(seed, most).run();
    else Program(seed, most).run_graphs();
  }
  printf("%u programs right\n", programs);
}
