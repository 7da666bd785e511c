// libcusparse: sparse vectors beside dense ones, against sums on the host in binary64; descriptors give back what they were made of.
#include "sparse.cuh"

// Each second, fifth, ... place of a vector of `size`, in no order.
template <typename I> static std::vector<I> places(int size, int base)
{
  std::vector<I> p;
  for (int i = 0; i < size; i++)
    if (next() % 3 == 0) p.push_back((I)(i + base));
  for (size_t k = p.size(); k > 1; k--) std::swap(p[k - 1], p[next() % k]);
  return p;
}

template <typename T, typename I> static void vectors(cusparseHandle_t h, int size, int base, bool on_device)
{
  const cusparseIndexType_t wide = sizeof(I) == 8 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
  const std::vector<I> p = places<I>(size, base);
  const int count = (int)p.size();
  std::vector<T> x(count), y(size);
  for (T &v : x) v = type<T>::make();
  for (T &v : y) v = type<T>::make();
  const T factor[2] = {type<T>::make(), type<T>::make()};
  I *dp = device(p);
  T *dx = device(x), *dy = device(y);
  const T *scalars = on_device ? device(std::vector<T>(factor, factor + 2)) : factor;
  char what[100];
  cusparseSpVecDescr_t vx;
  cusparseDnVecDescr_t vy;
  bool right = !cusparseSetPointerMode(h, on_device ? CUSPARSE_POINTER_MODE_DEVICE : CUSPARSE_POINTER_MODE_HOST);
  right = right && !cusparseCreateSpVec(&vx, size, count, dp, dx, wide, (cusparseIndexBase_t)base, type<T>::data);
  right = right && !cusparseCreateDnVec(&vy, size, dy, type<T>::data);

  int64_t n = 0, nnz = 0;
  void *indices = NULL, *values = NULL;
  cusparseIndexType_t index_type;
  cusparseIndexBase_t index_base;
  cudaDataType value_type;
  right = right && !cusparseSpVecGet(vx, &n, &nnz, &indices, &values, &index_type, &index_base, &value_type);
  right = right && n == size && nnz == count && indices == dp && values == dx && index_type == wide && index_base == base &&
          value_type == type<T>::data;

  for (int op = 0; op < 3; op += 2) { // as it is, and conjugate
    T got[2] = {T(7), T(7)}, *there = device(std::vector<T>(1));
    size_t bytes = 0;
    right = right && !cusparseSpVV_bufferSize(h, (cusparseOperation_t)op, vx, vy, on_device ? there : got, type<T>::data, &bytes);
    char *room = device(std::vector<char>(bytes));
    right = right && !cusparseSpVV(h, (cusparseOperation_t)op, vx, vy, on_device ? there : got, type<T>::data, room);
    if (on_device) got[0] = host(there, 1)[0];
    number sum = 0;
    double sizes = 0;
    for (int k = 0; k < count; k++) {
      const number t = maybe_conj(number(x[k]), op) * number(y[p[k] - base]);
      sum += t, sizes += std::abs(t);
    }
    right = right && near(got[0], sum, sizes, count + 2) && got[1] == T(7);
    if (on_device || op) continue;
    T again[2] = {T(7), T(7)}; // recorded: a result for the host comes when the graph runs
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStreamCreate(&s), cusparseSetStream(h, s), cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    right = right && !cusparseSpVV(h, CUSPARSE_OPERATION_NON_TRANSPOSE, vx, vy, again, type<T>::data, room) && !cudaStreamEndCapture(s, &graph) && again[0] == T(7);
    right = right && !cudaGraphInstantiate(&ready, graph, 0) && !cudaGraphLaunch(ready, s) && !cudaStreamSynchronize(s) && again[0] == got[0] && again[1] == T(7);
    cusparseSetStream(h, nullptr), cudaStreamDestroy(s);
  }

  right = right && !cusparseAxpby(h, scalars, vx, scalars + 1, vy);
  std::vector<T> got = host(dy, size);
  std::vector<number> want(size);
  std::vector<double> sizes(size);
  for (int i = 0; i < size; i++) want[i] = number(factor[1]) * number(y[i]), sizes[i] = std::abs(want[i]);
  for (int k = 0; k < count; k++) {
    const number t = number(factor[0]) * number(x[k]);
    want[p[k] - base] += t, sizes[p[k] - base] += std::abs(t);
  }
  for (int i = 0; i < size; i++) right = right && near(got[i], want[i], sizes[i], 3);

  right = right && !cusparseRot(h, scalars, scalars + 1, vx, vy);
  const std::vector<T> turned = host(dx, count);
  const std::vector<T> before = got;
  got = host(dy, size);
  std::vector<char> touched(size);
  for (int k = 0; k < count; k++) {
    const int i = p[k] - base;
    const number c(factor[0]), s(factor[1]), u(x[k]), v(before[i]);
    touched[i] = 1;
    right = right && near(turned[k], c * u + s * v, std::abs(c * u) + std::abs(s * v), 3) &&
            near(got[i], c * v - s * u, std::abs(c * v) + std::abs(s * u), 3);
  }
  for (int i = 0; i < size; i++) right = right && (touched[i] || got[i] == before[i]);

  right = right && !cusparseGather(h, vy, vx);
  const std::vector<T> gathered = host(dx, count);
  for (int k = 0; k < count; k++) right = right && gathered[k] == got[p[k] - base];
  right = right && !cusparseSpVecSetValues(vx, device(x)) && !cusparseScatter(h, vx, vy);
  for (int k = 0; k < count; k++) got[p[k] - base] = x[k];
  right = right && host(dy, size) == got;
  right = right && !cusparseDestroySpVec(vx) && !cusparseDestroyDnVec(vy);
  snprintf(what, sizeof what, "vectors of type %d, %d, base %d, %d-bit indices, scalars %s", type<T>::data, size, base, (int)sizeof(I) * 8,
           on_device ? "there" : "here");
  check(right, what);
  cusparseSetPointerMode(h, CUSPARSE_POINTER_MODE_HOST);
}

template <typename T> static void of_type(cusparseHandle_t h)
{
  for (int base = 0; base < 2; base++)
    for (int on_device = 0; on_device < 2; on_device++) vectors<T, int>(h, 1000, base, on_device), vectors<T, int64_t>(h, 77, base, on_device);
  vectors<T, int>(h, 0, 0, false);
}

int main()
{
  cusparseHandle_t h;
  if (cusparseCreate(&h)) return 1;
  of_type<float>(h), of_type<double>(h), of_type<std::complex<float>>(h), of_type<std::complex<double>>(h);
  cusparseSpVecDescr_t v;
  check(cusparseCreateSpVec(&v, 3, 4, NULL, NULL, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F) == CUSPARSE_STATUS_INVALID_VALUE,
        "more elements than places");
  cusparseDestroy(h);
  printf("%d cases, %d wrong\n", cases, failures);
  return failures != 0;
}
