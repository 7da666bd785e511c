// libcusparse: matrices whose elements have their places by a rule (blocked and sliced ELL, rows of blocks), their products, samples and
// conversions, and systems of five diagonals, against sums on the host in binary64. What is padding is not a number there.
#include <algorithm>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "sparse.cuh"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

template <> struct type<__half> {
  static constexpr cudaDataType data = CUDA_R_16F;
};
template <> struct type<__nv_bfloat16> {
  static constexpr cudaDataType data = CUDA_R_16BF;
};

// A matrix of places: for each one of the stored values its row and its column, or -1 where it is padding.
struct layout {
  int format, rows, cols, block_rows, block_cols, width, order, base;
  std::vector<long> offsets, index;
  std::vector<int> row, column;
};

static layout blocked_ell(int side, int rows, int cols, int width, int base)
{
  layout l = {CUSPARSE_FORMAT_BLOCKED_ELL, rows * side, cols * side, side, side, width * side, 0, base};
  for (int i = 0; i < rows; i++)
    for (int k = 0, column = 0; k < width; k++) {
      column += (int)(next() % 3);
      const bool none = next() % 4 == 0 || column >= cols;
      l.index.push_back(none ? -1 : column++ + base);
    }
  for (int i = 0; i < l.rows; i++)
    for (int e = 0; e < l.width; e++) {
      const long block = l.index[i / side * width + e / side];
      l.row.push_back(i), l.column.push_back(block < 0 ? -1 : (int)(block - base) * side + e % side);
    }
  return l;
}

// `full`: each row has an element.
static layout sliced_ell(int slice, int rows, int cols, int base, bool full = false)
{
  layout l = {CUSPARSE_FORMAT_SLICED_ELLPACK, rows, cols, slice, 1, 0, 0, base};
  const int slices = (rows + slice - 1) / slice;
  l.offsets.push_back(base);
  for (int s = 0; s < slices; s++) {
    const int width = s == 1 && !full ? 0 : 1 + (int)(next() % 6);
    std::vector<std::vector<int>> lists(slice);
    for (int r = 0; r < slice && s * slice + r < rows; r++)
      for (int k = 0, n = std::max((int)full, (int)(next() % (width + 1))), c = 0; k < n && c < cols; k++, c++) c += (int)(next() % 4), c < cols ? lists[r].push_back(c) : (void)0;
    for (int k = 0; k < width; k++)
      for (int r = 0; r < slice; r++) {
        const bool some = k < (int)lists[r].size();
        l.row.push_back(s * slice + r), l.column.push_back(some ? lists[r][k] : -1), l.index.push_back(some ? lists[r][k] + base : -1);
      }
    l.offsets.push_back((long)l.index.size() + base);
  }
  return l;
}

static layout blocks(int block_rows, int block_cols, int rows, int cols, int order, int base)
{
  layout l = {CUSPARSE_FORMAT_BSR, rows * block_rows, cols * block_cols, block_rows, block_cols, 0, order, base};
  l.offsets.push_back(base);
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < cols; j++)
      if (i != 2 && next() % 3 == 0) {
        l.index.push_back(j + base);
        for (int e = 0; e < block_rows * block_cols; e++) {
          const int r = order == CUSPARSE_ORDER_ROW ? e / block_cols : e % block_rows, c = order == CUSPARSE_ORDER_ROW ? e % block_cols : e / block_rows;
          l.row.push_back(i * block_rows + r), l.column.push_back(j * block_cols + c);
        }
      }
    l.offsets.push_back((long)l.index.size() + base);
  }
  return l;
}

template <typename I> static void *numbers(const std::vector<long> &v)
{
  std::vector<I> n(v.begin(), v.end());
  n.push_back(0); // something of nothing
  return device(n);
}

static cusparseSpMatDescr_t describe(const layout &l, void *values, cudaDataType data, bool wide)
{
  void *offsets = wide ? numbers<long>(l.offsets) : numbers<int>(l.offsets), *index = wide ? numbers<long>(l.index) : numbers<int>(l.index);
  const cusparseIndexType_t it = wide ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
  const cusparseIndexBase_t base = l.base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO;
  cusparseSpMatDescr_t d = nullptr;
  cusparseStatus_t s;
  if (l.format == CUSPARSE_FORMAT_BLOCKED_ELL) {
    s = cusparseCreateBlockedEll(&d, l.rows, l.cols, l.block_rows, l.width, index, values, it, base, data);
  } else if (l.format == CUSPARSE_FORMAT_BSR) {
    s = cusparseCreateBsr(&d, l.rows / l.block_rows, l.cols / l.block_cols, l.index.size(), l.block_rows, l.block_cols, offsets, index, values, it, it, base, data, (cusparseOrder_t)l.order);
  } else {
    int64_t some = 0;
    for (int c : l.column) some += c >= 0;
    s = cusparseCreateSlicedEll(&d, l.rows, l.cols, some, l.index.size(), l.block_rows, offsets, index, values, it, it, base, data);
  }
  cusparseFormat_t format;
  check(!s && !cusparseSpMatGetFormat(d, &format) && format == l.format, "a descriptor");
  return d;
}

template <typename T> static std::vector<T> values_of(const layout &l)
{
  std::vector<T> v;
  for (int c : l.column) v.push_back(c < 0 ? T(NAN) : type<T>::make());
  v.push_back(T(0));
  return v;
}

// C = alpha op(A) op(B) + beta C of n columns; 0: vectors.
template <typename T> static void product(cusparseHandle_t h, const layout &l, int op_a, int op_b, int n, bool by_rows, bool wide)
{
  const std::vector<T> values = values_of<T>(l);
  cusparseSpMatDescr_t a = describe(l, device(values), type<T>::data, wide);
  const int m = op_a ? l.cols : l.rows, k = op_a ? l.rows : l.cols, cols = n ? n : 1;
  const int ldb = (by_rows == (op_b != 0) ? k : cols) + 1, ldc = (by_rows ? cols : m) + 2;
  std::vector<T> b((size_t)ldb * std::max(k, cols)), c((size_t)ldc * std::max(m, cols));
  for (auto *v : {&b, &c})
    for (T &x : *v) x = type<T>::make();
  const bool nothing = n % 2; // beta 0 reads nothing
  if (nothing)
    for (T &x : c) x = T(NAN);
  T *dc = device(c);
  const T alpha = type<T>::make(), beta = nothing ? T(0) : type<T>::make();
  const cusparseOrder_t order = by_rows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
  size_t bytes;
  bool right;
  if (n == 0) {
    cusparseDnVecDescr_t x, y;
    cusparseCreateDnVec(&x, k, device(b), type<T>::data), cusparseCreateDnVec(&y, m, dc, type<T>::data);
    right = !cusparseSpMV_bufferSize(h, (cusparseOperation_t)op_a, &alpha, a, x, &beta, y, type<T>::data, CUSPARSE_SPMV_ALG_DEFAULT, &bytes) && !cusparseSpMV(h, (cusparseOperation_t)op_a, &alpha, a, x, &beta, y, type<T>::data, CUSPARSE_SPMV_ALG_DEFAULT, nullptr);
  } else {
    cusparseDnMatDescr_t x, y;
    cusparseCreateDnMat(&x, op_b ? cols : k, op_b ? k : cols, ldb, device(b), type<T>::data, order), cusparseCreateDnMat(&y, m, cols, ldc, dc, type<T>::data, order);
    right = !cusparseSpMM_bufferSize(h, (cusparseOperation_t)op_a, (cusparseOperation_t)op_b, &alpha, a, x, &beta, y, type<T>::data, CUSPARSE_SPMM_ALG_DEFAULT, &bytes) && !cusparseSpMM(h, (cusparseOperation_t)op_a, (cusparseOperation_t)op_b, &alpha, a, x, &beta, y, type<T>::data, CUSPARSE_SPMM_ALG_DEFAULT, nullptr);
  }
  const std::vector<T> got = host(dc, c.size());
  const bool b_by_rows = by_rows != (op_b != 0);
  std::vector<number> sum((size_t)m * cols);
  std::vector<double> size(sum.size()), terms(sum.size());
  for (int i = 0; i < m; i++)
    for (int j = 0; j < cols; j++)
      if (!nothing) sum[i * cols + j] = number(beta) * number(c[n == 0 ? i : by_rows ? i * ldc + j : j * ldc + i]), size[i * cols + j] = std::abs(sum[i * cols + j]);
  for (size_t e = 0; e < l.column.size(); e++)
    for (int j = 0; j < cols && l.column[e] >= 0; j++) {
      const int to = op_a ? l.column[e] : l.row[e], from = op_a ? l.row[e] : l.column[e];
      const number with = maybe_conj(number(b[n == 0 ? from : b_by_rows ? from * ldb + j : j * ldb + from]), op_b);
      const number t = number(alpha) * maybe_conj(number(values[e]), op_a) * with;
      sum[to * cols + j] += t, size[to * cols + j] += std::abs(t), terms[to * cols + j]++;
    }
  for (int i = 0; i < m; i++)
    for (int j = 0; j < cols; j++)
      right = right && near(got[n == 0 ? i : by_rows ? i * ldc + j : j * ldc + i], sum[i * cols + j], size[i * cols + j], terms[i * cols + j] + 3);
  char what[120];
  snprintf(what, sizeof what, "format %d, type %d, blocks %d x %d, base %d, operations %d %d, %d columns", l.format, type<T>::data, l.block_rows, l.block_cols, l.base, op_a, op_b, n);
  check(right, what);
}

// Values of 16 bits, sums in FP32; a transposed one is refused.
template <typename H, typename C> static void half_product(cusparseHandle_t h, const layout &l, double eps)
{
  enum { N = 6 };
  std::vector<H> values, b;
  for (int c : l.column) values.push_back(H(c < 0 ? NAN : type<float>::make()));
  values.push_back(H(0.0f));
  for (int i = 0; i < l.cols * N; i++) b.push_back(H(type<float>::make()));
  cusparseSpMatDescr_t a = describe(l, device(values), type<H>::data, false);
  C *dc = device(std::vector<C>((size_t)l.rows * N));
  cusparseDnMatDescr_t x, y, z;
  const cudaDataType ct = sizeof(C) == 4 ? CUDA_R_32F : type<H>::data;
  cusparseCreateDnMat(&x, l.cols, N, l.cols, device(b), type<H>::data, CUSPARSE_ORDER_COL), cusparseCreateDnMat(&y, l.rows, N, l.rows, dc, ct, CUSPARSE_ORDER_COL);
  const float one = 1, zero = 0;
  bool right = !cusparseSpMM(h, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, x, &zero, y, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, nullptr);
  const std::vector<C> got = host(dc, (size_t)l.rows * N);
  for (int j = 0; j < N; j++)
    for (int i = 0; i < l.rows; i++) {
      double sum = 0, size = 0, terms = 0;
      for (size_t e = 0; e < l.column.size(); e++)
        if (l.row[e] == i && l.column[e] >= 0) {
          const double t = (double)(float)values[e] * (double)(float)b[j * l.cols + l.column[e]];
          sum += t, size += std::abs(t), terms++;
        }
      right = right && std::abs((double)(float)got[j * l.rows + i] - sum) <= (terms + 2) * 0x1p-23 * size + (sizeof(C) == 4 ? 0 : eps * std::abs(sum));
    }
  check(right, "a product of values of 16 bits");
  if (l.rows != l.cols) return;
  cusparseCreateDnMat(&z, l.rows, N, l.rows, dc, ct, CUSPARSE_ORDER_COL);
  check(cusparseSpMM(h, CUSPARSE_OPERATION_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, x, &zero, z, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, nullptr) == CUSPARSE_STATUS_NOT_SUPPORTED, "a transposed one");
}

// Of A B the elements that C, a batch of blocks, has; one A for all.
template <typename T> static void sample(cusparseHandle_t h, int block_rows, int block_cols, int order, int base, int op_a, int op_b, bool by_rows)
{
  enum { K = 37, BATCH = 2, MORE = 3 };
  const layout l = blocks(block_rows, block_cols, 6, 5, order, base);
  const size_t n = l.column.size();
  std::vector<T> values, a((size_t)l.rows * K), b((size_t)l.cols * K * BATCH);
  for (size_t i = 0; i < BATCH * n + MORE; i++) values.push_back(type<T>::make());
  for (auto *v : {&a, &b})
    for (T &x : *v) x = type<T>::make();
  T *dv = device(values);
  cusparseSpMatDescr_t c = describe(l, dv, type<T>::data, false);
  cusparseBsrSetStridedBatch(c, BATCH, 0, 0, n);
  cusparseDnMatDescr_t x, y;
  const cusparseOrder_t dense = by_rows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
  const int ar = op_a ? K : l.rows, ac = op_a ? l.rows : K, br = op_b ? l.cols : K, bc = op_b ? K : l.cols;
  cusparseCreateDnMat(&x, ar, ac, by_rows ? ac : ar, device(a), type<T>::data, dense), cusparseCreateDnMat(&y, br, bc, by_rows ? bc : br, device(b), type<T>::data, dense);
  cusparseDnMatSetStridedBatch(y, BATCH, (int64_t)l.cols * K);
  const T alpha = type<T>::make(), beta = type<T>::make();
  size_t bytes;
  bool right = !cusparseSDDMM_bufferSize(h, (cusparseOperation_t)op_a, (cusparseOperation_t)op_b, &alpha, x, y, &beta, c, type<T>::data, CUSPARSE_SDDMM_ALG_DEFAULT, &bytes) &&
               !cusparseSDDMM(h, (cusparseOperation_t)op_a, (cusparseOperation_t)op_b, &alpha, x, y, &beta, c, type<T>::data, CUSPARSE_SDDMM_ALG_DEFAULT, nullptr);
  const std::vector<T> got = host(dv, values.size());
  for (int z = 0; z < BATCH; z++)
    for (size_t e = 0; e < n; e++) {
      number sum = number(beta) * number(values[z * n + e]);
      double size = std::abs(sum);
      for (int k = 0; k < K; k++) {
        const int i = l.row[e], j = l.column[e], ai = op_a ? k : i, aj = op_a ? i : k, bi = op_b ? j : k, bj = op_b ? k : j;
        const number u = maybe_conj(number(a[by_rows ? ai * ac + aj : aj * ar + ai]), op_a);
        const number v = maybe_conj(number(b[z * l.cols * K + (by_rows ? bi * bc + bj : bj * br + bi)]), op_b);
        const number t = number(alpha) * u * v;
        sum += t, size += std::abs(t);
      }
      right = right && near(got[z * n + e], sum, size, K + 3);
    }
  for (size_t i = BATCH * n; i < values.size(); i++) right = right && got[i] == values[i];
  check(right, "a sampled product");
}

// To a dense matrix and, for blocked ELL, back.
template <typename T> static void conversion(cusparseHandle_t h, const layout &l, bool by_rows)
{
  const std::vector<T> values = values_of<T>(l);
  cusparseSpMatDescr_t a = describe(l, device(values), type<T>::data, false), back;
  std::vector<T> dense((size_t)l.rows * l.cols, T(7)), want(dense.size(), T(0));
  T *dd = device(dense), *dv = device(std::vector<T>(values.size(), T(5)));
  cusparseDnMatDescr_t d;
  cusparseCreateDnMat(&d, l.rows, l.cols, by_rows ? l.cols : l.rows, dd, type<T>::data, by_rows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL);
  for (size_t e = 0; e < l.column.size(); e++)
    if (l.column[e] >= 0) want[by_rows ? l.row[e] * l.cols + l.column[e] : l.column[e] * l.rows + l.row[e]] = values[e];
  bool right = !cusparseSparseToDense(h, a, d, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr) && host(dd, want.size()) == want;
  check(right, "to a dense matrix");
  back = describe(l, dv, type<T>::data, false);
  const bool ell = l.format == CUSPARSE_FORMAT_BLOCKED_ELL;
  const cusparseStatus_t s = cusparseDenseToSparse_analysis(h, d, back, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, dd);
  if (!ell) return check(s == CUSPARSE_STATUS_NOT_SUPPORTED, "blocks of a dense matrix");
  right = !s && !cusparseDenseToSparse_convert(h, d, back, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, dd);
  const std::vector<T> got = host(dv, values.size());
  for (size_t e = 0; e < l.column.size(); e++) right = right && got[e] == (l.column[e] < 0 ? T(0) : values[e]);
  check(right, "from a dense matrix");
}

// Triangles in slices: what is left of each row, both triangles, transposed or not, with the stored diagonal or 1 on it.
template <typename T> static void triangle(cusparseHandle_t h, int slice, bool upper, bool unit, int op, int base)
{
  enum { N = 45 };
  layout l = sliced_ell(slice, N, N, base, true);
  std::vector<T> values = values_of<T>(l);
  std::vector<bool> some(N);
  for (size_t e = 0; e < l.column.size(); e++) {
    if (l.row[e] >= N || l.column[e] < 0) continue;
    if (!some[l.row[e]]) l.column[e] = l.row[e], l.index[e] = l.row[e] + base, values[e] = T(3) + type<T>::make() / T(4); // the first becomes the diagonal
    else if (l.column[e] == l.row[e]) l.column[e] = -1, l.index[e] = -1, values[e] = T(NAN);
    else values[e] /= T(4);
    some[l.row[e]] = true;
  }
  cusparseSpMatDescr_t a = describe(l, device(values), type<T>::data, false);
  cusparseFillMode_t fill = upper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = unit ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
  cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill), cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal);
  std::vector<T> b(N);
  for (T &x : b) x = type<T>::make();
  T *db = device(b), *dx = device(std::vector<T>(N)), alpha = type<T>::make();
  cusparseDnVecDescr_t x, y;
  cusparseSpSVDescr_t plan;
  cusparseCreateDnVec(&x, N, db, type<T>::data), cusparseCreateDnVec(&y, N, dx, type<T>::data), cusparseSpSV_createDescr(&plan);
  size_t bytes = 0;
  bool right = !cusparseSpSV_bufferSize(h, (cusparseOperation_t)op, &alpha, a, x, y, type<T>::data, CUSPARSE_SPSV_ALG_DEFAULT, plan, &bytes);
  right = right && !cusparseSpSV_analysis(h, (cusparseOperation_t)op, &alpha, a, x, y, type<T>::data, CUSPARSE_SPSV_ALG_DEFAULT, plan, device(std::vector<char>(bytes)));
  right = right && !cusparseSpSV_solve(h, (cusparseOperation_t)op, &alpha, a, x, y, type<T>::data, CUSPARSE_SPSV_ALG_DEFAULT, plan);
  const std::vector<T> got = host(dx, N);
  std::vector<number> rest(N);
  std::vector<double> size(N), terms(N, 2.0);
  for (int i = 0; i < N; i++) {
    rest[i] = -number(alpha) * number(b[i]), size[i] = std::abs(rest[i]);
    if (unit) rest[i] += number(got[i]), size[i] += std::abs(got[i]);
  }
  for (size_t e = 0; e < l.column.size(); e++) {
    const int i = l.row[e], j = l.column[e];
    if (i >= N || j < 0 || (upper ? j < i : j > i) || (unit && i == j)) continue;
    const int to = op ? j : i, from = op ? i : j;
    const number t = maybe_conj(number(values[e]), op) * number(got[from]);
    rest[to] += t, size[to] += std::abs(t), terms[to]++;
  }
  for (int i = 0; i < N; i++) right = right && std::abs(rest[i]) <= (terms[i] + 2) * type<T>::eps * size[i];
  check(right, "a triangle in slices");
}

// Coordinates in any order.
static void scattered(cusparseHandle_t h)
{
  const std::vector<int> row = {2, 0, 1, 2, 0}, column = {1, 3, 0, 0, 2};
  const std::vector<float> values = {1, 2, 3, 4, 5}, want = {0, 0, 5, 2, 3, 0, 0, 0, 4, 1, 0, 0};
  cusparseSpMatDescr_t a;
  cusparseDnMatDescr_t d;
  float *dd = device(std::vector<float>(12, 9.0f));
  cusparseCreateCoo(&a, 3, 4, 5, device(row), device(column), device(values), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  cusparseCreateDnMat(&d, 3, 4, 4, dd, CUDA_R_32F, CUSPARSE_ORDER_ROW);
  check(!cusparseSparseToDense(h, a, d, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr) && host(dd, 12) == want, "coordinates in any order");
}

template <typename T> struct five;
#define FIVE(T, P, l)                                                          \
  template <> struct five<T> {                                                 \
    static constexpr auto solve = cusparse##l##gpsvInterleavedBatch;           \
    static constexpr auto size = cusparse##l##gpsvInterleavedBatch_bufferSizeExt; \
    typedef P pointed;                                                         \
  };
FIVE(float, float, S)
FIVE(double, double, D)
FIVE(std::complex<float>, cuComplex, C)
FIVE(std::complex<double>, cuDoubleComplex, Z)

// What is left of each system, row by row, beside the size of its terms; diagonals are no larger than the others. What lies outside of the matrix is
// not a number.
template <typename T> static void five_diagonals(cusparseHandle_t h, int m, int batch)
{
  typedef typename five<T>::pointed P;
  std::vector<T> d[5], x((size_t)m * batch);
  P *p[5];
  for (int k = 0; k < 5; k++) {
    for (int i = 0; i < m * batch; i++) d[k].push_back(i / batch + k - 2 < 0 || i / batch + k - 2 >= m ? T(NAN) : type<T>::make());
    p[k] = (P *)device(d[k]);
  }
  for (T &v : x) v = type<T>::make();
  T *dx = device(x);
  size_t bytes = 0;
  bool right = !five<T>::size(h, 0, m, p[0], p[1], p[2], p[3], p[4], (P *)dx, batch, &bytes);
  right = right && !five<T>::solve(h, 0, m, p[0], p[1], p[2], p[3], p[4], (P *)dx, batch, device(std::vector<char>(bytes)));
  const std::vector<T> got = host(dx, x.size());
  for (int b = 0; b < batch; b++) {
    double largest = 0, terms = 0;
    for (int i = 0; i < m; i++) {
      number sum = -number(x[i * batch + b]);
      double size = 0;
      for (int k = 0; k < 5; k++)
        if (i + k - 2 >= 0 && i + k - 2 < m) {
          const number t = number(d[k][i * batch + b]) * number(got[(i + k - 2) * batch + b]);
          sum += t, size += std::abs(t);
        }
      right = right && !std::isnan(std::abs(sum)); // which the maximum would pass over
      largest = std::max(largest, std::abs(sum)), terms = std::max(terms, size);
    }
    // Givens' rotations are stable: what is left is some roundings of the largest terms (Higham, section 19.6), however large the condition.
    right = right && largest <= 40 * type<T>::eps * terms;
  }
  char what[80];
  snprintf(what, sizeof what, "five diagonals, type %d, %d rows, %d systems", type<T>::data, m, batch);
  check(right, what);
}

template <typename T> static void all_of_type(cusparseHandle_t h)
{
  for (int base : {0, 1})
    for (int side : {1, 2, 5, 16}) {
      const layout ell = blocked_ell(side, 7, 9, 4, base), sliced = sliced_ell(2 * side, 61, 45, base), some = blocks(side, side == 2 ? 3 : side, 6, 7, side % 2 ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL, base);
      for (const layout &l : {ell, sliced, some}) {
        const bool wide = side == 5;
        product<T>(h, l, 0, 0, 0, false, wide), product<T>(h, l, 1, 0, 0, false, wide), product<T>(h, l, 2, 0, 0, false, wide);
        product<T>(h, l, 0, 0, 5, false, wide), product<T>(h, l, 0, 1, 6, true, wide), product<T>(h, l, 0, 2, 4, false, wide), product<T>(h, l, 2, 1, 7, true, wide);
        conversion<T>(h, l, base);
      }
    }
  for (int op_a : {0, 1, 2})
    for (int op_b : {0, 2}) sample<T>(h, 4, 4, CUSPARSE_ORDER_ROW, op_a % 2, op_a, op_b, op_a == 1), sample<T>(h, 2, 3, CUSPARSE_ORDER_COL, 0, op_a, op_b, op_b == 0);
  for (int op : {0, 1, 2})
    for (bool upper : {false, true})
      for (int slice : {1, 4, 64}) triangle<T>(h, slice, upper, slice == 4, op, op % 2);
  for (int m : {1, 2, 3, 5, 40, 333}) five_diagonals<T>(h, m, m == 5 ? 300 : 7);
}

static void refusals(cusparseHandle_t h)
{
  const layout l = blocks(2, 2, 5, 5, CUSPARSE_ORDER_ROW, 0), ell = blocked_ell(2, 5, 5, 2, 0);
  const std::vector<float> v(l.column.size() + 1, 1.0f);
  cusparseSpMatDescr_t a = describe(l, device(v), CUDA_R_32F, false), e = describe(ell, device(values_of<float>(ell)), CUDA_R_32F, false), bad;
  cusparseDnVecDescr_t x;
  cusparseDnMatDescr_t d;
  cusparseSpSVDescr_t plan;
  float *p = device(std::vector<float>(100));
  const float one = 1;
  size_t bytes;
  cusparseSpSV_createDescr(&plan), cusparseCreateDnVec(&x, 10, p, CUDA_R_32F), cusparseCreateDnMat(&d, 10, 10, 10, p, CUDA_R_32F, CUSPARSE_ORDER_ROW);
  const cusparseOperation_t none = CUSPARSE_OPERATION_NON_TRANSPOSE;
  check(cusparseSpSV_bufferSize(h, none, &one, a, x, x, CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, plan, &bytes) == CUSPARSE_STATUS_NOT_SUPPORTED, "triangles of blocks");
  check(cusparseSDDMM(h, none, none, &one, d, d, &one, e, CUDA_R_32F, CUSPARSE_SDDMM_ALG_DEFAULT, nullptr) == CUSPARSE_STATUS_NOT_SUPPORTED, "samples in ELL");
  check(cusparseCreateBlockedEll(&bad, 9, 10, 2, 4, p, p, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F) == CUSPARSE_STATUS_INVALID_VALUE, "half a block");
  check(cusparseCreateBsr(&bad, INT64_MAX / 2, 10, 4, 4, 4, p, p, p, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F, CUSPARSE_ORDER_ROW) == CUSPARSE_STATUS_NOT_SUPPORTED, "too many rows");
  check(cusparseCreateBsr(&bad, 0, 4, int64_t(1) << 40, 1 << 30, 1, p, p, p, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F, CUSPARSE_ORDER_ROW) == CUSPARSE_STATUS_INVALID_VALUE, "blocks of no rows");
  check(cusparseCreateBlockedEll(&bad, 8, 8, 2, 4, p, p, (cusparseIndexType_t)9, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F) == CUSPARSE_STATUS_INVALID_VALUE, "no type of indices");
  check(cusparseCreateBlockedEll(&bad, 8, 8, 2, 4, p, p, CUSPARSE_INDEX_16U, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F) == CUSPARSE_STATUS_NOT_SUPPORTED, "indices of 16 bits");
  int64_t rows, cols, side, width;
  void *index, *values;
  cusparseIndexType_t it;
  cusparseIndexBase_t base;
  cudaDataType data;
  check(!cusparseBlockedEllGet(e, &rows, &cols, &side, &width, &index, &values, &it, &base, &data) && rows == 10 && cols == 10 && side == 2 && width == 4 && data == CUDA_R_32F, "what blocked ELL says");
}

int main()
{
  cusparseHandle_t h;
  if (cusparseCreate(&h)) return 1;
  all_of_type<float>(h), all_of_type<double>(h), all_of_type<std::complex<float>>(h), all_of_type<std::complex<double>>(h);
  for (int side : {2, 16}) {
    const layout ell = blocked_ell(side, 5, 5, 3, 1), some = blocks(side, side, 5, 6, CUSPARSE_ORDER_ROW, 0), sliced = sliced_ell(side, 33, 20, 0);
    for (const layout &l : {ell, some, sliced}) {
      half_product<__half, __half>(h, l, 0x1p-11), half_product<__half, float>(h, l, 0);
      half_product<__nv_bfloat16, __nv_bfloat16>(h, l, 0x1p-8), half_product<__nv_bfloat16, float>(h, l, 0);
    }
  }
  scattered(h), refusals(h);
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
