// Four cores and eight SMs at once: each thread sorts numbers of its own until the kernel, a product of matrices, has ended; the
// first one asks for that. Sorted numbers and the product are held against what they must be.
//
//   busy [N [SORTED]]    N: the matrices have N x N elements, a multiple of 16; SORTED: numbers that a thread sorts at a time
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>

enum { THREADS = 4, TILE = 16, MOST = 4096 };

__global__ void product(const float *a, const float *b, float *c, int n)
{
  __shared__ float x[TILE][TILE], y[TILE][TILE];
  const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += TILE) {
    x[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    y[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < TILE; i++) sum += x[threadIdx.y][i] * y[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void fill(float *a, float *b)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = (float)(i & 7);
  b[i] = (float)(i & 3);
}

static std::atomic<int> ended;
static int sorted = 512;

struct worker {
  pthread_t id;
  unsigned seed, rounds, wrong;
  unsigned number[MOST];
};

static struct worker worker[THREADS];

// One round: so many numbers of a generator, sorted by shell's method, and looked at.
static void sort_once(struct worker *w)
{
  unsigned *a = w->number;
  for (int i = 0; i < sorted; i++) a[i] = w->seed = w->seed * 1664525u + 1013904223u;
  for (int gap = sorted / 2; gap; gap /= 2)
    for (int i = gap; i < sorted; i++) {
      const unsigned v = a[i];
      int k = i;
      for (; k >= gap && a[k - gap] > v; k -= gap) a[k] = a[k - gap];
      a[k] = v;
    }
  for (int i = 1; i < sorted; i++) w->wrong += a[i - 1] > a[i];
  w->rounds++;
}

static void *work(void *arg)
{
  do sort_once((struct worker *)arg);
  while (!ended.load(std::memory_order_acquire));
  return nullptr;
}

int main(int argc, char **argv)
{
  const int n = argc > 1 ? atoi(argv[1]) : 128;
  if (argc > 2) sorted = atoi(argv[2]);
  if (n < TILE || n > 1024 || n % TILE || sorted < 2 || sorted > MOST) return 2;
  float *a, *b, *c;
  cudaMalloc((void **)&a, n * n * sizeof *a);
  cudaMalloc((void **)&b, n * n * sizeof *b);
  cudaMallocManaged((void **)&c, n * n * sizeof *c);
  fill<<<n * n / 256, 256>>>(a, b);
  cudaDeviceSynchronize();
  for (int i = 1; i < THREADS; i++) {
    worker[i].seed = i;
    pthread_create(&worker[i].id, nullptr, work, &worker[i]);
  }
  product<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(a, b, c, n);
  do sort_once(&worker[0]);
  while (cudaStreamQuery(0) == cudaErrorNotReady);
  ended.store(1, std::memory_order_release);
  for (int i = 1; i < THREADS; i++) pthread_join(worker[i].id, nullptr);
  cudaDeviceSynchronize();
  unsigned wrong = 0;
  for (int i = 0; i < THREADS; i++) wrong += worker[i].wrong + !worker[i].rounds;
  for (int row = 0; row < n; row += n / 4)
    for (int column = 0; column < n; column += 37) {
      int sum = 0;
      for (int k = 0; k < n; k++) sum += ((row * n + k) & 7) * ((k * n + column) & 3);
      wrong += (float)sum != c[row * n + column];
    }
  for (int i = 0; i < THREADS; i++) printf("thread %d sorted %u times\n", i, worker[i].rounds);
  printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
