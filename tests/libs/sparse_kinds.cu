// libcusparse: products of values of 16 bits, of batches of sparse matrices, and of matrices of square blocks (bsrmv, bsrmm), against
// sums on the host in binary64. A sum of k products may be wrong by (k + 2) eps of the sum of their sizes, and by the result's rounding.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "sparse.cuh"

template <typename H> struct half_type;
template <> struct half_type<__half> {
  static constexpr cudaDataType data = CUDA_R_16F;
  static constexpr double eps = 0x1p-11;
};
template <> struct half_type<__nv_bfloat16> {
  static constexpr cudaDataType data = CUDA_R_16BF;
  static constexpr double eps = 0x1p-8;
};

template <typename H> static std::vector<H> halves(std::vector<float> &v)
{
  std::vector<H> h;
  for (float &x : v) h.push_back(H(x)), x = (float)h.back();
  return h;
}

static std::vector<float> some(size_t n)
{
  std::vector<float> v(n);
  for (float &x : v) x = type<float>::make();
  return v;
}

// C, of halves or of float, and B of n columns in one of both orders; n 0: vectors.
template <typename H, typename C> static void half_case(cusparseHandle_t h, int format, int order, int n, bool turned)
{
  matrix<float> a(61, 83);
  const bool vector = n == 0, wide = sizeof(C) == 4;
  const int cols = vector ? 1 : n, m = turned ? a.cols : a.rows, k = turned ? a.rows : a.cols;
  const std::vector<int> &to = turned ? a.column : a.row, &from = turned ? a.row : a.column;
  const std::vector<H> values = halves<H>(a.values);
  cusparseSpMatDescr_t d = describe<float, int>(a, format, 0), with_halves;
  void *offsets, *columns, *unused;
  int64_t rows, across, count;
  cusparseIndexType_t ot, it;
  cusparseIndexBase_t base;
  cudaDataType data;
  if (format == CUSPARSE_FORMAT_CSR) {
    cusparseCsrGet(d, &rows, &across, &count, &offsets, &columns, &unused, &ot, &it, &base, &data);
    cusparseCreateCsr(&with_halves, a.rows, a.cols, count, offsets, columns, device(values), ot, it, base, half_type<H>::data);
  } else {
    cusparseCooGet(d, &rows, &across, &count, &offsets, &columns, &unused, &it, &base, &data);
    cusparseCreateCoo(&with_halves, a.rows, a.cols, count, offsets, columns, device(values), it, base, half_type<H>::data);
  }
  check(rows == a.rows && across == a.cols && count == (int64_t)a.row.size() && it == CUSPARSE_INDEX_32I && base == CUSPARSE_INDEX_BASE_ZERO && data == CUDA_R_32F,
        "what a descriptor says");
  const bool by_cols = order == CUSPARSE_ORDER_COL;
  std::vector<float> b = some((size_t)k * cols), c = some((size_t)m * cols);
  H *db = device(halves<H>(b));
  const std::vector<H> start = halves<H>(c);
  C *dc;
  if constexpr (sizeof(C) == 4) dc = device(c);
  else dc = device(start);
  const float alpha = 0.75f, beta = n % 2 ? 0 : -1.5f;
  const cudaDataType type_c = wide ? CUDA_R_32F : half_type<H>::data;
  const cusparseOperation_t none = CUSPARSE_OPERATION_NON_TRANSPOSE, op = turned ? CUSPARSE_OPERATION_TRANSPOSE : none;
  size_t bytes;
  bool right;
  if (vector) {
    cusparseDnVecDescr_t x, y;
    cusparseCreateDnVec(&x, k, db, half_type<H>::data), cusparseCreateDnVec(&y, m, dc, type_c);
    right = !cusparseSpMV_bufferSize(h, op, &alpha, with_halves, x, &beta, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes);
    right = right && !cusparseSpMV(h, op, &alpha, with_halves, x, &beta, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, device(std::vector<char>(bytes)));
  } else {
    cusparseDnMatDescr_t x, y;
    cusparseCreateDnMat(&x, k, cols, by_cols ? k : cols, db, half_type<H>::data, (cusparseOrder_t)order);
    cusparseCreateDnMat(&y, m, cols, by_cols ? m : cols, dc, type_c, (cusparseOrder_t)order);
    right = !cusparseSpMM_bufferSize(h, op, none, &alpha, with_halves, x, &beta, y, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, &bytes);
    right = right && !cusparseSpMM(h, op, none, &alpha, with_halves, x, &beta, y, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, device(std::vector<char>(bytes)));
    if (!wide && turned) // sums have no room but that
      right = right && cusparseSpMM(h, op, none, &alpha, with_halves, x, &beta, y, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, nullptr) == CUSPARSE_STATUS_INVALID_VALUE;
  }
  const std::vector<C> got = host(dc, c.size());
  std::vector<double> sum(c.size()), size(c.size()), terms(c.size());
  for (size_t e = 0; e < a.row.size(); e++)
    for (int j = 0; j < cols; j++) {
      const double t = (double)alpha * a.values[e] * b[by_cols ? j * k + from[e] : from[e] * cols + j];
      const size_t at = by_cols ? j * m + to[e] : to[e] * cols + j;
      sum[at] += t, size[at] += std::abs(t), terms[at]++;
    }
  for (size_t i = 0; i < c.size(); i++) {
    const double want = sum[i] + beta * c[i], off = std::abs((double)(float)got[i] - want);
    right = right && off <= (terms[i] + 4) * 0x1p-23 * (size[i] + std::abs(beta * c[i])) + (wide ? 0 : half_type<H>::eps * std::abs(want));
  }
  char what[100];
  snprintf(what, sizeof what, "type %d, result %d, format %d, order %d, %d columns%s", half_type<H>::data, type_c, format, order, n, turned ? ", transposed" : "");
  check(right, what);
}

// Matrices that have their places in common, or places of their own, with one B or one for each.
template <typename T> static void batch_case(cusparseHandle_t h, int format, bool own_places, bool own_b)
{
  enum { BATCH = 3, N = 5 };
  std::vector<matrix<T>> a;
  for (int i = 0; i < BATCH; i++) a.push_back(matrix<T>(20, 30));
  size_t most = 0;
  if (!own_places)
    for (auto &x : a) x.row = a[0].row, x.column = a[0].column, x.values.resize(a[0].values.size(), T(1));
  for (auto &x : a) most = std::max(most, x.row.size());
  for (auto &x : a) // as many of each: a last row that has the others
    while (x.row.size() < most) x.row.push_back(19), x.column.push_back((int)(x.row.size() % 30)), x.values.push_back(T(2));
  const int m = 20, k = 30, more = 4;
  std::vector<int> offsets, row, column;
  std::vector<T> values, b((size_t)k * N * (own_b ? BATCH : 1)), c((size_t)m * N * BATCH);
  for (auto &x : a) {
    const std::vector<int> o = x.template offsets<int>(0);
    offsets.insert(offsets.end(), o.begin(), o.end());
    row.insert(row.end(), x.row.begin(), x.row.end()), column.insert(column.end(), x.column.begin(), x.column.end());
    values.insert(values.end(), x.values.begin(), x.values.end());
    for (int i = 0; i < more; i++) row.push_back(-1), column.push_back(-1), values.push_back(T(NAN));
  }
  for (T &v : b) v = type<T>::make();
  cusparseSpMatDescr_t d;
  T *dc = device(c);
  const int64_t stride = (int64_t)most + more;
  bool right;
  if (format == CUSPARSE_FORMAT_COO) {
    right = !cusparseCreateCoo(&d, m, k, most, device(row), device(column), device(values), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type<T>::data) &&
            !cusparseCooSetStridedBatch(d, BATCH, stride);
  } else {
    right = !cusparseCreateCsr(&d, m, k, most, device(offsets), device(column), device(values), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type<T>::data) &&
            !cusparseCsrSetStridedBatch(d, BATCH, own_places ? m + 1 : 0, stride);
  }
  int said = 0;
  right = right && !cusparseSpMatGetStridedBatch(d, &said) && said == BATCH;
  cusparseDnMatDescr_t x, y;
  cusparseCreateDnMat(&x, k, N, k, device(b), type<T>::data, CUSPARSE_ORDER_COL), cusparseCreateDnMat(&y, m, N, m, dc, type<T>::data, CUSPARSE_ORDER_COL);
  if (own_b) cusparseDnMatSetStridedBatch(x, BATCH, k * N);
  cusparseDnMatSetStridedBatch(y, BATCH, m * N);
  const T one = T(1), zero = T(0);
  const cusparseOperation_t none = CUSPARSE_OPERATION_NON_TRANSPOSE;
  right = right && !cusparseSpMM(h, none, none, &one, d, x, &zero, y, type<T>::data, CUSPARSE_SPMM_ALG_DEFAULT, dc);
  const std::vector<T> got = host(dc, c.size());
  for (int z = 0; z < BATCH; z++)
    for (int j = 0; j < N; j++)
      for (int i = 0; i < m; i++) {
        number sum = 0;
        double size = 0, terms = 0;
        for (size_t e = 0; e < most; e++)
          if (a[z].row[e] == i) {
            const number t = number(a[z].values[e]) * number(b[(own_b ? z * k * N : 0) + j * k + a[z].column[e]]);
            sum += t, size += std::abs(t), terms++;
          }
        right = right && near(got[(z * N + j) * m + i], sum, size, terms);
      }
  check(right, format == CUSPARSE_FORMAT_COO ? "a batch by coordinates" : "a batch by rows");
}

template <typename T> struct blocks;
#define BLOCKS(T, P, l)                                                 \
  template <> struct blocks<T> {                                        \
    static constexpr auto by_vector = cusparse##l##bsrmv;               \
    static constexpr auto by_matrix = cusparse##l##bsrmm;               \
    typedef P pointed;                                                  \
  };
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
BLOCKS(float, float, S)
BLOCKS(double, double, D)
BLOCKS(std::complex<float>, cuComplex, C)
BLOCKS(std::complex<double>, cuDoubleComplex, Z)

template <typename T> static void block_case(cusparseHandle_t h, int side, int direction, int base, int op_b, int n)
{
  typedef typename blocks<T>::pointed P;
  const matrix<T> a(7, 9); // of blocks
  const int m = a.rows * side, k = a.cols * side, columns = n ? n : 1, ldb = n ? (op_b ? n : k) + 2 : k, ldc = m + (n ? 3 : 0);
  std::vector<T> values(a.row.size() * side * side), b((size_t)ldb * (op_b ? k : columns)), c((size_t)ldc * columns);
  for (auto *v : {&values, &b, &c})
    for (T &x : *v) x = type<T>::make();
  cusparseMatDescr_t about;
  cusparseCreateMatDescr(&about);
  cusparseSetMatIndexBase(about, base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO);
  const T alpha = type<T>::make(), beta = side % 2 ? T(0) : type<T>::make();
  const P *pa = (const P *)&alpha, *pb = (const P *)&beta;
  T *dv = device(values), *db = device(b), *dc = device(c);
  int *offsets = device(a.template offsets<int>(base)), *column = device(based<int>(a.column, base));
  const cusparseOperation_t none = CUSPARSE_OPERATION_NON_TRANSPOSE;
  const cusparseDirection_t dir = (cusparseDirection_t)direction;
  const cusparseStatus_t s =
      n ? blocks<T>::by_matrix(h, dir, none, (cusparseOperation_t)op_b, a.rows, n, a.cols, (int)a.row.size(), pa, about, (P *)dv, offsets, column, side,
                               (P *)db, ldb, pb, (P *)dc, ldc)
        : blocks<T>::by_vector(h, dir, none, a.rows, a.cols, (int)a.row.size(), pa, about, (P *)dv, offsets, column, side, (P *)db, pb, (P *)dc);
  bool right = !s;
  const std::vector<T> got = host(dc, c.size());
  for (int j = 0; j < columns; j++)
    for (int i = 0; i < ldc; i++) {
      const size_t at = (size_t)j * ldc + i;
      if (i >= m) {
        right = right && got[at] == c[at];
        continue;
      }
      number sum = number(beta) * number(c[at]);
      double size = std::abs(sum), terms = 1;
      for (size_t e = 0; e < a.row.size(); e++)
        for (int q = 0; q < side && a.row[e] == i / side; q++) {
          const int r = i % side, l = a.column[e] * side + q;
          const number v = number(values[e * side * side + (direction ? q * side + r : r * side + q)]);
          const number t = number(alpha) * v * number(b[op_b ? (size_t)l * ldb + j : (size_t)j * ldb + l]);
          sum += t, size += std::abs(t), terms++;
        }
      right = right && near(got[at], sum, size, terms + 2);
    }
  char what[100];
  snprintf(what, sizeof what, "blocks of %d, direction %d, type %d, %d columns, operation %d", side, direction, type<T>::data, n, op_b);
  check(right, what);
}

template <typename T> static void all_blocks(cusparseHandle_t h)
{
  for (int side : {1, 2, 5, 16})
    for (int direction : {0, 1}) {
      block_case<T>(h, side, direction, direction, 0, 0);
      block_case<T>(h, side, direction, 0, 0, 6);
      block_case<T>(h, side, direction, 1, 1, 3);
    }
}

int main()
{
  cusparseHandle_t h;
  if (cusparseCreate(&h)) return 1;
  for (int format : {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_COO})
    for (int n : {0, 1, 20, 33})
      for (int order : {CUSPARSE_ORDER_COL, CUSPARSE_ORDER_ROW})
        for (bool t : {false, true}) {
          half_case<__half, __half>(h, format, order, n, t), half_case<__half, float>(h, format, order, n, t);
          half_case<__nv_bfloat16, __nv_bfloat16>(h, format, order, n, t), half_case<__nv_bfloat16, float>(h, format, order, n, t);
        }
  for (int way = 0; way < 4; way++) {
    batch_case<float>(h, CUSPARSE_FORMAT_CSR, way & 1, way & 2);
    batch_case<std::complex<double>>(h, CUSPARSE_FORMAT_CSR, way & 1, way & 2);
    batch_case<double>(h, CUSPARSE_FORMAT_COO, way & 1, way & 2);
  }
  all_blocks<float>(h), all_blocks<double>(h), all_blocks<std::complex<float>>(h), all_blocks<std::complex<double>>(h);
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
