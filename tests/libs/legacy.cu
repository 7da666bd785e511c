// cuBLAS without handles (cublas.h), as programs of before 2010 call it: factors and results by value, letters, an error that stays until
// it is asked for. Against sums on the host in double precision.
#include <cublas.h>

#include <cmath>
#include <complex>
#include <type_traits>

#include "checks.cuh"

template <typename T> struct real_of { typedef T type; };
template <typename R> struct real_of<std::complex<R>> { typedef R type; };

// How cublas.h writes a number.
static float by_value(float x) { return x; }
static double by_value(double x) { return x; }
static cuComplex by_value(std::complex<float> x) { return make_cuComplex(x.real(), x.imag()); }
static cuDoubleComplex by_value(std::complex<double> x) { return make_cuDoubleComplex(x.real(), x.imag()); }
typedef std::complex<double> wide;
static wide widen(float x) { return x; }
static wide widen(double x) { return x; }
static wide widen(std::complex<float> x) { return wide(x.real(), x.imag()); }
static wide widen(std::complex<double> x) { return x; }
static wide widen(cuComplex x) { return wide(x.x, x.y); }
static wide widen(cuDoubleComplex x) { return wide(x.x, x.y); }

template <typename T> static T number(unsigned &state)
{
  double part[2];
  for (double &p : part) state = state * 1664525u + 1013904223u, p = (int)(state >> 16) % 257 / 64.0 - 2;
  if constexpr (std::is_floating_point_v<T>) return (T)part[0];
  else return T((typename real_of<T>::type)part[0], (typename real_of<T>::type)part[1]);
}
template <typename T> static std::vector<T> numbers(size_t n, unsigned seed)
{
  std::vector<T> v(n);
  for (T &x : v) x = number<T>(seed);
  return v;
}
template <typename T> static bool near(wide got, wide want, double scale)
{
  const double eps = sizeof(typename real_of<T>::type) == 4 ? 1e-6 : 1e-14;
  return std::abs(got - want) <= eps * (scale + std::abs(want) + 1);
}

// The functions of one type.
#define FUNCTIONS(name, L, T, P)                                                                                          \
  struct name {                                                                                                           \
    typedef T type;                                                                                                       \
    static constexpr auto gemm = cublas##L##gemm;                                                                         \
    static constexpr auto gemv = cublas##L##gemv;                                                                         \
    static constexpr auto trsm = cublas##L##trsm;                                                                         \
    static constexpr auto trmm = cublas##L##trmm;                                                                         \
    static constexpr auto symm = cublas##L##symm;                                                                         \
    static constexpr auto syrk = cublas##L##syrk;                                                                         \
    static constexpr auto syr2k = cublas##L##syr2k;                                                                       \
    static constexpr auto axpy = cublas##L##axpy;                                                                         \
    static constexpr auto scal = cublas##L##scal;                                                                         \
    static constexpr auto copy = cublas##L##copy;                                                                         \
    static constexpr auto swap = cublas##L##swap;                                                                         \
    typedef P pointed;                                                                                                    \
  };
FUNCTIONS(singles, S, float, float)
FUNCTIONS(doubles, D, double, double)
FUNCTIONS(complexes, C, std::complex<float>, cuComplex)
FUNCTIONS(wide_complexes, Z, std::complex<double>, cuDoubleComplex)

template <typename T> static wide at(const std::vector<T> &a, int lda, char op, int row, int column)
{
  const wide x = widen(op == 'N' || op == 'n' ? a[row + (size_t)column * lda] : a[column + (size_t)row * lda]);
  return op == 'C' || op == 'c' ? std::conj(x) : x;
}

template <typename F> static void products(char ta, char tb)
{
  typedef typename F::type T;
  typedef typename F::pointed P;
  enum { M = 37, N = 29, K = 41, LD = 48 };
  const auto a = numbers<T>(LD * LD, 1), b = numbers<T>(LD * LD, 2), c = numbers<T>(LD * LD, 3);
  unsigned seed = 9;
  const T alpha = number<T>(seed), beta = number<T>(seed);
  T *da = device(a), *db = device(b), *dc = device(c);
  F::gemm(ta, tb, M, N, K, by_value(alpha), (P *)da, LD, (P *)db, LD, by_value(beta), (P *)dc, LD);
  check(cublasGetError() == CUBLAS_STATUS_SUCCESS, "gemm");
  const auto got = host(dc, c.size());
  bool right = true;
  for (int j = 0; j < LD; j++)
    for (int i = 0; i < LD; i++) {
      wide want = widen(c[i + j * LD]);
      if (i < M && j < N) {
        wide sum = 0;
        for (int k = 0; k < K; k++) sum += at(a, LD, ta, i, k) * at(b, LD, tb, k, j);
        want = widen(alpha) * sum + widen(beta) * want;
      }
      right = right && near<T>(widen(got[i + j * LD]), want, i < M && j < N ? 8.0 * K : 0);
    }
  check(right, "gemm's values");
  cudaFree(da), cudaFree(db), cudaFree(dc);
}

template <typename F> static void matrix_and_vector()
{
  typedef typename F::type T;
  typedef typename F::pointed P;
  enum { M = 33, N = 21, LD = 40 };
  const auto a = numbers<T>(LD * LD, 4), x = numbers<T>(3 * LD, 5), y = numbers<T>(2 * LD, 6);
  unsigned seed = 10;
  const T alpha = number<T>(seed), beta = number<T>(seed);
  T *da = device(a), *dx = device(x), *dy = device(y);
  F::gemv('T', M, N, by_value(alpha), (P *)da, LD, (P *)dx, 3, by_value(beta), (P *)dy, 2);
  const auto got = host(dy, y.size());
  bool right = cublasGetError() == CUBLAS_STATUS_SUCCESS;
  for (int i = 0; i < LD; i++) {
    wide want = widen(y[2 * i]), sum = 0;
    for (int k = 0; k < M && i < N; k++) sum += at(a, LD, 'T', i, k) * widen(x[3 * k]);
    if (i < N) want = widen(alpha) * sum + widen(beta) * want;
    right = right && near<T>(widen(got[2 * i]), want, 8.0 * M);
  }
  check(right, "gemv");
  cudaFree(da), cudaFree(dx), cudaFree(dy);
}

// op(A) X = alpha B: the solution, put in again, gives alpha B.
template <typename F> static void triangle(char side, char uplo, char trans, char diag)
{
  typedef typename F::type T;
  typedef typename F::pointed P;
  enum { M = 12, N = 9, LD = 16 };
  const int order = side == 'L' ? M : N;
  auto a = numbers<T>(LD * LD, 7);
  for (int i = 0; i < LD; i++)
    for (int j = 0; j < LD; j++) a[i + j * LD] = i == j ? T(3) : a[i + j * LD] * T(0.125f);
  const auto b = numbers<T>(LD * LD, 8);
  unsigned seed = 11;
  const T alpha = number<T>(seed);
  T *da = device(a), *db = device(b);
  F::trsm(side, uplo, trans, diag, M, N, by_value(alpha), (P *)da, LD, (P *)db, LD);
  const auto x = host(db, b.size());
  bool right = cublasGetError() == CUBLAS_STATUS_SUCCESS;
  auto used = [&](int row, int column) -> wide { // of op(A)
    const int r = trans == 'N' ? row : column, c = trans == 'N' ? column : row;
    if (r == c && diag == 'U') return 1;
    if (uplo == 'L' ? r < c : r > c) return 0;
    return at(a, LD, trans, row, column);
  };
  for (int j = 0; j < N; j++)
    for (int i = 0; i < M; i++) {
      wide sum = 0;
      for (int k = 0; k < order; k++) sum += side == 'L' ? used(i, k) * widen(x[k + j * LD]) : widen(x[i + k * LD]) * used(k, j);
      right = right && near<T>(sum, widen(alpha) * widen(b[i + j * LD]), 40);
    }
  check(right, "trsm");
  cudaFree(da), cudaFree(db);
}

template <typename F> static void vectors()
{
  typedef typename F::type T;
  typedef typename F::pointed P;
  enum { N = 300 };
  const auto x = numbers<T>(N, 12), y = numbers<T>(2 * N, 13);
  unsigned seed = 14;
  const T alpha = number<T>(seed);
  T *dx = device(x), *dy = device(y);
  F::axpy(N, by_value(alpha), (P *)dx, 1, (P *)dy, 2);
  const auto z = host(dy, y.size());
  bool right = true;
  for (int i = 0; i < N; i++)
    right = right && near<T>(widen(z[2 * i]), widen(y[2 * i]) + widen(alpha) * widen(x[i]), 8) && z[2 * i + 1] == y[2 * i + 1];
  check(right, "axpy");
  F::scal(N, by_value(alpha), (P *)dx, 1);
  const auto s = host(dx, N);
  right = true;
  for (int i = 0; i < N; i++) right = right && near<T>(widen(s[i]), widen(alpha) * widen(x[i]), 8);
  check(right, "scal");
  F::swap(N, (P *)dx, 1, (P *)dy, 1);
  check(host(dy, N) == s && host(dx, N) == std::vector<T>(z.begin(), z.begin() + N), "swap");
  F::copy(N, (P *)dy, 1, (P *)dx, 1);
  check(host(dx, N) == s, "copy");
  check(cublasGetError() == CUBLAS_STATUS_SUCCESS, "no error");
  cudaFree(dx), cudaFree(dy);
}

// Matrices of which one half counts, N x N, and what they must be: want(row, column), where it is written.
enum { HALF_N = 21, HALF_LD = 24 };
template <typename T, typename W> static void is_half(T *at, const std::vector<T> &before, bool upper, bool whole, W want, const char *what)
{
  const auto got = host(at, before.size());
  bool right = cublasGetError() == CUBLAS_STATUS_SUCCESS;
  for (int j = 0; j < HALF_LD; j++)
    for (int i = 0; i < HALF_LD; i++) {
      const bool written = i < HALF_N && j < HALF_N && (whole || i == j || (i < j) == upper);
      const int p = i + j * HALF_LD;
      right = right && (written ? near<T>(widen(got[p]), want(i, j), 16.0 * HALF_N) : got[p] == before[p]);
    }
  check(right, what);
}

template <typename F> static void halves()
{
  typedef typename F::type T;
  typedef typename F::pointed P;
  enum { N = HALF_N, LD = HALF_LD };
  const auto a = numbers<T>(LD * LD, 21), b = numbers<T>(LD * LD, 22), c = numbers<T>(LD * LD, 23);
  unsigned seed = 24;
  const T alpha = number<T>(seed), beta = number<T>(seed);
  const wide x = widen(alpha), y = widen(beta);
  auto sum = [&](auto f) {
    wide s = 0;
    for (int k = 0; k < N; k++) s += f(k);
    return s;
  };
  auto A = [&](int r, int k) { return widen(a[r + k * LD]); };
  auto B = [&](int r, int k) { return widen(b[r + k * LD]); };
  auto C = [&](int r, int k) { return widen(c[r + k * LD]); };
  P *da = (P *)device(a), *db = (P *)device(b);
  T *dc = device(c);
  F::symm('R', 'l', N, N, by_value(alpha), da, LD, db, LD, by_value(beta), (P *)dc, LD);
  auto symm = [&](int i, int j) { return x * sum([&](int k) { return B(i, k) * (k >= j ? A(k, j) : A(j, k)); }) + y * C(i, j); };
  is_half(dc, c, true, true, symm, "symm");
  dc = device(c);
  F::syrk('U', 't', N, N, by_value(alpha), da, LD, by_value(beta), (P *)dc, LD);
  auto syrk = [&](int i, int j) { return x * sum([&](int k) { return A(k, i) * A(k, j); }) + y * C(i, j); };
  is_half(dc, c, true, false, syrk, "syrk");
  dc = device(c);
  F::syr2k('L', 'N', N, N, by_value(alpha), da, LD, db, LD, by_value(beta), (P *)dc, LD);
  auto syr2k = [&](int i, int j) { return x * sum([&](int k) { return A(i, k) * B(j, k) + B(i, k) * A(j, k); }) + y * C(i, j); };
  is_half(dc, c, false, false, syr2k, "syr2k");
  dc = device(c);
  F::trmm('L', 'U', 'C', 'U', N, N, by_value(alpha), da, LD, (P *)dc, LD);
  auto trmm = [&](int i, int j) { return x * sum([&](int k) { return (k == i ? wide(1) : k < i ? std::conj(A(k, i)) : wide(0)) * C(k, j); }); };
  is_half(dc, c, false, true, trmm, "trmm");
}

static void hermitian()
{
  typedef std::complex<double> T;
  typedef cuDoubleComplex P;
  enum { N = HALF_N, LD = HALF_LD };
  const auto a = numbers<T>(LD * LD, 25), b = numbers<T>(LD * LD, 26), c = numbers<T>(LD * LD, 27);
  const wide x(0.5, -1), y(2, 1);
  P *da = (P *)device(a), *db = (P *)device(b);
  T *dc = device(c);
  auto was = [&](int i, int j) { return i == j ? wide(c[i + j * LD].real()) : c[i + j * LD]; };
  auto sum = [&](auto f) {
    wide s = 0;
    for (int k = 0; k < N; k++) s += f(k);
    return s;
  };
  cublasZherk('L', 'C', N, N, 0.5, da, LD, 2, (P *)dc, LD);
  auto herk = [&](int i, int j) { return 0.5 * sum([&](int k) { return std::conj(a[k + i * LD]) * a[k + j * LD]; }) + 2. * was(i, j); };
  is_half(dc, c, false, false, herk, "herk");
  dc = device(c);
  cublasZher2k('U', 'N', N, N, by_value(x), da, LD, db, LD, 2, (P *)dc, LD);
  is_half(dc, c, true, false, [&](int i, int j) {
    auto of = [&](int k) { return x * a[i + k * LD] * std::conj(b[j + k * LD]) + std::conj(x) * b[i + k * LD] * std::conj(a[j + k * LD]); };
    return sum(of) + 2. * was(i, j);
  }, "her2k");
  dc = device(c);
  cublasZhemm('L', 'U', N, N, by_value(x), da, LD, db, LD, by_value(y), (P *)dc, LD);
  is_half(dc, c, true, true, [&](int i, int j) {
    auto A = [&](int k) { return k == i ? wide(a[i + i * LD].real()) : k > i ? a[i + k * LD] : std::conj(a[k + i * LD]); };
    return x * sum([&](int k) { return A(k) * b[k + j * LD]; }) + y * c[i + j * LD];
  }, "hemm");
}

static void sums()
{
  enum { N = 1000 };
  const auto x = numbers<float>(N, 15), y = numbers<float>(N, 16);
  const auto cx = numbers<std::complex<double>>(N, 17), cy = numbers<std::complex<double>>(N, 18);
  const auto fx = numbers<std::complex<float>>(N, 19), fy = numbers<std::complex<float>>(N, 20);
  float *dx = device(x), *dy = device(y);
  cuDoubleComplex *zx = (cuDoubleComplex *)device(cx), *zy = (cuDoubleComplex *)device(cy);
  cuComplex *gx = (cuComplex *)device(fx), *gy = (cuComplex *)device(fy);
  double dot = 0, sum = 0, squares = 0, taxi = 0;
  wide u = 0, v = 0, fu = 0, fv = 0;
  int most = 0, least = 0;
  for (int i = 0; i < N; i++) {
    dot += (double)x[i] * y[i], sum += fabs(x[i]), squares += std::norm(cx[i]), taxi += fabs(fx[i].real()) + fabs(fx[i].imag());
    u += cx[i] * cy[i], v += std::conj(cx[i]) * cy[i], fu += widen(fx[i]) * widen(fy[i]), fv += std::conj(widen(fx[i])) * widen(fy[i]);
    if (fabsf(x[i]) > fabsf(x[most])) most = i;
    if (fabsf(x[i]) < fabsf(x[least])) least = i;
  }
  check(near<float>(cublasSdot(N, dx, 1, dy, 1), dot, 4 * N), "dot");
  check(near<float>(cublasSasum(N, dx, 1), sum, N), "asum");
  check(near<double>(cublasDznrm2(N, zx, 1), sqrt(squares), N), "nrm2");
  check(near<float>(cublasScasum(N, gx, 1), taxi, N), "asum of complex numbers");
  check(cublasIsamax(N, dx, 1) == most + 1 && cublasIsamin(N, dx, 1) == least + 1, "iamax, iamin");
  check(near<double>(widen(cublasZdotu(N, zx, 1, zy, 1)), u, 8 * N) && near<double>(widen(cublasZdotc(N, zx, 1, zy, 1)), v, 8 * N), "dotu, dotc");
  check(near<float>(widen(cublasCdotu(N, gx, 1, gy, 1)), fu, 8 * N) && near<float>(widen(cublasCdotc(N, gx, 1, gy, 1)), fv, 8 * N), "... of singles");
  cublasSrot(N, dx, 1, dy, 1, 0.6f, 0.8f);
  check(near<float>(host(dx, N)[5], 0.6 * x[5] + 0.8 * y[5], 4) && near<float>(host(dy, N)[5], 0.6 * y[5] - 0.8 * x[5], 4), "rot");
  float a = 3, b = -4, c, sine, d1 = 2, d2 = 3, x1 = 4, y1 = 1, param[5];
  cublasSrotg(&a, &b, &c, &sine);
  check(near<float>(a, -5, 5) && near<float>(c, -0.6, 1) && near<float>(sine, 0.8, 1), "rotg");
  cublasSrotmg(&d1, &d2, &x1, &y1, param); // H = (1 h12; h21 1) with h21 = -1/4, h12 = 3/8; u = 1 - h12 h21 = 35/32
  check(param[0] == 0 && near<float>(param[2], -0.25, 1) && near<float>(param[3], 0.375, 1) && near<float>(d1, 64.0 / 35, 2) && near<float>(x1, 4.375, 5),
        "rotmg");
  const std::vector<float> rx = host(dx, N), ry = host(dy, N);
  cublasSrotm(N, dx, 1, dy, 1, param);
  check(near<float>(host(dx, N)[7], rx[7] + 0.375 * ry[7], 4) && near<float>(host(dy, N)[7], ry[7] - 0.25 * rx[7], 4), "rotm");
  cublasCsscal(N, 0.5f, gx, 1);
  check(near<float>(widen(host(gx, N)[3]), 0.5 * widen(fx[3]), 1), "scal by a real number");
  cuComplex *m = (cuComplex *)device(std::vector<std::complex<float>>(64));
  cublasCgerc(8, 8, make_cuComplex(0, 1), gx, 1, gy, 1, m, 8);
  check(near<float>(widen(host(m, 64)[2 + 5 * 8]), wide(0, 1) * 0.5 * widen(fx[2]) * std::conj(widen(fy[5])), 8), "ger");
  check(cublasGetError() == CUBLAS_STATUS_SUCCESS, "no error");
}

static void errors()
{
  float *p = nullptr, h[6] = {1, 2, 3, 4, 5, 6}, back[6] = {};
  int version = 0;
  check(!cublasAlloc(6, sizeof(float), (void **)&p) && p, "alloc");
  check(cublasAlloc(0, 4, (void **)&p) == CUBLAS_STATUS_INVALID_VALUE, "alloc of nothing");
  check(!cublasSetVector(6, sizeof(float), h, 1, p, 1) && !cublasGetVector(6, sizeof(float), p, 1, back, 1) && back[5] == 6, "vectors");
  check(!cublasSetMatrix(2, 3, sizeof(float), h, 2, p, 2) && !cublasGetMatrix(2, 3, sizeof(float), p, 2, back, 2) && back[3] == 4, "matrices");
  check(!cublasGetVersion(&version) && version >= 12000, "version");
  cublasSgemm('X', 'N', 1, 1, 1, 1, p, 1, p, 1, 0, p, 1);
  cublasSscal(1, 2, p, 1);
  check(cublasGetError() == CUBLAS_STATUS_INVALID_VALUE && cublasGetError() == CUBLAS_STATUS_SUCCESS, "an error stays until it is asked for");
  cublasStrsm('Q', 'U', 'N', 'N', 1, 1, 1, p, 1, p, 1);
  check(cublasGetError() == CUBLAS_STATUS_INVALID_VALUE, "an unknown side");
  check(!cublasFree(p) && !cublasFree(nullptr), "free");
}

template <typename F> static void all_of()
{
  for (char a : {'N', 't', 'C'})
    for (char b : {'n', 'T', 'c'}) products<F>(a, b);
  matrix_and_vector<F>();
  for (char side : {'L', 'R'})
    for (char uplo : {'L', 'U'}) triangle<F>(side, uplo, uplo == 'L' ? 'C' : 'N', side == 'L' ? 'U' : 'N');
  halves<F>();
  vectors<F>();
}

int main()
{
  float x = 1;
  cublasSscal(1, 2, &x, 1);
  check(cublasGetError() == CUBLAS_STATUS_NOT_INITIALIZED && cublasShutdown() == CUBLAS_STATUS_NOT_INITIALIZED, "before cublasInit");
  check(!cublasInit() && !cublasInit(), "init, twice");
  errors();
  all_of<singles>(), all_of<doubles>(), all_of<complexes>(), all_of<wide_complexes>();
  hermitian();
  sums();
  cudaStream_t s;
  cudaStreamCreate(&s);
  check(!cublasSetKernelStream(s), "a stream");
  vectors<doubles>();
  check(!cublasSetKernelStream(nullptr) && !cublasShutdown(), "the end");
  printf("%d checks, %d wrong\n", cases, failures);
  return failures != 0;
}
