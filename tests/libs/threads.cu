// Threads whose first call of CUDA is one of a library, with a handle that the main thread made: they work on device 0. Each library's
// calls that launch, copy, fill, wait or load a kernel.
#include "checks.cuh"
#include <cmath>
#include <cublas_v2.h>
#include <cufft.h>
#include <curand.h>
#include <cusparse.h>
#include <thread>

enum { N = 40 };

template <typename F> static void in_a_thread(F what)
{
  std::thread t(what);
  t.join();
}

static std::vector<double> numbers(size_t n, double step)
{
  std::vector<double> v(n);
  for (size_t i = 0; i < n; i++) v[i] = sin(step * double(i + 1));
  return v;
}

static void blas()
{
  cublasHandle_t h;
  cublasCreate(&h);
  const std::vector<double> a = numbers(N * N, 0.7), x = numbers(N, 1.3);
  double *da = device(a), *dx = device(x), *dy = device(std::vector<double>(N)), dot = 0, want = 0;
  const double one = 1, zero = 0;
  cublasStatus_t status[3] = {CUBLAS_STATUS_NOT_INITIALIZED, CUBLAS_STATUS_NOT_INITIALIZED, CUBLAS_STATUS_NOT_INITIALIZED};
  in_a_thread([&] { status[0] = cublasDgemv(h, CUBLAS_OP_N, N, N, &one, da, N, dx, 1, &zero, dy, 1); });
  in_a_thread([&] { status[1] = cublasDdot(h, N, dx, 1, dx, 1, &dot); });
  in_a_thread([&] { status[2] = cublasDscal(h, N, &one, dx, 1); });
  for (int i = 0; i < 3; i++) {
    if (status[i]) printf("call %d: status %d\n", i, status[i]);
    check(!status[i], "status of cuBLAS");
  }
  cudaDeviceSynchronize();
  const std::vector<double> y = host(dy, N);
  bool right = true;
  for (int i = 0; i < N; i++) {
    double sum = 0;
    for (int j = 0; j < N; j++) sum += a[size_t(j) * N + i] * x[j];
    right &= fabs(sum - y[i]) < 1e-12, want += x[i] * x[i];
  }
  check(right, "cublasDgemv");
  check(fabs(dot - want) < 1e-12, "cublasDdot");
  in_a_thread([&] { status[0] = cublasDestroy(h); });
  check(!status[0], "cublasDestroy");
}

static void fft()
{
  std::vector<cufftDoubleComplex> x(N);
  for (int i = 0; i < N; i++) x[i] = {cos(0.3 * i), sin(0.9 * i)};
  cufftDoubleComplex *d = device(x);
  cufftResult status = CUFFT_INVALID_PLAN;
  in_a_thread([&] {
    cufftHandle plan;
    status = cufftPlan1d(&plan, N, CUFFT_Z2Z, 1);
    if (!status) status = cufftExecZ2Z(plan, d, d, CUFFT_FORWARD);
  });
  check(!status, "status of cuFFT");
  cudaDeviceSynchronize();
  const std::vector<cufftDoubleComplex> y = host(d, N);
  bool right = true;
  for (int k = 0; k < N; k++) {
    double re = 0, im = 0;
    for (int i = 0; i < N; i++) {
      const double w = -2 * M_PI * ((k * i) % N) / N;
      re += x[i].x * cos(w) - x[i].y * sin(w), im += x[i].x * sin(w) + x[i].y * cos(w);
    }
    right &= fabs(re - y[k].x) < 1e-11 && fabs(im - y[k].y) < 1e-11;
  }
  check(right, "cufftExecZ2Z");
}

// The same numbers as those of a generator that one thread uses.
static void random_numbers()
{
  float *d = device(std::vector<float>(N)), *e = device(std::vector<float>(N));
  curandStatus_t status = CURAND_STATUS_NOT_INITIALIZED;
  auto generate = [&](float *to) {
    curandGenerator_t g;
    status = curandCreateGenerator(&g, CURAND_RNG_PSEUDO_PHILOX4_32_10);
    if (!status) status = curandSetPseudoRandomGeneratorSeed(g, 7);
    if (!status) status = curandGenerateUniform(g, to, N);
  };
  in_a_thread([&] { generate(d); });
  check(!status, "status of cuRAND");
  generate(e);
  cudaDeviceSynchronize();
  const std::vector<float> a = host(d, N), b = host(e, N);
  check(a == b && a[0] > 0 && a[0] <= 1 && a[0] != a[1], "curandGenerateUniform");
}

static void sparse()
{
  // two numbers in each row: columns i and (i + 3) % N
  std::vector<int> rows(N + 1), columns(2 * N);
  const std::vector<double> values = numbers(2 * N, 0.4), x = numbers(N, 0.8);
  for (int i = 0; i < N; i++) rows[i + 1] = 2 * (i + 1), columns[2 * i] = i, columns[2 * i + 1] = (i + 3) % N;
  int *dr = device(rows), *dc = device(columns);
  double *dv = device(values), *dx = device(x), *dy = device(std::vector<double>(N));
  const double one = 1, zero = 0;
  cusparseHandle_t h;
  cusparseCreate(&h);
  int status = 1;
  in_a_thread([&] {
    cusparseSpMatDescr_t a;
    cusparseDnVecDescr_t vx, vy;
    size_t bytes = 0;
    void *room = nullptr;
    cusparseCreateCsr(&a, N, N, 2 * N, dr, dc, dv, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F);
    cusparseCreateDnVec(&vx, N, dx, CUDA_R_64F);
    cusparseCreateDnVec(&vy, N, dy, CUDA_R_64F);
    status = cusparseSpMV_bufferSize(h, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, vx, &zero, vy, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes);
    if (!status && bytes) status = cudaMalloc(&room, bytes);
    if (!status) status = cusparseSpMV(h, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, vx, &zero, vy, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, room);
  });
  check(!status, "status of cuSPARSE");
  cudaDeviceSynchronize();
  const std::vector<double> y = host(dy, N);
  bool right = true;
  for (int i = 0; i < N; i++)
    right &= fabs(values[2 * i] * x[i] + values[2 * i + 1] * x[(i + 3) % N] - y[i]) < 1e-13;
  check(right, "cusparseSpMV");
}

int main()
{
  blas();
  fft();
  random_numbers();
  sparse();
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
