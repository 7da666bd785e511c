// libcusparse: tridiagonal systems alone with many right sides, at a stride and interleaved. What a solution leaves of its right side is compared on the
// host in binary64: elimination with partial pivoting is backward stable, growth at most 2 (Higham, Accuracy and Stability of Numerical Algorithms, 9.5), so that is within 20 eps of (|A| |x| + |b|).
#include "sparse.cuh"

enum { ALONE, NO_PIVOT, STRIDED, INTERLEAVED };

// `hard`: diagonals of zeros in every third row, which want rows to change places.
template <typename T, typename R, typename Room, typename Solve>
static void one_case(int m, int systems, int sides, int way, bool hard, double eps, Room room, Solve solve)
{
  const int step = way == INTERLEAVED ? systems : 1, apart = way == INTERLEAVED ? 1 : m + 2, ldx = m + 3;
  const size_t size = way == INTERLEAVED ? (size_t)m * systems : (size_t)systems * apart + m;
  std::vector<T> l(size), d(size), u(size), x(way < STRIDED ? (size_t)ldx * sides : size);
  for (T &v : x) v = type<T>::make();
  for (int z = 0; z < systems; z++)
    for (int i = 0; i < m; i++) {
      const size_t at = (size_t)z * apart + (size_t)i * step;
      l[at] = i ? type<T>::make() : T(0), u[at] = i + 1 < m ? type<T>::make() : T(0);
      d[at] = hard ? (i % 3 ? type<T>::make() : T(0)) : type<T>::make() + T(9);
    }
  T *dl = device(l), *dd = device(d), *du = device(u), *dx = device(x);
  size_t bytes = 0;
  bool right = !room(dl, dd, du, dx, ldx, apart, &bytes) && bytes > 0;
  right = right && !solve(dl, dd, du, dx, ldx, apart, device(std::vector<char>(bytes)));
  const std::vector<T> got = host(dx, x.size());
  right = right && host(dl, size) == l && host(dd, size) == d && host(du, size) == u;
  for (int z = 0; z < systems * sides && right; z++)
    for (int i = 0; i < m; i++) {
      const size_t a = (size_t)(z / sides) * apart, b = way < STRIDED ? (size_t)z * ldx : a, at = (size_t)i * step;
      number left = number(x[b + at]);
      double sizes = std::abs(left);
      const auto take = [&](T v, size_t j) {
        left -= number(v) * number(got[b + j]);
        sizes += std::abs(number(v)) * std::abs(number(got[b + j]));
      };
      take(d[a + at], at);
      if (i) take(l[a + at], at - step);
      if (i + 1 < m) take(u[a + at], at + step);
      if (!(std::abs(left) <= 20 * eps * sizes)) {
        // Where pivots are small the rows that changed places share their error.
        double largest = 0;
        for (int j = 0; j < m; j++) largest = std::max(largest, std::abs(number(got[b + (size_t)j * step])));
        if (!hard || !(std::abs(left) <= 20 * eps * largest * 6)) right = false;
      }
    }
  check(right, "a tridiagonal system");
}

#define ALL(T, R, c, eps)                                                                                                              \
  static void all_##c(cusparseHandle_t h)                                                                                              \
  {                                                                                                                                    \
    typedef decltype(native_pointer((T *)nullptr)) P;                                                                                  \
    for (int m : {3, 4, 33, 500})                                                                                                      \
      for (int sides : {1, 5, 200}) {                                                                                                  \
        for (int hard = 0; hard < 2; hard++)                                                                                           \
          one_case<T, R>(m, 1, sides, ALONE, hard, eps,                                                                                \
            [=](T *l, T *d, T *u, T *x, int ld, int, size_t *n) { return cusparse##c##gtsv2_bufferSizeExt(h, m, sides, (P)l, (P)d, (P)u, (P)x, ld, n); }, \
            [=](T *l, T *d, T *u, T *x, int ld, int, void *w) { return cusparse##c##gtsv2(h, m, sides, (P)l, (P)d, (P)u, (P)x, ld, w); }); \
        one_case<T, R>(m, 1, sides, NO_PIVOT, false, eps,                                                                              \
          [=](T *l, T *d, T *u, T *x, int ld, int, size_t *n) { return cusparse##c##gtsv2_nopivot_bufferSizeExt(h, m, sides, (P)l, (P)d, (P)u, (P)x, ld, n); }, \
          [=](T *l, T *d, T *u, T *x, int ld, int, void *w) { return cusparse##c##gtsv2_nopivot(h, m, sides, (P)l, (P)d, (P)u, (P)x, ld, w); }); \
      }                                                                                                                                \
    for (int m : {3, 40})                                                                                                              \
      for (int batch : {1, 7}) {                                                                                                       \
        one_case<T, R>(m, batch, 1, STRIDED, false, eps,                                                                               \
          [=](T *l, T *d, T *u, T *x, int, int by, size_t *n) { return cusparse##c##gtsv2StridedBatch_bufferSizeExt(h, m, (P)l, (P)d, (P)u, (P)x, batch, by, n); }, \
          [=](T *l, T *d, T *u, T *x, int, int by, void *w) { return cusparse##c##gtsv2StridedBatch(h, m, (P)l, (P)d, (P)u, (P)x, batch, by, w); }); \
        one_case<T, R>(m, batch, 1, INTERLEAVED, false, eps,                                                                           \
          [=](T *l, T *d, T *u, T *x, int, int, size_t *n) { return cusparse##c##gtsvInterleavedBatch_bufferSizeExt(h, 0, m, (P)l, (P)d, (P)u, (P)x, batch, n); }, \
          [=](T *l, T *d, T *u, T *x, int, int, void *w) { return cusparse##c##gtsvInterleavedBatch(h, 0, m, (P)l, (P)d, (P)u, (P)x, batch, w); }); \
      }                                                                                                                                \
    size_t n;                                                                                                                          \
    check(cusparse##c##gtsv2_bufferSizeExt(h, 2, 1, (P)0, (P)0, (P)0, (P)0, 2, &n) == CUSPARSE_STATUS_INVALID_VALUE, "fewer than three rows"); \
    check(cusparse##c##gtsv2_bufferSizeExt(h, 8, 1, (P)0, (P)0, (P)0, (P)0, 7, &n) == CUSPARSE_STATUS_INVALID_VALUE, "a short leading dimension"); \
  }
static float *native_pointer(float *);
static double *native_pointer(double *);
static cuComplex *native_pointer(std::complex<float> *);
static cuDoubleComplex *native_pointer(std::complex<double> *);
ALL(float, float, S, 0x1p-24)
ALL(double, double, D, 0x1p-53)
ALL(std::complex<float>, float, C, 0x1p-23)
ALL(std::complex<double>, double, Z, 0x1p-52)

int main()
{
  cusparseHandle_t h;
  if (cusparseCreate(&h)) return 1;
  all_S(h), all_D(h), all_C(h), all_Z(h);
  check(cusparseDestroy(h) == CUSPARSE_STATUS_SUCCESS, "destroy");
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
