// Sparse matrix times vector, a warp for each row, rows of very different lengths.
#include "check.h"
#include "random.h"
#include <vector>

__global__ void spmv(int rows, const int *start, const int *col, const int *val, const int *x, int *y)
{
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, sum = 0;
  if (row >= rows) return;
  for (int i = start[row] + lane; i < start[row + 1]; i += 32) sum += val[i] * x[col[i]];
  sum = __reduce_add_sync(~0u, sum);
  if (lane == 0) y[row] = sum;
}

template <typename T> static T *upload(const std::vector<T> &v)
{
  T *p;
  CUDA(cudaMalloc(&p, v.size() * sizeof(T)));
  CUDA(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}

int main()
{
  const int rows = 40, cols = 100;
  std::vector<int> start{0}, col, val, x(cols), y(rows, -1), want(rows);
  Random random(7);
  for (int &v : x) v = random.next() % 20;
  for (int r = 0; r < rows; r++) {
    for (int c = random.next() % (r + 1); c < cols; c += 1 + random.next() % (1 + 100 / (r + 1))) {
      col.push_back(c);
      val.push_back(int(random.next() % 9) - 4);
      want[r] += val.back() * x[c];
    }
    start.push_back(col.size());
  }
  int *out = upload(y);
  spmv<<<rows / 4, 128>>>(rows, upload(start), upload(col), upload(val), upload(x), out);
  CUDA(cudaMemcpy(y.data(), out, rows * 4, cudaMemcpyDeviceToHost));
  CHECK(y == want);
}
