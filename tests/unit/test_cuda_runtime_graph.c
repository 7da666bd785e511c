/* Graphs of the runtime interface: nodes named by host functions and host variables, nodes of any type in one call, conditions,
 * memory, listings; and what of this the driver interface writes differently. Expected values: CUDA Runtime API and CUDA Driver API
 * references, sections Graph Management; results by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <unistd.h>

#include "cuda_program.h"

CUresult cudaMalloc(void **, size_t);
CUresult cudaFree(void *);
CUresult cudaMemcpy(void *, const void *, size_t, int);
CUresult cudaMemset(void *, int, size_t);
CUresult cudaDeviceSynchronize(void);
CUresult cudaEventCreate(CUevent *);
CUresult cudaEventDestroy(CUevent);
CUresult cudaGraphCreate(CUgraph *, unsigned);
CUresult cudaGraphDestroy(CUgraph);
CUresult cudaGraphDestroyNode(CUgraphNode);
CUresult cudaGraphGetNodes(CUgraph, CUgraphNode *, size_t *);
CUresult cudaGraphNodeGetType(CUgraphNode, int *);
CUresult cudaGraphAddEmptyNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t);
CUresult cudaGraphAddKernelNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS *);
CUresult cudaGraphKernelNodeGetParams(CUgraphNode, CUDA_KERNEL_NODE_PARAMS *);
CUresult cudaGraphKernelNodeSetParams(CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *);
CUresult cudaGraphExecKernelNodeSetParams(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *);
CUresult cudaGraphKernelNodeGetAttribute(CUgraphNode, int, CUlaunchAttributeValue *);
CUresult cudaGraphKernelNodeSetAttribute(CUgraphNode, int, const CUlaunchAttributeValue *);
CUresult cudaGraphKernelNodeCopyAttributes(CUgraphNode, CUgraphNode);
CUresult cudaGraphAddMemcpyNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const cudaMemcpy3DParms *);
CUresult cudaGraphMemcpyNodeGetParams(CUgraphNode, cudaMemcpy3DParms *);
CUresult cudaGraphMemcpyNodeSetParams(CUgraphNode, const cudaMemcpy3DParms *);
CUresult cudaGraphExecMemcpyNodeSetParams(CUgraphExec, CUgraphNode, const cudaMemcpy3DParms *);
CUresult cudaGraphAddMemcpyNode1D(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, void *, const void *, size_t, int);
CUresult cudaGraphMemcpyNodeSetParams1D(CUgraphNode, void *, const void *, size_t, int);
CUresult cudaGraphExecMemcpyNodeSetParams1D(CUgraphExec, CUgraphNode, void *, const void *, size_t, int);
CUresult cudaGraphAddMemsetNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_MEMSET_NODE_PARAMS *);
CUresult cudaGraphMemsetNodeGetParams(CUgraphNode, CUDA_MEMSET_NODE_PARAMS *);
CUresult cudaGraphExecMemsetNodeSetParams(CUgraphExec, CUgraphNode, const CUDA_MEMSET_NODE_PARAMS *);
CUresult cudaGraphAddMemcpyNodeToSymbol(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const void *, const void *, size_t,
                                        size_t, int);
CUresult cudaGraphAddMemcpyNodeFromSymbol(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, void *, const void *, size_t, size_t,
                                          int);
CUresult cudaGraphMemcpyNodeSetParamsToSymbol(CUgraphNode, const void *, const void *, size_t, size_t, int);
CUresult cudaGraphMemcpyNodeSetParamsFromSymbol(CUgraphNode, void *, const void *, size_t, size_t, int);
CUresult cudaGraphExecMemcpyNodeSetParamsToSymbol(CUgraphExec, CUgraphNode, const void *, const void *, size_t, size_t, int);
CUresult cudaGraphExecMemcpyNodeSetParamsFromSymbol(CUgraphExec, CUgraphNode, void *, const void *, size_t, size_t, int);
CUresult cudaGraphAddNode(CUgraphNode *, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUgraphNodeParams *);
CUresult cudaGraphNodeSetParams(CUgraphNode, CUgraphNodeParams *);
CUresult cudaGraphExecNodeSetParams(CUgraphExec, CUgraphNode, CUgraphNodeParams *);
CUresult cudaGraphConditionalHandleCreate(CUgraphConditionalHandle *, CUgraph, unsigned, unsigned);
CUresult cudaGraphMemAllocNodeGetParams(CUgraphNode, CUDA_MEM_ALLOC_NODE_PARAMS *);
CUresult cudaGraphMemFreeNodeGetParams(CUgraphNode, void *);
CUresult cudaGraphEventRecordNodeGetEvent(CUgraphNode, CUevent *);
CUresult cudaGraphEventWaitNodeGetEvent(CUgraphNode, CUevent *);
CUresult cudaGraphHostNodeGetParams(CUgraphNode, CUDA_HOST_NODE_PARAMS *);
CUresult cudaGraphChildGraphNodeGetGraph(CUgraphNode, CUgraph *);
CUresult cudaGraphInstantiate(CUgraphExec *, CUgraph, unsigned long long);
CUresult cudaGraphInstantiateWithParams(CUgraphExec *, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS *);
CUresult cudaGraphExecGetFlags(CUgraphExec, unsigned long long *);
CUresult cudaGraphUpload(CUgraphExec, CUstream);
CUresult cudaGraphLaunch(CUgraphExec, CUstream);
CUresult cudaGraphExecDestroy(CUgraphExec);
CUresult cudaGraphDebugDotPrint(CUgraph, const char *, unsigned);
CUresult cudaGetSymbolAddress(void **, const void *);
CUresult cuGraphAddNode_v2(CUgraphNode *, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUgraphNodeParams *);
CUresult cuGraphAddNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUgraphNodeParams *);
CUresult cuGraphNodeSetParams(CUgraphNode, CUgraphNodeParams *);
CUresult cuGraphExecNodeSetParams(CUgraphExec, CUgraphNode, CUgraphNodeParams *);
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode, CUDA_KERNEL_NODE_PARAMS *);
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode, CUDA_MEMCPY3D *);
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode, const CUDA_MEMCPY3D *);
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec, CUgraphNode, const CUDA_MEMCPY3D *, CUcontext);
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode, CUdeviceptr *);
CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *, CUgraph, CUcontext, unsigned, unsigned);

/* CUgraphNodeType */
enum { KERNEL, MEMCPY, MEMSET, HOST, CHILD, EMPTY, WAIT, RECORD, ALLOC = 10, FREE, MEM_OPS, CONDITIONAL };
enum { N = 8 };

#define INVALID(call) assert_int_equal(call, CUDA_ERROR_INVALID_VALUE)

static CUgraphExec instance(CUgraph g)
{
  CUgraphExec x;
  OK(cudaGraphInstantiate(&x, g, 0));
  return x;
}

static void run_once(CUgraphExec x)
{
  OK(cudaGraphLaunch(x, NULL));
  OK(cudaDeviceSynchronize());
}

/* What fat_add adds, with table {5, 6, 7, 8} and scale {3, 4}: n = 8 takes scale[0]. */
static void check(const int *dev, unsigned n, unsigned times)
{
  int v[N];
  OK(cudaMemcpy(v, dev, sizeof v, COPY_DEVICE_TO_HOST));
  for (unsigned i = 0; i < N; i++)
    assert_int_equal(v[i], i < n ? (int)times * ((5 + (int)i % 4) * (n & 1 ? 4 : 3) + 7) : 0);
}

static void kernels(void **state)
{
  int *p, n = 8;
  void *args[] = {&p, &n};
  CUDA_KERNEL_NODE_PARAMS k = {.function = &stub_add, .grid = {1, 1, 1}, .block = {N, 1, 1}, .params = args}, got;
  CUgraph g;
  CUgraphNode node, other;
  CUlaunchAttributeValue v = {.priority = -1}, w;
  (void)state;
  OK(cudaMalloc((void **)&p, N * sizeof *p));
  OK(cudaMemset(p, 0, N * sizeof *p));
  OK(cudaGraphCreate(&g, 0));
  OK(cudaGraphAddKernelNode(&node, g, NULL, 0, &k));
  OK(cudaGraphKernelNodeGetParams(node, &got));
  assert_ptr_equal(got.function, &stub_add); /* as the program named it */
  assert_true(got.grid[0] == 1 && got.block[0] == N && got.shared == 0 && got.extra == NULL);
  assert_true(*(int **)got.params[0] == p && *(int *)got.params[1] == 8);
  OK(cuGraphKernelNodeGetParams_v2(node, &got));
  assert_true(got.function != NULL && got.function != (void *)&stub_add); /* for the driver, its function */
  CUgraphExec x = instance(g);
  run_once(x);
  check(p, 8, 1);
  run_once(x);
  check(p, 8, 2);
  n = 5;
  OK(cudaGraphExecKernelNodeSetParams(x, node, &k));
  OK(cudaMemset(p, 0, N * sizeof *p));
  run_once(x);
  check(p, 5, 1);
  OK(cudaGraphKernelNodeGetParams(node, &got)); /* the graph's own has the old ones */
  assert_int_equal(*(int *)got.params[1], 8);
  OK(cudaGraphKernelNodeSetParams(node, &k));
  OK(cudaGraphKernelNodeGetParams(node, &got));
  assert_int_equal(*(int *)got.params[1], 5);
  OK(cudaGraphKernelNodeSetAttribute(node, LAUNCH_ATTR_PRIORITY, &v));
  OK(cudaGraphAddKernelNode(&other, g, NULL, 0, &k));
  OK(cudaGraphKernelNodeGetAttribute(other, LAUNCH_ATTR_PRIORITY, &w));
  assert_int_equal(w.priority, 0);
  OK(cudaGraphKernelNodeCopyAttributes(other, node));
  OK(cudaGraphKernelNodeGetAttribute(other, LAUNCH_ATTR_PRIORITY, &w));
  assert_int_equal(w.priority, -1);
  OK(cudaGraphKernelNodeSetParams(other, &k)); /* leaves attributes as they are */
  OK(cudaGraphKernelNodeGetAttribute(other, LAUNCH_ATTR_PRIORITY, &w));
  assert_int_equal(w.priority, -1);
  v.cooperative = 1;
  OK(cudaGraphKernelNodeSetAttribute(node, LAUNCH_ATTR_COOPERATIVE, &v));
  OK(cudaGraphKernelNodeGetAttribute(node, LAUNCH_ATTR_COOPERATIVE, &w));
  assert_int_equal(w.cooperative, 1);
  v.cluster_policy = 2;
  OK(cudaGraphKernelNodeSetAttribute(node, LAUNCH_ATTR_CLUSTER_POLICY, &v));
  OK(cudaGraphKernelNodeGetAttribute(node, LAUNCH_ATTR_CLUSTER_POLICY, &w));
  assert_int_equal(w.cluster_policy, 2);
  v.window = (CUaccessPolicyWindow){.base = p, .bytes = 32, .hit_ratio = 0.5f, .hit = 2, .miss = 1};
  OK(cudaGraphKernelNodeSetAttribute(node, LAUNCH_ATTR_WINDOW, &v));
  OK(cudaGraphKernelNodeGetAttribute(node, LAUNCH_ATTR_WINDOW, &w));
  assert_true(w.window.base == p && w.window.bytes == 32 && w.window.hit == 2);
  INVALID(cudaGraphKernelNodeSetAttribute(node, 99, &v));
  INVALID(cudaGraphKernelNodeGetAttribute(node, 99, &w));
  INVALID(cudaGraphKernelNodeSetAttribute(node, LAUNCH_ATTR_PRIORITY, NULL));
  INVALID(cudaGraphKernelNodeGetAttribute(node, LAUNCH_ATTR_PRIORITY, NULL));
  INVALID(cudaGraphAddKernelNode(&node, g, NULL, 0, NULL));
  k.function = &nobody;
  assert_int_equal(cudaGraphAddKernelNode(&node, g, NULL, 0, &k), cudaErrorInvalidDeviceFunction);
  k.function = &stub_add, k.params = NULL; /* fat_add takes two */
  INVALID(cudaGraphAddKernelNode(&node, g, NULL, 0, &k));
  OK(cudaGraphExecDestroy(x));
  OK(cudaGraphDestroy(g));
  OK(cudaFree(p));
}

/* Rows of 8 bytes out of rows of 16, and back. */
static void copies(void **state)
{
  uint8_t in[64], out[64] = {0};
  void *p;
  CUgraph g;
  CUgraphNode up, down, line;
  CUDA_MEMCPY3D driver = {0};
  (void)state;
  for (unsigned i = 0; i < sizeof in; i++) in[i] = (uint8_t)(3 * i + 1);
  OK(cudaMalloc(&p, 64));
  OK(cudaMemset(p, 0, 64));
  OK(cudaGraphCreate(&g, 0));
  cudaMemcpy3DParms c = {.src = {in, 16, 16, 4}, .src_pos = {4, 0, 0}, .dst = {p, 8, 8, 4}, .extent = {8, 4, 1},
                         .kind = COPY_HOST_TO_DEVICE},
                    got;
  OK(cudaGraphAddMemcpyNode(&up, g, NULL, 0, &c));
  OK(cudaGraphMemcpyNodeGetParams(up, &got));
  assert_true(got.src.ptr == in + 4 && got.src.pitch == 16 && got.src.ysize == 4); /* the position is in the pointer */
  assert_true(got.dst.ptr == p && got.dst.pitch == 8 && got.dst.ysize == 4);
  assert_true(got.extent.width == 8 && got.extent.height == 4 && got.extent.depth == 1 && got.kind == COPY_HOST_TO_DEVICE);
  OK(cuGraphMemcpyNodeGetParams(up, &driver));
  assert_true(driver.src_type == MEM_HOST && driver.src_host == in + 4 && driver.src_pitch == 16 && driver.src_height == 4);
  assert_true(driver.dst_type == MEM_DEVICE && driver.dst_device == (CUdeviceptr)(uintptr_t)p && driver.dst_pitch == 8);
  assert_true(driver.width == 8 && driver.height == 4 && driver.depth == 1 && driver.dst_height == 4);
  OK(cudaGraphAddMemcpyNode1D(&line, g, &up, 1, (char *)p + 32, in, 20, COPY_DEFAULT));
  OK(cudaGraphMemcpyNodeGetParams(line, &got));
  assert_true(got.extent.width == 20 && got.extent.height == 1 && got.extent.depth == 1 && got.kind == COPY_DEFAULT);
  c = (cudaMemcpy3DParms){.src = {p, 64, 64, 1}, .dst = {out, 64, 64, 1}, .extent = {64, 1, 1}, .kind = COPY_DEVICE_TO_HOST};
  OK(cudaGraphAddMemcpyNode(&down, g, &line, 1, &c));
  CUgraphExec x = instance(g);
  run_once(x);
  for (unsigned y = 0; y < 4; y++) assert_memory_equal(out + 8 * y, in + 16 * y + 4, 8);
  assert_memory_equal(out + 32, in, 20);
  assert_int_equal(out[52], 0);
  /* another part of the line, of the instance only */
  OK(cudaGraphExecMemcpyNodeSetParams1D(x, line, (char *)p + 32, in + 30, 10, COPY_HOST_TO_DEVICE));
  run_once(x);
  assert_memory_equal(out + 32, in + 30, 10);
  assert_memory_equal(out + 42, in + 10, 10);
  OK(cudaGraphMemcpyNodeGetParams(line, &got));
  assert_int_equal(got.extent.width, 20);
  OK(cudaGraphMemcpyNodeSetParams1D(line, (char *)p + 40, in + 1, 7, COPY_HOST_TO_DEVICE));
  OK(cudaGraphMemcpyNodeGetParams(line, &got));
  assert_true(got.extent.width == 7 && got.src.ptr == in + 1 && got.dst.ptr == (char *)p + 40);
  c.dst.ptr = out + 1, c.extent.width = 63;
  OK(cudaGraphExecMemcpyNodeSetParams(x, down, &c));
  out[0] = 77;
  run_once(x);
  assert_int_equal(out[0], 77);
  assert_memory_equal(out + 1, in + 4, 8);
  OK(cudaGraphMemcpyNodeSetParams(down, &c));
  OK(cudaGraphMemcpyNodeGetParams(down, &got));
  assert_int_equal(got.extent.width, 63);
  /* and by the driver's calls */
  driver = (CUDA_MEMCPY3D){.src_type = MEM_DEVICE, .src_device = (CUdeviceptr)(uintptr_t)p, .dst_type = MEM_HOST, .dst_host = out,
                           .width = 5, .height = 1, .depth = 1};
  OK(cuGraphMemcpyNodeSetParams(down, &driver));
  OK(cuGraphExecMemcpyNodeSetParams(x, down, &driver, NULL));
  OK(cuGraphMemcpyNodeGetParams(down, &driver));
  assert_true(driver.src_type == MEM_DEVICE && driver.dst_type == MEM_HOST && driver.dst_host == out && driver.width == 5);
  memset(out, 0, sizeof out);
  run_once(x);
  assert_memory_equal(out, in + 4, 5);
  assert_int_equal(out[5], 0);
  INVALID(cuGraphMemcpyNodeGetParams(down, NULL));
  INVALID(cudaGraphMemcpyNodeGetParams(down, NULL));
  INVALID(cudaGraphAddMemcpyNode(&down, g, NULL, 0, NULL));
  assert_int_equal(cudaGraphAddMemcpyNode1D(&down, g, NULL, 0, p, in, 20, 7), cudaErrorInvalidMemcpyDirection);
  OK(cudaGraphExecDestroy(x));
  OK(cudaGraphDestroy(g));
  OK(cudaFree(p));
}

static void symbols(void **state)
{
  int mine[2] = {50, 60}, got[4] = {0}, was[4] = {5, 6, 7, 8};
  CUgraph g;
  CUgraphNode to, from;
  (void)state;
  OK(cudaGraphCreate(&g, 0));
  OK(cudaGraphAddMemcpyNodeToSymbol(&to, g, NULL, 0, &var_table, mine, 8, 4, COPY_HOST_TO_DEVICE));
  OK(cudaGraphAddMemcpyNodeFromSymbol(&from, g, &to, 1, got, &var_table, 16, 0, COPY_DEVICE_TO_HOST));
  CUgraphExec x = instance(g);
  run_once(x);
  assert_true(got[0] == 5 && got[1] == 50 && got[2] == 60 && got[3] == 8);
  mine[0] = 70;
  OK(cudaGraphExecMemcpyNodeSetParamsToSymbol(x, to, &var_table, mine, 4, 12, COPY_HOST_TO_DEVICE));
  OK(cudaGraphExecMemcpyNodeSetParamsFromSymbol(x, from, got, &var_table, 12, 4, COPY_DEVICE_TO_HOST));
  run_once(x);
  assert_true(got[0] == 50 && got[1] == 60 && got[2] == 70 && got[3] == 8);
  OK(cudaGraphMemcpyNodeSetParamsToSymbol(to, &var_table, was, 16, 0, COPY_DEFAULT));
  OK(cudaGraphMemcpyNodeSetParamsFromSymbol(from, got, &var_table, 16, 0, COPY_DEFAULT));
  OK(cudaGraphExecDestroy(x));
  x = instance(g);
  run_once(x);
  assert_memory_equal(got, was, 16);
  INVALID(cudaGraphAddMemcpyNodeToSymbol(&to, g, NULL, 0, &var_table, mine, 8, 12, COPY_HOST_TO_DEVICE)); /* past its end */
  assert_int_equal(cudaGraphAddMemcpyNodeToSymbol(&to, g, NULL, 0, &nobody, mine, 8, 0, COPY_HOST_TO_DEVICE),
                   cudaErrorInvalidSymbol);
  assert_int_equal(cudaGraphAddMemcpyNodeFromSymbol(&to, g, NULL, 0, got, &var_table, 8, 0, COPY_HOST_TO_DEVICE),
                   cudaErrorInvalidMemcpyDirection);
  OK(cudaGraphExecDestroy(x));
  OK(cudaGraphDestroy(g));
}

static void count(void *p)
{
  ++*(unsigned *)p;
}

/* What `n` launches of a kernel that adds leave in cleared memory, each behind the other by an edge of the two kinds. */
static void add_in_a_row(CUgraphNodeParams *kernel, int *p, int v[N], unsigned n, const CUgraphEdgeData *edges[2])
{
  CUgraph g;
  CUgraphNode last = NULL, next;
  OK(cudaMemset(p, 0, N * sizeof *p));
  OK(cudaGraphCreate(&g, 0));
  for (unsigned i = 0; i < n; i++, last = next)
    OK(cudaGraphAddNode(&next, g, i ? &last : NULL, i ? edges[i % 2] : NULL, i > 0, kernel));
  CUgraphExec x = instance(g);
  run_once(x);
  OK(cudaMemcpy(v, p, N * sizeof *v, COPY_DEVICE_TO_HOST));
  OK(cudaGraphExecDestroy(x));
  OK(cudaGraphDestroy(g));
}

/* Programmatic dependencies: from where the kernel in front lets others begin, or from where all of it has begun. */
static void programmatic_edges(CUgraphNodeParams *kernel, int *p)
{
  const CUgraphEdgeData lets_begin = {.from_port = 1, .type = 1}, has_begun = {.from_port = 2, .type = 1};
  const CUgraphEdgeData *edges[2] = {&lets_begin, &has_begun};
  int once[N], often[N];
  add_in_a_row(kernel, p, once, 1, edges);
  add_in_a_row(kernel, p, often, 3, edges);
  for (int i = 0; i < N; i++) assert_true(once[i] && often[i] == 3 * once[i]);
}

/* cudaGraphAddNode: every type by its parameters. */
static void nodes_of_any_type(void **state)
{
  int *p, n = 8;
  void *args[] = {&p, &n};
  unsigned told = 0;
  CUgraph g, inner, child;
  CUgraphNode node[8];
  CUevent e, of;
  CUDA_MEMSET_NODE_PARAMS fill;
  CUDA_HOST_NODE_PARAMS host;
  int type, up[N];
  (void)state;
  for (int i = 0; i < N; i++) up[i] = 100;
  OK(cudaMalloc((void **)&p, N * sizeof *p));
  OK(cudaEventCreate(&e));
  OK(cudaGraphCreate(&g, 0));
  OK(cudaGraphCreate(&inner, 0));
  OK(cudaGraphAddEmptyNode(&node[0], inner, NULL, 0));
  CUgraphNodeParams memset_ = {.type = MEMSET, .memset = {.dst = (CUdeviceptr)(uintptr_t)p, .value = 9, .element = 4, .width = 4,
                                                          .height = 1}};
  CUgraphNodeParams memcpy_ = {.type = MEMCPY, .runtime_copy = {.params = {.src = {up, 16, 16, 1}, .dst = {&p[4], 16, 16, 1},
                                                                .extent = {16, 1, 1}, .kind = COPY_HOST_TO_DEVICE}}};
  CUgraphNodeParams kernel = {.type = KERNEL,
                              .kernel = {.function = &stub_add, .grid = {1, 1, 1}, .block = {N, 1, 1}, .params = args}};
  CUgraphNodeParams tell = {.type = HOST, .host = {count, &told}};
  CUgraphNodeParams graph = {.type = CHILD, .graph = inner};
  CUgraphNodeParams nothing = {.type = EMPTY};
  CUgraphNodeParams wait = {.type = WAIT, .event = e}, record = {.type = RECORD, .event = e};
  const CUgraphEdgeData plain[2] = {{0}}, odd[1] = {{.from_port = 1}};
  OK(cudaGraphAddNode(&node[0], g, NULL, NULL, 0, &memset_));
  OK(cudaGraphAddNode(&node[1], g, NULL, NULL, 0, &memcpy_));
  OK(cudaGraphAddNode(&node[2], g, node, plain, 2, &kernel));
  OK(cudaGraphAddNode(&node[3], g, &node[2], plain, 1, &tell));
  OK(cudaGraphAddNode(&node[4], g, &node[3], NULL, 1, &graph));
  OK(cudaGraphAddNode(&node[5], g, &node[4], NULL, 1, &nothing));
  OK(cudaGraphAddNode(&node[6], g, &node[5], NULL, 1, &record));
  OK(cudaGraphAddNode(&node[7], g, &node[6], NULL, 1, &wait));
  static const int want[] = {MEMSET, MEMCPY, KERNEL, HOST, CHILD, EMPTY, RECORD, WAIT};
  for (unsigned i = 0; i < 8; i++) {
    OK(cudaGraphNodeGetType(node[i], &type));
    assert_int_equal(type, want[i]);
  }
  OK(cudaGraphEventRecordNodeGetEvent(node[6], &of));
  assert_ptr_equal(of, e);
  OK(cudaGraphEventWaitNodeGetEvent(node[7], &of));
  assert_ptr_equal(of, e);
  INVALID(cudaGraphEventWaitNodeGetEvent(node[6], &of));
  OK(cudaGraphHostNodeGetParams(node[3], &host));
  assert_true(host.fn == count && host.data == &told);
  OK(cudaGraphChildGraphNodeGetGraph(node[4], &child));
  CUgraphExec x = instance(g);
  run_once(x);
  assert_int_equal(told, 1);
  int v[N];
  OK(cudaMemcpy(v, p, sizeof v, COPY_DEVICE_TO_HOST));
  for (int i = 0; i < N; i++) assert_int_equal(v[i], (i < 4 ? 9 : 100) + (5 + i % 4) * 3 + 7);
  memset_.memset.value = 1;
  OK(cudaGraphExecNodeSetParams(x, node[0], &memset_));
  run_once(x);
  OK(cudaMemcpy(v, p, sizeof v, COPY_DEVICE_TO_HOST));
  assert_int_equal(v[0], 1 + 5 * 3 + 7);
  programmatic_edges(&kernel, p);
  OK(cudaGraphMemsetNodeGetParams(node[0], &fill));
  assert_int_equal(fill.value, 9);
  OK(cudaGraphNodeSetParams(node[0], &memset_));
  OK(cudaGraphMemsetNodeGetParams(node[0], &fill));
  assert_true(fill.value == 1 && fill.element == 4 && fill.width == 4 && fill.height == 1);
  assert_int_equal(cudaGraphAddNode(&node[0], g, &node[0], odd, 1, &nothing), CUDA_ERROR_NOT_SUPPORTED);
  INVALID(cudaGraphAddNode(&node[0], g, NULL, NULL, 0, NULL));
  INVALID(cudaGraphNodeSetParams(node[0], &tell)); /* of another type */
  nothing.type = 99;
  assert_int_equal(cudaGraphAddNode(&node[0], g, NULL, NULL, 0, &nothing), CUDA_ERROR_NOT_SUPPORTED);
  OK(cudaGraphExecDestroy(x));
  OK(cudaGraphDestroy(inner));
  OK(cudaGraphDestroy(g));
  OK(cudaEventDestroy(e));
  OK(cudaFree(p));
}

/* The driver's calls of that kind: kernels are functions or kernels, copies of the driver's form. */
static void nodes_of_any_type_by_the_driver(void **state)
{
  CUmodule m;
  CUfunction f = cuda_vecadd(&m);
  CUdeviceptr x = cuda_floats(N, 1, 0), y = cuda_floats(N, 2, 1), z = cuda_floats(N, 0, 0);
  unsigned n = N;
  void *args[] = {&x, &y, &z, &n};
  float out[N];
  CUgraph g;
  CUgraphNode node[2];
  (void)state;
  OK(cudaGraphCreate(&g, 0));
  CUgraphNodeParams kernel = {.type = KERNEL, .kernel = {.kernel = f, .grid = {1, 1, 1}, .block = {N, 1, 1}, .params = args}};
  CUgraphNodeParams copy = {.type = MEMCPY, .copy = {.params = {.src_type = MEM_DEVICE, .src_device = z, .dst_type = MEM_HOST,
                                                                .dst_host = out, .width = sizeof out, .height = 1, .depth = 1}}};
  OK(cuGraphAddNode_v2(&node[0], g, NULL, NULL, 0, &kernel));
  OK(cuGraphAddNode(&node[1], g, node, 1, &copy));
  CUgraphExec e = instance(g);
  run_once(e);
  for (int i = 0; i < N; i++) assert_true(out[i] == (float)(3 + i));
  n = 3;
  OK(cuGraphExecNodeSetParams(e, node[0], &kernel));
  OK(cuMemsetD8_v2(z, 0, N * 4));
  run_once(e);
  for (int i = 0; i < N; i++) assert_true(out[i] == (i < 3 ? (float)(3 + i) : 0));
  CUDA_KERNEL_NODE_PARAMS got;
  OK(cuGraphNodeSetParams(node[0], &kernel));
  OK(cuGraphKernelNodeGetParams_v2(node[0], &got));
  assert_ptr_equal(got.function, f);
  assert_null(got.kernel);
  assert_int_equal(*(unsigned *)got.params[3], 3);
  kernel.kernel.kernel = (CUkernel)(void *)&n;
  assert_int_equal(cuGraphAddNode_v2(&node[0], g, NULL, NULL, 0, &kernel), CUDA_ERROR_INVALID_HANDLE);
  INVALID(cuGraphAddNode_v2(&node[0], g, NULL, NULL, 0, NULL));
  assert_int_equal(cuGraphAddNode_v2(&node[0], g, node, (CUgraphEdgeData[]){{.type = 1}}, 1, &copy), CUDA_ERROR_NOT_SUPPORTED);
  OK(cudaGraphExecDestroy(e));
  OK(cudaGraphDestroy(g));
  OK(cuModuleUnload(m));
}

/* IF runs its first body when the value is not 0, else its second; SWITCH the body of that number, or none. */
static void conditions(void **state)
{
  static const struct {
    int type;
    unsigned bodies, value, want[3];
  } of[] = {{0, 1, 1, {1, 0, 0}}, {0, 1, 7, {1, 0, 0}}, {0, 1, 0, {0, 0, 0}}, {0, 2, 0, {0, 1, 0}}, {0, 2, 1, {1, 0, 0}},
            {1, 1, 0, {0, 0, 0}}, {2, 3, 0, {1, 0, 0}}, {2, 3, 2, {0, 0, 1}}, {2, 3, 3, {0, 0, 0}}};
  CUgraphConditionalHandle h;
  CUgraph g;
  CUgraphNode node, inner;
  (void)state;
  for (unsigned i = 0; i < sizeof of / sizeof of[0]; i++) {
    unsigned told[3] = {0};
    int type;
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphConditionalHandleCreate(&h, g, of[i].value, 1)); /* cudaGraphCondAssignDefault */
    CUgraphNodeParams p = {.type = CONDITIONAL, .condition = {.handle = h, .type = of[i].type, .n = of[i].bodies}};
    OK(cudaGraphAddNode(&node, g, NULL, NULL, 0, &p));
    OK(cudaGraphNodeGetType(node, &type));
    assert_int_equal(type, CONDITIONAL);
    for (unsigned b = 0; b < of[i].bodies; b++) {
      CUgraphNodeParams tell = {.type = HOST, .host = {count, &told[b]}};
      OK(cudaGraphAddNode(&inner, p.condition.body[b], NULL, NULL, 0, &tell));
    }
    CUgraphExec x = instance(g);
    run_once(x);
    assert_memory_equal(told, of[i].want, sizeof told);
    run_once(x); /* the default again */
    for (unsigned b = 0; b < 3; b++) assert_int_equal(told[b], 2 * of[i].want[b]);
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphDestroy(g));
  }
  OK(cudaGraphCreate(&g, 0));
  OK(cuGraphConditionalHandleCreate(&h, g, NULL, 0, 0));
  CUgraphNodeParams p = {.type = CONDITIONAL, .condition = {.handle = h, .type = 0, .n = 3}}; /* IF has at most two */
  INVALID(cudaGraphAddNode(&node, g, NULL, NULL, 0, &p));
  p.condition.n = 0;
  INVALID(cudaGraphAddNode(&node, g, NULL, NULL, 0, &p));
  p.condition.type = 1, p.condition.n = 2; /* WHILE has one */
  INVALID(cudaGraphAddNode(&node, g, NULL, NULL, 0, &p));
  p.condition.type = 3, p.condition.n = 1;
  INVALID(cudaGraphAddNode(&node, g, NULL, NULL, 0, &p));
  p.condition.type = -1;
  INVALID(cudaGraphAddNode(&node, g, NULL, NULL, 0, &p));
  p.condition.type = 0, p.condition.handle = 0x123456;
  INVALID(cudaGraphAddNode(&node, g, NULL, NULL, 0, &p));
  INVALID(cudaGraphConditionalHandleCreate(NULL, g, 0, 0));
  INVALID(cudaGraphConditionalHandleCreate(&h, g, 0, 2));
  INVALID(cudaGraphConditionalHandleCreate(&h, NULL, 0, 0));
  OK(cudaGraphDestroy(g));
}

/* A copy into memory of the graph, which is freed at its end. */
static void memory(void **state)
{
  int in[N], out[N] = {0}, type;
  CUgraph g;
  CUgraphNode alloc, up, down, end;
  CUdeviceptr addr = 0;
  void *p = NULL;
  (void)state;
  for (int i = 0; i < N; i++) in[i] = 11 * i;
  OK(cudaGraphCreate(&g, 0));
  CUgraphNodeParams a = {.type = ALLOC, .alloc = {.pool = {.alloc_type = 1, .location = {LOCATION_DEVICE, 0}}, .bytes = sizeof in}};
  OK(cudaGraphAddNode(&alloc, g, NULL, NULL, 0, &a));
  CUDA_MEM_ALLOC_NODE_PARAMS got;
  OK(cudaGraphMemAllocNodeGetParams(alloc, &got));
  assert_true(got.p == a.alloc.p && got.p && got.bytes == sizeof in && got.pool.location.type == LOCATION_DEVICE);
  void *dev = (void *)(uintptr_t)a.alloc.p;
  OK(cudaGraphAddMemcpyNode1D(&up, g, &alloc, 1, dev, in, sizeof in, COPY_HOST_TO_DEVICE));
  OK(cudaGraphAddMemcpyNode1D(&down, g, &up, 1, out, dev, sizeof in, COPY_DEVICE_TO_HOST));
  CUgraphNodeParams f = {.type = FREE, .free = a.alloc.p};
  OK(cudaGraphAddNode(&end, g, &down, NULL, 1, &f));
  OK(cudaGraphMemFreeNodeGetParams(end, &p));
  assert_ptr_equal(p, dev);
  OK(cuGraphMemFreeNodeGetParams(end, &addr));
  assert_true(addr == a.alloc.p);
  OK(cudaGraphNodeGetType(end, &type));
  assert_int_equal(type, FREE);
  CUgraphExec x = instance(g);
  run_once(x);
  assert_memory_equal(out, in, sizeof in);
  INVALID(cudaGraphMemFreeNodeGetParams(alloc, &p));
  INVALID(cudaGraphMemAllocNodeGetParams(end, &got));
  INVALID(cudaGraphNodeSetParams(alloc, &a)); /* such nodes stay as they are */
  f.free = 64;
  INVALID(cudaGraphAddNode(&end, g, NULL, NULL, 0, &f));
  a.alloc.pool.alloc_type = 0;
  INVALID(cudaGraphAddNode(&end, g, NULL, NULL, 0, &a));
  a.alloc.pool.alloc_type = 1, a.alloc.pool.location.id = 1;
  assert_int_equal(cudaGraphAddNode(&end, g, NULL, NULL, 0, &a), CUDA_ERROR_INVALID_DEVICE);
  OK(cudaGraphExecDestroy(x));
  OK(cudaGraphDestroy(g));
}

static void instances(void **state)
{
  CUgraph g;
  CUgraphNode node;
  CUgraphExec x;
  CUDA_GRAPH_INSTANTIATE_PARAMS p = {.flags = 1, .result = 9, .failed = (CUgraphNode)(void *)&p};
  unsigned long long flags = 9;
  (void)state;
  OK(cudaGraphCreate(&g, 0));
  OK(cudaGraphAddEmptyNode(&node, g, NULL, 0));
  OK(cudaGraphInstantiateWithParams(&x, g, &p));
  assert_int_equal(p.result, 0); /* success */
  assert_null(p.failed);
  OK(cudaGraphExecGetFlags(x, &flags));
  assert_int_equal(flags, 1);
  INVALID(cudaGraphExecGetFlags(x, NULL));
  OK(cudaGraphUpload(x, NULL));
  OK(cudaGraphExecDestroy(x));
  assert_int_not_equal(cudaGraphUpload(x, NULL), CUDA_SUCCESS);
  assert_int_not_equal(cudaGraphExecGetFlags(x, &flags), CUDA_SUCCESS);
  INVALID(cudaGraphInstantiateWithParams(&x, g, NULL));
  OK(cudaGraphDestroy(g));
  assert_int_not_equal(cudaGraphInstantiateWithParams(&x, g, &p), CUDA_SUCCESS);
  assert_int_not_equal(p.result, 0);
}

/* How often it is there. */
static unsigned times(const char *text, const char *part)
{
  unsigned n = 0;
  for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) n++;
  return n;
}

static const char *listing(CUgraph g, unsigned flags)
{
  static char text[1 << 14];
  char path[] = "/tmp/test_cuda_graph.XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  OK(cudaGraphDebugDotPrint(g, path, flags));
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  close(fd);
  unlink(path);
  return text;
}

/* A box for each node and an arrow for each edge; what the flags do not ask for is left out. */
static void listings(void **state)
{
  int *p, n = 8;
  void *args[] = {&p, &n};
  unsigned told;
  char want[100];
  CUgraph g, inner;
  CUgraphNode node[8];
  CUgraphConditionalHandle h;
  CUevent e;
  (void)state;
  OK(cudaMalloc((void **)&p, 64));
  OK(cudaEventCreate(&e));
  OK(cudaGraphCreate(&g, 0));
  OK(cudaGraphCreate(&inner, 0));
  OK(cudaGraphAddEmptyNode(&node[0], inner, NULL, 0));
  OK(cudaGraphConditionalHandleCreate(&h, g, 0, 0));
  CUgraphNodeParams params[] = {
      {.type = KERNEL, .kernel = {.function = &stub_add, .grid = {2, 3, 4}, .block = {N, 1, 1}, .shared = 48, .params = args}},
      {.type = MEMSET, .memset = {.dst = (CUdeviceptr)(uintptr_t)p, .value = 0xab, .element = 1, .width = 16, .height = 1}},
      {.type = MEMCPY, .runtime_copy = {.params = {.src = {p, 8, 8, 2}, .dst = {&p[4], 8, 8, 2}, .extent = {8, 2, 1},
                                                   .kind = COPY_DEVICE_TO_DEVICE}}},
      {.type = HOST, .host = {count, &told}},
      {.type = CHILD, .graph = inner},
      {.type = RECORD, .event = e},
      {.type = ALLOC, .alloc = {.pool = {.alloc_type = 1, .location = {LOCATION_DEVICE, 0}}, .bytes = 64}},
      {.type = CONDITIONAL, .condition = {.handle = h, .type = 0, .n = 2}},
  };
  for (unsigned i = 0; i < 8; i++) OK(cudaGraphAddNode(&node[i], g, node, NULL, i / 2, &params[i])); /* 0 0 1 1 2 2 3 3 edges */
  static const char *const names[] = {"KERNEL\\nfat_add", "MEMSET", "MEMCPY", "HOST", "GRAPH", "EVENT_RECORD", "MEM_ALLOC",
                                      "CONDITIONAL", "EMPTY"};
  static const struct {
    unsigned flag;
    const char *text;
  } details[] = {{4, "<<<(2,3,4),(8,1,1),48>>>"}, {8, "8 x 2 x 1 bytes"}, {16, "0xab at 0x"}, {32, "data 0x"}, {64, "event 0x"},
                 {512, "cooperative 0"}, {1024, "node 0x"}, {32768, "type 0"}};
  const char *text = listing(g, 0);
  for (unsigned i = 0; i < 9; i++) assert_int_equal(times(text, names[i]), 1);
  assert_int_equal(times(text, "shape=box"), 9);
  assert_int_equal(times(text, " -> "), 12);
  assert_int_equal(times(text, "subgraph"), 4); /* itself, the child, two bodies */
  assert_int_equal(times(text, "{"), times(text, "}"));
  assert_non_null(strstr(text, "\"graph_0_node_2\" -> \"graph_0_node_7\""));
  assert_null(strstr(text, "\"graph_0_node_3\" -> \"graph_0_node_7\""));
  for (unsigned i = 0; i < sizeof details / sizeof details[0]; i++) {
    if (strstr(listing(g, 0), details[i].text)) fail_msg("%s without its flag", details[i].text);
    if (!strstr(listing(g, details[i].flag), details[i].text)) fail_msg("no %s", details[i].text);
    if (!strstr(listing(g, 1), details[i].text)) fail_msg("no %s with all", details[i].text);
  }
  snprintf(want, sizeof want, "MEM_ALLOC\\n0x%llx", params[6].alloc.p);
  assert_non_null(strstr(listing(g, 2048), want));
  assert_null(strstr(listing(g, 4096), want)); /* those of memory that is freed */
  assert_int_equal(cudaGraphDebugDotPrint(g, "/no/such/folder/graph.dot", 0), CUDA_ERROR_OPERATING_SYSTEM);
  INVALID(cudaGraphDebugDotPrint(g, NULL, 0));
  OK(cudaGraphDestroy(inner));
  OK(cudaGraphDestroy(g));
  INVALID(cudaGraphDebugDotPrint(g, "/tmp/never", 0));
  OK(cudaEventDestroy(e));
  OK(cudaFree(p));
}

static int setup(void **state)
{
  return cuda_setup(state) || program_start(state);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels), cmocka_unit_test(copies), cmocka_unit_test(symbols), cmocka_unit_test(nodes_of_any_type),
      cmocka_unit_test(nodes_of_any_type_by_the_driver), cmocka_unit_test(conditions), cmocka_unit_test(memory),
      cmocka_unit_test(instances), cmocka_unit_test(listings),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
