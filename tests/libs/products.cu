// Products of libcublas and libcublasLt against sums on the host in binary64: all types and transposes, edges of tiles, strides,
// batches by stride and by pointers, beta, scalars on the device, epilogues.
#include <cublasLt.h>

#include "products.cuh"

template <typename T> struct kind;
template <> struct kind<float> { static const cudaDataType t = CUDA_R_32F, s = CUDA_R_32F; static const cublasComputeType_t c = CUBLAS_COMPUTE_32F; };
template <> struct kind<double> { static const cudaDataType t = CUDA_R_64F, s = CUDA_R_64F; static const cublasComputeType_t c = CUBLAS_COMPUTE_64F; };
template <> struct kind<__half> { static const cudaDataType t = CUDA_R_16F, s = CUDA_R_32F; static const cublasComputeType_t c = CUBLAS_COMPUTE_32F; };
template <> struct kind<__nv_bfloat16> { static const cudaDataType t = CUDA_R_16BF, s = CUDA_R_32F; static const cublasComputeType_t c = CUBLAS_COMPUTE_32F; };
template <> struct kind<std::complex<float>> { static const cudaDataType t = CUDA_C_32F, s = CUDA_C_32F; static const cublasComputeType_t c = CUBLAS_COMPUTE_32F; };
template <> struct kind<std::complex<double>> { static const cudaDataType t = CUDA_C_64F, s = CUDA_C_64F; static const cublasComputeType_t c = CUBLAS_COMPUTE_64F; };
template <> struct kind<int8_t> { static const cudaDataType t = CUDA_R_8I, s = CUDA_R_32I; static const cublasComputeType_t c = CUBLAS_COMPUTE_32I; };
template <> struct kind<int> { static const cudaDataType t = CUDA_R_32I; };

struct scalars {
  char bytes[2][16];
  template <typename S> void put(S a, S b) { *(S *)bytes[0] = a, *(S *)bytes[1] = b; }
  void fill(cudaDataType t, double a, double b)
  {
    if (t == CUDA_R_32F) put((float)a, (float)b);
    else if (t == CUDA_R_64F) put(a, b);
    else if (t == CUDA_R_32I) put((int)a, (int)b);
    else if (t == CUDA_C_32F) put(std::complex<float>(a), std::complex<float>(b));
    else put(std::complex<double>(a), std::complex<double>(b));
  }
};

enum form { STRIDED, ARRAYS };

template <typename T, typename O> static void one(cublasHandle_t h, int m, int n, int k, cublasOperation_t ta,
                                                  cublasOperation_t tb, double alpha, double beta, form f, bool device, int pad)
{
  const int batch = 2, za = ta == CUBLAS_OP_N ? m : k, zb = tb == CUBLAS_OP_N ? k : n;
  matrix<T> a(za, ta == CUBLAS_OP_N ? k : m, za + pad, batch), b(zb, tb == CUBLAS_OP_N ? n : k, zb + pad, batch);
  matrix<O> c(m, n, m + pad, batch), old = c;
  old.at = nullptr;
  scalars s, *on_device = nullptr;
  s.fill(kind<T>::s, alpha, beta);
  void **lists = nullptr;
  cudaMalloc(&on_device, sizeof s), cudaMemcpy(on_device, &s, sizeof s, cudaMemcpyHostToDevice);
  cublasSetPointerMode(h, device ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST);
  const scalars *use = device ? on_device : &s;
  cublasStatus_t status;
  if (f == STRIDED) {
    status = cublasGemmStridedBatchedEx(h, ta, tb, m, n, k, use->bytes[0], a.at, kind<T>::t, a.ld, a.stride, b.at, kind<T>::t,
                                        b.ld, b.stride, use->bytes[1], c.at, kind<O>::t, c.ld, c.stride, batch, kind<T>::c,
                                        CUBLAS_GEMM_DEFAULT);
  } else {
    void *host[6];
    for (int z = 0; z < batch; z++) host[z] = a.at + z * a.stride, host[2 + z] = b.at + z * b.stride, host[4 + z] = c.at + z * c.stride;
    cudaMalloc(&lists, sizeof host), cudaMemcpy(lists, host, sizeof host, cudaMemcpyHostToDevice);
    status = cublasGemmBatchedEx(h, ta, tb, m, n, k, use->bytes[0], lists, kind<T>::t, a.ld, lists + 2, kind<T>::t, b.ld,
                                 use->bytes[1], lists + 4, kind<O>::t, c.ld, batch, kind<T>::c, CUBLAS_GEMM_DEFAULT);
  }
  c.fetch();
  const double limit = kind<O>::t == CUDA_R_16F ? 1e-3 : kind<O>::t == CUDA_R_16BF ? 8e-3 : 1e-5;
  bool right = status == CUBLAS_STATUS_SUCCESS;
  for (int z = 0; z < batch; z++)
    for (int col = 0; col < n; col++)
      for (int r = 0; r < c.ld; r++) {
        wide want = old.get(r, col, z);
        if (r < m) {
          if (m > 100 && r % 7 && r < m - 9) continue; // some of the large ones
          want = alpha * expected(a, b, ta, tb, r, col, k, z) + (beta ? beta * want : 0);
        }
        if (std::abs(c.get(r, col, z) - want) > limit * (std::abs(want) + 1)) right = false;
      }
  say(right, typeid(T).name(), m, n, k, ta, tb);
  cudaFree(on_device), cudaFree(lists);
}

template <typename T, typename O> static void all(cublasHandle_t h, bool complex)
{
  const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
  const int n_ops = complex ? 3 : 2;
  for (int i = 0; i < n_ops * n_ops; i++) {
    const cublasOperation_t ta = ops[i / n_ops], tb = ops[i % n_ops];
    one<T, O>(h, 70, 33, 41, ta, tb, 2, 0, STRIDED, false, 1); // odd leading dimensions
    one<T, O>(h, 64, 72, 40, ta, tb, 1, 3, STRIDED, true, 8);
    one<T, O>(h, 1, 5, 67, ta, tb, 1, 0, ARRAYS, false, 0);
  }
  one<T, O>(h, 32, 16, 1100, CUBLAS_OP_N, CUBLAS_OP_N, 1, 2, STRIDED, false, 0); // k is split
  one<T, O>(h, 16, 16, 0, CUBLAS_OP_N, CUBLAS_OP_N, 1, 2, STRIDED, false, 1);
}

// D = activation(A B + bias), A of 16-bit numbers.
static void epilogue(cublasLtHandle_t h, cublasLtEpilogue_t e, int m, int n, int k)
{
  matrix<__half> a(m, k, m, 1), b(k, n, k, 1), d(m, n, m, 1), bias(m, 1, m, 1);
  matrix<__half> aux(m, n, m, 1);
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t la, lb, ld;
  cublasLtMatmulPreference_t pref;
  cublasLtMatmulHeuristicResult_t found;
  int n_found = 0;
  const float one = 1, zero = 0;
  const int64_t aux_ld = m;
  cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &e, sizeof e);
  const void *p = bias.at;
  if (e & CUBLASLT_EPILOGUE_BIAS) cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p, sizeof p);
  p = aux.at;
  cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &p, sizeof p);
  cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &aux_ld, sizeof aux_ld);
  cublasLtMatrixLayoutCreate(&la, CUDA_R_16F, m, k, m);
  cublasLtMatrixLayoutCreate(&lb, CUDA_R_16F, k, n, k);
  cublasLtMatrixLayoutCreate(&ld, CUDA_R_16F, m, n, m);
  cublasLtMatmulPreferenceCreate(&pref);
  bool right = !cublasLtMatmulAlgoGetHeuristic(h, desc, la, lb, ld, ld, pref, 1, &found, &n_found) && n_found == 1;
  right = right && !cublasLtMatmul(h, desc, &one, a.at, la, b.at, lb, &zero, d.at, ld, d.at, ld, &found.algo, nullptr, 0, 0);
  d.fetch();
  const std::vector<__half> before = aux.host;
  aux.fetch();
  for (int c = 0; c < n; c++)
    for (int r = 0; r < m; r++) {
      double v = expected(a, b, CUBLAS_OP_N, CUBLAS_OP_N, r, c, k, 0).real();
      if (e & CUBLASLT_EPILOGUE_BIAS) v += bias.get(r, 0, 0).real();
      const double raw = v;
      if (e & CUBLASLT_EPILOGUE_RELU) v = v > 0 ? v : 0;
      if (e & CUBLASLT_EPILOGUE_GELU) v = 0.5 * v * (1 + tanh(0.7978845608028654 * (v + 0.044715 * v * v * v)));
      if (e == CUBLASLT_EPILOGUE_DGELU) {
        const double x = (double)(float)before[(size_t)c * m + r], t = tanh(0.7978845608028654 * (x + 0.044715 * x * x * x));
        v *= 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x);
      }
      if (fabs(d.get(r, c, 0).real() - v) > 2e-3 * (fabs(v) + 1)) right = false;
      if (e == CUBLASLT_EPILOGUE_GELU_AUX_BIAS && fabs(aux.get(r, c, 0).real() - raw) > 1e-3 * (fabs(raw) + 1)) right = false;
      const unsigned char *bits = (const unsigned char *)aux.host.data();
      const size_t bit = (size_t)c * m + r;
      if (e == CUBLASLT_EPILOGUE_RELU_AUX && (bits[bit / 8] >> bit % 8 & 1) != (raw > 0)) right = false;
    }
  say(right, "an epilogue", m, n, k, e, 0);
  cublasLtMatmulDescDestroy(desc), cublasLtMatmulPreferenceDestroy(pref);
  cublasLtMatrixLayoutDestroy(la), cublasLtMatrixLayoutDestroy(lb), cublasLtMatrixLayoutDestroy(ld);
}

// D = A B + bias in FP64, where no kernel has an epilogue.
static void bias_in_double(cublasLtHandle_t h, int m, int n, int k)
{
  matrix<double> a(m, k, m, 1), b(k, n, k, 1), d(m, n, m, 1), bias(m, 1, m, 1);
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t la, lb, ld;
  cublasLtMatmulPreference_t pref;
  cublasLtMatmulHeuristicResult_t found;
  int n_found = 0;
  const double one = 1, zero = 0;
  const cublasLtEpilogue_t e = CUBLASLT_EPILOGUE_BIAS;
  const void *p = bias.at;
  cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_64F, CUDA_R_64F);
  cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &e, sizeof e);
  cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p, sizeof p);
  cublasLtMatrixLayoutCreate(&la, CUDA_R_64F, m, k, m);
  cublasLtMatrixLayoutCreate(&lb, CUDA_R_64F, k, n, k);
  cublasLtMatrixLayoutCreate(&ld, CUDA_R_64F, m, n, m);
  cublasLtMatmulPreferenceCreate(&pref);
  bool right = !cublasLtMatmulAlgoGetHeuristic(h, desc, la, lb, ld, ld, pref, 1, &found, &n_found) && n_found == 1;
  right = right && cublasLtMatmul(h, desc, &one, a.at, la, b.at, lb, &one, d.at, ld, d.at, ld, &found.algo, nullptr, 0, 0) == CUBLAS_STATUS_NOT_SUPPORTED;
  right = right && !cublasLtMatmul(h, desc, &one, a.at, la, b.at, lb, &zero, d.at, ld, d.at, ld, &found.algo, nullptr, 0, 0);
  d.fetch();
  for (int c = 0; c < n; c++)
    for (int r = 0; r < m; r++) {
      const double v = expected(a, b, CUBLAS_OP_N, CUBLAS_OP_N, r, c, k, 0).real() + bias.get(r, 0, 0).real();
      if (fabs(d.get(r, c, 0).real() - v) > 1e-13 * (k + fabs(v))) right = false;
    }
  say(right, "a bias in FP64", m, n, k, e, 0);
  cublasLtMatmulDescDestroy(desc), cublasLtMatmulPreferenceDestroy(pref);
  cublasLtMatrixLayoutDestroy(la), cublasLtMatrixLayoutDestroy(lb), cublasLtMatrixLayoutDestroy(ld);
}

// BGRADB: sums of B over k, beside the product.
static void bias_gradient(cublasLtHandle_t h)
{
  const int m = 24, n = 20, k = 300;
  matrix<float> a(m, k, m, 1), b(n, k, n, 1), d(m, n, m, 1), sums(n, 1, n, 1);
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t la, lb, ld;
  const float one = 1, zero = 0;
  const cublasOperation_t t = CUBLAS_OP_T;
  const cublasLtEpilogue_t e = CUBLASLT_EPILOGUE_BGRADB;
  const void *p = sums.at;
  cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSB, &t, sizeof t);
  cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &e, sizeof e);
  cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p, sizeof p);
  cublasLtMatrixLayoutCreate(&la, CUDA_R_32F, m, k, m);
  cublasLtMatrixLayoutCreate(&lb, CUDA_R_32F, n, k, n);
  cublasLtMatrixLayoutCreate(&ld, CUDA_R_32F, m, n, m);
  bool right = !cublasLtMatmul(h, desc, &one, a.at, la, b.at, lb, &zero, d.at, ld, d.at, ld, nullptr, nullptr, 0, 0);
  sums.fetch();
  for (int c = 0; c < n; c++) {
    double v = 0;
    for (int i = 0; i < k; i++) v += b.get(c, i, 0).real();
    if (fabs(v - sums.get(c, 0, 0).real()) > 1e-4 * (fabs(v) + 1)) right = false;
  }
  say(right, "a bias gradient", m, n, k, 0, 1);
  cublasLtMatmulDescDestroy(desc);
  cublasLtMatrixLayoutDestroy(la), cublasLtMatrixLayoutDestroy(lb), cublasLtMatrixLayoutDestroy(ld);
}

// Matrices whose places are in arrays on the device, in an order that is not theirs in memory; mixed: A alone is by stride.
template <typename T> static void by_pointers(cublasLtHandle_t h, int m, int n, int k, bool rows, bool mixed)
{
  const int batch = 3, order[] = {2, 0, 1};
  matrix<T> a(0, rows ? m : k, rows ? k + 3 : m + 3, batch), b(0, rows ? k : n, rows ? n : k + 8, batch);
  matrix<T> c(0, rows ? m : n, rows ? n + 5 : m, batch), d(0, rows ? m : n, rows ? n + 1 : m + 8, batch);
  std::vector<void *> list;
  for (matrix<T> *x : {&a, &b, &c, &d})
    for (int z : order) list.push_back(x->at + z * x->stride);
  void **lists;
  cudaMalloc(&lists, list.size() * sizeof(void *));
  cudaMemcpy(lists, list.data(), list.size() * sizeof(void *), cudaMemcpyHostToDevice);
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t l[4];
  const cublasLtOrder_t o = rows ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
  const uint32_t mode = CUBLASLT_BATCH_MODE_POINTER_ARRAY;
  const int64_t plane = 0;
  cublasLtMatmulDescCreate(&desc, kind<T>::c, kind<T>::s);
  cublasLtMatrixLayoutCreate(&l[0], kind<T>::t, m, k, a.ld), cublasLtMatrixLayoutCreate(&l[1], kind<T>::t, k, n, b.ld);
  cublasLtMatrixLayoutCreate(&l[2], kind<T>::t, m, n, c.ld), cublasLtMatrixLayoutCreate(&l[3], kind<T>::t, m, n, d.ld);
  bool right = true;
  for (int i = 0; i < 4; i++) {
    if (cublasLtMatrixLayoutSetAttribute(l[i], CUBLASLT_MATRIX_LAYOUT_ORDER, &o, sizeof o)) right = false;
    if (cublasLtMatrixLayoutSetAttribute(l[i], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch)) right = false;
    if (cublasLtMatrixLayoutSetAttribute(l[i], CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, &plane, sizeof plane)) right = false;
    if ((i || !mixed) && cublasLtMatrixLayoutSetAttribute(l[i], CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, &mode, sizeof mode)) right = false;
  }
  scalars s;
  s.fill(kind<T>::s, 2, 1);
  const cublasStatus_t status = cublasLtMatmul(h, desc, s.bytes[0], lists, l[0], lists + batch, l[1], s.bytes[1], lists + 2 * batch, l[2], lists + 3 * batch, l[3], nullptr, nullptr, 0, 0);
  if (status != (mixed ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS)) right = false;
  d.fetch();
  const auto at = [rows](const matrix<T> &x, int r, int col, int z) { return rows ? x.get(col, r, z) : x.get(r, col, z); };
  for (int z = 0; z < batch && !mixed; z++)
    for (int col = 0; col < n; col++)
      for (int r = 0; r < m; r++) {
        wide want = at(c, r, col, z);
        for (int i = 0; i < k; i++) want += 2.0 * at(a, r, i, z) * at(b, i, col, z);
        if (std::abs(at(d, r, col, z) - want) > (sizeof(T) == 2 ? 8e-3 : 1e-5) * (std::abs(want) + 1)) right = false;
      }
  say(right, mixed ? "refused: pointers and strides" : "a batch by pointers", m, n, k, kind<T>::t, rows);
  cudaFree(lists);
  cublasLtMatmulDescDestroy(desc);
  for (cublasLtMatrixLayout_t x : l) cublasLtMatrixLayoutDestroy(x);
}

// Matrices of which each has an order of its own, and an operation on top of it: `orders` has a bit for each of A, B and the result that is row-major.
template <typename T> static void of_orders(cublasLtHandle_t h, int m, int n, int k, int orders, cublasOperation_t op_a, cublasOperation_t op_b, cublasLtEpilogue_t e = CUBLASLT_EPILOGUE_DEFAULT)
{
  const bool turn_a = op_a != CUBLAS_OP_N, turn_b = op_b != CUBLAS_OP_N;
  const int rows_a = turn_a ? k : m, cols_a = turn_a ? m : k, rows_b = turn_b ? n : k, cols_b = turn_b ? k : n;
  const bool row_a = orders & 1, row_b = orders & 2, row_d = orders & 4;
  matrix<T> a(0, row_a ? rows_a : cols_a, (row_a ? cols_a : rows_a) + 3, 1), b(0, row_b ? rows_b : cols_b, (row_b ? cols_b : rows_b) + 5, 1);
  matrix<T> d(0, row_d ? m : n, (row_d ? n : m) + 1, 1);
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t la, lb, ld;
  const cublasLtOrder_t row = CUBLASLT_ORDER_ROW;
  cublasLtMatmulDescCreate(&desc, kind<T>::c, kind<T>::s);
  cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &e, sizeof e);
  cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &op_a, sizeof op_a);
  cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSB, &op_b, sizeof op_b);
  cublasLtMatrixLayoutCreate(&la, kind<T>::t, rows_a, cols_a, a.ld), cublasLtMatrixLayoutCreate(&lb, kind<T>::t, rows_b, cols_b, b.ld);
  cublasLtMatrixLayoutCreate(&ld, kind<T>::t, m, n, d.ld);
  if (row_a) cublasLtMatrixLayoutSetAttribute(la, CUBLASLT_MATRIX_LAYOUT_ORDER, &row, sizeof row);
  if (row_b) cublasLtMatrixLayoutSetAttribute(lb, CUBLASLT_MATRIX_LAYOUT_ORDER, &row, sizeof row);
  if (row_d) cublasLtMatrixLayoutSetAttribute(ld, CUBLASLT_MATRIX_LAYOUT_ORDER, &row, sizeof row);
  scalars s;
  s.fill(kind<T>::s, 2, 0);
  const cublasStatus_t status = cublasLtMatmul(h, desc, s.bytes[0], a.at, la, b.at, lb, s.bytes[1], d.at, ld, d.at, ld, nullptr, nullptr, 0, 0);
  // A conjugate transposed complex matrix in the other order is its conjugate in memory.
  const bool complex = kind<T>::t == CUDA_C_32F || kind<T>::t == CUDA_C_64F;
  const bool refused = complex && ((op_a == CUBLAS_OP_C && row_a != row_d) || (op_b == CUBLAS_OP_C && row_b != row_d));
  bool right = status == (refused ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS);
  d.fetch();
  const auto at = [](const matrix<T> &x, bool rows, int r, int col) { return rows ? x.get(col, r, 0) : x.get(r, col, 0); };
  const auto of = [&](const matrix<T> &x, bool rows, cublasOperation_t op, int r, int col) {
    if (op == CUBLAS_OP_N) return at(x, rows, r, col);
    const wide v = at(x, rows, col, r);
    return op == CUBLAS_OP_C ? std::conj(v) : v;
  };
  for (int col = 0; col < n && !refused; col++)
    for (int r = 0; r < m; r++) {
      wide want = 0;
      for (int i = 0; i < k; i++) want += 2.0 * of(a, row_a, op_a, r, i) * of(b, row_b, op_b, i, col);
      const double x = want.real();
      if (e == CUBLASLT_EPILOGUE_RELU) want = x > 0 ? x : 0;
      if (e == CUBLASLT_EPILOGUE_GELU) want = 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
      if (std::abs(at(d, row_d, r, col) - want) > (sizeof(T) == 2 ? 8e-3 : 1e-5) * (std::abs(want) + 1)) right = false;
    }
  say(right, refused ? "refused: a conjugate" : "mixed orders", m, n, k, orders, (int)op_a + 3 * (int)op_b + 9 * (int)e);
  cublasLtMatmulDescDestroy(desc);
  for (cublasLtMatrixLayout_t x : {la, lb, ld}) cublasLtMatrixLayoutDestroy(x);
}

// An attribute that nobody has set has its default, one that was set is read back, and its size can be asked for.
template <typename T, typename S, typename G> static bool keeps(S set, G get, T usual, T other)
{
  T v;
  size_t n = 0;
  bool right = !get(&v, sizeof v, &n) && v == usual && n == sizeof v;
  right = right && !set(&other, sizeof other) && !get(&v, sizeof v, nullptr) && v == other && !get(nullptr, 0, &n) && n == sizeof v;
  return right && set(&other, sizeof other - 1) == CUBLAS_STATUS_INVALID_VALUE &&
         (sizeof v == 1 || get(&v, sizeof v - 1, &n) == CUBLAS_STATUS_INVALID_VALUE);
}

static void attributes(cublasLtHandle_t h)
{
  cublasLtMatmulPreference_t pref;
  cublasLtMatmulDesc_t desc;
  cublasLtMatmulAlgo_t algo;
  cublasLtMatmulPreferenceCreate(&pref), cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  bool right = !cublasLtMatmulAlgoInit(h, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 0, &algo);
  const auto of_pref = [&](auto what, auto usual, auto other) {
    right = right && keeps([&](auto... x) { return cublasLtMatmulPreferenceSetAttribute(pref, what, x...); },
                           [&](auto... x) { return cublasLtMatmulPreferenceGetAttribute(pref, what, x...); }, usual, other);
  };
  const auto of_desc = [&](auto what, auto usual, auto other) {
    right = right && keeps([&](auto... x) { return cublasLtMatmulDescSetAttribute(desc, what, x...); },
                           [&](auto... x) { return cublasLtMatmulDescGetAttribute(desc, what, x...); }, usual, other);
  };
  const auto of_algo = [&](auto what, auto usual, auto other) {
    right = right && keeps([&](auto... x) { return cublasLtMatmulAlgoConfigSetAttribute(&algo, what, x...); },
                           [&](auto... x) { return cublasLtMatmulAlgoConfigGetAttribute(&algo, what, x...); }, usual, other);
  };
  const auto can = [&](cublasLtMatmulAlgoCapAttributes_t what, auto want) {
    decltype(want) v;
    size_t n = 0;
    right = right && !cublasLtMatmulAlgoCapGetAttribute(&algo, what, nullptr, 0, &n) && n == sizeof v &&
            !cublasLtMatmulAlgoCapGetAttribute(&algo, what, &v, sizeof v, &n) && v == want;
  };
  of_pref(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, (uint64_t)0, (uint64_t)1 << 20);
  of_pref(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, 256u, 16u), of_pref(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, 256u, 4u);
  of_pref(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, 7u, 1u), of_pref(CUBLASLT_MATMUL_PREF_IMPL_MASK, UINT64_MAX, (uint64_t)1);
  of_pref(CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, 0.0f, 2.5f), of_pref(CUBLASLT_MATMUL_PREF_SEARCH_MODE, 0u, 1u);
  of_desc(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, 0, 12), of_desc(CUBLASLT_MATMUL_DESC_FAST_ACCUM, (int8_t)0, (int8_t)1);
  of_desc(CUBLASLT_MATMUL_DESC_FILL_MODE, (int)CUBLAS_FILL_MODE_FULL, (int)CUBLAS_FILL_MODE_LOWER);
  of_algo(CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 1, 3), of_algo(CUBLASLT_ALGO_CONFIG_TILE_ID, 0u, 5u);
  of_algo(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, (uint16_t)0, (uint16_t)2);
  can(CUBLASLT_ALGO_CAP_TILE_IDS, 0u), can(CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT, 1), can(CUBLASLT_ALGO_CAP_POINTER_MODE_MASK, 3u);
  can(CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, (uint64_t)0);
  say(right, "attributes", 0, 0, 0, 0, 0);
  cublasLtMatmulPreferenceDestroy(pref), cublasLtMatmulDescDestroy(desc);
}

int main()
{
  cublasHandle_t h;
  cublasLtHandle_t lt;
  if (cublasCreate(&h) || cublasLtCreate(&lt)) return 1;
  all<float, float>(h, false);
  all<double, double>(h, false);
  all<__half, __half>(h, false);
  all<__half, float>(h, false);
  all<__nv_bfloat16, __nv_bfloat16>(h, false);
  all<int8_t, int>(h, false);
  all<std::complex<float>, std::complex<float>>(h, true);
  all<std::complex<double>, std::complex<double>>(h, true);
  one<__half, __half>(h, 1100, 1030, 72, CUBLAS_OP_N, CUBLAS_OP_T, 1, 0, STRIDED, false, 8); // large tiles
  one<__half, __half>(h, 1100, 1030, 40, CUBLAS_OP_T, CUBLAS_OP_N, 1, 1, STRIDED, false, 4);
  one<float, float>(h, 1100, 1030, 30, CUBLAS_OP_T, CUBLAS_OP_N, 1, 1, STRIDED, false, 3);
  const cublasLtEpilogue_t ends[] = {CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_RELU_BIAS,
                                     CUBLASLT_EPILOGUE_GELU_BIAS, CUBLASLT_EPILOGUE_GELU_AUX_BIAS, CUBLASLT_EPILOGUE_DGELU,
                                     CUBLASLT_EPILOGUE_RELU_AUX};
  for (cublasLtEpilogue_t e : ends) epilogue(lt, e, 128, 24, 40);
  bias_in_double(lt, 9, 7, 13);
  bias_in_double(lt, 64, 65, 1100);
  bias_gradient(lt);
  for (bool rows : {false, true}) {
    by_pointers<float>(lt, 70, 33, 41, rows, false), by_pointers<double>(lt, 9, 70, 17, rows, false);
    by_pointers<__half>(lt, 64, 72, 40, rows, false), by_pointers<__nv_bfloat16>(lt, 33, 5, 1100, rows, false);
  }
  by_pointers<float>(lt, 16, 16, 16, false, true);
  attributes(lt);
  for (int orders = 0; orders < 8; orders++)
    for (cublasLtEpilogue_t e : {CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_GELU})
      of_orders<float>(lt, 19, 12, 9, orders, CUBLAS_OP_N, CUBLAS_OP_T, e), of_orders<__half>(lt, 40, 16, 24, orders, CUBLAS_OP_T, CUBLAS_OP_N, e);
  for (int orders = 0; orders < 8; orders++)
    for (cublasOperation_t op_a : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C})
      for (cublasOperation_t op_b : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
        of_orders<float>(lt, 19, 12, 9, orders, op_a, op_b), of_orders<std::complex<float>>(lt, 9, 14, 11, orders, op_a, op_b);
        of_orders<__half>(lt, 40, 16, 24, orders, op_a, op_b);
      }
  cublasLtDestroy(lt), cublasDestroy(h);
  printf("%d products, %d wrong\n", cases, failures);
  return failures != 0;
}
