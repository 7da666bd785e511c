// libcusparse: triangular systems, products of two sparse matrices, compressed columns, against the host in binary64.
#include <algorithm>
#include <map>

#include "sparse.cuh"

// A system that is well conditioned: the diagonal is larger than the sum of its row's and its column's other elements, and what is on the wrong
// side of it must not be looked at.
template <typename T> static matrix<T> square(int n, bool upper, bool unit)
{
  matrix<T> a(0, 0);
  a.rows = a.cols = n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      const bool inside = upper ? j > i : j < i;
      if (i != j && next() % 5) continue;
      T v = type<T>::make();
      if (i == j) v = unit ? T(1e30) : v + T(9);
      else if (!inside) v = T(NAN);
      else v = v * T(unit ? 0.05 : 0.5);
      a.row.push_back(i), a.column.push_back(j), a.values.push_back(v);
    }
  return a;
}

// Two levels of 1,300 rows, more than a CTA solves, and behind them 100 rows that each need the one before.
template <typename T> static matrix<T> wide(bool upper, bool unit)
{
  enum { half = 1300, all = 2700 };
  matrix<T> a(0, 0);
  a.rows = a.cols = all;
  auto put = [&](int i, int j, T v) { a.row.push_back(i), a.column.push_back(j), a.values.push_back(v); };
  for (int i = 0; i < all; i++) {
    const int seen = upper ? all - 1 - i : i; // how many rows are solved before it, if one after the other
    put(i, i, unit ? T(1e30) : type<T>::make() + T(9));
    for (int e = 0; e < (seen < half ? 0 : seen < 2 * half ? 3 : 1); e++) {
      const int needed = seen < 2 * half ? (int)((seen + e * 431) % half) : seen - 1;
      put(i, upper ? all - 1 - needed : needed, type<T>::make() * T(0.3));
    }
  }
  return a;
}

static int at(bool columns, int ld, int i, int j) { return columns ? j * ld + i : i * ld + j; }

// |alpha op(B) - op(A) C| beside the sizes of the terms: what solving row by row leaves is (terms + 4) eps of their sum.
template <typename T, typename I> static void solve_case(cusparseHandle_t h, int format, int op, int op_b, bool upper, bool unit, int n, bool vector,
                                                      bool is_wide = false)
{
  const int rows = is_wide ? 2700 : 67, columns_b = next() % 2 || vector, columns_c = next() % 2 || vector, base = next() % 2;
  const int rb = op_b ? n : rows, cb = op_b ? rows : n, ldb = (columns_b ? rb : cb) + (vector ? 0 : 3), ldc = (columns_c ? rows : n) + (vector ? 0 : 2);
  const matrix<T> a = is_wide ? wide<T>(upper, unit) : square<T>(rows, upper, unit);
  const double terms = is_wide ? 4 : rows / 5.0;
  std::vector<T> b(ldb * (columns_b ? cb : rb)), c(ldc * (columns_c ? n : rows), T(3));
  for (T &v : b) v = type<T>::make();
  T *db = device(b), *dc = device(c);
  const T alpha = type<T>::make() + T(3);
  cusparseSpMatDescr_t d = describe<T, I>(a, format, base);
  cusparseFillMode_t fill = upper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = unit ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
  bool right = !cusparseSpMatSetAttribute(d, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill) &&
               !cusparseSpMatSetAttribute(d, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal);
  const auto oa = (cusparseOperation_t)op, ob = (cusparseOperation_t)op_b;
  const cudaDataType t = type<T>::data;
  size_t bytes = 0;
  if (vector) {
    cusparseSpSVDescr_t plan;
    cusparseDnVecDescr_t x, y;
    right = right && !cusparseSpSV_createDescr(&plan) && !cusparseCreateDnVec(&x, rows, db, t) && !cusparseCreateDnVec(&y, rows, dc, t);
    right = right && !cusparseSpSV_bufferSize(h, oa, &alpha, d, x, y, t, CUSPARSE_SPSV_ALG_DEFAULT, plan, &bytes);
    right = right && cusparseSpSV_solve(h, oa, &alpha, d, x, y, t, CUSPARSE_SPSV_ALG_DEFAULT, plan) == CUSPARSE_STATUS_INVALID_VALUE; // not analysed
    right = right && !cusparseSpSV_analysis(h, oa, &alpha, d, x, y, t, CUSPARSE_SPSV_ALG_DEFAULT, plan, device(std::vector<char>(bytes)));
    right = right && !cusparseSpSV_solve(h, oa, &alpha, d, x, y, t, CUSPARSE_SPSV_ALG_DEFAULT, plan) && !cusparseSpSV_destroyDescr(plan);
  } else {
    cusparseSpSMDescr_t plan;
    cusparseDnMatDescr_t x, y;
    right = right && !cusparseSpSM_createDescr(&plan) && !cusparseCreateDnMat(&x, rb, cb, ldb, db, t, columns_b ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW) &&
            !cusparseCreateDnMat(&y, rows, n, ldc, dc, t, columns_c ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW);
    right = right && !cusparseSpSM_bufferSize(h, oa, ob, &alpha, d, x, y, t, CUSPARSE_SPSM_ALG_DEFAULT, plan, &bytes);
    right = right && !cusparseSpSM_analysis(h, oa, ob, &alpha, d, x, y, t, CUSPARSE_SPSM_ALG_DEFAULT, plan, device(std::vector<char>(bytes)));
    right = right && !cusparseSpSM_solve(h, oa, ob, &alpha, d, x, y, t, CUSPARSE_SPSM_ALG_DEFAULT, plan) && !cusparseSpSM_destroyDescr(plan);
  }
  std::vector<T> got = host(dc, c.size());
  std::vector<number> sum(rows * n);
  std::vector<double> size(rows * n);
  for (int j = 0; j < n; j++)
    for (size_t k = 0; k < a.row.size(); k++) {
      const bool inside = upper ? a.column[k] > a.row[k] : a.column[k] < a.row[k], on = a.column[k] == a.row[k];
      if (!inside && !on) continue;
      const int r = op ? a.column[k] : a.row[k], s = op ? a.row[k] : a.column[k];
      const number v = on && unit ? number(1) : maybe_conj(number(a.values[k]), op), y = v * number(got[at(columns_c, ldc, s, j)]);
      sum[r * n + j] += y, size[r * n + j] += std::abs(y);
    }
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < n; j++) {
      const number x = number(alpha) * maybe_conj(number(b[op_b ? at(columns_b, ldb, j, i) : at(columns_b, ldb, i, j)]), op_b);
      right = right && std::abs(sum[i * n + j] - x) <= (terms + 6) * type<T>::eps * (size[i * n + j] + std::abs(x));
      got[at(columns_c, ldc, i, j)] = T(3);
    }
  char what[140];
  snprintf(what, sizeof what, "%s of type %d, format %d, ops %d %d, %s, %s diagonal, %d columns", vector ? "SpSV" : "SpSM", t, format, op, op_b,
           upper ? "upper" : "lower", unit ? "unit" : "stored", n);
  check(right && got == c, what);
  cusparseDestroySpMat(d);
}

template <typename T, typename I> static void solves(cusparseHandle_t h)
{
  for (int format : {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_COO, CUSPARSE_FORMAT_CSC})
    for (int op = 0; op < 3; op++)
      for (int shape = 0; shape < 4; shape++) {
        solve_case<T, I>(h, format, op, 0, shape & 1, shape & 2, 1, true);
        solve_case<T, I>(h, format, op, (op + shape) % 3, shape & 1, shape & 2, op == 1 ? 33 : 5, false);
      }
  for (int shape = 0; shape < 4; shape++) {
    solve_case<T, I>(h, CUSPARSE_FORMAT_CSR, 0, 0, shape & 1, shape & 2, 1, true, true);
    solve_case<T, I>(h, CUSPARSE_FORMAT_CSR, 1, 0, shape & 1, shape & 2, 2, false, true);
  }
}

// The structure of A B once, then alpha A B + beta C twice: with the values that A had, and with others. Buffers that need not
// stay are filled with other bytes in between.
template <typename T, typename I> static void reuse_case(cusparseHandle_t h, int m, int k, int n, int base)
{
  matrix<T> a(m, k);
  const matrix<T> b(k, n);
  const cudaDataType t = type<T>::data;
  const auto no = CUSPARSE_OPERATION_NON_TRANSPOSE;
  const cusparseIndexType_t index = sizeof(I) == 8 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
  cusparseSpMatDescr_t da = describe<T, I>(a, CUSPARSE_FORMAT_CSR, base), db = describe<T, I>(b, CUSPARSE_FORMAT_CSR, 1 - base), dc;
  I *offsets = device(std::vector<I>(m + 1, (I)-1)), *columns = nullptr;
  cusparseSpGEMMDescr_t plan;
  size_t size[5] = {};
  int64_t rows, cols, nnz = 0;
  char *room[5] = {};
  auto take = [&](int i) { room[i] = device(std::vector<char>(size[i])); };
  bool right = !cusparseCreateCsr(&dc, m, n, 0, offsets, nullptr, nullptr, index, index, base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO, t) &&
               !cusparseSpGEMM_createDescr(&plan);
#define STRUCTURE h, no, no, da, db, dc, CUSPARSE_SPGEMM_DEFAULT, plan
#define SIZES &size[1], room[1], &size[2], room[2], &size[3], room[3]
  right = right && cusparseSpGEMMreuse_nnz(STRUCTURE, SIZES) == CUSPARSE_STATUS_INVALID_VALUE; // before its time
  right = right && !cusparseSpGEMMreuse_workEstimation(STRUCTURE, &size[0], nullptr);
  take(0);
  right = right && !cusparseSpGEMMreuse_workEstimation(STRUCTURE, &size[0], room[0]) && !cusparseSpGEMMreuse_nnz(STRUCTURE, SIZES);
  for (int i = 1; i < 4; i++) take(i);
  right = right && !cusparseSpGEMMreuse_nnz(STRUCTURE, SIZES) && !cusparseSpMatGetSize(dc, &rows, &cols, &nnz);
  for (int i = 0; i < 3; i++) cudaMemset(room[i], 0x55, size[i]);
  columns = device(std::vector<I>(nnz));
  std::vector<T> c(nnz);
  for (T &v : c) v = type<T>::make();
  T *values = device(c);
  right = right && !cusparseCsrSetPointers(dc, offsets, columns, values) && !cusparseSpGEMMreuse_copy(STRUCTURE, &size[4], nullptr);
  take(4);
  right = right && !cusparseSpGEMMreuse_copy(STRUCTURE, &size[4], room[4]) && host(values, nnz) == c;
  for (int pass = 0; pass < 3; pass++) {
    const T alpha = type<T>::make() + T(3), beta = pass == 1 ? T(0) : type<T>::make();
    if (pass)
      for (T &v : a.values) v = type<T>::make();
    right = right && !cusparseCsrSetPointers(da, device(a.template offsets<I>(base)), device(based<I>(a.column, base)), device(a.values));
    right = right && !cusparseSpGEMMreuse_compute(h, no, no, &alpha, da, db, &beta, dc, t, CUSPARSE_SPGEMM_DEFAULT, plan);
    std::vector<std::map<int, number>> want(m);
    std::vector<std::map<int, double>> sizes(m), terms(m);
    for (size_t i = 0; i < a.row.size(); i++)
      for (size_t j = 0; j < b.row.size(); j++)
        if (b.row[j] == a.column[i]) {
          const number v = number(alpha) * number(a.values[i]) * number(b.values[j]);
          want[a.row[i]][b.column[j]] += v, sizes[a.row[i]][b.column[j]] += std::abs(v), terms[a.row[i]][b.column[j]]++;
        }
    const std::vector<I> o = host(offsets, m + 1), place = host(columns, nnz);
    const std::vector<T> v = host(values, nnz);
    int64_t z = 0;
    for (int i = 0; i < m; i++) {
      right = right && o[i] == (I)(z + base);
      for (auto &e : want[i]) {
        if (!right || z >= nnz) break;
        const number old = number(beta) * number(c[z]);
        right = place[z] == (I)(e.first + base) &&
                near(v[z], e.second + old, sizes[i][e.first] + std::abs(old), terms[i][e.first] + 4);
        z++;
      }
    }
    right = right && z == nnz && o[m] == (I)(nnz + base);
    c = v;
  }
  char what[100];
  snprintf(what, sizeof what, "SpGEMMreuse of type %d, %d x %d x %d, base %d", t, m, k, n, base);
  check(right && !cusparseSpGEMM_destroyDescr(plan), what);
  cusparseDestroySpMat(da), cusparseDestroySpMat(db), cusparseDestroySpMat(dc);
}

// C = alpha A B, and beta times a C without elements: the columns that a product can have, in order, and the sums.
template <typename T, typename I> static void product_case(cusparseHandle_t h, int m, int k, int n, int base)
{
  const matrix<T> a(m, k), b(k, n);
  const T alpha = type<T>::make() + T(3), beta = base ? alpha : T(0);
  const cudaDataType t = type<T>::data;
  const auto no = CUSPARSE_OPERATION_NON_TRANSPOSE;
  const cusparseIndexType_t index = sizeof(I) == 8 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
  cusparseSpMatDescr_t da = describe<T, I>(a, CUSPARSE_FORMAT_CSR, base), db = describe<T, I>(b, CUSPARSE_FORMAT_CSR, 1 - base), dc;
  I *offsets = device(std::vector<I>(m + 1, (I)-1));
  cusparseSpGEMMDescr_t plan;
  size_t one = 0, two = 0;
  int64_t rows = 0, cols = 0, nnz = -1, products = -1, want_products = 0;
  bool right = !cusparseCreateCsr(&dc, m, n, 0, offsets, nullptr, nullptr, index, index, base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO, t) &&
               !cusparseSpGEMM_createDescr(&plan);
#define ARGUMENTS h, no, no, &alpha, da, db, &beta, dc, t, CUSPARSE_SPGEMM_DEFAULT, plan
  right = right && !cusparseSpGEMM_workEstimation(ARGUMENTS, &one, nullptr);
  right = right && cusparseSpGEMM_compute(ARGUMENTS, &two, nullptr) == CUSPARSE_STATUS_INVALID_VALUE; // before its time
  right = right && !cusparseSpGEMM_workEstimation(ARGUMENTS, &one, device(std::vector<char>(one)));
  right = right && !cusparseSpGEMM_getNumProducts(plan, &products) && !cusparseSpGEMM_compute(ARGUMENTS, &two, nullptr);
  right = right && !cusparseSpGEMM_compute(ARGUMENTS, &two, device(std::vector<char>(two))) && !cusparseSpMatGetSize(dc, &rows, &cols, &nnz);
  std::vector<std::map<int, number>> want(m);
  std::vector<std::map<int, double>> size(m), terms(m);
  for (size_t i = 0; i < a.row.size(); i++)
    for (size_t j = 0; j < b.row.size(); j++)
      if (b.row[j] == a.column[i]) {
        const number v = number(a.values[i]) * number(b.values[j]);
        want[a.row[i]][b.column[j]] += v, size[a.row[i]][b.column[j]] += std::abs(v), terms[a.row[i]][b.column[j]]++;
        want_products++;
      }
  int64_t want_nnz = 0;
  for (auto &r : want) want_nnz += (int64_t)r.size();
  right = right && nnz == want_nnz && products == want_products && rows == m && cols == n;
  if (right) {
    I *columns = device(std::vector<I>(nnz));
    T *values = device(std::vector<T>(nnz));
    right = !cusparseCsrSetPointers(dc, offsets, columns, values) && !cusparseSpGEMM_copy(ARGUMENTS) && !cusparseSpGEMM_destroyDescr(plan);
    const std::vector<I> o = host(offsets, m + 1), c = host(columns, nnz);
    const std::vector<T> v = host(values, nnz);
    int64_t z = 0;
    for (int i = 0; i < m; i++) {
      right = right && o[i] == (I)(z + base);
      for (auto &e : want[i]) {
        right = right && c[z] == (I)(e.first + base) &&
                near(v[z], number(alpha) * e.second, std::abs(number(alpha)) * size[i][e.first], terms[i][e.first] + 2);
        z++;
      }
    }
    right = right && o[m] == (I)(nnz + base);
  }
  char what[100];
  snprintf(what, sizeof what, "SpGEMM of type %d, %d x %d x %d, base %d, %d-bit indices", t, m, k, n, base, (int)sizeof(I) * 8);
  check(right, what);
  cusparseDestroySpMat(da), cusparseDestroySpMat(db), cusparseDestroySpMat(dc);
}

template <typename T> static void products(cusparseHandle_t h)
{
  product_case<T, int>(h, 41, 37, 53, 0);
  product_case<T, int64_t>(h, 41, 90, 20, 1);
  reuse_case<T, int>(h, 41, 37, 53, 1);
  reuse_case<T, int64_t>(h, 20, 90, 31, 0);
  product_case<T, int>(h, 1, 1, 1, 1);   // an empty row
  product_case<T, int>(h, 7, 300, 250, 0); // a row of thousands of products
}

template <typename T> static void turn_case(cusparseHandle_t h, int m, int n, int base, bool values)
{
  const matrix<T> a(m, n), t = a.turned();
  const int nnz = (int)a.row.size();
  const auto b = base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO;
  const auto action = values ? CUSPARSE_ACTION_NUMERIC : CUSPARSE_ACTION_SYMBOLIC;
  T *from = device(a.values), *to = device(std::vector<T>(nnz, T(7)));
  int *offsets = device(a.template offsets<int>(base)), *columns = device(based<int>(a.column, base));
  int *c_offsets = device(std::vector<int>(n + 1)), *rows = device(std::vector<int>(nnz));
  size_t bytes = 0;
#define TURN h, m, n, nnz, from, offsets, columns, to, c_offsets, rows, type<T>::data, action, b, CUSPARSE_CSR2CSC_ALG_DEFAULT
  bool right = !cusparseCsr2cscEx2_bufferSize(TURN, &bytes) && !cusparseCsr2cscEx2(TURN, device(std::vector<char>(bytes)));
  right = right && host(c_offsets, n + 1) == t.template offsets<int>(base) && host(rows, nnz) == based<int>(t.column, base);
  check(right && host(to, nnz) == (values ? t.values : std::vector<T>(nnz, T(7))), "Csr2cscEx2");
}

// Values that are twice those that were analysed: half the unknowns, to the bit. The matrix's own stay as they are.
template <typename T> static void updated(cusparseHandle_t h)
{
  const int rows = 67, nnz = rows * 2 - 1;
  matrix<T> a(0, 0);
  a.rows = a.cols = rows;
  for (int i = 0; i < rows; i++) {
    if (i) a.row.push_back(i), a.column.push_back(i - 1), a.values.push_back(type<T>::make());
    a.row.push_back(i), a.column.push_back(i), a.values.push_back(type<T>::make() + T(9));
  }
  std::vector<T> twice = a.values, b(rows, T(3));
  for (T &v : twice) v = v + v;
  T *x = device(b);
  cusparseSpMatDescr_t d = describe<T, int>(a, CUSPARSE_FORMAT_CSR, 0);
  cusparseDnVecDescr_t vb, vx;
  cusparseSpSVDescr_t plan;
  const T one(1);
  size_t bytes = 0;
  T *values = device(twice);
#define SYSTEM h, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, d, vb, vx, type<T>::data, CUSPARSE_SPSV_ALG_DEFAULT, plan
  bool right = !cusparseSpSV_createDescr(&plan) && !cusparseCreateDnVec(&vb, rows, device(b), type<T>::data) && !cusparseCreateDnVec(&vx, rows, x, type<T>::data);
  right = right && cusparseSpSV_updateMatrix(h, plan, values, CUSPARSE_SPSV_UPDATE_GENERAL) == CUSPARSE_STATUS_INVALID_VALUE; // not analysed
  right = right && !cusparseSpSV_bufferSize(SYSTEM, &bytes) && !cusparseSpSV_analysis(SYSTEM, device(std::vector<char>(bytes))) && !cusparseSpSV_solve(SYSTEM);
  const std::vector<T> before = host(x, rows);
  right = right && !cusparseSpSV_updateMatrix(h, plan, values, CUSPARSE_SPSV_UPDATE_GENERAL);
  cudaMemset(values, 0, nnz * sizeof(T)); // they were copied
  right = right && !cusparseSpSV_solve(SYSTEM);
  const std::vector<T> after = host(x, rows);
  for (int i = 0; i < rows; i++) right = right && after[i] + after[i] == before[i];
  check(right && !cusparseSpSV_destroyDescr(plan), "SpSV with other values");
  cusparseDestroySpMat(d), cusparseDestroyDnVec(vb), cusparseDestroyDnVec(vx);
}

static void refusals(cusparseHandle_t h)
{
  const matrix<float> a(8, 8);
  cusparseSpMatDescr_t d = describe<float, int>(a, CUSPARSE_FORMAT_CSR, 0), coo = describe<float, int>(a, CUSPARSE_FORMAT_COO, 0);
  cusparseSpGEMMDescr_t plan;
  const float one = 1, zero = 0;
  size_t bytes;
  const auto n = CUSPARSE_OPERATION_NON_TRANSPOSE, t = CUSPARSE_OPERATION_TRANSPOSE;
  cusparseSpGEMM_createDescr(&plan);
#define ESTIMATE(op, left, beta) cusparseSpGEMM_workEstimation(h, op, n, &one, left, d, beta, d, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT, plan, &bytes, nullptr)
  check(ESTIMATE(t, d, &zero) == CUSPARSE_STATUS_NOT_SUPPORTED, "a transposed factor");
  check(ESTIMATE(n, coo, &zero) == CUSPARSE_STATUS_NOT_SUPPORTED, "coordinates");
  cusparseSpMatDescr_t two = describe<float, int>(a, CUSPARSE_FORMAT_CSR, 0);
  cusparseCsrSetStridedBatch(two, 2, 0, 0);
  check(ESTIMATE(n, two, &zero) == CUSPARSE_STATUS_NOT_SUPPORTED, "a batch");
  cusparseDestroySpMat(two);
  check(ESTIMATE(n, d, &one) == CUSPARSE_STATUS_NOT_SUPPORTED, "a beta of 1");
  check(ESTIMATE(n, d, &zero) == CUSPARSE_STATUS_SUCCESS, "what is there");
  cusparseSpGEMM_destroyDescr(plan);
}

// What does not fit what was analysed is refused: arrays that are no matrix, values of another type where values were updated.
// An analysis waits for its stream, so it fails where the stream is captured.
static void misfits(cusparseHandle_t h)
{
  enum { rows = 5 };
  const std::vector<std::vector<int>> offsets = {{0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}, {0, 1, 6, 3, 4, 5}, {0, 3, 2, 3, 4, 5}, {1, 1, 2, 3, 4, 5}},
                                      columns = {{0, 1, 2, 3, 4}, {0, 1, 5, 3, 4}, {0, 1, -1, 3, 4}, {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}};
  const std::vector<double> b(rows, 6);
  const std::vector<float> few(rows, 2);
  double one = 1, *x = device(b);
  float one_f = 1;
  cusparseDnVecDescr_t vb, vx, fb;
  bool right = !cusparseCreateDnVec(&vb, rows, device(b), CUDA_R_64F) && !cusparseCreateDnVec(&vx, rows, x, CUDA_R_64F) && !cusparseCreateDnVec(&fb, rows, device(few), CUDA_R_32F);
  for (size_t i = 0; i < offsets.size(); i++) {
    cusparseSpMatDescr_t d, f;
    cusparseSpSVDescr_t plan;
    size_t bytes = 0;
    int *o = device(offsets[i]), *c = device(columns[i]);
    const auto i32 = CUSPARSE_INDEX_32I;
    const auto zero = CUSPARSE_INDEX_BASE_ZERO;
#define OF(one, d, b, x, t) h, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, d, b, x, t, CUSPARSE_SPSV_ALG_DEFAULT, plan
#define DOUBLES OF(one, d, vb, vx, CUDA_R_64F)
    right = right && !cusparseCreateCsr(&d, rows, rows, rows, o, c, device(std::vector<double>(rows, 2)), i32, i32, zero, CUDA_R_64F) &&
            !cusparseCreateCsr(&f, rows, rows, rows, o, c, device(few), i32, i32, zero, CUDA_R_32F) && !cusparseSpSV_createDescr(&plan) &&
            !cusparseSpSV_bufferSize(DOUBLES, &bytes);
    char *room = device(std::vector<char>(bytes));
    const auto expect = i ? CUSPARSE_STATUS_INVALID_VALUE : CUSPARSE_STATUS_SUCCESS;
    right = right && cusparseSpSV_analysis(DOUBLES, room) == expect && cusparseSpSV_solve(DOUBLES) == expect;
    if (!i) {
      right = right && host(x, rows) == std::vector<double>(rows, 3) && !cusparseSpSV_solve(OF(one_f, f, fb, fb, CUDA_R_32F));
      right = right && !cusparseSpSV_updateMatrix(h, plan, device(b), CUSPARSE_SPSV_UPDATE_GENERAL);
      right = right && cusparseSpSV_solve(OF(one_f, f, fb, fb, CUDA_R_32F)) == CUSPARSE_STATUS_INVALID_VALUE && !cusparseSpSV_solve(DOUBLES);
      right = right && host(x, rows) == std::vector<double>(rows, 1);
      cudaStream_t s;
      cudaGraph_t graph;
      right = right && !cudaStreamCreate(&s) && !cusparseSetStream(h, s) && !cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed);
      right = right && cusparseSpSV_analysis(DOUBLES, room) == CUSPARSE_STATUS_EXECUTION_FAILED;
      cudaStreamEndCapture(s, &graph);
      cudaGetLastError();
      right = right && !cusparseSetStream(h, 0);
    }
    right = right && !cusparseSpSV_destroyDescr(plan);
    cusparseDestroySpMat(d), cusparseDestroySpMat(f);
  }
  check(right, "SpSV of what does not fit");
}

int main()
{
  cusparseHandle_t h;
  if (cusparseCreate(&h)) return 1;
  misfits(h);
  updated<float>(h), updated<double>(h), updated<std::complex<float>>(h), updated<std::complex<double>>(h);
  solves<float, int>(h), solves<double, int64_t>(h), solves<std::complex<float>, int64_t>(h), solves<std::complex<double>, int>(h);
  products<float>(h), products<double>(h), products<std::complex<float>>(h), products<std::complex<double>>(h);
  for (int base = 0; base < 2; base++) {
    turn_case<float>(h, 30, 44, base, true), turn_case<double>(h, 44, 30, base, true);
    turn_case<std::complex<double>>(h, 3, 200, base, true), turn_case<std::complex<float>>(h, 900, 2, base, base);
  }
  refusals(h);
  check(cusparseDestroy(h) == CUSPARSE_STATUS_SUCCESS, "destroy");
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
