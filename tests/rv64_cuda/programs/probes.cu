// What a line costs that the other side of a coherent chip has: GPU and CPU walk through lines, one load behind the other, that the
// CPU has stored to, that the GPU has stored to, and that they have themselves. Prints "KEY CYCLES" for each, of whoever walks;
// tests/rv64_cuda/run.sh holds the differences against the machine's parameters.
#include <cstdio>
#include <cstdlib>

enum { LINES = 128, WORDS = 32 };

__global__ void walk(unsigned *a, unsigned *out)
{
  unsigned at = 0;
  const long long t = clock64();
  for (unsigned i = 0; i < LINES; i++) at = __ldcg(&a[at]);
  out[0] = (unsigned)((clock64() - t) / LINES);
  out[1] = at;
}

__global__ void store(unsigned *a)
{
  a[threadIdx.x * WORDS + 1] = threadIdx.x;
}

static unsigned long long cycles()
{
  unsigned long long c;
  asm volatile("rdcycle %0" : "=r"(c));
  return c;
}

static unsigned wrong;

static void cpu(const char *key, const volatile unsigned *a)
{
  unsigned at = 0;
  const unsigned long long t = cycles();
  for (unsigned i = 0; i < LINES; i++) at = a[at];
  printf("%s %llu\n", key, (cycles() - t) / LINES);
  wrong += at != 0;
}

static void gpu(const char *key, unsigned *a, volatile unsigned *out)
{
  walk<<<1, 1>>>(a, (unsigned *)out);
  wrong += cudaDeviceSynchronize() != cudaSuccess;
  printf("%s %u\n", key, out[0]);
  wrong += out[1] != 0;
}

static void touch(volatile unsigned *a)
{
  for (unsigned i = 0; i < LINES; i++) a[i * WORDS] = (i + 1) % LINES * WORDS;
}

int main()
{
  unsigned *a = (unsigned *)aligned_alloc(4096, LINES * WORDS * sizeof *a), *own, out[2];
  cudaMalloc(&own, LINES * WORDS * sizeof *own);
  touch(a);
  gpu("warm", a, out);
  touch(a);
  gpu("gpu-behind-cpu", a, out);
  gpu("gpu-own", a, out);
  cpu("cpu-beside-gpu", a); // a copy of the GPU's beside it
  store<<<1, LINES>>>(a);
  wrong += cudaDeviceSynchronize() != cudaSuccess;
  cpu("cpu-behind-gpu", a);
  cpu("cpu-own", a);
  for (unsigned i = 0; i < LINES; i++) wrong += a[i * WORDS + 1] != i;
  wrong += cudaMemcpy(own, a, LINES * WORDS * sizeof *own, cudaMemcpyDefault) != cudaSuccess;
  gpu("gpu-memory", own, out);
  puts(wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
