// libcusolver: cusolverSp and cusolverRf. What solutions leave of their systems, and what factors give again, is compared on the
// host in binary64 (differences below 8 n eps of the norms that they come from); orders by what they are for, eigenvalues with formulas.
#include <cusolverRf.h>
#include <cusolverSp.h>
#include <cusolverSp_LOWLEVEL_PREVIEW.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sparse.cuh"

#define ROWS_ARGS(a) (int)(a).o.size() - 1, (int)(a).c.size(), (a).d
enum { LU, QR, CHOLESKY };

// The larger one; what is no number is farther off than any, beside which std::max would keep the other.
static double farther(double off, double by)
{
  return by <= off ? off : std::isnan(by) ? INFINITY : by;
}

template <typename T> struct native;
template <> struct native<float> { typedef float v, real; };
template <> struct native<double> { typedef double v, real; };
template <> struct native<std::complex<float>> { typedef cuComplex v; typedef float real; };
template <> struct native<std::complex<double>> { typedef cuDoubleComplex v; typedef double real; };
template <typename T> struct calls;
#define WRAP(name, f) \
  template <typename... A> static cusolverStatus_t name(A... a) { return f(a...); }
#define CALLS(T, l)                                         \
  template <> struct calls<T> {                             \
    WRAP(lu_host, cusolverSp##l##csrlsvluHost)              \
    WRAP(qr_host, cusolverSp##l##csrlsvqrHost)              \
    WRAP(qr, cusolverSp##l##csrlsvqr)                       \
    WRAP(chol_host, cusolverSp##l##csrlsvcholHost)          \
    WRAP(chol, cusolverSp##l##csrlsvchol)                   \
    WRAP(squares, cusolverSp##l##csrlsqvqrHost)             \
    WRAP(eigen, cusolverSp##l##csreigvsi)                   \
    WRAP(eigen_host, cusolverSp##l##csreigvsiHost)          \
    WRAP(box, cusolverSp##l##csreigsHost)                   \
    WRAP(zfd, cusolverSp##l##csrzfdHost)                    \
    WRAP(batch_room, cusolverSp##l##csrqrBufferInfoBatched) \
    WRAP(batch, cusolverSp##l##csrqrsvBatched)              \
    WRAP(lu_factor, cusolverSp##l##csrluFactorHost)         \
    WRAP(lu_room, cusolverSp##l##csrluBufferInfoHost)       \
    WRAP(lu_solve, cusolverSp##l##csrluSolveHost)           \
    WRAP(lu_zero, cusolverSp##l##csrluZeroPivotHost)        \
    WRAP(lu_extract, cusolverSp##l##csrluExtractHost)       \
    WRAP(qr_room, cusolverSp##l##csrqrBufferInfo)           \
    WRAP(qr_setup, cusolverSp##l##csrqrSetup)               \
    WRAP(qr_factor, cusolverSp##l##csrqrFactor)             \
    WRAP(qr_zero, cusolverSp##l##csrqrZeroPivot)            \
    WRAP(qr_solve, cusolverSp##l##csrqrSolve)               \
    WRAP(qr_setup_host, cusolverSp##l##csrqrSetupHost)      \
    WRAP(qr_factor_host, cusolverSp##l##csrqrFactorHost)    \
    WRAP(qr_solve_host, cusolverSp##l##csrqrSolveHost)      \
    WRAP(qr_zero_host, cusolverSp##l##csrqrZeroPivotHost)   \
    WRAP(chol_room, cusolverSp##l##csrcholBufferInfo)       \
    WRAP(chol_factor, cusolverSp##l##csrcholFactor)         \
    WRAP(chol_zero, cusolverSp##l##csrcholZeroPivot)        \
    WRAP(chol_solve, cusolverSp##l##csrcholSolve)           \
    WRAP(chol_diag, cusolverSp##l##csrcholDiag)             \
    WRAP(chol_factor_host, cusolverSp##l##csrcholFactorHost) \
    WRAP(chol_solve_host, cusolverSp##l##csrcholSolveHost)  \
    WRAP(chol_zero_host, cusolverSp##l##csrcholZeroPivotHost) \
  };
CALLS(float, S)
CALLS(double, D)
CALLS(std::complex<float>, C)
CALLS(std::complex<double>, Z)

static cusolverSpHandle_t h;

// Compressed rows; columns of a row in any order.
template <typename T> struct rows {
  int m, n, base;
  std::vector<int> o, c;
  std::vector<T> v;
  cusparseMatDescr_t d;
  rows(int m_, int n_, int b) : m(m_), n(n_), base(b), o(1, b)
  {
    cusparseCreateMatDescr(&d);
    cusparseSetMatIndexBase(d, b ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO);
  }
  void put(int j, T x) { c.push_back(j + base), v.push_back(x); }
  void end() { o.push_back((int)c.size() + base); }
  int from(int i) const { return o[i] - base; }
  int column(int k) const { return c[k] - base; }
};

static double conjugate(double x) { return x; }
static float conjugate(float x) { return x; }
template <typename R> static std::complex<R> conjugate(std::complex<R> x) { return std::conj(x); }
template <typename T> static typename native<T>::v *raw(const T *p) { return (typename native<T>::v *)p; }

template <typename T> static std::vector<T> vector(int n)
{
  std::vector<T> x(n);
  for (T &e : x) e = type<T>::make();
  return x;
}

// Large elements on a shuffled diagonal, few others: rows must change places.
template <typename T> static rows<T> general(int m, int n, int base)
{
  rows<T> a(m, n, base);
  std::vector<int> p(m);
  for (int i = 0; i < m; i++) p[i] = i;
  for (int i = m - 1; i > 0; i--) std::swap(p[i], p[next() % (i + 1)]);
  for (int i = 0; i < m; i++) {
    for (int j = n - 1; j >= 0; j--) {
      const bool large = p[i] % n == j;
      if (large || next() % (n / 3 + 1) == 0) a.put(j, large ? type<T>::make() + T(9) : type<T>::make());
    }
    a.end();
  }
  return a;
}
// Five points of a grid, Hermitian and positive; with `garbage` above the diagonal.
template <typename T> static rows<T> grid(int w, int base, bool garbage)
{
  const int n = w * w;
  std::vector<T> right(n), down(n);
  for (int i = 0; i < n; i++) right[i] = type<T>::make(), down[i] = type<T>::make();
  rows<T> a(n, n, base);
  for (int i = 0; i < n; i++) {
    if (i >= w) a.put(i - w, conjugate(down[i - w]));
    if (i % w) a.put(i - 1, conjugate(right[i - 1]));
    a.put(i, T(13));
    if (i % w < w - 1) a.put(i + 1, garbage ? T(77) : right[i]);
    if (i + w < n) a.put(i + w, garbage ? T(-55) : down[i]);
    a.end();
  }
  return a;
}

// A x, with the lower half alone where asked.
template <typename T> static std::vector<number> times(const rows<T> &a, const T *values, const T *x, bool lower = false)
{
  std::vector<number> y(a.m);
  for (int i = 0; i < a.m; i++)
    for (int k = a.from(i); k < a.from(i + 1); k++) {
      const int j = a.column(k);
      if (lower && j > i) continue;
      y[i] += number(values[k]) * number(x[j]);
      if (lower && j < i) y[j] += std::conj(number(values[k])) * number(x[i]);
    }
  return y;
}
template <typename V> static double norm(const V &v)
{
  double s = 0;
  for (const auto &e : v) s += std::norm(number(e));
  return sqrt(s);
}
template <typename T> static bool solves(const rows<T> &a, const T *values, const T *x, const T *b, bool lower = false, number shift = 0)
{
  std::vector<number> r = times(a, values, x, lower);
  double bn = 0, xn = 0, left = 0, an = 0;
  for (int i = 0; i < a.m; i++) left += std::norm(r[i] - shift * number(x[i < a.n ? i : 0]) - number(b[i])), bn += std::norm(number(b[i]));
  for (int j = 0; j < a.n; j++) xn += std::norm(number(x[j]));
  for (size_t k = 0; k < a.v.size(); k++) an += std::norm(number(values[k]));
  const double bound = 8 * a.n * type<T>::eps * ((sqrt(an) + std::abs(shift)) * sqrt(xn) + sqrt(bn));
  return sqrt(left) <= bound;
}

template <typename T> struct on_device {
  int *o, *c;
  typename native<T>::v *v, *b, *x;
  on_device(const rows<T> &a, const std::vector<T> &rhs) : o(device(a.o)), c(device(a.c)), v(raw(device(a.v))), b(raw(device(rhs))), x(raw(device(std::vector<T>(a.n)))) {}
  ~on_device() { cudaFree(o), cudaFree(c), cudaFree(v), cudaFree(b), cudaFree(x); }
};

// One call: x, singularity, status.
template <typename T> static cusolverStatus_t system(int what, bool on_host, const rows<T> &a, const std::vector<T> &b, double tol, int reorder, std::vector<T> &x, int *singular)
{
  typedef calls<T> f;
  x.assign(a.n, T(0));
  *singular = -7;
#define SYSTEM(o, c, v, b, x) h, ROWS_ARGS(a), v, o, c, b, (typename native<T>::real)tol, reorder, x, singular
  if (on_host) {
    if (what == LU) return f::lu_host(SYSTEM(a.o.data(), a.c.data(), raw(a.v.data()), raw(b.data()), raw(x.data())));
    if (what == QR) return f::qr_host(SYSTEM(a.o.data(), a.c.data(), raw(a.v.data()), raw(b.data()), raw(x.data())));
    return f::chol_host(SYSTEM(a.o.data(), a.c.data(), raw(a.v.data()), raw(b.data()), raw(x.data())));
  }
  on_device<T> d(a, b);
  const cusolverStatus_t s = what == QR ? f::qr(SYSTEM(d.o, d.c, d.v, d.b, d.x)) : f::chol(SYSTEM(d.o, d.c, d.v, d.b, d.x));
  x = host((T *)d.x, a.n);
  return s;
}

template <typename T> static void systems()
{
  std::vector<T> x;
  int singular;
  char text[100];
  for (int what : {LU, QR, CHOLESKY})
    for (int on_host = what == LU; on_host < 2; on_host++)
      for (int size : {1, 7, 60}) {
        const int w = size == 60 ? 9 : size == 7 ? 3 : 1, reorder = (size + what) % 4, base = size & 1;
        const rows<T> a = what == CHOLESKY ? grid<T>(w, base, reorder == 0) : general<T>(size, size, base);
        const std::vector<T> b = vector<T>(a.n);
        snprintf(text, sizeof text, "system %d of type %d, n %d, order %d, host %d", what, type<T>::data, a.n, reorder, on_host);
        const cusolverStatus_t s = system(what, on_host, a, b, 1e-6, reorder, x, &singular);
        check(!s && singular == -1 && solves(a, a.v.data(), x.data(), b.data(), what == CHOLESKY), text);
      }
}

// Every order, on the same matrices; x may be b.
static void orders_of_systems()
{
  const rows<double> a = grid<double>(8, 0, false);
  const std::vector<double> b = vector<double>(a.n);
  std::vector<double> x;
  int singular;
  for (int reorder = 0; reorder < 4; reorder++)
    for (int what : {LU, QR, CHOLESKY})
      for (int on_host = what == LU; on_host < 2; on_host++)
        check(!system(what, on_host, a, b, 0, reorder, x, &singular) && singular == -1 && solves(a, a.v.data(), x.data(), b.data()), "an order");
  check(system(QR, true, a, b, 0, 4, x, &singular) == CUSOLVER_STATUS_INVALID_VALUE, "an order that is not there");
  on_device<double> d(a, b);
  check(!cusolverSpDcsrlsvqr(h, ROWS_ARGS(a), d.v, d.o, d.c, d.b, 0, 2, d.b, &singular), "in place");
  x = host(d.b, a.n);
  check(solves(a, a.v.data(), x.data(), b.data()), "the solution in place");
}

// Column 1 is column 0, or a pivot is not positive.
template <typename T> static void singular_ones()
{
  std::vector<T> x;
  int singular;
  for (int on_host = 0; on_host < 2; on_host++) {
    rows<T> a(6, 6, 1);
    for (int i = 0; i < 6; i++) {
      const T v = type<T>::make() + T(3);
      a.put(0, v), a.put(1, v);
      if (i > 1) a.put(i, type<T>::make() + T(4));
      a.end();
    }
    const std::vector<T> b = vector<T>(6);
    check(!system(QR, on_host, a, b, 1e-4, 0, x, &singular) && singular == 1, "QR: a column twice");
    if (on_host) check(!system(LU, true, a, b, 1e-4, 0, x, &singular) && singular == 1, "LU: a column twice");
    rows<T> c(4, 4, 0);
    c.put(0, T(4)), c.end();
    c.put(1, T(1)), c.end();
    c.put(0, T(2)), c.put(1, T(1)), c.put(2, T(2)), c.end(); // 2 - 2 * 2 / 4 - 1 * 1 / 1 = 0
    c.put(3, T(-1)), c.end();
    check(!system(CHOLESKY, on_host, c, vector<T>(4), 0, 0, x, &singular) && singular == 2, "Cholesky: a leading minor of 0");
    check(!system(CHOLESKY, on_host, c, vector<T>(4), 1.5, 0, x, &singular) && singular == 1, "Cholesky: a tolerance");
  }
  rows<T> gap(3, 3, 0); // column 1 is empty
  gap.put(0, T(1)), gap.end(), gap.put(2, T(2)), gap.end(), gap.put(0, T(1)), gap.put(2, T(1)), gap.end();
  for (int on_host = 0; on_host < 2; on_host++) check(!system(QR, on_host, gap, vector<T>(3), 0, 0, x, &singular) && singular == 1, "QR: an empty column");
  check(!system(LU, true, gap, vector<T>(3), 0, 0, x, &singular) && singular == 1, "LU: an empty column");
}

// Dense matrices are one front, and wide enough for kernels of dense ones. Cholesky sees the lower half alone; a pivot that is not
// positive in its third block is told.
template <typename T> static void wide_cholesky()
{
  const int n = 150, bad = 70;
  rows<T> a(n, n, 1);
  std::vector<T> below((size_t)n * n), x;
  for (T &e : below) e = type<T>::make();
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) a.put(j, i == j ? T(12 * n) : j > i ? T(99) : below[(size_t)i * n + j]);
    a.end();
  }
  const std::vector<T> b = vector<T>(n);
  int singular;
  check(!system(CHOLESKY, false, a, b, 0, 0, x, &singular) && singular == -1 && solves(a, a.v.data(), x.data(), b.data(), true), "Cholesky of a wide front");
  a.v[(size_t)bad * n + bad] = T(-1);
  check(!system(CHOLESKY, false, a, b, 0, 0, x, &singular) && singular == bad, "Cholesky of a wide front that is not positive");
}
template <typename T> static void wide_qr(int n)
{
  rows<T> a(n, n, 0);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) a.put(j, type<T>::make());
    a.end();
  }
  const std::vector<T> b = vector<T>(n);
  std::vector<T> x;
  int singular;
  check(!system(QR, false, a, b, 0, 0, x, &singular) && singular == -1 && solves(a, a.v.data(), x.data(), b.data()), "QR of a wide front");
}

// Elements of one place are added.
static void twice()
{
  std::vector<double> x;
  int singular;
  rows<double> a(2, 2, 0);
  a.put(0, 1), a.put(1, 1), a.put(0, 2), a.end(); // 3 1
  a.put(1, 2), a.put(0, 1), a.put(1, 3), a.end(); // 1 5
  for (int what : {LU, QR, CHOLESKY})
    for (int on_host = what == LU; on_host < 2; on_host++) {
      const bool good = !system(what, on_host, a, {5.0, 11.0}, 0, 0, x, &singular);
      check(good && fabs(x[0] - 1) < 1e-14 && fabs(x[1] - 2) < 1e-14, "elements of one place");
    }
}

template <typename T> static void least_squares()
{
  typedef typename native<T>::real real;
  for (int dependent = 0; dependent < 2; dependent++) {
    rows<T> a(30, 11, dependent);
    for (int i = 0; i < 30; i++) {
      const T v = type<T>::make();
      for (int j = 0; j < 11; j++)
        if (j == 10) a.put(10, dependent ? T(2) * v : type<T>::make());
        else if (j == 4) a.put(4, v);
        else if (j == i % 10 || next() % 4 == 0) a.put(j, type<T>::make());
      a.end();
    }
    const std::vector<T> b = vector<T>(30);
    std::vector<T> x(11);
    std::vector<int> p(11);
    int rank = -1;
    real left = -1;
    check(!calls<T>::squares(h, 30, 11, (int)a.v.size(), a.d, raw(a.v.data()), a.o.data(), a.c.data(), raw(b.data()), (real)1e-4, &rank, raw(x.data()), p.data(), &left), "least squares");
    std::vector<number> r = times(a, a.v.data(), x.data()), g(11);
    for (int i = 0; i < 30; i++) r[i] -= number(b[i]);
    for (int i = 0; i < 30; i++)
      for (int k = a.from(i); k < a.from(i + 1); k++) g[a.column(k)] += std::conj(number(a.v[k])) * r[i];
    check(rank == 11 - dependent && fabs(left - norm(r)) <= 1e-5 * norm(r) && norm(g) <= 500 * type<T>::eps * norm(a.v) * norm(b), "what least squares leave");
    std::sort(p.begin(), p.begin() + rank);
    const bool one = std::count(p.begin(), p.end(), 4) == 1 && std::count(p.begin(), p.end(), 10) == 1;
    check(one && (!dependent || p[10] == 4 || p[10] == 10), "columns that depend come last");
  }
}

// -1 2 -1, each off-diagonal turned by a phase: eigenvalues 2 - 2 cos(k pi / (n + 1)).
template <typename T> static T phase(int i);
template <> float phase<float>(int) { return 1; }
template <> double phase<double>(int) { return 1; }
template <> std::complex<float> phase<std::complex<float>>(int i) { return std::polar(1.0f, (float)i); }
template <> std::complex<double> phase<std::complex<double>>(int i) { return std::polar(1.0, (double)i); }
template <typename T, typename C> static void eigenvalues()
{
  typedef typename native<T>::v V;
  typedef typename native<T>::real real;
  const int n = 24;
  rows<T> a(n, n, 1);
  for (int i = 0; i < n; i++) {
    if (i) a.put(i - 1, -conjugate(phase<T>(i)));
    a.put(i, T(2));
    if (i < n - 1) a.put(i + 1, -phase<T>(i + 1));
    a.end();
  }
  const auto value = [&](int k) { return 2 - 2 * cos(k * M_PI / (n + 1)); };
  for (int k : {1, 9, 24}) {
    const T near = T(value(k) + 0.004);
    std::vector<T> x = vector<T>(n);
    T mu[2];
    on_device<T> d(a, x);
    const std::vector<T> start = x;
    check(!calls<T>::eigen_host(h, ROWS_ARGS(a), raw(a.v.data()), a.o.data(), a.c.data(), *(V *)&near, raw(start.data()), 30, (real)(40 * type<T>::eps), raw(&mu[0]), raw(x.data())), "an eigenvalue on the host");
    V *on = raw(device(std::vector<T>(1)));
    check(!calls<T>::eigen(h, ROWS_ARGS(a), d.v, d.o, d.c, *(V *)&near, d.b, 30, (real)(40 * type<T>::eps), on, d.x), "an eigenvalue");
    mu[1] = host((T *)on, 1)[0];
    for (int s = 0; s < 2; s++) {
      check(std::abs(number(mu[s]) - value(k)) <= 100 * type<T>::eps * 4, "the eigenvalue");
      std::vector<number> r = times(a, a.v.data(), x.data());
      for (int i = 0; i < n; i++) r[i] -= number(mu[s]) * number(x[i]);
      check(norm(r) <= 400 * type<T>::eps && fabs(norm(x) - 1) < 20 * type<T>::eps, "its vector");
      x = host((T *)d.x, n);
    }
    cudaFree(on);
  }
  int inside = -1;
  check(!calls<T>::box(h, ROWS_ARGS(a), raw(a.v.data()), a.o.data(), a.c.data(), C{real(value(3) - 0.001), -1}, C{real(value(10) + 0.001), 1}, &inside) && inside == 8, "eigenvalues of a box");
  check(calls<T>::box(h, ROWS_ARGS(a), raw(a.v.data()), a.o.data(), a.c.data(), C{2, -1}, C{1, 1}, &inside) == CUSOLVER_STATUS_INVALID_VALUE, "corners of a box");
  rows<T> turns(6, 6, 0); // k +- 2 k i
  for (int k = 1; k < 4; k++) turns.put(2 * k - 2, T(k)), turns.put(2 * k - 1, T(2 * k)), turns.end(), turns.put(2 * k - 2, T(-2 * k)), turns.put(2 * k - 1, T(k)), turns.end();
  check(!calls<T>::box(h, ROWS_ARGS(turns), raw(turns.v.data()), turns.o.data(), turns.c.data(), C{1.5, -7}, C{3.5, 0}, &inside) && inside == 2, "complex eigenvalues of a box");
}

// Elements of the lower half that elimination in this order makes or finds.
static long filled(const rows<double> &a, const std::vector<int> &p)
{
  const int n = a.n;
  std::vector<int> at(n);
  std::vector<char> full(n * n);
  for (int i = 0; i < n; i++) at[p[i]] = i;
  for (int i = 0; i < n; i++)
    for (int k = a.from(i); k < a.from(i + 1); k++) full[at[i] * n + at[a.column(k)]] = full[at[a.column(k)] * n + at[i]] = 1;
  long count = 0;
  for (int j = 0; j < n; j++)
    for (int i = j + 1; i < n; i++) {
      if (!full[i * n + j]) continue;
      count++;
      for (int k = j + 1; k < n; k++) full[i * n + k] |= full[j * n + k];
    }
  return count;
}
static bool permutation(std::vector<int> p)
{
  std::sort(p.begin(), p.end());
  for (size_t i = 0; i < p.size(); i++)
    if (p[i] != (int)i) return false;
  return true;
}

static void orders()
{
  const int n = 40;
  std::vector<int> s(n), p(n);
  for (int i = 0; i < n; i++) s[i] = i * 17 % n;
  rows<double> path(n, n, 1), tree(n, n, 0); // shuffled: a path; a tree with a root of many
  std::vector<std::vector<int>> line(n), branch(n);
  for (int i = 1; i < n; i++) {
    line[s[i]].push_back(s[i - 1]), line[s[i - 1]].push_back(s[i]);
    const int up = s[i < 20 ? 0 : i / 4];
    branch[s[i]].push_back(up); // one half is enough
  }
  for (int i = 0; i < n; i++) {
    for (int j : line[i]) path.put(j, 1);
    path.put(i, 1), path.end();
    for (int j : branch[i]) tree.put(j, 1);
    tree.put(i, 1), tree.end();
  }
  check(!cusolverSpXcsrsymrcmHost(h, ROWS_ARGS(path), path.o.data(), path.c.data(), p.data()) && permutation(p), "RCM");
  std::vector<int> at(n);
  for (int i = 0; i < n; i++) at[p[i]] = i;
  int width = 0;
  for (int i = 0; i < n; i++)
    for (int k = path.from(i); k < path.from(i + 1); k++) width = std::max(width, abs(at[i] - at[path.column(k)]));
  check(width == 1, "RCM of a path");
  check(!cusolverSpXcsrsymamdHost(h, ROWS_ARGS(tree), tree.o.data(), tree.c.data(), p.data()) && permutation(p) && filled(tree, p) == n - 1, "AMD of a tree");
  check(!cusolverSpXcsrsymmdqHost(h, ROWS_ARGS(tree), tree.o.data(), tree.c.data(), p.data()) && permutation(p) && filled(tree, p) == n - 1, "MDQ of a tree");
  const rows<double> g = grid<double>(20, 0, false);
  std::vector<int> q(g.n);
  for (int i = 0; i < g.n; i++) q[i] = i;
  const long natural = filled(g, q);
  check(!cusolverSpXcsrmetisndHost(h, ROWS_ARGS(g), g.o.data(), g.c.data(), nullptr, q.data()) && permutation(q) && filled(g, q) * 10 < natural * 7, "ND of a grid");
  check(!cusolverSpXcsrsymamdHost(h, ROWS_ARGS(g), g.o.data(), g.c.data(), q.data()) && permutation(q) && filled(g, q) * 2 < natural, "AMD of a grid");
  check(!cusolverSpXcsrsymmdqHost(h, ROWS_ARGS(g), g.o.data(), g.c.data(), q.data()) && permutation(q) && filled(g, q) * 2 < natural, "MDQ of a grid");
  int same = -1;
  check(!cusolverSpXcsrissymHost(h, ROWS_ARGS(g), g.o.data(), g.o.data() + 1, g.c.data(), &same) && same == 1, "a grid is symmetric");
  check(!cusolverSpXcsrissymHost(h, ROWS_ARGS(tree), tree.o.data(), tree.o.data() + 1, tree.c.data(), &same) && same == 0, "half of a tree is not");
}

template <typename T> static void permutations()
{
  const rows<T> a = general<T>(17, 17, 1);
  rows<T> b = a;
  const int nnz = (int)a.c.size();
  std::vector<int> p(17), q(17), map(nnz);
  for (int i = 0; i < 17; i++) p[i] = i * 5 % 17, q[i] = i * 11 % 17;
  for (int k = 0; k < nnz; k++) map[k] = k;
  size_t bytes = 0;
  bool good = !cusolverSpXcsrperm_bufferSizeHost(h, 17, 17, nnz, a.d, b.o.data(), b.c.data(), p.data(), q.data(), &bytes) && bytes > 0;
  std::vector<char> room(bytes);
  good = good && !cusolverSpXcsrpermHost(h, 17, 17, nnz, a.d, b.o.data(), b.c.data(), p.data(), q.data(), map.data(), room.data());
  std::vector<T> dense(17 * 17, T(0));
  for (int i = 0; i < 17; i++)
    for (int k = a.from(i); k < a.from(i + 1); k++) dense[i * 17 + a.column(k)] = a.v[k];
  for (int i = 0; good && i < 17; i++)
    for (int k = b.from(i); k < b.from(i + 1); k++) {
      good = good && a.v[map[k]] == dense[p[i] * 17 + q[b.column(k)]] && (k == b.from(i) || b.c[k] > b.c[k - 1]);
    }
  check(good, "rows and columns of a matrix");
  p[3] = p[4];
  check(cusolverSpXcsrpermHost(h, 17, 17, nnz, a.d, b.o.data(), b.c.data(), p.data(), q.data(), map.data(), room.data()) == CUSOLVER_STATUS_INVALID_VALUE, "no permutation");
  int number = -1;
  good = !calls<T>::zfd(h, ROWS_ARGS(a), raw(a.v.data()), a.o.data(), a.c.data(), q.data(), &number) && number == 17 && permutation(q);
  for (int i = 0; i < 17; i++) good = good && dense[i * 17 + q[i]] != T(0);
  check(good, "a diagonal without zeros");
  rows<T> few(4, 4, 0); // rows 1 to 3 have columns 0 and 1 alone, one element is 0
  few.put(0, T(1)), few.put(3, T(0)), few.end();
  for (int i = 1; i < 4; i++) few.put(0, T(1)), few.put(1, T(1)), few.end();
  std::vector<int> r(4);
  check(!calls<T>::zfd(h, ROWS_ARGS(few), raw(few.v.data()), few.o.data(), few.c.data(), r.data(), &number) && number == 2 && permutation(r), "a diagonal with zeros");
}

// Batches that are a tree each CTA, and that are not; more rows than columns: least squares.
template <typename T> static void batches(int m, int n, int count)
{
  typedef calls<T> f;
  const rows<T> a = general<T>(m, n, 1);
  const int nnz = (int)a.c.size();
  std::vector<T> values, b = vector<T>(m * count);
  for (int s = 0; s < count; s++)
    for (T v : a.v) values.push_back(v * T(1 + s) + T(s) / T(100));
  int *o = device(a.o), *c = device(a.c);
  auto *v = raw(device(values)), *bd = raw(device(b)), *x = raw(device(std::vector<T>(n * count)));
  csrqrInfo_t info;
  size_t internal = 0, bytes = 0;
  bool good = !cusolverSpCreateCsrqrInfo(&info);
  check(f::batch(h, m, n, nnz, a.d, v, o, c, bd, x, count, info, nullptr) == CUSOLVER_STATUS_INVALID_VALUE, "a batch that is not analysed");
  good = good && !cusolverSpXcsrqrAnalysisBatched(h, m, n, nnz, a.d, o, c, info);
  good = good && !f::batch_room(h, m, n, nnz, a.d, v, o, c, count, info, &internal, &bytes) && internal > nnz * sizeof(T) * count && bytes > 0;
  void *room = device(std::vector<char>(bytes));
  for (int turn = 0; turn < 2; turn++) good = good && !f::batch(h, m, n, nnz, a.d, v, o, c, bd, x, count, info, room);
  const std::vector<T> got = host((T *)x, n * count);
  for (int s = 0; good && s < count; s++) {
    if (m == n) good = solves(a, values.data() + s * nnz, got.data() + s * n, b.data() + s * m);
    std::vector<number> r = times(a, values.data() + s * nnz, got.data() + s * n), g(n);
    for (int i = 0; i < m; i++) r[i] -= number(b[s * m + i]);
    for (int i = 0; i < m; i++)
      for (int k = a.from(i); k < a.from(i + 1); k++) g[a.column(k)] += std::conj(number(values[s * nnz + k])) * r[i];
    good = good && norm(g) <= 2000 * type<T>::eps * std::pow(norm(std::vector<T>(values.begin() + s * nnz, values.begin() + (s + 1) * nnz)), 2);
  }
  char text[80];
  snprintf(text, sizeof text, "a batch of %d, %d x %d, type %d", count, m, n, type<T>::data);
  check(good, text);
  check(cusolverSpDestroyCsrcholInfo((csrcholInfo_t)info) == CUSOLVER_STATUS_INVALID_VALUE && !cusolverSpDestroyCsrqrInfo(info), "an info of the other kind");
  cudaFree(o), cudaFree(c), cudaFree(v), cudaFree(bd), cudaFree(x), cudaFree(room);
}

template <typename T> static void steps_of_qr()
{
  typedef calls<T> f;
  typedef typename native<T>::v V;
  typedef typename native<T>::real real;
  const rows<T> a = general<T>(33, 33, 0);
  std::vector<T> b = vector<T>(33), x(33);
  const T mu = T(0.75);
  on_device<T> d(a, b);
  csrqrInfo_t info;
  csrqrInfoHost_t on_host;
  size_t internal, bytes;
  int at = -7;
  bool good = !cusolverSpCreateCsrqrInfo(&info) && !cusolverSpXcsrqrAnalysis(h, 33, ROWS_ARGS(a), d.o, d.c, info);
  good = good && !f::qr_room(h, 33, ROWS_ARGS(a), d.v, d.o, d.c, info, &internal, &bytes);
  check(good && f::qr_factor(h, 33, 33, (int)a.v.size(), (V *)nullptr, (V *)nullptr, info, nullptr) == CUSOLVER_STATUS_INVALID_VALUE, "QR before its matrix");
  good = good && !f::qr_setup(h, 33, ROWS_ARGS(a), d.v, d.o, d.c, *(V *)&mu, info);
  check(good && f::qr_solve(h, 33, 33, d.b, d.x, info, nullptr) == CUSOLVER_STATUS_INVALID_VALUE, "QR before its factor");
  good = good && !f::qr_factor(h, 33, 33, (int)a.v.size(), (V *)nullptr, (V *)nullptr, info, nullptr);
  good = good && !f::qr_zero(h, info, (real)1e-5, &at) && at == -1 && !f::qr_solve(h, 33, 33, d.b, d.x, info, nullptr);
  x = host((T *)d.x, 33);
  check(good && solves(a, a.v.data(), x.data(), b.data(), false, number(mu)), "QR in steps");
  check(!f::qr_zero(h, info, (real)1e6, &at) && at == 0 && !cusolverSpDestroyCsrqrInfo(info), "QR's tolerance");
  good = !cusolverSpCreateCsrqrInfoHost(&on_host) && !cusolverSpXcsrqrAnalysisHost(h, 33, ROWS_ARGS(a), a.o.data(), a.c.data(), on_host);
  good = good && !f::qr_setup_host(h, 33, ROWS_ARGS(a), raw(a.v.data()), a.o.data(), a.c.data(), *(V *)&mu, on_host);
  good = good && !f::qr_factor_host(h, 33, 33, (int)a.v.size(), (V *)nullptr, (V *)nullptr, on_host, nullptr);
  good = good && !f::qr_zero_host(h, on_host, (real)1e-5, &at) && at == -1 && !f::qr_solve_host(h, 33, 33, raw(b.data()), raw(x.data()), on_host, nullptr);
  check(good && solves(a, a.v.data(), x.data(), b.data(), false, number(mu)) && !cusolverSpDestroyCsrqrInfoHost(on_host), "QR in steps on the host");
}

template <typename T> static void steps_of_cholesky()
{
  typedef calls<T> f;
  typedef typename native<T>::real real;
  const rows<T> a = grid<T>(13, 1, false);
  std::vector<T> b = vector<T>(a.n), x(a.n);
  on_device<T> d(a, b);
  csrcholInfo_t info;
  csrcholInfoHost_t on_host;
  size_t internal, bytes;
  int at = -7;
  bool good = !cusolverSpCreateCsrcholInfo(&info) && !cusolverSpXcsrcholAnalysis(h, ROWS_ARGS(a), d.o, d.c, info);
  good = good && !f::chol_room(h, ROWS_ARGS(a), d.v, d.o, d.c, info, &internal, &bytes) && !f::chol_factor(h, ROWS_ARGS(a), d.v, d.o, d.c, info, nullptr);
  good = good && !f::chol_zero(h, info, (real)1e-5, &at) && at == -1 && !f::chol_solve(h, a.n, d.b, d.x, info, nullptr);
  x = host((T *)d.x, a.n);
  check(good && solves(a, a.v.data(), x.data(), b.data()), "Cholesky in steps");
  // The product of the diagonal's squares is the determinant, which elimination on the host gives, too.
  real *diagonal = device(std::vector<real>(a.n));
  good = !f::chol_diag(h, info, diagonal);
  double logs = 0, expected = 0;
  for (real v : host(diagonal, a.n)) logs += 2 * std::log((double)v);
  std::vector<number> m(a.n * a.n);
  for (int i = 0; i < a.n; i++)
    for (int k = a.from(i); k < a.from(i + 1); k++) m[i * a.n + a.column(k)] = number(a.v[k]);
  for (int k = 0; k < a.n; k++) {
    expected += std::log(m[k * a.n + k].real());
    for (int i = k + 1; i < std::min(a.n, k + 14); i++) {
      const number by = m[i * a.n + k] / m[k * a.n + k];
      for (int j = k; j < std::min(a.n, k + 14); j++) m[i * a.n + j] -= by * m[k * a.n + j];
    }
  }
  check(good && fabs(logs - expected) <= 100 * type<T>::eps * a.n, "Cholesky's diagonal");
  check(!cusolverSpDestroyCsrcholInfo(info), "the end of Cholesky");
  cudaFree(diagonal);
  good = !cusolverSpCreateCsrcholInfoHost(&on_host) && !cusolverSpXcsrcholAnalysisHost(h, ROWS_ARGS(a), a.o.data(), a.c.data(), on_host);
  good = good && !f::chol_factor_host(h, ROWS_ARGS(a), raw(a.v.data()), a.o.data(), a.c.data(), on_host, nullptr);
  good = good && !f::chol_zero_host(h, on_host, (real)1e-5, &at) && at == -1 && !f::chol_solve_host(h, a.n, raw(b.data()), raw(x.data()), on_host, nullptr);
  check(good && solves(a, a.v.data(), x.data(), b.data()) && !cusolverSpDestroyCsrcholInfoHost(on_host), "Cholesky in steps on the host");
}

// P A Q^T = L U, from its parts.
template <typename T> struct factors {
  std::vector<int> p, q;
  rows<T> l, u;
};
template <typename T> static factors<T> steps_of_lu(const rows<T> &a)
{
  typedef calls<T> f;
  typedef typename native<T>::real real;
  const int n = a.n;
  std::vector<T> b = vector<T>(n), x(n);
  csrluInfoHost_t info;
  size_t internal, bytes;
  int at = -7, nl = 0, nu = 0;
  bool good = !cusolverSpCreateCsrluInfoHost(&info) && !cusolverSpXcsrluAnalysisHost(h, ROWS_ARGS(a), a.o.data(), a.c.data(), info);
  good = good && !f::lu_room(h, ROWS_ARGS(a), raw(a.v.data()), a.o.data(), a.c.data(), info, &internal, &bytes);
  check(good && f::lu_solve(h, n, raw(b.data()), raw(x.data()), info, nullptr) == CUSOLVER_STATUS_INVALID_VALUE, "LU before its factor");
  good = good && !f::lu_factor(h, ROWS_ARGS(a), raw(a.v.data()), a.o.data(), a.c.data(), info, (real)1, nullptr);
  good = good && !f::lu_zero(h, info, (real)1e-6, &at) && at == -1 && !f::lu_solve(h, n, raw(b.data()), raw(x.data()), info, nullptr);
  check(good && solves(a, a.v.data(), x.data(), b.data()), "LU in steps");
  good = good && !cusolverSpXcsrluNnzHost(h, &nl, &nu, info);
  factors<T> w = {std::vector<int>(n), std::vector<int>(n), rows<T>(n, n, 0), rows<T>(n, n, 0)};
  w.l.o.resize(n + 1), w.l.c.resize(nl), w.l.v.resize(nl), w.u.o.resize(n + 1), w.u.c.resize(nu), w.u.v.resize(nu);
  good = good && !f::lu_extract(h, w.p.data(), w.q.data(), w.l.d, raw(w.l.v.data()), w.l.o.data(), w.l.c.data(), w.u.d, raw(w.u.v.data()), w.u.o.data(), w.u.c.data(), info, nullptr);
  std::vector<number> m(n * n);
  double most = 0, off = 0;
  for (int i = 0; good && i < n; i++) {
    for (int k = w.u.from(i); k < w.u.from(i + 1); k++) m[i * n + w.u.column(k)] += number(w.u.v[k]);
    for (int e = w.l.from(i); e < w.l.from(i + 1); e++) {
      const int j = w.l.column(e);
      good = good && j < i && std::abs(number(w.l.v[e])) <= 1 + type<T>::eps;
      for (int k = w.u.from(j); k < w.u.from(j + 1); k++) m[i * n + w.u.column(k)] += number(w.l.v[e]) * number(w.u.v[k]);
    }
  }
  std::vector<int> to(n);
  for (int j = 0; j < n; j++) to[w.q[j]] = j;
  for (int i = 0; good && i < n; i++)
    for (int k = a.from(w.p[i]); k < a.from(w.p[i] + 1); k++) m[i * n + to[a.column(k)]] -= number(a.v[k]), most = std::max(most, std::abs(number(a.v[k])));
  for (number v : m) off = farther(off, std::abs(v));
  check(good && permutation(w.p) && permutation(w.q) && off <= 8 * n * type<T>::eps * most, "LU's factors");
  check(!cusolverSpDestroyCsrluInfoHost(info), "the end of LU");
  return w;
}

static rows<double> turned(const rows<double> &a)
{
  rows<double> t(a.n, a.m, 0);
  for (int j = 0; j < a.n; j++) {
    for (int i = 0; i < a.m; i++)
      for (int k = a.from(i); k < a.from(i + 1); k++)
        if (a.column(k) == j) t.put(i, a.v[k]);
    t.end();
  }
  return t;
}

// Factors of other values in the same places; unit: 0, 2: L's, 1, 3: U's diagonal is 1.
static void refactor(int batch, int format, int unit, bool from_device)
{
  rows<double> a = general<double>(40, 40, 0);
  factors<double> f = steps_of_lu(a);
  cusolverRfHandle_t r;
  const int n = 40, nnz = (int)a.v.size();
  std::vector<std::vector<double>> values(batch, a.v), b;
  for (int s = 0; s < batch; s++) {
    for (double &v : values[s]) v *= 1 + 0.01 * (next() % 7);
    b.push_back(vector<double>(n));
  }
  const rows<double> kept = a;
  if (format) { // compressed columns: numbers of elements first, to move values with them
    rows<double> index = a;
    for (int k = 0; k < nnz; k++) index.v[k] = k;
    index = turned(index);
    for (auto &v : values) {
      std::vector<double> moved;
      for (double k : index.v) moved.push_back(v[(int)k]);
      v = moved;
    }
    a = turned(a), f.l = turned(f.l), f.u = turned(f.u);
  }
#define PART(m) (int)(m).v.size(), (m).o.data(), (m).c.data()
  bool good = !cusolverRfCreate(&r) && !cusolverRfSetMatrixFormat(r, (cusolverRfMatrixFormat_t)format, (cusolverRfUnitDiagonal_t)unit);
  check(cusolverRfAnalyze(r) == CUSOLVER_STATUS_INVALID_VALUE, "an analysis before the setup");
  int *p = device(f.p), *q = device(f.q), *o = device(a.o), *c = device(a.c);
  double *v = device(a.v), *t = device(std::vector<double>(2 * batch * n));
  if (batch > 1) {
    std::vector<double *> first(batch, a.v.data());
    good = good && !cusolverRfBatchSetupHost(batch, n, PART(a), first.data(), PART(f.l), f.l.v.data(), PART(f.u), f.u.v.data(), f.p.data(), f.q.data(), r);
  } else if (from_device) {
    good = good && !cusolverRfSetupDevice(n, nnz, o, c, v, (int)f.l.v.size(), device(f.l.o), device(f.l.c), device(f.l.v), (int)f.u.v.size(), device(f.u.o), device(f.u.c), device(f.u.v), p, q, r);
  } else {
    good = good && !cusolverRfSetupHost(n, PART(a), a.v.data(), PART(f.l), f.l.v.data(), PART(f.u), f.u.v.data(), f.p.data(), f.q.data(), r);
  }
  std::vector<double *> av, xv;
  for (int s = 0; s < batch; s++) av.push_back(device(values[s])), xv.push_back(device(b[s]));
  double **ad = device(av), **xd = device(xv);
  std::vector<int> zero(batch, -7);
  if (batch > 1) {
    good = good && !cusolverRfBatchAnalyze(r) && !cusolverRfBatchResetValues(batch, n, nnz, o, c, ad, p, q, r) && !cusolverRfBatchRefactor(r);
    good = good && !cusolverRfBatchZeroPivot(r, zero.data()) && zero[batch - 1] == -1 && !cusolverRfBatchSolve(r, p, q, 1, t, n, xd, n);
  } else {
    good = good && !cusolverRfAnalyze(r) && !cusolverRfResetValues(n, nnz, o, c, av[0], p, q, r);
    check(good && cusolverRfSolve(r, p, q, 1, t, n, xv[0], n) == CUSOLVER_STATUS_INVALID_VALUE, "a system before the factor");
    good = good && !cusolverRfRefactor(r) && !cusolverRfSolve(r, p, q, 1, t, n, xv[0], n);
  }
  const rows<double> at = format ? turned(a) : a;
  for (int s = 0; good && s < batch; s++) {
    std::vector<double> moved = values[s], x = host(xv[s], n);
    if (format) {
      rows<double> w = a;
      w.v = values[s], moved = turned(w).v;
    }
    good = solves(at, moved.data(), x.data(), b[s].data());
  }
  char text[80];
  snprintf(text, sizeof text, "new values: %d matrices, format %d, diagonal %d", batch, format, unit);
  check(good, text);
  // The factors that it gives: one of them has the unit diagonal, and their product is the matrix.
  int nl, nu, nm, *lo, *lc, *uo, *uc, *mo, *mc, *dmo, *dmc;
  double *lv, *uv, *mv, *dmv;
  good = good && !cusolverRfExtractSplitFactorsHost(r, &nl, &lo, &lc, &lv, &nu, &uo, &uc, &uv);
  good = good && !cusolverRfExtractBundledFactorsHost(r, &nm, &mo, &mc, &mv) && !cusolverRfAccessBundledFactorsDevice(r, &nm, &dmo, &dmc, &dmv);
  if (good) {
    std::vector<double> l(n * n), u(n * n), first = values[0];
    for (int i = 0; i < n; i++) {
      for (int k = lo[i]; k < lo[i + 1]; k++) l[i * n + lc[k]] = lv[k];
      for (int k = uo[i]; k < uo[i + 1]; k++) u[i * n + uc[k]] = uv[k];
      if (unit == 2) l[i * n + i] = 1;
      if (unit == 3) u[i * n + i] = 1;
      good = good && (unit % 2 ? u : l)[i * n + i] == 1;
    }
    check(good && nl + nu == nm + (unit < 2 ? n : 0) && host(dmv, nm) == std::vector<double>(mv, mv + nm) && host(dmo, n + 1) == std::vector<int>(mo, mo + n + 1), "factors in one");
    if (format) {
      rows<double> w = a;
      w.v = first, first = turned(w).v;
    }
    std::vector<double> m(n * n);
    double off = 0;
    for (int i = 0; i < n; i++)
      for (int k = at.from(i); k < at.from(i + 1); k++) m[i * n + at.column(k)] = first[k];
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double sum = m[f.p[i] * n + f.q[j]];
        for (int k = 0; k < n; k++) sum -= l[i * n + k] * u[k * n + j];
        off = farther(off, fabs(sum));
      }
    check(good && off < 1e-11, "factors apart");
    free(lo), free(lc), free(lv), free(uo), free(uc), free(uv), free(mo), free(mc), free(mv);
  }
  check(!cusolverRfDestroy(r), "the end");
}

// Pivots of 0: said, or replaced.
static void refactor_pivots()
{
  rows<double> a(2, 2, 0), l(2, 2, 0), u(2, 2, 0); // 1 2; 3 6: U has 0 at the end
  a.put(0, 1), a.put(1, 2), a.end(), a.put(0, 3), a.put(1, 6), a.end();
  l.end(), l.put(0, 3), l.end();
  u.put(0, 1), u.put(1, 2), u.end(), u.put(1, 1), u.end();
  std::vector<int> p = {0, 1};
  cusolverRfHandle_t r;
  cusolverRfNumericBoostReport_t used;
  check(!cusolverRfCreate(&r) && !cusolverRfSetMatrixFormat(r, CUSOLVERRF_MATRIX_FORMAT_CSR, CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_L), "a handle");
  check(!cusolverRfSetupHost(2, PART(a), a.v.data(), PART(l), l.v.data(), PART(u), u.v.data(), p.data(), p.data(), r) && !cusolverRfAnalyze(r), "a setup");
  check(cusolverRfRefactor(r) == CUSOLVER_STATUS_ZERO_PIVOT, "a pivot of 0");
  double *v = device(a.v);
  check(!cusolverRfSetNumericProperties(r, 1e-9, 0.5) && !cusolverRfResetValues(2, 4, device(a.o), device(a.c), v, device(p), device(p), r), "values again");
  check(!cusolverRfRefactor(r) && !cusolverRfGetNumericBoostReport(r, &used) && used == CUSOLVERRF_NUMERIC_BOOST_USED, "a pivot that is replaced");
  double *x = device(std::vector<double>{1, 4}), *t = device(std::vector<double>(2));
  check(!cusolverRfSolve(r, device(p), device(p), 1, t, 2, x, 2) && host(x, 2) == (std::vector<double>{-3, 2}), "a system with it"); // U: 1 2; 0 0.5
  l.o = {0, 0, 0}, l.c.clear(), l.v.clear();
  check(cusolverRfSetupHost(2, PART(a), a.v.data(), PART(l), l.v.data(), PART(u), u.v.data(), p.data(), p.data(), r) == CUSOLVER_STATUS_INVALID_VALUE, "factors without a place");
  p = {1, 1};
  check(cusolverRfSetupHost(2, PART(a), a.v.data(), PART(u), u.v.data(), PART(u), u.v.data(), p.data(), p.data(), r) == CUSOLVER_STATUS_INVALID_VALUE, "no permutation");
  cusolverRfDestroy(r);
}

static void refused()
{
  rows<double> a = grid<double>(3, 1, false);
  const std::vector<double> b = vector<double>(9);
  std::vector<double> x(9);
  int s = 0, p[9];
#define LINE(n, nnz, o, c) cusolverSpDcsrlsvqrHost(h, n, nnz, a.d, a.v.data(), o, c, b.data(), 0, 0, x.data(), &s)
  const int nnz = (int)a.v.size();
  check(LINE(-1, nnz, a.o.data(), a.c.data()) == CUSOLVER_STATUS_INVALID_VALUE && LINE(0, nnz, a.o.data(), a.c.data()) == CUSOLVER_STATUS_INVALID_VALUE, "no rows");
  check(LINE(9, 0, a.o.data(), a.c.data()) == CUSOLVER_STATUS_INVALID_VALUE && LINE(9, nnz - 1, a.o.data(), a.c.data()) == CUSOLVER_STATUS_INVALID_VALUE, "fewer elements than rows have");
  check(cusolverSpDcsrlsvqrHost(nullptr, 9, nnz, a.d, a.v.data(), a.o.data(), a.c.data(), b.data(), 0, 0, x.data(), &s) == CUSOLVER_STATUS_NOT_INITIALIZED, "no handle");
  for (int bad : {0, 10, 2147483647, -2147483647}) {
    rows<double> w = a;
    w.c[4] = bad;
    check(LINE(9, nnz, a.o.data(), w.c.data()) == CUSOLVER_STATUS_INVALID_VALUE, "a column outside");
    on_device<double> d(w, b);
    check(cusolverSpDcsrlsvqr(h, ROWS_ARGS(w), d.v, d.o, d.c, d.b, 0, 0, d.x, &s) == CUSOLVER_STATUS_INVALID_VALUE, "a column outside, on the device");
    w = a, w.o[4] = bad;
    check(LINE(9, nnz, w.o.data(), a.c.data()) == CUSOLVER_STATUS_INVALID_VALUE, "a row outside");
    check(cusolverSpXcsrsymrcmHost(h, 9, nnz, a.d, w.o.data(), a.c.data(), p) == CUSOLVER_STATUS_INVALID_VALUE, "a row outside, for an order");
  }
  cusparseSetMatType(a.d, CUSPARSE_MATRIX_TYPE_SYMMETRIC);
  check(LINE(9, nnz, a.o.data(), a.c.data()) == CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED, "a symmetric matrix");
  csrqrInfo_t info;
  check(!cusolverSpCreateCsrqrInfo(&info) && cusolverSpXcsrqrAnalysis(h, 3, 9, nnz, a.d, device(a.o), device(a.c), info) == CUSOLVER_STATUS_INVALID_VALUE, "fewer rows than columns");
  cusolverSpDestroyCsrqrInfo(info);
}

template <typename T, typename C> static void of_type()
{
  systems<T>(), singular_ones<T>(), least_squares<T>(), eigenvalues<T, C>(), permutations<T>();
  batches<T>(3, 3, 40), batches<T>(12, 12, 3), batches<T>(9, 5, 17);
  steps_of_qr<T>(), steps_of_cholesky<T>(), steps_of_lu(general<T>(40, 40, 1));
  wide_cholesky<T>();
}

int main()
{
  cudaStream_t stream, there;
  if (cusolverSpCreate(&h)) return 1;
  cudaStreamCreate(&stream);
  check(!cusolverSpSetStream(h, stream) && !cusolverSpGetStream(h, &there) && there == stream && !cusolverSpSetStream(h, nullptr), "a stream");
  of_type<float, cuComplex>(), of_type<double, cuDoubleComplex>();
  of_type<std::complex<float>, cuComplex>(), of_type<std::complex<double>, cuDoubleComplex>();
  wide_qr<double>(312), wide_qr<std::complex<float>>(312);
  orders_of_systems(), twice(), orders();
  refactor(1, 0, 2, false), refactor(1, 0, 3, true), refactor(1, 1, 0, false), refactor(3, 0, 1, false);
  refactor_pivots(), refused();
  check(!cusolverSpDestroy(h), "destroy");
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
