// Spatial transformers of libcudnn: grids of affine maps, bilinear samples, and the gradients of both against the host in binary64;
// gradients of samples also against differences of the host's samples.
#include <cudnn.h>

#include <cmath>

#include "checks.cuh"

struct shape {
  int images, channels, in_high, in_wide, high, wide;
};

static double number()
{
  static unsigned state = 5;
  state = state * 1664525u + 1013904223u;
  return (int)(state >> 8 & 4095) / 1024.0 - 2; // exact in FP32
}

template <typename T> static std::vector<T> some(size_t n, double scale = 1)
{
  std::vector<T> v(n);
  for (T &x : v) x = (T)(number() * scale);
  return v;
}

// The image at a place: 0 outside.
template <typename F> static double sampled(double gx, double gy, const shape &s, F image)
{
  const double x = (gx + 1) / 2 * (s.in_wide - 1), y = (gy + 1) / 2 * (s.in_high - 1), left = std::floor(x), above = std::floor(y);
  double v = 0;
  for (int k = 0; k < 4; k++) {
    const double c = left + k % 2, r = above + k / 2;
    const double weight = (k % 2 ? x - left : 1 - (x - left)) * (k / 2 ? y - above : 1 - (y - above));
    if (c >= 0 && c < s.in_wide && r >= 0 && r < s.in_high) v += weight * image((int)r, (int)c);
  }
  return v;
}

// With channels last, `last`, else first.
static size_t at(const shape &, bool last, int channels, int high, int wide, int n, int c, int h, int w)
{
  return last ? (((size_t)n * high + h) * wide + w) * channels + c : (((size_t)n * channels + c) * high + h) * wide + w;
}

static cudnnTensorDescriptor_t describe(cudnnDataType_t type, bool last, int n, int c, int h, int w)
{
  cudnnTensorDescriptor_t d;
  cudnnCreateTensorDescriptor(&d);
  cudnnSetTensor4dDescriptor(d, last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, type, n, c, h, w);
  return d;
}

template <typename T> static void one(cudnnHandle_t h, const shape &s, bool last)
{
  const cudnnDataType_t type = sizeof(T) == 4 ? CUDNN_DATA_FLOAT : CUDNN_DATA_DOUBLE;
  const double eps = sizeof(T) == 4 ? 1e-5 : 1e-13;
  const int size[] = {s.images, s.channels, s.high, s.wide};
  const size_t pixels = (size_t)s.images * s.high * s.wide;
  cudnnSpatialTransformerDescriptor_t d;
  check(!cudnnCreateSpatialTransformerDescriptor(&d) && !cudnnSetSpatialTransformerNdDescriptor(d, CUDNN_SAMPLER_BILINEAR, type, 4, size), "a descriptor");
  // The grid.
  const std::vector<T> theta = some<T>((size_t)s.images * 6, 0.5);
  T *dtheta = device(theta), *dgrid = device(std::vector<T>(pixels * 2));
  bool right = !cudnnSpatialTfGridGeneratorForward(h, d, dtheta, dgrid);
  const std::vector<T> grid = host(dgrid, pixels * 2);
  for (size_t i = 0; i < pixels * 2; i++) {
    const int p = (int)(i / 2), w = p % s.wide, r = p / s.wide % s.high, n = p / s.wide / s.high;
    const double x = s.wide > 1 ? 2.0 * w / (s.wide - 1) - 1 : 0, y = s.high > 1 ? 2.0 * r / (s.high - 1) - 1 : 0;
    const T *row = &theta[n * 6 + i % 2 * 3];
    right = right && std::abs(grid[i] - (row[0] * x + row[1] * y + row[2])) <= eps * 4;
  }
  check(right, "a grid");
  const std::vector<T> dg = some<T>(pixels * 2);
  right = !cudnnSpatialTfGridGeneratorBackward(h, d, device(dg), dtheta);
  const std::vector<T> got_theta = host(dtheta, theta.size());
  for (size_t t = 0; t < theta.size(); t++) {
    double sum = 0;
    for (int p = 0; p < s.high * s.wide; p++) {
      const int w = p % s.wide, r = p / s.wide;
      const double by[] = {s.wide > 1 ? 2.0 * w / (s.wide - 1) - 1 : 0, s.high > 1 ? 2.0 * r / (s.high - 1) - 1 : 0, 1};
      sum += dg[(t / 6 * s.high * s.wide + p) * 2 + t % 6 / 3] * by[t % 3];
    }
    right = right && std::abs(got_theta[t] - sum) <= eps * 2 * s.high * s.wide;
  }
  check(right, "gradients of a grid");
  // Samples, of places some of which are outside.
  const std::vector<T> places = some<T>(pixels * 2, 0.7), x = some<T>((size_t)s.images * s.channels * s.in_high * s.in_wide);
  const std::vector<T> y0 = some<T>(pixels * s.channels), dx0 = some<T>(x.size()), dg0 = some<T>(pixels * 2);
  const T alpha = 0.75, beta = 0.5, none = 0;
  const cudnnTensorDescriptor_t x_is = describe(type, last, s.images, s.channels, s.in_high, s.in_wide),
                                y_is = describe(type, last, s.images, s.channels, s.high, s.wide);
  T *px = device(x), *pg = device(places), *py = device(y0), *pdx = device(dx0), *pdg = device(dg0);
  right = !cudnnSpatialTfSamplerForward(h, d, &alpha, x_is, px, pg, &beta, y_is, py);
  const std::vector<T> y = host(py, y0.size());
  auto pixel = [&](int n, int c) { return [&, n, c](int r, int w) { return (double)x[at(s, last, s.channels, s.in_high, s.in_wide, n, c, r, w)]; }; };
  for (size_t p = 0; p < pixels; p++)
    for (int c = 0; c < s.channels; c++) {
      const int w = (int)p % s.wide, r = (int)p / s.wide % s.high, n = (int)p / s.wide / s.high;
      const size_t to = at(s, last, s.channels, s.high, s.wide, n, c, r, w);
      const double want = alpha * sampled(places[2 * p], places[2 * p + 1], s, pixel(n, c)) + beta * y0[to];
      right = right && std::abs(y[to] - want) <= eps * 8 * s.in_wide;
    }
  check(right, "samples");
  const std::vector<T> dy = some<T>(y0.size());
  right = !cudnnSpatialTfSamplerBackward(h, d, &alpha, x_is, px, &beta, x_is, pdx, &alpha, y_is, device(dy), pg, &none, pdg);
  const std::vector<T> got_x = host(pdx, x.size()), got_g = host(pdg, dg0.size());
  for (int n = 0; n < s.images; n++) // samples are linear in the image: its gradient is what each pixel gives alone
    for (int c = 0; c < s.channels; c++)
      for (int r = 0; r < s.in_high; r++)
        for (int w = 0; w < s.in_wide; w++) {
          double sum = 0;
          for (int p = 0; p < s.high * s.wide; p++) {
            const size_t g = ((size_t)n * s.high * s.wide + p) * 2;
            sum += dy[at(s, last, s.channels, s.high, s.wide, n, c, p / s.wide, p % s.wide)] *
                   sampled(places[g], places[g + 1], s, [&](int i, int j) { return i == r && j == w ? 1.0 : 0.0; });
          }
          const size_t to = at(s, last, s.channels, s.in_high, s.in_wide, n, c, r, w);
          right = right && std::abs(got_x[to] - (alpha * sum + beta * dx0[to])) <= eps * 8 * (s.high * s.wide);
        }
  check(right, "gradients of an image");
  right = true;
  for (size_t g = 0; g < dg0.size(); g++) { // bilinear: the middle difference within a pixel's square is the derivative
    const size_t p = g / 2;
    const int n = (int)p / s.wide / s.high, r = (int)p / s.wide % s.high, w = (int)p % s.wide, in = g % 2 ? s.in_high : s.in_wide;
    const double place = (places[g] + 1) / 2 * (in - 1), step = 1e-4;
    if (std::abs(place - std::round(place)) < 1e-2) continue; // the derivative jumps there
    double sum = 0;
    for (int c = 0; c < s.channels; c++) {
      double v[2];
      for (int side = 0; side < 2; side++)
        v[side] = sampled(places[2 * p] + (g % 2 ? 0 : side ? step : -step), places[2 * p + 1] + (g % 2 ? side ? step : -step : 0), s, pixel(n, c));
      sum += (v[1] - v[0]) / (2 * step) * dy[at(s, last, s.channels, s.high, s.wide, n, c, r, w)];
    }
    right = right && std::abs(got_g[g] - alpha * sum) <= (sizeof(T) == 4 ? 1e-3 : 1e-8) * in * s.channels;
  }
  check(right, "gradients of places");
}

int main()
{
  cudnnHandle_t h;
  if (cudnnCreate(&h)) return 1;
  for (const shape &s : {shape{2, 3, 9, 8, 5, 6}, shape{1, 1, 1, 7, 4, 1}, shape{3, 5, 6, 6, 20, 17}})
    for (bool last : {false, true}) one<float>(h, s, last), one<double>(h, s, last);
  cudnnSpatialTransformerDescriptor_t d;
  const int size[] = {1, 2, 3, 4, 5};
  cudnnCreateSpatialTransformerDescriptor(&d);
  check(cudnnSetSpatialTransformerNdDescriptor(d, CUDNN_SAMPLER_BILINEAR, CUDNN_DATA_FLOAT, 5, size) == CUDNN_STATUS_NOT_SUPPORTED, "three dimensions");
  check(cudnnSpatialTfGridGeneratorForward(h, d, h, h) == CUDNN_STATUS_BAD_PARAM, "a descriptor that was not set");
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
