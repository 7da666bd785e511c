// Random programs of graphs: kernels, copies (also to and from variables), fills, functions of the host, empty nodes, child graphs, memory of the
// graph, conditional nodes inside of each other; built by each family of calls or captured into a graph that exists. Graphs are cloned, their nodes
// changed, removed and added; executable graphs get other parameters one by one or by an update, nodes are switched off and on, a graph is
// destroyed before what was made of it runs. Nodes that touch the same memory are ordered by edges that are there already or one more; a node
// says at its birth which areas it may ever touch, and other parameters stay within them. The CPU carries out the nodes in the order in which
// they were added. Arguments: first seed, programs, steps of each; one more and every step is printed.
#include "check.h"
#include "random.h"
#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>
#include <memory>
#include <set>
#include <vector>

enum { WORDS = 256, CTA = 64, CHOICES = 2, MOST_BODIES = 3, STREAMS = 3 };
enum Place { DEVICE, PINNED, MANAGED, VARIABLE };
enum Kind { KERNEL, COPY, COPY_2D, TO_VARIABLE, FROM_VARIABLE, FILL, FILL_2D, HOST, EMPTY, CHILD, MEMORY, CONDITIONAL, KINDS };

struct Area {
  Place place;
  uint32_t *at;
  std::vector<uint32_t> model;
};
// What a node does now. Words [first, first + words) of dst; sources from word `from` on.
struct Work {
  int dst, src;
  unsigned first, from, words, ctas, factor, size; // size of a fill's elements
  bool other;                                      // the second of the two kernels
};
struct HostCall {
  uint32_t *dst, *src;
  Work work;
};
struct Template;
struct Node {
  Kind kind;
  cudaGraphNode_t first, last; // the same but where several make one of ours
  int dst[CHOICES], src[CHOICES];
  Work work;
  bool on;
  cudaGraphConditionalNodeType type;
  std::vector<std::shared_ptr<Template>> parts; // the child, the bodies
  std::set<size_t> behind;                      // edges from these nodes
};
struct Template {
  cudaGraph_t graph;
  std::vector<Node> nodes;
  bool plain = true; // neither memory nor conditions: may be cloned, be a child, and become executable more than once
  unsigned shape = 0; // another number after each change of nodes or edges
  bool made = false;
};
struct Executable {
  cudaGraphExec_t exec;
  std::shared_ptr<Template> from; // null: destroyed
  std::vector<Node> nodes;
  unsigned shape;
};

__device__ uint32_t variable[WORDS];

__global__ void mix(uint32_t *dst, const uint32_t *src, Work w)
{
  for (unsigned i = blockIdx.x * CTA + threadIdx.x; i < w.words; i += w.ctas * CTA)
    dst[w.first + i] = dst[w.first + i] * w.factor + src[(w.from + i) % WORDS];
}
__global__ void weave(uint32_t *dst, const uint32_t *src, Work w)
{
  for (unsigned i = blockIdx.x * CTA + threadIdx.x; i < w.words; i += w.ctas * CTA)
    dst[w.first + i] ^= src[(w.from + 3 * i) % WORDS] + w.factor;
}
__global__ void decide(cudaGraphConditionalHandle h, const uint32_t *src, uint32_t *count, unsigned word, unsigned values)
{
  *count = src[word] % values;
  cudaGraphSetConditional(h, *count);
}
__global__ void count_down(cudaGraphConditionalHandle h, uint32_t *count)
{
  if (--*count == 0) cudaGraphSetConditional(h, 0);
}

static void host_function(void *data)
{
  HostCall *call = (HostCall *)data;
  for (unsigned i = 0; i < call->work.words; i++)
    call->dst[call->work.first + i] = call->dst[call->work.first + i] * call->work.factor + call->src[(call->work.from + i) % WORDS];
}

static bool talks;

class Program {
public:
  explicit Program(unsigned seed) : random(seed)
  {
    for (cudaStream_t &s : stream) CUDA(cudaStreamCreate(&s));
    for (int i = 0; i < 5; i++) add_area(DEVICE);
    for (int i = 0; i < 3; i++) add_area(PINNED);
    for (int i = 0; i < 2; i++) add_area(MANAGED);
    add_area(VARIABLE);
  }

  void run(unsigned steps)
  {
    for (unsigned i = 0; i < steps; i++) step();
    compare();
    while (!executables.empty()) drop_executable(0);
    while (!templates.empty()) drop_template(0);
    for (cudaGraph_t child : children) CUDA(cudaGraphDestroy(child));
    for (HostCall *call : calls) delete call;
    for (Area &a : areas)
      if (a.place == PINNED) CUDA(cudaFreeHost(a.at));
      else if (a.place != VARIABLE) CUDA(cudaFree(a.at));
    for (uint32_t *count : counts) CUDA(cudaFree(count));
    for (cudaStream_t s : stream) CUDA(cudaStreamDestroy(s));
  }

private:
  Random random;
  cudaStream_t stream[STREAMS], last = nullptr;
  std::vector<Area> areas;
  std::vector<std::shared_ptr<Template>> templates;
  std::vector<Executable> executables;
  std::vector<HostCall *> calls; // functions of graphs that may still run
  std::vector<uint32_t *> counts;
  std::vector<cudaGraph_t> children; // that nodes have copies of

  unsigned below(unsigned n) { return random.next() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }

  void add_area(Place place)
  {
    Area area = {place, nullptr, std::vector<uint32_t>(WORDS)};
    for (uint32_t &word : area.model) word = random.next();
    if (place == DEVICE) CUDA(cudaMalloc(&area.at, WORDS * 4));
    if (place == PINNED) CUDA(cudaMallocHost(&area.at, WORDS * 4));
    if (place == MANAGED) CUDA(cudaMallocManaged(&area.at, WORDS * 4));
    if (place == VARIABLE) CUDA(cudaGetSymbolAddress((void **)&area.at, variable));
    CUDA(cudaMemcpy(area.at, area.model.data(), WORDS * 4, cudaMemcpyDefault));
    areas.push_back(area);
  }
  int area_of(bool body)
  {
    for (;;) {
      const int a = (int)below((unsigned)areas.size());
      if (!body || areas[a].place == DEVICE || areas[a].place == PINNED) return a;
    }
  }
  int area_at(Place place)
  {
    for (;;) {
      const int a = (int)below((unsigned)areas.size());
      if (areas[a].place == place) return a;
    }
  }

  // --- What nodes do ------------------------------------------------------------------------------------------

  void draw_work(Node &n)
  {
    Work &w = n.work;
    w.dst = n.dst[below(CHOICES)], w.src = n.src[below(CHOICES)];
    w.words = 1 + below(WORDS), w.first = below(WORDS - w.words + 1);
    w.from = n.kind == KERNEL || n.kind == HOST ? below(WORDS) : below(WORDS - w.words + 1);
    w.ctas = 1 + below(4), w.factor = random.next(), w.other = chance(50), w.size = 1u << below(3);
  }

  void carry_out(const Node &n)
  {
    const Work &w = n.work;
    if (!n.on) return;
    if (n.kind == EMPTY) return;
    if (n.kind == CHILD) return carry_out(n.parts[0]->nodes);
    if (n.kind == CONDITIONAL) return carry_out_parts(n);
    uint32_t *dst = areas[w.dst].model.data();
    const std::vector<uint32_t> src = areas[w.src].model;
    uint8_t *bytes = (uint8_t *)dst;
    const uint32_t value = w.factor;
    switch (n.kind) {
    case KERNEL:
    case MEMORY:
    case HOST:
      for (unsigned i = 0; i < w.words; i++) {
        if (n.kind == KERNEL && w.other) dst[w.first + i] ^= src[(w.from + 3 * i) % WORDS] + w.factor;
        else dst[w.first + i] = dst[w.first + i] * w.factor + src[(w.from + i) % WORDS];
      }
      break;
    case COPY:
    case TO_VARIABLE:
    case FROM_VARIABLE: memcpy(dst + w.first, src.data() + w.from, w.words * 4); break;
    case COPY_2D:
      for (unsigned r = 0; r < 8; r++) memcpy(bytes + r * 128 + 4, (const uint8_t *)src.data() + r * 64 + 3, 37);
      break;
    case FILL:
      for (unsigned i = 0; i < w.words; i++) memcpy(bytes + w.first * 4 + i * w.size, &value, w.size);
      break;
    default:
      for (unsigned r = 0; r < 8; r++)
        for (unsigned i = 0; i < 7; i++) memcpy(bytes + r * 128 + i * w.size, &value, w.size);
    }
  }
  void carry_out(const std::vector<Node> &nodes)
  {
    for (const Node &n : nodes) carry_out(n);
  }
  void carry_out_parts(const Node &n)
  {
    const uint32_t value = areas[n.work.src].model[n.work.from] % n.work.factor;
    if (n.type == cudaGraphCondTypeWhile) {
      for (uint32_t i = 0; i < value; i++) carry_out(n.parts[0]->nodes);
    } else if (n.type == cudaGraphCondTypeSwitch) {
      if (value < n.parts.size()) carry_out(n.parts[value]->nodes);
    } else if (value) {
      carry_out(n.parts[0]->nodes);
    } else if (n.parts.size() > 1) {
      carry_out(n.parts[1]->nodes);
    }
  }

  // --- Parameters of nodes --------------------------------------------------------------------------------------

  struct Launch {
    uint32_t *dst, *src;
    Work work;
    void *args[3] = {&dst, &src, &work};
  };
  cudaKernelNodeParams kernel_parameters(const Work &w, Launch &at)
  {
    at.dst = areas[w.dst].at, at.src = areas[w.src].at, at.work = w;
    cudaKernelNodeParams p = {};
    p.func = w.other ? (void *)weave : (void *)mix;
    p.gridDim = dim3(w.ctas), p.blockDim = dim3(CTA), p.kernelParams = at.args;
    return p;
  }
  static cudaGraphNodeParams generic(const cudaKernelNodeParams &k)
  {
    cudaGraphNodeParams p = {cudaGraphNodeTypeKernel};
    p.kernel.func = k.func, p.kernel.gridDim = k.gridDim, p.kernel.blockDim = k.blockDim, p.kernel.kernelParams = k.kernelParams;
    return p;
  }
  cudaMemcpy3DParms copy_parameters(const Node &n)
  {
    const Work &w = n.work;
    cudaMemcpy3DParms p = {};
    p.kind = cudaMemcpyDefault;
    if (n.kind == COPY_2D) {
      p.srcPtr = make_cudaPitchedPtr(areas[w.src].at, 64, 64, 8), p.dstPtr = make_cudaPitchedPtr(areas[w.dst].at, 128, 128, 8);
      p.srcPos.x = 3, p.dstPos.x = 4, p.extent = make_cudaExtent(37, 8, 1);
    } else {
      p.srcPtr = make_cudaPitchedPtr(areas[w.src].at + w.from, w.words * 4, w.words * 4, 1);
      p.dstPtr = make_cudaPitchedPtr(areas[w.dst].at + w.first, w.words * 4, w.words * 4, 1);
      p.extent = make_cudaExtent(w.words * 4, 1, 1);
    }
    return p;
  }
  cudaMemsetParams fill_parameters(const Node &n)
  {
    const Work &w = n.work;
    cudaMemsetParams p = {};
    p.dst = (char *)areas[w.dst].at + (n.kind == FILL ? w.first * 4 : 0), p.elementSize = w.size;
    p.value = w.size == 4 ? w.factor : w.factor & ((1u << 8 * w.size) - 1);
    p.width = n.kind == FILL ? w.words : 7, p.height = n.kind == FILL ? 1 : 8, p.pitch = n.kind == FILL ? 0 : 128;
    return p;
  }
  // The CPU's fills take the low bytes, which is the same.
  cudaHostNodeParams host_parameters(const Work &w)
  {
    HostCall *call = new HostCall{areas[w.dst].at, areas[w.src].at, w};
    calls.push_back(call);
    return {host_function, call};
  }

  // --- Nodes are added ------------------------------------------------------------------------------------------

  void touches(const Node &n, std::set<int> &reads, std::set<int> &writes)
  {
    for (const std::shared_ptr<Template> &part : n.parts)
      for (const Node &inner : part->nodes) touches(inner, reads, writes);
    if (n.kind == EMPTY || n.kind == CHILD) return;
    reads.insert(n.src, n.src + CHOICES);
    if (n.kind != CONDITIONAL) writes.insert(n.dst, n.dst + CHOICES);
  }
  static bool meet(const std::set<int> &a, const std::set<int> &b)
  {
    for (int x : a)
      if (b.count(x)) return true;
    return false;
  }
  bool conflict(const Node &a, const Node &b)
  {
    std::set<int> reads[2], writes[2];
    touches(a, reads[0], writes[0]), touches(b, reads[1], writes[1]);
    return meet(writes[0], writes[1]) || meet(writes[0], reads[1]) || meet(reads[0], writes[1]);
  }
  static bool reaches(const std::vector<Node> &nodes, size_t from, size_t to)
  {
    if (from == to) return true;
    for (size_t b : nodes[to].behind)
      if (b >= from && reaches(nodes, from, b)) return true;
    return false;
  }
  // The edges that node `at`, the last one, needs, and some that it does not.
  void draw_edges(std::vector<Node> &nodes, size_t at)
  {
    for (size_t i = at; i-- > 0;)
      if ((conflict(nodes[i], nodes[at]) || chance(8)) && !reaches(nodes, i, at)) nodes[at].behind.insert(i);
    for (size_t i = 0; i < at; i++)
      if (chance(4)) nodes[at].behind.insert(i);
  }

  void draw_places(Node &n, bool body)
  {
    for (int i = 0; i < CHOICES; i++) n.dst[i] = area_of(body), n.src[i] = area_of(body);
    if (n.kind == HOST)
      for (int i = 0; i < CHOICES; i++) n.dst[i] = area_at(chance(70) ? PINNED : MANAGED), n.src[i] = area_at(chance(70) ? PINNED : MANAGED);
    if (n.kind == TO_VARIABLE || n.kind == FROM_VARIABLE)
      (n.kind == TO_VARIABLE ? n.dst : n.src)[0] = (n.kind == TO_VARIABLE ? n.dst : n.src)[1] = (int)areas.size() - 1;
    if (n.kind >= COPY && n.kind <= FILL_2D && n.kind != TO_VARIABLE) n.dst[1] = area_at(areas[n.dst[0]].place); // an executable's copies and
    if (n.kind >= COPY && n.kind <= FILL_2D && n.kind != FROM_VARIABLE) n.src[1] = area_at(areas[n.src[0]].place); // fills keep the kind of memory
    while (n.kind <= HOST && n.kind != FILL && n.kind != FILL_2D && overlap(n)) {
      int *free_end = n.kind == TO_VARIABLE ? n.src : n.dst;
      free_end[0] = n.kind == HOST ? area_at(chance(70) ? PINNED : MANAGED) : area_of(body), free_end[1] = area_at(areas[free_end[0]].place);
      if (n.kind == HOST) n.src[0] = n.src[1];
    }
    draw_work(n);
  }
  static bool overlap(const Node &n)
  {
    for (int d : n.dst)
      for (int s : n.src)
        if (d == s) return true;
    return false;
  }

  std::vector<cudaGraphNode_t> handles_behind(const std::vector<Node> &nodes, const Node &n)
  {
    std::vector<cudaGraphNode_t> handles;
    for (size_t b : n.behind) handles.push_back(nodes[b].last);
    return handles;
  }

  Kind draw_kind(int depth, bool body, bool child)
  {
    for (;;) {
      const Kind kind = (Kind)below(KINDS);
      if (body && (kind == HOST || kind == MEMORY || kind == TO_VARIABLE || kind == FROM_VARIABLE)) continue;
      if (child && (kind == MEMORY || kind == CONDITIONAL)) continue;
      if ((kind == CHILD || kind == CONDITIONAL) && (depth >= 2 || chance(40))) continue;
      return kind;
    }
  }

  // Adds a node of the kind behind what it needs. body: inside of a conditional node; child: for a child graph.
  void add_node(Template &t, int depth, bool body, bool child)
  {
    Node n = {};
    n.kind = draw_kind(depth, body, child);
    if (n.kind == CHILD && chance(50) && depth > 0) n.kind = KERNEL;
    n.on = true;
    draw_places(n, body);
    if (n.kind == CHILD) {
      n.parts.push_back(new_template(depth + 1, body, true, nullptr));
      children.push_back(n.parts[0]->graph);
    }
    t.nodes.push_back(n);
    Node &made = t.nodes.back();
    if (n.kind == CONDITIONAL) return add_conditional(t, depth);
    draw_edges(t.nodes, t.nodes.size() - 1);
    const std::vector<cudaGraphNode_t> behind = handles_behind(t.nodes, made);
    make_node(t, made, behind.data(), behind.size());
  }

  void make_node(Template &t, Node &n, const cudaGraphNode_t *behind, size_t edges)
  {
    const Work &w = n.work;
    const bool general = chance(40);
    cudaGraphNode_t *node = &n.first;
    cudaGraphNodeParams g = {};
    if (n.kind == KERNEL) {
      Launch at;
      const cudaKernelNodeParams p = kernel_parameters(w, at);
      g = generic(p);
      if (general) CUDA(cudaGraphAddNode(node, t.graph, behind, nullptr, edges, &g));
      else CUDA(cudaGraphAddKernelNode(node, t.graph, behind, edges, &p));
    } else if (n.kind == COPY && !general) {
      CUDA(cudaGraphAddMemcpyNode1D(node, t.graph, behind, edges, areas[w.dst].at + w.first, areas[w.src].at + w.from, w.words * 4, cudaMemcpyDefault));
    } else if (n.kind == COPY || n.kind == COPY_2D) {
      const cudaMemcpy3DParms p = copy_parameters(n);
      g.type = cudaGraphNodeTypeMemcpy, g.memcpy.copyParams = p;
      if (chance(50)) CUDA(cudaGraphAddNode(node, t.graph, behind, nullptr, edges, &g));
      else CUDA(cudaGraphAddMemcpyNode(node, t.graph, behind, edges, &p));
    } else if (n.kind == TO_VARIABLE) {
      CUDA(cudaGraphAddMemcpyNodeToSymbol(node, t.graph, behind, edges, variable, areas[w.src].at + w.from, w.words * 4, w.first * 4, cudaMemcpyDefault));
    } else if (n.kind == FROM_VARIABLE) {
      CUDA(cudaGraphAddMemcpyNodeFromSymbol(node, t.graph, behind, edges, areas[w.dst].at + w.first, variable, w.words * 4, w.from * 4, cudaMemcpyDefault));
    } else if (n.kind == FILL || n.kind == FILL_2D) {
      const cudaMemsetParams p = fill_parameters(n);
      g.type = cudaGraphNodeTypeMemset, g.memset = {p.dst, p.pitch, p.value, p.elementSize, p.width, p.height};
      if (general) CUDA(cudaGraphAddNode(node, t.graph, behind, nullptr, edges, &g));
      else CUDA(cudaGraphAddMemsetNode(node, t.graph, behind, edges, &p));
    } else if (n.kind == HOST) {
      const cudaHostNodeParams p = host_parameters(w);
      g.type = cudaGraphNodeTypeHost, g.host = {p.fn, p.userData};
      if (general) CUDA(cudaGraphAddNode(node, t.graph, behind, nullptr, edges, &g));
      else CUDA(cudaGraphAddHostNode(node, t.graph, behind, edges, &p));
    } else if (n.kind == EMPTY) {
      CUDA(cudaGraphAddEmptyNode(node, t.graph, behind, edges));
    } else if (n.kind == CHILD) {
      CUDA(cudaGraphAddChildGraphNode(node, t.graph, behind, edges, n.parts[0]->graph));
    } else {
      return add_memory(t, n, behind, edges);
    }
    n.last = n.first;
  }

  // Memory of the graph: what is there is copied into it, and mixed from there.
  void add_memory(Template &t, Node &n, const cudaGraphNode_t *behind, size_t edges)
  {
    cudaGraphNode_t copy, use;
    cudaMemAllocNodeParams a = {};
    Launch at;
    Work w = n.work;
    w.other = false;
    a.poolProps.allocType = cudaMemAllocationTypePinned, a.poolProps.location.type = cudaMemLocationTypeDevice, a.bytesize = WORDS * 4;
    CUDA(cudaGraphAddMemAllocNode(&n.first, t.graph, behind, edges, &a));
    CUDA(cudaGraphAddMemcpyNode1D(&copy, t.graph, &n.first, 1, a.dptr, areas[w.src].at, WORDS * 4, cudaMemcpyDefault));
    cudaKernelNodeParams p = kernel_parameters(w, at);
    at.src = (uint32_t *)a.dptr;
    CUDA(cudaGraphAddKernelNode(&use, t.graph, &copy, 1, &p));
    CUDA(cudaGraphAddMemFreeNode(&n.last, t.graph, &use, 1, a.dptr));
    t.plain = false;
  }

  // A kernel that decides, and the conditional node.
  void add_conditional(Template &t, int depth)
  {
    static const cudaGraphConditionalNodeType types[] = {cudaGraphCondTypeIf, cudaGraphCondTypeWhile, cudaGraphCondTypeSwitch};
    const size_t at = t.nodes.size() - 1;
    cudaGraphConditionalHandle h;
    uint32_t *count;
    cudaGraphNodeParams c = {cudaGraphNodeTypeConditional};
    CUDA(cudaMalloc(&count, sizeof *count));
    counts.push_back(count);
    CUDA(cudaGraphConditionalHandleCreate(&h, t.graph, below(3), cudaGraphCondAssignDefault));
    t.nodes[at].type = types[below(3)];
    c.conditional.handle = h, c.conditional.type = t.nodes[at].type;
    c.conditional.size = c.conditional.type == cudaGraphCondTypeWhile ? 1 : c.conditional.type == cudaGraphCondTypeIf ? 1 + below(2) : 1 + below(MOST_BODIES);
    t.nodes[at].work.factor = 1 + below(4), t.nodes[at].work.from = below(WORDS);
    // Its bodies are made before its edges are known: it is behind all that there is for now.
    for (size_t i = 0; i < at; i++)
      if (!reaches(t.nodes, i, at)) t.nodes[at].behind.insert(i);
    const std::vector<cudaGraphNode_t> behind = handles_behind(t.nodes, t.nodes[at]);
    const Work &w = t.nodes[at].work;
    const uint32_t *src = areas[w.src].at;
    void *args[] = {&h, &src, &count, (void *)&w.from, (void *)&w.factor};
    cudaKernelNodeParams k = {};
    k.func = (void *)decide, k.gridDim = k.blockDim = dim3(1), k.kernelParams = args;
    CUDA(cudaGraphAddKernelNode(&t.nodes[at].first, t.graph, behind.data(), behind.size(), &k));
    CUDA(cudaGraphAddNode(&t.nodes[at].last, t.graph, &t.nodes[at].first, nullptr, 1, &c));
    for (unsigned i = 0; i < c.conditional.size; i++) t.nodes[at].parts.push_back(new_template(depth + 1, true, false, c.conditional.phGraph_out[i]));
    if (t.nodes[at].type == cudaGraphCondTypeWhile) add_count_down(*t.nodes[at].parts[0], h, count);
    t.plain = false;
  }
  void add_count_down(Template &body, cudaGraphConditionalHandle h, uint32_t *count)
  {
    std::vector<cudaGraphNode_t> all;
    for (const Node &n : body.nodes) all.push_back(n.last);
    cudaGraphNode_t node;
    void *args[] = {&h, &count};
    cudaKernelNodeParams k = {};
    k.func = (void *)count_down, k.gridDim = k.blockDim = dim3(1), k.kernelParams = args;
    CUDA(cudaGraphAddKernelNode(&node, body.graph, all.data(), all.size(), &k));
  }

  // graph: where it goes; null: a new one.
  std::shared_ptr<Template> new_template(int depth, bool body, bool child, cudaGraph_t graph)
  {
    std::shared_ptr<Template> t = std::make_shared<Template>();
    t->graph = graph;
    if (!graph) CUDA(cudaGraphCreate(&t->graph, 0));
    const unsigned nodes = depth ? 1 + below(4) : 2 + below(9);
    for (unsigned i = 0; i < nodes; i++) add_node(*t, depth, body, child);
    return t;
  }

  // --- What is looked at and changed ----------------------------------------------------------------------------

  static size_t nodes_of(const Node &n) { return n.kind == MEMORY ? 4 : n.kind == CONDITIONAL ? 2 : 1; }

  void look_at(const Template &t)
  {
    size_t want_nodes = 0, want_edges = 0, nodes = 0, edges = 0, roots = 0, want_roots = 0;
    for (const Node &n : t.nodes) want_nodes += nodes_of(n), want_edges += nodes_of(n) - 1 + n.behind.size(), want_roots += n.behind.empty();
    CUDA(cudaGraphGetNodes(t.graph, nullptr, &nodes));
    CUDA(cudaGraphGetEdges(t.graph, nullptr, nullptr, nullptr, &edges));
    CUDA(cudaGraphGetRootNodes(t.graph, nullptr, &roots));
    CHECK(nodes == want_nodes && edges == want_edges && roots == want_roots);
    for (const Node &n : t.nodes) {
      size_t behind = 0;
      CUDA(cudaGraphNodeGetDependencies(n.first, nullptr, nullptr, &behind));
      CHECK(behind == n.behind.size());
      std::vector<cudaGraphNode_t> got(behind);
      if (behind) CUDA(cudaGraphNodeGetDependencies(n.first, got.data(), nullptr, &behind));
      std::set<cudaGraphNode_t> set(got.begin(), got.end());
      for (size_t b : n.behind) CHECK(set.count(t.nodes[b].last));
      if (n.kind == KERNEL) look_at_kernel(n);
      if (n.kind == FILL) {
        cudaMemsetParams p;
        const cudaMemsetParams want = fill_parameters(n);
        CUDA(cudaGraphMemsetNodeGetParams(n.first, &p));
        CHECK(p.dst == want.dst && p.value == want.value && p.elementSize == want.elementSize && p.width == want.width && p.height == want.height);
      }
    }
  }
  void look_at_kernel(const Node &n)
  {
    cudaKernelNodeParams p;
    CUDA(cudaGraphKernelNodeGetParams(n.first, &p));
    CHECK(p.func == (n.work.other ? (void *)weave : (void *)mix) && p.gridDim.x == n.work.ctas && p.blockDim.x == CTA);
    CHECK(*(uint32_t **)p.kernelParams[0] == areas[n.work.dst].at && ((Work *)p.kernelParams[2])->factor == n.work.factor);
  }

  static bool changeable(const Node &n) { return n.kind <= HOST && n.kind != COPY_2D && n.kind != FILL_2D; }

  // Another draw for a node of a template, or (exec) of an executable graph.
  void change(Node &n, cudaGraphExec_t exec)
  {
    const unsigned size = n.work.size;
    draw_work(n);
    if (exec && n.kind == FILL && chance(50)) n.work.size = size;
    const Work &w = n.work;
    const bool general = chance(35);
    cudaGraphNodeParams g = {};
    if (n.kind == KERNEL) {
      Launch at;
      const cudaKernelNodeParams p = kernel_parameters(w, at);
      g = generic(p);
      if (general) CUDA(exec ? cudaGraphExecNodeSetParams(exec, n.first, &g) : cudaGraphNodeSetParams(n.first, &g));
      else CUDA(exec ? cudaGraphExecKernelNodeSetParams(exec, n.first, &p) : cudaGraphKernelNodeSetParams(n.first, &p));
    } else if (n.kind == COPY && general) {
      const cudaMemcpy3DParms p = copy_parameters(n);
      g.type = cudaGraphNodeTypeMemcpy, g.memcpy.copyParams = p;
      if (chance(50)) CUDA(exec ? cudaGraphExecNodeSetParams(exec, n.first, &g) : cudaGraphNodeSetParams(n.first, &g));
      else CUDA(exec ? cudaGraphExecMemcpyNodeSetParams(exec, n.first, &p) : cudaGraphMemcpyNodeSetParams(n.first, &p));
    } else if (n.kind == COPY) {
      uint32_t *dst = areas[w.dst].at + w.first, *src = areas[w.src].at + w.from;
      CUDA(exec ? cudaGraphExecMemcpyNodeSetParams1D(exec, n.first, dst, src, w.words * 4, cudaMemcpyDefault)
                : cudaGraphMemcpyNodeSetParams1D(n.first, dst, src, w.words * 4, cudaMemcpyDefault));
    } else if (n.kind == TO_VARIABLE) {
      uint32_t *src = areas[w.src].at + w.from;
      CUDA(exec ? cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, n.first, variable, src, w.words * 4, w.first * 4, cudaMemcpyDefault)
                : cudaGraphMemcpyNodeSetParamsToSymbol(n.first, variable, src, w.words * 4, w.first * 4, cudaMemcpyDefault));
    } else if (n.kind == FROM_VARIABLE) {
      uint32_t *dst = areas[w.dst].at + w.first;
      CUDA(exec ? cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, n.first, dst, variable, w.words * 4, w.from * 4, cudaMemcpyDefault)
                : cudaGraphMemcpyNodeSetParamsFromSymbol(n.first, dst, variable, w.words * 4, w.from * 4, cudaMemcpyDefault));
    } else if (n.kind == FILL) {
      const cudaMemsetParams p = fill_parameters(n);
      g.type = cudaGraphNodeTypeMemset, g.memset = {p.dst, p.pitch, p.value, p.elementSize, p.width, p.height};
      if (general) CUDA(exec ? cudaGraphExecNodeSetParams(exec, n.first, &g) : cudaGraphNodeSetParams(n.first, &g));
      else CUDA(exec ? cudaGraphExecMemsetNodeSetParams(exec, n.first, &p) : cudaGraphMemsetNodeSetParams(n.first, &p));
    } else {
      const cudaHostNodeParams p = host_parameters(w);
      g.type = cudaGraphNodeTypeHost, g.host = {p.fn, p.userData};
      if (general) CUDA(exec ? cudaGraphExecNodeSetParams(exec, n.first, &g) : cudaGraphNodeSetParams(n.first, &g));
      else CUDA(exec ? cudaGraphExecHostNodeSetParams(exec, n.first, &p) : cudaGraphHostNodeSetParams(n.first, &p));
    }
  }

  void change_some(std::vector<Node> &nodes, cudaGraphExec_t exec)
  {
    for (Node &n : nodes)
      if (changeable(n) && chance(40)) change(n, exec);
  }

  // The node goes; what was behind it is behind what it was behind.
  void remove_node(Template &t, size_t at)
  {
    for (size_t i = at + 1; i < t.nodes.size(); i++) {
      if (!t.nodes[i].behind.count(at)) continue;
      for (size_t b : t.nodes[at].behind)
        if (t.nodes[i].behind.insert(b).second) CUDA(cudaGraphAddDependencies(t.graph, &t.nodes[b].last, &t.nodes[i].first, nullptr, 1));
      if (chance(50)) CUDA(cudaGraphRemoveDependencies(t.graph, &t.nodes[at].last, &t.nodes[i].first, nullptr, 1));
    }
    CUDA(cudaGraphDestroyNode(t.nodes[at].first));
    t.nodes.erase(t.nodes.begin() + (long)at);
    for (Node &n : t.nodes) {
      std::set<size_t> kept;
      for (size_t b : n.behind)
        if (b != at) kept.insert(b > at ? b - 1 : b);
      n.behind = kept;
    }
    t.shape++;
  }

  // An edge that no order hangs on goes, one that agrees with all orders comes.
  void change_edges(Template &t)
  {
    for (size_t at = 0; at < t.nodes.size(); at++) {
      Node &n = t.nodes[at];
      for (size_t b = 0; b < at; b++) {
        if (n.behind.count(b) && chance(20)) {
          n.behind.erase(b);
          if (!orders(t)) {
            n.behind.insert(b);
            continue;
          }
          CUDA(cudaGraphRemoveDependencies(t.graph, &t.nodes[b].last, &n.first, nullptr, 1));
          t.shape++;
        } else if (!n.behind.count(b) && chance(5)) {
          n.behind.insert(b);
          CUDA(cudaGraphAddDependencies(t.graph, &t.nodes[b].last, &n.first, nullptr, 1));
          t.shape++;
        }
      }
    }
  }
  bool orders(const Template &t)
  {
    for (size_t j = 0; j < t.nodes.size(); j++)
      for (size_t i = 0; i < j; i++)
        if (conflict(t.nodes[i], t.nodes[j]) && !reaches(t.nodes, i, j)) return false;
    return true;
  }

  // --- Steps ------------------------------------------------------------------------------------------------------

  static std::vector<Node> deep(const std::vector<Node> &nodes)
  {
    std::vector<Node> copy = nodes;
    for (Node &n : copy)
      for (std::shared_ptr<Template> &part : n.parts) {
        part = std::make_shared<Template>(*part);
        part->nodes = deep(part->nodes);
      }
    return copy;
  }

  static void find_in_clone(Template &c)
  {
    for (Node &n : c.nodes) {
      CUDA(cudaGraphNodeFindInClone(&n.first, n.first, c.graph));
      n.last = n.first;
    }
  }

  void clone(const Template &t)
  {
    std::shared_ptr<Template> c = std::make_shared<Template>(t);
    c->nodes = deep(t.nodes), c->shape = 0;
    CUDA(cudaGraphClone(&c->graph, t.graph));
    find_in_clone(*c);
    templates.push_back(c);
    look_at(*c);
  }

  void instantiate(std::shared_ptr<Template> t)
  {
    Executable x = {nullptr, t, deep(t->nodes), t->shape};
    const unsigned way = below(3);
    if (way == 0) CUDA(cudaGraphInstantiate(&x.exec, t->graph, 0));
    else if (way == 1) CUDA(cudaGraphInstantiateWithFlags(&x.exec, t->graph, cudaGraphInstantiateFlagUseNodePriority));
    else {
      cudaGraphInstantiateParams p = {};
      p.flags = cudaGraphInstantiateFlagUpload, p.uploadStream = stream[0];
      CUDA(cudaGraphInstantiateWithParams(&x.exec, t->graph, &p));
      CHECK(p.result_out == cudaGraphInstantiateSuccess);
    }
    t->made = true;
    executables.push_back(x);
  }

  void launch(Executable &x)
  {
    const cudaStream_t s = stream[below(STREAMS)];
    if (last && last != s) {
      cudaEvent_t event;
      CUDA(cudaEventCreate(&event));
      CUDA(cudaEventRecord(event, last));
      CUDA(cudaStreamWaitEvent(s, event, 0));
      CUDA(cudaEventDestroy(event));
    }
    CUDA(cudaGraphLaunch(x.exec, s));
    last = s;
    carry_out(x.nodes);
  }

  void update(Executable &x)
  {
    cudaGraphExecUpdateResultInfo info;
    const bool grown = x.from->nodes.size() != x.nodes.size();
    if (!grown && x.shape != x.from->shape) return; // whether the shape is another one is not known here
    for (Node &n : x.nodes) {
      if (!n.on && grown) return; // what it is called is not known either
      if (!n.on) CUDA(cudaGraphNodeSetEnabled(x.exec, n.first, 1));
      n.on = true;
    }
    const cudaError_t status = cudaGraphExecUpdate(x.exec, x.from->graph, &info);
    CHECK(status == (grown ? cudaErrorGraphExecUpdateFailure : cudaSuccess));
    CHECK((info.result == cudaGraphExecUpdateSuccess) == !grown);
    cudaGetLastError();
    if (!grown) x.nodes = deep(x.from->nodes);
  }

  // A child of an executable graph becomes a clone of its graph with other parameters.
  void change_child(Executable &x)
  {
    for (size_t i = 0; i < x.nodes.size(); i++) {
      Node &n = x.nodes[i];
      if (n.kind != CHILD) continue;
      cudaGraph_t other;
      Template t = *x.from->nodes[i].parts[0];
      CUDA(cudaGraphClone(&other, t.graph));
      t.graph = other, t.nodes = deep(t.nodes);
      find_in_clone(t);
      for (Node &inner : t.nodes)
        if (changeable(inner)) change(inner, nullptr);
      CUDA(cudaGraphExecChildGraphNodeSetParams(x.exec, n.first, other));
      CUDA(cudaGraphDestroy(other));
      *n.parts[0] = t;
      return;
    }
  }

  void switch_nodes(Executable &x)
  {
    for (Node &n : x.nodes) {
      if (n.kind > FILL_2D || n.kind == HOST || !chance(40)) continue;
      unsigned on;
      CUDA(cudaGraphNodeSetEnabled(x.exec, n.first, !n.on));
      n.on = !n.on;
      CUDA(cudaGraphNodeGetEnabled(x.exec, n.first, &on));
      CHECK((on != 0) == n.on);
    }
  }

  // Stream operations go to the end of a graph that there is.
  void capture_into(Template &t)
  {
    const cudaStream_t s = stream[below(STREAMS)];
    std::vector<cudaGraphNode_t> all, now;
    Node n = {};
    std::set<size_t> behind;
    for (size_t i = 0; i < t.nodes.size(); i++) all.push_back(t.nodes[i].last), behind.insert(i);
    size_t nodes = 0, edges = 0;
    CUDA(cudaStreamBeginCaptureToGraph(s, t.graph, all.data(), nullptr, all.size(), cudaStreamCaptureModeRelaxed));
    n.kind = chance(50) ? KERNEL : COPY, n.on = true, n.behind = behind;
    draw_places(n, false);
    const Work &w = n.work;
    if (n.kind == COPY) CUDA(cudaMemcpyAsync(areas[w.dst].at + w.first, areas[w.src].at + w.from, w.words * 4, cudaMemcpyDefault, s));
    else (w.other ? weave : mix)<<<w.ctas, CTA, 0, s>>>(areas[w.dst].at, areas[w.src].at, w);
    cudaGraph_t same;
    CUDA(cudaStreamEndCapture(s, &same));
    CHECK(same == t.graph);
    CUDA(cudaGraphGetNodes(t.graph, nullptr, &nodes));
    now.resize(nodes);
    CUDA(cudaGraphGetNodes(t.graph, now.data(), &nodes));
    for (cudaGraphNode_t node : now) { // the new one is that which nothing is behind
      CUDA(cudaGraphNodeGetDependentNodes(node, nullptr, nullptr, &edges));
      if (edges == 0) n.first = n.last = node;
    }
    t.nodes.push_back(n);
    t.shape++;
  }

  void drop_executable(size_t i)
  {
    CUDA(cudaGraphExecDestroy(executables[i].exec)); // also while it runs
    executables.erase(executables.begin() + (long)i);
  }
  void drop_template(size_t i)
  {
    for (Executable &x : executables)
      if (x.from == templates[i]) x.from = nullptr;
    CUDA(cudaGraphDestroy(templates[i]->graph));
    templates.erase(templates.begin() + (long)i);
  }

  void compare()
  {
    for (cudaStream_t s : stream) CUDA(cudaStreamSynchronize(s));
    for (size_t a = 0; a < areas.size(); a++) {
      uint32_t got[WORDS];
      CUDA(cudaMemcpy(got, areas[a].at, sizeof got, cudaMemcpyDefault));
      for (unsigned i = 0; i < WORDS; i++) {
        if (got[i] == areas[a].model[i]) continue;
        printf("area %zu word %u: %08x, not %08x\n", a, i, got[i], areas[a].model[i]);
        exit(1);
      }
    }
  }

  void say(const char *what, size_t which)
  {
    if (talks) printf("%s %zu\n", what, which), fflush(stdout);
  }

  void step()
  {
    const unsigned what = below(100);
    if (templates.empty() || (what < 12 && templates.size() < 6)) {
      templates.push_back(new_template(0, false, false, nullptr));
      say("a graph:", templates.back()->nodes.size());
      return look_at(*templates.back());
    }
    const size_t t = below((unsigned)templates.size());
    const std::shared_ptr<Template> chosen = templates[t];
    if (executables.empty() || (what < 24 && executables.size() < 8)) {
      if (!chosen->plain && chosen->made) return;
      say("instantiate", t);
      return instantiate(chosen);
    }
    const size_t e = below((unsigned)executables.size());
    Executable &x = executables[e];
    if (what < 50) return say("launch", e), launch(x);
    const bool named = x.from && x.from->shape == x.shape; // the nodes that it was made of are still there
    if (what < 56) return say("change executable", e), named ? change_some(x.nodes, x.exec) : void();
    if (what < 62) return say("switch", e), named ? switch_nodes(x) : void();
    if (what < 68) return say("change graph", t), change_some(chosen->nodes, nullptr), look_at(*chosen);
    if (what < 76) return say("update", e), x.from && x.from->plain ? update(x) : void();
    if (what < 79) return say("child of", e), named ? change_child(x) : void();
    if (what < 82) return say("edges of", t), chosen->plain ? change_edges(*chosen) : void(), look_at(*chosen);
    if (what < 85) return say("remove from", t), remove_some(*chosen), look_at(*chosen);
    if (what < 88) return say("add to", t), add_node(*chosen, 2, false, true), chosen->shape++, look_at(*chosen);
    if (what < 91 && chosen->plain && templates.size() < 8) return say("clone", t), clone(*chosen);
    if (what < 93) return say("capture into", t), capture_into(*chosen), look_at(*chosen);
    if (what < 95) return say("drop graph", t), drop_template(t);
    if (what < 97) return say("drop executable", e), drop_executable(e);
    say("compare", 0);
    compare();
  }

  void remove_some(Template &t)
  {
    const size_t at = below((unsigned)t.nodes.size());
    if (t.nodes.size() > 1 && t.plain) remove_node(t, at); // others refuse it
  }
};

int main(int argc, char **argv)
{
  const unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 1, programs = argc > 2 ? (unsigned)atoi(argv[2]) : 12;
  const unsigned steps = argc > 3 ? (unsigned)atoi(argv[3]) : 60;
  talks = argc > 4;
  for (unsigned seed = first; seed < first + programs; seed++) {
    if (talks) printf("seed %u\n", seed);
    Program(seed).run(steps);
  }
  printf("%u programs of graphs from seed %u on: right\n", programs, first);
}
