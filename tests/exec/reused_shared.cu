// Shared memory that is written again behind the barrier after which it is read: a race that ends well on every GPU, where
// the warps that a barrier releases go on side by side. Block reductions with one barrier each, several in a row through
// the same words (language models do their soft-max and norms so), and a word that one thread hands out and changes next.
#include "check.h"
#include "random.h"

__device__ int warp_sum(int v)
{
  for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  return v;
}

__device__ int block_sum(int v, int *part)
{
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  v = warp_sum(v);
  if (lane == 0) part[warp] = v;
  __syncthreads();
  return warp_sum(lane < warps ? part[lane] : 0);
}

__global__ void sums(const int *x, int *out)
{
  __shared__ int part[32];
  int v = x[blockIdx.x * blockDim.x + threadIdx.x];
  int a = block_sum(v, part), b = block_sum(v ^ a, part), c = block_sum(v + b, part);
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + 3 * b + 5 * c;
}

__global__ void hand_out(int *out, int rounds)
{
  __shared__ int word;
  int sum = 0;
  if (threadIdx.x == 0) word = 1;
  for (int i = 0; i < rounds; i++) {
    __syncthreads();
    int mine = word;
    sum = sum * 3 + mine;
    __nanosleep(100); // all have read it long before
    if (threadIdx.x == 0) word = 7 * mine + i;
  }
  out[threadIdx.x] = sum;
}

int main()
{
  const int block = 512, blocks = 3, n = block * blocks, rounds = 9;
  static int h[n], got[n];
  int *x, *out;
  Random random(7);
  for (int &v : h) v = int(random.next() % 1000);
  CUDA(cudaMalloc(&x, sizeof h));
  CUDA(cudaMalloc(&out, sizeof h));
  CUDA(cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice));
  sums<<<blocks, block>>>(x, out);
  CUDA(cudaMemcpy(got, out, sizeof h, cudaMemcpyDeviceToHost));
  for (int b = 0; b < blocks; b++) {
    const int *v = h + b * block;
    int s[3] = {0, 0, 0};
    for (int i = 0; i < block; i++) s[0] += v[i];
    for (int i = 0; i < block; i++) s[1] += v[i] ^ s[0];
    for (int i = 0; i < block; i++) s[2] += v[i] + s[1];
    for (int i = 0; i < block; i++) CHECK(got[b * block + i] == s[0] + 3 * s[1] + 5 * s[2]);
  }
  hand_out<<<1, block>>>(out, rounds);
  CUDA(cudaMemcpy(got, out, block * sizeof *out, cudaMemcpyDeviceToHost));
  int sum = 0, word = 1;
  for (int i = 0; i < rounds; i++) sum = sum * 3 + word, word = 7 * word + i;
  for (int i = 0; i < block; i++) CHECK(got[i] == sum);
}
