// The CTC loss of libcudnn and its gradient against the host: small ones against all paths one by one, larger ones against
// forward and backward variables (Graves et al. 2006) as plain products in long double. Labels on either side, activations and
// probabilities, layouts, lengths, repeats, labels that no path has, statuses.
#include "networks.cuh"

typedef long double wide;

struct loss {
  int times, symbols;
  std::vector<int> input_lengths, label_lengths, labels;
  int samples() const { return (int)input_lengths.size(); }
};

// Costs and gradients of time x sample x symbol.
struct answer {
  std::vector<wide> costs, gradients;
};

struct one { // sample
  int times, symbols;
  const int *labels;
  int length;
  std::vector<wide> y; // probabilities: time x symbol
  wide total;
  std::vector<wide> share; // of the paths that are at a symbol at a time
};

static void by_paths(one &o)
{
  o.total = 0, o.share.assign(o.times * o.symbols, 0);
  std::vector<int> path(o.times, 0);
  for (;;) {
    std::vector<int> said;
    wide p = 1;
    for (int t = 0; t < o.times; t++) {
      p *= o.y[t * o.symbols + path[t]];
      if (path[t] && (!t || path[t] != path[t - 1])) said.push_back(path[t]);
    }
    if (said == std::vector<int>(o.labels, o.labels + o.length)) {
      o.total += p;
      for (int t = 0; t < o.times; t++) o.share[t * o.symbols + path[t]] += p;
    }
    int t = 0;
    while (t < o.times && ++path[t] == o.symbols) path[t++] = 0;
    if (t == o.times) break;
  }
}

static void by_variables(one &o)
{
  const int states = 2 * o.length + 1;
  auto symbol = [&](int s) { return s & 1 ? o.labels[s / 2] : 0; };
  auto jumps = [&](int s) { return (s & 1) && s >= 3 && symbol(s) != symbol(s - 2); };
  std::vector<wide> a(o.times * states, 0), b(a);
  for (int t = 0; t < o.times; t++)
    for (int s = 0; s < states; s++) {
      wide v = !t && s < 2;
      if (t) v = a[(t - 1) * states + s] + (s ? a[(t - 1) * states + s - 1] : 0) + (jumps(s) ? a[(t - 1) * states + s - 2] : 0);
      a[t * states + s] = v * o.y[t * o.symbols + symbol(s)];
    }
  for (int t = o.times - 1; t >= 0; t--)
    for (int s = 0; s < states; s++) {
      auto next = [&](int to) { return to < states ? b[(t + 1) * states + to] * o.y[(t + 1) * o.symbols + symbol(to)] : 0; };
      b[t * states + s] = t == o.times - 1 ? s + 2 >= states : next(s) + next(s + 1) + (s + 2 < states && jumps(s + 2) ? next(s + 2) : 0);
    }
  o.total = o.times ? a[o.times * states - 1] + (states > 1 ? a[o.times * states - 2] : 0) : !o.length;
  o.share.assign(o.times * o.symbols, 0);
  for (int i = 0; i < o.times * states; i++) o.share[i / states * o.symbols + symbol(i % states)] += a[i] * b[i];
}

static answer on_host(const loss &l, const std::vector<float> &x, bool softmax, bool paths)
{
  answer r;
  const int n = l.samples();
  r.gradients.assign((size_t)l.times * n * l.symbols, 0);
  const int *labels = l.labels.data();
  for (int i = 0; i < n; labels += l.label_lengths[i++]) {
    one o = {l.input_lengths[i], l.symbols, labels, l.label_lengths[i], {}, 0, {}};
    for (int t = 0; t < o.times; t++) {
      wide sum = 0;
      const float *row = &x[((size_t)t * n + i) * l.symbols];
      for (int k = 0; k < l.symbols; k++) sum += expl(row[k]);
      for (int k = 0; k < l.symbols; k++) o.y.push_back(softmax ? expl(row[k]) / sum : row[k]);
    }
    paths ? by_paths(o) : by_variables(o);
    r.costs.push_back(-logl(o.total));
    for (int t = 0; t < o.times && o.total > 0; t++)
      for (int k = 0; k < l.symbols; k++)
        r.gradients[((size_t)t * n + i) * l.symbols + k] = o.y[t * l.symbols + k] - o.share[t * l.symbols + k] / o.total;
  }
  return r;
}

// Numbers of the device and how the call went; gradients are 7 before.
struct outcome {
  std::vector<float> costs, gradients;
  cudnnStatus_t status;
};

struct how {
  bool softmax, on_device, by_sample; // labels; x and gradients: sample x time x symbol in memory
  bool skips, no_gradients;
  int room; // bytes that the workspace lacks
};

template <typename T> static T *sent(const std::vector<T> &v)
{
  T *at;
  cudaMalloc(&at, v.size() * sizeof(T) + 16);
  cudaMemcpy(at, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return at;
}

static size_t place(const loss &l, const how &w, size_t i)
{
  const size_t n = l.samples(), k = i % l.symbols, s = i / l.symbols % n, t = i / l.symbols / n;
  return w.by_sample ? (s * l.times + t) * l.symbols + k : i;
}

static outcome on_device(const loss &l, const std::vector<float> &x, const how &w)
{
  const int n = l.samples(), size[] = {l.times, n, l.symbols};
  const int by_time[] = {n * l.symbols, l.symbols, 1}, by_sample[] = {l.symbols, l.times * l.symbols, 1};
  cudnnTensorDescriptor_t d;
  cudnnCTCLossDescriptor_t c;
  CHECK(cudnnCreateTensorDescriptor(&d));
  CHECK(cudnnSetTensorNdDescriptor(d, CUDNN_DATA_FLOAT, 3, size, w.by_sample ? by_sample : by_time));
  CHECK(cudnnCreateCTCLossDescriptor(&c));
  const cudnnLossNormalizationMode_t mode = w.softmax ? CUDNN_LOSS_NORMALIZATION_SOFTMAX : CUDNN_LOSS_NORMALIZATION_NONE;
  if (w.on_device) CHECK(cudnnSetCTCLossDescriptor_v9(c, CUDNN_DATA_FLOAT, mode, w.skips ? CUDNN_CTC_SKIP_OOB_GRADIENTS : CUDNN_CTC_ZERO_OOB_GRADIENTS, 256));
  else CHECK(cudnnSetCTCLossDescriptorEx(c, CUDNN_DATA_FLOAT, mode, w.skips ? CUDNN_PROPAGATE_NAN : CUDNN_NOT_PROPAGATE_NAN));
  std::vector<float> in(x.size());
  for (size_t i = 0; i < x.size(); i++) in[place(l, w, i)] = x[i];
  float *dx = sent(in), *dg = sent(std::vector<float>(x.size(), 7)), *costs = sent(std::vector<float>(n, 7)), *g = w.no_gradients ? nullptr : dg;
  const cudnnCTCLossAlgo_t algo = CUDNN_CTC_LOSS_ALGO_DETERMINISTIC;
  size_t bytes = 0;
  void *room;
  outcome r;
  r.status = w.on_device ? cudnnGetCTCLossWorkspaceSize_v8(handle, algo, c, d, d, &bytes)
                         : cudnnGetCTCLossWorkspaceSize(handle, d, d, l.labels.data(), l.label_lengths.data(), l.input_lengths.data(), algo, c, &bytes);
  cudaMalloc(&room, bytes + 16);
  bytes -= w.room;
  if (!r.status && w.on_device) {
    int *labels = sent(l.labels), *lengths = sent(l.label_lengths), *times = sent(l.input_lengths);
    r.status = cudnnCTCLoss_v8(handle, algo, c, d, dx, labels, lengths, times, costs, d, g, bytes, room);
    cudaDeviceSynchronize();
    cudaFree(labels), cudaFree(lengths), cudaFree(times);
  } else if (!r.status)
    r.status = cudnnCTCLoss(handle, d, dx, l.labels.data(), l.label_lengths.data(), l.input_lengths.data(), costs, d, g, algo, c, room, bytes);
  r.costs.resize(n), r.gradients.resize(x.size());
  cudaMemcpy(r.costs.data(), costs, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(in.data(), dg, x.size() * sizeof(float), cudaMemcpyDeviceToHost);
  for (size_t i = 0; i < x.size(); i++) r.gradients[i] = in[place(l, w, i)];
  cudaFree(dx), cudaFree(dg), cudaFree(costs), cudaFree(room);
  CHECK(cudnnDestroyCTCLossDescriptor(c));
  CHECK(cudnnDestroyTensorDescriptor(d));
  return r;
}

static void right(bool ok, const std::string &what)
{
  cases++;
  if (ok) return;
  failures++;
  printf("wrong: %s\n", what.c_str());
}

// A cost is rounded once and has a few roundings of what is added to it at a time; gradients are differences of shares below 1.
static void equal(const loss &l, const answer &want, const outcome &got, bool gradients, const std::string &what)
{
  right(got.status == CUDNN_STATUS_SUCCESS, what + ", status");
  bool costs = true, same = true;
  for (size_t i = 0; i < want.costs.size(); i++) costs = costs && fabsl(got.costs[i] - want.costs[i]) <= 0x1p-22L * (4 + want.costs[i]);
  for (size_t i = 0; i < want.gradients.size(); i++)
    same = same && (gradients ? fabsl(got.gradients[i] - want.gradients[i]) <= 0x1p-18L : got.gradients[i] == 7);
  right(costs, what + ", costs");
  right(same, what + (gradients ? ", gradients" : ", gradients that nobody wants"));
}

static std::vector<float> input(const loss &l, bool softmax)
{
  std::vector<float> x((size_t)l.times * l.samples() * l.symbols);
  for (float &v : x) v = (float)number();
  if (softmax) return x;
  for (size_t row = 0; row < x.size(); row += l.symbols) {
    double sum = 0;
    for (int k = 0; k < l.symbols; k++) sum += exp(x[row + k]);
    for (int k = 0; k < l.symbols; k++) x[row + k] = (float)(exp(x[row + k]) / sum);
  }
  return x;
}

static std::vector<int> drawn(int n, int symbols)
{
  std::vector<int> v(n);
  for (int &k : v) state = state * 1664525u + 1013904223u, k = 1 + (int)((state >> 16) % (symbols - 1));
  return v;
}

static void all_ways(const loss &l, bool paths, const std::string &what)
{
  for (int i = 0; i < 8; i++) {
    const how w = {!(i & 1), !!(i & 2), !!(i & 4), !!(i & 1), false, 0};
    const std::vector<float> x = input(l, w.softmax);
    const answer want = on_host(l, x, w.softmax, paths);
    const std::string text = what + (w.softmax ? ", activations" : ", probabilities") + (w.on_device ? ", labels on the device" : "") + (w.by_sample ? ", by sample" : "");
    equal(l, want, on_device(l, x, w), true, text);
    if (!paths) continue;
    const answer other = on_host(l, x, w.softmax, false); // both references
    for (size_t k = 0; k < want.gradients.size(); k++)
      if (fabsl(want.gradients[k] - other.gradients[k]) > 1e-15L) right(false, text + ", the host's own");
    equal(l, want, on_device(l, x, {w.softmax, w.on_device, w.by_sample, false, true, 0}), false, text + ", costs alone");
  }
}

// Labels that no path has: the gradient is 0, or stays as it was.
static void impossible()
{
  const loss l = {6, 4, {6, 5, 6}, {2, 4, 5}, {1, 2, 3, 3, 1, 1, 2, 2, 3, 1, 2}};
  for (int i = 0; i < 4; i++) {
    const how w = {true, !!(i & 1), false, !!(i & 2), false, 0};
    const std::vector<float> x = input(l, true);
    const answer want = on_host(l, x, true, false);
    const outcome got = on_device(l, x, w);
    right(!got.status && std::isinf(got.costs[1]) && got.costs[1] > 0 && fabsl(got.costs[0] - want.costs[0]) < 1e-5L && fabsl(got.costs[2] - want.costs[2]) < 1e-5L, "an impossible sample's cost");
    bool same = true;
    for (size_t k = 0; k < x.size(); k++)
      same = same && (k / 4 % 3 == 1 ? got.gradients[k] == (w.skips ? 7 : 0) : fabsl(got.gradients[k] - want.gradients[k]) < 1e-5L);
    right(same, "an impossible sample's gradient");
  }
}

static void statuses()
{
  const loss l = {6, 4, {6, 5}, {2, 1}, {1, 2, 3}};
  const std::vector<float> x = input(l, true);
  const how host = {true, false, false, false, false, 0}, device = {true, true, false, false, false, 0};
  auto of = [&](auto change, const how &w) {
    loss other = l;
    change(other);
    return on_device(other, x, w);
  };
  auto refused = [](const outcome &o) { return o.status / 1000 == 2; }; // a bad parameter
  right(!of([](loss &) {}, host).status, "as it is");
  right(refused(of([](loss &o) { o.labels[1] = 4; }, host)), "a label beyond the symbols");
  right(refused(of([](loss &o) { o.labels[1] = 0; }, host)), "a blank as a label");
  right(refused(of([](loss &o) { o.input_lengths[1] = 7; }, host)), "more times than there are");
  right(refused(of([](loss &o) { o.label_lengths[1] = -1; }, host)), "a length below 0");
  how little = host;
  little.room = 1;
  right(refused(on_device(l, x, little)), "a small workspace");
  little.on_device = true;
  right(refused(on_device(l, x, little)), "a small workspace, labels on the device");
  const outcome blank = of([](loss &o) { o.labels[2] = 0; }, device), length = of([](loss &o) { o.input_lengths[1] = 7; }, device);
  right(!blank.status && std::isnan(blank.costs[1]) && std::isnan(blank.gradients[4]) && std::isfinite(blank.costs[0]), "a blank as a label on the device");
  right(!length.status && std::isnan(length.costs[1]) && std::isfinite(length.costs[0]), "more times than there are, on the device");
  cudnnCTCLossDescriptor_t c;
  CHECK(cudnnCreateCTCLossDescriptor(&c));
  right(cudnnSetCTCLossDescriptor_v8(c, CUDNN_DATA_DOUBLE, CUDNN_LOSS_NORMALIZATION_NONE, CUDNN_PROPAGATE_NAN, 9) == CUDNN_STATUS_NOT_SUPPORTED, "FP64");
  right(!cudnnSetCTCLossDescriptor_v8(c, CUDNN_DATA_FLOAT, CUDNN_LOSS_NORMALIZATION_SOFTMAX, CUDNN_PROPAGATE_NAN, 9), "a descriptor");
  cudnnDataType_t type = CUDNN_DATA_HALF;
  cudnnLossNormalizationMode_t mode = CUDNN_LOSS_NORMALIZATION_NONE;
  cudnnCTCGradMode_t gradients = CUDNN_CTC_ZERO_OOB_GRADIENTS;
  int most = 0;
  right(!cudnnGetCTCLossDescriptor_v9(c, &type, &mode, &gradients, &most) && type == CUDNN_DATA_FLOAT && mode == CUDNN_LOSS_NORMALIZATION_SOFTMAX &&
          gradients == CUDNN_CTC_SKIP_OOB_GRADIENTS && most == 9, "what a descriptor has");
  CHECK(cudnnDestroyCTCLossDescriptor(c));
}

int main()
{
  CHECK(cudnnCreate(&handle));
  all_ways({5, 4, {5, 5, 4, 1, 5}, {2, 0, 3, 1, 5}, {1, 2, 3, 2, 1, 3, 1, 2, 1, 2, 3}}, true, "all paths");
  all_ways({7, 3, {7, 6, 0}, {3, 4, 0}, {1, 1, 2, 1, 2, 2, 1}}, true, "all paths, repeats");
  loss l = {60, 40, {60, 51, 60}, {20, 7, 1}, {}};
  l.labels = drawn(28, 40);
  all_ways(l, false, "60 times");
  l = {560, 300, {560, 540}, {256, 255}, {}};
  l.labels = drawn(511, 300);
  all_ways(l, false, "256 labels");
  impossible();
  statuses();
  CHECK(cudnnDestroy(handle));
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
