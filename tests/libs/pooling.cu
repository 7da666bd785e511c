// Pooling and softmax of libcudnn by descriptors, with their gradients, against the host in binary64: all modes and types, one to
// three dimensions of space, both layouts, windows over the border, NaNs, equal elements.
#include "networks.cuh"

struct pool {
  shape x, y;
  int dims, window[3], pad[3], step[3]; // of three dimensions; those in front of `dims` are 1, 0, 1
  cudnnPoolingMode_t mode;
};

static pool make(int n, int c, int dims, int size, int window, int pad, int step, bool last, cudnnPoolingMode_t mode)
{
  pool p = {{n, c, {1, 1, 1}, last}, {n, c, {1, 1, 1}, last}, dims, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, mode};
  for (int d = 3 - dims; d < 3; d++) {
    p.x.s[d] = size + d, p.window[d] = window, p.pad[d] = pad, p.step[d] = step;
    p.y.s[d] = 1 + (p.x.s[d] + 2 * pad - window) / step;
  }
  return p;
}

// f(index of x, of y) for each element in each window, and the windows' counts.
template <typename F> static void each(const pool &p, F f)
{
  for (int n = 0; n < p.x.n; n++)
    for (int c = 0; c < p.x.c; c++)
      for (int o = 0; o < p.y.s[0] * p.y.s[1] * p.y.s[2]; o++) {
        const int at[3] = {o / p.y.s[2] / p.y.s[1], o / p.y.s[2] % p.y.s[1], o % p.y.s[2]};
        for (int r = 0; r < p.window[0] * p.window[1] * p.window[2]; r++) {
          const int tap[3] = {r / p.window[2] / p.window[1], r / p.window[2] % p.window[1], r % p.window[2]};
          int in[3];
          bool there = true;
          for (int d = 0; d < 3; d++) in[d] = at[d] * p.step[d] - p.pad[d] + tap[d], there = there && in[d] >= 0 && in[d] < p.x.s[d];
          if (there) f(p.x.at(n, c, in[0], in[1], in[2]), p.y.at(n, c, at[0], at[1], at[2]));
        }
      }
}

// y, and dx for dy.
static void on_host(const pool &p, const numbers &x, const numbers &dy, numbers &y, numbers &dx)
{
  const bool largest = p.mode == CUDNN_POOLING_MAX || p.mode == CUDNN_POOLING_MAX_DETERMINISTIC;
  std::vector<size_t> from(p.y.count(), SIZE_MAX);
  numbers count(p.y.count(), 0);
  y.assign(p.y.count(), 0), dx.assign(p.x.count(), 0);
  each(p, [&](size_t i, size_t o) {
    count[o]++;
    if (!largest) y[o] += x[i];
    else if (from[o] == SIZE_MAX || x[i] > x[from[o]]) from[o] = i;
  });
  if (p.mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING) count.assign(count.size(), p.window[0] * p.window[1] * p.window[2]);
  for (size_t o = 0; o < y.size(); o++) y[o] = largest ? x[from[o]] : y[o] / count[o];
  each(p, [&](size_t i, size_t o) { dx[i] += largest ? (from[o] == i) * dy[o] : dy[o] / count[o]; });
}

static cudnnPoolingDescriptor_t describe(const pool &p, cudnnNanPropagation_t nan)
{
  cudnnPoolingDescriptor_t d;
  CHECK(cudnnCreatePoolingDescriptor(&d));
  const int from = 3 - p.dims;
  CHECK(cudnnSetPoolingNdDescriptor(d, p.mode, nan, p.dims, p.window + from, p.pad + from, p.step + from));
  return d;
}

static void pooled(const pool &p, cudnnDataType_t t, double a, double b)
{
  const std::string what = "pooling, mode " + std::to_string(p.mode) + ", " + std::to_string(p.dims) + " dimensions, type " + std::to_string(t);
  const cudnnPoolingDescriptor_t d = describe(p, CUDNN_PROPAGATE_NAN);
  const int dims = p.dims + 2;
  tensor xd(t, p.x, dims == 3 ? 4 : dims), yd(t, p.y, dims == 3 ? 4 : dims);
  const scale alpha(t, a), beta(t, b);
  const numbers x = random_numbers(p.x.count()), dy = random_numbers(p.y.count()), old = random_numbers(p.x.count());
  numbers y, dx;
  on_host(p, x, dy, y, dx);
  for (size_t i = 0; i < y.size(); i++) y[i] = a * y[i] + b * dy[i];
  for (size_t i = 0; i < dx.size(); i++) dx[i] = a * dx[i] + b * old[i];
  int size[5];
  CHECK(cudnnGetPoolingNdForwardOutputDim(d, xd.d, dims, size));
  for (int i = 2; i < dims; i++)
    if (size[i] != p.y.s[i - 2 + 3 - p.dims]) failures++, printf("wrong: %s: size of the result\n", what.c_str());
  buffer X(t, x), Y(t, dy), DY(t, dy), DX(t, old);
  CHECK(cudnnPoolingForward(handle, d, alpha.at(), xd.d, X.at, beta.at(), yd.d, Y.at));
  CHECK(cudnnPoolingBackward(handle, d, alpha.at(), yd.d, Y.at, yd.d, DY.at, xd.d, X.at, beta.at(), xd.d, DX.at));
  same(what, Y.get(), y, limit_of(t));
  same(what + ", backward", DX.get(), dx, limit_of(t));
  cudnnDestroyPoolingDescriptor(d);
}

// The largest of a window with a NaN.
static void nans(bool kept)
{
  const pool p = make(1, 1, 2, 4, 2, 0, 2, false, CUDNN_POOLING_MAX);
  const cudnnPoolingDescriptor_t d = describe(p, kept ? CUDNN_PROPAGATE_NAN : CUDNN_NOT_PROPAGATE_NAN);
  numbers x(p.x.count(), 1);
  x[0] = NAN;
  tensor xd(CUDNN_DATA_FLOAT, p.x, 4), yd(CUDNN_DATA_FLOAT, p.y, 4);
  const scale one(CUDNN_DATA_FLOAT, 1), zero(CUDNN_DATA_FLOAT, 0);
  buffer X(CUDNN_DATA_FLOAT, x), Y(CUDNN_DATA_FLOAT, numbers(p.y.count(), 5));
  CHECK(cudnnPoolingForward(handle, d, one.at(), xd.d, X.at, zero.at(), yd.d, Y.at));
  const numbers y = Y.get();
  cases++;
  if (std::isnan(y[0]) != kept || y[1] != 1 || (!kept && y[0] != 1)) failures++, printf("wrong: a NaN, kept: %d\n", kept);
  cudnnDestroyPoolingDescriptor(d);
}

static void two_dimensions()
{
  cudnnPoolingDescriptor_t d;
  cudnnPoolingMode_t mode;
  cudnnNanPropagation_t nan;
  int v[6], n, c, h, w;
  tensor xd(CUDNN_DATA_FLOAT, {2, 3, {1, 9, 12}, false}, 4);
  CHECK(cudnnCreatePoolingDescriptor(&d));
  CHECK(cudnnSetPooling2dDescriptor(d, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 3, 4, 1, 2, 2, 3));
  CHECK(cudnnGetPooling2dDescriptor(d, &mode, &nan, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5]));
  CHECK(cudnnGetPooling2dForwardOutputDim(d, xd.d, &n, &c, &h, &w));
  cases++;
  const int want[6] = {3, 4, 1, 2, 2, 3};
  if (memcmp(v, want, sizeof want) || mode != CUDNN_POOLING_MAX || n != 2 || c != 3 || h != 5 || w != 5) failures++, printf("wrong: a descriptor\n");
  cases++;
  if (cudnnSetPooling2dDescriptor(d, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 3, 3, 3, 0, 1, 1) == CUDNN_STATUS_SUCCESS)
    failures++, printf("wrong: windows that lie outside\n");
  cudnnDestroyPoolingDescriptor(d);
}

// Groups that sum to 1: whole images, or the channels of a place.
static void softmax(const shape &s, int dims, cudnnDataType_t t, cudnnSoftmaxAlgorithm_t algorithm, cudnnSoftmaxMode_t mode, double a, double b)
{
  const std::string what = "softmax " + std::to_string(algorithm) + ", mode " + std::to_string(mode) + ", type " + std::to_string(t);
  const numbers x = random_numbers(s.count(), 3), dy = random_numbers(s.count()), old = random_numbers(s.count());
  numbers y(s.count()), dx(s.count());
  const int space = s.s[0] * s.s[1] * s.s[2];
  tensor d(t, s, dims);
  const scale alpha(t, a), beta(t, b), one(t, 1), zero(t, 0);
  buffer X(t, x), Y(t, old), DY(t, dy), DX(t, old);
  CHECK(cudnnSoftmaxForward(handle, algorithm, mode, one.at(), d.d, X.at, zero.at(), d.d, Y.at));
  const numbers result = Y.get(); // of which the gradient is computed, rounded as it is
  auto group = [&](int n, int p, int c) { return s.at(n, c, p / s.s[2] / s.s[1], p / s.s[2] % s.s[1], p % s.s[2]); };
  for (int n = 0; n < s.n; n++)
    for (int p = 0; p < (mode == CUDNN_SOFTMAX_MODE_INSTANCE ? 1 : space); p++) {
      std::vector<size_t> in;
      for (int c = 0; c < s.c; c++)
        for (int q = 0; q < (mode == CUDNN_SOFTMAX_MODE_INSTANCE ? space : 1); q++)
          in.push_back(group(n, mode == CUDNN_SOFTMAX_MODE_INSTANCE ? q : p, c));
      double most = -INFINITY, sum = 0, dot = 0;
      for (size_t i : in) most = fmax(most, x[i]);
      for (size_t i : in) sum += exp(x[i] - most);
      for (size_t i : in) dot += algorithm == CUDNN_SOFTMAX_LOG ? dy[i] : dy[i] * result[i];
      for (size_t i : in) {
        y[i] = algorithm == CUDNN_SOFTMAX_LOG ? x[i] - most - log(sum) : exp(x[i] - most) / sum;
        dx[i] = a * (algorithm == CUDNN_SOFTMAX_LOG ? dy[i] - exp(result[i]) * dot : (dy[i] - dot) * result[i]) + b * old[i];
      }
    }
  same(what, result, y, limit_of(t));
  CHECK(cudnnSoftmaxBackward(handle, algorithm, mode, alpha.at(), d.d, Y.at, d.d, DY.at, beta.at(), d.d, DX.at));
  same(what + ", backward", DX.get(), dx, limit_of(t));
}

int main()
{
  CHECK(cudnnCreate(&handle));
  const cudnnPoolingMode_t modes[] = {CUDNN_POOLING_MAX, CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING,
                                      CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING, CUDNN_POOLING_MAX_DETERMINISTIC};
  const cudnnDataType_t types[] = {CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE, CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16};
  for (cudnnPoolingMode_t mode : modes)
    for (cudnnDataType_t t : types) {
      pooled(make(2, 3, 2, 7, 3, 1, 2, false, mode), t, 1, 0);
      pooled(make(2, 5, 2, 6, 2, 0, 2, true, mode), t, 2, 0.5);
    }
  for (cudnnPoolingMode_t mode : modes) pooled(make(1, 2, 3, 5, 3, 2, 1, false, mode), CUDNN_DATA_FLOAT, 1, 0); // windows overlap
  nans(true), nans(false);
  two_dimensions();
  for (cudnnSoftmaxAlgorithm_t algorithm : {CUDNN_SOFTMAX_FAST, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_LOG})
    for (cudnnSoftmaxMode_t mode : {CUDNN_SOFTMAX_MODE_INSTANCE, CUDNN_SOFTMAX_MODE_CHANNEL})
      for (cudnnDataType_t t : types) {
        softmax({3, 10, {1, 4, 5}, false}, 4, t, algorithm, mode, 1, 0);
        softmax({2, 7, {1, 1, 3}, true}, 4, t, algorithm, mode, 0.5, 1);
      }
  softmax({2, 300, {1, 1, 1}, false}, 4, CUDNN_DATA_FLOAT, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, 1, 0);
  CHECK(cudnnDestroy(handle));
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
