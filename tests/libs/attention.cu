// libcudnn: attention and its gradients as graphs that cudnn-frontend writes, of one operation or of many, against the host in binary64. The numbers
// of what cuDNN's headers before 9.13 do not declare are those of its reference.
#include "graphs.cuh"

// What a case is made of. Sizes of sequences, when there are any, are shorter than `rows` and `columns`.
struct setting {
  cudnnDataType_t type;
  int heads, heads_kv, rows, columns, depth, depth_v;
  int right, left; // bounds of the diagonal; NONE: there is none
  bool bottom;     // the diagonal ends in the last row and column
  bool bias, slope, lengths, drop, packed;
  std::vector<int> order;
  int gap;
};
enum { NONE = 1 << 20, BATCHES = 2 };

static bool has_bfloat16;
static bool is_fused(const setting &a) { return a.depth <= 128 && a.depth_v <= 128 && (has_bfloat16 || a.type == CUDNN_DATA_HALF); }

// All of a case on the host.
struct problem {
  setting a;
  tensor q, k, v, o, stats, bias, slope, d_o;
  std::vector<int> length_q, length_kv;
  std::vector<std::vector<bool>> stays; // of a batch and head, [row * columns + column]
  double scale = 0.3, keep = 1;
  int kv(int head) const { return head * a.heads_kv / a.heads; }
  int rows_of(int b) const { return a.lengths ? length_q[b] : a.rows; }
  int columns_of(int b) const { return a.lengths ? length_kv[b] : a.columns; }
  bool kept(int b, int r, int c) const
  {
    const int shift = a.bottom ? columns_of(b) - rows_of(b) : 0;
    return r < rows_of(b) && c < columns_of(b) && (a.right == NONE || c <= r + shift + a.right) && (a.left == NONE || c + a.left > r + shift);
  }
  double score(int b, int h, int r, int c)
  {
    if (!kept(b, r, c)) return -INFINITY;
    double x = 0;
    for (int d = 0; d < a.depth; d++) x += q(b, h, r, d) * k(b, kv(h), c, d);
    return x * scale + (a.bias ? bias(b, h, r, c) : 0) + (a.slope ? slope(0, h, 0, 0) * (c - r) : 0);
  }
  double stay(int b, int h, int r, int c) const { return !a.drop || stays[b * a.heads + h][r * a.columns + c] ? 1 / keep : 0; }
};

static double most_of(const std::vector<double> &v)
{
  double m = 0;
  for (double x : v) m = std::fmax(m, std::abs(x));
  return m;
}

// Weights and gradients of scores are rounded to the type before they are multiplied, those of half precision that are subnormal by 2^-25, each of up
// to 150 terms; so are results.
static bool near_to(double got, double want, double terms, cudnnDataType_t type)
{
  const double eps = type == CUDNN_DATA_HALF ? 0x1p-10 : 0x1p-7;
  return std::abs(got - want) <= eps * (std::abs(want) + terms) + (type == CUDNN_DATA_HALF ? 150 * 0x1p-25 : 0);
}

// Philox4x32-10 of the element's number, its first word: what docs/libraries.md says of dropped weights.
static unsigned philox(uint64_t seed, uint64_t offset, uint64_t element)
{
  uint32_t c[4] = {(uint32_t)element, (uint32_t)(element >> 32), (uint32_t)offset, (uint32_t)(offset >> 32)}, k[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  for (int r = 0; r < 10; r++, k[0] += 0x9E3779B9u, k[1] += 0xBB67AE85u) {
    const uint64_t a = (uint64_t)0xD2511F53u * c[0], b = (uint64_t)0xCD9E8D57u * c[2];
    const uint32_t n[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k[0], (uint32_t)b, (uint32_t)(a >> 32) ^ c[3] ^ k[1], (uint32_t)a};
    for (int i = 0; i < 4; i++) c[i] = n[i];
  }
  return c[0];
}

static tensor a_result(std::vector<int64_t> size, cudnnDataType_t type, std::vector<int> order = {0, 1, 2, 3}, int gap = 0, const tensor *begins = nullptr)
{
  return a_tensor(size, type, GIVEN, order, gap, begins);
}

static tensor a_number(int v) { return integers({v}, CUDNN_DATA_INT32, true); }

// Operands and the graph's tensors.
struct graph_parts {
  std::vector<descriptor> ops;
  std::vector<tensor *> outside;
  tensor low = a_value(-INFINITY), scale, sq, skv, right, left, fixed_q, fixed_kv, seed, offset, again, again_inverse;
};

static problem a_problem(const setting &a, graph_parts &g, tensor &begins_q, tensor &begins_kv)
{
  problem p;
  p.a = a;
  p.length_q = {a.rows - 7, a.rows / 2}, p.length_kv = {a.columns / 3, a.columns - 5};
  if (a.bottom) p.length_q = {a.rows / 2, a.rows / 3}, p.length_kv = {a.columns - 3, a.columns / 2};
  const tensor *at_q = nullptr, *at_kv = nullptr;
  if (a.packed) { // batch 1 begins behind what batch 0 has, in rows of heads * depth
    begins_q = integers({0, p.length_q[0] * a.heads * a.depth, (p.length_q[0] + p.length_q[1]) * a.heads * a.depth}, CUDNN_DATA_INT32);
    begins_kv = integers({0, p.length_kv[0], p.length_kv[0] + p.length_kv[1]}, CUDNN_DATA_INT64); // counts rows
    begins_kv.unit = a.heads_kv * a.depth;
    at_q = &begins_q, at_kv = &begins_kv;
  }
  p.q = a_tensor({BATCHES, a.heads, a.rows, a.depth}, a.type, GIVEN, a.order, a.gap, at_q);
  p.k = a_tensor({BATCHES, a.heads_kv, a.columns, a.depth}, a.type, GIVEN, a.order, a.gap, at_kv);
  p.v = a_tensor({BATCHES, a.heads_kv, a.columns, a.depth_v}, a.type, GIVEN, a.order, a.gap, at_kv);
  p.o = a_result({BATCHES, a.heads, a.rows, a.depth_v}, a.type, a.order, a.gap, at_q);
  p.d_o = a_tensor({BATCHES, a.heads, a.rows, a.depth_v}, a.type, GIVEN, a.order, a.gap, at_q);
  p.stats = a_result({BATCHES, a.heads, a.rows, 1}, CUDNN_DATA_FLOAT);
  p.bias = a_tensor({1, a.heads, a.rows, a.columns}, a.type);
  p.slope = a_tensor({1, a.heads, 1, 1}, CUDNN_DATA_FLOAT);
  g.scale = a_value((float)p.scale);
  p.scale = (float)p.scale;
  g.sq = integers({p.length_q[0], p.length_q[1]}, CUDNN_DATA_INT32), g.skv = integers({p.length_kv[0], p.length_kv[1]}, CUDNN_DATA_INT32);
  if (a.drop) {
    p.keep = 0.75;
    g.seed = integers({0x123456789abcdefll}, CUDNN_DATA_INT64), g.offset = integers({77}, CUDNN_DATA_INT64);
    for (int i = 0; i < BATCHES * a.heads; i++) {
      p.stays.emplace_back();
      for (int64_t j = 0; j < (int64_t)a.rows * a.columns; j++)
        p.stays.back().push_back(philox(0x123456789abcdefll, 77, (int64_t)i * a.rows * a.columns + j) * 0x1p-32 < 0.75);
    }
  }
  return p;
}

// What lies behind a sequence is not a number: nobody reads it.
static void poison(tensor &t, const std::vector<int> &lengths)
{
  for (int b = 0; b < t.size[0]; b++)
    for (int h = 0; h < t.size[1]; h++)
      for (int r = lengths[b]; r < t.size[2]; r++)
        for (int c = 0; c < t.size[3]; c++) t(b, h, r, c) = NAN;
  t.at = device(packed(t.host, t.type));
}

static std::vector<int64_t> scores_of(const setting &a) { return {BATCHES, a.heads, a.rows, a.columns}; }

// Masks as operations of elements, as cudnn-frontend writes them for cuDNN before 9.21; `x` becomes the result.
static void mask_by_elements(const problem &p, graph_parts &g, tensor &x)
{
  const setting &a = p.a;
  const std::vector<int64_t> size = scores_of(a);
  auto integer = [&] { return between(size, CUDNN_DATA_INT32); };
  auto truth = [&] { return between(size, CUDNN_DATA_BOOLEAN); };
  auto index = [&](int axis) {
    tensor y = integer();
    g.ops.push_back(elements(CUDNN_POINTWISE_GEN_INDEX, &x, nullptr, nullptr, y, axis));
    return y;
  };
  auto both = [&](int mode, const tensor &u, const tensor &v, tensor y) {
    g.ops.push_back(elements(mode, &u, &v, nullptr, y));
    return y;
  };
  auto select = [&](const tensor &keeps) {
    tensor y = between(size);
    g.ops.push_back(elements(CUDNN_POINTWISE_BINARY_SELECT, &x, &g.low, &keeps, y));
    x = y;
  };
  if (a.lengths)
    select(both(CUDNN_POINTWISE_LOGICAL_AND, both(CUDNN_POINTWISE_CMP_LT, index(2), g.sq, truth()), both(CUDNN_POINTWISE_CMP_LT, index(3), g.skv, truth()), truth()));
  g.fixed_q = a_number(a.rows), g.fixed_kv = a_number(a.columns);
  const tensor &sq = a.lengths ? g.sq : g.fixed_q, &skv = a.lengths ? g.skv : g.fixed_kv;
  if (!a.lengths && a.bottom) g.outside.push_back(&g.fixed_q), g.outside.push_back(&g.fixed_kv);
  if (a.right != NONE) {
    tensor row = index(2);
    const tensor column = index(3);
    if (a.bottom) row = both(CUDNN_POINTWISE_SUB, both(CUDNN_POINTWISE_ADD, row, skv, integer()), sq, integer());
    if (a.right) g.right = a_number(a.right), row = both(CUDNN_POINTWISE_ADD, row, g.right, integer()), g.outside.push_back(&g.right);
    select(both(CUDNN_POINTWISE_CMP_GE, row, column, truth()));
  }
  if (a.left != NONE) {
    const tensor row = index(2);
    g.left = a_value((float)a.left), g.outside.push_back(&g.left);
    tensor column = both(CUDNN_POINTWISE_ADD, index(3), g.left, integer());
    if (a.bottom) column = both(CUDNN_POINTWISE_ADD, both(CUDNN_POINTWISE_SUB, column, skv, integer()), sq, integer());
    select(both(CUDNN_POINTWISE_CMP_GT, column, row, truth()));
  }
}

static void add_bias(const problem &p, graph_parts &g, tensor &x)
{
  const setting &a = p.a;
  if (a.bias) {
    tensor y = between(scores_of(a));
    g.ops.push_back(elements(CUDNN_POINTWISE_ADD, &x, &p.bias, nullptr, y));
    x = y;
  }
  if (a.slope) {
    tensor row = between(scores_of(a), CUDNN_DATA_INT32), column = row, away = row, more = between(scores_of(a)), y = between(scores_of(a));
    column = between(scores_of(a), CUDNN_DATA_INT32), away = between(scores_of(a), CUDNN_DATA_INT32);
    g.ops.push_back(elements(CUDNN_POINTWISE_GEN_INDEX, &x, nullptr, nullptr, row, 2));
    g.ops.push_back(elements(CUDNN_POINTWISE_GEN_INDEX, &x, nullptr, nullptr, column, 3));
    g.ops.push_back(elements(CUDNN_POINTWISE_SUB, &column, &row, nullptr, away));
    g.ops.push_back(elements(CUDNN_POINTWISE_MUL, &away, &p.slope, nullptr, more));
    g.ops.push_back(elements(CUDNN_POINTWISE_ADD, &x, &more, nullptr, y));
    x = y;
  }
}

static void name_inputs(problem &p, graph_parts &g)
{
  for (tensor *t : {&p.q, &p.k, &p.v, &p.o, &p.stats, &g.scale, &g.low}) g.outside.push_back(t);
  if (p.a.bias) g.outside.push_back(&p.bias);
  if (p.a.slope) g.outside.push_back(&p.slope);
  if (p.a.lengths) g.outside.push_back(&g.sq), g.outside.push_back(&g.skv);
  if (p.a.drop) g.outside.push_back(&g.seed), g.outside.push_back(&g.offset), g.outside.push_back(&g.again);
}

static tensor times(graph_parts &g, const tensor &x, const tensor &y, const tensor &to)
{
  g.ops.push_back(elements(CUDNN_POINTWISE_MUL, &x, &y, nullptr, to));
  return to;
}

// The same matrix, rows for columns.
static tensor turned(const tensor &t, const tensor *begins = nullptr)
{
  tensor r = t;
  std::swap(r.size[2], r.size[3]), std::swap(r.stride[2], r.stride[3]);
  describe(r, false, false, begins);
  return r;
}

static tensor dropped(const problem &p, graph_parts &g, const tensor &weights, tensor &bits)
{
  const std::vector<int64_t> size = scores_of(p.a);
  if (!p.a.drop) return weights;
  if (!bits.d) bits = between(size), g.ops.push_back(random_bits(g.seed, g.offset, 0.75, bits));
  return times(g, weights, bits, between(size));
}

// Forward as many operations; softmax as one, or as those it is made of.
static void forward_by_parts(problem &p, graph_parts &g, const tensor *begins_kv, bool one_softmax)
{
  const std::vector<int64_t> size = scores_of(p.a);
  const std::vector<int64_t> column = {BATCHES, p.a.heads, p.a.rows, 1};
  tensor k_turned = turned(p.k, begins_kv), x = between(size), bits = {};
  g.ops.push_back(p.a.lengths ? product(p.q, k_turned, x, &g.sq, &g.skv, nullptr) : product(p.q, k_turned, x));
  x = times(g, x, g.scale, between(size));
  add_bias(p, g, x);
  mask_by_elements(p, g, x);
  tensor weights = between(size);
  if (one_softmax) g.ops.push_back(softmax(x, weights, &p.stats));
  else {
    tensor most = between(column), less = between(size), exps = between(size), sum = between(column), log = between(column);
    g.ops.push_back(reduction(CUDNN_REDUCE_TENSOR_MAX, x, most));
    g.ops.push_back(elements(CUDNN_POINTWISE_SUB, &x, &most, nullptr, less));
    g.ops.push_back(elements(CUDNN_POINTWISE_EXP, &less, nullptr, nullptr, exps));
    g.ops.push_back(reduction(CUDNN_REDUCE_TENSOR_ADD, exps, sum));
    g.ops.push_back(elements(CUDNN_POINTWISE_LOG, &sum, nullptr, nullptr, log));
    g.ops.push_back(elements(CUDNN_POINTWISE_ADD, &most, &log, nullptr, p.stats));
    g.ops.push_back(elements(CUDNN_POINTWISE_DIV, &exps, &sum, nullptr, weights));
  }
  weights = dropped(p, g, weights, bits);
  if (p.a.drop) weights = times(g, weights, g.again, between(size, p.a.type));
  g.ops.push_back(p.a.lengths ? product(weights, p.v, p.o, &g.sq, nullptr, &g.skv) : product(weights, p.v, p.o));
}

// Forward as one operation, masks and bias as a graph inside of it.
static void forward_as_one(problem &p, graph_parts &g)
{
  const setting &a = p.a;
  const std::vector<int64_t> size = scores_of(a);
  tensor in = between(size), out = in;
  descriptor op = make(41);
  put(op, 2800, p.q.d), put(op, 2801, p.k.d), put(op, 2802, p.v.d), put(op, 2803, p.o.d), put(op, 2805, g.scale.d);
  std::vector<descriptor> outer;
  outer.swap(g.ops);
  add_bias(p, g, out);
  auto diagonal = [&](int bound, const tensor &value, int mode) {
    tensor y = between(size);
    descriptor d = make(44);
    put(d, 3000, out.d), put(d, 3005, g.low.d), put(d, 3006, y.d), put(d, 3007, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
    if (value.d) put(d, bound, value.d);
    if (a.bottom) put(d, 3001, a.lengths ? g.skv.d : g.fixed_kv.d), put(d, 3002, a.lengths ? g.sq.d : g.fixed_q.d);
    g.ops.push_back(finish(d));
    out = y;
  };
  g.fixed_q = a_number(a.rows), g.fixed_kv = a_number(a.columns);
  g.outside.push_back(&g.fixed_q), g.outside.push_back(&g.fixed_kv);
  if (a.right > 0 && a.right != NONE) g.right = a_number(a.right), g.outside.push_back(&g.right);
  if (a.right != NONE) diagonal(3004, a.right ? g.right : tensor(), CUDNN_POINTWISE_CMP_GE);
  if (a.left != NONE) g.left = a_number(a.left), g.outside.push_back(&g.left), diagonal(3003, g.left, CUDNN_POINTWISE_CMP_GT);
  std::vector<descriptor> inner;
  inner.swap(g.ops), g.ops = outer;
  if (!inner.empty()) {
    descriptor graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    put(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, (int64_t)inner.size(), inner.data());
    put(op, 2811, finish(graph)), put_long(op, 2812, in.number), put_long(op, 2813, out.number);
  }
  if (a.lengths) put(op, 2809, g.sq.d), put(op, 2810, g.skv.d);
  if (a.drop) {
    const float dropped = 0.25f;
    put(op, 2815, g.seed.d), put(op, 2816, g.offset.d), put(op, 2818, CUDNN_TYPE_FLOAT, 1, &dropped);
  }
  tensor scores = between(size), weights = between(size);
  put(op, 2814, softmax(scores, weights, &p.stats));
  g.ops.push_back(finish(op));
}

// Backward as cudnn-frontend writes it. Gradients of k and v of fewer heads are sums of ones of all heads.
static void backward(problem &p, graph_parts &g, tensor &d_q, tensor &d_k, tensor &d_v, tensor &sums, tensor &wide, const tensor *begins_kv)
{
  const setting &a = p.a;
  const std::vector<int64_t> size = scores_of(a), column = {BATCHES, a.heads, a.rows, 1};
  const tensor *sq = a.lengths ? &g.sq : nullptr, *skv = a.lengths ? &g.skv : nullptr;
  tensor bits = {}, od = between({BATCHES, a.heads, a.rows, a.depth_v}), od_sum = between(column);
  times(g, p.d_o, p.o, od);
  g.ops.push_back(reduction(CUDNN_REDUCE_TENSOR_ADD, od, od_sum));
  times(g, od_sum, g.again_inverse, sums);
  tensor k_turned = turned(p.k, begins_kv), v_turned = turned(p.v, begins_kv), x = between(size), less = between(size), exps = between(size);
  g.ops.push_back(product(p.q, k_turned, x, sq, skv, nullptr));
  x = times(g, x, g.scale, between(size));
  add_bias(p, g, x);
  g.ops.push_back(elements(CUDNN_POINTWISE_SUB, &x, &p.stats, nullptr, less));
  mask_by_elements(p, g, less);
  g.ops.push_back(elements(CUDNN_POINTWISE_EXP, &less, nullptr, nullptr, exps));
  tensor weights = dropped(p, g, exps, bits);
  if (a.drop) weights = times(g, weights, g.again, between(size));
  auto turn_scores = [&](const tensor &t) {
    tensor r = a_tensor({BATCHES, a.heads, a.columns, a.rows}, a.type, BETWEEN, {0, 1, 3, 2});
    g.ops.push_back(reshape(t, r));
    return r;
  };
  auto put_out = [&](const tensor &left, const tensor &right, tensor &to, int64_t depth) {
    if (a.heads == a.heads_kv) return g.ops.push_back(product(left, right, to, skv, nullptr, sq));
    tensor all = between({BATCHES, a.heads, a.columns, depth}, a.type);
    g.ops.push_back(product(left, right, all, skv, nullptr, sq));
    g.ops.push_back(reduction(CUDNN_REDUCE_TENSOR_ADD, all, to));
  };
  put_out(turn_scores(weights), p.d_o, d_v, a.depth_v);
  tensor d = between(size), d_less = between(size);
  g.ops.push_back(product(p.d_o, v_turned, d, sq, skv, nullptr));
  d = dropped(p, g, d, bits);
  g.ops.push_back(elements(CUDNN_POINTWISE_SUB, &d, &sums, nullptr, d_less));
  d = times(g, d_less, exps, between(size));
  if (a.drop) d = times(g, d, g.again, between(size));
  d = times(g, d, g.scale, between(size, a.type));
  put_out(turn_scores(d), p.q, d_k, a.depth);
  tensor k_again = p.k; // its own rows again, between operations
  k_again.number = ++numbers;
  describe(k_again, true, false, begins_kv);
  g.ops.push_back(reshape(k_turned, k_again));
  g.ops.push_back(product(d, k_again, wide, sq, nullptr, skv));
  g.ops.push_back(elements(CUDNN_POINTWISE_IDENTITY, &wide, nullptr, nullptr, d_q));
}

// Where an element lies. -1: nowhere, behind a packed sequence.
static int64_t place(const problem &p, const tensor &t, bool of_q, int b, int h, int r, int c)
{
  if (!t.begins.empty() && r >= (of_q ? p.length_q : p.length_kv)[b]) return -1;
  return (t.begins.empty() ? b * t.stride[0] : t.begins[b]) + h * t.stride[1] + r * t.stride[2] + c * t.stride[3];
}

// Whether every element is what f gives, [0], with what its terms are in all, [1]; and those between them are as before.
template <typename F> static bool matches(const problem &p, tensor &t, bool of_q, F f)
{
  const std::vector<double> got = numbers_of(t);
  std::vector<bool> seen(t.host.size());
  bool right = true;
  for (int b = 0; b < t.size[0]; b++)
    for (int h = 0; h < t.size[1]; h++)
      for (int r = 0; r < t.size[2]; r++)
        for (int c = 0; c < t.size[3]; c++) {
          const int64_t at = place(p, t, of_q, b, h, r, c);
          if (at < 0) continue;
          double want[2] = {0, 0};
          f(want, b, h, r, c);
          seen[at] = true;
          const bool same = want[0] == got[at] || near_to(got[at], want[0], want[1], p.a.type);
          if (right && !same) printf("  %d %d %d %d: %g, not %g\n", b, h, r, c, got[at], want[0]);
          right = right && same;
        }
  for (size_t i = 0; i < seen.size(); i++) right = right && (seen[i] || got[i] == t.host[i]);
  return right;
}

static void one(const setting &a, int form, const char *name)
{
  graph_parts g;
  tensor begins_q, begins_kv;
  good = true;
  problem p = a_problem(a, g, begins_q, begins_kv);
  g.again = a_value((float)(1 / p.keep)), g.again_inverse = a_value((float)p.keep);
  name_inputs(p, g);
  if (a.lengths && !a.packed) poison(p.q, p.length_q), poison(p.d_o, p.length_q), poison(p.k, p.length_kv), poison(p.v, p.length_kv);
  if (a.packed) g.outside.push_back(&begins_q), g.outside.push_back(&begins_kv);
  // Parts of softmax one by one put out what is not a number where all is masked.
  if (a.lengths && !is_fused(a) && form == 2) form = 1;
  if (form == 0) forward_as_one(p, g);
  else forward_by_parts(p, g, a.packed ? &begins_kv : nullptr, form == 1);
  int64_t room = 0;
  cudnnStatus_t status = run(g.ops, g.outside, &room);
  char what[160];
  snprintf(what, sizeof what, "%s, type %d, form %d, %d and %d heads, %d x %d of %d, %d", name, a.type, form, a.heads, a.heads_kv, a.rows, a.columns, a.depth, a.depth_v);
  if (a.packed && !is_fused(a)) return check(good && status == CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, what);
  // The logarithm of a row's sum, and weights.
  std::vector<double> logs(BATCHES * a.heads * a.rows), weights((size_t)BATCHES * a.heads * a.rows * a.columns);
  for (int b = 0; b < BATCHES; b++)
    for (int h = 0; h < a.heads; h++)
      for (int r = 0; r < a.rows; r++) {
        const size_t row = (size_t)(b * a.heads + h) * a.rows + r;
        double sum = 0;
        for (int c = 0; c < a.columns; c++) sum += weights[row * a.columns + c] = std::exp(p.score(b, h, r, c));
        for (int c = 0; c < a.columns && sum > 0; c++) weights[row * a.columns + c] /= sum;
        logs[row] = std::log(sum);
      }
  auto weight = [&](int b, int h, int r, int c) { return weights[((size_t)(b * a.heads + h) * a.rows + r) * a.columns + c]; };
  auto out = [&](double *w, int b, int h, int r, int d) {
    for (int c = 0; c < a.columns; c++) {
      if (!p.kept(b, r, c)) continue;
      const double x = weight(b, h, r, c) * p.stay(b, h, r, c) * p.v(b, p.kv(h), c, d);
      w[0] += x, w[1] += std::abs(x);
    }
  };
  bool right = good && !status && (room == 0) == is_fused(a) && matches(p, p.o, true, out);
  right = right && matches(p, p.stats, true, [&](double *w, int b, int h, int r, int) { w[0] = logs[(b * a.heads + h) * a.rows + r], w[1] = 0.1; });
  check(right, what);

  // Gradients, of what the host says went forward.
  std::vector<double> o((size_t)BATCHES * a.heads * a.rows * a.depth_v), less(BATCHES * a.heads * a.rows);
  std::vector<double> stats(p.stats.host.size());
  for (int b = 0; b < BATCHES; b++)
    for (int h = 0; h < a.heads; h++)
      for (int r = 0; r < a.rows; r++) {
        const size_t row = (size_t)(b * a.heads + h) * a.rows + r;
        for (int d = 0; d < a.depth_v; d++) {
          double w[2] = {0, 0};
          out(w, b, h, r, d);
          if (place(p, p.o, true, b, h, r, d) >= 0) p.o.host[place(p, p.o, true, b, h, r, d)] = rounded(w[0], a.type);
          less[row] += rounded(w[0], a.type) * p.d_o(b, h, r, d);
        }
        p.stats.host[row] = logs[row];
      }
  for (tensor *t : {&p.o, &p.stats}) t->at = device(packed(t->host, t->type));
  graph_parts n;
  n.scale = g.scale, n.sq = g.sq, n.skv = g.skv, n.seed = g.seed, n.offset = g.offset, n.again = g.again, n.again_inverse = g.again_inverse;
  tensor d_q = a_result({BATCHES, a.heads, a.rows, a.depth}, a.type, a.order, a.gap, a.packed ? &begins_q : nullptr);
  tensor d_k = a_result({BATCHES, a.heads_kv, a.columns, a.depth}, a.type, a.order, a.gap, a.packed ? &begins_kv : nullptr);
  tensor d_v = a_result({BATCHES, a.heads_kv, a.columns, a.depth_v}, a.type, a.order, a.gap, a.packed ? &begins_kv : nullptr);
  tensor sums = a_tensor({BATCHES, a.heads, a.rows, 1}, CUDNN_DATA_FLOAT), wide = a_tensor({BATCHES, a.heads, a.rows, a.depth}, CUDNN_DATA_FLOAT);
  name_inputs(p, n);
  for (tensor *t : {&p.d_o, &d_q, &d_k, &d_v, &sums, &wide, &n.again_inverse}) n.outside.push_back(t);
  if (a.packed) n.outside.push_back(&begins_q), n.outside.push_back(&begins_kv);
  backward(p, n, d_q, d_k, d_v, sums, wide, a.packed ? &begins_kv : nullptr);
  status = run(n.ops, n.outside, &room);
  auto slope = [&](int b, int h, int r, int c) {
    double x = 0;
    if (!p.kept(b, r, c)) return 0.0;
    for (int d = 0; d < a.depth_v; d++) x += p.d_o(b, h, r, d) * p.v(b, p.kv(h), c, d);
    return p.scale * weight(b, h, r, c) * (x * p.stay(b, h, r, c) - less[(b * a.heads + h) * a.rows + r]);
  };
  std::vector<double> slopes(weights.size());
  for (int b = 0; b < BATCHES; b++)
    for (int h = 0; h < a.heads; h++)
      for (int r = 0; r < a.rows; r++)
        for (int c = 0; c < a.columns; c++) slopes[((size_t)(b * a.heads + h) * a.rows + r) * a.columns + c] = slope(b, h, r, c);
  auto found = [&](int b, int h, int r, int c) { return slopes[((size_t)(b * a.heads + h) * a.rows + r) * a.columns + c]; };
  // Differences of products of FP32 are as exact as what they are made of.
  const double least = 0.5 * most_of(slopes);
  const int group = a.heads / a.heads_kv;
  right = good && !status && (room == 0) == is_fused(a);
  right = right && matches(p, d_q, true, [&](double *w, int b, int h, int r, int d) {
            w[1] = least;
            for (int c = 0; c < a.columns; c++)
              if (p.kept(b, r, c)) w[0] += found(b, h, r, c) * p.k(b, p.kv(h), c, d), w[1] += std::abs(found(b, h, r, c) * p.k(b, p.kv(h), c, d));
          });
  right = right && matches(p, d_k, false, [&](double *w, int b, int h, int c, int d) {
            w[1] = least;
            for (int i = h * group; i < (h + 1) * group; i++)
              for (int r = 0; r < a.rows; r++)
                if (p.kept(b, r, c)) w[0] += found(b, i, r, c) * p.q(b, i, r, d), w[1] += std::abs(found(b, i, r, c) * p.q(b, i, r, d));
          });
  right = right && matches(p, d_v, false, [&](double *w, int b, int h, int c, int d) {
            for (int i = h * group; i < (h + 1) * group; i++)
              for (int r = 0; r < a.rows; r++) {
                if (!p.kept(b, r, c)) continue;
                const double x = weight(b, i, r, c) * p.stay(b, i, r, c) * p.d_o(b, i, r, d);
                w[0] += x, w[1] += std::abs(x);
              }
          });
  snprintf(what, sizeof what, "gradients of %s, type %d, %d and %d heads, %d x %d of %d, %d", name, a.type, a.heads, a.heads_kv, a.rows, a.columns, a.depth, a.depth_v);
  check(right, what);
}

int main()
{
  const std::vector<int> plain = {0, 1, 2, 3}, inside = {0, 2, 1, 3}; // heads outside of rows, inside
  int major;
  if (cudnnCreate(&handle) || cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0)) return 1;
  has_bfloat16 = major >= 8;
  int form = 0;
  for (cudnnDataType_t type : {CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16}) {
    const struct {
      const char *name;
      setting a;
    } all[] = {
      {"attention", {type, 2, 2, 70, 100, 64, 64, NONE, NONE, false, false, false, false, false, false, plain, 0}},
      {"one row", {type, 2, 1, 1, 130, 32, 64, NONE, NONE, false, false, false, false, false, false, inside, 0}},
      {"odd columns", {type, 2, 2, 30, 70, 20, 33, NONE, NONE, false, false, false, false, false, false, plain, 3}},
      {"wide columns", {type, 4, 2, 80, 70, 128, 96, 0, NONE, false, false, false, false, false, false, inside, 0}},
      {"a diagonal", {type, 2, 2, 130, 130, 64, 64, 0, NONE, false, false, false, false, false, false, inside, 0}},
      {"a diagonal that ends below", {type, 2, 2, 66, 140, 64, 64, 0, NONE, true, false, false, false, false, false, plain, 0}},
      {"a window", {type, 2, 1, 150, 150, 64, 64, 0, 40, false, false, false, false, false, false, plain, 0}},
      {"a wide window that ends below", {type, 2, 2, 100, 140, 40, 64, 9, 30, true, false, false, false, false, false, plain, 0}},
      {"bias", {type, 4, 2, 70, 100, 64, 128, NONE, NONE, false, true, false, false, false, false, inside, 0}},
      {"slopes", {type, 2, 2, 70, 70, 64, 64, 0, NONE, false, false, true, false, false, false, plain, 0}},
      {"lengths", {type, 2, 1, 80, 100, 64, 64, NONE, NONE, false, true, false, true, false, false, inside, 0}},
      {"lengths below a diagonal", {type, 2, 2, 80, 130, 128, 128, 0, NONE, true, false, false, true, false, false, inside, 0}},
      {"dropped weights", {type, 2, 2, 70, 100, 64, 64, 0, NONE, false, false, false, false, true, false, plain, 0}},
      {"lengths, operation by operation", {type, 2, 1, 80, 100, 136, 64, 0, 50, true, true, false, true, false, false, inside, 0}},
      {"packed sequences", {type, 2, 2, 80, 110, 64, 64, NONE, NONE, false, false, false, true, false, true, inside, 0}},
    };
    for (auto &c : all) one(c.a, form++ % 3, c.name);
  }
  check(!cudnnDestroy(handle), "destroy");
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
