// libcudnn against the host in binary64: convolutions and their gradients (by descriptors and by graphs), batch
// normalisation, recurrent layers (their gradients against differences of the host's forward), dropout, refusals.
#include "networks.cuh"

struct geometry {
  shape x, w, y;
  int pad[3], stride[3], dilation[3], groups;
  bool flipped;
};

// f(index of x, of w, of y) for each product of the sum.
template <typename F> static void each_product(const geometry &g, F f)
{
  const int kg = g.w.n / g.groups;
  for (int n = 0; n < g.x.n; n++)
    for (int k = 0; k < g.w.n; k++)
      for (int c = 0; c < g.w.c; c++)
        for (int o = 0; o < g.y.s[0] * g.y.s[1] * g.y.s[2]; o++)
          for (int r = 0; r < g.w.s[0] * g.w.s[1] * g.w.s[2]; r++) {
            const int p[3] = {o / g.y.s[2] / g.y.s[1], o / g.y.s[2] % g.y.s[1], o % g.y.s[2]};
            const int t[3] = {r / g.w.s[2] / g.w.s[1], r / g.w.s[2] % g.w.s[1], r % g.w.s[2]};
            int in[3];
            bool there = true;
            for (int d = 0; d < 3; d++) {
              const int tap = g.flipped ? g.w.s[d] - 1 - t[d] : t[d];
              in[d] = p[d] * g.stride[d] - g.pad[d] + tap * g.dilation[d];
              there = there && in[d] >= 0 && in[d] < g.x.s[d];
            }
            if (there)
              f(g.x.at(n, k / kg * g.w.c + c, in[0], in[1], in[2]), g.w.at(k, c, t[0], t[1], t[2]),
                g.y.at(n, k, p[0], p[1], p[2]));
          }
}

static geometry make(int n, int c, int k, int size, int filter, int stride, int pad, int dilation, int groups, bool last,
                     bool three, bool flipped = false)
{
  geometry g = {{n, c, {three ? size - 2 : 1, size, size + 2}, last}, {k, c / groups, {three ? filter : 1, filter, filter}, last},
                {n, k, {1, 1, 1}, last}, {three ? pad : 0, pad, pad}, {three ? stride : 1, stride, stride},
                {three ? dilation : 1, dilation, dilation}, groups, flipped};
  for (int d = 0; d < 3; d++)
    g.y.s[d] = (g.x.s[d] + 2 * g.pad[d] - g.dilation[d] * (g.w.s[d] - 1) - 1) / g.stride[d] + 1;
  return g;
}

static void convolution(const char *name, cudnnDataType_t t, const geometry &g, bool three)
{
  const int dims = three ? 5 : 4, from = three ? 0 : 1;
  const numbers x = random_numbers(g.x.count()), w = random_numbers(g.w.count()), dy = random_numbers(g.y.count());
  tensor xd(t, g.x, dims), yd(t, g.y, dims);
  cudnnFilterDescriptor_t wd;
  cudnnConvolutionDescriptor_t cd;
  const int wall[5] = {g.w.n, g.w.c, g.w.s[0], g.w.s[1], g.w.s[2]}, wtwo[4] = {g.w.n, g.w.c, g.w.s[1], g.w.s[2]};
  cudnnCreateFilterDescriptor(&wd), cudnnCreateConvolutionDescriptor(&cd);
  CHECK(cudnnSetFilterNdDescriptor(wd, t, g.w.last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, dims, three ? wall : wtwo));
  CHECK(cudnnSetConvolutionNdDescriptor(cd, dims - 2, g.pad + from, g.stride + from, g.dilation + from,
                                        g.flipped ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION,
                                        t == CUDNN_DATA_DOUBLE ? t : CUDNN_DATA_FLOAT));
  CHECK(cudnnSetConvolutionGroupCount(cd, g.groups));
  int out[5];
  CHECK(cudnnGetConvolutionNdForwardOutputDim(cd, xd.d, wd, dims, out));
  numbers want[3] = {numbers(g.y.count(), 1), numbers(g.x.count(), 2), numbers(g.w.count(), 3)};
  buffer X(t, x), W(t, w), DY(t, dy), Y(t, want[0]), DX(t, want[1]), DW(t, want[2]);
  for (numbers &v : want)
    for (double &e : v) e *= 0.5;
  each_product(g, [&](size_t i, size_t j, size_t k) {
    want[0][k] += 2 * x[i] * w[j], want[1][i] += 2 * dy[k] * w[j], want[2][j] += 2 * dy[k] * x[i];
  });
  const scale alpha(t, 2), beta(t, 0.5);
  size_t room[3];
  void *workspace;
  cudnnConvolutionFwdAlgo_t a0 = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
  cudnnConvolutionBwdDataAlgo_t a1 = CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
  cudnnConvolutionBwdFilterAlgo_t a2 = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;
  CHECK(cudnnGetConvolutionForwardWorkspaceSize(handle, xd.d, wd, cd, yd.d, a0, &room[0]));
  CHECK(cudnnGetConvolutionBackwardDataWorkspaceSize(handle, wd, yd.d, cd, xd.d, a1, &room[1]));
  CHECK(cudnnGetConvolutionBackwardFilterWorkspaceSize(handle, xd.d, yd.d, cd, wd, a2, &room[2]));
  cudaMalloc(&workspace, room[0] + room[1] + room[2] + 16);
  CHECK(cudnnConvolutionForward(handle, alpha.at(), xd.d, X.at, wd, W.at, cd, a0, workspace, room[0], beta.at(), yd.d, Y.at));
  CHECK(cudnnConvolutionBackwardData(handle, alpha.at(), wd, W.at, yd.d, DY.at, cd, a1, workspace, room[1], beta.at(),
                                     xd.d, DX.at));
  CHECK(cudnnConvolutionBackwardFilter(handle, alpha.at(), xd.d, X.at, yd.d, DY.at, cd, a2, workspace, room[2], beta.at(),
                                       wd, DW.at));
  same(std::string(name) + ", forward", Y.get(), want[0], limit_of(t));
  same(std::string(name) + ", data", DX.get(), want[1], limit_of(t));
  same(std::string(name) + ", filter", DW.get(), want[2], limit_of(t));
  cudaFree(workspace);
  cudnnDestroyFilterDescriptor(wd), cudnnDestroyConvolutionDescriptor(cd);
}

static void convolutions()
{
  const cudnnDataType_t f = CUDNN_DATA_FLOAT;
  convolution("3 x 3", f, make(2, 5, 7, 9, 3, 1, 1, 1, 1, false, false), false);
  convolution("3 x 3, stride 2", f, make(2, 16, 70, 9, 3, 2, 1, 1, 1, false, false), false);
  convolution("few columns, split", f, make(4, 256, 66, 2, 3, 1, 1, 1, 1, false, false), false);
  convolution("stride 3, few columns", f, make(1, 8, 9, 5, 4, 3, 2, 1, 1, false, false), false);
  convolution("1 x 1, channels last", f, make(2, 9, 12, 6, 1, 1, 0, 1, 1, true, false), false);
  convolution("dilated, channels last", f, make(2, 4, 6, 11, 3, 2, 3, 2, 1, true, false), false);
  convolution("groups", f, make(2, 8, 12, 7, 3, 1, 1, 1, 4, false, false), false);
  convolution("a group per channel", f, make(2, 6, 6, 9, 5, 2, 2, 1, 6, false, false), false);
  convolution("turned filter", f, make(2, 5, 8, 9, 3, 2, 1, 1, 1, false, false, true), false);
  convolution("three dimensions", f, make(1, 4, 6, 7, 3, 2, 1, 1, 1, false, true), true);
  convolution("double", CUDNN_DATA_DOUBLE, make(2, 5, 7, 9, 3, 2, 1, 1, 1, false, false), false);
  convolution("half", CUDNN_DATA_HALF, make(2, 8, 24, 9, 3, 2, 1, 1, 1, true, false), false);
  convolution("half, groups", CUDNN_DATA_HALF, make(2, 4, 4, 9, 3, 1, 1, 1, 4, false, false), false);
  convolution("bfloat16", CUDNN_DATA_BFLOAT16, make(2, 8, 24, 9, 3, 1, 1, 1, 1, false, false), false);
}

// Graphs, as cudnn_frontend makes them.
static cudnnBackendDescriptor_t made(cudnnBackendDescriptorType_t kind)
{
  cudnnBackendDescriptor_t d;
  CHECK(cudnnBackendCreateDescriptor(kind, &d));
  return d;
}
static void put(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t n,
                const void *v)
{
  CHECK(cudnnBackendSetAttribute(d, name, type, n, v));
}
static cudnnBackendDescriptor_t graph_tensor(const shape &s, int64_t id, cudnnDataType_t t, bool is_virtual)
{
  cudnnBackendDescriptor_t d = made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const int64_t size[4] = {s.n, s.c, s.s[1], s.s[2]}, align = 4;
  const int64_t area = (int64_t)s.s[1] * s.s[2], first[4] = {s.c * area, area, s.s[2], 1},
                last[4] = {s.c * area, 1, (int64_t)s.s[2] * s.c, s.c};
  put(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &t);
  put(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, size);
  put(d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, s.last ? last : first);
  put(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &id);
  put(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &align);
  if (is_virtual) put(d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
  CHECK(cudnnBackendFinalize(d));
  return d;
}
static cudnnBackendDescriptor_t pointwise(cudnnPointwiseMode_t mode, cudnnBackendDescriptor_t x, cudnnBackendDescriptor_t b,
                                          cudnnBackendDescriptor_t y, float scale)
{
  cudnnBackendDescriptor_t what = made(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  cudnnBackendDescriptor_t op = made(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  const cudnnDataType_t t = CUDNN_DATA_FLOAT;
  put(what, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
  put(what, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &t);
  CHECK(cudnnBackendFinalize(what));
  put(op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &what);
  put(op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &x);
  if (b) put(op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &b);
  put(op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &y);
  if (b) put(op, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, CUDNN_TYPE_FLOAT, 1, &scale);
  CHECK(cudnnBackendFinalize(op));
  cudnnBackendDestroyDescriptor(what);
  return op;
}

// y = relu(x * w + 0.5 z + b); `spoiled`: with an operation that there is no kernel for.
static void graph(bool last, bool spoiled)
{
  const geometry g = make(2, 6, 10, 8, 3, 1, 1, 1, 1, last, false);
  const shape bias = {1, g.w.n, {1, 1, 1}, true};
  const numbers x = random_numbers(g.x.count()), w = random_numbers(g.w.count()), z = random_numbers(g.y.count());
  const numbers b = random_numbers(g.w.n);
  numbers want(g.y.count());
  const cudnnDataType_t t = CUDNN_DATA_FLOAT;
  each_product(g, [&](size_t i, size_t j, size_t k) { want[k] += x[i] * w[j]; });
  for (int n = 0; n < g.y.n; n++)
    for (int k = 0; k < g.y.c; k++)
      for (int p = 0; p < g.y.s[1] * g.y.s[2]; p++) {
        const size_t at = g.y.at(n, k, 0, p / g.y.s[2], p % g.y.s[2]);
        want[at] = fmax(0, want[at] + 0.5 * z[at] + b[k]);
      }
  buffer X(t, x), W(t, w), Z(t, z), B(t, b), Y(t, numbers(g.y.count(), 99));
  cudnnBackendDescriptor_t xd = graph_tensor(g.x, 'x', t, false), wd = graph_tensor(g.w, 'w', t, false),
                           zd = graph_tensor(g.y, 'z', t, false), bd = graph_tensor(bias, 'b', t, false),
                           yd = graph_tensor(g.y, 'y', t, false), v1 = graph_tensor(g.y, 'C', t, true),
                           v2 = graph_tensor(g.y, 'A', t, true), v3 = graph_tensor(g.y, 'B', t, true);
  cudnnBackendDescriptor_t cd = made(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  const int64_t pad[2] = {1, 1}, one[2] = {1, 1}, dims = 2;
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  put(cd, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &t);
  put(cd, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
  put(cd, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &dims);
  put(cd, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, pad);
  put(cd, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, pad);
  put(cd, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, one);
  put(cd, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, one);
  CHECK(cudnnBackendFinalize(cd));
  cudnnBackendDescriptor_t conv = made(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  const float alpha = 1, beta = 0;
  put(conv, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &xd);
  put(conv, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &wd);
  put(conv, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &v1);
  put(conv, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &cd);
  put(conv, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &alpha);
  put(conv, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1, &beta);
  CHECK(cudnnBackendFinalize(conv));
  cudnnBackendDescriptor_t ops[4] = {conv, pointwise(CUDNN_POINTWISE_ADD, v1, zd, v2, 0.5f),
                                     pointwise(CUDNN_POINTWISE_ADD, v2, bd, v3, 1),
                                     pointwise(spoiled ? CUDNN_POINTWISE_ERF : CUDNN_POINTWISE_RELU_FWD, v3, nullptr, yd, 1)};
  cudnnBackendDescriptor_t all = made(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  put(all, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 4, ops);
  put(all, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
  CHECK(cudnnBackendFinalize(all));
  for (cudnnBackendDescriptor_t d : ops) cudnnBackendDestroyDescriptor(d); // the graph holds them
  for (cudnnBackendDescriptor_t d : {xd, wd, zd, bd, yd, v1, v2, v3, cd}) cudnnBackendDestroyDescriptor(d);
  cudnnBackendDescriptor_t heuristics = made(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  const cudnnBackendHeurMode_t instant = CUDNN_HEUR_MODE_INSTANT;
  put(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &all);
  put(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &instant);
  const cudnnStatus_t found = cudnnBackendFinalize(heuristics);
  if (spoiled) {
    cases++;
    if (found / 1000 != CUDNN_STATUS_NOT_SUPPORTED / 1000) failures++, printf("wrong: an unknown graph gave %d\n", found);
    cudnnBackendDestroyDescriptor(heuristics), cudnnBackendDestroyDescriptor(all);
    return;
  }
  CHECK(found);
  int64_t n = 0, bytes = -1;
  cudnnBackendDescriptor_t config = made(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  CHECK(cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &n, &config));
  cudnnBackendDescriptor_t plan = made(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  put(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &config);
  CHECK(cudnnBackendFinalize(plan));
  CHECK(cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, nullptr, &bytes));
  void *workspace, *pointers[5] = {X.at, W.at, Z.at, B.at, Y.at};
  const int64_t ids[5] = {'x', 'w', 'z', 'b', 'y'};
  cudaMalloc(&workspace, bytes + 16);
  cudnnBackendDescriptor_t pack = made(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  put(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 5, ids);
  put(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 5, pointers);
  put(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
  CHECK(cudnnBackendFinalize(pack));
  CHECK(cudnnBackendExecute(handle, plan, pack));
  same(last ? "graph, channels last" : "graph", Y.get(), want, 1e-5);
  for (cudnnBackendDescriptor_t d : {all, heuristics, config, plan, pack}) cudnnBackendDestroyDescriptor(d);
  cudaFree(workspace);
}

static void normalisation(cudnnDataType_t t, bool last)
{
  const shape s = {3, 5, {1, 7, 6}, last}, p = {1, 5, {1, 1, 1}, false};
  const cudnnDataType_t pt = t == CUDNN_DATA_DOUBLE ? t : CUDNN_DATA_FLOAT;
  const double epsilon = 1e-3, factor = 0.25, m = 3 * 42;
  const numbers x = random_numbers(s.count()), dy = random_numbers(s.count()), scale_v = random_numbers(5), b = random_numbers(5);
  numbers mean(5), var(5), inv(5), y(s.count()), dx(s.count()), db(5), ds(5), rm(5, 1), rv(5, 2), eval(s.count());
  tensor xd(t, s, 4), pd(pt, p, 4);
  const auto each = [&](auto f) {
    for (int n = 0; n < 3; n++)
      for (int c = 0; c < 5; c++)
        for (int i = 0; i < 42; i++) f(s.at(n, c, 0, i / 6, i % 6), c);
  };
  buffer X(t, x), DY(t, dy), Y(t, y), DX(t, x), EVAL(t, y), S(pt, scale_v), B(pt, b), RM(pt, rm), RV(pt, rv), SM(pt, b), SI(pt, b),
    DS(pt, b), DB(pt, b);
  each([&](size_t i, int c) { mean[c] += x[i] / m; });
  each([&](size_t i, int c) { var[c] += (x[i] - mean[c]) * (x[i] - mean[c]) / m; });
  for (int c = 0; c < 5; c++) inv[c] = 1 / sqrt(var[c] + epsilon);
  each([&](size_t i, int c) {
    y[i] = (x[i] - mean[c]) * inv[c] * scale_v[c] + b[c];
    eval[i] = (x[i] - rm[c]) / sqrt(rv[c] + epsilon) * scale_v[c] + b[c];
    db[c] += dy[i], ds[c] += dy[i] * (x[i] - mean[c]) * inv[c];
  });
  each([&](size_t i, int c) {
    dx[i] = scale_v[c] * inv[c] * (dy[i] - db[c] / m - (x[i] - mean[c]) * inv[c] * ds[c] / m);
  });
  const scale one(t, 1), zero(t, 0);
  const cudnnBatchNormMode_t mode = CUDNN_BATCHNORM_SPATIAL;
  CHECK(cudnnBatchNormalizationForwardInference(handle, mode, one.at(), zero.at(), xd.d, X.at, xd.d, EVAL.at, pd.d, S.at,
                                                B.at, RM.at, RV.at, epsilon));
  CHECK(cudnnBatchNormalizationForwardTrainingEx(handle, mode, CUDNN_BATCHNORM_OPS_BN, one.at(), zero.at(), xd.d, X.at,
                                                 nullptr, nullptr, xd.d, Y.at, pd.d, S.at, B.at, factor, RM.at, RV.at,
                                                 epsilon, SM.at, SI.at, nullptr, nullptr, 0, nullptr, 0));
  CHECK(cudnnBatchNormalizationBackwardEx(handle, mode, CUDNN_BATCHNORM_OPS_BN, one.at(), zero.at(), one.at(), zero.at(),
                                          xd.d, X.at, nullptr, nullptr, xd.d, DY.at, nullptr, nullptr, xd.d, DX.at, pd.d,
                                          S.at, nullptr, DS.at, DB.at, epsilon, SM.at, SI.at, nullptr, nullptr, 0, nullptr, 0));
  for (int c = 0; c < 5; c++)
    rm[c] = rm[c] * (1 - factor) + mean[c] * factor, rv[c] = rv[c] * (1 - factor) + var[c] * m / (m - 1) * factor;
  const double limit = limit_of(t), wide = limit_of(pt);
  same("normalisation, inference", EVAL.get(), eval, limit);
  same("normalisation, training", Y.get(), y, limit);
  same("normalisation, running mean", RM.get(), rm, wide);
  same("normalisation, running variance", RV.get(), rv, wide);
  same("normalisation, mean kept", SM.get(), mean, wide);
  same("normalisation, 1 / deviation kept", SI.get(), inv, wide);
  same("normalisation, data", DX.get(), dx, limit);
  same("normalisation, scale", DS.get(), ds, wide);
  same("normalisation, bias", DB.get(), db, wide);
}

// Recurrent layers. The host's forward, step by step, of packed sequences.
struct network {
  cudnnRNNMode_t mode;
  int input, hidden, layers, directions;
  std::vector<int> lengths; // the longest first
  cudnnRNNDescriptor_t d;
  size_t weight_bytes;
  int gates() const { return mode == CUDNN_LSTM ? 4 : mode == CUDNN_GRU ? 3 : 1; }
  int batch() const { return (int)lengths.size(); }
  int active(int t) const
  {
    int n = 0;
    for (int l : lengths) n += l > t;
    return t < 0 ? 0 : n;
  }
  int row(int t) const
  {
    int r = 0;
    for (int i = 0; i < t; i++) r += active(i);
    return r;
  }
  // Where part `id` (input gates, then state gates) of a layer lies: element of the matrix, of the bias.
  void part(int layer, int id, size_t *matrix, size_t *bias) const
  {
    cudnnTensorDescriptor_t a, b;
    void *m = nullptr, *v = nullptr;
    cudnnCreateTensorDescriptor(&a), cudnnCreateTensorDescriptor(&b);
    CHECK(cudnnGetRNNWeightParams(handle, d, layer, weight_bytes, (void *)4096, id, a, &m, b, &v));
    *matrix = ((char *)m - (char *)4096) / 8, *bias = ((char *)v - (char *)4096) / 8;
    cudnnDestroyTensorDescriptor(a), cudnnDestroyTensorDescriptor(b);
  }
};
static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

static void host_forward(const network &n, const numbers &w, const numbers &x, const numbers &hx, const numbers &cx,
                         numbers &y, numbers &hy, numbers &cy)
{
  const int H = n.hidden, G = n.gates(), B = n.batch(), steps = n.lengths[0];
  numbers from = x;
  hy.assign(hx.size(), 0), cy.assign(hx.size(), 0);
  for (int l = 0; l < n.layers; l++) {
    const int in = l ? H * n.directions : n.input;
    y.assign((size_t)n.row(steps) * H * n.directions, 0);
    for (int dir = 0; dir < n.directions; dir++) {
      const int layer = l * n.directions + dir;
      std::vector<size_t> m(2 * G), b(2 * G);
      for (int i = 0; i < 2 * G; i++) n.part(layer, i, &m[i], &b[i]);
      for (int s = 0; s < B; s++) {
        numbers h(hx.begin() + ((size_t)layer * B + s) * H, hx.begin() + ((size_t)layer * B + s + 1) * H), c(H), next(H);
        for (int u = 0; u < H; u++) c[u] = cx[((size_t)layer * B + s) * H + u];
        for (int i = 0; i < n.lengths[s]; i++) {
          const int t = dir ? n.lengths[s] - 1 - i : i;
          const double *row = &from[(size_t)(n.row(t) + s) * in];
          for (int u = 0; u < H; u++) {
            double a[4], r[4];
            for (int g = 0; g < G; g++) {
              a[g] = w[b[g] + u], r[g] = w[b[G + g] + u];
              for (int k = 0; k < in; k++) a[g] += w[m[g] + (size_t)u * in + k] * row[k];
              for (int k = 0; k < H; k++) r[g] += w[m[G + g] + (size_t)u * H + k] * h[k];
            }
            if (n.mode == CUDNN_LSTM) {
              c[u] = sigmoid(a[1] + r[1]) * c[u] + sigmoid(a[0] + r[0]) * tanh(a[2] + r[2]);
              next[u] = sigmoid(a[3] + r[3]) * tanh(c[u]);
            } else if (n.mode == CUDNN_GRU) {
              const double z = sigmoid(a[1] + r[1]);
              next[u] = (1 - z) * tanh(a[2] + sigmoid(a[0] + r[0]) * r[2]) + z * h[u];
            } else {
              next[u] = n.mode == CUDNN_RNN_TANH ? tanh(a[0] + r[0]) : fmax(0, a[0] + r[0]);
            }
          }
          h = next;
          for (int u = 0; u < H; u++) y[((size_t)(n.row(t) + s) * n.directions + dir) * H + u] = h[u];
        }
        for (int u = 0; u < H; u++) hy[((size_t)layer * B + s) * H + u] = h[u], cy[((size_t)layer * B + s) * H + u] = c[u];
      }
    }
    from = y;
  }
}

static double weighed(const numbers &v, const numbers &by)
{
  double s = 0;
  for (size_t i = 0; i < v.size(); i++) s += v[i] * by[i];
  return s;
}

static void recurrent(const char *name, network n)
{
  const cudnnDataType_t t = CUDNN_DATA_DOUBLE;
  const int B = n.batch(), steps = n.lengths[0], states = n.layers * n.directions * B * n.hidden;
  cudnnDropoutDescriptor_t drop;
  cudnnRNNDataDescriptor_t xd, yd;
  tensor hd(t, {n.layers * n.directions, B, {1, n.hidden, 1}, false}, 4);
  cudnnCreateDropoutDescriptor(&drop), cudnnCreateRNNDescriptor(&n.d);
  cudnnCreateRNNDataDescriptor(&xd), cudnnCreateRNNDataDescriptor(&yd);
  CHECK(cudnnSetDropoutDescriptor(drop, handle, 0, nullptr, 0, 0));
  CHECK(cudnnSetRNNDescriptor_v8(n.d, CUDNN_RNN_ALGO_STANDARD, n.mode, CUDNN_RNN_DOUBLE_BIAS,
                                 n.directions == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT, t, t,
                                 CUDNN_DEFAULT_MATH, n.input, n.hidden, n.hidden, n.layers, drop, 0));
  CHECK(cudnnGetRNNWeightSpaceSize(handle, n.d, &n.weight_bytes));
  CHECK(cudnnSetRNNDataDescriptor(xd, t, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, steps, B, n.input, n.lengths.data(), nullptr));
  CHECK(cudnnSetRNNDataDescriptor(yd, t, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, steps, B, n.hidden * n.directions,
                                  n.lengths.data(), nullptr));
  const size_t rows = n.row(steps), wide = (size_t)n.hidden * n.directions;
  numbers w = random_numbers(n.weight_bytes / 8, 0.25), x = random_numbers(rows * n.input), hx = random_numbers(states, 0.5),
          cx = random_numbers(states, 0.5);
  const numbers gy = random_numbers(rows * wide), gh = random_numbers(states), gc = random_numbers(states);
  numbers y, hy, cy;
  host_forward(n, w, x, hx, cx, y, hy, cy);
  buffer W(t, w), X(t, x), HX(t, hx), CX(t, cx), Y(t, numbers(y.size())), HY(t, numbers(states)), CY(t, numbers(states)),
    DY(t, gy), DHY(t, gh), DCY(t, gc), DX(t, x), DHX(t, hx), DCX(t, cx), DW(t, numbers(w.size(), 1));
  size_t room, reserve;
  void *workspace, *kept;
  CHECK(cudnnGetRNNTempSpaceSizes(handle, n.d, CUDNN_FWD_MODE_TRAINING, xd, &room, &reserve));
  cudaMalloc(&workspace, room), cudaMalloc(&kept, reserve);
  const bool lstm = n.mode == CUDNN_LSTM;
  CHECK(cudnnRNNForward(handle, n.d, CUDNN_FWD_MODE_TRAINING, nullptr, xd, X.at, yd, Y.at, hd.d, HX.at, HY.at, hd.d,
                        lstm ? CX.at : nullptr, lstm ? CY.at : nullptr, n.weight_bytes, W.at, room, workspace, reserve, kept));
  CHECK(cudnnRNNBackwardData_v8(handle, n.d, nullptr, yd, Y.at, DY.at, xd, DX.at, hd.d, HX.at, DHY.at, DHX.at, hd.d,
                                lstm ? CX.at : nullptr, lstm ? DCY.at : nullptr, lstm ? DCX.at : nullptr, n.weight_bytes, W.at,
                                room, workspace, reserve, kept));
  CHECK(cudnnRNNBackwardWeights_v8(handle, n.d, CUDNN_WGRAD_MODE_ADD, nullptr, xd, X.at, hd.d, HX.at, yd, Y.at,
                                   n.weight_bytes, DW.at, room, workspace, reserve, kept));
  const std::string what(name);
  same(what + ", y", Y.get(), y, 1e-12);
  same(what + ", hy", HY.get(), hy, 1e-12);
  if (lstm) same(what + ", cy", CY.get(), cy, 1e-12);
  // Gradients of the weighed sum of all results, by differences of the host's.
  const auto slopes = [&](numbers &of, size_t step, double base, const numbers &got, const std::string &label) {
    numbers want, picked;
    for (size_t i = 0; i < of.size(); i += step) {
      double side[2];
      const double old = of[i], h = 1e-5;
      for (int k = 0; k < 2; k++) {
        numbers a, b, c;
        of[i] = old + (k ? -h : h);
        host_forward(n, w, x, hx, cx, a, b, c);
        side[k] = weighed(a, gy) + weighed(b, gh) + (lstm ? weighed(c, gc) : 0);
      }
      of[i] = old;
      want.push_back((side[0] - side[1]) / (2 * h) + base);
      picked.push_back(got[i]);
    }
    same(what + label, picked, want, 1e-7);
  };
  slopes(x, 7, 0, DX.get(), ", dx");
  slopes(hx, 3, 0, DHX.get(), ", dhx");
  if (lstm) slopes(cx, 3, 0, DCX.get(), ", dcx");
  slopes(w, 11, 1, DW.get(), ", dw");
  cudaFree(workspace), cudaFree(kept);
  cudnnDestroyRNNDataDescriptor(xd), cudnnDestroyRNNDataDescriptor(yd);
  cudnnDestroyRNNDescriptor(n.d), cudnnDestroyDropoutDescriptor(drop);
}

// A quarter is dropped, the others are scaled; the same are dropped backward; the next call drops others.
static void dropout()
{
  const shape s = {4, 16, {1, 16, 16}, false};
  cudnnDropoutDescriptor_t d;
  tensor xd(CUDNN_DATA_FLOAT, s, 4);
  size_t bytes, kept;
  void *states, *reserve;
  cudnnCreateDropoutDescriptor(&d);
  CHECK(cudnnDropoutGetStatesSize(handle, &bytes));
  CHECK(cudnnDropoutGetReserveSpaceSize(xd.d, &kept));
  cudaMalloc(&states, bytes), cudaMalloc(&reserve, kept);
  CHECK(cudnnSetDropoutDescriptor(d, handle, 0.25f, states, bytes, 7));
  const numbers ones(s.count(), 1);
  buffer X(CUDNN_DATA_FLOAT, ones), Y(CUDNN_DATA_FLOAT, ones), Z(CUDNN_DATA_FLOAT, ones), DX(CUDNN_DATA_FLOAT, ones);
  CHECK(cudnnDropoutForward(handle, d, xd.d, X.at, xd.d, Y.at, reserve, kept));
  CHECK(cudnnDropoutBackward(handle, d, xd.d, X.at, xd.d, DX.at, reserve, kept));
  CHECK(cudnnDropoutForward(handle, d, xd.d, X.at, xd.d, Z.at, reserve, kept));
  const numbers y = Y.get(), z = Z.get();
  double stay = 0, both = 0;
  for (size_t i = 0; i < y.size(); i++) {
    stay += y[i] != 0, both += y[i] != 0 && z[i] != 0;
    if (y[i] != 0 && fabs(y[i] - 4.0 / 3) > 1e-6) failures++;
  }
  same("dropout, backward", DX.get(), y, 0);
  cases++;
  const double n = (double)y.size(), sigma = sqrt(0.25 * 0.75 / n); // of the share that stays
  if (fabs(stay / n - 0.75) > 5 * sigma || fabs(both / n - 0.5625) > 0.03) {
    failures++;
    printf("wrong: dropout: %g stay, %g twice\n", stay / n, both / n);
  }
  cudaFree(states), cudaFree(reserve);
  cudnnDestroyDropoutDescriptor(d);
}

static void refusals()
{
  cudnnLRNDescriptor_t d = nullptr;
  tensor a(CUDNN_DATA_FLOAT, {1, 2, {1, 4, 4}, false}, 4);
  const float one = 1, zero = 0;
  cases++;
  if (cudnnLRNCrossChannelForward(handle, d, CUDNN_LRN_CROSS_CHANNEL_DIM1, &one, a.d, nullptr, &zero, a.d, nullptr) !=
      CUDNN_STATUS_NOT_SUPPORTED)
    failures++, printf("wrong: what is not there was not refused\n");
}

int main()
{
  CHECK(cudnnCreate(&handle));
  convolutions();
  graph(false, false), graph(true, false), graph(false, true);
  normalisation(CUDNN_DATA_FLOAT, false), normalisation(CUDNN_DATA_FLOAT, true), normalisation(CUDNN_DATA_DOUBLE, false);
  normalisation(CUDNN_DATA_HALF, true);
  recurrent("LSTM", {CUDNN_LSTM, 5, 6, 2, 2, {4, 4, 2, 1}});
  recurrent("LSTM, one step, many sequences", {CUDNN_LSTM, 3, 4, 1, 1, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}});
  recurrent("GRU", {CUDNN_GRU, 5, 6, 2, 2, {3, 2, 2}});
  recurrent("tanh", {CUDNN_RNN_TANH, 5, 34, 1, 2, {3, 1}});
  recurrent("ReLU", {CUDNN_RNN_RELU, 4, 5, 2, 1, {3, 3, 2}});
  dropout();
  refusals();
  CHECK(cudnnDestroy(handle));
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
