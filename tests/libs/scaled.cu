// Products of FP8 and FP4 with factors of blocks: results in FP8 and FP4 with factors of their own, batches, epilogues. Sums on
// the host are in binary64, and where they are exact in FP32, results are compared bit by bit with the toolkit's host
// conversions; else an element must be the nearest to what it stands for.
#include <memory>

#include "narrow.cuh"

struct options {
  float alpha, beta;
  float scale_d;   // 0: none
  int batch;
  int epilogue;    // cublasLtEpilogue_t
  bool near;       // sums or the epilogue are not exact
  cublasStatus_t status; // what must come back
  bool no_room;    // no place for the factors of D
};

static bool is_fp4(cudaDataType t) { return t == CUDA_R_4F_E2M1; }
static bool is_narrow(cudaDataType t) { return is_fp4(t) || t == CUDA_R_8F_E4M3 || t == CUDA_R_8F_E5M2; }
static double half_of(__half_raw v) { return __half2float(__half(v)); }
static double value_of(unsigned code, cudaDataType t)
{
  if (is_fp4(t)) return half_of(__nv_cvt_fp4_to_halfraw(code, __NV_E2M1));
  return half_of(__nv_cvt_fp8_to_halfraw(code, t == CUDA_R_8F_E4M3 ? __NV_E4M3 : __NV_E5M2));
}
static unsigned code_of(float v, cudaDataType t)
{
  if (is_fp4(t)) return __nv_cvt_float_to_fp4(v, __NV_E2M1, cudaRoundNearest);
  return __nv_cvt_float_to_fp8(v, __NV_SATFINITE, t == CUDA_R_8F_E4M3 ? __NV_E4M3 : __NV_E5M2);
}
static double largest(cudaDataType t) { return is_fp4(t) ? 6 : t == CUDA_R_8F_E4M3 ? 448 : 57344; }

// The factor of a block whose largest absolute value is `most`: e4m3 for FP4, else the smallest power of two that is not less.
static unsigned factor_code(float most, cudaDataType t)
{
  const float s = most / (float)largest(t);
  if (is_fp4(t)) return __nv_cvt_float_to_fp8(s, __NV_SATFINITE, __NV_E4M3);
  if (s == 0) return 0;
  int e;
  const double half = frexp(s, &e); // s = half 2^e, half in [0.5, 1)
  return std::min(254, std::max(0, (half == 0.5 ? e - 1 : e) + 127));
}
static double factor_value(unsigned code, cudaDataType t)
{
  return is_fp4(t) ? half_of(__nv_cvt_fp8_to_halfraw(code & 0x7f, __NV_E4M3)) : ldexp(1, (int)code - 127);
}

static double gelu_slope(double x)
{
  const double t = tanh(0.7978845608 * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608 * (1 + 3 * 0.044715 * x * x);
}
static double gelu(double x) { return 0.5 * x * (1 + tanh(0.7978845608 * (x + 0.044715 * x * x * x))); }

// Matrices of a batch of which each has factors.
template <bool FP4> struct stack {
  std::vector<std::unique_ptr<blocks<FP4>>> of;
  unsigned char *at, *factors_at;
  int64_t stride; // elements
  stack(int lines, int k, int pad, cudaDataType t, std::vector<unsigned char> codes, std::vector<unsigned char> numbers, unsigned seed, int batch)
  {
    std::vector<unsigned char> data, there;
    for (int z = 0; z < batch; z++) {
      of.emplace_back(new blocks<FP4>(lines, k, pad, t, codes, seed + z, numbers));
      data.insert(data.end(), of[z]->data.begin(), of[z]->data.end());
      data.resize(data.size() + 16);
      there.insert(there.end(), of[z]->there.begin(), of[z]->there.end());
    }
    stride = (int64_t)(of[0]->data.size() + 16) * (FP4 ? 2 : 1);
    at = put(data), factors_at = put(there);
  }
  ~stack() { cudaFree(at), cudaFree(factors_at); }
};

static void in_batch(cublasLtMatrixLayout_t l, int batch, int64_t stride)
{
  cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch);
  cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride);
}

// D, of any type, and the factors of its blocks down the columns.
struct result {
  cudaDataType type;
  int m, n, ld, block, along, across, bits;
  int64_t stride;
  std::vector<unsigned char> host, before, factors;
  unsigned char *at, *factors_at;
  result(cudaDataType t, int m_, int n_, int batch) : type(t), m(m_), n(n_), ld(m_ + (is_fp4(t) ? 6 : 5)), block(is_fp4(t) ? 16 : 32)
  {
    bits = is_fp4(t) ? 4 : is_narrow(t) ? 8 : t == CUDA_R_32F ? 32 : 16;
    along = ((m + block - 1) / block + 3) / 4, across = (n + 127) / 128;
    stride = (int64_t)ld * n + 8;
    host.assign(stride * batch * bits / 8, 0x5a), factors.assign((size_t)along * across * batch * 512, 0xff);
    before = host;
    at = put(host), factors_at = put(factors);
  }
  ~result() { cudaFree(at), cudaFree(factors_at); }
  void fetch()
  {
    cudaMemcpy(host.data(), at, host.size(), cudaMemcpyDeviceToHost);
    cudaMemcpy(factors.data(), factors_at, factors.size(), cudaMemcpyDeviceToHost);
  }
  unsigned code(const std::vector<unsigned char> &v, int r, int c, int z) const
  {
    const int64_t i = z * stride + (int64_t)c * ld + r;
    return is_fp4(type) ? v[i / 2] >> i % 2 * 4 & 15 : v[i];
  }
  unsigned factor(int r, int c, int z) const
  {
    const int b = r / block;
    return factors[(((size_t)z * across + c / 128) * along + b / 4) * 512 + c % 32 * 16 + c / 32 % 4 * 4 + b % 4];
  }
  double get(int r, int c, int z) const
  {
    const unsigned char *const p = &host[(z * stride + (int64_t)c * ld + r) * bits / 8];
    return type == CUDA_R_32F ? *(const float *)p : type == CUDA_R_16F ? (double)__half2float(*(const __half *)p) : (double)__bfloat162float(*(const __nv_bfloat16 *)p);
  }
};

// A block of D against the values it stands for (0 behind the edge); slack: how far off sums may be.
static bool block_is(const result &d, const float *v, int r0, int c, int z, bool near, double slack)
{
  float most = 0; // what is not a number does not count
  for (int i = 0; i < d.block; i++) most = std::max(most, fabsf(v[i]));
  const unsigned f = d.factor(r0, c, z);
  if (f != factor_code(most, d.type) && !(near && (f == factor_code(most * 1.0001f, d.type) || f == factor_code(most * 0.9999f, d.type)))) return false;
  const double s = factor_value(f, d.type);
  for (int i = 0; i < d.block && r0 + i < d.m; i++) {
    const unsigned got = d.code(d.host, r0 + i, c, z);
    if (std::isnan(v[i])) {
      if (!std::isnan(value_of(got, d.type))) return false;
      continue;
    }
    if (!near) {
      const float inverse = s ? (float)(1 / s) : 0;
      if (got != code_of(v[i] * inverse, d.type)) return false;
      continue;
    }
    double nearest = INFINITY;
    for (int code = 0; code < (is_fp4(d.type) ? 16 : 256); code++) {
      const double x = value_of(code, d.type);
      if (std::isfinite(x)) nearest = fmin(nearest, fabs(x * s - v[i]));
    }
    if (!(fabs(value_of(got, d.type) * s - v[i]) <= nearest + slack)) return false;
  }
  return true;
}

template <bool FP4> struct product {
  const options &o;
  int m, n, k;
  stack<FP4> a, b;
  matrix<__nv_bfloat16> c, bias;
  result d;
  std::vector<__nv_bfloat16> aux;
  std::vector<unsigned> mask;
  __nv_bfloat16 *aux_at;
  unsigned *mask_at;
  int ldaux;
  float *scale, amax = -1;
  cublasStatus_t status;

  product(cublasLtHandle_t h, const options &opt, int m_, int n_, int k_, int pad, cudaDataType ta, cudaDataType tb, cudaDataType td,
          std::vector<unsigned char> codes, std::vector<unsigned char> numbers)
      : o(opt), m(m_), n(n_), k(k_), a(m_, k_, pad, ta, codes, numbers, 7, opt.batch), b(n_, k_, pad, tb, codes, numbers, 80, opt.batch),
        c(m_, n_, m_ + 3, opt.batch), bias(m_, 1, m_, opt.batch), d(td, m_, n_, opt.batch), ldaux((m_ + 127) / 128 * 128)
  {
    mask.resize((size_t)ldaux / 32 * n * o.batch), aux.resize((size_t)ldaux * n * o.batch);
    unsigned state = 5;
    for (unsigned &w : mask) w = state = state * 1664525u + 1013904223u;
    for (__nv_bfloat16 &x : aux) x = (float)number();
    aux_at = put(aux), mask_at = put(mask), scale = put(std::vector<float>{o.scale_d, amax});
    const cublasLtMatmulMatrixScale_t mode = FP4 ? CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3 : CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0;
    lt_call q(CUBLAS_OP_T, CUBLAS_OP_N);
    cublasLtMatrixLayoutCreate(&q.la, ta, k, m, a.of[0]->ld), cublasLtMatrixLayoutCreate(&q.lb, tb, k, n, b.of[0]->ld);
    cublasLtMatrixLayoutCreate(&q.lc, CUDA_R_16BF, m, n, c.ld), cublasLtMatrixLayoutCreate(&q.ld, td, m, n, d.ld);
    if (o.batch > 1) in_batch(q.la, o.batch, a.stride), in_batch(q.lb, o.batch, b.stride), in_batch(q.lc, o.batch, c.stride), in_batch(q.ld, o.batch, d.stride);
    q.set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, mode), q.set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, mode);
    q.set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, (const void *)a.factors_at), q.set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, (const void *)b.factors_at);
    // What is set to what it is anyway changes nothing.
    q.set(CUBLASLT_MATMUL_DESC_C_SCALE_MODE, CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F), q.set(CUBLASLT_MATMUL_DESC_D_SCALE_MODE, CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F);
    q.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE, CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F);
    q.set(CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE, is_narrow(td) ? mode : CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F);
    if (is_narrow(td) && !o.no_room) q.set(CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER, (void *)d.factors_at);
    if (o.scale_d) q.set(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, (const void *)scale);
    q.set(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, (void *)(scale + 1));
    if (o.epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
      q.set(CUBLASLT_MATMUL_DESC_EPILOGUE, o.epilogue);
      q.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, (const void *)bias.at), q.set(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, (int64_t)bias.stride);
      const bool bits = o.epilogue & (CUBLASLT_EPILOGUE_RELU | 8);
      q.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, bits ? (void *)mask_at : (void *)aux_at);
      if (!bits) q.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, CUDA_R_16BF);
      q.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, (int64_t)ldaux), q.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, (int64_t)ldaux * n);
    }
    cublasLtMatmulPreference_t any;
    cublasLtMatmulHeuristicResult_t found;
    int n_found = 0;
    cublasLtMatmulPreferenceCreate(&any);
    const cublasStatus_t known = cublasLtMatmulAlgoGetHeuristic(h, q.desc, q.la, q.lb, q.lc, q.ld, any, 1, &found, &n_found);
    cublasLtMatmulPreferenceDestroy(any);
    found_right = o.no_room || (o.status ? known == o.status : !known && n_found == 1);
    status = cublasLtMatmul(h, q.desc, &o.alpha, a.at, q.la, b.at, q.lb, &o.beta, c.at, q.lc, d.at, q.ld, nullptr, nullptr, 0, 0);
    d.fetch();
    cudaMemcpy(&amax, scale + 1, sizeof amax, cudaMemcpyDeviceToHost);
    old = mask;
    cudaMemcpy(mask.data(), mask_at, mask.size() * 4, cudaMemcpyDeviceToHost);
    const std::vector<__nv_bfloat16> old_aux = aux;
    cudaMemcpy(aux.data(), aux_at, aux.size() * 2, cudaMemcpyDeviceToHost);
    if (!(o.epilogue & 128) || !(o.epilogue & CUBLASLT_EPILOGUE_GELU)) aux = old_aux;
  }
  ~product() { cudaFree(aux_at), cudaFree(mask_at), cudaFree(scale); }

  std::vector<unsigned> old;
  bool aux_right = true, found_right;
  double largest_seen = 0, size_of_it = 0; // of D before its factors
  // What D is before it is rounded; size: the sum of the absolute values of what it is a sum of.
  double value(int r, int col, int z, double *size)
  {
    const double v = plain_value(r, col, z, size);
    if (fabs(v) > largest_seen) largest_seen = fabs(v), size_of_it = *size;
    return v;
  }
  double plain_value(int r, int col, int z, double *size)
  {
    double v = 0;
    *size = 0;
    const blocks<FP4> &x = *a.of[z], &y = *b.of[z];
    for (int i = 0; i < k; i++) {
      const double t = x.element(r, i) * y.element(col, i) * x.factor(r, i) * y.factor(col, i) * o.alpha;
      v += t, *size += fabs(t);
    }
    if (o.beta) v += o.beta * c.get(r, col, z).real();
    if (o.epilogue & CUBLASLT_EPILOGUE_BIAS) v += bias.get(r, 0, z).real();
    const size_t at = ((size_t)z * n + col) * ldaux + r;
    const bool bit = mask[at / 32] >> at % 32 & 1;
    if (o.epilogue & CUBLASLT_EPILOGUE_RELU) {
      if ((o.epilogue & 128) && bit != (v > 0)) aux_right = false;
      return fmax(v, 0);
    }
    if (o.epilogue == CUBLASLT_EPILOGUE_DRELU) return bit ? v : 0;
    if (o.epilogue == CUBLASLT_EPILOGUE_DGELU) return v * gelu_slope((float)aux[at]);
    if (o.epilogue & CUBLASLT_EPILOGUE_GELU) {
      if ((o.epilogue & 128) && fabs((float)aux[at] - v) > ldexp(fabs(v), -8) + 1e-6 * *size) aux_right = false;
      return gelu(v);
    }
    return v;
  }
  bool narrow_column(int col, int z)
  {
    bool right = true;
    for (int r0 = 0; r0 < m; r0 += d.block) {
      float v[32] = {};
      double most = 0;
      for (int i = 0; i < d.block && r0 + i < m; i++) {
        double size;
        v[i] = (float)value(r0 + i, col, z, &size) * (o.scale_d ? o.scale_d : 1);
        most = fmax(most, size * (o.scale_d ? o.scale_d : 1));
      }
      if (!block_is(d, v, r0, col, z, o.near, (k / 16 + 4) * ldexp(most, -24))) right = false;
    }
    for (int r = m; r < d.ld; r++)
      if (d.code(d.host, r, col, z) != d.code(d.before, r, col, z)) right = false;
    return right;
  }
  bool wide_column(int col, int z)
  {
    bool right = true;
    const double eps = d.type == CUDA_R_32F ? ldexp(1, -24) : ldexp(1, -8);
    for (int r = 0; r < m; r++) {
      double size, v = value(r, col, z, &size);
      if (!(fabs(d.get(r, col, z) - v) <= (k / 16 + 4) * ldexp(size, -24) + (o.near ? 1e-6 : eps) * fabs(v) + eps * fabs(v))) right = false;
    }
    return right;
  }
  void check(const char *what)
  {
    bool right = status == o.status;
    for (int z = 0; z < o.batch && !o.status; z++)
      for (int col = 0; col < n; col++) {
        if (n > 300 && col % 16 && col < n - 5) continue;
        if (!(is_narrow(d.type) ? narrow_column(col, z) : wide_column(col, z))) right = false;
      }
    if (!o.status && n <= 300 && !(fabs(amax - largest_seen) <= (o.near ? (k / 16 + 4) * ldexp(size_of_it, -24) + 1e-6 * largest_seen : ldexp(largest_seen, -24)))) right = false;
    say(right && aux_right && found_right, what, m, n, k, d.type, o.epilogue);
  }
};

static const std::vector<unsigned char> few_powers = {126, 127, 128}, few_e4m3 = {0x38, 0x30, 0xbc}; // 1, 0.5, -1.5 (no sign)
static const std::vector<unsigned char> integers = {0x00, 0x38, 0xb8, 0x40, 0xc0, 0x44, 0x30};      // e4m3: 0, 1, -1, 2, -2, 3, 0.5

static void fp8(cublasLtHandle_t h, const char *what, options o, int m, int n, int k, cudaDataType td, std::vector<unsigned char> codes = few_powers,
                std::vector<unsigned char> numbers = integers, cudaDataType ta = CUDA_R_8F_E4M3)
{
  product<false>(h, o, m, n, k, 16, ta, CUDA_R_8F_E4M3, td, codes, numbers).check(what);
}
static void fp4(cublasLtHandle_t h, const char *what, options o, int m, int n, int k, cudaDataType td, std::vector<unsigned char> codes = few_e4m3)
{
  product<true>(h, o, m, n, k, 32, CUDA_R_4F_E2M1, CUDA_R_4F_E2M1, td, codes, {}).check(what);
}

enum { NONE = CUBLASLT_EPILOGUE_DEFAULT };

static void results(cublasLtHandle_t h)
{
  const cudaDataType e4 = CUDA_R_8F_E4M3, e5 = CUDA_R_8F_E5M2, f4 = CUDA_R_4F_E2M1;
  const char *const what = "a result with factors of blocks";
  fp8(h, what, {1, 0, 0, 1, NONE}, 64, 48, 96, e4);
  fp8(h, what, {1, 0, 0, 1, NONE}, 64, 48, 96, e5);
  fp8(h, what, {0.5f, 2, 0, 1, NONE}, 301, 150, 64, e4); // more than a tile of factors both ways, a part of a block
  fp8(h, what, {1, 0, 0, 1, NONE}, 33, 17, 2112, e5);    // k is split
  fp8(h, what, {1, 1, 0, 1, NONE}, 1100, 1030, 32, e4);
  fp8(h, what, {0, 0, 0, 1, NONE}, 64, 16, 32, e4);      // all is 0
  fp8(h, what, {ldexpf(1, -126), 0, 0, 1, NONE}, 96, 40, 64, e4); // quotients are subnormal
  fp8(h, what, {ldexpf(1, 110), 0, 0, 1, NONE}, 96, 40, 64, e4);
  fp8(h, what, {1, 0, 0, 1, NONE}, 64, 40, 64, e4, few_powers, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x38, 0x40, 0x7f}); // not a number
  fp8(h, what, {1, 0, 0, 1, NONE, true}, 100, 40, 160, e4, {120, 124, 127, 131}, {}); // all numbers
  fp8(h, what, {1, 1, 0, 1, NONE, true}, 70, 33, 1056, e5, {120, 124, 127, 131}, {}, e5);
  fp4(h, what, {1, 0, 0, 1, NONE}, 64, 48, 96, f4);
  fp4(h, what, {1, 0, 0.37f, 1, NONE}, 302, 150, 64, f4);
  fp4(h, what, {0.25f, 1, 4, 1, NONE}, 34, 17, 2112, f4); // k is split
  fp4(h, what, {1, 0, 16, 1, NONE}, 1100, 1030, 32, f4);  // factors beyond 448
  fp4(h, what, {1, 0, ldexpf(1, -14), 1, NONE}, 64, 48, 64, f4); // factors that are 0
  fp4(h, what, {1, 0, 0, 1, NONE, true}, 78, 40, 160, f4, {0x20, 0x2b, 0x35, 0x3f});
}

static void batches(cublasLtHandle_t h)
{
  const cudaDataType e4 = CUDA_R_8F_E4M3, f4 = CUDA_R_4F_E2M1;
  const char *const what = "a batch with factors of blocks";
  fp8(h, what, {1, 1, 0, 3, NONE}, 150, 140, 64, CUDA_R_32F);
  fp8(h, what, {1, 1, 0, 3, NONE}, 150, 140, 64, e4);
  fp8(h, what, {1, 0, 0, 4, NONE}, 40, 24, 2080, e4); // k is split
  fp4(h, what, {1, 0, 0, 3, NONE}, 140, 150, 64, CUDA_R_16BF);
  fp4(h, what, {1, 1, 0.5f, 3, NONE}, 140, 150, 64, f4);
  fp4(h, what, {1, 0, 0, 2, CUBLASLT_EPILOGUE_RELU_BIAS}, 64, 24, 2112, f4);
}

static void epilogues(cublasLtHandle_t h)
{
  const cudaDataType e4 = CUDA_R_8F_E4M3, f4 = CUDA_R_4F_E2M1;
  const char *const what = "an epilogue with factors of blocks";
  for (cudaDataType t : {e4, CUDA_R_32F, CUDA_R_16BF}) {
    fp8(h, what, {1, 0, 0, 1, CUBLASLT_EPILOGUE_BIAS}, 72, 40, 64, t);
    fp8(h, what, {1, 1, 0, 2, CUBLASLT_EPILOGUE_RELU_AUX_BIAS}, 72, 40, 64, t);
    fp8(h, what, {1, 0, 0, 2, CUBLASLT_EPILOGUE_DRELU}, 72, 40, 64, t);
    fp8(h, what, {0.125f, 0, 0, 2, CUBLASLT_EPILOGUE_GELU_AUX_BIAS, true}, 72, 40, 64, t);
    fp8(h, what, {0.125f, 0, 0, 1, CUBLASLT_EPILOGUE_GELU, true}, 72, 40, 64, t);
    fp8(h, what, {1, 0, 0, 2, CUBLASLT_EPILOGUE_DGELU, true}, 72, 40, 64, t);
  }
  for (cudaDataType t : {f4, CUDA_R_32F, CUDA_R_16BF}) {
    const float s = t == f4 ? 0.75f : 0;
    fp4(h, what, {1, 0, s, 1, CUBLASLT_EPILOGUE_RELU_BIAS}, 72, 40, 64, t);
    fp4(h, what, {1, 0, s, 2, CUBLASLT_EPILOGUE_RELU_AUX}, 72, 40, 64, t);
    fp4(h, what, {0.0625f, 0, s, 1, CUBLASLT_EPILOGUE_GELU_BIAS, true}, 72, 40, 64, t);
  }
}

static void refused(cublasLtHandle_t h)
{
  const cudaDataType e4 = CUDA_R_8F_E4M3, f4 = CUDA_R_4F_E2M1;
  const char *const what = "refused factors of blocks";
  fp8(h, what, {1, 0, 0, 1, NONE, false, CUBLAS_STATUS_INVALID_VALUE, true}, 64, 48, 96, e4);
  fp8(h, what, {1, 0, 2, 1, NONE, false, CUBLAS_STATUS_NOT_SUPPORTED}, 64, 48, 96, e4);  // a factor of all D besides
  fp8(h, what, {1, 0, 0, 1, NONE, false, CUBLAS_STATUS_NOT_SUPPORTED}, 64, 48, 96, f4);  // FP4 of FP8
  fp4(h, what, {1, 0, 0, 1, NONE, false, CUBLAS_STATUS_NOT_SUPPORTED}, 63, 48, 96, f4);  // half of a byte
  fp4(h, what, {1, 0, 2, 1, NONE, false, CUBLAS_STATUS_NOT_SUPPORTED}, 64, 48, 96, CUDA_R_16BF);
  fp8(h, what, {1, 0, 0, 1, CUBLASLT_EPILOGUE_BGRADA, false, CUBLAS_STATUS_NOT_SUPPORTED}, 64, 48, 96, CUDA_R_32F);
  fp8(h, what, {1, 0, 0, 1, CUBLASLT_EPILOGUE_DRELU_BGRAD, false, CUBLAS_STATUS_NOT_SUPPORTED}, 64, 48, 96, e4);
}

int main()
{
  cublasLtHandle_t h;
  if (cublasLtCreate(&h)) return 1;
  results(h), batches(h), epilogues(h), refused(h);
  cublasLtDestroy(h);
  printf("%d products, %d wrong\n", cases, failures);
  return failures != 0;
}
