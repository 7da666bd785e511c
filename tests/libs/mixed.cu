// Level 1 of mixed types (cublas…Ex) against sums on the host in binary64: every type of the reference's tables, both widths
// of sizes, both pointer modes, increments of both signs; statuses for types that do not go together.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <complex>

#include "checks.cuh"

using c64 = std::complex<double>;

static double wide(__half v) { return __half2float(v); }
static double wide(__nv_bfloat16 v) { return __bfloat162float(v); }
static double wide(float v) { return v; }
static double wide(double v) { return v; }
static c64 wide(std::complex<float> v) { return c64(v); }
static c64 wide(c64 v) { return v; }
static double bar(double v) { return v; }
static c64 bar(c64 v) { return std::conj(v); }
static double size1(double v) { return fabs(v); }
static double size1(c64 v) { return fabs(v.real()) + fabs(v.imag()); }

// What a type is called, its real type, what it is computed with; the bound of a result's rounding, relative to sizes.
template <typename T> struct kind;
#define KIND(T, R, C, t, r, c, bound, shown)                                                                          \
  template <> struct kind<T> {                                                                                        \
    using real = R;                                                                                                   \
    using factor = C;                                                                                                 \
    static constexpr cudaDataType type = t, real_type = r, compute = c;                                               \
    static constexpr double eps = bound;                                                                              \
    static constexpr const char *name = shown;                                                                        \
  };
KIND(__half, __half, float, CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, 0x1p-11, "FP16")
KIND(__nv_bfloat16, __nv_bfloat16, float, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, 0x1p-8, "BF16")
KIND(float, float, float, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 0x1p-24, "FP32")
KIND(double, double, double, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, 0x1p-53, "FP64")
KIND(std::complex<float>, float, std::complex<float>, CUDA_C_32F, CUDA_R_32F, CUDA_C_32F, 0x1p-23, "complex FP32")
KIND(c64, double, c64, CUDA_C_64F, CUDA_R_64F, CUDA_C_64F, 0x1p-52, "complex FP64")

// Numbers of sizes up to 2, which no type rounds.
template <typename T> static T made(int a, int b) { return T((float)a / 64); }
template <> c64 made<c64>(int a, int b) { return {a / 64.0, b / 64.0}; }
template <> std::complex<float> made<std::complex<float>>(int a, int b) { return {(float)a / 64, (float)b / 64}; }

struct vectors {
  int n, incx, incy;
  size_t at_x(int i) const { return (size_t)(incx < 0 ? n - 1 - i : i) * abs(incx); }
  size_t at_y(int i) const { return (size_t)(incy < 0 ? n - 1 - i : i) * abs(incy); }
};

template <typename T> static std::vector<T> numbers(size_t n, unsigned state)
{
  std::vector<T> v(n);
  auto next = [&] { return state = state * 1664525u + 1013904223u, (int)(state >> 24) - 128; };
  for (T &x : v) {
    const int a = next();
    x = made<T>(a, next());
  }
  return v;
}

template <typename T> struct test {
  using K = kind<T>;
  using W = decltype(wide(T()));
  static constexpr double slack = K::eps < 0x1p-30 ? 0x1p-50 : 0x1p-22; // of what it is computed with
  cublasHandle_t h;
  vectors v;
  bool wide_sizes, on_device;
  std::vector<T> x, y;
  T *dx, *dy;

  test(cublasHandle_t handle, vectors of, bool sizes, bool device_mode) : h(handle), v(of), wide_sizes(sizes), on_device(device_mode)
  {
    x = numbers<T>((size_t)v.n * abs(v.incx), 7), y = numbers<T>((size_t)v.n * abs(v.incy), 11);
    dx = device(x), dy = device(y);
    cublasSetPointerMode(h, on_device ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST);
  }
  ~test() { cudaFree(dx), cudaFree(dy); }

  void say(bool right, const char *what)
  {
    static char text[99];
    snprintf(text, sizeof text, "%s of %s, n %d, increments %d and %d%s%s", what, K::name, v.n, v.incx, v.incy, wide_sizes ? ", 64 bits" : "",
             on_device ? ", on the device" : "");
    check(right, text);
  }
  void again()
  {
    cudaMemcpy(dx, x.data(), x.size() * sizeof(T), cudaMemcpyHostToDevice);
    cudaMemcpy(dy, y.data(), y.size() * sizeof(T), cudaMemcpyHostToDevice);
  }
  // A factor where the pointer mode has it.
  template <typename S> const void *handed(const S &value, S *&place) { return on_device ? place = device(std::vector<S>{value}) : (place = nullptr, (const void *)&value); }
  // The result of call(where it goes).
  template <typename R, typename Call> bool result(Call call, R &got)
  {
    R *place = on_device ? device(std::vector<R>{got}) : nullptr;
    bool right = !call(on_device ? (void *)place : (void *)&got);
    if (on_device) got = host(place, 1)[0], cudaFree(place);
    return right;
  }
  // What x and y are afterwards, element by element, and nothing between them; `sizes` bounds what was added.
  template <typename X, typename Y> bool both(X of_x, Y of_y, double sizes)
  {
    std::vector<T> gx = host(dx, x.size()), gy = host(dy, y.size());
    bool right = true;
    std::vector<char> in_x(x.size()), in_y(y.size());
    for (int i = 0; i < v.n; i++) {
      const size_t a = v.at_x(i), b = v.at_y(i);
      const W u = wide(x[a]), w = wide(y[b]);
      const W wx = of_x(u, w), wy = of_y(u, w);
      right = right && std::abs(wide(gx[a]) - wx) <= K::eps * std::abs(wx) + slack * sizes;
      right = right && std::abs(wide(gy[b]) - wy) <= K::eps * std::abs(wy) + slack * sizes;
      in_x[a] = in_y[b] = 1;
    }
    for (size_t i = 0; i < x.size(); i++) right = right && (in_x[i] || wide(gx[i]) == wide(x[i]));
    for (size_t i = 0; i < y.size(); i++) right = right && (in_y[i] || wide(gy[i]) == wide(y[i]));
    return right;
  }

#define CALL(name, ...) (wide_sizes ? name##_64(__VA_ARGS__) : name(__VA_ARGS__))
  void elements()
  {
    using A = typename K::factor;
    const A alpha = made<A>(-45, 30);
    const W a = wide(alpha);
    A *place;
    const void *given = handed(alpha, place);
    auto same_x = [](W u, W) { return u; };
    bool right = !CALL(cublasAxpyEx, h, v.n, given, K::compute, dx, K::type, v.incx, dy, K::type, v.incy, K::compute);
    say(right && both(same_x, [a](W u, W w) { return w + a * u; }, 8), "axpy");
    again();
    right = !CALL(cublasScalEx, h, v.n, given, K::compute, dy, K::type, abs(v.incy), K::compute);
    say(right && both(same_x, [a](W, W w) { return a * w; }, 8), "scal");
    again();
    right = !CALL(cublasCopyEx, h, v.n, dx, K::type, v.incx, dy, K::type, v.incy);
    say(right && both(same_x, [](W u, W) { return u; }, 0), "copy");
    again();
    right = !CALL(cublasSwapEx, h, v.n, dx, K::type, v.incx, dy, K::type, v.incy);
    say(right && both([](W, W w) { return w; }, [](W u, W) { return u; }, 0), "swap");
    cudaFree(place);
  }

  template <typename S> void rotation(cudaDataType type, S cosine, S sine, const char *what)
  {
    S *pc, *ps;
    const void *gc = handed(cosine, pc), *gs = handed(sine, ps);
    again();
    const double c = std::real(wide(cosine));
    const auto s = wide(sine);
    const bool right = !CALL(cublasRotEx, h, v.n, dx, K::type, v.incx, dy, K::type, v.incy, gc, gs, type, K::compute);
    say(right && both([=](W u, W w) { return W(c * u + s * w); }, [=](W u, W w) { return W(c * w - bar(s) * u); }, 8), what);
    cudaFree(pc), cudaFree(ps);
  }

  void products(bool conjugated)
  {
    W want = 0;
    double sizes = 0;
    for (int i = 0; i < v.n; i++) {
      const W u = wide(x[v.at_x(i)]), w = wide(y[v.at_y(i)]);
      want += (conjugated ? bar(u) : u) * w;
      sizes += std::abs(u) * std::abs(w);
    }
    T got = T();
    again();
    const bool right = result(
      [&](void *at) {
        return conjugated ? CALL(cublasDotcEx, h, v.n, dx, K::type, v.incx, dy, K::type, v.incy, at, K::type, K::compute)
                          : CALL(cublasDotEx, h, v.n, dx, K::type, v.incx, dy, K::type, v.incy, at, K::type, K::compute);
      }, got);
    say(right && std::abs(wide(got) - want) <= K::eps * std::abs(want) + sizes * 4 * slack, conjugated ? "dotc" : "dot");
  }

  void norms()
  {
    using R = typename K::real;
    double squares = 0, sum = 0;
    const int inc = abs(v.incx);
    for (int i = 0; i < v.n; i++) squares += std::norm(c64(wide(x[i * inc]))), sum += size1(wide(x[i * inc]));
    const cudaDataType compute = kind<R>::compute;
    R norm = R(), total = R();
    again();
    bool right = result([&](void *at) { return CALL(cublasNrm2Ex, h, v.n, dx, K::type, inc, at, K::real_type, compute); }, norm);
    say(right && fabs(wide(norm) - sqrt(squares)) <= (2 * K::eps + 4 * slack) * sqrt(squares), "nrm2");
    right = result([&](void *at) { return CALL(cublasAsumEx, h, v.n, dx, K::type, inc, at, K::real_type, compute); }, total);
    say(right && fabs(wide(total) - sum) <= (2 * K::eps + 4 * slack) * sum, "asum");
  }

  template <typename I> bool index(bool largest, I want)
  {
    I got = -7;
    const int inc = abs(v.incx);
    bool right;
    if constexpr (sizeof(I) == 8)
      right = result([&](void *at) {
        return largest ? cublasIamaxEx_64(h, v.n, dx, K::type, inc, (I *)at) : cublasIaminEx_64(h, v.n, dx, K::type, inc, (I *)at);
      }, got);
    else
      right = result([&](void *at) {
        return largest ? cublasIamaxEx(h, v.n, dx, K::type, inc, (I *)at) : cublasIaminEx(h, v.n, dx, K::type, inc, (I *)at);
      }, got);
    return right && got == want;
  }
  void extremes()
  {
    int most = 0, least = 0;
    const int inc = abs(v.incx);
    for (int i = 1; i < v.n; i++) {
      if (size1(wide(x[i * inc])) > size1(wide(x[most * inc]))) most = i;
      if (size1(wide(x[i * inc])) < size1(wide(x[least * inc]))) least = i;
    }
    const int64_t one = v.n > 0;
    again();
    say(wide_sizes ? index<int64_t>(true, most + one) : index<int>(true, (int)(most + one)), "iamax");
    say(wide_sizes ? index<int64_t>(false, least + one) : index<int>(false, (int)(least + one)), "iamin");
  }
};

template <typename T> static void all_of(cublasHandle_t h)
{
  using K = kind<T>;
  const vectors shapes[] = {{1, 1, 1}, {3000, 1, 2}, {700, -3, -1}, {60000, 2, 1}, {0, 1, 1}};
  for (const vectors &v : shapes)
    for (int mode = 0; mode < 4; mode++) {
      if (v.n > 10000 && mode % 3) continue;
      test<T> t(h, v, mode & 1, mode & 2);
      t.elements();
      t.products(false), t.products(true);
      t.norms(), t.extremes();
      t.template rotation<T>(K::type, made<T>(48, 5), made<T>(-36, 20), "rot");
      using R = typename K::real;
      if (K::type != K::real_type) t.template rotation<R>(K::real_type, R(0.6f), R(-0.8f), "rot by reals");
    }
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST);
}

// The same bits as the functions of one type, which vectors.cu holds against what they stand for.
static void rotations(cublasHandle_t h)
{
  float a = 3, b = 4, c = 0, s = 0;
  check(!cublasRotgEx(h, &a, &b, CUDA_R_32F, &c, &s, CUDA_R_32F, CUDA_R_32F) && fabs(a - 5) < 1e-5 && fabs(c - 0.6) < 1e-6 && fabs(s - 0.8) < 1e-6, "rotg");
  c64 za(3, 4), zb(0, 12), zc, zs;
  check(!cublasRotgEx(h, &za, &zb, CUDA_C_64F, &zc, &zs, CUDA_C_64F, CUDA_C_64F) && std::abs(std::abs(za) - 13) < 1e-12 && fabs(zc.real() - 5.0 / 13) < 1e-14, "rotg, complex");
  double d[] = {2, 3, 4, 1}, e[] = {2, 3, 4, 1}, p[5] = {}, q[5] = {};
  check(!cublasRotmgEx(h, d, CUDA_R_64F, d + 1, CUDA_R_64F, d + 2, CUDA_R_64F, d + 3, CUDA_R_64F, p, CUDA_R_64F, CUDA_R_64F) &&
          !cublasDrotmg(h, e, e + 1, e + 2, e + 3, q), "rotmg");
  for (int i = 0; i < 5; i++) check(p[i] == q[i] && (i == 4 || d[i] == e[i]), "rotmg's numbers");
  const std::vector<double> x = {1, 2, 3}, y = {4, 5, 6};
  double *dx = device(x), *dy = device(y);
  const double h2[] = {-1, 1, 2, 3, 4};
  check(!cublasRotmEx(h, 3, dx, CUDA_R_64F, 1, dy, CUDA_R_64F, -1, h2, CUDA_R_64F, CUDA_R_64F), "rotm");
  for (int i = 0; i < 3; i++)
    check(host(dx, 3)[i] == x[i] + 3 * y[2 - i] && host(dy, 3)[2 - i] == 2 * x[i] + 4 * y[2 - i], "rotm's numbers");
}

static void statuses(cublasHandle_t h)
{
  float *p = device(std::vector<float>(64)), one = 1;
  int at = 0;
  const cublasStatus_t invalid = CUBLAS_STATUS_INVALID_VALUE, refused = CUBLAS_STATUS_NOT_SUPPORTED;
  const cudaDataType f = CUDA_R_32F, hf = CUDA_R_16F, bf = CUDA_R_16BF, d = CUDA_R_64F;
  check(cublasAxpyEx(nullptr, 4, &one, f, p, f, 1, p, f, 1, f) == CUBLAS_STATUS_NOT_INITIALIZED, "no handle");
  check(cublasAxpyEx(h, 4, &one, f, p, hf, 1, p, f, 1, f) == refused, "axpy of two types");
  check(cublasAxpyEx(h, 4, &one, hf, p, hf, 1, p, hf, 1, f) == refused, "axpy with a half factor");
  check(cublasAxpyEx(h, 4, &one, f, p, CUDA_R_8I, 1, p, CUDA_R_8I, 1, f) == invalid, "axpy of bytes");
  check(cublasAxpyEx(h, 4, nullptr, f, p, hf, 1, p, hf, 1, f) == invalid, "axpy without a factor");
  check(cublasScalEx(h, 4, &one, f, p, d, 1, d) == refused, "scal with another factor");
  check(cublasScalEx(h, 4, &one, f, p, bf, 1, bf) == refused, "scal in BF16");
  check(cublasScalEx(h, 4, &one, f, p, bf, 0, f) == CUBLAS_STATUS_SUCCESS, "scal with an increment of 0");
  check(cublasDotEx(h, 4, p, hf, 1, p, bf, 1, p, hf, f) == refused, "dot of two types");
  check(cublasDotEx(h, 4, p, hf, 1, p, hf, 1, &one, f, f) == refused, "dot with another result");
  check(cublasDotEx(h, 4, p, f, 1, p, f, 1, nullptr, f, f) == invalid, "dot without a result");
  check(cublasNrm2Ex(h, 4, p, CUDA_C_32F, 1, &one, CUDA_C_32F, f) == refused, "a complex norm");
  check(cublasNrm2Ex(h, 4, p, CUDA_R_32I, 1, &one, f, f) == invalid, "a norm of integers");
  check(cublasNrm2Ex(h, 4, p, f, 1, nullptr, f, f) == invalid, "a norm without a result");
  check(cublasRotEx(h, 4, p, f, 1, p, f, 1, &one, &one, d, f) == refused, "rot by another type");
  check(cublasRotEx(h, 4, p, hf, 1, p, hf, 1, &one, nullptr, hf, f) == invalid, "rot without a sine");
  check(cublasCopyEx(h, 4, p, f, 1, p, hf, 1) == refused, "copy between types");
  check(cublasIamaxEx(h, 4, p, CUDA_R_8I, 1, &at) == invalid, "iamax of bytes");
  check(cublasRotmEx(h, 4, p, hf, 1, p, hf, 1, p, hf, hf) == refused, "rotm in half precision");
  check(cublasRotmgEx(h, p, f, p, f, p, f, p, f, p, f, d) == refused, "rotmg, computed in another type");
}

int main()
{
  cublasHandle_t h;
  if (cublasCreate(&h)) return 1;
  all_of<__half>(h);
  all_of<__nv_bfloat16>(h);
  all_of<float>(h);
  all_of<double>(h);
  all_of<std::complex<float>>(h);
  all_of<c64>(h);
  rotations(h);
  statuses(h);
  check(cublasDestroy(h) == CUBLAS_STATUS_SUCCESS, "destroy");
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
