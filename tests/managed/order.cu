// A thread's accesses to one word keep their order while its page is brought. Each thread stores to a word whose page is
// at the host, waits a time of its own and adds to the word: some do so before the page has come, some when it is there
// but the store has not been told yet, some later. Pages of other blocks in the same batch make that time long.
#include <cstdio>
#include <cstdlib>

#define CUDA(call)                                                                                 \
  if ((call) != cudaSuccess) {                                                                     \
    printf("%s: %s\n", #call, cudaGetErrorString(cudaGetLastError()));                             \
    exit(1);                                                                                       \
  }

static const int WORDS = 128, BLOCKS = 12, LINE = 32, BLOCK = 2 << 20;

__global__ void add(int *word, const char *blocks, long long step, int *sum)
{
  if (blockIdx.x >= WORDS) { // another block of the same batch
    atomicAdd(sum, blocks[(size_t)(blockIdx.x - WORDS) * BLOCK]);
    return;
  }
  int *mine = word + blockIdx.x * LINE;
  long long begin = clock64();
  *mine = 5;
  while (clock64() - begin < step * blockIdx.x) {}
  *mine += 2;
  *mine += 3;
}

int main()
{
  int *word, *sum, bad = 0;
  char *blocks;
  CUDA(cudaMallocManaged(&word, WORDS * LINE * sizeof *word));
  CUDA(cudaMallocManaged(&blocks, (size_t)BLOCKS * BLOCK));
  CUDA(cudaMalloc(&sum, sizeof *sum));
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < WORDS; i++) word[i * LINE] = 1000 + round;
    for (int i = 0; i < BLOCKS; i++) blocks[(size_t)i * BLOCK] = 1;
    add<<<WORDS + BLOCKS, 1>>>(word, blocks, 1 + 700 * round, sum);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < WORDS; i++) {
      if (word[i * LINE] == 5 + 2 + 3) continue;
      if (!bad++) printf("round %d, word %d is %d\n", round, i, word[i * LINE]);
    }
  }
  if (bad) printf("%d words are wrong\n", bad);
  return bad != 0;
}
