// libcusolver: LU, Cholesky and QR of four types. What the factors give again, and what solutions leave, is compared on the host in
// binary64: differences are below 8 n eps of the norms that they come from (backward stability, with a constant of 8).
#include <cusolverDn.h>

#include "tables.cuh"

#define WRAP(name, f) \
  template <typename... A> static cusolverStatus_t name(A... a) { return f(a...); }
template <typename T> struct type;
#define TYPE(T, l, form, apply)                           \
  template <> struct type<T> : native<T> {                \
    WRAP(getrf, cusolverDn##l##getrf)                     \
    WRAP(getrf_room, cusolverDn##l##getrf_bufferSize)     \
    WRAP(getrs, cusolverDn##l##getrs)                     \
    WRAP(potrf, cusolverDn##l##potrf)                     \
    WRAP(potrf_room, cusolverDn##l##potrf_bufferSize)     \
    WRAP(potrs, cusolverDn##l##potrs)                     \
    WRAP(potrf_batched, cusolverDn##l##potrfBatched)      \
    WRAP(potrs_batched, cusolverDn##l##potrsBatched)      \
    WRAP(geqrf, cusolverDn##l##geqrf)                     \
    WRAP(geqrf_room, cusolverDn##l##geqrf_bufferSize)     \
    WRAP(form_q, cusolverDn##l##form)                     \
    WRAP(form_q_room, cusolverDn##l##form##_bufferSize)   \
    WRAP(apply_q_room, cusolverDn##l##apply##_bufferSize) \
    WRAP(apply_q, cusolverDn##l##apply)                   \
  };
TYPE(float, S, orgqr, ormqr)
TYPE(double, D, orgqr, ormqr)
TYPE(c32, C, ungqr, unmqr)
TYPE(c64, Z, ungqr, unmqr)

// Rows that LAPACK's getf2 takes for pivots, from 1 on, and the first column without one (0: all have one).
static std::vector<int> pivots_of(table a, int *zero)
{
  const int k = std::min(a.m, a.n);
  std::vector<int> p(k);
  auto size = [&](int i, int j) { return fabs(a.at(i, j).real()) + fabs(a.at(i, j).imag()); };
  *zero = 0;
  for (int j = 0; j < k; j++) {
    int r = j;
    for (int i = j + 1; i < a.m; i++)
      if (size(i, j) > size(r, j)) r = i;
    p[j] = r + 1;
    if (size(r, j) == 0) {
      if (!*zero) *zero = j + 1;
      continue;
    }
    for (int c = 0; c < a.n; c++) std::swap(a.at(j, c), a.at(r, c));
    for (int i = j + 1; i < a.m; i++) a.at(i, j) /= a.at(j, j);
    for (int c = j + 1; c < a.n; c++)
      for (int i = j + 1; i < a.m; i++) a.at(i, c) -= a.at(i, j) * a.at(j, c);
  }
  return p;
}

template <typename T> static void lu(cusolverDnHandle_t h, int m, int n)
{
  typedef type<T> t;
  matrix<T> a(m, n);
  const table before = a.get();
  int words = 0, *info = device(std::vector<int>{99}), *pivots = device(std::vector<int>(std::max(m, n)));
  char what[80];
  a.up();
  bool right = !t::getrf_room(h, m, n, a.at, a.ld, &words) && words > 0;
  auto *work = (typename t::nv *)device(std::vector<T>(words));
  right = right && !t::getrf(h, m, n, a.at, a.ld, work, pivots, info) && info_of(info) == 0;
  a.back();
  const table f = a.get();
  const int k = std::min(m, n);
  const std::vector<int> p = host(pivots, k);
  int zero;
  right = right && p == pivots_of(before, &zero) && !zero;
  table l(m, k), u(k, n), moved = before;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      if (j < k && i >= j) l.at(i, j) = i == j ? 1 : f.at(i, j);
      if (i < k && i <= j) u.at(i, j) = f.at(i, j);
      if (i > j) right = right && std::abs(f.at(i, j)) <= 1.5; // with pivots: 1, by sums of parts at most sqrt(2)
    }
  for (int i = 0; i < k; i++) {
    right = right && p[i] > i && p[i] <= m;
    for (int j = 0; right && j < n; j++) std::swap(moved.at(i, j), moved.at(p[i] - 1, j));
  }
  snprintf(what, sizeof what, "LU of %d x %d, %d bytes", m, n, (int)sizeof(T));
  check(right && below(distance(l * u, moved), std::max(m, n), t::eps, l.norm() * u.norm()), what);
  if (m != n) return;
  for (int op = 0; op < 3; op++) {
    matrix<T> b(n, 5, 1);
    const table rhs = b.get();
    b.up();
    right = !t::getrs(h, (cublasOperation_t)op, n, 5, a.at, a.ld, pivots, b.at, b.ld, info) && info_of(info) == 0;
    b.back();
    const table x = b.get();
    check(right && below(distance(before.op(op) * x, rhs), n, t::eps, l.norm() * u.norm() * x.norm()), "a solution by LU");
  }
}

// Columns of zeros, in the first block of a large matrix and later: the first of them is told, pivots are LAPACK's.
template <typename T> static void singular(cusolverDnHandle_t h, int n, int first, int second)
{
  typedef type<T> t;
  matrix<T> a(n, n);
  for (int i = 0; i < n; i++) a.v[(size_t)first * a.ld + i] = a.v[(size_t)second * a.ld + i] = T(0);
  const table before = a.get();
  int words = 0, zero, *info = device(std::vector<int>{99}), *pivots = device(std::vector<int>(n));
  a.up();
  bool right = !t::getrf_room(h, n, n, a.at, a.ld, &words);
  auto *work = (typename t::nv *)device(std::vector<T>(words));
  right = right && !t::getrf(h, n, n, a.at, a.ld, work, pivots, info);
  const std::vector<int> p = pivots_of(before, &zero);
  check(right && zero == first + 1 && info_of(info) == zero && host(pivots, n) == p, "LU of a large singular matrix");
}

// A matrix that needs no pivots, without them.
template <typename T> static void without_pivots(cusolverDnHandle_t h, int n)
{
  typedef type<T> t;
  matrix<T> a(n, n), b(n, 3);
  for (int i = 0; i < n; i++) a.v[(size_t)i * a.ld + i] += T(2 * n);
  const table before = a.get(), rhs = b.get();
  int *info = device(std::vector<int>{99});
  a.up(), b.up();
  auto *work = (typename t::nv *)device(std::vector<T>(1));
  bool right = !t::getrf(h, n, n, a.at, a.ld, work, nullptr, info) && info_of(info) == 0;
  right = right && !t::getrs(h, CUBLAS_OP_N, n, 3, a.at, a.ld, nullptr, b.at, b.ld, info) && info_of(info) == 0;
  b.back();
  check(right && below(distance(before * b.get(), rhs), n, t::eps, before.norm() * b.get().norm()), "LU without pivots");
}

template <typename T> static table positive(matrix<T> &a)
{
  const table b = a.get();
  table s = b * b.op(2);
  for (int i = 0; i < a.n; i++)
    for (int j = 0; j < a.n; j++) {
      number v = s.at(i, j) + (i == j ? number(0.5) : number(0));
      if (i == j) v = v.real();
      if constexpr (std::is_floating_point<T>::value) a.v[(size_t)j * a.ld + i] = (T)v.real();
      else a.v[(size_t)j * a.ld + i] = T(v);
    }
  return a.get();
}

template <typename T> static void cholesky(cusolverDnHandle_t h, int n)
{
  typedef type<T> t;
  for (int upper = 0; upper < 2; upper++) {
    matrix<T> a(n, n);
    const table before = positive(a);
    const std::vector<T> all = a.v;
    int words = 0, *info = device(std::vector<int>{99});
    a.up();
    bool right = !t::potrf_room(h, (cublasFillMode_t)upper, n, a.at, a.ld, &words) && words > 0;
    auto *work = (typename t::nv *)device(std::vector<T>(words));
    right = right && !t::potrf(h, (cublasFillMode_t)upper, n, a.at, a.ld, work, words, info) && info_of(info) == 0;
    a.back();
    const table f = a.get();
    table l(n, n);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        const bool mine = upper ? i <= j : i >= j;
        if (mine) (upper ? l.at(j, i) : l.at(i, j)) = upper ? std::conj(f.at(i, j)) : f.at(i, j);
        else right = right && a.v[(size_t)j * a.ld + i] == all[(size_t)j * a.ld + i]; // the other triangle
      }
    check(right && below(distance(l * l.op(2), before), n, t::eps, l.norm() * l.norm()), upper ? "Cholesky, upper" : "Cholesky, lower");
    matrix<T> b(n, 3, 2);
    const table rhs = b.get();
    b.up();
    right = !t::potrs(h, (cublasFillMode_t)upper, n, 3, a.at, a.ld, b.at, b.ld, info) && info_of(info) == 0;
    b.back();
    check(right && below(distance(before * b.get(), rhs), n, t::eps, l.norm() * l.norm() * b.get().norm()), "a solution by Cholesky");
  }
}

// The order of the first leading minor that is not positive is told, whichever block it is in.
template <typename T> static void not_positive(cusolverDnHandle_t h, int n, int at)
{
  typedef type<T> t;
  for (int upper = 0; upper < 2; upper++) {
    matrix<T> a(n, n);
    positive(a);
    a.v[(size_t)at * a.ld + at] = T(-1);
    a.v[(size_t)(n - 1) * a.ld + n - 1] = T(-1);
    int *info = device(std::vector<int>{99});
    a.up();
    auto *work = (typename t::nv *)device(std::vector<T>(1));
    check(!t::potrf(h, (cublasFillMode_t)upper, n, a.at, a.ld, work, 1, info) && info_of(info) == at + 1,
          "Cholesky of a large matrix that is not positive");
  }
}

// Sizes of 0 touch nothing and say that all is well.
template <typename T> static void empty(cusolverDnHandle_t h)
{
  typedef type<T> t;
  typename t::nv *none = nullptr, **nothing = device(std::vector<typename t::nv *>(2));
  int *info = device(std::vector<int>(2)), *pivots = nullptr;
  auto well = [&](cusolverStatus_t status, int count = 1) {
    const std::vector<int> said = host(info, 2);
    cudaMemset(info, 1, 2 * sizeof *info);
    return !status && !cudaDeviceSynchronize() && said[0] == 0 && (count < 2 || said[1] == 0);
  };
  well(CUSOLVER_STATUS_SUCCESS);
  for (int half = 0; half < 2; half++) {
    const auto uplo = (cublasFillMode_t)half;
    check(well(t::potrf(h, uplo, 0, none, 1, none, 0, info)), "Cholesky of nothing");
    check(well(t::potrf_batched(h, uplo, 0, nothing, 1, info, 2), 2), "Cholesky of nothing, twice");
    check(well(t::potrs(h, uplo, 0, 1, none, 1, none, 1, info)), "Cholesky, no unknowns");
    check(!t::potrs(h, uplo, 3, 0, none, 3, none, 3, info) && !cudaDeviceSynchronize(), "Cholesky, no right sides");
    check(!t::potrf_batched(h, uplo, 3, nothing, 3, info, 0) && !cudaDeviceSynchronize(), "Cholesky, no matrices");
  }
  for (int m : {0, 3})
    for (int n : {0, 3})
      if (!m || !n) {
        check(well(t::getrf(h, m, n, none, 3, none, pivots, info)), "LU of nothing");
        check(well(t::geqrf(h, m, n, none, 3, none, none, 0, info)), "QR of nothing");
      }
  check(well(t::getrs(h, CUBLAS_OP_N, 0, 1, none, 1, pivots, none, 1, info)), "LU, no unknowns");
  check(!t::getrs(h, CUBLAS_OP_N, 3, 0, none, 3, pivots, none, 3, info) && !cudaDeviceSynchronize(), "LU, no right sides");
}

template <typename T> static T conjugate(T v)
{
  if constexpr (std::is_floating_point<T>::value) return v;
  else return std::conj(v);
}

template <typename T> static bool is_finite(T v) { return std::isfinite(std::abs(v)); }

// Where an element of LAPACK's factors is finite, it is here, and almost the same.
template <typename T, typename H> static bool agree(const matrix<T> &got, const std::vector<H> &want, int i, int j)
{
  const T v = got.v[(size_t)j * got.ld + i];
  const H w = want[(size_t)j * got.m + i];
  return is_finite(v) == is_finite(w) && (!is_finite(w) || std::abs(H(v) - w) <= sqrt(type<T>::eps) * (1 + std::abs(w)));
}

template <typename T> struct wider { typedef double it; };
template <> struct wider<c32> { typedef c64 it; };
template <> struct wider<c64> { typedef c64 it; };

template <typename T> static std::vector<typename wider<T>::it> widened(const matrix<T> &a)
{
  std::vector<typename wider<T>::it> v;
  for (int j = 0; j < a.n; j++)
    for (int i = 0; i < a.m; i++) v.push_back(a.v[(size_t)j * a.ld + i]);
  return v;
}

// LU with what is not a finite number at (r, c). Row r becomes pivot `at`, or stays in the rest where that is -1.
template <typename T> static void spoiled_lu(cusolverDnHandle_t h, int n, int r, int c, int at, double bad)
{
  typedef type<T> t;
  matrix<T> a(n, n);
  for (int j = 0; j <= at; j++) a.v[(size_t)j * a.ld + r] = T(j < at ? 0.001 : 1000);
  a.v[(size_t)c * a.ld + r] = T(bad);
  auto w = widened(a);
  int *info = device(std::vector<int>{99}), *pivots = device(std::vector<int>(n));
  a.up();
  auto *work = (typename t::nv *)device(std::vector<T>(1));
  bool right = !t::getrf(h, n, n, a.at, a.ld, work, pivots, info);
  a.back();
  const std::vector<int> p = host(pivots, n);
  for (int j = 0; j < n; j++) {
    right = right && p[j] > j && p[j] <= n && (j != at || p[j] == r + 1);
    for (int k = 0; right && k < n && p[j] != j + 1; k++) std::swap(w[(size_t)k * n + j], w[(size_t)k * n + p[j] - 1]);
    for (int i = j + 1; i < n; i++) w[(size_t)j * n + i] /= w[(size_t)j * n + j];
    for (int k = j + 1; k < n; k++)
      for (int i = j + 1; i < n; i++) w[(size_t)k * n + i] -= w[(size_t)j * n + i] * w[(size_t)k * n + j];
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) right = right && agree(a, w, i, j);
  char what[80];
  snprintf(what, sizeof what, "LU, %g at (%d, %d) of %d, pivot %d, %d bytes", bad, r, c, n, at, (int)sizeof(T));
  check(right, what);
}

// Cholesky with NaN at (r, c), which comes to the diagonal in column r.
template <typename T> static void spoiled_cholesky(cusolverDnHandle_t h, int n, int r, int c)
{
  typedef type<T> t;
  for (int upper = 0; upper < 2; upper++) {
    matrix<T> a(n, n);
    positive(a);
    a.v[(size_t)c * a.ld + r] = a.v[(size_t)r * a.ld + c] = T(NAN);
    auto w = widened(a);
    int *info = device(std::vector<int>{99});
    a.up();
    auto *work = (typename t::nv *)device(std::vector<T>(1));
    bool right = !t::potrf(h, (cublasFillMode_t)upper, n, a.at, a.ld, work, 1, info) && info_of(info) == r + 1;
    a.back();
    for (int i = 0; upper && i < n; i++)
      for (int j = 0; j < i; j++) a.v[(size_t)j * a.ld + i] = conjugate(a.v[(size_t)i * a.ld + j]);
    for (int j = 0; j < r; j++) {
      const auto root = std::sqrt(w[(size_t)j * n + j]);
      for (int i = j; i < n; i++) w[(size_t)j * n + i] /= root;
      for (int k = j + 1; k < n; k++)
        for (int i = k; i < n; i++) w[(size_t)k * n + i] -= w[(size_t)j * n + i] * conjugate(w[(size_t)j * n + k]);
      // Blocks of 32: below the one that r is in nothing needs be done.
      for (int i = j; i < n && (i <= r || j < r / 32 * 32); i++) right = right && agree(a, w, i, j);
    }
    char what[80];
    snprintf(what, sizeof what, "Cholesky, %s, NaN at (%d, %d) of %d, %d bytes", upper ? "upper" : "lower", r, c, n, (int)sizeof(T));
    check(right, what);
  }
}

// Five matrices by pointers; the third is not positive.
template <typename T> static void batched(cusolverDnHandle_t h, int n)
{
  typedef type<T> t;
  std::vector<matrix<T>> a, b;
  std::vector<table> before, rhs;
  std::vector<typename t::nv *> at, bt;
  for (int i = 0; i < 5; i++) {
    a.emplace_back(n, n), b.emplace_back(n, 1);
    before.push_back(positive(a[i])), rhs.push_back(b[i].get());
    if (i == 2) a[i].v[(size_t)(n / 2) * a[i].ld + n / 2] = T(-1);
    a[i].up(), b[i].up();
    at.push_back(a[i].at), bt.push_back(b[i].at);
  }
  auto **ap = device(at), **bp = device(bt);
  int *info = device(std::vector<int>(5, 99));
  bool right = !t::potrf_batched(h, CUBLAS_FILL_MODE_LOWER, n, ap, a[0].ld, info, 5);
  const std::vector<int> said = host(info, 5);
  right = right && said == std::vector<int>{0, 0, n / 2 + 1, 0, 0};
  check(right, "Cholesky, a batch");
  right = !t::potrs_batched(h, CUBLAS_FILL_MODE_LOWER, n, 1, ap, a[0].ld, bp, b[0].ld, info, 5);
  for (int i = 0; i < 5; i++) {
    b[i].back();
    if (i != 2) right = right && below(distance(before[i] * b[i].get(), rhs[i]), n, t::eps, before[i].norm() * b[i].get().norm());
  }
  check(right, "solutions by Cholesky, a batch");
}

// `little`: with less room than was asked for, where the matrix is one block.
template <typename T> static void qr(cusolverDnHandle_t h, int m, int n, bool little = false)
{
  typedef type<T> t;
  const int k = std::min(m, n), lines = std::max(m, 6);
  matrix<T> a(m, n);
  if (n > 2)
    for (int i = 1; i < m; i++) a.v[i] = T(0); // a column with nothing to reflect
  const table before = a.get();
  int words = 0, *info = device(std::vector<int>{99});
  auto *tau = (typename t::nv *)device(std::vector<T>(k));
  a.up();
  bool right = !t::geqrf_room(h, m, n, a.at, a.ld, &words) && words > 0;
  int of_form = 0, of_apply = 0;
  auto *none = (typename t::nv *)nullptr;
  right = right && !t::form_q_room(h, m, k, k, a.at, a.ld, tau, &of_form);
  right = right && !t::apply_q_room(h, CUBLAS_SIDE_LEFT, CUBLAS_OP_N, m, lines, k, a.at, a.ld, tau, none, m, &of_apply);
  words = little ? 1 : std::max(words, std::max(of_form, of_apply));
  auto *work = (typename t::nv *)device(std::vector<T>(words));
  right = right && !t::geqrf(h, m, n, a.at, a.ld, tau, work, words, info) && info_of(info) == 0;
  a.back();
  const table f = a.get();
  table r(k, n), one(k, k);
  for (int i = 0; i < k; i++)
    for (int j = i; j < n; j++) r.at(i, j) = f.at(i, j);
  for (int i = 0; i < k; i++) one.at(i, i) = 1, right = right && std::abs(r.at(i, i).imag()) == 0;
  matrix<T> q(m, k, 0);
  for (int j = 0; j < k; j++)
    for (int i = 0; i < m; i++) q.v[(size_t)j * q.ld + i] = a.v[(size_t)j * a.ld + i];
  q.up();
  right = right && !t::form_q(h, m, k, k, q.at, q.ld, tau, work, words, info) && info_of(info) == 0;
  q.back();
  const table e = q.get();
  check(right && below(distance(e * r, before), m, t::eps, before.norm()), "QR");
  check(below(distance(e.op(2) * e, one), m, t::eps, sqrt((double)k)), "Q^H Q");
  // All of Q, by its application to the identity; then to others from both sides.
  table whole(m, m);
  for (int pass = 0; pass < 5; pass++) {
    const bool turned = pass == 1 || pass == 3, from_right = pass == 2 || pass == 3;
    const int o = !turned ? 0 : std::is_floating_point<T>::value ? 1 : 2;
    matrix<T> c(from_right ? 6 : m, from_right ? m : pass == 4 ? m : 6, 2);
    if (pass == 0) c = matrix<T>(m, m, 1);
    if (pass == 0)
      for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) c.v[(size_t)j * c.ld + i] = T(i == j);
    const table old = c.get();
    c.up();
    right = !t::apply_q(h, from_right ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT, (cublasOperation_t)o, c.m, c.n, k, a.at, a.ld, tau, c.at, c.ld,
                        work, words, info) && info_of(info) == 0;
    c.back();
    if (pass == 0) {
      whole = c.get();
      table part(m, k);
      for (int i = 0; i < m; i++)
        for (int j = 0; j < k; j++) part.at(i, j) = whole.at(i, j);
      check(right && below(distance(part, e), m, t::eps, e.norm()), "Q applied to the identity");
      continue;
    }
    const table want = from_right ? old * whole.op(o) : whole.op(o) * old;
    check(right && below(distance(c.get(), want), m, t::eps, old.norm()), "Q applied");
  }
}

template <typename T> struct refined;
#define REFINED(T, l, low)                              \
  template <> struct refined<T> {                       \
    WRAP(gesv, cusolverDn##l##low##gesv)                \
    WRAP(gesv_room, cusolverDn##l##low##gesv_bufferSize) \
    WRAP(gels, cusolverDn##l##l##gels)                  \
    WRAP(gels_room, cusolverDn##l##l##gels_bufferSize)  \
  };
REFINED(float, S, H)
REFINED(double, D, S)
REFINED(c32, C, K)
REFINED(c64, Z, C)

// Systems that are refined where factors have a lower precision: m = n, or least squares, of which A^H (A x - b) is 0. A and b stay.
template <typename T> static void solved(cusolverDnHandle_t h, int m, int n, int sides)
{
  typedef refined<T> r;
  matrix<T> a(m, n, 2), b(m, sides, 1), x(n, sides, 3);
  if (m == n)
    for (int i = 0; i < n; i++) a.v[(size_t)i * a.ld + i] += T(4); // far from singular
  const table before = a.get(), of_b = b.get();
  a.up(), b.up(), x.up();
  int *info = device(std::vector<int>{99}), *pivots = device(std::vector<int>(n)), steps = 99;
  size_t bytes = 0;
  const bool known = !(m == n ? r::gesv_room(h, n, sides, a.at, a.ld, pivots, b.at, b.ld, x.at, x.ld, (void *)nullptr, &bytes)
                              : r::gels_room(h, m, n, sides, a.at, a.ld, b.at, b.ld, x.at, x.ld, (void *)nullptr, &bytes));
  void *work = device(std::vector<char>(bytes));
  bool right = known && !(m == n ? r::gesv(h, n, sides, a.at, a.ld, pivots, b.at, b.ld, x.at, x.ld, work, bytes, &steps, info)
                                 : r::gels(h, m, n, sides, a.at, a.ld, b.at, b.ld, x.at, x.ld, work, bytes, &steps, info));
  right = right && info_of(info) == 0 && steps == 0;
  a.back(), b.back(), x.back();
  right = right && distance(a.get(), before) == 0 && distance(b.get(), of_b) == 0;
  const table got = x.get(), product = before * got;
  table rest = product;
  for (size_t i = 0; i < rest.v.size(); i++) rest.v[i] -= of_b.v[i];
  const double size = before.norm() * got.norm() + of_b.norm();
  right = right && (m == n ? below(rest.norm(), n, type<T>::eps, size) : below((before.op(2) * rest).norm(), m, type<T>::eps, before.norm() * size));
  check(right, m == n ? "a system to refine" : "least squares");
  const cusolverStatus_t little = m == n ? r::gesv(h, n, sides, a.at, a.ld, pivots, b.at, b.ld, x.at, x.ld, work, bytes - 1, &steps, info)
                                         : r::gels(h, m, n, sides, a.at, a.ld, b.at, b.ld, x.at, x.ld, work, bytes - 1, &steps, info);
  check(little == CUSOLVER_STATUS_INVALID_VALUE, "little room");
}

// LU by the 64-bit interface: pivots as LAPACK's, 64 bits each, and systems by them, as they are and conjugate transposed.
template <typename T> static void wide_lu(cusolverDnHandle_t h, int n, cudaDataType data)
{
  matrix<T> a(n, n, 1), b(n, 2, 2), c = b;
  const table before = a.get(), of_b = b.get();
  int zero, *info = device(std::vector<int>{99});
  const std::vector<int> want = pivots_of(before, &zero);
  int64_t *pivots = device(std::vector<int64_t>(n, -1));
  size_t on_device, on_host;
  cusolverDnParams_t params;
  a.up(), b.up(), c.up();
  bool right = !cusolverDnCreateParams(&params) && !cusolverDnSetAdvOptions(params, CUSOLVERDN_GETRF, CUSOLVER_ALG_0);
  right = right && !cusolverDnXgetrf_bufferSize(h, params, n, n, data, a.at, a.ld, data, &on_device, &on_host);
  right = right && !cusolverDnXgetrf(h, params, n, n, data, a.at, a.ld, pivots, data, device(std::vector<char>(on_device)), on_device, nullptr, 0, info);
  right = right && info_of(info) == 0;
  const std::vector<int64_t> got = host(pivots, n);
  if (n < 100 || type<T>::eps < 1e-10) right = right && std::equal(want.begin(), want.end(), got.begin()); // ties in FP32 are another's
  right = right && !cusolverDnXgetrs(h, params, CUBLAS_OP_N, n, 2, data, a.at, a.ld, pivots, data, b.at, b.ld, info) && info_of(info) == 0;
  right = right && !cusolverDnXgetrs(h, params, CUBLAS_OP_C, n, 2, data, a.at, a.ld, pivots, data, c.at, c.ld, info);
  b.back(), c.back();
  const table x = b.get(), y = c.get();
  right = right && below(distance(before * x, of_b), 4 * n, type<T>::eps, before.norm() * x.norm()) && below(distance(before.op(2) * y, of_b), 4 * n, type<T>::eps, before.norm() * y.norm());
  check(right, "LU by the 64-bit interface");
  cusolverDnDestroyParams(params);
}

template <typename T> static void of_type(cusolverDnHandle_t h)
{
  for (int n : {1, 20, 130}) solved<T>(h, n, n, 3), solved<T>(h, n + 17, n, 5);
  solved<T>(h, 90, 89, 1);
  for (int n : {1, 2, 17, 64, 150}) lu<T>(h, n, n), cholesky<T>(h, n);
  lu<T>(h, 40, 23);
  lu<T>(h, 23, 40);
  lu<T>(h, 300, 101); // more rows than a block has threads for each
  lu<T>(h, 600, 37), lu<T>(h, 1100, 19), lu<T>(h, 2100, 9); // kernels of fewer columns, and that of small matrices
  lu<T>(h, 70, 130);
  singular<T>(h, 100, 40, 70);
  singular<T>(h, 100, 3, 97);
  without_pivots<T>(h, 100);
  for (int at : {5, 32, 75}) not_positive<T>(h, 100, at);
  empty<T>(h);
  for (double bad : {(double)NAN, (double)INFINITY}) {
    spoiled_lu<T>(h, 20, 13, 9, 4, bad), spoiled_lu<T>(h, 20, 13, 9, -1, bad);
    spoiled_lu<T>(h, 70, 50, 40, 5, bad), spoiled_lu<T>(h, 70, 50, 40, -1, bad);
  }
  spoiled_cholesky<T>(h, 20, 12, 5);
  spoiled_cholesky<T>(h, 70, 66, 9);
  batched<T>(h, 12);
  batched<T>(h, 40);
  qr<T>(h, 1, 1);
  qr<T>(h, 30, 30);
  qr<T>(h, 45, 20);
  qr<T>(h, 20, 31);
  qr<T>(h, 97, 97);
  qr<T>(h, 97, 97, true);
  qr<T>(h, 130, 70);
  qr<T>(h, 70, 130);
}

static void others(cusolverDnHandle_t h)
{
  // The second column is twice the first: the second pivot is 0.
  double *a = device(std::vector<double>{1, 2, 0, 2, 4, 0, 0, 0, 1}), *work = device(std::vector<double>(8));
  int *info = device(std::vector<int>{99}), *pivots = device(std::vector<int>(3)), words;
  check(!cusolverDnDgetrf(h, 3, 3, a, 3, work, pivots, info) && info_of(info) == 2, "LU of a singular matrix");
  // Without pivots a column whose pivot is 0 stays, and takes nothing from the others.
  double *z = device(std::vector<double>{0, 2, 1, 3});
  check(!cusolverDnDgetrf(h, 2, 2, z, 2, work, nullptr, info) && info_of(info) == 1 && host(z, 4) == std::vector<double>{0, 2, 1, 3}, "LU, a pivot of 0 that stays");
  check(cusolverDnDgetrf(h, 3, 3, a, 2, work, pivots, info) == CUSOLVER_STATUS_INVALID_VALUE, "a short leading dimension");
  check(cusolverDnDgetrf(nullptr, 3, 3, a, 3, work, pivots, info) == CUSOLVER_STATUS_NOT_INITIALIZED, "no handle");
  check(cusolverDnDorgqr_bufferSize(h, 3, 4, 2, a, 3, work, &words) == CUSOLVER_STATUS_INVALID_VALUE, "more columns than rows");
  // CuPy's qr asks with the number of columns where rows lie apart.
  check(cusolverDnDgeqrf_bufferSize(h, 5, 4, a, 4, &words) == CUSOLVER_STATUS_SUCCESS && words >= 0, "room of 5 x 4");
  check(cusolverDnDsytri_bufferSize(h, CUBLAS_FILL_MODE_LOWER, 3, a, 3, pivots, &words) == CUSOLVER_STATUS_NOT_SUPPORTED, "a function that is not there");
  // The 64-bit interface.
  double *b = device(std::vector<double>{4, 2, 2, 5}), *x = device(std::vector<double>{8, 14});
  size_t on_device, on_host;
  cusolverDnParams_t params;
  bool right = !cusolverDnCreateParams(&params) &&
               !cusolverDnXpotrf_bufferSize(h, params, CUBLAS_FILL_MODE_LOWER, 2, CUDA_R_64F, b, 2, CUDA_R_64F, &on_device, &on_host) &&
               !cusolverDnXpotrf(h, params, CUBLAS_FILL_MODE_LOWER, 2, CUDA_R_64F, b, 2, CUDA_R_64F, work, on_device, nullptr, on_host, info) &&
               !cusolverDnXpotrs(h, params, CUBLAS_FILL_MODE_LOWER, 2, 1, CUDA_R_64F, b, 2, CUDA_R_64F, x, 2, info);
  const std::vector<double> l = host(b, 4), y = host(x, 2);
  check(right && l[0] == 2 && l[1] == 1 && l[3] == 2 && fabs(4 * y[0] + 2 * y[1] - 8) < 1e-14 && fabs(2 * y[0] + 5 * y[1] - 14) < 1e-14, "Xpotrf, Xpotrs");
  const int64_t large = int64_t(1) << 31;
  check(cusolverDnXgetrf_bufferSize(h, params, 2, large, CUDA_R_64F, b, 2, CUDA_R_64F, &on_device, &on_host) == CUSOLVER_STATUS_NOT_SUPPORTED &&
          cusolverDnXgetrf_bufferSize(h, params, large, 2, CUDA_R_64F, b, large, CUDA_R_64F, &on_device, &on_host) == CUSOLVER_STATUS_NOT_SUPPORTED, "Xgetrf, too many rows or columns");
  check(!cusolverDnSetAdvOptions(params, CUSOLVERDN_GETRF, CUSOLVER_ALG_1) &&
          cusolverDnSetAdvOptions(params, CUSOLVERDN_GETRF, (cusolverAlgMode_t)3) == CUSOLVER_STATUS_INVALID_VALUE &&
          cusolverDnSetAdvOptions(params, (cusolverDnFunction_t)3, CUSOLVER_ALG_0) == CUSOLVER_STATUS_INVALID_VALUE, "options");
  cusolverDnDestroyParams(params);
}

int main()
{
  cusolverDnHandle_t h;
  if (cusolverDnCreate(&h)) return 1;
  of_type<float>(h);
  of_type<double>(h);
  of_type<c32>(h);
  of_type<c64>(h);
  for (int n : {1, 30, 100}) {
    wide_lu<float>(h, n, CUDA_R_32F), wide_lu<double>(h, n, CUDA_R_64F);
    wide_lu<c32>(h, n, CUDA_C_32F), wide_lu<c64>(h, n, CUDA_C_64F);
  }
  others(h);
  check(cusolverDnDestroy(h) == CUSOLVER_STATUS_SUCCESS, "destroy");
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
