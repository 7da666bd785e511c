// One address space: what malloc gave, the stack, and variables of the program work in kernels, and the CPU reads what
// cudaMalloc gave. Argument: "shared" (all of that), or "apart" (managed and pinned memory alone).
#include <cstdio>
#include <cstdlib>
#include <cstring>

static int of_program[1000];

__global__ void twice(int *p, int n)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = 2 * p[i] + 1;
}

static int check(const char *what, int *p, int n, bool by_cpu)
{
  int bad = 0;
  if (by_cpu)
    for (int i = 0; i < n; i++) p[i] = 3 * i;
  twice<<<(n + 127) / 128, 128>>>(p, n);
  const cudaError_t e = cudaDeviceSynchronize();
  for (int i = 0; i < n; i++) bad += p[i] != 6 * i + 1;
  printf("%s: %s, %d wrong of %d\n", what, cudaGetErrorName(e), bad, n);
  return bad || e != cudaSuccess;
}

int main(int argc, char **argv)
{
  enum { N = 20000 };
  const bool shared = argc > 1 && strcmp(argv[1], "shared") == 0;
  int failed = 0, *managed, *pinned, *device;
  cudaMallocManaged(&managed, N * sizeof(int));
  cudaMallocHost(&pinned, N * sizeof(int));
  failed += check("managed", managed, N, true);
  failed += check("pinned", pinned, N, true);
  if (shared) {
    int on_stack[500];
    cudaMalloc(&device, N * sizeof(int));
    int *heap = (int *)malloc(N * sizeof(int)), *small = (int *)malloc(40 * sizeof(int));
    failed += check("malloc", heap, N, true);
    failed += check("small malloc", small, 40, true);
    failed += check("stack", on_stack, 500, true);
    failed += check("variable", of_program, 1000, true);
    failed += check("cudaMalloc", device, N, true);
    // A page that nobody has touched before the kernel does.
    int *fresh = (int *)malloc(64 << 20);
    twice<<<1, 128>>>(fresh + (8 << 20), 128);
    const cudaError_t e = cudaDeviceSynchronize();
    printf("untouched: %s, %d\n", cudaGetErrorName(e), fresh[(8 << 20) + 77]);
    failed += e != cudaSuccess || fresh[(8 << 20) + 77] != 1;
    free(fresh);
  }
  cudaFree(managed);
  cudaFreeHost(pinned);
  printf("%s\n", failed ? "FAIL" : "PASS");
  return failed != 0;
}
