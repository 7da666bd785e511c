// cublasXt: level 3 from memory of the host, by tiles smaller than the matrices, over all GPUs that there are, against the definition
// in binary64. What must not be read is not a number, and what must not be written stays as it was.
#include <cublasXt.h>
#include <cstring>

#include "tables.cuh"

static cublasXtHandle_t h;
static const int ops[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};

#define WRAP(name, f) \
  template <typename... A> static cublasStatus_t name(A... a) { return f(a...); }
template <typename T> struct type;
#define EACH(l)                    \
  WRAP(gemm, cublasXt##l##gemm)    \
  WRAP(symm, cublasXt##l##symm)    \
  WRAP(spmm, cublasXt##l##spmm)    \
  WRAP(syrk, cublasXt##l##syrk)    \
  WRAP(syr2k, cublasXt##l##syr2k)  \
  WRAP(syrkx, cublasXt##l##syrkx)  \
  WRAP(trsm, cublasXt##l##trsm)    \
  WRAP(trmm, cublasXt##l##trmm)
#define REAL(T, l) \
  template <> struct type<T> : native<T> { EACH(l) typedef typename native<T>::nv real; };
#define COMPLEX(T, l, R)                                                                                                  \
  template <> struct type<T> : native<T> {                                                                                \
    EACH(l) WRAP(hemm, cublasXt##l##hemm) WRAP(herk, cublasXt##l##herk) WRAP(her2k, cublasXt##l##her2k)                    \
      WRAP(herkx, cublasXt##l##herkx) typedef R real;                                                                     \
  };
REAL(float, S)
REAL(double, D)
COMPLEX(c32, C, float)
COMPLEX(c64, Z, double)

template <typename T> static constexpr bool is_complex = !std::is_floating_point<T>::value;
template <typename T> static typename native<T>::nv *at(matrix<T> &m) { return (typename native<T>::nv *)m.v.data(); }
template <typename T> static T scalar(double re, double im)
{
  if constexpr (is_complex<T>) return T(re, im);
  else return T(re);
}
template <typename T> static typename native<T>::nv *raw(T &v) { return (typename native<T>::nv *)&v; }

static table times(number f, table a)
{
  for (number &v : a.v) v *= f;
  return a;
}
static table plus(table a, const table &b)
{
  for (size_t i = 0; i < a.v.size(); i++) a.v[i] += b.v[i];
  return a;
}

// The half or triangle that counts stays; the rest is not a number.
template <typename T> static void blind(matrix<T> &a, bool upper, bool unit)
{
  for (int j = 0; j < a.n; j++)
    for (int i = 0; i < a.m; i++)
      if ((upper ? i > j : i < j) || (unit && i == j)) a.v[(size_t)j * a.ld + i] = T(NAN);
}

enum kind { SYMMETRIC, HERMITIAN, TRIANGULAR };
template <typename T> static table whole(const matrix<T> &a, kind k, bool upper, bool unit)
{
  const table s = a.get();
  table w(a.n, a.n);
  for (int j = 0; j < a.n; j++)
    for (int i = 0; i < a.n; i++) {
      if (upper ? i > j : i < j) w.at(i, j) = k == TRIANGULAR ? number(0) : k == HERMITIAN ? std::conj(s.at(j, i)) : s.at(j, i);
      else w.at(i, j) = i == j && unit ? number(1) : i == j && k == HERMITIAN ? number(s.at(i, i).real()) : s.at(i, j);
    }
  return w;
}

// `got` against `want`, where `mine` says that it counts; elsewhere it is `before`, to the bit.
template <typename T, typename F>
static void compare(const matrix<T> &got, const matrix<T> &before, const table &want, int k, double norm, F mine, const char *what)
{
  bool right = true;
  table off(want.m, want.n);
  for (int j = 0; j < got.n; j++)
    for (int i = 0; i < got.ld; i++) {
      const size_t p = (size_t)j * got.ld + i;
      if (i < got.m && mine(i, j)) off.at(i, j) = number(got.v[p]) - want.at(i, j);
      else right = right && !memcmp(&got.v[p], &before.v[p], sizeof(T));
    }
  check(right && below(off.norm(), k + 2, type<T>::eps, norm), what);
}
static bool everywhere(int, int) { return true; }

template <typename T> static void products(int m, int n, int k, bool fresh)
{
  T alpha = scalar<T>(0.75, -0.5), beta = fresh ? T(0) : scalar<T>(-1.25, 0.25);
  for (int ta : ops)
    for (int tb : ops) {
      matrix<T> a(ta ? k : m, ta ? m : k), b(tb ? n : k, tb ? k : n), c(m, n);
      const matrix<T> before = c;
      const table ab = a.get().op(ta) * b.get().op(tb);
      if (fresh)
        for (T &v : c.v) v = T(NAN);
      const bool good = !type<T>::gemm(h, (cublasOperation_t)ta, (cublasOperation_t)tb, (size_t)m, (size_t)n, (size_t)k, raw(alpha), at(a), (size_t)a.ld,
                                       at(b), (size_t)b.ld, raw(beta), at(c), (size_t)c.ld);
      check(good, "gemm's status");
      const table want = fresh ? times(alpha, ab) : plus(times(alpha, ab), times(beta, before.get()));
      matrix<T> old = before;
      if (fresh) old.v.assign(old.v.size(), T(NAN));
      compare(c, old, want, k, a.get().norm() * b.get().norm() + before.get().norm(), everywhere, "gemm");
    }
}

template <typename T, typename F> static void sided(F f, kind kind, bool packed)
{
  const int m = 37, n = 50;
  T alpha = scalar<T>(0.75, -0.5), beta = scalar<T>(-1.25, 0.25);
  for (int way = 0; way < 4; way++) {
    const bool right = way & 1, upper = way & 2;
    const int order = right ? n : m;
    matrix<T> a(order, order), b(m, n), c(m, n);
    const matrix<T> before = c;
    const table w = whole(a, kind, upper, false);
    blind(a, upper, false);
    std::vector<T> ap;
    for (int j = 0; j < order; j++)
      for (int i = upper ? 0 : j; i < (upper ? j + 1 : order); i++) ap.push_back(a.v[(size_t)j * a.ld + i]);
    const cublasSideMode_t side = right ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT;
    const cublasFillMode_t fill = upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
    bool good;
    if (packed) good = !type<T>::spmm(h, side, fill, (size_t)m, (size_t)n, raw(alpha), (typename native<T>::nv *)ap.data(), at(b), (size_t)b.ld, raw(beta), at(c), (size_t)c.ld);
    else good = !f(h, side, fill, (size_t)m, (size_t)n, raw(alpha), at(a), (size_t)a.ld, at(b), (size_t)b.ld, raw(beta), at(c), (size_t)c.ld);
    check(good, "symm's status");
    const table ab = right ? b.get() * w : w * b.get();
    compare(c, before, plus(times(alpha, ab), times(beta, before.get())), order, w.norm() * b.get().norm() + before.get().norm(), everywhere,
            packed ? "spmm" : kind == HERMITIAN ? "hemm" : "symm");
  }
}

// one: syrk; two: syr2k; other: syrkx, whose result is symmetric where B is a multiple of A.
template <typename T, typename F> static void halves(F f, bool hermitian, bool twice, bool other)
{
  const int n = 45, k = 35;
  const double real_alpha = 0.75, imag = hermitian && !twice ? 0 : -0.5;
  T alpha = scalar<T>(real_alpha, imag), beta = scalar<T>(-1.25, hermitian ? 0 : 0.25);
  typename type<T>::real alpha_real = (typename type<T>::real)real_alpha, beta_real = -1.25;
  for (int way = 0; way < 4; way++) {
    const bool turned = way & 1, upper = way & 2;
    const int op = !turned ? 0 : hermitian ? 2 : 1, back = hermitian ? 2 : 1;
    matrix<T> a(turned ? k : n, turned ? n : k), b = a, c(n, n);
    if (other)
      for (T &v : b.v) v *= T(2);
    if (twice) b = matrix<T>(a.m, a.n);
    const matrix<T> before = c;
    const table x = a.get().op(op), y = twice || other ? b.get().op(op) : x;
    const cublasFillMode_t fill = upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
    check(!f(fill, (cublasOperation_t)op, (size_t)n, (size_t)k, alpha, alpha_real, a, b, beta, beta_real, c), "syrk's status");
    table old = before.get();
    if (hermitian)
      for (int i = 0; i < n; i++) old.at(i, i) = old.at(i, i).real();
    table want = plus(times(alpha, x * y.op(back)), times(beta, old));
    if (twice) want = plus(want, times(hermitian ? std::conj(number(alpha)) : number(alpha), y * x.op(back)));
    compare(c, before, want, 2 * k, 2 * x.norm() * y.norm() + old.norm(), [=](int i, int j) { return upper ? i <= j : i >= j; },
            hermitian ? "herk and its kind" : "syrk and its kind");
  }
}

template <typename T> static void triangles()
{
  const int m = 41, n = 38;
  T alpha = scalar<T>(0.75, -0.5);
  for (int way = 0; way < 8; way++)
    for (int op : ops)
      for (int what = 0; what < 3; what++) { // a system, a product, a product in place
        const bool right = way & 1, upper = way & 2, unit = way & 4;
        const int order = right ? n : m;
        matrix<T> a(order, order), b(m, n), c(m, n);
        for (int i = 0; i < order; i++)
          for (int j = 0; j < order; j++) {
            T &v = a.v[(size_t)j * a.ld + i];
            v = i == j ? v + T(3) : v * scalar<T>(0.125, 0);
          }
        const table t = whole(a, TRIANGULAR, upper, unit).op(op), old = b.get();
        const matrix<T> before = what == 1 ? c : b;
        blind(a, upper, unit);
        const cublasSideMode_t side = right ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT;
        const cublasFillMode_t fill = upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
        const cublasDiagType_t diag = unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
        if (what == 0) {
          check(!type<T>::trsm(h, side, fill, (cublasOperation_t)op, diag, (size_t)m, (size_t)n, raw(alpha), at(a), (size_t)a.ld, at(b), (size_t)b.ld), "trsm's status");
          matrix<T> left = b;
          const table x = b.get(), ax = right ? x * t : t * x, want = times(alpha, old);
          check(below(distance(ax, want), order + 2, type<T>::eps, t.norm() * x.norm() + want.norm()), "trsm");
          continue;
        }
        matrix<T> &to = what == 1 ? c : b;
        check(!type<T>::trmm(h, side, fill, (cublasOperation_t)op, diag, (size_t)m, (size_t)n, raw(alpha), at(a), (size_t)a.ld, at(b), (size_t)b.ld, at(to), (size_t)to.ld), "trmm's status");
        compare(to, before, times(alpha, right ? old * t : t * old), order, t.norm() * old.norm(), everywhere, what == 1 ? "trmm" : "trmm in place");
      }
}

template <typename T> static void of_type()
{
  typedef type<T> t;
  products<T>(37, 50, 61, false), products<T>(5, 33, 16, true), products<T>(20, 20, 0, false);
  sided<T>([](auto... x) { return t::symm(x...); }, SYMMETRIC, false);
  sided<T>([](auto... x) { return t::symm(x...); }, SYMMETRIC, true);
  halves<T>([](auto f, auto o, size_t n, size_t k, T al, auto, auto &a, auto &, T be, auto, auto &c) {
    return t::syrk(h, f, o, n, k, raw(al), at(a), (size_t)a.ld, raw(be), at(c), (size_t)c.ld); }, false, false, false);
  halves<T>([](auto f, auto o, size_t n, size_t k, T al, auto, auto &a, auto &b, T be, auto, auto &c) {
    return t::syr2k(h, f, o, n, k, raw(al), at(a), (size_t)a.ld, at(b), (size_t)b.ld, raw(be), at(c), (size_t)c.ld); }, false, true, false);
  halves<T>([](auto f, auto o, size_t n, size_t k, T al, auto, auto &a, auto &b, T be, auto, auto &c) {
    return t::syrkx(h, f, o, n, k, raw(al), at(a), (size_t)a.ld, at(b), (size_t)b.ld, raw(be), at(c), (size_t)c.ld); }, false, false, true);
  triangles<T>();
  if constexpr (is_complex<T>) {
    sided<T>([](auto... x) { return t::hemm(x...); }, HERMITIAN, false);
    halves<T>([](auto f, auto o, size_t n, size_t k, T, auto al, auto &a, auto &, T, auto be, auto &c) {
      return t::herk(h, f, o, n, k, &al, at(a), (size_t)a.ld, &be, at(c), (size_t)c.ld); }, true, false, false);
    halves<T>([](auto f, auto o, size_t n, size_t k, T al, auto, auto &a, auto &b, T, auto be, auto &c) {
      return t::her2k(h, f, o, n, k, raw(al), at(a), (size_t)a.ld, at(b), (size_t)b.ld, &be, at(c), (size_t)c.ld); }, true, true, false);
    halves<T>([](auto f, auto o, size_t n, size_t k, T al, auto, auto &a, auto &b, T, auto be, auto &c) {
      return t::herkx(h, f, o, n, k, raw(al), at(a), (size_t)a.ld, at(b), (size_t)b.ld, &be, at(c), (size_t)c.ld); }, true, false, true);
  }
}

int main()
{
  int devices = 0, all_of_them[16], block = 0, before = 0, now = 0;
  float one = 1;
  cudaGetDeviceCount(&devices);
  devices = std::min(devices, 16);
  for (int i = 0; i < devices; i++) all_of_them[i] = i;
  if (cublasXtCreate(&h)) return 1;
  check(cublasXtSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, &one, 1, &one, 1, &one, &one, 1) == CUBLAS_STATUS_NOT_INITIALIZED, "no GPU chosen");
  int wrong[] = {devices};
  check(cublasXtDeviceSelect(h, 1, wrong) == CUBLAS_STATUS_INVALID_VALUE, "a GPU that is not there");
  check(!cublasXtDeviceSelect(h, devices, all_of_them), "choosing GPUs");
  check(cublasXtSetBlockDim(h, 0) == CUBLAS_STATUS_INVALID_VALUE && !cublasXtSetBlockDim(h, 16), "sizes of tiles");
  check(!cublasXtGetBlockDim(h, &block) && block == 16, "the size of tiles");
  check(cublasXtSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 1, 1, &one, &one, 1, &one, 1, &one, &one, 2) == CUBLAS_STATUS_INVALID_VALUE, "a short leading dimension");
  cudaGetDevice(&before);
  of_type<float>();
  of_type<double>();
  of_type<c32>();
  of_type<c64>();
  check(!cudaGetDevice(&now) && now == before, "the thread's device");
  check(!cublasXtDestroy(h), "destroy");
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
