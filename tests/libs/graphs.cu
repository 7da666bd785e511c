// libcudnn: graphs that are run operation by operation, through the backend interface, against the host in binary64. Numbers of what cuDNN's
// headers before 9.13 do not declare (attention, masks, softmax) are those of its reference.
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
  double &operator()(int64_t a, int64_t b, int64_t c, int64_t e)
  {
    auto in = [](int64_t i, int64_t n) { return n == 1 ? 0 : i; };
    return host[in(a, size[0]) * stride[0] + in(b, size[1]) * stride[1] + in(c, size[2]) * stride[2] + in(e, size[3]) * stride[3]];
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

// `order`: the dimensions from the slowest to the fastest in memory, with a gap of `gap` elements behind the fastest.
static tensor a_tensor(std::vector<int64_t> size, cudnnDataType_t type, int where = GIVEN, std::vector<int> order = {0, 1, 2, 3}, int gap = 0)
{
  tensor t;
  int64_t stride = 1;
  t.size = size, t.stride.resize(4), t.type = type, t.number = ++numbers;
  for (int i = 4; i-- > 0; stride *= size[order[i]] + (i == 3 ? gap : 0)) t.stride[order[i]] = stride;
  const bool is_virtual = where == BETWEEN, by_value = where == BY_VALUE;
  const int64_t alignment = 4;
  t.d = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  put(t.d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
  put(t.d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, size.data());
  put(t.d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, t.stride.data());
  put_long(t.d, CUDNN_ATTR_TENSOR_UNIQUE_ID, t.number);
  put_long(t.d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, alignment);
  put(t.d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
  put(t.d, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &by_value);
  finish(t.d);
  if (where == BETWEEN) return t;
  t.host.resize(stride);
  for (double &v : t.host) v = rounded(random_number(), type);
  if (where == GIVEN) t.at = device(packed(t.host, type));
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
static descriptor product(const tensor &a, const tensor &b, const tensor &c)
{
  descriptor op = make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR), how = finish(make(CUDNN_BACKEND_MATMUL_DESCRIPTOR));
  put(op, CUDNN_ATTR_OPERATION_MATMUL_ADESC, a.d), put(op, CUDNN_ATTR_OPERATION_MATMUL_BDESC, b.d);
  put(op, CUDNN_ATTR_OPERATION_MATMUL_CDESC, c.d), put(op, CUDNN_ATTR_OPERATION_MATMUL_DESC, how);
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

static cudnnStatus_t run(std::vector<descriptor> ops, std::vector<tensor *> outside)
{
  descriptor p;
  const cudnnStatus_t s = plan(ops, &p);
  if (s) return s;
  int64_t bytes = 0, n;
  good = good && !cudnnBackendGetAttribute(p, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &n, &bytes);
  void *room = device(std::vector<char>(bytes, 0x7f)); // not a number, wherever it is read unwritten
  std::vector<int64_t> ids;
  std::vector<void *> at;
  for (tensor *t : outside) ids.push_back(t->number), at.push_back(t->at);
  descriptor variant = make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  put(variant, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, (int64_t)ids.size(), ids.data());
  put(variant, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, (int64_t)at.size(), at.data());
  put(variant, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &room);
  return cudnnBackendExecute(handle, p, finish(variant));
}

static double eps_of(const tensor &t) { return t.type == CUDNN_DATA_HALF ? 0x1p-10 : t.type == CUDNN_DATA_BFLOAT16 ? 0x1p-7 : 0x1p-22; }

// Whether what the device has is what f says for every element; elements between them are as they were. `terms`: of the sum.
template <typename F> static bool is(tensor &t, double terms, F f)
{
  const std::vector<char> b = host((char *)t.at, packed(t.host, t.type).size());
  auto value = [&](size_t i) {
    return t.type == CUDNN_DATA_FLOAT ? (double)((float *)b.data())[i] : t.type == CUDNN_DATA_HALF ? (double)__half2float(((__half *)b.data())[i]) : (double)__bfloat162float(((__nv_bfloat16 *)b.data())[i]);
  };
  std::vector<bool> seen(t.host.size());
  bool right = true;
  for (int64_t i = 0; i < t.size[0]; i++)
    for (int64_t j = 0; j < t.size[1]; j++)
      for (int64_t k = 0; k < t.size[2]; k++)
        for (int64_t l = 0; l < t.size[3]; l++) {
          const size_t at = i * t.stride[0] + j * t.stride[1] + k * t.stride[2] + l * t.stride[3];
          const double want = f(i, j, k, l);
          seen[at] = true;
          right = right && std::abs(value(at) - want) <= eps_of(t) * std::abs(want) + (terms + 4) * 0x1p-22 * (1 + std::abs(want));
        }
  for (size_t i = 0; i < seen.size(); i++) right = right && (seen[i] || value(i) == t.host[i]);
  return right;
}

static void products(cudnnDataType_t type)
{
  // (A B) / s + bias, with the operations named in an order that is not theirs; B of fewer batches, turned in memory.
  tensor a = a_tensor({3, 4, 45, 70}, type, GIVEN, {2, 0, 1, 3}, 1), b = a_tensor({1, 2, 70, 37}, type, GIVEN, {0, 1, 3, 2});
  tensor bias = a_tensor({1, 4, 1, 37}, type), y = a_tensor({3, 4, 45, 37}, type, GIVEN, {0, 2, 1, 3}, 3), s = a_value(1.5f);
  tensor c = between({3, 4, 45, 37}), d = between({3, 4, 45, 37});
  good = true;
  const cudnnStatus_t status = run({elements(CUDNN_POINTWISE_ADD, &d, &bias, nullptr, y), elements(CUDNN_POINTWISE_DIV, &c, &s, nullptr, d), product(a, b, c)},
                                   {&a, &b, &bias, &y, &s});
  check(good && !status && is(y, 70, [&](int i, int j, int k, int l) {
          double sum = 0;
          for (int z = 0; z < 70; z++) sum += a(i, j, k, z) * b(0, j / 2, z, l);
          return sum / 1.5 + bias(0, j, 0, l);
        }), "a product, divided, with a bias");
}

static void reductions()
{
  struct {
    int mode;
    double none;
    double (*join)(double, double);
  } all[] = {{CUDNN_REDUCE_TENSOR_ADD, 0, [](double a, double b) { return a + b; }}, {CUDNN_REDUCE_TENSOR_MIN, 1e9, [](double a, double b) { return std::fmin(a, b); }},
             {CUDNN_REDUCE_TENSOR_MAX, -1e9, [](double a, double b) { return std::fmax(a, b); }}, {CUDNN_REDUCE_TENSOR_AMAX, 0, [](double a, double b) { return std::fmax(a, std::abs(b)); }},
             {CUDNN_REDUCE_TENSOR_AVG, 0, [](double a, double b) { return a + b; }}};
  for (auto &r : all)
    for (std::vector<int64_t> size : {std::vector<int64_t>{2, 3, 40, 1}, {2, 1, 1, 33}, {1, 1, 1, 1}}) {
      tensor x = a_tensor({2, 3, 40, 33}, CUDNN_DATA_FLOAT, GIVEN, {3, 1, 2, 0}), y = a_tensor(size, CUDNN_DATA_FLOAT);
      good = true;
      const cudnnStatus_t status = run({reduction(r.mode, x, y)}, {&x, &y});
      const double terms = 2.0 * 3 * 40 * 33 / (size[0] * size[1] * size[2] * size[3]);
      check(good && !status && is(y, terms, [&](int i, int j, int k, int l) {
              double v = r.none;
              for (int a = 0; a < 2; a++)
                for (int b = 0; b < 3; b++)
                  for (int c = 0; c < 40; c++)
                    for (int d = 0; d < 33; d++)
                      if ((size[0] == 1 || a == i) && (size[1] == 1 || b == j) && (size[2] == 1 || c == k) && (size[3] == 1 || d == l)) v = r.join(v, x(a, b, c, d));
              return r.mode == CUDNN_REDUCE_TENSOR_AVG ? v / terms : v;
            }), "a reduction");
    }
}

static void functions()
{
  struct {
    int mode;
    double (*f)(double, double);
  } all[] = {{CUDNN_POINTWISE_SUB, [](double x, double b) { return x - b; }}, {CUDNN_POINTWISE_MUL, [](double x, double b) { return x * b; }},
             {CUDNN_POINTWISE_MAX, [](double x, double b) { return std::fmax(x, b); }}, {CUDNN_POINTWISE_MIN, [](double x, double b) { return std::fmin(x, b); }},
             {CUDNN_POINTWISE_ADD_SQUARE, [](double x, double b) { return x + b * b; }}, {CUDNN_POINTWISE_EXP, [](double x, double) { return std::exp(x); }},
             {CUDNN_POINTWISE_ABS, [](double x, double) { return std::abs(x); }}, {CUDNN_POINTWISE_NEG, [](double x, double) { return -x; }},
             {CUDNN_POINTWISE_TANH_FWD, [](double x, double) { return std::tanh(x); }}, {CUDNN_POINTWISE_SIGMOID_FWD, [](double x, double) { return 1 / (1 + std::exp(-x)); }},
             {CUDNN_POINTWISE_RELU_FWD, [](double x, double) { return x > 0 ? x : 0; }}, {CUDNN_POINTWISE_CMP_GT, [](double x, double b) { return (double)(x > b); }},
             {CUDNN_POINTWISE_CMP_LE, [](double x, double b) { return (double)(x <= b); }}, {CUDNN_POINTWISE_IDENTITY, [](double x, double) { return x; }}};
  for (auto &r : all) {
    tensor x = a_tensor({2, 3, 5, 7}, CUDNN_DATA_HALF), b = a_tensor({2, 1, 5, 1}, CUDNN_DATA_FLOAT), y = a_tensor({2, 3, 5, 7}, CUDNN_DATA_FLOAT, GIVEN, {3, 2, 1, 0});
    good = true;
    const cudnnStatus_t status = run({elements(r.mode, &x, &b, nullptr, y)}, {&x, &b, &y});
    check(good && !status && is(y, 8, [&](int i, int j, int k, int l) { return r.f(x(i, j, k, l), b(i, 0, k, 0)); }), "an operation of elements");
  }
  // Where the row's number is at least the column's, x, else -3: indices, a comparison, a choice.
  tensor x = a_tensor({2, 1, 20, 30}, CUDNN_DATA_FLOAT), y = a_tensor({2, 1, 20, 30}, CUDNN_DATA_FLOAT), low = a_value(-3);
  tensor row = between({2, 1, 20, 30}, CUDNN_DATA_INT32), column = between({2, 1, 20, 30}, CUDNN_DATA_INT32), keeps = between({2, 1, 20, 30}, CUDNN_DATA_BOOLEAN);
  good = true;
  const cudnnStatus_t status = run({elements(CUDNN_POINTWISE_GEN_INDEX, &x, nullptr, nullptr, row, 2), elements(CUDNN_POINTWISE_GEN_INDEX, &x, nullptr, nullptr, column, 3),
                                    elements(CUDNN_POINTWISE_CMP_GE, &row, &column, nullptr, keeps), elements(CUDNN_POINTWISE_BINARY_SELECT, &x, &low, &keeps, y)},
                                   {&x, &y, &low});
  check(good && !status && is(y, 0, [&](int i, int, int k, int l) { return k >= l ? x(i, 0, k, l) : -3; }), "a mask of indices");
}

static void turned()
{
  tensor x = a_tensor({2, 3, 20, 31}, CUDNN_DATA_FLOAT, GIVEN, {0, 2, 1, 3}), y = a_tensor({2, 3, 31, 20}, CUDNN_DATA_FLOAT);
  tensor z = a_tensor({2, 3, 31, 20}, CUDNN_DATA_FLOAT, BETWEEN, {0, 3, 1, 2});
  good = true;
  const cudnnStatus_t status = run({reshape(x, z), elements(CUDNN_POINTWISE_IDENTITY, &z, nullptr, nullptr, y)}, {&x, &y});
  check(good && !status && is(y, 0, [&](int i, int j, int k, int l) { return x(i, j, l, k); }), "a reshape that turns a matrix");
}

// softmax(Q K^T scale [masked]) V, and the logarithms of the sums.
static void attention(cudnnDataType_t type, int heads, int heads_kv, int rows, int columns, bool causal, bool stats, std::vector<int> order)
{
  const int b = 2, depth = 40, depth_v = 24;
  tensor q = a_tensor({b, heads, rows, depth}, type, GIVEN, order), k = a_tensor({b, heads_kv, columns, depth}, type, GIVEN, order);
  tensor v = a_tensor({b, heads_kv, columns, depth_v}, type, GIVEN, order), o = a_tensor({b, heads, rows, depth_v}, type, GIVEN, order);
  tensor sums = a_tensor({b, heads, rows, 1}, CUDNN_DATA_FLOAT), scale = a_value(0.75f), low = a_value(-INFINITY);
  tensor in = between({b, heads, rows, columns}), out = between({b, heads, rows, columns});
  tensor p = between({b, heads, rows, columns}), s = between({b, heads, rows, columns});
  good = true;
  descriptor op = make(41);
  put(op, 2800, q.d), put(op, 2801, k.d), put(op, 2802, v.d), put(op, 2803, o.d), put(op, 2805, scale.d);
  if (stats && causal) put(op, 2814, softmax(p, s, &sums));
  else if (stats) put(op, 2804, sums.d);
  if (causal) {
    descriptor mask = band(in, low, out);
    put(op, 2811, mask), put_long(op, 2812, in.number), put_long(op, 2813, out.number);
  }
  const cudnnStatus_t status = run({finish(op)}, {&q, &k, &v, &o, &sums, &scale, &low});
  auto score = [&](int i, int h, int r, int c) {
    double x = 0;
    for (int d = 0; d < depth; d++) x += q(i, h, r, d) * k(i, h * heads_kv / heads, c, d);
    return causal && c > r ? -INFINITY : 0.75 * x;
  };
  auto total = [&](int i, int h, int r) {
    double x = 0;
    for (int c = 0; c < columns; c++) x += std::exp(score(i, h, r, c));
    return x;
  };
  bool right = good && !status;
  right = right && is(o, columns, [&](int i, int h, int r, int d) {
            double x = 0;
            for (int c = 0; c < columns; c++) x += std::exp(score(i, h, r, c)) * v(i, h * heads_kv / heads, c, d);
            return x / total(i, h, r);
          });
  if (stats) right = right && is(sums, columns, [&](int i, int h, int r, int) { return std::log(total(i, h, r)); });
  char what[120];
  snprintf(what, sizeof what, "attention of type %d, %d and %d heads, %d x %d, causal %d, sums %d", type, heads, heads_kv, rows, columns, causal, stats);
  check(right, what);
}

static void refusals()
{
  tensor x = a_tensor({1, 1, 4, 5}, CUDNN_DATA_FLOAT), y = a_tensor({1, 1, 4, 5}, CUDNN_DATA_FLOAT), z = between({1, 1, 4, 5}), w = between({1, 1, 4, 5});
  good = true;
  descriptor p, cosine = elements(CUDNN_POINTWISE_COS, &x, nullptr, nullptr, y), sizes = product(x, x, y), norm = make(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR);
  finish(norm);
  check(plan({cosine}, &p) == CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, "an operation that is not there");
  check(plan({norm}, &p) == CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, "a kind of operation that is not there");
  check(plan({sizes}, &p) == CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, "sizes that do not agree");
  check(plan({elements(CUDNN_POINTWISE_ABS, &z, nullptr, nullptr, w), elements(CUDNN_POINTWISE_ABS, &w, nullptr, nullptr, z)}, &p) == CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN,
        "a circle");
  check(run({elements(CUDNN_POINTWISE_ABS, &x, nullptr, nullptr, y)}, {&x}) == CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "no pointer for a tensor");
  check(good, "descriptors");
}

int main()
{
  if (cudnnCreate(&handle)) return 1;
  for (cudnnDataType_t type : {CUDNN_DATA_FLOAT, CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16}) {
    products(type);
    for (int shape = 0; shape < 8; shape++)
      attention(type, 4, shape & 4 ? 2 : 4, shape & 2 ? 33 : 20, shape & 2 ? 50 : 20, shape & 1, shape != 0, shape & 1 ? std::vector<int>{0, 2, 1, 3} : std::vector<int>{0, 1, 2, 3});
  }
  reductions();
  functions();
  turned();
  refusals();
  check(!cudnnDestroy(handle), "destroy");
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
