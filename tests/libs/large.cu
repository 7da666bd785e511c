// Products large enough for the widest tiles of a GPU with one SM, in 16-bit numbers and TF32, each layout, with and without edges, vectors on
// their borders or not, C added or not; on one with three SMs those whose last tiles are split in k. Elements of D beside sums in binary64. On an H100 those along k are warpgroups' products.
#include <cublas_v2.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

// FP16 where both or none are transposed twice, which gives the same bits: the order of sums is a matter of tiles, not of types.
template <typename T> static void one(cublasHandle_t h, int m, int n, int k, bool ta, bool tb, float beta, int batch = 1)
{
  const float alpha = 0.5f;
  const int lda = ta ? k : m, ldb = tb ? n : k;
  const size_t sa = (size_t)m * k, sb = (size_t)k * n, sc = (size_t)m * n;
  const std::vector<T> a = filled<T>(sa * batch), b = filled<T>(sb * batch), c = filled<T>(sc * batch);
  std::vector<T> got(c.size()), again(c.size());
  T *da = device(a), *db = device(b), *dc = device(c);
  const cublasComputeType_t compute = sizeof(T) == 4 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  const bool twice = ta == tb && kind<T>::type == CUDA_R_16F;
  bool right = true;
  for (std::vector<T> *to : {&again, &got}) {
    if (!twice && to == &again) continue;
    if (cudaMemcpy(dc, c.data(), c.size() * sizeof(T), cudaMemcpyHostToDevice)) exit(1);
    right = right && !cublasGemmStridedBatchedEx(h, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N, m, n, k, &alpha, da, kind<T>::type, lda, sa, db,
                                                 kind<T>::type, ldb, sb, &beta, dc, kind<T>::type, m, sc, batch, compute, CUBLAS_GEMM_DEFAULT);
    if (cudaMemcpy(to->data(), dc, got.size() * sizeof(T), cudaMemcpyDeviceToHost)) exit(1);
  }
  right = right && (!twice || !memcmp(got.data(), again.data(), got.size() * sizeof(T)));
  for (int i = 0; i < 3000; i++) {
    // The last rows and columns are looked at as often as all others together.
    const int r = i % 2 ? draw() % m : m - 1 - draw() % 9, col = i % 3 ? draw() % n : n - 1 - draw() % 9;
    const int z = draw() % batch;
    double want = 0;
    for (int x = 0; x < k; x++)
      want += (double)(float)a[z * sa + (ta ? (size_t)r * k + x : (size_t)x * m + r)] * (double)(float)b[z * sb + (tb ? (size_t)x * n + col : (size_t)col * k + x)];
    const size_t at = z * sc + (size_t)col * m + r;
    want = alpha * want + beta * (double)(float)c[at];
    right = right && fabs((double)(float)got[at] - want) <= kind<T>::limit * (fabs(want) + 1);
  }
  cudaFree(da), cudaFree(db), cudaFree(dc);
  cases++;
  if (right) return;
  failures++;
  printf("wrong: type %d, %d x %d x %d, %c%c, beta %g, batch %d\n", (int)kind<T>::type, m, n, k, ta ? 't' : 'n', tb ? 't' : 'n', beta, batch);
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

// Columns of D are a kernel's rows: four tiles of 128 x 256 on three SMs, of which the last is split, or of one all.
template <typename T> static void cut(cublasHandle_t h)
{
  for (int i = 0; i < 4; i++) {
    const bool ta = i & 1, tb = i & 2;
    one<T>(h, 512, 256, 1536, ta, tb, 0);    // whole tiles
    one<T>(h, 504, 248, 1536, ta, tb, 2);    // edges, in vectors
    one<T>(h, 501, 251, 1501, ta, tb, 1);    // out of vectors, a shorter last part
    one<T>(h, 240, 120, 1536, ta, tb, 1);    // nothing but parts
    one<T>(h, 60, 57, 2048, ta, tb, 0, 2);    // a batch
  }
}

int main(int argc, char **)
{
  cublasHandle_t h;
  if (cublasCreate(&h)) return 1;
  if (argc > 1) {
    cut<__half>(h), cut<__nv_bfloat16>(h), cut<float>(h);
    printf("%d cut products, %d wrong\n", cases, failures);
    return failures != 0;
  }
  all<__half>(h);
  all<__nv_bfloat16>(h);
  all<float>(h);
  printf("%d products, %d wrong\n", cases, failures);
  return failures != 0;
}
