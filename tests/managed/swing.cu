// Pages that processors touch in turn. Each turn is waited for, so their order is known; what is read at the end is what
// a CPU has.
//
//   swing PAGES STEP...
//     h:5 0:5   the host, or a thread of that GPU, adds 1 to a word of page 5
//     s:7       7 ms pass
//     b:300     GPU 0 adds to page 0 so often, a while between, as the host reads it beside that, call by call
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA(call)                                                                                 \
  if ((call) != cudaSuccess) {                                                                     \
    printf("%s: %s\n", #call, cudaGetErrorString(cudaGetLastError()));                             \
    exit(1);                                                                                       \
  }

enum { WORDS = 1024 };

__global__ void add(volatile unsigned *x, unsigned n)
{
  for (unsigned i = 0; i < n; i++) {
    *x += 1;
    __threadfence_system();
    if (n > 1) __nanosleep(40000);
  }
}

__global__ void pass(unsigned ms)
{
  for (unsigned i = 0; i < ms; i++) __nanosleep(1000000);
}

static bool beside(unsigned *x, unsigned n)
{
  unsigned last = 0;
  bool ok = true;
  add<<<1, 1>>>(x, n);
  while (cudaStreamQuery(0) == cudaErrorNotReady) {
    const unsigned now = *(volatile unsigned *)x;
    ok &= now >= last;
    last = now;
  }
  CUDA(cudaDeviceSynchronize());
  return ok;
}

int main(int argc, char **argv)
{
  const unsigned pages = (unsigned)atoi(argv[1]);
  std::vector<unsigned> expect(pages);
  unsigned *x;
  bool ok = true;
  CUDA(cudaMallocManaged(&x, (size_t)pages * WORDS * 4));
  for (int i = 2; i < argc; i++) {
    const char who = argv[i][0];
    const unsigned n = (unsigned)atoi(argv[i] + 2);
    if (who == 'h') {
      x[(size_t)n * WORDS]++;
      CUDA(cudaStreamQuery(0)); // a call: what was touched before it is known
    } else if (who == 'b') {
      ok &= beside(x, n);
      expect[0] += n;
    } else {
      if (who != 's') CUDA(cudaSetDevice(who - '0'));
      if (who == 's') pass<<<1, 1>>>(n);
      else add<<<1, 1>>>(x + (size_t)n * WORDS, 1);
      CUDA(cudaDeviceSynchronize());
    }
    if (who != 'b' && who != 's') expect[n]++;
  }
  for (unsigned p = 0; p < pages; p++) ok &= x[(size_t)p * WORDS] == expect[p];
  printf("%s\n", ok ? "right" : "wrong");
  return !ok;
}
