// Graphs of cuDNN's backend interface for the programs of this folder: tensors, operations, plans. Numbers of what cuDNN's headers before 9.13 do not
// declare (attention, masks, softmax) are those of its reference.
#pragma once
#include <cudnn.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>

#include "checks.cuh"

static unsigned state = 5;
static double random_number()
{
  state = state * 1664525u + 1013904223u;
  return (int)(state >> 8 & 0xffff) / 32768.0 - 1;
}

typedef cudnnBackendDescriptor_t descriptor;
static bool good = true;
static cudnnHandle_t handle;

static descriptor make(int kind)
{
  descriptor d = nullptr;
  good = good && !cudnnBackendCreateDescriptor((cudnnBackendDescriptorType_t)kind, &d);
  return d;
}
static void put(descriptor d, int name, int type, int64_t n, const void *v)
{
  good = good && !cudnnBackendSetAttribute(d, (cudnnBackendAttributeName_t)name, (cudnnBackendAttributeType_t)type, n, v);
}
static void put(descriptor d, int name, descriptor v) { put(d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &v); }
static void put_long(descriptor d, int name, int64_t v) { put(d, name, CUDNN_TYPE_INT64, 1, &v); }
static descriptor finish(descriptor d)
{
  good = good && !cudnnBackendFinalize(d);
  return d;
}

// A tensor: its numbers on the host as double, as the device rounds them, and its descriptor.
struct tensor {
  descriptor d;
  int64_t number;
  std::vector<int64_t> size, stride;
  std::vector<double> host;
  void *at = nullptr;
  cudnnDataType_t type;
  std::vector<int64_t> begins; // where each batch begins, when not at a multiple of a stride
  int64_t unit = 1;            // of what says it
  double &operator()(int64_t a, int64_t b, int64_t c, int64_t e)
  {
    auto in = [](int64_t i, int64_t n) { return n == 1 ? 0 : i; };
    return host[(begins.empty() ? in(a, size[0]) * stride[0] : begins[a]) + in(b, size[1]) * stride[1] + in(c, size[2]) * stride[2] + in(e, size[3]) * stride[3]];
  }
};
static int64_t numbers;
enum { GIVEN, BETWEEN, BY_VALUE };

static double rounded(double v, cudnnDataType_t t)
{
  return t == CUDNN_DATA_HALF ? (double)__half2float(__float2half((float)v)) : t == CUDNN_DATA_BFLOAT16 ? (double)__bfloat162float(__float2bfloat16((float)v)) : (double)(float)v;
}
static std::vector<char> packed(const std::vector<double> &v, cudnnDataType_t t)
{
  std::vector<char> b(v.size() * (t == CUDNN_DATA_FLOAT ? 4 : 2));
  for (size_t i = 0; i < v.size(); i++) {
    if (t == CUDNN_DATA_FLOAT) ((float *)b.data())[i] = (float)v[i];
    else if (t == CUDNN_DATA_HALF) ((__half *)b.data())[i] = __float2half((float)v[i]);
    else ((__nv_bfloat16 *)b.data())[i] = __float2bfloat16((float)v[i]);
  }
  return b;
}

// `begins`: another tensor, of where each batch begins.
static void describe(tensor &t, bool is_virtual, bool by_value, const tensor *begins = nullptr)
{
  const int64_t alignment = 4;
  t.d = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  put(t.d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &t.type);
  put(t.d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, t.size.data());
  put(t.d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, t.stride.data());
  put_long(t.d, CUDNN_ATTR_TENSOR_UNIQUE_ID, t.number);
  put_long(t.d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, alignment);
  put(t.d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
  put(t.d, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &by_value);
  if (begins) {
    put(t.d, CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC, begins->d);
    if (begins->unit != 1) put_long(t.d, 914, begins->unit);
    t.begins.clear();
    for (double v : begins->host) t.begins.push_back((int64_t)v * begins->unit);
  }
  finish(t.d);
}
// `order`: the dimensions from the slowest to the fastest in memory, with a gap of `gap` elements behind the fastest.
static tensor a_tensor(std::vector<int64_t> size, cudnnDataType_t type, int where = GIVEN, std::vector<int> order = {0, 1, 2, 3}, int gap = 0, const tensor *begins = nullptr)
{
  tensor t;
  int64_t stride = 1;
  t.size = size, t.stride.resize(4), t.type = type, t.number = ++numbers;
  for (int i = 4; i-- > 0; stride *= size[order[i]] + (i == 3 ? gap : 0)) t.stride[order[i]] = stride;
  describe(t, where == BETWEEN, where == BY_VALUE, begins);
  if (where == BETWEEN) return t;
  t.host.resize(stride);
  for (double &v : t.host) v = rounded(random_number(), type);
  if (where == GIVEN) t.at = device(packed(t.host, type));
  return t;
}
// Integers of 32 or 64 bits: on the device, one for each batch, or one on the host.
static tensor integers(std::vector<int64_t> v, cudnnDataType_t type, bool by_value = false)
{
  tensor t;
  const std::vector<int> narrow(v.begin(), v.end());
  t.size = {(int64_t)v.size(), 1, 1, 1}, t.stride = {1, 1, 1, 1}, t.type = type, t.number = ++numbers;
  t.host.assign(v.begin(), v.end());
  describe(t, false, by_value);
  if (by_value) t.at = new int(narrow[0]);
  else t.at = type == CUDNN_DATA_INT32 ? (void *)device(narrow) : (void *)device(v);
  return t;
}
static tensor a_value(float v)
{
  tensor t = a_tensor({1, 1, 1, 1}, CUDNN_DATA_FLOAT, BY_VALUE);
  t.host = {v};
  t.at = new float(v);
  return t;
}
static tensor between(std::vector<int64_t> size, cudnnDataType_t type = CUDNN_DATA_FLOAT) { return a_tensor(size, type, BETWEEN); }

// Operations.
static descriptor product(const tensor &a, const tensor &b, const tensor &c, const tensor *m = nullptr, const tensor *n = nullptr, const tensor *k = nullptr)
{
  descriptor op = make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR), how = finish(make(CUDNN_BACKEND_MATMUL_DESCRIPTOR));
  put(op, CUDNN_ATTR_OPERATION_MATMUL_ADESC, a.d), put(op, CUDNN_ATTR_OPERATION_MATMUL_BDESC, b.d);
  put(op, CUDNN_ATTR_OPERATION_MATMUL_CDESC, c.d), put(op, CUDNN_ATTR_OPERATION_MATMUL_DESC, how);
  if (m) put(op, CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC, m->d);
  if (n) put(op, CUDNN_ATTR_OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC, n->d);
  if (k) put(op, CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC, k->d);
  return finish(op);
}
static descriptor elements(int mode, const tensor *x, const tensor *b, const tensor *t, const tensor &y, int64_t axis = -1)
{
  descriptor op = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR), how = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  put(how, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
  if (axis >= 0) put_long(how, 9, axis);
  put(op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, finish(how));
  put(op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x->d), put(op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y.d);
  if (b) put(op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b->d);
  if (t) put(op, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, t->d);
  return finish(op);
}
static descriptor reduction(int mode, const tensor &x, const tensor &y)
{
  descriptor op = make(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR), how = make(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  put(how, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &mode);
  put(op, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x.d), put(op, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y.d);
  put(op, CUDNN_ATTR_OPERATION_REDUCTION_DESC, finish(how));
  return finish(op);
}
static descriptor reshape(const tensor &x, const tensor &y)
{
  descriptor op = make(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  put(op, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x.d), put(op, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y.d);
  return finish(op);
}
static descriptor random_bits(const tensor &seed, const tensor &offset, double probability, const tensor &y)
{
  descriptor op = make(CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR), how = make(CUDNN_BACKEND_RNG_DESCRIPTOR);
  const int bernoulli = CUDNN_RNG_DISTRIBUTION_BERNOULLI;
  put(how, CUDNN_ATTR_RNG_DISTRIBUTION, CUDNN_TYPE_RNG_DISTRIBUTION, 1, &bernoulli);
  put(how, CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, CUDNN_TYPE_DOUBLE, 1, &probability);
  put(op, CUDNN_ATTR_OPERATION_RNG_YDESC, y.d), put(op, CUDNN_ATTR_OPERATION_RNG_DESC, finish(how));
  put(op, CUDNN_ATTR_OPERATION_RNG_SEED, seed.d), put(op, CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC, offset.d);
  return finish(op);
}
static descriptor softmax(const tensor &x, const tensor &y, const tensor *stats)
{
  descriptor op = make(45);
  put(op, 3100, x.d), put(op, 3101, y.d);
  if (stats) put(op, 3102, stats->d);
  return finish(op);
}
static descriptor band(const tensor &x, const tensor &fill, const tensor &y)
{
  descriptor op = make(44);
  const int not_less = CUDNN_POINTWISE_CMP_GE;
  put(op, 3000, x.d), put(op, 3005, fill.d), put(op, 3006, y.d);
  put(op, 3007, CUDNN_TYPE_POINTWISE_MODE, 1, &not_less);
  return finish(op);
}

static cudnnStatus_t plan(std::vector<descriptor> ops, descriptor *out)
{
  descriptor graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR), heuristic = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  const int mode = CUDNN_HEUR_MODE_INSTANT;
  put(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, (int64_t)ops.size(), ops.data());
  put(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
  put(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, finish(graph));
  put(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
  const cudnnStatus_t s = cudnnBackendFinalize(heuristic);
  if (s) return s;
  descriptor config = make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  int64_t n = 0;
  good = good && !cudnnBackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &n, &config) && n == 1;
  *out = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  put(*out, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
  put(*out, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
  finish(*out);
  return CUDNN_STATUS_SUCCESS;
}

// The pointers of a plan's tensors, and workspace for it. `bytes`: how many.
static descriptor pack_of(descriptor p, std::vector<tensor *> outside, int64_t *bytes = nullptr)
{
  int64_t size = 0, n;
  good = good && !cudnnBackendGetAttribute(p, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &n, &size);
  if (bytes) *bytes = size;
  void *room = device(std::vector<char>(size, 0x7f)); // not a number, wherever it is read unwritten
  std::vector<int64_t> ids;
  std::vector<void *> at;
  for (tensor *t : outside) ids.push_back(t->number), at.push_back(t->at);
  descriptor variant = make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  put(variant, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, (int64_t)ids.size(), ids.data());
  put(variant, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, (int64_t)at.size(), at.data());
  put(variant, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &room);
  return finish(variant);
}
static cudnnStatus_t run_plan(descriptor p, std::vector<tensor *> outside, int64_t *bytes = nullptr)
{
  return cudnnBackendExecute(handle, p, pack_of(p, outside, bytes));
}
static cudnnStatus_t run(std::vector<descriptor> ops, std::vector<tensor *> outside, int64_t *bytes = nullptr)
{
  descriptor p;
  const cudnnStatus_t s = plan(ops, &p);
  return s ? s : run_plan(p, outside, bytes);
}

// What the device has.
static std::vector<double> numbers_of(const tensor &t)
{
  const std::vector<char> b = host((char *)t.at, packed(t.host, t.type).size());
  std::vector<double> v;
  for (size_t i = 0; i < t.host.size(); i++)
    v.push_back(t.type == CUDNN_DATA_FLOAT ? (double)((float *)b.data())[i] : t.type == CUDNN_DATA_HALF ? (double)__half2float(((__half *)b.data())[i]) : (double)__bfloat162float(((__nv_bfloat16 *)b.data())[i]));
  return v;
}
