// Level 2 of libcublas where a part of the matrix is stored: each function in four types, statuses for what cannot be; and batches of
// matrix times vector in half precision.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "level2.cuh"

// The functions of a type, with 32 or 64 bits, as it falls.
#define BOTH(l, name) \
  template <typename... A> static cublasStatus_t name(A... a) { return draw(2) ? cublas##l##name##_64(a...) : cublas##l##name(a...); }
#define ONE(l, name) \
  template <typename... A> static cublasStatus_t name(A... a) { return cublas##l##name(a...); }
#define EVERY(l) \
  static const bool complex_symmetric = true; \
  BOTH(l, trmv) BOTH(l, tbmv) BOTH(l, tpmv) BOTH(l, trsv) BOTH(l, tbsv) BOTH(l, tpsv) BOTH(l, symv) BOTH(l, gbmv) \
  BOTH(l, syr) BOTH(l, syr2) ONE(l, trttp) ONE(l, tpttr)
#define REAL(l, V)   \
  typedef V at;      \
  typedef V real_at; \
  EVERY(l) BOTH(l, sbmv) BOTH(l, spmv) BOTH(l, spr) BOTH(l, spr2)
#define COMPLEX(l, V, R) \
  typedef V at;          \
  typedef R real_at;     \
  EVERY(l) BOTH(l, hemv) BOTH(l, hbmv) BOTH(l, hpmv) BOTH(l, her) BOTH(l, her2) BOTH(l, hpr) BOTH(l, hpr2)
template <> struct blas<float> { REAL(S, float) };
template <> struct blas<double> { REAL(D, double) };
template <> struct blas<std::complex<float>> { COMPLEX(C, cuComplex, float) };
template <> struct blas<std::complex<double>> { COMPLEX(Z, cuDoubleComplex, double) };

// Full to packed and back, into a matrix of which the other half stays.
template <typename T> static void one_copy(cublasHandle_t h, int n, cublasFillMode_t fill)
{
  const bool upper = fill == CUBLAS_FILL_MODE_UPPER;
  part<T> full = triangle<T>({FULL, 0}, n, upper), packed = triangle<T>({PACKED, 0}, n, upper), back = triangle<T>({FULL, 0}, n, upper);
  full.put(), packed.put(), back.put();
  bool right = !blas<T>::trttp(h, fill, n, full.at(), full.ld, packed.at());
  right = right && updated(packed, false, [&](int r, int c, double &size) { return size = 0, full(r, c); });
  tell(right, "trttp", n, fill, 0, 0, {FULL, 0});
  right = !blas<T>::tpttr(h, fill, n, packed.at(), back.at(), back.ld);
  right = right && updated(back, false, [&](int r, int c, double &size) { return size = 0, full(r, c); });
  tell(right, "tpttr", n, fill, 0, 0, {PACKED, 0});
}

template <typename T> static void with_copies(cublasHandle_t h)
{
  all_of<T>(h);
  for (int n : sizes)
    for (cublasFillMode_t fill : halves) one_copy<T>(h, n, fill);
}

// Numbers of quarters: exact in both halves, and so are sums before they are rounded to the type of y.
template <typename T> static std::vector<T> quarters(size_t n)
{
  std::vector<T> v(n);
  for (T &x : v) x = T((float)number());
  return v;
}
template <typename T> static T *pointers_of(T *p, long long stride) // three, on the device
{
  return (T *)device(std::vector<T *>{p, p + stride, p + 2 * stride});
}

// Three products y = alpha op(A) x + beta y, one by its strides and one by arrays of pointers.
template <typename T, typename Y, typename Strided, typename Arrays>
static void half_vectors(cublasHandle_t h, int m, int n, int incx, int incy, cublasOperation_t op, Strided strided, Arrays arrays)
{
  const int lda = m + 3, nx = op ? m : n, ny = op ? n : m;
  const long long sa = (long long)lda * n + 1, sx = nx * incx + 2, sy = ny * incy + 3;
  const std::vector<T> a = quarters<T>(3 * sa), x = quarters<T>(3 * sx);
  const std::vector<Y> y = quarters<Y>(3 * sy);
  T *da = device(a), *dx = device(x);
  const float alpha = 0.5f, beta = 2;
  for (int way = 0; way < 2; way++) {
    Y *dy = device(y);
    const cublasStatus_t s = way ? arrays(h, op, m, n, &alpha, (const T *const *)pointers_of(da, sa), lda, (const T *const *)pointers_of(dx, sx),
                                          incx, &beta, (Y *const *)pointers_of(dy, sy), incy, 3)
                                 : strided(h, op, m, n, &alpha, da, lda, sa, dx, incx, sx, &beta, dy, incy, sy, 3);
    const std::vector<Y> got = host(dy, y.size());
    std::vector<float> want(y.size());
    for (size_t i = 0; i < y.size(); i++) want[i] = (float)y[i];
    for (int z = 0; z < 3; z++)
      for (int i = 0; i < ny; i++) {
        double sum = 0;
        for (int j = 0; j < nx; j++) sum += (double)(float)a[z * sa + (op ? (long long)i * lda + j : (long long)j * lda + i)] * (double)(float)x[z * sx + j * incx];
        float &w = want[z * sy + i * incy];
        w = (float)Y((float)(alpha * sum + beta * w));
      }
    bool right = !s;
    for (size_t i = 0; i < y.size(); i++) right = right && (float)got[i] == want[i];
    tell(right, way ? "gemvBatched in half precision" : "gemvStridedBatched in half precision", m * 1000 + n, 0, op, 0, {incx, incy});
  }
}
static void halves_times_vectors(cublasHandle_t h)
{
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST);
  for (int m : {1, 33, 130})
    for (int n : {1, 40})
      for (int inc : {1, 2})
        for (cublasOperation_t op : operations) {
          half_vectors<__half, __half>(h, m, n, inc, 3 - inc, op, cublasHSHgemvStridedBatched, cublasHSHgemvBatched);
          half_vectors<__half, float>(h, m, n, inc, 3 - inc, op, cublasHSSgemvStridedBatched, cublasHSSgemvBatched);
          half_vectors<__nv_bfloat16, __nv_bfloat16>(h, m, n, inc, 3 - inc, op, cublasTSTgemvStridedBatched_64, cublasTSTgemvBatched_64);
          half_vectors<__nv_bfloat16, float>(h, m, n, inc, 3 - inc, op, cublasTSSgemvStridedBatched_64, cublasTSSgemvBatched_64);
        }
}

static void statuses(cublasHandle_t h)
{
  const cublasStatus_t bad = CUBLAS_STATUS_INVALID_VALUE;
  const cublasFillMode_t low = CUBLAS_FILL_MODE_LOWER, neither = (cublasFillMode_t)5;
  const cublasOperation_t op = CUBLAS_OP_N;
  const cublasDiagType_t diag = CUBLAS_DIAG_UNIT;
  float *p = device(std::vector<float>(64, 1)), one = 1;
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST);
  check(cublasStrmv(nullptr, low, op, diag, 4, p, 4, p, 1) == CUBLAS_STATUS_NOT_INITIALIZED, "trmv without a handle");
  check(cublasStrmv(h, neither, op, diag, 4, p, 4, p, 1) == bad, "trmv, a half");
  check(cublasStrmv(h, low, (cublasOperation_t)9, diag, 4, p, 4, p, 1) == bad, "trmv, an operation");
  check(cublasStrmv(h, low, op, (cublasDiagType_t)2, 4, p, 4, p, 1) == bad, "trmv, a diagonal");
  check(cublasStrmv(h, low, op, diag, -1, p, 4, p, 1) == bad, "trmv, a negative size");
  check(cublasStrmv(h, low, op, diag, 4, p, 3, p, 1) == bad, "trmv, a short leading dimension");
  check(cublasStrsv(h, low, op, diag, 4, p, 4, p, 0) == bad, "trsv, an increment of 0");
  check(cublasStrsv(h, low, op, diag, 0, p, 1, p, 1) == CUBLAS_STATUS_SUCCESS, "trsv of nothing");
  check(cublasStbsv(h, low, op, diag, 4, 2, p, 2, p, 1) == bad, "tbsv, a short leading dimension");
  check(cublasStbmv(h, low, op, diag, 4, -1, p, 2, p, 1) == bad, "tbmv, a negative width");
  check(cublasStbmv_64(h, low, op, diag, 4, INT64_MAX, p, INT64_MAX, p, 1) == bad, "tbmv, a huge width");
  check(cublasSgbmv(h, op, 4, 4, 1, 1, &one, p, 2, p, 1, &one, p, 1) == bad, "gbmv, a short leading dimension");
  check(cublasSgbmv_64(h, op, 4, 4, INT64_MAX, INT64_MAX, &one, p, 9, p, 1, &one, p, 1) == bad, "gbmv, huge widths");
  check(cublasSgbmv(h, op, 4, 4, -1, 1, &one, p, 4, p, 1, &one, p, 1) == bad, "gbmv, a negative width");
  check(cublasSgbmv(h, op, 0, 4, 1, 1, &one, p, 4, p, 1, &one, p, 1) == CUBLAS_STATUS_SUCCESS, "gbmv of nothing");
  check(cublasSsymv(h, low, 4, nullptr, p, 4, p, 1, &one, p, 1) == bad, "symv without alpha");
  check(cublasSspmv(h, low, 4, &one, p, p, 1, nullptr, p, 1) == bad, "spmv without beta");
  check(cublasSsymv(h, low, 4, &one, p, 4, p, 1, &one, p, 0) == bad, "symv, an increment of 0");
  check(cublasSsyr(h, low, 4, &one, p, 1, p, 3) == bad, "syr, a short leading dimension");
  check(cublasSspr2(h, neither, 4, &one, p, 1, p, 1, p) == bad, "spr2, a half");
  check(cublasSspr2(h, low, 4, &one, p, 1, p, 0, p) == bad, "spr2, an increment of 0");
  check(cublasHSHgemvStridedBatched(h, op, 4, 4, &one, nullptr, 3, 0, nullptr, 1, 0, &one, nullptr, 1, 0, 1) == bad, "gemv, a short leading dimension");
  check(cublasStrttp(h, low, 4, p, 3, p) == bad, "trttp, a short leading dimension");
  check(cublasStpttr(h, low, -4, p, p, 3) == bad, "tpttr, a negative size");
}

int main()
{
  cublasHandle_t h;
  if (cublasCreate(&h)) return 1;
  with_copies<float>(h);
  with_copies<double>(h);
  with_copies<std::complex<float>>(h);
  with_copies<std::complex<double>>(h);
  halves_times_vectors(h);
  statuses(h);
  cublasDestroy(h);
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
