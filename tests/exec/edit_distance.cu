// Distances of words to a pattern, a block for each word, diagonal after diagonal in shared memory.
#include "check.h"
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

const int most = 32;

__global__ void distance(const char *pattern, int m, const char (*word)[most], int *out)
{
  __shared__ int d[most + 1][most + 1];
  const char *w = word[blockIdx.x];
  int n = 0, i = threadIdx.x;
  while (w[n]) n++;
  for (int diagonal = 0; diagonal <= m + n; diagonal++) {
    int k = diagonal - i;
    if (i <= m && k >= 0 && k <= n)
      d[i][k] = i == 0 ? k : k == 0 ? i : min(min(d[i - 1][k], d[i][k - 1]) + 1,
                                              d[i - 1][k - 1] + (pattern[i - 1] != w[k - 1]));
    __syncthreads();
  }
  if (i == 0) out[blockIdx.x] = d[m][n];
}

static int on_host(const std::string &a, const std::string &b)
{
  std::vector<int> row(b.size() + 1);
  for (size_t k = 0; k <= b.size(); k++) row[k] = k;
  for (size_t i = 1; i <= a.size(); i++) {
    int corner = row[0]++;
    for (size_t k = 1; k <= b.size(); k++) {
      int next = std::min({row[k] + 1, row[k - 1] + 1, corner + (a[i - 1] != b[k - 1])});
      corner = row[k];
      row[k] = next;
    }
  }
  return row.back();
}

int main()
{
  static const char words[][most] = {"sitting", "kitten", "", "kitchen", "a much longer line", "nettik"};
  const int n = sizeof words / sizeof words[0];
  const char *pattern = "kitten";
  char *p;
  char(*w)[most];
  int *out, got[n];
  CUDA(cudaMalloc(&p, most));
  CUDA(cudaMalloc(&w, sizeof words));
  CUDA(cudaMalloc(&out, sizeof got));
  CUDA(cudaMemcpy(p, pattern, strlen(pattern), cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy(w, words, sizeof words, cudaMemcpyHostToDevice));
  distance<<<n, most>>>(p, strlen(pattern), w, out);
  CUDA(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  CHECK(got[0] == 3); // the textbook's example
  for (int i = 0; i < n; i++) CHECK(got[i] == on_host(pattern, words[i]));
}
