// Products large enough for the widest tiles of a GPU with one SM, in 16-bit numbers and TF32, each layout, with and without edges, vectors on
// their borders or not, C added or not: elements of D beside sums in binary64. On an H100 those along k are warpgroups' products.
#include <cublas_v2.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector>

static int cases, failures;

template <typename T> struct kind;
template <> struct kind<__half> { static constexpr cudaDataType type = CUDA_R_16F; static constexpr double limit = 2e-3; };
template <> struct kind<__nv_bfloat16> { static constexpr cudaDataType type = CUDA_R_16BF; static constexpr double limit = 1.6e-2; };
template <> struct kind<float> { static constexpr cudaDataType type = CUDA_R_32F; static constexpr double limit = 1e-5; };

static unsigned state = 1;
static unsigned draw() { return state = state * 1664525u + 1013904223u, state >> 8; }

// Eighths from -1 to 1, which all the types hold.
template <typename T> static std::vector<T> filled(size_t n)
{
  std::vector<T> v(n);
  for (T &x : v) x = (T)(((int)(draw() % 17) - 8) / 8.0f);
  return v;
}
template <typename T> static T *device(const std::vector<T> &v)
{
  T *p;
  if (cudaMalloc(&p, v.size() * sizeof(T)) || cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice)) exit(1);
  return p;
}

template <typename T> static void one(cublasHandle_t h, int m, int n, int k, bool ta, bool tb, float beta)
{
  const float alpha = 0.5f;
  const int lda = ta ? k : m, ldb = tb ? n : k;
  const std::vector<T> a = filled<T>((size_t)m * k), b = filled<T>((size_t)k * n), c = filled<T>((size_t)m * n);
  std::vector<T> got(c.size());
  T *da = device(a), *db = device(b), *dc = device(c);
  const cublasComputeType_t compute = sizeof(T) == 4 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  bool right = !cublasGemmEx(h, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N, m, n, k, &alpha, da, kind<T>::type, lda, db,
                             kind<T>::type, ldb, &beta, dc, kind<T>::type, m, compute, CUBLAS_GEMM_DEFAULT);
  if (cudaMemcpy(got.data(), dc, got.size() * sizeof(T), cudaMemcpyDeviceToHost)) exit(1);
  for (int i = 0; i < 3000; i++) {
    // The last rows and columns are looked at as often as all others together.
    const int r = i % 2 ? draw() % m : m - 1 - draw() % 9, col = i % 3 ? draw() % n : n - 1 - draw() % 9;
    double want = 0;
    for (int x = 0; x < k; x++)
      want += (double)(float)a[ta ? (size_t)r * k + x : (size_t)x * m + r] * (double)(float)b[tb ? (size_t)x * n + col : (size_t)col * k + x];
    want = alpha * want + beta * (double)(float)c[(size_t)col * m + r];
    right = right && fabs((double)(float)got[(size_t)col * m + r] - want) <= kind<T>::limit * (fabs(want) + 1);
  }
  cudaFree(da), cudaFree(db), cudaFree(dc);
  cases++;
  if (right) return;
  failures++;
  printf("wrong: type %d, %d x %d x %d, %c%c, beta %g\n", (int)kind<T>::type, m, n, k, ta ? 't' : 'n', tb ? 't' : 'n', beta);
}

template <typename T> static void all(cublasHandle_t h)
{
  for (int i = 0; i < 4; i++) {
    const bool ta = i & 1, tb = i & 2;
    one<T>(h, 512, 512, 256, ta, tb, 0);  // nothing but whole tiles
    one<T>(h, 504, 496, 200, ta, tb, 2);  // edges, in vectors
    one<T>(h, 509, 499, 67, ta, tb, 1);   // out of vectors
    one<T>(h, 376, 384, 72, ta, tb, 0);   // smaller tiles
  }
  one<T>(h, 504, 496, 8, true, false, 0); // less than a tile in k
}

int main()
{
  cublasHandle_t h;
  if (cublasCreate(&h)) return 1;
  all<__half>(h);
  all<__nv_bfloat16>(h);
  all<float>(h);
  printf("%d products, %d wrong\n", cases, failures);
  return failures != 0;
}
