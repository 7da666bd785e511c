// Levels 1 and 2 of libcublas and triangular systems against sums on the host; statuses for what cannot be.
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

static void statuses(cublasHandle_t h)
{
  float *p = device(numbers(64)), one = 1;
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
  check(cublasSsyrk(h, CUBLAS_FILL_MODE_LOWER, n, 4, 4, &one, p, 4, &one, p, 4) == CUBLAS_STATUS_NOT_SUPPORTED, "a function that is not there");
  check(cublasSetPointerMode(h, (cublasPointerMode_t)7) == CUBLAS_STATUS_INVALID_VALUE, "a pointer mode");
  check(cublasSetWorkspace(h, (char *)p + 4, 256) == CUBLAS_STATUS_INVALID_VALUE, "a workspace off its border");
}

int main()
{
  cublasHandle_t h;
  if (cublasCreate(&h)) return 1;
  level1(h);
  level2(h);
  triangles(h);
  sums(h);
  statuses(h);
  check(cublasDestroy(h) == CUBLAS_STATUS_SUCCESS, "destroy");
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
