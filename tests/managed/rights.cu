// Pages that stay at the host, where several GPUs reach them: atomics of system scope, writes and reads in turn.
//
//   rights PAGES STEP...
//     a0:5 d0:5 w0:5 r0:5     GPU 0 adds 1 to a word of page 5: by an atomic of system scope, by one of its own scope, by a load and
//                             a store; or reads it. Each is waited for
//     h:5                     the host adds 1
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA(call)                                                                                 \
  if ((call) != cudaSuccess) {                                                                     \
    printf("%s: %s\n", #call, cudaGetErrorString(cudaGetLastError()));                             \
    exit(1);                                                                                       \
  }

enum { WORDS = 1024 };

__global__ void act(unsigned *x, char what, unsigned *seen)
{
  if (what == 'a') atomicAdd_system(x, 1);
  if (what == 'd') atomicAdd(x, 1);
  if (what == 'w') *(volatile unsigned *)x += 1;
  if (what == 'r') *seen = *(volatile unsigned *)x;
}

int main(int argc, char **argv)
{
  const size_t pages = (size_t)atoi(argv[1]), bytes = pages * WORDS * 4;
  std::vector<unsigned> expect(pages);
  const cudaMemLocation host = {cudaMemLocationTypeHost, 0};
  unsigned *x, *seen, last = 0;
  bool ok = true;
  CUDA(cudaMallocManaged(&x, bytes));
  CUDA(cudaMallocHost(&seen, sizeof *seen));
  CUDA(cudaMemAdvise(x, bytes, cudaMemAdviseSetPreferredLocation, host));
  for (size_t p = 0; p < pages; p++) x[p * WORDS] = 0;
  for (int i = 2; i < argc; i++) {
    const char what = argv[i][0];
    const size_t p = (size_t)atoi(argv[i] + (what == 'h' ? 2 : 3));
    if (what == 'h') {
      x[p * WORDS]++;
    } else {
      CUDA(cudaSetDevice(argv[i][1] - '0'));
      act<<<1, 1>>>(x + p * WORDS, what, seen);
      CUDA(cudaDeviceSynchronize());
    }
    last = what == 'r' ? *seen : ++expect[p];
    ok &= last == expect[p];
  }
  for (size_t p = 0; p < pages; p++) ok &= x[p * WORDS] == expect[p];
  printf("%s\n", ok ? "right" : "wrong");
  return !ok;
}
