// libcudnn: graphs that are run operation by operation, through the backend interface, against the host in binary64.
#include <string>

#include "graphs.cuh"

static double eps_of(const tensor &t) { return t.type == CUDNN_DATA_HALF ? 0x1p-10 : t.type == CUDNN_DATA_BFLOAT16 ? 0x1p-7 : 0x1p-22; }

// Whether what the device has is what f says for every element; elements between them are as they were. `terms`: of the sum.
template <typename F> static bool is(tensor &t, double terms, F f)
{
  const std::vector<double> got = numbers_of(t);
  std::vector<bool> seen(t.host.size());
  bool right = true;
  for (int64_t i = 0; i < t.size[0]; i++)
    for (int64_t j = 0; j < t.size[1]; j++)
      for (int64_t k = 0; k < t.size[2]; k++)
        for (int64_t l = 0; l < t.size[3]; l++) {
          const size_t at = i * t.stride[0] + j * t.stride[1] + k * t.stride[2] + l * t.stride[3];
          const double want = f(i, j, k, l);
          seen[at] = true;
          right = right && std::abs(got[at] - want) <= eps_of(t) * std::abs(want) + (terms + 4) * 0x1p-22 * (1 + std::abs(want));
        }
  for (size_t i = 0; i < seen.size(); i++) right = right && (seen[i] || got[i] == t.host[i]);
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
  const int b = 2, depth = type == CUDNN_DATA_FLOAT ? 40 : 136, depth_v = 24; // what is fused, attention.cu has
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

// A plan from the text of another one, and from texts that are none.
static void texts()
{
  tensor a = a_tensor({2, 1, 20, 30}, CUDNN_DATA_HALF), b = a_tensor({2, 1, 30, 10}, CUDNN_DATA_HALF), y = a_tensor({2, 1, 20, 10}, CUDNN_DATA_FLOAT), c = between({2, 1, 20, 10});
  good = true;
  descriptor p;
  check(!plan({product(a, b, c), elements(CUDNN_POINTWISE_ABS, &c, nullptr, nullptr, y)}, &p), "a plan");
  int64_t n = 0;
  check(!cudnnBackendGetAttribute(p, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, 0, &n, nullptr) && n > 100, "the length of a plan's text");
  std::string text(n, ' ');
  check(!cudnnBackendGetAttribute(p, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, n, &n, &text[0]), "a plan's text");
  auto planned = [&](const std::string &t, descriptor *out) {
    *out = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    put(*out, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    put(*out, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, (int64_t)t.size(), t.data());
    return cudnnBackendFinalize(*out);
  };
  descriptor again;
  check(!planned(text, &again) && !run_plan(again, {&a, &b, &y}) && good && is(y, 30, [&](int i, int, int k, int l) {
    double sum = 0;
    for (int z = 0; z < 30; z++) sum += a(i, 0, k, z) * b(i, 0, z, l);
    return std::abs(sum);
  }), "a plan from a text");
  bool refused = true;
  for (int64_t cut = 0; cut < n; cut++) refused = refused && planned(text.substr(0, cut), &again);
  check(refused, "texts that end early");
  check(planned(text + "]", &again) && planned(std::string(100000, '['), &again) && planned("[15,[[801,15,[[15,[[801,15,[]]]]]]]]", &again), "texts that are not plans");
  std::string other = text;
  for (int64_t i = 0; i < n; i += 3) { // whatever it says then, it is a plan or it is not
    other[i] = other[i] == '0' ? '9' : '0';
    planned(other, &again);
    other[i] = text[i];
  }
}

// A plan in a CUDA graph, launched, given other tensors of the same numbers, launched again; the first results stay.
static void as_cuda_graph(cudnnDataType_t type)
{
  tensor a = a_tensor({2, 1, 20, 30}, type), b = a_tensor({2, 1, 30, 25}, type), c = between({2, 1, 20, 25}), y = a_tensor({2, 1, 20, 25}, CUDNN_DATA_FLOAT);
  tensor a2 = a, y2 = y;
  for (double &v : a2.host) v = -2 * v;
  a2.at = device(packed(a2.host, type)), y2.at = device(packed(y2.host, y2.type));
  good = true;
  descriptor p, config = make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR), engine = make(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  const cudnnStatus_t status = plan({product(a, b, c), elements(CUDNN_POINTWISE_ABS, &c, nullptr, nullptr, y)}, &p);
  int64_t n = 0;
  int note = -1;
  check(good && !status && !cudnnBackendGetAttribute(p, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &n, &config) &&
          !cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &n, &engine) &&
          !cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, 1, &n, &note) && n == 1 &&
          note == CUDNN_BEHAVIOR_NOTE_SUPPORTS_CUDA_GRAPH_NATIVE_API, "an engine says that it can be recorded");
  cudaGraph_t graph, empty;
  cudaGraphExec_t ready;
  auto launch = [&] { return !cudaGraphInstantiate(&ready, graph, 0) && !cudaGraphLaunch(ready, 0) && !cudaDeviceSynchronize() && !cudaGraphExecDestroy(ready); };
  auto right = [&](tensor &x, tensor &of) {
    return is(of, 60, [&](int i, int, int k, int l) {
      double sum = 0;
      for (int z = 0; z < 30; z++) sum += x(i, 0, k, z) * b(i, 0, z, l);
      return std::abs(sum);
    });
  };
  check(!cudaGraphCreate(&graph, 0) && !cudaGraphCreate(&empty, 0) && !cudnnBackendPopulateCudaGraph(handle, p, pack_of(p, {&a, &b, &y}), graph) && launch() && right(a, y),
        "a plan in a CUDA graph");
  check(!cudnnBackendUpdateCudaGraph(handle, p, pack_of(p, {&a2, &b, &y2}), graph) && launch() && right(a2, y2) && right(a, y), "the same with other data");
  check(cudnnBackendUpdateCudaGraph(handle, p, pack_of(p, {&a, &b, &y}), empty) == CUDNN_STATUS_BAD_PARAM, "a graph that is not of this plan");
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
  texts();
  for (cudnnDataType_t type : {CUDNN_DATA_FLOAT, CUDNN_DATA_HALF}) as_cuda_graph(type);
  refusals();
  check(!cudnnDestroy(handle), "destroy");
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
