// Levels 1 and 2 of libcublas and triangular systems against sums on the host; statuses for what cannot be.
#include <cublasLt.h>
#include <cublas_v2.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

#include "checks.cuh"

static bool near(double a, double b) { return fabs(a - b) <= 1e-4 * (fabs(b) + 1); }

static std::vector<float> numbers(size_t n)
{
  std::vector<float> v(n);
  unsigned state = (unsigned)n;
  for (float &x : v) state = state * 1664525u + 1013904223u, x = (float)(int)(state >> 20) / 512 - 4;
  return v;
}

static void level1(cublasHandle_t h)
{
  const int n = 5000;
  const std::vector<float> x = numbers(n), y = numbers(2 * n);
  float *dx = device(x), *dy = device(y), got = 0, alpha = 0.5f, *on_device = device(std::vector<float>{0});
  double dot = 0, back = 0, sum = 0, squares = 0;
  int most = 0, least = 0, at = 0;
  for (int i = 0; i < n; i++) {
    dot += (double)x[i] * y[2 * i], back += (double)x[n - 1 - i] * y[i];
    sum += fabs(x[i]), squares += (double)x[i] * x[i];
    if (fabsf(x[i]) > fabsf(x[most])) most = i;
    if (fabsf(x[i]) < fabsf(x[least])) least = i;
  }
  check(!cublasSdot(h, n, dx, 1, dy, 2, &got) && near(got, dot), "dot");
  check(!cublasSdot(h, n, dx, -1, dy, 1, &got) && near(got, back), "dot, backwards");
  check(!cublasSasum(h, n, dx, 1, &got) && near(got, sum), "asum");
  check(!cublasSnrm2(h, n, dx, 1, &got) && near(got, sqrt(squares)), "nrm2");
  check(!cublasIsamax(h, n, dx, 1, &at) && at == most + 1, "iamax");
  check(!cublasIsamin(h, n, dx, 1, &at) && at == least + 1, "iamin");
  check(!cublasIsamax(h, 0, dx, 1, &at) && at == 0, "iamax of nothing");
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE);
  check(!cublasSdot(h, n, dx, 1, dy, 2, on_device) && near(host(on_device, 1)[0], dot), "dot, to the device");
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST);
  check(!cublasSaxpy(h, n, &alpha, dx, 1, dy, 2), "axpy");
  const std::vector<float> z = host(dy, 2 * n);
  bool right = true;
  for (int i = 0; i < n; i++) right = right && near(z[2 * i], y[2 * i] + alpha * x[i]) && z[2 * i + 1] == y[2 * i + 1];
  check(right, "axpy's values");
  const float nothing = 0;
  check(!cublasSaxpy(h, n, &nothing, nullptr, 1, dy, 2) && host(dy, 2 * n) == z, "axpy of nothing");
  const float twice = 2;
  float *dz = device(z);
  check(!cublasSger(h, 8, 8, &nothing, nullptr, 1, nullptr, 1, dz, 8) && host(dz, 2 * n) == z, "ger of nothing");
  for (cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T})
    check(!cublasSgemv(h, op, 8, 8, &nothing, nullptr, 8, nullptr, 1, op == CUBLAS_OP_N ? &twice : &alpha, dz, 1), "gemv of nothing");
  check(near(host(dz, 2 * n)[7], 2 * alpha * z[7]) && host(dz, 2 * n)[8] == z[8], "gemv of nothing: its values");
  const float c = 0.6f, s = 0.8f;
  check(!cublasSrot(h, n, dx, 1, dy, 1, &c, &s), "rot");
  const std::vector<float> rx = host(dx, n), ry = host(dy, n);
  right = true;
  for (int i = 0; i < n; i++) right = right && near(rx[i], c * x[i] + s * z[i]) && near(ry[i], c * z[i] - s * x[i]);
  check(right, "rot's values");
  check(!cublasSswap(h, n, dx, 1, dy, 1) && host(dx, n) == ry && host(dy, n) == rx, "swap");
  check(!cublasSscal(h, n, &alpha, dx, 1) && near(host(dx, n)[7], alpha * ry[7]), "scal");
  check(!cublasScopy(h, n, dy, 1, dx, 1) && host(dx, n) == rx, "copy");
  std::vector<std::complex<float>> cx(700), cy(700);
  std::complex<double> u = 0, v = 0;
  for (int i = 0; i < 700; i++) {
    cx[i] = {x[i], x[i + 1000]}, cy[i] = {y[i], y[i + 2000]};
    u += std::complex<double>(cx[i]) * std::complex<double>(cy[i]);
    v += std::conj(std::complex<double>(cx[i])) * std::complex<double>(cy[i]);
  }
  std::complex<float> *dcx = device(cx), *dcy = device(cy), r;
  check(!cublasCdotu(h, 700, (cuComplex *)dcx, 1, (cuComplex *)dcy, 1, (cuComplex *)&r) && near(r.real(), u.real()) && near(r.imag(), u.imag()), "dotu");
  const double factor = -0.75, *on_both[] = {&factor, device(std::vector<double>{-0.75})};
  for (int side = 0; side < 2; side++) {
    std::vector<std::complex<double>> z(cx.begin(), cx.end());
    std::complex<double> *dz = device(z);
    cublasSetPointerMode(h, side ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST);
    bool scaled = !cublasZdscal(h, 350, on_both[side], (cuDoubleComplex *)dz, 2);
    const std::vector<std::complex<double>> got_z = host(dz, 700);
    for (int i = 0; i < 700; i++) scaled = scaled && got_z[i] == (i % 2 ? z[i] : -0.75 * z[i]);
    check(scaled, side ? "scal of complex numbers by a real one on the device" : "scal of complex numbers by a real one");
  }
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST);
  check(!cublasCdotc(h, 700, (cuComplex *)dcx, 1, (cuComplex *)dcy, 1, (cuComplex *)&r) && near(r.real(), v.real()) && near(r.imag(), v.imag()), "dotc");
}

static void level2(cublasHandle_t h)
{
  const int m = 75, n = 300, lda = 80;
  const std::vector<float> a = numbers(lda * n), x = numbers(n), y = numbers(2 * n);
  float *da = device(a), *dx = device(x), *dy = device(y), alpha = 2, beta = 3;
  bool right = !cublasSgemv(h, CUBLAS_OP_N, m, n, &alpha, da, lda, dx, 1, &beta, dy, 2);
  std::vector<float> got = host(dy, 2 * n);
  for (int i = 0; i < m; i++) {
    double s = 0;
    for (int j = 0; j < n; j++) s += (double)a[j * lda + i] * x[j];
    right = right && near(got[2 * i], 2 * s + 3.0 * y[2 * i]);
  }
  check(right, "gemv");
  beta = 0;
  right = !cublasSgemv(h, CUBLAS_OP_T, m, n, &alpha, da, lda, dx, 1, &beta, dy, 1);
  got = host(dy, n);
  for (int j = 0; j < n; j++) {
    double s = 0;
    for (int i = 0; i < m; i++) s += (double)a[j * lda + i] * x[i];
    right = right && near(got[j], 2 * s);
  }
  check(right, "gemv, transposed");
  dy = device(y);
  right = !cublasSger(h, m, n, &alpha, dx, 1, dy, 2, da, lda);
  got = host(da, lda * n);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < lda; i++)
      right = right && near(got[j * lda + i], a[j * lda + i] + (i < m ? 2.0 * x[i] * y[2 * j] : 0));
  check(right, "ger");
}

// op(A) X = 2 B for all sides, triangles, operations and diagonals: what X gives again is B.
static void triangles(cublasHandle_t h)
{
  const int m = 37, n = 21, lda = 40, ldb = 41;
  for (int v = 0; v < 16; v++) {
    const bool left = v & 1, upper = v & 2, turned = v & 4, unit = v & 8;
    const int k = left ? m : n;
    std::vector<float> a = numbers(lda * k), b = numbers(ldb * n);
    for (float &f : a) f /= 16;
    for (int i = 0; i < k; i++) a[i * lda + i] = 4 + (float)(i % 3);
    float *da = device(a), *db = device(b), alpha = 2;
    bool right = !cublasStrsm(h, left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT, upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER,
                              turned ? CUBLAS_OP_T : CUBLAS_OP_N, unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT, m, n, &alpha,
                              da, lda, db, ldb);
    const std::vector<float> x = host(db, ldb * n);
    auto element = [&](int i, int j) -> double { // of op(A)
      const int r = turned ? j : i, c = turned ? i : j;
      if (r == c) return unit ? 1 : a[c * lda + r];
      return (r < c) == upper ? a[c * lda + r] : 0;
    };
    double biggest = 1;
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++) biggest = fmax(biggest, fabs(x[j * ldb + i]));
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++) {
        double s = 0;
        for (int t = 0; t < k; t++) s += left ? element(i, t) * x[j * ldb + t] : x[t * ldb + i] * element(t, j);
        right = right && fabs(s - 2.0 * b[j * ldb + i]) < 1e-4 * biggest;
      }
    check(right, left ? "trsm from the left" : "trsm from the right");
  }
}

// Sums of matrices: each operation on both, in place, and a matrix that is not read since its factor is 0.
static void sums(cublasHandle_t h)
{
  using c64 = std::complex<double>;
  const int m = 70, n = 45, ld = 73;
  const std::vector<float> x = numbers(4 * ld * ld);
  std::vector<c64> a(ld * ld), b(ld * ld), c(ld * ld);
  for (size_t i = 0; i < a.size(); i++) a[i] = {x[4 * i], x[4 * i + 1]}, b[i] = {x[4 * i + 2], x[4 * i + 3]};
  c64 *da = device(a), *db = device(b), *dc = device(c), alpha(0.5, -1), beta(2, 0.25), zero = 0;
  const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
  auto of = [&](const std::vector<c64> &v, int op, int r, int col) {
    const c64 e = op ? v[r * ld + col] : v[col * ld + r];
    return op == 2 ? std::conj(e) : e;
  };
  auto equal = [&](c64 *at, auto want) {
    if (cudaMemcpy(c.data(), at, c.size() * sizeof(c64), cudaMemcpyDeviceToHost)) return false;
    for (int i = 0; i < m * n; i++)
      if (std::abs(c[i / m * ld + i % m] - want(i % m, i / m)) > 1e-12) return false;
    return true;
  };
  for (int i = 0; i < 9; i++) {
    const int ta = i / 3, tb = i % 3;
    check(!cublasZgeam(h, ops[ta], ops[tb], m, n, (cuDoubleComplex *)&alpha, (cuDoubleComplex *)da, ld, (cuDoubleComplex *)&beta,
                       (cuDoubleComplex *)db, ld, (cuDoubleComplex *)dc, ld) &&
            equal(dc, [&](int r, int col) { return alpha * of(a, ta, r, col) + beta * of(b, tb, r, col); }), "geam");
  }
  check(!cublasZgeam(h, ops[2], ops[0], m, n, (cuDoubleComplex *)&alpha, (cuDoubleComplex *)da, ld, (cuDoubleComplex *)&zero, nullptr, m,
                     (cuDoubleComplex *)dc, ld) && equal(dc, [&](int r, int col) { return alpha * of(a, 2, r, col); }), "geam of one");
  check(!cublasZgeam(h, ops[0], ops[1], m, n, (cuDoubleComplex *)&alpha, (cuDoubleComplex *)da, ld, (cuDoubleComplex *)&beta,
                     (cuDoubleComplex *)db, ld, (cuDoubleComplex *)da, ld) &&
          equal(da, [&](int r, int col) { return alpha * of(a, 0, r, col) + beta * of(b, 1, r, col); }), "geam in place");
  check(cublasZgeam(h, ops[1], ops[0], m, n, (cuDoubleComplex *)&alpha, (cuDoubleComplex *)da, n - 1, (cuDoubleComplex *)&beta,
                    (cuDoubleComplex *)db, ld, (cuDoubleComplex *)dc, ld) == CUBLAS_STATUS_INVALID_VALUE, "geam, a short leading dimension");
}

// The same by cublasLt: each matrix by columns or by rows, two of them, each operation; without a second matrix; what is refused.
static void transforms()
{
  using c64 = std::complex<double>;
  const int m = 37, n = 70, ld = 75, stride = ld * ld;
  const std::vector<float> x = numbers(8 * stride);
  std::vector<c64> a(2 * stride), b(2 * stride), c(2 * stride);
  for (size_t i = 0; i < a.size(); i++) a[i] = {x[4 * i], x[4 * i + 1]}, b[i] = {x[4 * i + 2], x[4 * i + 3]};
  c64 *da = device(a), *db = device(b), *dc = device(c), alpha(0.5, -1), beta(2, 0.25);
  cublasLtHandle_t lt;
  cublasLtMatrixTransformDesc_t d;
  bool right = !cublasLtCreate(&lt) && !cublasLtMatrixTransformDescCreate(&d, CUDA_C_64F);
  auto layout = [&](cudaDataType t, bool turned, int by_rows) {
    cublasLtMatrixLayout_t l;
    const int32_t two = 2, order = by_rows ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
    const int64_t apart = stride;
    right = right && !cublasLtMatrixLayoutCreate(&l, t, turned ? n : m, turned ? m : n, ld) &&
            !cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order) &&
            !cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &two, sizeof two) &&
            !cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &apart, sizeof apart);
    return l;
  };
  auto of = [&](const std::vector<c64> &v, int op, int by_rows, int z, int r, int col) {
    if (op) std::swap(r, col);
    const c64 e = v[z * stride + (by_rows ? r * ld + col : col * ld + r)];
    return op == 2 ? std::conj(e) : e;
  };
  for (int i = 0; i < 72; i++) {
    const int32_t op_a = i % 3, op_b = i / 3 % 3;
    const int ra = i / 9 & 1, rb = i / 18 & 1, rc = i / 36, one = i == 40;
    cublasLtMatrixLayout_t la = layout(CUDA_C_64F, op_a, ra), lb = layout(CUDA_C_64F, op_b, rb), lc = layout(CUDA_C_64F, false, rc);
    int32_t read = -1;
    size_t written = 0;
    right = right && !cublasLtMatrixTransformDescSetAttribute(d, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, &op_a, sizeof op_a) &&
            !cublasLtMatrixTransformDescSetAttribute(d, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, &op_b, sizeof op_b) &&
            !cublasLtMatrixTransformDescGetAttribute(d, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, &read, sizeof read, &written) &&
            read == op_b && written == sizeof read;
    right = right && !cublasLtMatrixTransform(lt, d, &alpha, da, la, &beta, one ? nullptr : db, one ? nullptr : lb, dc, lc, 0);
    right = right && !cudaMemcpy(c.data(), dc, c.size() * sizeof(c64), cudaMemcpyDeviceToHost);
    for (int e = 0; e < 2 * m * n; e++) {
      const int z = e / (m * n), r = e % m, col = e / m % n;
      const c64 want = alpha * of(a, op_a, ra, z, r, col) + (one ? c64(0) : beta * of(b, op_b, rb, z, r, col));
      right = right && std::abs(of(c, 0, rc, z, r, col) - want) < 1e-12;
    }
    cublasLtMatrixLayoutDestroy(la), cublasLtMatrixLayoutDestroy(lb), cublasLtMatrixLayoutDestroy(lc);
  }
  check(right, "a transformation by cublasLt");
  cublasLtMatrixLayout_t whole = layout(CUDA_C_64F, true, 0), half = layout(CUDA_R_16F, true, 0), turned = layout(CUDA_C_64F, false, 0);
  const int32_t none = 0;
  right = right && !cublasLtMatrixTransformDescSetAttribute(d, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, &none, sizeof none);
  check(cublasLtMatrixTransform(lt, d, &alpha, da, turned, &beta, nullptr, nullptr, dc, whole, 0) == CUBLAS_STATUS_INVALID_VALUE, "a transformation of other sizes");
  check(cublasLtMatrixTransform(lt, d, &alpha, da, half, &beta, nullptr, nullptr, dc, whole, 0) == CUBLAS_STATUS_NOT_SUPPORTED, "a transformation between types");
  check(cublasLtMatrixTransformDescSetAttribute(d, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, &none, 8) == CUBLAS_STATUS_INVALID_VALUE, "an attribute's size");
  check(!cublasLtMatrixTransformDescDestroy(d) && !cublasLtDestroy(lt), "a transformation's descriptor");
}

// Between types, in FP32: integers of 8 bits and half precision by columns become integers by rows, rounded and kept in their range.
static void conversions()
{
  const int m = 40, n = 33;
  std::vector<int8_t> a(m * n), c(m * n);
  std::vector<uint16_t> b(n * m); // half precision, transposed
  std::vector<float> of_b(n * m);
  for (int i = 0; i < m * n; i++) {
    a[i] = (int8_t)(i * 37 % 255 - 127);
    const int e = i % 5, f = i * 61 % 1024; // 2^(e - 2) * (1 + f / 1024)
    b[i] = (uint16_t)((e + 13) << 10 | f), of_b[i] = ldexpf(1 + f / 1024.f, e - 2);
  }
  int8_t *da = device(a), *dc = device(c);
  uint16_t *db = device(b);
  const float factors[] = {1.5f, -3.25f}, *on_device = device(std::vector<float>(factors, factors + 2));
  cublasLtHandle_t lt;
  cublasLtMatrixTransformDesc_t d;
  cublasLtMatrixLayout_t la, lb, lc, wide;
  const int32_t by_rows = CUBLASLT_ORDER_ROW, turned = CUBLAS_OP_T, there = CUBLASLT_POINTER_MODE_DEVICE;
  bool right = !cublasLtCreate(&lt) && !cublasLtMatrixTransformDescCreate(&d, CUDA_R_32F) &&
               !cublasLtMatrixLayoutCreate(&la, CUDA_R_8I, m, n, m) && !cublasLtMatrixLayoutCreate(&lb, CUDA_R_16F, n, m, n) &&
               !cublasLtMatrixLayoutCreate(&lc, CUDA_R_8I, m, n, n) && !cublasLtMatrixLayoutCreate(&wide, CUDA_R_32I, m, n, m) &&
               !cublasLtMatrixLayoutSetAttribute(lc, CUBLASLT_MATRIX_LAYOUT_ORDER, &by_rows, sizeof by_rows) &&
               !cublasLtMatrixTransformDescSetAttribute(d, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, &turned, sizeof turned) &&
               !cublasLtMatrixTransformDescSetAttribute(d, CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE, &there, sizeof there) &&
               !cublasLtMatrixTransform(lt, d, on_device, da, la, on_device + 1, db, lb, dc, lc, 0) &&
               !cudaMemcpy(c.data(), dc, c.size(), cudaMemcpyDeviceToHost);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      const double v = 1.5 * a[j * m + i] - 3.25 * of_b[i * n + j];
      right = right && fabs(c[i * n + j] - fmax(-128, fmin(127, v))) <= 0.5001;
    }
  check(right, "a transformation between types");
  check(cublasLtMatrixTransform(lt, d, on_device, da, la, on_device, nullptr, nullptr, dc, wide, 0) == CUBLAS_STATUS_NOT_SUPPORTED, "a transformation to INT32");
  cublasLtMatrixTransformDescDestroy(d), cublasLtDestroy(lt);
}

static void statuses(cublasHandle_t h)
{
  float *p = device(numbers(64)), one = 1;
  cublasLogCallback log = nullptr;
  const cublasOperation_t n = CUBLAS_OP_N;
  check(cublasSgemm(nullptr, n, n, 4, 4, 4, &one, p, 4, p, 4, &one, p, 4) == CUBLAS_STATUS_NOT_INITIALIZED, "no handle");
  check(cublasSgemm(h, n, n, -1, 4, 4, &one, p, 4, p, 4, &one, p, 4) == CUBLAS_STATUS_INVALID_VALUE, "a negative size");
  check(cublasSgemm(h, n, n, 4, 4, 4, &one, p, 3, p, 4, &one, p, 4) == CUBLAS_STATUS_INVALID_VALUE, "a short leading dimension");
  check(cublasSgemm(h, (cublasOperation_t)9, n, 4, 4, 4, &one, p, 4, p, 4, &one, p, 4) == CUBLAS_STATUS_INVALID_VALUE, "an operation");
  check(cublasSgemm(h, n, n, 4, 4, 4, nullptr, p, 4, p, 4, &one, p, 4) == CUBLAS_STATUS_INVALID_VALUE, "no alpha");
  check(cublasSgemm(h, n, n, 0, 4, 4, &one, p, 1, p, 4, &one, p, 1) == CUBLAS_STATUS_SUCCESS, "nothing to do");
  check(cublasSgemv(h, n, 4, 4, &one, p, 4, p, 0, &one, p, 1) == CUBLAS_STATUS_INVALID_VALUE, "an increment of 0");
  check(cublasGemmEx(h, n, n, 4, 4, 4, &one, p, CUDA_R_32F, 4, p, CUDA_R_16F, 4, &one, p, CUDA_R_32F, 4, CUBLAS_COMPUTE_32F,
                     CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_NOT_SUPPORTED, "types that differ");
  check(cublasGetLoggerCallback(&log) == CUBLAS_STATUS_NOT_SUPPORTED, "a function that is not there");
  check(cublasSetPointerMode(h, (cublasPointerMode_t)7) == CUBLAS_STATUS_INVALID_VALUE, "a pointer mode");
  check(cublasSetWorkspace(h, (char *)p + 4, 256) == CUBLAS_STATUS_INVALID_VALUE, "a workspace off its border");
}

template <typename T> static bool close(T a, T b, double bound) { return std::abs(std::complex<double>(a - b)) <= bound * (std::abs(std::complex<double>(b)) + 1); }

// x' = c x + s y, y' = c y - conj(s) x.
template <typename T, typename R, typename S, typename Call> static void rotation(Call call, R c, S s, int incx, int incy, const char *what)
{
  const int n = 700, ax = abs(incx), ay = abs(incy);
  std::vector<T> x(n * ax), y(n * ay);
  unsigned state = 5;
  auto next = [&] { return state = state * 1664525u + 1013904223u, (double)(int)(state >> 20) / 512 - 4; };
  for (T &v : x) v = T(next(), next());
  for (T &v : y) v = T(next(), next());
  T *dx = device(x), *dy = device(y);
  bool right = !call(n, dx, incx, dy, incy, &c, &s);
  const std::vector<T> gx = host(dx, x.size()), gy = host(dy, y.size());
  const std::complex<double> sine(s), cosine(c);
  for (int i = 0; i < n; i++) {
    const int at = incx < 0 ? (n - 1 - i) * ax : i * ax, to = incy < 0 ? (n - 1 - i) * ay : i * ay;
    const std::complex<double> u(x[at]), v(y[to]);
    right = right && close<std::complex<double>>(gx[at], cosine * u + sine * v, 1e-5) &&
            close<std::complex<double>>(gy[to], cosine * v - conj(sine) * u, 1e-5);
  }
  check(right, what);
}

// G takes (a, b) to (r, 0), is a rotation, and z gives it back as the manual says.
template <typename T, typename Call> static void made(Call call, T a, T b, const char *what)
{
  T r = a, z = b, c = 0, s = 0, cz, sz;
  bool right = !call(&r, &z, &c, &s);
  right = right && close(c * a + s * b, r, 1e-5) && close(c * b - s * a, T(0), 1e-5) && close(c * c + s * s, T(1), 1e-5);
  if (std::abs(z) < 1) cz = sqrt(1 - z * z), sz = z;
  else if (z == 1) cz = 0, sz = 1;
  else cz = 1 / z, sz = sqrt(1 - 1 / (z * z));
  check(right && close(cz, c, 1e-4) && close(sz, s, 1e-4), what);
}

template <typename C, typename Call> static void made_complex(Call call, C a, C b, const char *what)
{
  C r = a, unused = b, s = 0;
  typename C::value_type c = 0;
  bool right = !call(&r, &unused, &c, &s);
  right = right && close(c * a + s * b, r, 1e-5) && close(c * b - conj(s) * a, C(0), 1e-5) && close(C(c * c) + s * conj(s), C(1), 1e-5);
  check(right, what);
}

// H takes the second of (sqrt(d1) x1, sqrt(d2) y1) to zero and keeps d1 x1^2 + d2 y1^2; rotm applies it.
template <typename T, typename Make, typename Apply> static void modified(Make make, Apply apply, T d1, T d2, T x1, T y1, const char *what)
{
  T e1 = d1, e2 = d2, u = x1, param[5] = {7, 7, 7, 7, 7};
  bool right = !make(&e1, &e2, &u, &y1, param);
  const T flag = param[0];
  const T h11 = flag == 0 || flag == -2 ? 1 : param[1], h22 = flag == 0 || flag == -2 ? 1 : param[4];
  const T h21 = flag == 1 ? -1 : flag == -2 ? 0 : param[2], h12 = flag == 1 ? 1 : flag == -2 ? 0 : param[3];
  right = right && (flag == -2 || flag == -1 || flag == 0 || flag == 1);
  if (d1 >= 0 && d2 >= 0) {
    const double before = (double)d1 * x1 * x1 + (double)d2 * y1 * y1, behind = (double)e1 * u * u;
    right = right && close<double>(behind, flag == -2 ? (double)d1 * x1 * x1 : before, 1e-4 * (before + 1)) &&
            (flag == -2 || close<double>(h21 * x1 + h22 * y1, 0, 1e-4)) && close<double>(h11 * x1 + h12 * y1, u, 1e-4 * (std::abs(u) + 1));
  } else if (d1 < 0) right = right && flag == -1 && !h11 && !h21 && !h12 && !h22 && !e1 && !e2 && !u;
  const std::vector<float> numbers_x = numbers(300), numbers_y = numbers(301);
  std::vector<T> x(numbers_x.begin(), numbers_x.end()), y(numbers_y.begin(), numbers_y.end() - 1);
  T *dx = device(x), *dy = device(y);
  right = right && !apply(300, dx, 1, dy, -1, param);
  const std::vector<T> gx = host(dx, 300), gy = host(dy, 300);
  for (int i = 0; i < 300; i++) {
    const T v = x[i], w = y[299 - i];
    right = right && close<double>(gx[i], h11 * v + h12 * w, 1e-4) && close<double>(gy[299 - i], h21 * v + h22 * w, 1e-4);
  }
  check(right, what);
}

#define HANDED(f) [&](auto... a) { return f(h, a...); }
static void rotations(cublasHandle_t h)
{
  typedef std::complex<float> cf;
  typedef std::complex<double> cd;
  auto crot = [&](int n, cf *x, int ix, cf *y, int iy, float *c, cf *s) { return cublasCrot(h, n, (cuComplex *)x, ix, (cuComplex *)y, iy, c, (cuComplex *)s); };
  auto zrot = [&](int n, cd *x, int ix, cd *y, int iy, double *c, cd *s) {
    return cublasZrot(h, n, (cuDoubleComplex *)x, ix, (cuDoubleComplex *)y, iy, c, (cuDoubleComplex *)s);
  };
  auto csrot = [&](int n, cf *x, int ix, cf *y, int iy, float *c, float *s) { return cublasCsrot(h, n, (cuComplex *)x, ix, (cuComplex *)y, iy, c, s); };
  auto zdrot = [&](int n, cd *x, int ix, cd *y, int iy, double *c, double *s) {
    return cublasZdrot(h, n, (cuDoubleComplex *)x, ix, (cuDoubleComplex *)y, iy, c, s);
  };
  rotation<cf>(crot, 0.6f, cf(0.48f, 0.64f), 1, 2, "rot, complex");
  rotation<cd>(zrot, 0.28, cd(-0.96, 0.0), -1, 1, "rot, complex, backwards");
  rotation<cf>(csrot, 0.6f, 0.8f, 3, -2, "rot of complex vectors by reals");
  rotation<cd>(zdrot, -0.8, 0.6, 1, 1, "rot of complex vectors by reals, FP64");
  for (double a : {3.0, -4.0, 0.0, 1e-3})
    for (double b : {4.0, -1.0, 0.0, 7.5}) {
      made<float>(HANDED(cublasSrotg), (float)a, (float)b, "rotg");
      made<double>(HANDED(cublasDrotg), a, b, "rotg, FP64");
      made_complex<cf>([&](cf *x, cf *y, float *c, cf *s) { return cublasCrotg(h, (cuComplex *)x, (cuComplex *)y, c, (cuComplex *)s); },
                       cf((float)a, (float)b), cf((float)b, 2), "rotg, complex");
      made_complex<cd>([&](cd *x, cd *y, double *c, cd *s) { return cublasZrotg(h, (cuDoubleComplex *)x, (cuDoubleComplex *)y, c, (cuDoubleComplex *)s); },
                       cd(b, a), cd(a, -3), "rotg, complex FP64");
    }
  const double d[][4] = {{2, 3, 4, 1}, {1, 5, 1, 6}, {2, 3, 4, 0}, {-1, 2, 3, 4}, {1e9, 1, 2, 3}, {1e-9, 1e9, 2, 3}, {1, 1e-9, 5, 2}, {0, 2, 1, 3}};
  for (const double *q : d) {
    modified<float>(HANDED(cublasSrotmg), HANDED(cublasSrotm), (float)q[0], (float)q[1], (float)q[2], (float)q[3], "rotmg, rotm");
    modified<double>(HANDED(cublasDrotmg), HANDED(cublasDrotm), q[0], q[1], q[2], q[3], "rotmg, rotm, FP64");
  }
  double *on_device = device(std::vector<double>{3, 4, 0, 0});
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE);
  check(!cublasDrotg(h, on_device, on_device + 1, on_device + 2, on_device + 3) && near(host(on_device, 4)[0], 5) &&
            near(host(on_device, 4)[2], 0.6), "rotg of numbers on the device");
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST);
  check(cublasSrotg(h, nullptr, nullptr, nullptr, nullptr) == CUBLAS_STATUS_INVALID_VALUE, "rotg of nothing");
}

static void diagonal(cublasHandle_t h)
{
  const int m = 37, n = 45, ld = 41;
  const std::vector<float> a = numbers(ld * n), x = numbers(2 * 45);
  float *da = device(a), *dx = device(x), *dc = device(std::vector<float>(ld * n, -1.0f));
  for (int side = 0; side < 2; side++)
    for (int inc : {1, 2, -2}) {
      const int length = side ? n : m;
      bool right = !cublasSdgmm(h, side ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT, m, n, da, ld, dx, inc, dc, ld);
      const std::vector<float> c = host(dc, ld * n);
      for (int col = 0; col < n; col++)
        for (int row = 0; row < ld; row++) {
          const int i = side ? col : row, at = inc < 0 ? (length - 1 - i) * -inc : i * inc;
          right = right && c[col * ld + row] == (row < m ? a[col * ld + row] * x[at] : -1.0f);
        }
      check(right, "dgmm");
    }
  check(!cublasSdgmm(h, CUBLAS_SIDE_LEFT, m, n, da, ld, dx, 1, da, ld) && host(da, 9)[8] == a[8] * x[8], "dgmm in place");
  check(cublasSdgmm(h, CUBLAS_SIDE_LEFT, m, n, da, m - 1, dx, 1, dc, ld) == CUBLAS_STATUS_INVALID_VALUE, "dgmm, a short leading dimension");
  const std::vector<std::complex<double>> z = {{1, 2}, {3, -1}}, w = {{0, 1}};
  std::complex<double> *dz = device(z), *dw = device(w);
  check(!cublasZdgmm(h, CUBLAS_SIDE_RIGHT, 2, 1, (cuDoubleComplex *)dz, 2, (cuDoubleComplex *)dw, 1, (cuDoubleComplex *)dz, 2) &&
            host(dz, 2)[0] == z[0] * w[0] && host(dz, 2)[1] == z[1] * w[0], "dgmm, complex");
}

int main()
{
  cublasHandle_t h;
  if (cublasCreate(&h)) return 1;
  level1(h);
  rotations(h);
  diagonal(h);
  level2(h);
  triangles(h);
  transforms(), conversions(), sums(h);
  statuses(h);
  check(cublasDestroy(h) == CUBLAS_STATUS_SUCCESS, "destroy");
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
