// Level 2 of BLAS where a part of the matrix is stored, against binary64 sums on the host that follow the definitions, with handles
// and without. What a function must not read (the other half, the corners of bands, unit diagonals, the imaginary parts of Hermitian
// diagonals, y where beta is 0) is not a number here; what it must not write has to stay.
#pragma once
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "checks.cuh"

typedef std::complex<double> wide;
enum { FULL, BAND, PACKED };
static const double MARK = 77; // between the elements of vectors
static const int sizes[] = {1, 31, 33, 130}, increments[] = {1, 2, -1}, widths[] = {0, 1, 5};
static const cublasOperation_t operations[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
static const cublasFillMode_t halves[] = {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER};

static unsigned draw(unsigned n)
{
  static unsigned state = 12345;
  state = state * 1664525u + 1013904223u;
  return (state >> 16) % n;
}
static double number() { return draw(16) / 4.0 - 2; }
static int increment() { return increments[draw(3)]; }

template <typename T> struct kind {
  typedef T real;
  static const bool complex = false;
  static T from(wide v) { return (T)v.real(); }
};
template <typename R> struct kind<std::complex<R>> {
  typedef R real;
  static const bool complex = true;
  static std::complex<R> from(wide v) { return std::complex<R>(v); }
};
template <typename T> static wide any() { return kind<T>::complex ? wide(number(), number()) : wide(number()); }
template <typename T> static T no_number()
{
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return kind<T>::from(wide(nan, nan));
}
template <typename T> static double eps() { return std::numeric_limits<typename kind<T>::real>::epsilon(); }
template <typename T> static bool same(const T &a, const T &b) { return !memcmp(&a, &b, sizeof a); }

// The functions of a type by their names without it, the handle first: the program's. `complex_symmetric`: whether there are symv,
// syr and syr2 of complex numbers.
template <typename T> struct blas;

// A factor on the host and on the device.
template <typename T> struct factor {
  T value;
  T *there;
  explicit factor(wide v) : value(kind<T>::from(v)), there(device(std::vector<T>{value})) {}
  ~factor() { cudaFree(there); }
  const typename blas<T>::at *at(cublasHandle_t h) const
  {
    cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST; // without a handle
    cublasGetPointerMode_v2(h, &mode);
    return (const typename blas<T>::at *)(mode == CUBLAS_POINTER_MODE_DEVICE ? there : &value);
  }
};
static void draw_mode(cublasHandle_t h)
{
  if (h) cublasSetPointerMode_v2(h, draw(3) ? CUBLAS_POINTER_MODE_HOST : CUBLAS_POINTER_MODE_DEVICE);
}

template <typename T> struct vec {
  int n, inc;
  std::vector<T> old;
  T *there;
  vec(int n_, int inc_, bool readable = true) : n(n_), inc(inc_), old(1 + (n_ - 1) * std::abs(inc_) + 2, kind<T>::from(MARK))
  {
    for (int i = 0; i < n; i++) old[place(i)] = readable ? kind<T>::from(any<T>()) : no_number<T>();
    there = device(old);
  }
  ~vec() { cudaFree(there); }
  size_t place(int i) const { return inc > 0 ? (size_t)i * inc : (size_t)(n - 1 - i) * -inc; }
  wide operator[](int i) const { return wide(old[place(i)]); }
  typename blas<T>::at *at() const { return (typename blas<T>::at *)there; }
  // Whether what is there now lies as near to `want` as its sums of sizes allow, and nothing else has changed.
  template <typename F> bool is(F want) const
  {
    std::vector<T> now = host(there, old.size());
    for (int i = 0; i < n; i++) {
      double size = 0;
      const wide w = want(i, size);
      if (!(std::abs(wide(now[place(i)]) - w) <= 4 * eps<T>() * (n + 4) * size)) return false;
      now[place(i)] = old[place(i)];
    }
    return !memcmp(now.data(), old.data(), now.size() * sizeof(T));
  }
};

// A matrix of which below and above the diagonal so many diagonals are stored, by BLAS's formulas.
template <typename T> struct part {
  int rows, cols, below, above, storage, ld;
  std::vector<wide> dense;
  std::vector<T> old;
  T *there;
  part(int m, int n, int kl, int ku, int storage_, int ld_) : rows(m), cols(n), below(kl), above(ku), storage(storage_), ld(ld_), there(nullptr)
  {
    dense.resize((size_t)m * n);
    for (wide &v : dense) v = any<T>();
    for (int c = 0; c < n; c++)
      for (int r = 0; r < m; r++)
        if (!stored(r, c)) (*this)(r, c) = 0;
    old.assign(storage == PACKED ? (size_t)n * (n + 1) / 2 : (size_t)ld * n, no_number<T>());
  }
  ~part() { cudaFree(there); }
  wide &operator()(int r, int c) { return dense[(size_t)c * rows + r]; }
  bool stored(int r, int c) const { return r < rows && r - c <= below && c - r <= above; }
  size_t place(int r, int c) const
  {
    if (storage == FULL) return (size_t)c * ld + r;
    if (storage == BAND) return (size_t)c * ld + above + r - c;
    return above ? (size_t)c * (c + 1) / 2 + r : (size_t)c * cols - (size_t)c * (c - 1) / 2 + (r - c);
  }
  // Puts it on the device; `hide`: of its diagonal 1: nothing, 2: the imaginary part is left out.
  void put(int hide = 0)
  {
    for (int c = 0; c < cols; c++)
      for (int r = 0; r < rows; r++) {
        if (!stored(r, c)) continue;
        wide v = (*this)(r, c);
        if (r == c && hide == 2) (*this)(r, c) = v.real(), v = wide(v.real(), std::nan(""));
        if (r == c && hide == 1) (*this)(r, c) = 1, v = wide(no_number<T>());
        old[place(r, c)] = kind<T>::from(v);
      }
    there = device(old);
  }
  typename blas<T>::at *at() const { return (typename blas<T>::at *)there; }
  wide of(int op, int r, int c) { return op == CUBLAS_OP_N ? (*this)(r, c) : op == CUBLAS_OP_T ? (*this)(c, r) : std::conj((*this)(c, r)); }
  wide mirrored(bool hermitian, int r, int c) { return stored(r, c) ? (*this)(r, c) : hermitian ? std::conj((*this)(c, r)) : (*this)(c, r); }
};

// A triangle's storage: full, packed, bands of some widths.
struct form {
  int storage, width;
};
static const form forms[] = {{FULL, 0}, {PACKED, 0}, {BAND, 0}, {BAND, 1}, {BAND, 5}};
template <typename T> static part<T> triangle(const form &f, int n, bool upper)
{
  const int reach = f.storage == BAND ? f.width : n;
  return part<T>(n, n, upper ? 0 : reach, upper ? reach : 0, f.storage, f.storage == BAND ? f.width + 1 + n % 3 : n + n % 3);
}

static void tell(bool right, const char *what, int n, int fill, int op, int unit, const form &f)
{
  check(right, what);
  if (!right) printf("  size %d, half %d, operation %d, unit %d, storage %d, width %d\n", n, fill, op, unit, f.storage, f.width);
}

// The triangle's product and, the other way, its system: what the solution gives again is the right side.
template <typename T> static void one_triangle(cublasHandle_t h, const form &f, int n, cublasFillMode_t fill, cublasOperation_t op, bool unit)
{
  const cublasDiagType_t diag = unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
  part<T> a = triangle<T>(f, n, fill == CUBLAS_FILL_MODE_UPPER);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) a(i, j) /= i == j ? 1 : 64;
    a(i, i) += a(i, i).real() < 0 ? -1 : 1;
  }
  a.put(unit);
  vec<T> x(n, increment());
  const int k = f.width;
  auto status = f.storage == FULL   ? blas<T>::trmv(h, fill, op, diag, n, a.at(), a.ld, x.at(), x.inc)
                : f.storage == BAND ? blas<T>::tbmv(h, fill, op, diag, n, k, a.at(), a.ld, x.at(), x.inc)
                                    : blas<T>::tpmv(h, fill, op, diag, n, a.at(), x.at(), x.inc);
  bool right = !status && x.is([&](int i, double &size) {
    wide s = 0;
    for (int j = 0; j < n; j++) s += a.of(op, i, j) * x[j], size += std::abs(a.of(op, i, j) * x[j]);
    return s;
  });
  tell(right, "triangle times vector", n, fill, op, unit, f);
  vec<T> b(n, increment());
  status = f.storage == FULL   ? blas<T>::trsv(h, fill, op, diag, n, a.at(), a.ld, b.at(), b.inc)
           : f.storage == BAND ? blas<T>::tbsv(h, fill, op, diag, n, k, a.at(), a.ld, b.at(), b.inc)
                               : blas<T>::tpsv(h, fill, op, diag, n, a.at(), b.at(), b.inc);
  vec<T> found(n, b.inc);
  found.old = host(b.there, b.old.size());
  right = !status;
  for (int i = 0; i < n; i++) {
    wide s = 0;
    double size = std::abs(b[i]);
    for (int j = 0; j < n; j++) s += a.of(op, i, j) * found[j], size += std::abs(a.of(op, i, j) * found[j]);
    right = right && std::abs(s - b[i]) <= 4 * eps<T>() * (n + 4) * size;
  }
  right = right && b.is([&](int i, double &size) { return size = 1, found[i]; }); // and what is between stays
  tell(right, "triangular system", n, fill, op, unit, f);
}

template <typename T> static cublasStatus_t symmetric(cublasHandle_t h, bool hermitian, const form &f, cublasFillMode_t fill, part<T> &a,
                                                      factor<T> &alpha, const vec<T> &x, factor<T> &beta, const vec<T> &y)
{
  typedef blas<T> B;
  draw_mode(h);
  const auto *p = alpha.at(h), *q = beta.at(h);
  const int n = x.n, k = f.width;
  if constexpr (kind<T>::complex) {
    if constexpr (B::complex_symmetric)
      if (!hermitian) return B::symv(h, fill, n, p, a.at(), a.ld, x.at(), x.inc, q, y.at(), y.inc);
    if (f.storage == FULL) return B::hemv(h, fill, n, p, a.at(), a.ld, x.at(), x.inc, q, y.at(), y.inc);
    if (f.storage == BAND) return B::hbmv(h, fill, n, k, p, a.at(), a.ld, x.at(), x.inc, q, y.at(), y.inc);
    return B::hpmv(h, fill, n, p, a.at(), x.at(), x.inc, q, y.at(), y.inc);
  } else {
    if (f.storage == FULL) return B::symv(h, fill, n, p, a.at(), a.ld, x.at(), x.inc, q, y.at(), y.inc);
    if (f.storage == BAND) return B::sbmv(h, fill, n, k, p, a.at(), a.ld, x.at(), x.inc, q, y.at(), y.inc);
    return B::spmv(h, fill, n, p, a.at(), x.at(), x.inc, q, y.at(), y.inc);
  }
}

// There are no Hermitian real matrices, and no symmetric complex bands and packed matrices.
template <typename T> static bool there_is(bool hermitian, int storage)
{
  if (!kind<T>::complex) return !hermitian;
  return hermitian || (storage == FULL && blas<T>::complex_symmetric);
}
// y = alpha A x + beta y, with factors that are 0, too.
template <typename T> static void one_symmetric(cublasHandle_t h, const form &f, int n, cublasFillMode_t fill, bool hermitian)
{
  if (!there_is<T>(hermitian, f.storage)) return;
  for (int zeros = 0; zeros < 3; zeros++) {
    part<T> a = triangle<T>(f, n, fill == CUBLAS_FILL_MODE_UPPER);
    a.put(hermitian ? 2 : 0);
    factor<T> alpha(zeros == 2 ? wide(0) : any<T>() + 3.0), beta(zeros == 1 ? wide(0) : any<T>() + 3.0);
    vec<T> x(n, increment(), zeros != 2), y(n, increment(), zeros != 1);
    const bool right = !symmetric(h, hermitian, f, fill, a, alpha, x, beta, y) && y.is([&](int i, double &size) {
      const wide s0 = zeros == 1 ? wide(0) : wide(beta.value) * y[i];
      wide s = s0;
      size = std::abs(s0);
      for (int j = 0; j < n && zeros != 2; j++) {
        const wide term = wide(alpha.value) * a.mirrored(hermitian, i, j) * x[j];
        s += term, size += std::abs(term);
      }
      return s;
    });
    tell(right, hermitian ? "Hermitian matrix times vector" : "symmetric matrix times vector", n, fill, 0, zeros, f);
  }
}

template <typename T> static void one_band(cublasHandle_t h, int m, int n, int kl, int ku, cublasOperation_t op)
{
  const bool turned = op != CUBLAS_OP_N, fresh = draw(2);
  part<T> a(m, n, kl, ku, BAND, kl + ku + 1 + m % 2);
  a.put();
  factor<T> alpha(any<T>() + 3.0), beta(fresh ? wide(0) : any<T>() + 3.0);
  vec<T> x(turned ? m : n, increment()), y(turned ? n : m, increment(), !fresh);
  draw_mode(h);
  const auto *p = alpha.at(h), *q = beta.at(h);
  bool right = !blas<T>::gbmv(h, op, m, n, kl, ku, p, a.at(), a.ld, x.at(), x.inc, q, y.at(), y.inc);
  right = right && y.is([&](int i, double &size) {
    wide s = fresh ? wide(0) : wide(beta.value) * y[i];
    size = std::abs(s);
    for (int j = 0; j < x.n; j++) {
      const wide term = wide(alpha.value) * a.of(op, i, j) * x[j];
      s += term, size += std::abs(term);
    }
    return s;
  });
  tell(right, "band times vector", m * 1000 + n, 0, op, 0, {BAND, kl * 100 + ku});
}

template <typename T> static cublasStatus_t update(cublasHandle_t h, bool hermitian, bool two, bool packed, cublasFillMode_t fill, part<T> &a,
                                                   const typename blas<T>::at *p, const vec<T> &x, const vec<T> &y)
{
  typedef blas<T> B;
  const int n = x.n;
  if constexpr (kind<T>::complex) {
    const auto *r = (const typename B::real_at *)p; // her, hpr: a real factor, the real part lies first
    if constexpr (B::complex_symmetric)
      if (!hermitian) return two ? B::syr2(h, fill, n, p, x.at(), x.inc, y.at(), y.inc, a.at(), a.ld) : B::syr(h, fill, n, p, x.at(), x.inc, a.at(), a.ld);
    if (packed) return two ? B::hpr2(h, fill, n, p, x.at(), x.inc, y.at(), y.inc, a.at()) : B::hpr(h, fill, n, r, x.at(), x.inc, a.at());
    return two ? B::her2(h, fill, n, p, x.at(), x.inc, y.at(), y.inc, a.at(), a.ld) : B::her(h, fill, n, r, x.at(), x.inc, a.at(), a.ld);
  } else {
    if (packed) return two ? B::spr2(h, fill, n, p, x.at(), x.inc, y.at(), y.inc, a.at()) : B::spr(h, fill, n, p, x.at(), x.inc, a.at());
    return two ? B::syr2(h, fill, n, p, x.at(), x.inc, y.at(), y.inc, a.at(), a.ld) : B::syr(h, fill, n, p, x.at(), x.inc, a.at(), a.ld);
  }
}

// Whether the stored elements are `want` and all others stayed. Diagonals of Hermitian matrices are real now.
template <typename T, typename F> static bool updated(part<T> &a, bool hermitian, F want)
{
  std::vector<T> now = host(a.there, a.old.size());
  for (int c = 0; c < a.cols; c++)
    for (int r = 0; r < a.rows; r++) {
      if (!a.stored(r, c)) continue;
      const size_t at = a.place(r, c);
      double size = std::abs(a(r, c));
      const wide w = want(r, c, size);
      if (!(std::abs(wide(now[at]) - w) <= 8 * eps<T>() * size)) return false;
      if (hermitian && r == c && wide(now[at]).imag() != 0) return false;
      now[at] = a.old[at];
    }
  return !memcmp(now.data(), a.old.data(), now.size() * sizeof(T));
}

template <typename T> static void one_update(cublasHandle_t h, int n, cublasFillMode_t fill, bool hermitian, bool two, bool packed)
{
  const form f = {packed ? PACKED : FULL, 0};
  if (!there_is<T>(hermitian, f.storage)) return;
  part<T> a = triangle<T>(f, n, fill == CUBLAS_FILL_MODE_UPPER);
  a.put(hermitian ? 2 : 0);
  const bool real = hermitian && !two;
  factor<T> alpha(real ? wide(number() + 3) : any<T>() + 3.0);
  vec<T> x(n, increment()), y(n, increment());
  draw_mode(h);
  auto turn = [&](wide v) { return hermitian ? std::conj(v) : v; };
  bool right = !update(h, hermitian, two, packed, fill, a, alpha.at(h), x, y) && updated(a, hermitian, [&](int r, int c, double &size) {
    const wide k(alpha.value), t = k * x[r] * turn(two ? y[c] : x[c]), u = two ? turn(k) * y[r] * turn(x[c]) : wide(0);
    size += std::abs(t) + std::abs(u);
    return a(r, c) + t + u;
  });
  tell(right, two ? "update of rank 2" : "update of rank 1", n, fill, hermitian, 0, f);
  factor<T> none(0);
  part<T> b = triangle<T>(f, n, fill == CUBLAS_FILL_MODE_UPPER);
  b.put();
  right = !update(h, hermitian, two, packed, fill, b, none.at(h), x, y);
  const std::vector<T> now = host(b.there, b.old.size());
  tell(right && !memcmp(now.data(), b.old.data(), now.size() * sizeof(T)), "update by 0", n, fill, hermitian, 0, f);
}

template <typename T> static void all_of(cublasHandle_t h)
{
  for (int n : sizes)
    for (cublasFillMode_t fill : halves) {
      for (const form &f : forms) {
        for (cublasOperation_t op : operations)
          for (int unit = 0; unit < 2; unit++) one_triangle<T>(h, f, n, fill, op, unit);
        for (int hermitian = 0; hermitian < 2; hermitian++) one_symmetric<T>(h, f, n, fill, hermitian);
      }
      for (int v = 0; v < 8; v++) one_update<T>(h, n, fill, v & 1, v & 2, v & 4);
    }
  for (int n : sizes)
    for (int m : {n, 40})
      for (int kl : widths)
        for (int ku : widths)
          for (cublasOperation_t op : operations) one_band<T>(h, m, n, kl, ku, op);
}
