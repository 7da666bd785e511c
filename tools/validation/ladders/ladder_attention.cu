// Host of sonnyli/flash_attention_from_scratch: one head of 128, ladder_attention TOKENS HEADS, where HEADS say how far
// apart its rows are. -DCONFIGURATION: the fields of the author's FlashForwardKernelConfig behind the type.
#include <bit>
#include <cuda_fp16.h>

#include "flash_attention.cuh"
#include "forward_kernel.cuh"
#include "ladder.h"

enum { D = 128, ROWS_COMPARED = 4 };

static double at(const pair_of<half> &x, size_t row, size_t d, size_t heads)
{
  return (double)__half2float(x.host[row * heads * D + d]);
}

// Largest error of a row of results.
static double error_of(const pair_of<half> *qkvo, size_t row, size_t tokens, size_t heads)
{
  std::vector<double> weight(tokens);
  double sum = 0, worst = 0;
  for (size_t s = 0; s < tokens; s++) {
    double dot = 0;
    for (size_t d = 0; d < D; d++) dot += at(qkvo[0], row, d, heads) * at(qkvo[1], s, d, heads);
    sum += weight[s] = std::exp(dot / std::sqrt((double)D));
  }
  for (size_t d = 0; d < D; d++) {
    double mean = 0;
    for (size_t s = 0; s < tokens; s++) mean += weight[s] * at(qkvo[2], s, d, heads);
    worst = std::fmax(worst, std::fabs(mean / sum - at(qkvo[3], row, d, heads)));
  }
  return worst;
}

int main(int argc, char **argv)
{
  using namespace flash;
  if (argc != 3) return 2;
  int tokens = std::atoi(argv[1]), heads = std::atoi(argv[2]);
  constexpr FlashForwardKernelConfig cfg{torch::kFloat16, CONFIGURATION};
  size_t n = (size_t)tokens * heads * D;
  pair_of<half> qkvo[] = {pair_of<half>(n), pair_of<half>(n), pair_of<half>(n), pair_of<half>(n)};
  for (unsigned which = 0; which < 3; which++) {
    for (size_t i = 0; i < n; i++) qkvo[which].host[i] = __float2half((float)drawn(i, which + 1, 500) / 500);
    qkvo[which].up();
  }
  ForwardKernelArgs args{qkvo[0].device, qkvo[1].device, qkvo[2].device, qkvo[3].device, (int64_t)n, heads * D, D,
                         tokens, heads, tokens / cfg.B_r, tokens / cfg.B_c};
  auto kernel = flash_forward_kernel<StaticForwardKernelConfig<cfg>>;
  must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, cfg.smem_bytes()));
  kernel<<<dim3(tokens / cfg.B_r, 1, 1), cfg.n_warps * 32, cfg.smem_bytes()>>>(args);
  must(cudaDeviceSynchronize());
  qkvo[3].down();
  double worst = 0;
  for (size_t t = 0; t < ROWS_COMPARED; t++) worst = std::fmax(worst, error_of(qkvo, t * 1237 % tokens, tokens, heads));
  return verdict(worst, 5e-3);
}
