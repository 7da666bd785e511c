// Kernels of several GPUs, each in a stream or two, with prefetches and advice drawn at random between them, on one managed
// array: pages go to and fro while others wait for them. Sums are those of a CPU.
//
//   crowd GPUS MIB SEED
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA(call)                                                                                 \
  if ((call) != cudaSuccess) {                                                                     \
    printf("%s: %s\n", #call, cudaGetErrorString(cudaGetLastError()));                             \
    exit(1);                                                                                       \
  }

enum { WORDS = 1024, GPUS = 16, ROUNDS = 6, TOUCHED = 48 };

struct book {
  unsigned *x, pages;
  std::vector<unsigned> cpu; // GPUS words of each page
};

/* A word for each GPU, and one for all. */
__global__ void add(unsigned *x, const unsigned *list, int gpu)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= TOUCHED) return;
  unsigned *page = x + (size_t)list[i] * WORDS;
  atomicAdd(page + 1 + gpu, list[i] + 1);
  atomicAdd_system(page, 1u);
}

static void move_something(const book &b, int gpus, cudaStream_t s)
{
  const unsigned first = rand() % b.pages, n = 1 + rand() % (b.pages - first);
  unsigned *from = b.x + (size_t)first * WORDS;
  const bool host = rand() % 3 == 0;
  const cudaMemLocation at = {host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, host ? 0 : rand() % gpus};
  if (rand() % 2) CUDA(cudaMemPrefetchAsync(from, (size_t)n * WORDS * 4, at, 0, s));
  if (rand() % 3 == 0) CUDA(cudaMemAdvise(from, (size_t)n * WORDS * 4, (cudaMemoryAdvise)(1 + rand() % 6), at));
}

static void launch(book &b, int gpu, int gpus)
{
  std::vector<unsigned> list;
  std::vector<bool> taken(b.pages);
  unsigned *d;
  cudaStream_t s;
  while (list.size() < TOUCHED) {
    const unsigned page = rand() % b.pages;
    if (!taken[page]) list.push_back(page);
    taken[page] = true;
  }
  CUDA(cudaSetDevice(gpu));
  CUDA(cudaMalloc(&d, TOUCHED * sizeof *d));
  CUDA(cudaMemcpy(d, list.data(), TOUCHED * sizeof *d, cudaMemcpyHostToDevice));
  CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  move_something(b, gpus, s);
  add<<<3, 32, 0, rand() % 2 ? s : 0>>>(b.x, d, gpu);
  for (unsigned p : list) {
    b.cpu[p * (GPUS + 1)]++;
    b.cpu[p * (GPUS + 1) + 1 + gpu] += p + 1;
  }
}

static bool right(const book &b, unsigned page)
{
  for (int i = 0; i <= GPUS; i++)
    if (b.x[(size_t)page * WORDS + i] != b.cpu[page * (GPUS + 1) + i]) return false;
  return true;
}

int main(int argc, char **argv)
{
  if (argc != 4) return 2;
  const int gpus = atoi(argv[1]);
  book b = {NULL, (unsigned)atoi(argv[2]) * 256, {}};
  bool ok = true;
  srand((unsigned)atoi(argv[3]));
  CUDA(cudaMallocManaged(&b.x, (size_t)b.pages * WORDS * 4));
  b.cpu.resize(b.pages * (GPUS + 1));
  for (int round = 0; round < ROUNDS; round++) {
    for (int g = 0; g < gpus; g++) launch(b, g, gpus);
    if (round < ROUNDS - 1 && rand() % 2) continue; // the next ones come beside them
    for (int g = 0; g < gpus; g++) {
      CUDA(cudaSetDevice(g));
      CUDA(cudaDeviceSynchronize());
    }
    for (unsigned p = rand() % 64; p < b.pages; p += 64) ok &= right(b, p);
  }
  for (unsigned p = 0; p < b.pages; p++) ok &= right(b, p);
  printf("%s\n", ok ? "right" : "wrong");
  return !ok;
}
