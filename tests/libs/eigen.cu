// libcusolver: eigenvalues, singular values, LDL^T of four types; libcublas: batches of LU, inverses, QR, least squares. What factors give
// again, orthogonality and what solutions leave is compared on the host in binary64, within 8 n eps of the norms that they come from.
#include <cublas_v2.h>
#include <cusolverDn.h>

#include "tables.cuh"

#define WRAP(name, f) \
  template <typename... A> static auto name(A... a) { return f(a...); }
template <typename T> struct type;
#define TYPE(T, R, l, eig, data, data_w)                            \
  template <> struct type<T> : native<T> {                          \
    typedef R real;                                                 \
    static constexpr cudaDataType a_type = data, w_type = data_w;   \
    WRAP(eigd, cusolverDn##l##eig##d)                               \
    WRAP(eigd_room, cusolverDn##l##eig##d_bufferSize)               \
    WRAP(eigj_batched, cusolverDn##l##eig##jBatched)                \
    WRAP(eigj_batched_room, cusolverDn##l##eig##jBatched_bufferSize) \
    WRAP(gesvd, cusolverDn##l##gesvd)                               \
    WRAP(gesvd_room, cusolverDn##l##gesvd_bufferSize)               \
    WRAP(gesvdj, cusolverDn##l##gesvdj)                             \
    WRAP(gesvdj_room, cusolverDn##l##gesvdj_bufferSize)             \
    WRAP(gesvdj_batched, cusolverDn##l##gesvdjBatched)              \
    WRAP(gesvdj_batched_room, cusolverDn##l##gesvdjBatched_bufferSize) \
    WRAP(gesvda, cusolverDn##l##gesvdaStridedBatched)               \
    WRAP(gesvda_room, cusolverDn##l##gesvdaStridedBatched_bufferSize) \
    WRAP(sytrf, cusolverDn##l##sytrf)                               \
    WRAP(sytrf_room, cusolverDn##l##sytrf_bufferSize)               \
    WRAP(getrf, cublas##l##getrfBatched)                            \
    WRAP(getrs, cublas##l##getrsBatched)                            \
    WRAP(getri, cublas##l##getriBatched)                            \
    WRAP(matinv, cublas##l##matinvBatched)                          \
    WRAP(geqrf, cublas##l##geqrfBatched)                            \
    WRAP(gels, cublas##l##gelsBatched)                              \
  };
TYPE(float, float, S, syev, CUDA_R_32F, CUDA_R_32F)
TYPE(double, double, D, syev, CUDA_R_64F, CUDA_R_64F)
TYPE(c32, float, C, heev, CUDA_C_32F, CUDA_R_32F)
TYPE(c64, double, Z, heev, CUDA_C_64F, CUDA_R_64F)

template <typename T> static T part(number v)
{
  if constexpr (std::is_floating_point<T>::value) return (T)v.real();
  else return T(v);
}

template <typename T> static void put(matrix<T> &a, const table &t)
{
  for (int j = 0; j < a.n; j++)
    for (int i = 0; i < a.m; i++) a.v[(size_t)j * a.ld + i] = part<T>(t.at(i, j));
}

static table diagonal(const std::vector<double> &v, int m, int n)
{
  table d(m, n);
  for (int i = 0; i < std::min(m, n); i++) d.at(i, i) = v[i];
  return d;
}
static table unit(int n) { return diagonal(std::vector<double>(n, 1), n, n); }

template <typename T> static typename native<T>::nv *room_of(size_t n) { return (typename native<T>::nv *)device(std::vector<T>(n)); }
template <typename R> static std::vector<double> numbers(const R *p, int n)
{
  const std::vector<R> v = host(p, n);
  return std::vector<double>(v.begin(), v.end());
}

// Columns of `t` from `first` on.
static table columns(const table &t, int first, int n)
{
  table c(t.m, n);
  std::copy(t.v.begin() + (size_t)first * t.m, t.v.begin() + (size_t)(first + n) * t.m, c.v.begin());
  return c;
}

// Eigenvalues ------------------------------------------------------------------------------------------------------------

enum kind { RANDOM, LIKE_UNIT, OF_RANK_ONE, TWICE, TINY, HUGE_ONES, KINDS };

// A Hermitian matrix.
static table hermitian(int n, kind k, bool complex)
{
  table b(n, n), s(n, n);
  for (number &v : b.v) v = number(next(), complex ? next() : 0);
  const double by = k == TINY ? 0x1p-90 : k == HUGE_ONES ? 0x1p+90 : 1;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      number v = b.at(i, j) + std::conj(b.at(j, i));
      if (k == LIKE_UNIT) v = i == j ? number(1) : v * 1e-3;
      if (k == OF_RANK_ONE) v = b.at(i, 0) * std::conj(b.at(j, 0));
      if (k == TWICE) v = i == j ? number(i / 2) : number(0);
      s.at(i, j) = v * by;
    }
  return s;
}

static void check_eigen(const table &before, const std::vector<double> &w, const table *v, double eps, const char *what)
{
  const int n = before.m;
  bool right = std::is_sorted(w.begin(), w.end());
  double sum = 0, trace = 0, squares = 0;
  for (int i = 0; i < n; i++) sum += w[i], squares += w[i] * w[i], trace += before.at(i, i).real();
  const double norm = before.norm();
  right = right && fabs(sum - trace) <= 8 * n * eps * norm && fabs(sqrt(squares) - norm) <= 8 * n * eps * norm;
  check(right, what);
  if (!v) return;
  check(below(distance(before * *v, *v * diagonal(w, n, n)), n, eps, norm), what);
  check(below(distance(v->op(2) * *v, unit(n)), n, eps, sqrt((double)n)), "eigenvectors are orthonormal");
}

template <typename T> static void eigen(cusolverDnHandle_t h, int n, kind k, bool upper, bool vectors)
{
  typedef type<T> t;
  matrix<T> a(n, n);
  put(a, hermitian(n, k, !std::is_floating_point<T>::value));
  const table before = a.get();
  for (int j = 0; j < n; j++) // the other triangle is not looked at
    for (int i = 0; i < n; i++)
      if (upper ? i > j : i < j) a.v[(size_t)j * a.ld + i] = made<T>();
  const auto job = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  const auto fill = upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  auto *w = device(std::vector<typename t::real>(n));
  int words = 0, *info = device(std::vector<int>{99});
  a.up();
  bool right = !t::eigd_room(h, job, fill, n, a.at, a.ld, w, &words) && words > 0;
  auto *work = room_of<T>(words);
  right = right && t::eigd(h, job, fill, n, a.at, a.ld, w, work, words - 1, info) == CUSOLVER_STATUS_INVALID_VALUE;
  right = right && !t::eigd(h, job, fill, n, a.at, a.ld, w, work, words, info) && info_of(info) == 0;
  check(right, "eigenvalues: statuses");
  a.back();
  const table v = a.get();
  char what[80];
  snprintf(what, sizeof what, "eigenvalues of %d x %d, kind %d, %d bytes", n, n, k, (int)sizeof(T));
  check_eigen(before, numbers(w, n), vectors ? &v : nullptr, t::eps, what);
}

// Five matrices by both interfaces of batches.
template <typename T> static void eigen_batch(cusolverDnHandle_t h, int n)
{
  typedef type<T> t;
  for (int wide = 0; wide < 2; wide++) {
    matrix<T> all(n, 5 * n, 0);
    std::vector<table> before;
    for (int b = 0; b < 5; b++) {
      const table s = hermitian(n, b == 3 ? TWICE : RANDOM, !std::is_floating_point<T>::value);
      for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) all.v[(size_t)(b * n + j) * n + i] = part<T>(s.at(i, j));
    }
    for (int b = 0; b < 5; b++) before.push_back(columns(all.get(), b * n, n));
    auto *w = device(std::vector<typename t::real>(5 * n));
    int words = 0, *info = device(std::vector<int>(5, 99));
    all.up();
    const auto job = CUSOLVER_EIG_MODE_VECTOR;
    const auto fill = CUBLAS_FILL_MODE_LOWER;
    bool right;
    if (wide) {
      size_t on_device, on_host;
      cusolverDnParams_t params;
      cusolverDnCreateParams(&params);
      right = !cusolverDnXsyevBatched_bufferSize(h, params, job, fill, n, t::a_type, all.at, n, t::w_type, w, t::a_type, &on_device, &on_host, 5);
      right = right && !cusolverDnXsyevBatched(h, params, job, fill, n, t::a_type, all.at, n, t::w_type, w, t::a_type, device(std::vector<char>(on_device)),
                                               on_device, nullptr, on_host, info, 5);
      cusolverDnDestroyParams(params);
    } else {
      syevjInfo_t params;
      right = !cusolverDnCreateSyevjInfo(&params) && !cusolverDnXsyevjSetTolerance(params, 1e-7) && !cusolverDnXsyevjSetMaxSweeps(params, 15);
      right = right && !t::eigj_batched_room(h, job, fill, n, all.at, n, w, &words, params, 5);
      right = right && !t::eigj_batched(h, job, fill, n, all.at, n, w, room_of<T>(words), words, info, params, 5);
      cusolverDnDestroySyevjInfo(params);
    }
    check(right && host(info, 5) == std::vector<int>(5, 0), "eigenvalues of a batch: statuses");
    all.back();
    const std::vector<double> values = numbers(w, 5 * n);
    for (int b = 0; b < 5; b++) {
      const table v = columns(all.get(), b * n, n);
      check_eigen(before[b], std::vector<double>(values.begin() + b * n, values.begin() + (b + 1) * n), &v, t::eps, "eigenvalues of a batch");
    }
  }
}

// General matrices -------------------------------------------------------------------------------------------------------

enum shape { ANY, ROUND, JORDAN, TRIANGLE, ZEROS, BLOCKS, SHAPES };

static number general(int i, int j, int n, shape s, bool complex)
{
  const number v(next(), complex ? next() : 0);
  switch (s) {
  case ROUND: return (i + 1) % n == j; // a permutation: roots of unity, where steps without a good shift do nothing
  case JORDAN: return i == j ? 2 : i + 1 == j ? 1 : 0;
  case TRIANGLE: return i <= j ? v : 0;
  case ZEROS: return 0;
  case BLOCKS: return i / 2 == j / 2 ? (i == j ? 1 : i < j ? 2 : -3) : 0; // the same pair again and again
  default: return v;
  }
}

template <typename T> static void values(cusolverDnHandle_t h, int n, shape s, double by)
{
  typedef type<T> t;
  constexpr bool complex = !std::is_floating_point<T>::value;
  typedef std::complex<typename t::real> C;
  matrix<T> a(n, n), v(n, n, 2);
  table filled(n, n);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) filled.at(i, j) = general(i, j, n, s, complex) * by;
  put(a, filled);
  const table before = a.get();
  const cudaDataType wt = sizeof(typename t::real) == 4 ? CUDA_C_32F : CUDA_C_64F;
  C *w = device(std::vector<C>(n));
  int *info = device(std::vector<int>{99});
  size_t on_device, on_host;
  char what[80];
  snprintf(what, sizeof what, "values of a general matrix, %d x %d, shape %d, %d bytes", n, n, s, (int)sizeof(T));
  std::vector<C> alone;
  for (int vectors = 0; vectors < 2; vectors++) {
    const auto no = CUSOLVER_EIG_MODE_NOVECTOR, job = vectors ? CUSOLVER_EIG_MODE_VECTOR : no;
    a.up(), v.up();
    bool right = !cusolverDnXgeev_bufferSize(h, nullptr, no, job, n, t::a_type, a.at, a.ld, wt, w, t::a_type, nullptr, 1, t::a_type, v.at, v.ld,
                                             t::a_type, &on_device, &on_host);
    right = right && !cusolverDnXgeev(h, nullptr, no, job, n, t::a_type, a.at, a.ld, wt, w, t::a_type, nullptr, 1, t::a_type, v.at, v.ld, t::a_type,
                                      device(std::vector<char>(on_device)), on_device, nullptr, on_host, info);
    check(right && info_of(info) == 0, what);
    const std::vector<C> values = host(w, n);
    if (!vectors) {
      alone = values;
      continue;
    }
    check(alone == values, "values with and without vectors");
    v.back();
    table found = v.get(), scaled(n, n);
    for (int j = 0; j < n && !complex; j++) { // pairs have their parts in two columns
      if (values[j].imag() == 0) continue;
      right = right && values[j].imag() > 0 && j + 1 < n && values[j + 1] == std::conj(values[j]);
      for (int i = 0; right && i < n; i++) {
        const number u(found.at(i, j).real(), found.at(i, j + 1).real());
        found.at(i, j) = u, found.at(i, j + 1) = std::conj(u);
      }
      j++;
    }
    number sum = 0, trace = 0;
    for (int j = 0; j < n; j++) {
      double length = 0;
      sum += number(values[j]), trace += before.at(j, j);
      for (int i = 0; i < n; i++) length += std::norm(found.at(i, j)), scaled.at(i, j) = found.at(i, j) * number(values[j]);
      right = right && below(fabs(sqrt(length) - 1), n, t::eps, 1);
    }
    check(right && below(std::abs(sum - trace), n, t::eps, before.norm()), what);
    check(below(distance(before * found, scaled), n, t::eps, before.norm() * sqrt((double)n)), what);
  }
}

// Singular values --------------------------------------------------------------------------------------------------------

// `rank` of the columns are independent, sizes from 1 to 1e-3.
static table of_rank(int m, int n, int rank, double by, bool complex)
{
  table u(m, rank), v(rank, n);
  for (number &x : u.v) x = number(next(), complex ? next() : 0);
  for (number &x : v.v) x = number(next(), complex ? next() : 0);
  for (int i = 0; i < rank; i++)
    for (int j = 0; j < n; j++) v.at(i, j) *= by * pow(1e-3, (double)i / std::max(1, rank - 1));
  return u * v;
}

// a = u s v^H with u, v of k columns or more, all of them orthonormal.
static void check_singular(const table &a, const std::vector<double> &s, const table *u, const table *v, double eps, const char *what)
{
  const int k = std::min(a.m, a.n), n = std::max(a.m, a.n);
  bool right = std::is_sorted(s.rbegin(), s.rend()) && (s.empty() || s.back() >= 0);
  double squares = 0;
  for (double x : s) squares += x * x;
  right = right && fabs(sqrt(squares) - a.norm()) <= 8 * n * eps * a.norm();
  check(right, what);
  if (!u) return;
  check(below(distance(columns(*u, 0, k) * diagonal(s, k, k) * columns(*v, 0, k).op(2), a), n, eps, a.norm()), what);
  for (const table *q : {u, v}) check(below(distance(q->op(2) * *q, unit(q->n)), n, eps, sqrt((double)q->n)), q == u ? "U^H U" : "V^H V");
}

template <typename T> static void singular(cusolverDnHandle_t h, int m, int n, int rank, double by)
{
  typedef type<T> t;
  const int k = std::min(m, n);
  int words = 0, *info = device(std::vector<int>{99});
  auto *s = device(std::vector<typename t::real>(k));
  gesvdjInfo_t params;
  cusolverDnCreateGesvdjInfo(&params);
  char what[80];
  snprintf(what, sizeof what, "singular values of %d x %d, rank %d, %d bytes", m, n, rank, (int)sizeof(T));
  for (int econ = 0; econ < 2; econ++) {
    matrix<T> a(m, n), u(m, econ ? k : m, 2), v(n, econ ? k : n, 1);
    put(a, of_rank(m, n, rank, by, !std::is_floating_point<T>::value));
    const table before = a.get();
    a.up(), u.up(), v.up();
    for (int vectors = 1; vectors >= 0; vectors--) {
      const auto job = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
      bool right = !t::gesvdj_room(h, job, econ, m, n, a.at, a.ld, s, u.at, u.ld, v.at, v.ld, &words, params) && words > 0;
      right = right && !t::gesvdj(h, job, econ, m, n, a.at, a.ld, s, u.at, u.ld, v.at, v.ld, room_of<T>(words), words, info, params);
      check(right && info_of(info) == 0, "gesvdj: statuses");
      u.back(), v.back();
      const table ut = u.get(), vt = v.get();
      check_singular(before, numbers(s, k), vectors ? &ut : nullptr, &vt, t::eps, what);
    }
  }
  cusolverDnDestroyGesvdjInfo(params);
  if (m < n) return;
  for (const char *jobs : {"AA", "SS", "NN", "OS", "SO", "AA64", "SS64", "NN64", "OS64"}) { // 64: the 64-bit interface
    matrix<T> a(m, n), u(m, m), vt(n, n);
    put(a, of_rank(m, n, rank, by, !std::is_floating_point<T>::value));
    const table before = a.get();
    a.up(), u.up(), vt.up();
    bool right;
    if (jobs[2]) {
      size_t bytes = 0, host_bytes = 1;
      right = !cusolverDnXgesvd_bufferSize(h, nullptr, jobs[0], jobs[1], m, n, t::a_type, a.at, a.ld, t::w_type, s, t::a_type, u.at, u.ld,
                                           t::a_type, vt.at, vt.ld, t::a_type, &bytes, &host_bytes) && host_bytes == 0;
      right = right && !cusolverDnXgesvd(h, nullptr, jobs[0], jobs[1], m, n, t::a_type, a.at, a.ld, t::w_type, s, t::a_type, u.at, u.ld, t::a_type,
                                         vt.at, vt.ld, t::a_type, room_of<T>(bytes / sizeof(T) + 1), bytes, nullptr, 0, info);
    } else {
      right = !t::gesvd_room(h, m, n, &words) && words > 0;
      right = right && !t::gesvd(h, jobs[0], jobs[1], m, n, a.at, a.ld, s, u.at, u.ld, vt.at, vt.ld, room_of<T>(words), words,
                                 (typename t::real *)nullptr, info);
    }
    check(right && info_of(info) == 0, "gesvd: statuses");
    a.back(), u.back(), vt.back();
    table left = jobs[0] == 'O' ? a.get() : columns(u.get(), 0, jobs[0] == 'A' ? m : n), turned = vt.get();
    if (jobs[1] == 'O')
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) turned.at(i, j) = a.get().at(i, j);
    const table right_side = turned.op(2);
    check_singular(before, numbers(s, n), jobs[0] == 'N' ? nullptr : &left, &right_side, t::eps, what);
  }
}

template <typename T> static void singular_batches(cusolverDnHandle_t h, int m, int n)
{
  typedef type<T> t;
  const int k = std::min(m, n), count = 4;
  const auto job = CUSOLVER_EIG_MODE_VECTOR;
  int words = 0, *info = device(std::vector<int>(count, 99));
  auto *s = device(std::vector<typename t::real>(count * k));
  for (int strided = 0; strided < 2; strided++) {
    if (strided && m < n) continue;
    const int nu = strided ? k : m, nv = strided ? k : n;
    matrix<T> a(m, n * count, 2), u(m, nu * count, 1), v(n, nv * count, 3);
    const table all = a.get();
    a.up(), u.up(), v.up();
    std::vector<double> left(count, -1);
    bool right;
    if (strided) {
      right = !t::gesvda_room(h, job, k, m, n, a.at, a.ld, (long long)a.ld * n, s, (long long)k, u.at, u.ld, (long long)u.ld * nu, v.at, v.ld,
                              (long long)v.ld * nv, &words, count);
      right = right && !t::gesvda(h, job, k, m, n, a.at, a.ld, (long long)a.ld * n, s, (long long)k, u.at, u.ld, (long long)u.ld * nu, v.at, v.ld,
                                  (long long)v.ld * nv, room_of<T>(words), words, info, left.data(), count);
    } else {
      gesvdjInfo_t params;
      cusolverDnCreateGesvdjInfo(&params);
      right = !t::gesvdj_batched_room(h, job, m, n, a.at, a.ld, s, u.at, u.ld, v.at, v.ld, &words, params, count);
      right = right && !t::gesvdj_batched(h, job, m, n, a.at, a.ld, s, u.at, u.ld, v.at, v.ld, room_of<T>(words), words, info, params, count);
      cusolverDnDestroyGesvdjInfo(params);
    }
    check(right && host(info, count) == std::vector<int>(count, 0), "singular values of a batch: statuses");
    u.back(), v.back();
    const std::vector<double> values = numbers(s, count * k);
    for (int b = 0; b < count; b++) {
      const table ub = columns(u.get(), b * nu, nu), vb = columns(v.get(), b * nv, nv), ab = columns(all, b * n, n);
      const std::vector<double> sb(values.begin() + b * k, values.begin() + (b + 1) * k);
      check_singular(ab, sb, &ub, &vb, t::eps, "singular values of a batch");
      if (strided) check(left[b] >= 0 && below(left[b], m, t::eps, ab.norm()), "what gesvda says is left");
    }
  }
  if (m < n) return;
  // Of rank 2 alone what it says is left is what the host finds.
  matrix<T> a(m, n, 2), u(m, 2, 1), v(n, 2, 3);
  a.up(), u.up(), v.up();
  double left = -1;
  t::gesvda_room(h, job, 2, m, n, a.at, a.ld, 0ll, s, 0ll, u.at, u.ld, 0ll, v.at, v.ld, 0ll, &words, 1);
  const bool right = !t::gesvda(h, job, 2, m, n, a.at, a.ld, 0ll, s, 0ll, u.at, u.ld, 0ll, v.at, v.ld, 0ll, room_of<T>(words), words, info, &left, 1);
  u.back(), v.back();
  const double want = distance(u.get() * diagonal(numbers(s, 2), 2, 2) * v.get().op(2), a.get());
  check(right && below(left - want, m, t::eps, a.get().norm()) && below(want - left, m, t::eps, a.get().norm()) && left > 0.1, "what is left of two columns");
}

// LDL^T ------------------------------------------------------------------------------------------------------------------

// The product that LAPACK's factors stand for: blocks from the last to the first, each with its exchange; an upper one counts from the end.
static table product(const table &f, const std::vector<int> &pivots, bool upper)
{
  const int n = f.m;
  auto to = [&](int i) { return upper ? n - 1 - i : i; };
  auto at = [&](int i, int j) { return f.at(to(i), to(j)); };
  std::vector<int> sizes;
  for (int k = 0; k < n; k += sizes[k]) {
    sizes.resize(k + 1);
    sizes[k] = pivots[to(k)] < 0 ? 2 : 1;
  }
  table whole(n, n);
  for (int k = n - 1; k >= 0; k--) {
    if (k >= (int)sizes.size() || !sizes[k]) continue;
    const int size = sizes[k];
    table l = unit(n);
    for (int j = k; j < k + size; j++) {
      whole.at(j, j) = at(j, j);
      for (int i = k + size; i < n; i++) l.at(i, j) = at(i, j);
    }
    if (size == 2) whole.at(k, k + 1) = whole.at(k + 1, k) = at(k + 1, k);
    whole = l * whole * l.op(1);
    const int last = k + size - 1, with = to(std::abs(pivots[to(k)]) - 1);
    for (int i = 0; i < n; i++) std::swap(whole.at(i, last), whole.at(i, with));
    for (int i = 0; i < n; i++) std::swap(whole.at(last, i), whole.at(with, i));
  }
  table turned(n, n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) turned.at(to(i), to(j)) = whole.at(i, j);
  return turned;
}

template <typename T> static void ldl(cusolverDnHandle_t h, int n, bool upper)
{
  typedef type<T> t;
  const auto fill = upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  matrix<T> a(n, n), b(n, 3);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < j; i++) a.v[(size_t)i * a.ld + j] = a.v[(size_t)j * a.ld + i];
  if (n > 2)
    for (int i = 0; i < n; i++) a.v[(size_t)i * a.ld + i] = T(0); // zeros on the diagonal ask for blocks of two
  const table before = a.get(), rhs = b.get();
  int words = 0, *info = device(std::vector<int>{99}), *pivots = device(std::vector<int>(n));
  a.up(), b.up();
  bool right = !t::sytrf_room(h, n, a.at, a.ld, &words) && words > 0;
  right = right && !t::sytrf(h, fill, n, a.at, a.ld, pivots, room_of<T>(words), words, info) && info_of(info) == 0;
  a.back();
  const std::vector<int> p = host(pivots, n);
  const table f = a.get();
  for (int v : p) right = right && v && std::abs(v) <= n;
  check(right && (n < 3 || *std::min_element(p.begin(), p.end()) < 0), "LDL: statuses, and blocks of two");
  if (!right) return;
  check(below(distance(product(f, p, upper), before), n, t::eps, 4 * before.norm()), upper ? "LDL, upper" : "LDL, lower");
  size_t on_device, on_host;
  int64_t *wide = device(std::vector<int64_t>(p.begin(), p.end()));
  right = !cusolverDnXsytrs_bufferSize(h, fill, n, 3, t::a_type, a.at, a.ld, wide, t::a_type, b.at, b.ld, &on_device, &on_host);
  right = right && !cusolverDnXsytrs(h, fill, n, 3, t::a_type, a.at, a.ld, wide, t::a_type, b.at, b.ld, nullptr, on_device, nullptr, on_host, info) &&
          info_of(info) == 0;
  b.back();
  check(right && below(distance(before * b.get(), rhs), n, t::eps, 8 * before.norm() * b.get().norm()), "solutions by LDL");
}

// Batches of cuBLAS ------------------------------------------------------------------------------------------------------

template <typename T> struct batch {
  std::vector<matrix<T>> all;
  std::vector<table> before;
  typename native<T>::nv **at;
  batch(int count, int m, int n, int gap)
  {
    for (int i = 0; i < count; i++) all.emplace_back(m, n, gap), before.push_back(all[i].get());
  }
  void up()
  {
    std::vector<typename native<T>::nv *> places;
    for (matrix<T> &m : all) m.up(), places.push_back(m.at);
    at = device(places);
  }
  table get(int i)
  {
    all[i].back();
    return all[i].get();
  }
};

template <typename T> static void lu_batch(cublasHandle_t h, int n)
{
  typedef type<T> t;
  const int count = 5;
  for (int with = 0; with < 2; with++) { // without exchanges of rows, too
    batch<T> a(count, n, n, 2), b(count, n, 3, 1), c(count, n, n, 0);
    for (int i = 0; i < count && !with; i++) {
      for (int j = 0; j < n; j++) a.all[i].v[(size_t)j * a.all[i].ld + j] += T(2 * n);
      a.before[i] = a.all[i].get();
    }
    a.up(), b.up(), c.up();
    int *pivots = with ? device(std::vector<int>(count * n)) : nullptr, *infos = device(std::vector<int>(count, 99)), info = 99;
    const int ld = a.all[0].ld;
    bool right = !t::getrf(h, n, a.at, ld, pivots, infos, count) && host(infos, count) == std::vector<int>(count, 0);
    for (int op = 0; op < 3; op++) {
      for (int i = 0; i < count; i++) b.all[i] = matrix<T>(n, 3, 1), b.before[i] = b.all[i].get();
      b.up();
      right = right && !t::getrs(h, (cublasOperation_t)op, n, 3, (const typename t::nv *const *)a.at, ld, pivots, b.at, n + 1, &info, count) && !info;
      for (int i = 0; i < count; i++) {
        const table x = b.get(i);
        check(right && below(distance(a.before[i].op(op) * x, b.before[i]), n, t::eps, 4 * n * a.before[i].norm() * x.norm()), "solutions by LU, a batch");
      }
    }
    right = right && !t::getri(h, n, (const typename t::nv *const *)a.at, ld, pivots, c.at, n, infos, count) && host(infos, count) == std::vector<int>(count, 0);
    for (int i = 0; i < count; i++) {
      const table x = c.get(i);
      check(right && below(distance(a.before[i] * x, unit(n)), n, t::eps, 4 * n * a.before[i].norm() * x.norm()), "inverses, a batch");
    }
  }
}

// Without factors that the caller sees; `room`: of a workspace that holds as few as it takes.
template <typename T> static void inverses(cublasHandle_t h, int n, size_t room)
{
  typedef type<T> t;
  const int count = 5;
  batch<T> a(count, n, n, 2), c(count, n, n, 1);
  a.up(), c.up();
  void *work;
  cudaMalloc(&work, room + 1);
  cublasSetWorkspace(h, room ? work : nullptr, room);
  int *infos = device(std::vector<int>(count, 99));
  const bool right = !t::matinv(h, n, (const typename t::nv *const *)a.at, n + 2, c.at, n + 1, infos, count) && host(infos, count) == std::vector<int>(count, 0);
  for (int i = 0; i < count; i++) {
    const table x = c.get(i);
    check(right && distance(a.get(i), a.before[i]) == 0, "inverses leave the matrices");
    check(right && below(distance(a.before[i] * x, unit(n)), n, t::eps, 4 * n * a.before[i].norm() * x.norm()), "inverses at once");
  }
  cublasSetWorkspace(h, nullptr, 0);
  cudaFree(work);
}

template <typename T> static void qr_batch(cublasHandle_t h, int m, int n)
{
  typedef type<T> t;
  const int count = 3, k = std::min(m, n);
  batch<T> a(count, m, n, 1), tau(count, k, 1, 0);
  a.up(), tau.up();
  int info = 99;
  const bool right = !t::geqrf(h, m, n, a.at, m + 1, tau.at, &info, count) && !info;
  for (int i = 0; i < count; i++) {
    const table f = a.get(i), s = tau.get(i);
    table r(m, n);
    for (int j = 0; j < n; j++)
      for (int x = 0; x <= std::min(j, m - 1); x++) r.at(x, j) = f.at(x, j);
    for (int c = k - 1; c >= 0; c--) { // H = 1 - tau v v^H
      table v(m, 1);
      for (int x = c; x < m; x++) v.at(x, 0) = x == c ? number(1) : f.at(x, c);
      table reflector = v * v.op(2);
      for (number &x : reflector.v) x *= -s.at(c, 0);
      for (int x = 0; x < m; x++) reflector.at(x, x) += 1;
      r = reflector * r;
    }
    check(right && below(distance(r, a.before[i]), m, t::eps, a.before[i].norm()), "QR, a batch");
  }
}

// The residual of least squares is orthogonal to the matrix.
template <typename T> static void squares(cublasHandle_t h, int m, int n)
{
  typedef type<T> t;
  const int count = 3;
  batch<T> a(count, m, n, 1), c(count, m, 2, 2);
  if (n > 1)
    for (int i = 0; i < m; i++) a.all[1].v[i] = T(0); // of lower rank
  a.before[1] = a.all[1].get();
  a.up(), c.up();
  int info = 99, *singular = device(std::vector<int>(count, 99));
  const bool right = !t::gels(h, CUBLAS_OP_N, m, n, 2, a.at, m + 1, c.at, m + 2, &info, singular, count) && !info;
  const std::vector<int> said = host(singular, count);
  check(right && said == std::vector<int>{0, n > 1, 0}, "least squares: statuses");
  for (int i = 0; i < count; i++) {
    if (said[i]) continue;
    const table found = c.get(i);
    table x(n, 2);
    for (int j = 0; j < 2; j++)
      for (int r = 0; r < n; r++) x.at(r, j) = found.at(r, j);
    table rest = a.before[i] * x;
    for (size_t k = 0; k < rest.v.size(); k++) rest.v[k] -= c.before[i].v[k];
    const double norm = a.before[i].norm();
    check(below((a.before[i].op(2) * rest).norm(), m, t::eps, norm * (norm * x.norm() + c.before[i].norm())), "least squares");
  }
}

#define GENERALISED(T, l)                              \
  template <> struct generalised<T> {                  \
    WRAP(both, cusolverDn##l##d)                       \
    WRAP(both_room, cusolverDn##l##d_bufferSize)       \
    WRAP(by_jacobi, cusolverDn##l##j)                  \
  };
template <typename T> struct generalised;
GENERALISED(float, Ssygv)
GENERALISED(double, Dsygv)
GENERALISED(c32, Chegv)
GENERALISED(c64, Zhegv)

// A x = w B x (1), A B x = w x (2), B A x = w x (3). B's eigenvalues are n to some 3 n, which is what roundings may grow by.
template <typename T> static void pair_of(cusolverDnHandle_t h, int n, int kind, bool upper, bool jacobi)
{
  typedef generalised<T> t;
  matrix<T> a(n, n), b(n, n, 2);
  const table some = matrix<T>(n, n).get();
  table positive = some * some.op(2), symmetric = some;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) symmetric.at(i, j) += std::conj(some.at(j, i)), positive.at(i, j) += i == j ? n : 0;
  put(a, symmetric), put(b, positive);
  const table of_a = a.get(), of_b = b.get();
  for (auto *m : {&a, &b}) // the other triangles are not looked at
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++)
        if (upper ? i > j : i < j) m->v[(size_t)j * m->ld + i] = made<T>();
  const auto job = CUSOLVER_EIG_MODE_VECTOR;
  const auto fill = upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  const auto which = (cusolverEigType_t)kind;
  auto *w = device(std::vector<typename type<T>::real>(n));
  int words = 0, *info = device(std::vector<int>{99});
  a.up(), b.up();
  bool right = !t::both_room(h, which, job, fill, n, a.at, a.ld, b.at, b.ld, w, &words) && words > 0;
  auto *work = room_of<T>(words);
  right = right && t::both(h, which, job, fill, n, a.at, a.ld, b.at, b.ld, w, work, words - 1, info) == CUSOLVER_STATUS_INVALID_VALUE;
  right = right && !(jacobi ? t::by_jacobi(h, which, job, fill, n, a.at, a.ld, b.at, b.ld, w, work, words, info, (syevjInfo_t)nullptr)
                            : t::both(h, which, job, fill, n, a.at, a.ld, b.at, b.ld, w, work, words, info));
  right = right && info_of(info) == 0;
  a.back();
  const table v = a.get(), values = diagonal(numbers(w, n), n, n);
  const std::vector<double> list = numbers(w, n);
  right = right && std::is_sorted(list.begin(), list.end());
  const double eps = 8 * type<T>::eps, size = kind == 1 ? of_a.norm() * v.norm() + of_b.norm() * (v * values).norm() : of_a.norm() * of_b.norm() * v.norm();
  const table left = kind == 1 ? of_a * v : kind == 2 ? of_a * (of_b * v) : of_b * (of_a * v);
  right = right && below(distance(left, kind == 1 ? of_b * (v * values) : v * values), n, eps, size);
  check(right, "values and vectors of a pair");
  // V^H B V is 1, of the third kind V V^H is B.
  const table ones = kind == 3 ? v * v.op(2) : v.op(2) * (of_b * v);
  check(below(distance(ones, kind == 3 ? of_b : unit(n)), n, eps, kind == 3 ? of_b.norm() : of_b.norm() * v.norm() * v.norm()), "a pair's vectors are as long as they should be");
  put(b, positive);
  b.v[(size_t)(n / 2) * b.ld + n / 2] = T(-1), a.up(), b.up(); // a minor that is not positive
  right = !t::both(h, which, job, fill, n, a.at, a.ld, b.at, b.ld, w, work, words, info);
  check(right && info_of(info) == n + n / 2 + 1, "a pair whose B is not positive");
}

template <typename T> static void of_type(cusolverDnHandle_t h, cublasHandle_t blas)
{
  for (int kind : {1, 2, 3})
    for (int n : {1, 5, 41}) pair_of<T>(h, n, kind, n == 5, false), pair_of<T>(h, n, kind, n != 5, kind == 2);
  for (int n : {1, 2, 5, 16, 33}) eigen<T>(h, n, RANDOM, n % 2, true), eigen<T>(h, n, RANDOM, n % 2 == 0, false);
  for (int k = LIKE_UNIT; k < KINDS; k++) eigen<T>(h, 11, (kind)k, k % 2, true);
  eigen_batch<T>(h, 6);
  for (int n : {1, 2, 3, 4, 9, 20, 40}) values<T>(h, n, ANY, 1);
  for (int s = ROUND; s < SHAPES; s++) values<T>(h, 7, (shape)s, 1), values<T>(h, 8, (shape)s, s % 2 ? 0x1p-90 : 0x1p+90);
  singular<T>(h, 1, 1, 1, 1);
  singular<T>(h, 12, 12, 12, 1);
  singular<T>(h, 25, 9, 9, 1);
  singular<T>(h, 9, 20, 9, 1);
  singular<T>(h, 10, 7, 3, 0x1p-80); // less than full rank
  singular<T>(h, 6, 8, 0, 1);        // zeros
  singular_batches<T>(h, 9, 5);
  singular_batches<T>(h, 4, 7);
  for (int n : {1, 2, 3, 10, 37}) ldl<T>(h, n, false), ldl<T>(h, n, true);
  for (int n : {1, 4, 19}) lu_batch<T>(blas, n);
  inverses<T>(blas, 1, 0);
  inverses<T>(blas, 32, 0);
  inverses<T>(blas, 4, 512 + 2 * (16 * sizeof(T) + 4 * sizeof(int) + sizeof(void *)));
  qr_batch<T>(blas, 9, 5);
  qr_batch<T>(blas, 4, 6);
  squares<T>(blas, 11, 4);
  squares<T>(blas, 1, 1);
}

static void others(cusolverDnHandle_t h, cublasHandle_t blas)
{
  int words, info = 99, *infos = device(std::vector<int>(2, 99)), *pivots = device(std::vector<int>(4));
  double *a = device(std::vector<double>{1, 2, 2, 4, 0, 0, 0, 0}), *work = device(std::vector<double>(99));
  double **at = device(std::vector<double *>{a, a + 4});
  check(!cublasDgetrfBatched(blas, 2, at, 2, pivots, infos, 2) && host(infos, 2) == std::vector<int>{2, 1}, "LU of singular matrices");
  double *inverse = device(std::vector<double>(8, 5)), **inverses = device(std::vector<double *>{inverse, inverse + 4});
  check(!cublasDgetriBatched(blas, 2, (const double *const *)at, 2, pivots, inverses, 2, infos, 2) && host(infos, 2) == std::vector<int>{2, 1}, "inverses of singular matrices");
  bool finite = false; // the factors of both divide by a pivot of 0
  for (double v : host(inverse, 8)) finite = finite || std::isfinite(v);
  check(!finite, "what the inverses of singular matrices are");
  double *more = device(std::vector<double>{0, 1, 1, 0, 1, 1, 1, 1}), **more_at = device(std::vector<double *>{more, more + 4});
  check(!cublasDmatinvBatched(blas, 2, more_at, 2, inverses, 2, infos, 2) && host(infos, 2) == std::vector<int>{0, 2} &&
          host(more, 8) == std::vector<double>{0, 1, 1, 0, 1, 1, 1, 1} && host(inverse, 4) == std::vector<double>{0, 1, 1, 0}, "inverses, one of a singular matrix");
  check(cublasDmatinvBatched(blas, 33, more_at, 33, inverses, 33, infos, 2) == CUBLAS_STATUS_INVALID_VALUE, "inverses of 33 rows at once");
  check(cublasDgetrsBatched(blas, CUBLAS_OP_N, 2, 1, (const double *const *)at, 1, pivots, at, 2, &info, 2) == CUBLAS_STATUS_INVALID_VALUE && info == -5, "a short leading dimension");
  check(cublasDgelsBatched(blas, CUBLAS_OP_N, 2, 3, 1, at, 2, at, 2, &info, nullptr, 1) == CUBLAS_STATUS_NOT_SUPPORTED, "fewer rows than columns");
  check(cusolverDnDgesvd_bufferSize(h, 2, 3, &words) == CUSOLVER_STATUS_INVALID_VALUE, "gesvd of a flat matrix");
  for (int n : {1 << 25, 2147483647}) // the squares of the second one are 2^63 but for little
    check(cusolverDnDsygvd_bufferSize(h, CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, a, n, a, n, work, &words) == CUSOLVER_STATUS_NOT_SUPPORTED, "sygvd, too many rows");
  check(cusolverDnDsytrf(h, CUBLAS_FILL_MODE_LOWER, 2, a + 4, 2, pivots, work, 1, infos) == 0 && info_of(infos) == 1, "LDL of zeros");
}

int main()
{
  cusolverDnHandle_t h;
  cublasHandle_t blas;
  if (cusolverDnCreate(&h) || cublasCreate(&blas)) return 1;
  of_type<float>(h, blas);
  of_type<double>(h, blas);
  of_type<c32>(h, blas);
  of_type<c64>(h, blas);
  others(h, blas);
  cublasDestroy(blas);
  cusolverDnDestroy(h);
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
