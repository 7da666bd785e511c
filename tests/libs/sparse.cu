// libcusparse: products of sparse matrices in three formats with vectors and dense matrices, and conversions, against sums on the
// host in binary64. A sum of k products may be wrong by (k + 2) eps of the sum of their sizes.
#include <cusparse.h>
#include <dlfcn.h>

#include <cmath>
#include <cstring>

#include "sparse.cuh"

// What op(A) op(B) is, and for each element the sum of the sizes of its terms and their count.
struct expected {
  std::vector<number> c;
  std::vector<double> size, terms;
};
template <typename T, typename F> static expected product(const matrix<T> &a, int op, int n, F b)
{
  const int m = op ? a.cols : a.rows;
  expected e = {std::vector<number>(m * n), std::vector<double>(m * n), std::vector<double>(m * n)};
  for (size_t k = 0; k < a.row.size(); k++)
    for (int j = 0; j < n; j++) {
      const int i = op ? a.column[k] : a.row[k], l = op ? a.row[k] : a.column[k];
      const number t = maybe_conj(number(a.values[k]), op) * b(l, j);
      e.c[i * n + j] += t, e.size[i * n + j] += std::abs(t), e.terms[i * n + j]++;
    }
  return e;
}

template <typename T, typename I> static void vector_case(cusparseHandle_t h, int format, int op, int base, bool beta_zero)
{
  const matrix<T> a(61, 83);
  const int m = op ? a.cols : a.rows, k = op ? a.rows : a.cols;
  std::vector<T> x(k), y(m);
  for (T &v : x) v = type<T>::make();
  for (T &v : y) v = beta_zero ? T(NAN) : type<T>::make(); // with beta 0, y is not read
  const T alpha = type<T>::make(), beta = beta_zero ? T(0) : type<T>::make();
  T *dx = device(x), *dy = device(y);
  cusparseSpMatDescr_t d = describe<T, I>(a, format, base);
  cusparseDnVecDescr_t vx, vy;
  size_t bytes = 0;
  char what[100];
  bool right = !cusparseCreateDnVec(&vx, k, dx, type<T>::data) && !cusparseCreateDnVec(&vy, m, dy, type<T>::data);
  right = right && !cusparseSpMV_bufferSize(h, (cusparseOperation_t)op, &alpha, d, vx, &beta, vy, type<T>::data, CUSPARSE_SPMV_ALG_DEFAULT, &bytes);
  char *buffer = device(std::vector<char>(bytes));
  right = right && !cusparseSpMV(h, (cusparseOperation_t)op, &alpha, d, vx, &beta, vy, type<T>::data, CUSPARSE_SPMV_ALG_DEFAULT, buffer);
  const std::vector<T> got = host(dy, m);
  const expected e = product(a, op, 1, [&](int i, int) { return number(x[i]); });
  for (int i = 0; i < m; i++) {
    const number more = beta_zero ? number(0) : number(beta) * number(y[i]);
    right = right && near(got[i], number(alpha) * e.c[i] + more, std::abs(number(alpha)) * e.size[i] + std::abs(more), e.terms[i] + 2);
  }
  snprintf(what, sizeof what, "SpMV of type %d, format %d, op %d, base %d, %d-bit indices", type<T>::data, format, op, base, (int)sizeof(I) * 8);
  check(right, what);
  cusparseDestroySpMat(d);
  cusparseDestroyDnVec(vx);
  cusparseDestroyDnVec(vy);
}

template <typename T> static void matrix_case(cusparseHandle_t h, int format, int op, int op_b, int order_b, int order_c, int n, int batch)
{
  const matrix<T> a(40, 53);
  const int m = op ? a.cols : a.rows, k = op ? a.rows : a.cols, rows = op_b ? n : k, cols = op_b ? k : n;
  const int ldb = (order_b == CUSPARSE_ORDER_COL ? rows : cols) + 3, ldc = (order_c == CUSPARSE_ORDER_COL ? m : n) + 2;
  const int size_b = ldb * (order_b == CUSPARSE_ORDER_COL ? cols : rows), size_c = ldc * (order_c == CUSPARSE_ORDER_COL ? n : m);
  std::vector<T> b(size_b * batch), c(size_c * batch);
  for (T &v : b) v = type<T>::make();
  for (T &v : c) v = type<T>::make();
  const T alpha = type<T>::make(), beta = type<T>::make();
  T *db = device(b), *dc = device(c), *da = device(std::vector<T>{alpha}), *dbeta = device(std::vector<T>{beta});
  cusparseSpMatDescr_t d = describe<T, int>(a, format, 0);
  cusparseDnMatDescr_t mb, mc;
  size_t bytes = 0;
  char what[100];
  bool right = !cusparseCreateDnMat(&mb, rows, cols, ldb, db, type<T>::data, (cusparseOrder_t)order_b) &&
               !cusparseCreateDnMat(&mc, m, n, ldc, dc, type<T>::data, (cusparseOrder_t)order_c);
  if (batch > 1) right = right && !cusparseDnMatSetStridedBatch(mb, batch, size_b) && !cusparseDnMatSetStridedBatch(mc, batch, size_c);
  cusparseSetPointerMode(h, batch > 1 ? CUSPARSE_POINTER_MODE_DEVICE : CUSPARSE_POINTER_MODE_HOST);
  const T *pa = batch > 1 ? da : &alpha, *pb = batch > 1 ? dbeta : &beta;
  right = right && !cusparseSpMM_bufferSize(h, (cusparseOperation_t)op, (cusparseOperation_t)op_b, pa, d, mb, pb, mc, type<T>::data,
                                            CUSPARSE_SPMM_ALG_DEFAULT, &bytes);
  right = right && !cusparseSpMM(h, (cusparseOperation_t)op, (cusparseOperation_t)op_b, pa, d, mb, pb, mc, type<T>::data,
                                 CUSPARSE_SPMM_ALG_DEFAULT, device(std::vector<char>(bytes)));
  cusparseSetPointerMode(h, CUSPARSE_POINTER_MODE_HOST);
  std::vector<T> got = host(dc, size_c * batch);
  for (int z = 0; z < batch; z++) {
    const expected e = product(a, op, n, [&](int i, int j) {
      const int r = op_b ? j : i, s = op_b ? i : j;
      return maybe_conj(number(b[z * size_b + (order_b == CUSPARSE_ORDER_COL ? s * ldb + r : r * ldb + s)]), op_b);
    });
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++) {
        const int at = z * size_c + (order_c == CUSPARSE_ORDER_COL ? j * ldc + i : i * ldc + j);
        const number more = number(beta) * number(c[at]);
        right = right && near(got[at], number(alpha) * e.c[i * n + j] + more,
                              std::abs(number(alpha)) * e.size[i * n + j] + std::abs(more), e.terms[i * n + j] + 2);
        got[at] = c[at];
      }
  }
  snprintf(what, sizeof what, "SpMM of type %d, format %d, ops %d %d, orders %d %d, %d columns, batch %d", type<T>::data, format, op, op_b,
           order_b, order_c, n, batch);
  check(right && got == c, what); // nothing written between columns
  cusparseDestroySpMat(d);
  cusparseDestroyDnMat(mb);
  cusparseDestroyDnMat(mc);
}

// Elements of op(A) op(B) where C has some.
template <typename T> static void sampled_case(cusparseHandle_t h, int format, int op_a, int op_b, int order_a, int order_b, int k)
{
  const matrix<T> c(37, 45), stored = format == CUSPARSE_FORMAT_CSC ? c.turned() : c;
  const int m = c.rows, n = c.cols, ra = op_a ? k : m, ca = op_a ? m : k, rb = op_b ? n : k, cb = op_b ? k : n;
  const int lda = (order_a == CUSPARSE_ORDER_COL ? ra : ca) + 2, ldb = (order_b == CUSPARSE_ORDER_COL ? rb : cb) + 1;
  std::vector<T> a(lda * (order_a == CUSPARSE_ORDER_COL ? ca : ra)), b(ldb * (order_b == CUSPARSE_ORDER_COL ? cb : rb));
  for (T &v : a) v = type<T>::make();
  for (T &v : b) v = type<T>::make();
  const T alpha = type<T>::make(), beta = type<T>::make();
  cusparseSpMatDescr_t d = describe<T, int>(c, format, 1);
  cusparseDnMatDescr_t ma, mb;
  size_t bytes = 0;
  void *values = nullptr;
  const auto oa = (cusparseOperation_t)op_a, ob = (cusparseOperation_t)op_b;
  bool right = !cusparseCreateDnMat(&ma, ra, ca, lda, device(a), type<T>::data, (cusparseOrder_t)order_a) &&
               !cusparseCreateDnMat(&mb, rb, cb, ldb, device(b), type<T>::data, (cusparseOrder_t)order_b);
  right = right && !cusparseSDDMM_bufferSize(h, oa, ob, &alpha, ma, mb, &beta, d, type<T>::data, CUSPARSE_SDDMM_ALG_DEFAULT, &bytes);
  right = right && !cusparseSDDMM(h, oa, ob, &alpha, ma, mb, &beta, d, type<T>::data, CUSPARSE_SDDMM_ALG_DEFAULT, device(std::vector<char>(bytes)));
  right = right && !cusparseSpMatGetValues(d, &values);
  const std::vector<T> got = right ? host((T *)values, stored.values.size()) : std::vector<T>();
  for (size_t z = 0; right && z < got.size(); z++) {
    const int i = format == CUSPARSE_FORMAT_CSC ? stored.column[z] : stored.row[z], j = format == CUSPARSE_FORMAT_CSC ? stored.row[z] : stored.column[z];
    number sum = 0;
    double size = 0;
    for (int l = 0; l < k; l++) {
      const int r = op_a ? l : i, s = op_a ? i : l, t = op_b ? j : l, u = op_b ? l : j;
      const number x = maybe_conj(number(a[order_a == CUSPARSE_ORDER_COL ? s * lda + r : r * lda + s]), op_a);
      const number y = maybe_conj(number(b[order_b == CUSPARSE_ORDER_COL ? u * ldb + t : t * ldb + u]), op_b);
      sum += x * y, size += std::abs(x * y);
    }
    const number more = number(beta) * number(stored.values[z]);
    right = near(got[z], number(alpha) * sum + more, std::abs(number(alpha)) * size + std::abs(more), k + 2);
  }
  char what[100];
  snprintf(what, sizeof what, "SDDMM of type %d, format %d, ops %d %d, orders %d %d, k %d", type<T>::data, format, op_a, op_b, order_a, order_b, k);
  check(right, what);
  cusparseDestroySpMat(d);
  cusparseDestroyDnMat(ma);
  cusparseDestroyDnMat(mb);
}

// Three matrices C with columns of their own, of three A and one B.
template <typename T> static void sampled_batch(cusparseHandle_t h, bool coo)
{
  enum { m = 29, n = 31, k = 8, each = 4, batch = 3, nnz = m * each, gap = nnz + 6, step = m * k + 5 };
  std::vector<int> offsets(batch * (m + 1)), row(batch * gap), column(batch * gap);
  std::vector<T> values(batch * gap, T(9)), a(batch * step), b(k * n);
  for (T &v : a) v = type<T>::make();
  for (T &v : b) v = type<T>::make();
  for (int z = 0; z < batch; z++)
    for (int i = 0; i <= m; i++) {
      offsets[z * (m + 1) + i] = i * each;
      for (int e = 0; i < m && e < each; e++) {
        const int at = z * gap + i * each + e;
        row[at] = i, column[at] = (i * 3 + z + e * 7) % n, values[at] = type<T>::make();
      }
    }
  const T alpha = type<T>::make(), beta = type<T>::make();
  const auto zero = CUSPARSE_INDEX_BASE_ZERO;
  const auto i32 = CUSPARSE_INDEX_32I;
  const auto no = CUSPARSE_OPERATION_NON_TRANSPOSE;
  T *there = device(values);
  cusparseSpMatDescr_t c;
  cusparseDnMatDescr_t ma, mb;
  bool right = coo ? !cusparseCreateCoo(&c, m, n, nnz, device(row), device(column), there, i32, zero, type<T>::data) &&
                       !cusparseCooSetStridedBatch(c, batch, gap)
                   : !cusparseCreateCsr(&c, m, n, nnz, device(offsets), device(column), there, i32, i32, zero, type<T>::data) &&
                       !cusparseCsrSetStridedBatch(c, batch, m + 1, gap);
  right = right && !cusparseCreateDnMat(&ma, m, k, k, device(a), type<T>::data, CUSPARSE_ORDER_ROW) &&
          !cusparseDnMatSetStridedBatch(ma, batch, step) &&
          !cusparseCreateDnMat(&mb, k, n, n, device(b), type<T>::data, CUSPARSE_ORDER_ROW);
  right = right && !cusparseSDDMM(h, no, no, &alpha, ma, mb, &beta, c, type<T>::data, CUSPARSE_SDDMM_ALG_DEFAULT, nullptr);
  std::vector<T> got = host(there, values.size());
  for (int z = 0; z < batch; z++)
    for (int at = z * gap; at < z * gap + nnz; at++) {
      number sum = number(beta) * number(values[at]);
      double size = std::abs(sum);
      for (int l = 0; l < k; l++) {
        const number x = number(alpha) * number(a[z * step + row[at] * k + l]) * number(b[l * n + column[at]]);
        sum += x, size += std::abs(x);
      }
      right = right && near(got[at], sum, size, k + 3);
      got[at] = values[at];
    }
  char what[60];
  snprintf(what, sizeof what, "SDDMM of type %d, batches of %s", type<T>::data, coo ? "coordinates" : "rows");
  check(right && got == values, what); // nothing written between the matrices
  cusparseDestroySpMat(c), cusparseDestroyDnMat(ma), cusparseDestroyDnMat(mb);
}

template <typename T> static void sampled(cusparseHandle_t h)
{
  sampled_batch<T>(h, false), sampled_batch<T>(h, true);
  const int col = CUSPARSE_ORDER_COL, row = CUSPARSE_ORDER_ROW;
  for (int format : {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_CSC, CUSPARSE_FORMAT_COO})
    for (int op = 0; op < 9; op++) sampled_case<T>(h, format, op / 3, op % 3, op % 2 ? col : row, op % 4 > 1 ? col : row, op ? 33 : 1);
}

template <typename T> static void conversions(cusparseHandle_t h, int format, int base)
{
  const matrix<T> a(30, 44);
  const int ld = 47, nnz = (int)a.row.size();
  const cusparseIndexBase_t b = base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO;
  cusparseSpMatDescr_t d = describe<T, int>(a, format, base);
  cusparseDnMatDescr_t dense;
  T *at = device(std::vector<T>(30 * ld, T(5)));
  bool right = !cusparseCreateDnMat(&dense, 30, 44, ld, at, type<T>::data, CUSPARSE_ORDER_ROW) &&
               !cusparseSparseToDense(h, d, dense, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr);
  std::vector<T> want(30 * ld, T(0));
  for (int i = 0; i < 30; i++)
    for (int j = 44; j < ld; j++) want[i * ld + j] = T(5);
  for (int k = 0; k < nnz; k++) want[a.row[k] * ld + a.column[k]] = a.values[k];
  check(right && host(at, 30 * ld) == want, "SparseToDense");
  const std::vector<int> row = based<int>(a.row, base), offsets = a.template offsets<int>(base);
  int *got = device(std::vector<int>(31)), *back = device(std::vector<int>(nnz));
  check(!cusparseXcoo2csr(h, device(row), nnz, 30, got, b) && host(got, 31) == offsets, "Xcoo2csr");
  check(!cusparseXcsr2coo(h, got, nnz, 30, back, b) && host(back, nnz) == row, "Xcsr2coo");
}

// Of a dense matrix with what is and what is not zero: the matrix that it was made from, in the order of its lines.
template <typename T, typename I> static void from_dense(cusparseHandle_t h, int format, int base, int order)
{
  matrix<T> a(45, 70);
  for (T &v : a.values)
    if (v == T(0)) v = T(1);
  a.values[2] = T(NAN), a.values[3] = T(0x1p-149); // neither is zero, though the latter's square is
  const bool by_rows = order == CUSPARSE_ORDER_ROW;
  const int ld = (by_rows ? 70 : 45) + 2, nnz = (int)a.row.size();
  std::vector<T> values(ld * (by_rows ? 45 : 70), T(-0.0)); // it is zero, too; between lines there are others
  for (size_t i = 0; i < values.size(); i++)
    if ((int)i % ld >= ld - 2) values[i] = T(7);
  for (int k = 0; k < nnz; k++) values[by_rows ? a.row[k] * ld + a.column[k] : a.column[k] * ld + a.row[k]] = a.values[k];
  const matrix<T> t = format == CUSPARSE_FORMAT_CSC ? a.turned() : a;
  const cusparseIndexType_t index = sizeof(I) == 8 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
  const cusparseIndexBase_t b = base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO;
  const bool coo = format == CUSPARSE_FORMAT_COO;
  I *offsets = device(std::vector<I>(t.rows + 1, 99));
  cusparseSpMatDescr_t d;
  cusparseDnMatDescr_t dense;
  bool right = !cusparseCreateDnMat(&dense, 45, 70, ld, device(values), type<T>::data, (cusparseOrder_t)order);
  if (coo) right = right && !cusparseCreateCoo(&d, 45, 70, 0, nullptr, nullptr, nullptr, index, b, type<T>::data);
  else if (format == CUSPARSE_FORMAT_CSR) right = right && !cusparseCreateCsr(&d, 45, 70, 0, offsets, nullptr, nullptr, index, index, b, type<T>::data);
  else right = right && !cusparseCreateCsc(&d, 45, 70, 0, offsets, nullptr, nullptr, index, index, b, type<T>::data);
  size_t bytes = 0;
  int64_t rows, cols, count = 0;
  const cusparseDenseToSparseAlg_t way = CUSPARSE_DENSETOSPARSE_ALG_DEFAULT;
  right = right && !cusparseDenseToSparse_bufferSize(h, dense, d, way, &bytes);
  char *room = device(std::vector<char>(bytes));
  right = right && !cusparseDenseToSparse_analysis(h, dense, d, way, room) && !cusparseSpMatGetSize(d, &rows, &cols, &count) && count == nnz;
  if (!coo) right = right && host(offsets, t.rows + 1) == t.template offsets<I>(base);
  I *major = device(std::vector<I>(nnz)), *minor = device(std::vector<I>(nnz));
  T *out = device(std::vector<T>(nnz));
  if (coo) right = right && !cusparseCooSetPointers(d, major, minor, out);
  else if (format == CUSPARSE_FORMAT_CSR) right = right && !cusparseCsrSetPointers(d, offsets, minor, out);
  else right = right && !cusparseCscSetPointers(d, offsets, minor, out);
  right = right && !cusparseDenseToSparse_convert(h, dense, d, way, room) && host(minor, nnz) == based<I>(t.column, base);
  if (coo) right = right && host(major, nnz) == based<I>(t.row, base);
  const std::vector<T> got = host(out, nnz);
  for (int k = 0; right && k < nnz; k++) right = !memcmp(&got[k], &t.values[k], sizeof(T));
  char what[100];
  snprintf(what, sizeof what, "DenseToSparse of type %d, format %d, order %d, base %d, %d-bit indices", type<T>::data, format, order, base, (int)sizeof(I) * 8);
  check(right, what);
  cusparseDestroySpMat(d);
  cusparseDestroyDnMat(dense);
}

template <typename T> static void from_dense_all(cusparseHandle_t h)
{
  for (int format : {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_COO, CUSPARSE_FORMAT_CSC})
    for (int order : {CUSPARSE_ORDER_COL, CUSPARSE_ORDER_ROW}) {
      from_dense<T, int>(h, format, order == CUSPARSE_ORDER_COL, order);
      from_dense<T, int64_t>(h, format, order == CUSPARSE_ORDER_ROW, order);
    }
}

static void statuses(cusparseHandle_t h)
{
  const matrix<float> a(8, 9);
  cusparseSpMatDescr_t d = describe<float, int>(a, CUSPARSE_FORMAT_CSR, 0);
  cusparseDnVecDescr_t x, y, z;
  float *p = device(std::vector<float>(16)), one = 1;
  int64_t rows, cols, nnz;
  cusparseCreateDnVec(&x, 9, p, CUDA_R_32F);
  cusparseCreateDnVec(&y, 8, p, CUDA_R_32F);
  cusparseCreateDnVec(&z, 8, p, CUDA_R_64F);
  const cusparseOperation_t n = CUSPARSE_OPERATION_NON_TRANSPOSE;
  check(cusparseSpMV(h, n, &one, d, y, &one, x, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, p) == CUSPARSE_STATUS_INVALID_VALUE, "sizes that differ");
  check(cusparseSpMV(h, n, &one, d, x, &one, z, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, p) == CUSPARSE_STATUS_NOT_SUPPORTED, "types that differ");
  check(cusparseSpMV(nullptr, n, &one, d, x, &one, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, p) == CUSPARSE_STATUS_NOT_INITIALIZED, "no handle");
  check(cusparseSpMV(h, n, nullptr, d, x, &one, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, p) == CUSPARSE_STATUS_INVALID_VALUE, "no alpha");
  check(!cusparseSpMatGetSize(d, &rows, &cols, &nnz) && rows == 8 && cols == 9 && nnz == (int64_t)a.row.size(), "sizes");
  check(cusparseXbsrsv2_zeroPivot(h, nullptr, (int *)&rows) == CUSPARSE_STATUS_NOT_SUPPORTED, "a function that is not there");
  cusparseSpMatDescr_t wrong;
  check(cusparseCreateCsr(&wrong, 2, 2, 9, p, p, p, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F) ==
          CUSPARSE_STATUS_INVALID_VALUE, "more elements than there are places");
}

// What is not zero by rows or columns, of a matrix of 45 x 70 with numbers between its columns; the total on the host or the device.
template <typename T, typename N, typename F> static void nonzeros(cusparseHandle_t h, F count)
{
  const matrix<T> a(45, 70);
  const int ld = 47;
  cusparseMatDescr_t d;
  cusparseCreateMatDescr(&d);
  std::vector<T> values(ld * 70, T(-0.0)); // it is zero, too
  std::vector<int> of[2] = {std::vector<int>(45), std::vector<int>(70)};
  for (size_t i = 0; i < values.size(); i++)
    if ((int)i % ld >= 45) values[i] = T(7);
  for (size_t k = 0; k < a.row.size(); k++) {
    values[a.column[k] * ld + a.row[k]] = a.values[k];
    if (a.values[k] != T(0)) of[0][a.row[k]]++, of[1][a.column[k]]++;
  }
  int all = 0;
  for (int n : of[0]) all += n;
  const N *at = (const N *)device(values);
  for (int by = 0; by < 2; by++) {
    int *counts = device(std::vector<int>(of[by].size(), 99)), *total = device(std::vector<int>{99}), said = 0;
    bool right = !count(h, (cusparseDirection_t)by, 45, 70, d, at, ld, counts, &said) && said == all && host(counts, of[by].size()) == of[by];
    cusparseSetPointerMode(h, CUSPARSE_POINTER_MODE_DEVICE);
    right = right && !count(h, (cusparseDirection_t)by, 45, 70, d, at, ld, counts, total) && host(total, 1)[0] == all;
    cusparseSetPointerMode(h, CUSPARSE_POINTER_MODE_HOST);
    check(right, "numbers of what is not zero");
  }
  int total;
  check(count(h, CUSPARSE_DIRECTION_ROW, 45, 70, d, at, 44, device(std::vector<int>(45)), &total) == CUSPARSE_STATUS_INVALID_VALUE, "short columns");
}

// cusparseSpMVOp is found by its names, since CUDA 13.0 has neither its declarations nor its symbols to link with.
static struct {
  cusparseStatus_t (*size)(cusparseHandle_t, cusparseOperation_t, cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                           cusparseDnVecDescr_t z, cudaDataType, int algorithm, size_t *bytes);
  cusparseStatus_t (*describe)(cusparseHandle_t, void **description, cusparseOperation_t, cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t x,
                               cusparseDnVecDescr_t y, cusparseDnVecDescr_t z, cudaDataType, int algorithm, void *buffer);
  cusparseStatus_t (*forget)(void *description);
  cusparseStatus_t (*plan)(cusparseHandle_t, void *description, void **plan, const void *code, size_t bytes);
  cusparseStatus_t (*drop)(void *plan);
  cusparseStatus_t (*run)(cusparseHandle_t, void *plan, const void *alpha, const void *beta, cusparseConstDnVecDescr_t x,
                          cusparseConstDnVecDescr_t y, cusparseDnVecDescr_t z);
} planned;

template <typename F> static bool find(F &f, const char *name) { return f = (F)dlsym(RTLD_DEFAULT, name); }
static bool find_planned()
{
  return find(planned.size, "cusparseSpMVOp_bufferSize") && find(planned.describe, "cusparseSpMVOp_createDescr") &&
         find(planned.forget, "cusparseSpMVOp_destroyDescr") && find(planned.plan, "cusparseSpMVOp_createPlan") &&
         find(planned.drop, "cusparseSpMVOp_destroyPlan") && find(planned.run, "cusparseSpMVOp");
}

// z = alpha op(A) x + beta y by a plan that was made with other vectors and outlives its description; z is y in the second product.
template <typename T, typename I> static void planned_case(cusparseHandle_t h, int format, cusparseOperation_t op)
{
  const matrix<T> a(61, 83);
  const int m = op ? a.cols : a.rows, k = op ? a.rows : a.cols;
  std::vector<T> x(k), y(m);
  for (T &v : x) v = type<T>::make();
  for (T &v : y) v = type<T>::make();
  const T alpha = type<T>::make(), beta = type<T>::make();
  T *dx = device(x), *dy = device(y), *dz = device(std::vector<T>(m, T(NAN)));
  cusparseSpMatDescr_t d = describe<T, I>(a, format, 1);
  cusparseDnVecDescr_t vx, vy, vz, first_x, first_y;
  cusparseCreateDnVec(&vx, k, dx, type<T>::data);
  cusparseCreateDnVec(&vy, m, dy, type<T>::data);
  cusparseCreateDnVec(&vz, m, dz, type<T>::data);
  cusparseCreateDnVec(&first_x, k, device(x), type<T>::data);
  cusparseCreateDnVec(&first_y, m, device(y), type<T>::data);
  size_t bytes = 0;
  void *description, *plan, *kept;
  bool right = !planned.size(h, op, d, first_x, first_y, first_y, type<T>::data, 0, &bytes);
  char *buffer = device(std::vector<char>(bytes));
  right = right && !planned.describe(h, &description, op, d, first_x, first_y, first_y, type<T>::data, 0, buffer);
  right = right && !planned.plan(h, description, &plan, nullptr, 0);
  right = right && planned.plan(h, description, &kept, "code", 4) == CUSPARSE_STATUS_NOT_SUPPORTED;
  right = right && planned.drop(description) == CUSPARSE_STATUS_INVALID_VALUE && !planned.forget(description);
  right = right && planned.run(h, plan, &alpha, &beta, vx, vx, vz) == CUSPARSE_STATUS_INVALID_VALUE;
  right = right && planned.run(h, plan, nullptr, &beta, vx, vy, vz) == CUSPARSE_STATUS_INVALID_VALUE;
  const expected e = product(a, op, 1, [&](int i, int) { return number(x[i]); });
  for (const cusparseDnVecDescr_t to : {vz, vy}) {
    right = right && !planned.run(h, plan, &alpha, &beta, vx, vy, to);
    const std::vector<T> got = host(to == vz ? dz : dy, m), read = host(dy, m);
    for (int i = 0; i < m; i++) {
      const number more = number(beta) * number(y[i]);
      right = right && near(got[i], number(alpha) * e.c[i] + more, std::abs(number(alpha)) * e.size[i] + std::abs(more), e.terms[i] + 2);
      right = right && (to == vy || read[i] == y[i]); // y stays as it was
    }
  }
  char what[100];
  snprintf(what, sizeof what, "SpMVOp of type %d, format %d, op %d", type<T>::data, format, op);
  check(right && !planned.drop(plan), what);
}

int main()
{
  cusparseHandle_t h;
  if (cusparseCreate(&h)) return 1;
  for (int format : {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_COO, CUSPARSE_FORMAT_CSC})
    for (int op = 0; op < 3; op++) {
      vector_case<float, int>(h, format, op, op % 2, op == 0);
      vector_case<double, int64_t>(h, format, op, 1, op == 1);
      if (format == CUSPARSE_FORMAT_CSC && op == 2) continue;
      vector_case<std::complex<float>, int64_t>(h, format, op, 0, op == 2);
      vector_case<std::complex<double>, int>(h, format, op, 1, false);
    }
  const bool found = find_planned();
  check(found, "SpMVOp is there");
  for (const cusparseOperation_t op : {CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE}) {
    if (!found) break;
    planned_case<float, int>(h, CUSPARSE_FORMAT_CSR, op);
    planned_case<double, int64_t>(h, CUSPARSE_FORMAT_COO, op);
    planned_case<std::complex<double>, int>(h, CUSPARSE_FORMAT_CSR, op);
  }
  const int col = CUSPARSE_ORDER_COL, row = CUSPARSE_ORDER_ROW;
  for (int format : {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_COO})
    for (int op = 0; op < 3; op++)
      for (int op_b = 0; op_b < 3; op_b++) {
        matrix_case<float>(h, format, op, op_b, col, col, 7, 1);
        matrix_case<std::complex<float>>(h, format, op, op_b, row, col, 33, 1);
        matrix_case<double>(h, format, op, op_b, col, row, 64, 2);
        matrix_case<std::complex<double>>(h, format, op, op_b, row, row, 1, 3);
      }
  matrix_case<float>(h, CUSPARSE_FORMAT_CSC, 0, 0, row, row, 20, 1);
  matrix_case<double>(h, CUSPARSE_FORMAT_CSC, 1, 0, col, row, 20, 1);
  nonzeros<float, float>(h, cusparseSnnz), nonzeros<double, double>(h, cusparseDnnz);
  nonzeros<std::complex<float>, cuComplex>(h, cusparseCnnz), nonzeros<std::complex<double>, cuDoubleComplex>(h, cusparseZnnz);
  sampled<float>(h), sampled<double>(h), sampled<std::complex<float>>(h), sampled<std::complex<double>>(h);
  for (int format : {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_COO, CUSPARSE_FORMAT_CSC}) {
    conversions<float>(h, format, 0);
    conversions<std::complex<double>>(h, format, 1);
  }
  from_dense_all<float>(h), from_dense_all<double>(h), from_dense_all<std::complex<float>>(h), from_dense_all<std::complex<double>>(h);
  statuses(h);
  check(cusparseDestroy(h) == CUSPARSE_STATUS_SUCCESS, "destroy");
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
