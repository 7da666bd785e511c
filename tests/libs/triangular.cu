// Triangular systems of libcublas, trsm and trsmBatched of all types, sides, halves, operations and diagonals: what is left of each
// system, reckoned in binary64. What must not be read is not a number, what lies between columns stays as it was to the bit.
#include "products.cuh"

template <typename T> struct functions;
#define TYPE(L, T, P, R)                                                                                   \
  template <> struct functions<T> {                                                                        \
    static constexpr auto trsm = cublas##L##trsm_v2;                                                       \
    static constexpr auto trsm_64 = cublas##L##trsm_v2_64;                                                 \
    static constexpr auto batched = cublas##L##trsmBatched;                                                \
    typedef P pointed;                                                                                     \
    typedef R real;                                                                                        \
  };
TYPE(S, float, float, float)
TYPE(D, double, double, double)
TYPE(C, std::complex<float>, cuComplex, float)
TYPE(Z, std::complex<double>, cuDoubleComplex, double)

struct shape {
  cublasSideMode_t side;
  cublasFillMode_t fill;
  cublasOperation_t op;
  cublasDiagType_t unit;
  int m, n;
};

// op(A)[i][j] as the function is to read it.
template <typename T> static wide element(const shape &s, const std::vector<T> &a, int lda, int i, int j)
{
  if (s.op != CUBLAS_OP_N) std::swap(i, j);
  const bool upper = s.fill == CUBLAS_FILL_MODE_UPPER;
  wide v = i == j && s.unit == CUBLAS_DIAG_UNIT ? wide(1, 0) : i == j || (i < j) == upper ? wide(a[(size_t)j * lda + i]) : wide(0, 0);
  return s.op == CUBLAS_OP_C ? std::conj(v) : v;
}

// Diagonals that keep unknowns from growing; the other half, and a diagonal of ones, not a number.
template <typename T> static std::vector<T> triangle(const shape &s, int n, int lda)
{
  std::vector<T> a((size_t)lda * n, as<T>::from(wide(NAN, 0)));
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      const bool upper = s.fill == CUBLAS_FILL_MODE_UPPER;
      if (i == j && s.unit == CUBLAS_DIAG_NON_UNIT) a[(size_t)j * lda + i] = as<T>::from(wide(3 + number(), number()));
      if (i != j && (i < j) == upper) a[(size_t)j * lda + i] = as<T>::from(wide(number(), number()) / (double)n);
    }
  return a;
}

template <typename T>
static bool solves(const shape &s, const std::vector<T> &a, int lda, const std::vector<T> &b, const std::vector<T> &x, int ldb, wide alpha)
{
  const bool left = s.side == CUBLAS_SIDE_LEFT;
  const int n = left ? s.m : s.n, others = left ? s.n : s.m;
  const double eps = sizeof(typename functions<T>::real) == 4 ? 1.2e-7 : 2.3e-16;
  std::vector<wide> e((size_t)n * n);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) e[(size_t)j * n + i] = left ? element(s, a, lda, i, j) : element(s, a, lda, j, i);
  for (int c = 0; c < others; c++)
    for (int i = 0; i < n; i++) {
      auto at = [&](int k) { return left ? (size_t)c * ldb + k : (size_t)k * ldb + c; };
      wide sum = -alpha * wide(b[at(i)]);
      double sizes = std::abs(sum);
      for (int k = 0; k < n; k++) {
        const wide v = e[(size_t)k * n + i];
        if (v != wide(0, 0)) sum += v * wide(x[at(k)]), sizes += std::abs(v * wide(x[at(k)]));
      }
      if (!(std::abs(sum) <= (n + 8) * 2 * eps * sizes)) return false;
    }
  for (size_t i = 0; i < b.size(); i++)
    if ((int)(i % ldb) >= s.m && memcmp(&b[i], &x[i], sizeof(T))) return false;
  return true;
}

template <typename T> static std::vector<T> sides(const shape &s, int ldb)
{
  std::vector<T> b((size_t)ldb * s.n);
  for (auto &v : b) v = as<T>::from(wide(number(), number()));
  return b;
}

template <typename T> static void one(cublasHandle_t h, const shape &s, int lda_more, bool on_device, bool wide_sizes)
{
  typedef typename functions<T>::pointed P;
  const int n = s.side == CUBLAS_SIDE_LEFT ? s.m : s.n, lda = n + lda_more, ldb = s.m + lda_more;
  const std::vector<T> a = triangle<T>(s, n, lda), b = sides<T>(s, ldb);
  const T alpha = as<T>::from(wide(0.75, 0.5));
  T *da = device(a), *db = device(b), *dalpha = device(std::vector<T>{alpha});
  cublasSetPointerMode(h, on_device ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST);
  const P *factor = (const P *)(on_device ? dalpha : &alpha);
  const cublasStatus_t status =
      wide_sizes ? functions<T>::trsm_64(h, s.side, s.fill, s.op, s.unit, s.m, s.n, factor, (const P *)da, lda, (P *)db, ldb)
                 : functions<T>::trsm(h, s.side, s.fill, s.op, s.unit, s.m, s.n, factor, (const P *)da, lda, (P *)db, ldb);
  char what[160];
  snprintf(what, sizeof what, "trsm, %zu bytes, side %d, half %d, operation %d, diagonal %d, %d x %d", sizeof(T), s.side, s.fill, s.op, s.unit,
           s.m, s.n);
  check(status == CUBLAS_STATUS_SUCCESS && solves(s, a, lda, b, host(db, b.size()), ldb, wide(alpha)), what);
  // A factor of 0 leaves A unread.
  const T nothing = as<T>::from(wide(0, 0));
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST);
  cudaMemset(da, 0xff, a.size() * sizeof(T));
  functions<T>::trsm(h, s.side, s.fill, s.op, s.unit, s.m, s.n, (const P *)&nothing, (const P *)da, lda, (P *)db, ldb);
  bool zeros = true;
  const std::vector<T> x = host(db, b.size());
  for (int c = 0; c < s.n; c++)
    for (int r = 0; r < s.m; r++) zeros = zeros && x[(size_t)c * ldb + r] == nothing;
  check(zeros, "trsm, a factor of 0");
  cudaFree(da), cudaFree(db), cudaFree(dalpha);
}

template <typename T> static void batch(cublasHandle_t h, const shape &s)
{
  typedef typename functions<T>::pointed P;
  enum { BATCH = 3 };
  const int n = s.side == CUBLAS_SIDE_LEFT ? s.m : s.n;
  std::vector<T> a[BATCH], b[BATCH];
  std::vector<T *> da(BATCH), db(BATCH);
  for (int i = 0; i < BATCH; i++)
    a[i] = triangle<T>(s, n, n), b[i] = sides<T>(s, s.m), da[i] = device(a[i]), db[i] = device(b[i]);
  T **pa = device(da), **pb = device(db);
  const T alpha = as<T>::from(wide(0.75, 0.5));
  const cublasStatus_t status = functions<T>::batched(h, s.side, s.fill, s.op, s.unit, s.m, s.n, (const P *)&alpha, (P *const *)pa, n, (P *const *)pb, s.m, BATCH);
  bool right = status == CUBLAS_STATUS_SUCCESS;
  for (int i = 0; i < BATCH; i++) right = right && solves(s, a[i], n, b[i], host(db[i], b[i].size()), s.m, wide(alpha));
  check(right, "trsmBatched");
}

template <typename T> static void every(cublasHandle_t h)
{
  static const int sizes[][2] = {{1, 1}, {31, 3}, {33, 40}, {64, 5}, {65, 33}, {150, 70}};
  int turn = 0;
  for (auto side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT})
    for (auto fill : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER})
      for (auto op : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C})
        for (auto unit : {CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT})
          for (auto &size : sizes) {
            const bool left = side == CUBLAS_SIDE_LEFT;
            const shape s = {side, fill, op, unit, size[left ? 0 : 1], size[left ? 1 : 0]};
            one<T>(h, s, turn % 3, turn % 5 == 0, turn % 2);
            if (turn++ % 4 == 0) batch<T>(h, s);
          }
}

int main()
{
  cublasHandle_t h;
  if (cublasCreate(&h)) return 1;
  every<float>(h);
  every<double>(h);
  every<std::complex<float>>(h);
  every<std::complex<double>>(h);
  const float f = 1;
  float *p = device(std::vector<float>(16));
  check(cublasStrsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, 4, 2, &f, p, 3, p, 4) == CUBLAS_STATUS_INVALID_VALUE,
        "a leading dimension below the size");
  check(cublasStrsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, 4, 0, &f, p, 4, p, 4) == CUBLAS_STATUS_SUCCESS,
        "no right side");
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
