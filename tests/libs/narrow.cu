// Products of FP8, FP4 and TF32, and of groups of matrices, against sums on the host in binary64. FP8: every number of both formats,
// factors, the largest absolute value, rounding of results as the toolkit's host functions round. FP8 and FP4 with factors of blocks.
#include "narrow.cuh"

// Factors on the device; 0 is none. vector: one for each row of A, each column of B.
struct factors {
  float a, b, d;
  bool vector, amax, bias;
};

// D = scale_d (alpha scale_a scale_b A^T B + beta C + bias), A and B along k. Sums are exact in FP32.
template <typename A, typename B, typename C, typename D>
static void fp8(cublasLtHandle_t h, int m, int n, int k, float alpha, float beta, factors f, bool told = true)
{
  matrix<A> a(k, m, k + 16 - k % 16, 1);
  matrix<B> b(k, n, k + 16 - k % 16, 1);
  matrix<C> c(m, n, m + 3, 1), bias(m, 1, m, 1);
  matrix<D> d(m, n, m + 1, 1);
  std::vector<float> sa(m, f.a), sb(n, f.b), other = {f.d, -1};
  if (f.vector) {
    for (int i = 0; i < m; i++) sa[i] = ldexpf(f.a, i % 3);
    for (int i = 0; i < n; i++) sb[i] = ldexpf(f.b, i % 2);
  }
  float *at_a = put(sa), *at_b = put(sb), *at = put(other);
  lt_call q(CUBLAS_OP_T, CUBLAS_OP_N);
  cublasLtMatrixLayoutCreate(&q.la, code<A>::t, k, m, a.ld), cublasLtMatrixLayoutCreate(&q.lb, code<B>::t, k, n, b.ld);
  cublasLtMatrixLayoutCreate(&q.lc, code<C>::t, m, n, c.ld), cublasLtMatrixLayoutCreate(&q.ld, code<D>::t, m, n, d.ld);
  if (f.a) q.set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, (const void *)at_a);
  if (f.b) q.set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, (const void *)at_b);
  if (f.d) q.set(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, (const void *)at);
  if (f.amax) q.set(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, (void *)(at + 1));
  if (f.bias) {
    q.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    q.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, (const void *)bias.at);
    q.set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, code<C>::t);
  }
  if (f.vector) {
    q.set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F);
    q.set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F);
  }
  const matrix<D> before = d;
  const cublasStatus_t s = cublasLtMatmul(h, q.desc, &alpha, a.at, q.la, b.at, q.lb, &beta, c.at, q.lc, d.at, q.ld, nullptr, nullptr, 0, 0);
  bool right = s == CUBLAS_STATUS_SUCCESS;
  d.fetch();
  double most = 0;
  for (int col = 0; col < n; col++)
    for (int r = 0; r < d.ld; r++) {
      if (r >= m) {
        if (memcmp(&d.host[(size_t)col * d.ld + r], &before.host[(size_t)col * d.ld + r], sizeof(D))) right = false;
        continue;
      }
      double v = expected(a, b, CUBLAS_OP_T, CUBLAS_OP_N, r, col, k, 0).real() * alpha;
      v *= (f.a ? sa[r] : 1) * (f.b ? sb[col] : 1);
      if (beta) v += beta * c.get(r, col, 0).real();
      if (f.bias) v += bias.get(r, 0, 0).real();
      most = fmax(most, fabs(v));
      const D want = D((float)(f.d ? v * f.d : v));
      if (memcmp(&want, &d.host[(size_t)col * d.ld + r], sizeof want)) right = false;
    }
  cudaMemcpy(other.data(), at, 2 * sizeof(float), cudaMemcpyDeviceToHost);
  if (other[1] != (f.amax ? (float)most : -1)) right = false;
  if (told) say(right, "FP8", m, n, k, code<A>::t, code<D>::t);
  else say(s == CUBLAS_STATUS_NOT_SUPPORTED, "refused FP8", m, n, k, code<A>::t, code<D>::t);
  ((matrix<D> &)before).at = nullptr;
  cudaFree(at_a), cudaFree(at_b), cudaFree(at);
}

// Values before GELU that are left in FP8: their factor, their largest one, what is beyond 448. Sums are exact in FP32; D is GELU's value
// rounded, but for the last bit of tanh.
template <typename AUX> static void fp8_aux(cublasLtHandle_t h, int m, int n, int k, float alpha, float scale_aux, bool bias, bool amax)
{
  typedef __nv_fp8_e4m3 e4;
  const int ldaux = (m + 15) / 16 * 16;
  matrix<e4> a(k, m, k + 16 - k % 16, 1), b(k, n, k + 16 - k % 16, 1), d(m, n, m + 16 - m % 16, 1);
  matrix<__half> c(m, n, m, 1), bias_of(m, 1, m, 1);
  std::vector<AUX> aux(ldaux * n, AUX(3.f));
  std::vector<float> other = {scale_aux, -1};
  AUX *aux_at = put(aux);
  float *at = put(other);
  const float zero = 0;
  lt_call q(CUBLAS_OP_T, CUBLAS_OP_N);
  cublasLtMatrixLayoutCreate(&q.la, CUDA_R_8F_E4M3, k, m, a.ld), cublasLtMatrixLayoutCreate(&q.lb, CUDA_R_8F_E4M3, k, n, b.ld);
  cublasLtMatrixLayoutCreate(&q.lc, CUDA_R_16F, m, n, c.ld), cublasLtMatrixLayoutCreate(&q.ld, CUDA_R_8F_E4M3, m, n, d.ld);
  q.set(CUBLASLT_MATMUL_DESC_EPILOGUE, bias ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX);
  q.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, (const void *)bias_of.at), q.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, (void *)aux_at);
  q.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, (int64_t)ldaux);
  if (code<AUX>::t != CUDA_R_8F_E4M3) q.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, code<AUX>::t); // else D's
  if (scale_aux) q.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, (const void *)at);
  if (amax) q.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, (void *)(at + 1));
  bool right = !cublasLtMatmul(h, q.desc, &alpha, a.at, q.la, b.at, q.lb, &zero, c.at, q.lc, d.at, q.ld, nullptr, nullptr, 0, 0);
  d.fetch();
  cudaMemcpy(aux.data(), aux_at, aux.size() * sizeof(AUX), cudaMemcpyDeviceToHost);
  cudaMemcpy(other.data(), at, 2 * sizeof(float), cudaMemcpyDeviceToHost);
  double most = 0;
  for (int col = 0; col < n; col++)
    for (int r = 0; r < ldaux; r++) {
      const AUX got = aux[col * ldaux + r];
      double v = 0;
      if (r < m) v = expected(a, b, CUBLAS_OP_T, CUBLAS_OP_N, r, col, k, 0).real() * alpha + (bias ? bias_of.get(r, 0, 0).real() : 0);
      const AUX want = r < m ? AUX((float)v * (scale_aux ? scale_aux : 1)) : AUX(3.f);
      if (memcmp(&got, &want, sizeof want)) right = false;
      if (r >= m) continue;
      most = fmax(most, fabs(v));
      const double g = 0.5 * v * (1 + tanh(0.7978845608 * (v + 0.044715 * v * v * v))), near = 1e-6 * fabs(v) + 1e-9, have = d.get(r, col, 0).real();
      if (have < (float)e4((float)(g - near)) || have > (float)e4((float)(g + near))) right = false;
    }
  if (other[1] != (amax ? (float)most : -1)) right = false;
  say(right, "values before GELU in FP8", m, n, k, code<AUX>::t, bias);
  cudaFree(aux_at), cudaFree(at);
}

// Each of the 256 codes times 1.
template <typename A> static void every(cublasLtHandle_t h)
{
  const int m = 256, n = 16, k = 16;
  std::vector<A> a(m * k, A(0.f));
  std::vector<__nv_fp8_e4m3> b(n * k, __nv_fp8_e4m3(0.f));
  std::vector<float> d(m * n);
  for (int i = 0; i < m; i++) *(unsigned char *)&a[i * k + i % k] = i;
  for (int i = 0; i < n; i++) b[i * k + i] = __nv_fp8_e4m3(1.f); // D[r][r % 16] = code r
  A *at = put(a);
  __nv_fp8_e4m3 *bt = put(b);
  float *dt = put(d);
  const float one = 1, zero = 0;
  lt_call q(CUBLAS_OP_T, CUBLAS_OP_N);
  cublasLtMatrixLayoutCreate(&q.la, code<A>::t, k, m, k), cublasLtMatrixLayoutCreate(&q.lb, CUDA_R_8F_E4M3, k, n, k);
  cublasLtMatrixLayoutCreate(&q.lc, CUDA_R_32F, m, n, m), cublasLtMatrixLayoutCreate(&q.ld, CUDA_R_32F, m, n, m);
  bool right = !cublasLtMatmul(h, q.desc, &one, at, q.la, bt, q.lb, &zero, dt, q.lc, dt, q.ld, nullptr, nullptr, 0, 0);
  cudaMemcpy(d.data(), dt, d.size() * sizeof(float), cudaMemcpyDeviceToHost);
  for (int i = 0; i < m; i++) {
    const float want = (float)a[i * k + i % k], got = d[i % k * m + i];
    if (want == want ? got != want : got == got) right = false;
  }
  say(right, "every number of FP8", m, n, k, code<A>::t, 0);
  cudaFree(at), cudaFree(bt), cudaFree(dt);
}

static void all_fp8(cublasLtHandle_t h)
{
  typedef __nv_fp8_e4m3 e4;
  typedef __nv_fp8_e5m2 e5;
  every<e4>(h), every<e5>(h);
  fp8<e4, e4, __half, __half>(h, 64, 48, 96, 1, 0, {0, 0, 0, false, false, false});
  fp8<e4, e5, __nv_bfloat16, __nv_bfloat16>(h, 70, 33, 47, 0.5f, 1, {2, 0.25f, 0, false, false, false});
  fp8<e5, e4, float, float>(h, 16, 16, 1040, 1, 2, {0.5f, 4, 0, false, false, true}); // k is split
  fp8<e4, e4, __nv_bfloat16, e4>(h, 80, 96, 64, 1, 0, {1, 1, 0.125f, false, true, false});
  fp8<e4, e4, __half, e4>(h, 64, 32, 64, 1, 1, {4, 4, 1, false, true, true}); // beyond 448
  fp8<e4, e5, __nv_bfloat16, e5>(h, 33, 65, 1030, 1, 1, {1, 1, 0.25f, false, true, false});
  fp8<e4, e4, float, float>(h, 40, 50, 64, 1, 0, {1, 2, 0, true, false, false});
  fp8<e4, e4, __nv_bfloat16, __nv_bfloat16>(h, 65, 17, 32, 1, 0, {0.5f, 2, 0, true, true, true});
  fp8<e4, e4, __nv_bfloat16, __nv_bfloat16>(h, 1100, 1030, 48, 1, 0, {1, 1, 0, false, false, false}); // large tiles
  fp8_aux<e4>(h, 48, 40, 64, 1, 0, false, false), fp8_aux<e4>(h, 70, 33, 48, 0.5f, 0.125f, true, true);
  fp8_aux<e4>(h, 40, 16, 1040, 1, 4, true, true), fp8_aux<e5>(h, 33, 40, 64, 0.25f, 2, true, true); // k is split, beyond 448; another type
  fp8<e5, e5, float, float>(h, 32, 32, 32, 1, 0, {0, 0, 0, false, false, false}, false);
  fp8<e4, e4, float, float>(h, 32, 32, 32, 1, 0, {1, 1, 2, false, false, false}, false);
}

// D = alpha A^T B + beta C + bias. Sums may be off by rounding: k of them in FP32, the result in its own type.
template <bool FP4, typename D> static void of_blocks(cublasLtHandle_t h, int m, int n, int k, int pad, cudaDataType ta, cudaDataType tb,
                                                      std::vector<unsigned char> codes, float alpha, float beta, bool bias, bool served = true)
{
  const blocks<FP4> a(m, k, pad, ta, codes, 7), b(n, k, pad, tb, codes, 8);
  matrix<D> c(m, n, m + 3, 1), d(m, n, m + 1, 1), bias_of(m, 1, m, 1);
  const cublasLtMatmulMatrixScale_t mode = FP4 ? CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3 : CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0;
  lt_call q(CUBLAS_OP_T, CUBLAS_OP_N);
  cublasLtMatrixLayoutCreate(&q.la, ta, k, m, a.ld), cublasLtMatrixLayoutCreate(&q.lb, tb, k, n, b.ld);
  cublasLtMatrixLayoutCreate(&q.lc, code<D>::t, m, n, c.ld), cublasLtMatrixLayoutCreate(&q.ld, code<D>::t, m, n, d.ld);
  q.set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, mode), q.set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, mode);
  q.set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, (const void *)a.factors_at), q.set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, (const void *)b.factors_at);
  if (bias) q.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS), q.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, (const void *)bias_of.at);
  const cublasStatus_t s = cublasLtMatmul(h, q.desc, &alpha, a.at, q.la, b.at, q.lb, &beta, c.at, q.lc, d.at, q.ld, nullptr, nullptr, 0, 0);
  if (!served) return say(s == CUBLAS_STATUS_NOT_SUPPORTED, "refused factors of blocks", m, n, k, ta, tb);
  bool right = s == CUBLAS_STATUS_SUCCESS;
  const double eps = sizeof(D) == 4 ? ldexp(1, -24) : std::is_same<D, __half>::value ? ldexp(1, -11) : ldexp(1, -8);
  d.fetch();
  for (int col = 0; col < n; col++)
    for (int r = 0; r < m; r++) {
      if (m > 200 && r % 5 && r < m - 9) continue;
      double v = 0, size = 0;
      for (int i = 0; i < k; i++) {
        const double x = a.element(r, i) * b.element(col, i) * a.factor(r, i) * b.factor(col, i) * alpha;
        v += x, size += fabs(x);
      }
      if (beta) v += beta * c.get(r, col, 0).real();
      if (bias) v += bias_of.get(r, 0, 0).real();
      const double got = d.get(r, col, 0).real();
      if (std::isnan(v) ? !std::isnan(got) : !(fabs(got - v) <= (k / 16 + 4) * (ldexp(size, -24) + ldexp(1, -149)) + eps * fabs(v))) right = false;
    }
  say(right, "factors of blocks", m, n, k, ta, tb);
}

// FP8 with FP32 factors of 128 k: of each line (all lines of a block together), or of 128 lines (all blocks along k together,
// their number a multiple of four).
struct wide_blocks {
  blocks<false> x;
  bool squares;
  int lines, along;
  std::vector<float> f;
  float *at;
  wide_blocks(int n, int k, bool s, unsigned seed) : x(n, k, 16, CUDA_R_8F_E4M3, {127}, seed), squares(s), lines(n), along(((k + 127) / 128 + 3) / 4 * 4)
  {
    for (int i = 0; i < (s ? (n + 127) / 128 * along : n * ((k + 127) / 128)); i++) f.push_back(0.5f + (i * 7 + seed) % 11 * 0.3f);
    at = put(f);
  }
  ~wide_blocks() { cudaFree(at); }
  double element(int line, int i) const { return x.element(line, i) * f[squares ? line / 128 * along + i / 128 : i / 128 * lines + line]; }
};

static void of_wide_blocks(cublasLtHandle_t h, int m, int n, int k, bool squares_a, bool squares_b, bool served = true)
{
  const wide_blocks a(m, k, squares_a, 7), b(n, k, squares_b, 8);
  matrix<float> d(m, n, m + 1, 1);
  const float one = 1, zero = 0;
  const cublasLtMatmulMatrixScale_t modes[] = {CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F, CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F};
  lt_call q(CUBLAS_OP_T, CUBLAS_OP_N);
  cublasLtMatrixLayoutCreate(&q.la, CUDA_R_8F_E4M3, k, m, a.x.ld), cublasLtMatrixLayoutCreate(&q.lb, CUDA_R_8F_E4M3, k, n, b.x.ld);
  cublasLtMatrixLayoutCreate(&q.lc, CUDA_R_32F, m, n, d.ld), cublasLtMatrixLayoutCreate(&q.ld, CUDA_R_32F, m, n, d.ld);
  q.set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, modes[squares_a]), q.set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, modes[squares_b]);
  q.set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, (const void *)a.at), q.set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, (const void *)b.at);
  const cublasStatus_t s = cublasLtMatmul(h, q.desc, &one, a.x.at, q.la, b.x.at, q.lb, &zero, d.at, q.lc, d.at, q.ld, nullptr, nullptr, 0, 0);
  if (!served) return say(s == CUBLAS_STATUS_NOT_SUPPORTED, "refused factors of 128", m, n, k, squares_a, squares_b);
  bool right = s == CUBLAS_STATUS_SUCCESS;
  d.fetch();
  for (int col = 0; col < n; col++)
    for (int r = 0; r < m; r++) {
      if (m > 200 && r % 5 && r < m - 9) continue;
      double v = 0, size = 0;
      for (int i = 0; i < k; i++) v += a.element(r, i) * b.element(col, i), size += fabs(a.element(r, i) * b.element(col, i));
      if (!(fabs(d.get(r, col, 0).real() - v) <= (k / 16 + 4) * ldexp(size, -24) + ldexp(fabs(v), -24))) right = false;
    }
  say(right, "factors of 128", m, n, k, squares_a, squares_b);
}

static void all_of_wide_blocks(cublasLtHandle_t h)
{
  of_wide_blocks(h, 64, 48, 128, false, false);
  of_wide_blocks(h, 150, 300, 416, false, true); // the last blocks are not whole
  of_wide_blocks(h, 260, 70, 640, true, false);  // more than four along k
  of_wide_blocks(h, 33, 17, 2080, false, false); // k is split
  of_wide_blocks(h, 1100, 1030, 144, true, false);
  of_wide_blocks(h, 64, 64, 128, true, true, false);
}

static void all_of_blocks(cublasLtHandle_t h)
{
  const cudaDataType e4 = CUDA_R_8F_E4M3, e5 = CUDA_R_8F_E5M2, f4 = CUDA_R_4F_E2M1;
  const std::vector<unsigned char> one = {127}, powers = {124, 126, 127, 128, 131}, far = {0, 60, 127, 160}, with_nan = {127, 127, 127, 127, 127, 127, 127, 255};
  std::vector<unsigned char> all;
  for (int i = 0; i < 127; i++) all.push_back(i | (i & 1) << 7); // the sign does not count
  of_blocks<false, float>(h, 64, 48, 96, 0, e4, e4, one, 1, 0, false);
  of_blocks<false, float>(h, 130, 150, 416, 16, e4, e5, powers, 0.5f, 1, false); // more than a tile of factors both ways
  of_blocks<false, __nv_bfloat16>(h, 70, 33, 80, 0, e5, e4, powers, 1, 2, true); // the last block is half of one
  of_blocks<false, float>(h, 40, 64, 64, 0, e4, e4, far, 1, 0, false);
  of_blocks<false, float>(h, 40, 64, 128, 0, e4, e4, with_nan, 1, 0, false);
  of_blocks<false, __half>(h, 32, 16, 2080, 32, e4, e4, {118, 119}, 1, 0, false); // k is split
  of_blocks<false, __nv_bfloat16>(h, 1100, 1030, 32, 0, e4, e4, powers, 1, 0, false); // large tiles
  of_blocks<true, float>(h, 64, 48, 96, 0, f4, f4, {0x38}, 1, 0, false);
  of_blocks<true, float>(h, 256, 150, 160, 32, f4, f4, all, 1, 0, false);
  of_blocks<true, __half>(h, 70, 33, 64, 0, f4, f4, {0x30, 0x3c, 0x41}, 0.25f, 1, true);
  of_blocks<true, __nv_bfloat16>(h, 33, 140, 2112, 0, f4, f4, all, 0.125f, 0, false); // k is split
  of_blocks<true, __nv_bfloat16>(h, 1100, 1030, 32, 0, f4, f4, all, 1, 0, false);
  of_blocks<false, float>(h, 32, 32, 32, 0, e5, e5, one, 1, 0, false, false);
  of_blocks<true, float>(h, 32, 32, 48, 16, f4, f4, one, 1, 0, false, false); // lines off their borders
}

// The nearest TF32, ties away from 0.
static double tf32(float v)
{
  unsigned u;
  memcpy(&u, &v, 4);
  u = (u + 0x1000) & ~0x1fffu;
  memcpy(&v, &u, 4);
  return v;
}

enum way { BY_TYPE, BY_MODE, BY_LT, NOT };

static void tf32_product(cublasHandle_t h, cublasLtHandle_t lt, int m, int n, int k, cublasOperation_t ta, cublasOperation_t tb, int pad, way w)
{
  const int za = ta == CUBLAS_OP_N ? m : k, zb = tb == CUBLAS_OP_N ? k : n;
  matrix<float> a(za, ta == CUBLAS_OP_N ? k : m, za + pad, 1), b(zb, tb == CUBLAS_OP_N ? n : k, zb + pad, 1), c(m, n, m, 1);
  static unsigned state = 99;
  for (matrix<float> *x : {&a, &b}) {
    for (float &v : x->host) state = state * 1664525u + 1013904223u, v = (int)(state >> 8) / 8388608.0f - 1;
    for (size_t i = 0; i < x->host.size(); i += 37) x->host[i] = 1 + 1 / 2048.0f; // a tie
    cudaMemcpy(x->at, x->host.data(), x->host.size() * 4, cudaMemcpyHostToDevice);
  }
  const float one = 1, zero = 0;
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST);
  cublasSetMathMode(h, w == BY_MODE ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH);
  cublasStatus_t s;
  if (w == BY_LT) {
    lt_call q(ta, tb);
    cublasLtMatmulDescDestroy(q.desc);
    cublasLtMatmulDescCreate(&q.desc, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F);
    q.set(CUBLASLT_MATMUL_DESC_TRANSA, ta), q.set(CUBLASLT_MATMUL_DESC_TRANSB, tb);
    cublasLtMatrixLayoutCreate(&q.la, CUDA_R_32F, za, ta == CUBLAS_OP_N ? k : m, a.ld);
    cublasLtMatrixLayoutCreate(&q.lb, CUDA_R_32F, zb, tb == CUBLAS_OP_N ? n : k, b.ld);
    cublasLtMatrixLayoutCreate(&q.lc, CUDA_R_32F, m, n, m), cublasLtMatrixLayoutCreate(&q.ld, CUDA_R_32F, m, n, m);
    s = cublasLtMatmul(lt, q.desc, &one, a.at, q.la, b.at, q.lb, &zero, c.at, q.lc, c.at, q.ld, nullptr, nullptr, 0, 0);
  } else if (w == BY_TYPE) {
    s = cublasGemmEx(h, ta, tb, m, n, k, &one, a.at, CUDA_R_32F, a.ld, b.at, CUDA_R_32F, b.ld, &zero, c.at, CUDA_R_32F, m,
                     CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_GEMM_DEFAULT);
  } else {
    s = cublasSgemm(h, ta, tb, m, n, k, &one, a.at, a.ld, b.at, b.ld, &zero, c.at, m);
  }
  cublasSetMathMode(h, CUBLAS_DEFAULT_MATH);
  c.fetch();
  bool right = s == CUBLAS_STATUS_SUCCESS;
  for (int col = 0; col < n; col++)
    for (int r = 0; r < m; r++) {
      if (m > 100 && r % 7 && r < m - 9) continue;
      double v = 0, size = 0;
      for (int i = 0; i < k; i++) {
        const float x = ta == CUBLAS_OP_N ? a.get(r, i, 0).real() : a.get(i, r, 0).real();
        const float y = tb == CUBLAS_OP_N ? b.get(i, col, 0).real() : b.get(col, i, 0).real();
        v += w == NOT ? (double)x * y : tf32(x) * tf32(y);
        size += fabs((double)x * y);
      }
      // A hundredth of what one truncation of one operand costs.
      if (fabs(c.get(r, col, 0).real() - v) > 4e-6 * size) right = false;
    }
  say(right, "TF32", m, n, k, ta, tb);
}

static void all_tf32(cublasHandle_t h, cublasLtHandle_t lt)
{
  const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T};
  for (cublasOperation_t ta : ops)
    for (cublasOperation_t tb : ops) {
      tf32_product(h, lt, 64, 72, 40, ta, tb, 4, BY_TYPE);
      tf32_product(h, lt, 70, 33, 41, ta, tb, 1, BY_MODE);
      tf32_product(h, lt, 33, 5, 1100, ta, tb, 3, BY_LT);
      tf32_product(h, lt, 64, 72, 40, ta, tb, 0, NOT);
      tf32_product(h, lt, 1100, 1030, 30, ta, tb, ta == tb ? 0 : 2, BY_TYPE);
    }
}

// Groups of other shapes; the matrices of one group have one shape.
template <typename T> static void groups(cublasHandle_t h, cublasComputeType_t compute, bool plain)
{
  typedef typename std::conditional<std::is_same<T, double>::value, double, float>::type S;
  const int n_groups = 4, m[] = {64, 5, 17, 9}, n[] = {24, 70, 33, 8}, k[] = {40, 130, 8, 7}, size[] = {2, 1, 3, 0};
  const cublasOperation_t ta[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_N, CUBLAS_OP_T}, tb[] = {CUBLAS_OP_N, CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_T};
  const S alpha[] = {1, 2, 0.5, 1}, beta[] = {0, 1, 3, 0};
  int lda[4], ldb[4], ldc[4];
  std::vector<matrix<T> *> all[3];
  std::vector<void *> at[3];
  for (int g = 0; g < n_groups; g++) {
    lda[g] = (ta[g] == CUBLAS_OP_N ? m[g] : k[g]) + g, ldb[g] = (tb[g] == CUBLAS_OP_N ? k[g] : n[g]) + 1, ldc[g] = m[g] + 8;
    for (int i = 0; i < size[g]; i++) {
      all[0].push_back(new matrix<T>(0, ta[g] == CUBLAS_OP_N ? k[g] : m[g], lda[g], 1));
      all[1].push_back(new matrix<T>(0, tb[g] == CUBLAS_OP_N ? n[g] : k[g], ldb[g], 1));
      all[2].push_back(new matrix<T>(0, n[g], ldc[g], 1));
      for (int j = 0; j < 3; j++) at[j].push_back(all[j].back()->at);
    }
  }
  void **lists[3];
  for (int j = 0; j < 3; j++) lists[j] = put(at[j]);
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST);
  cublasStatus_t s;
  if (!plain) s = cublasGemmGroupedBatchedEx(h, ta, tb, m, n, k, alpha, lists[0], code<T>::t, lda, lists[1], code<T>::t, ldb, beta, lists[2], code<T>::t, ldc, n_groups, size, compute);
  else if (sizeof(S) == 4) s = cublasSgemmGroupedBatched(h, ta, tb, m, n, k, (const float *)alpha, (float **)lists[0], lda, (float **)lists[1], ldb, (const float *)beta, (float **)lists[2], ldc, n_groups, size);
  else s = cublasDgemmGroupedBatched(h, ta, tb, m, n, k, (const double *)alpha, (double **)lists[0], lda, (double **)lists[1], ldb, (const double *)beta, (double **)lists[2], ldc, n_groups, size);
  int z = 0;
  for (int g = 0; g < n_groups; g++)
    for (int i = 0; i < size[g]; i++, z++) {
      const std::vector<T> old = all[2][z]->host;
      bool right = s == CUBLAS_STATUS_SUCCESS;
      all[2][z]->fetch();
      for (int c = 0; c < n[g]; c++)
        for (int r = 0; r < ldc[g]; r++) {
          wide want = as<T>::to(old[(size_t)c * ldc[g] + r]);
          if (r < m[g]) want = (double)alpha[g] * expected(*all[0][z], *all[1][z], ta[g], tb[g], r, c, k[g], 0) + (beta[g] ? (double)beta[g] * want : 0);
          if (std::abs(all[2][z]->get(r, c, 0) - want) > (sizeof(T) == 2 ? 8e-3 : 1e-5) * (std::abs(want) + 1)) right = false;
        }
      say(right, "a product of a group", m[g], n[g], k[g], ta[g], tb[g]);
    }
  for (int j = 0; j < 3; j++) {
    cudaFree(lists[j]);
    for (matrix<T> *x : all[j]) delete x;
  }
}

int main()
{
  cublasHandle_t h;
  cublasLtHandle_t lt;
  cudaDeviceProp prop;
  if (cublasCreate(&h) || cublasLtCreate(&lt) || cudaGetDeviceProperties(&prop, 0)) return 1;
  if (prop.major * 10 + prop.minor >= 89) all_fp8(lt);
  else fp8<__nv_fp8_e4m3, __nv_fp8_e4m3, float, float>(lt, 32, 32, 32, 1, 0, {0, 0, 0, false, false, false}, false);
  if (prop.major >= 10) all_of_blocks(lt);
  else if (prop.major >= 9) of_blocks<false, float>(lt, 32, 32, 32, 0, CUDA_R_8F_E4M3, CUDA_R_8F_E4M3, {127}, 1, 0, false, false);
  if (prop.major == 9) all_of_wide_blocks(lt);
  else of_wide_blocks(lt, 64, 48, 128, false, false, false);
  if (prop.major >= 8) all_tf32(h, lt);
  groups<float>(h, CUBLAS_COMPUTE_32F, false), groups<float>(h, CUBLAS_COMPUTE_32F, true);
  groups<double>(h, CUBLAS_COMPUTE_64F, false), groups<double>(h, CUBLAS_COMPUTE_64F, true);
  groups<__half>(h, CUBLAS_COMPUTE_32F, false), groups<__nv_bfloat16>(h, CUBLAS_COMPUTE_32F, false);
  cublasLtDestroy(lt), cublasDestroy(h);
  printf("%d products, %d wrong\n", cases, failures);
  return failures != 0;
}
