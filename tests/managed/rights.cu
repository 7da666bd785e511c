// Pages that stay at the host, where several GPUs reach them: atomics of system scope, writes and reads in turn.
//
//   rights PAGES STEP...
//     a0:5 d0:5 w0:5 r0:5     GPU 0 adds 1 to a word of page 5: by an atomic of system scope, by one of its own scope, by a load and
//                             a store; or reads it. Each is waited for
//     b0:5                    the same by a bulk copy from shared memory (sm_90)
//     h:5                     the host adds 1
//     c:40                    all GPUs at once add 1 to page 0 so often, by atomics whose answer they wait for
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
#if __CUDA_ARCH__ >= 900
  if (what == 'b') {
    __shared__ alignas(16) unsigned next[4];
    for (int i = 0; i < 4; i++) next[i] = ((volatile unsigned *)x)[i] + !i;
    asm volatile("fence.proxy.async.shared::cta;");
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 16;" ::"l"(x), "r"((unsigned)__cvta_generic_to_shared(next)) : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
  }
#endif
}

__global__ void crowd(unsigned *x, unsigned n)
{
  for (unsigned i = 0; i < n; i++) {
    if (atomicAdd_system(x, 1) == ~0u) x[1] = 1;
    if (i % 3 == 0) ((volatile unsigned *)x)[2 + threadIdx.x] = i;
  }
}

enum { LANES = 32 };

static unsigned at_once(unsigned *x, unsigned n)
{
  int gpus;
  CUDA(cudaGetDeviceCount(&gpus));
  for (int k = 0; k < gpus; k++) {
    CUDA(cudaSetDevice(k));
    crowd<<<1, LANES>>>(x, n);
  }
  for (int k = 0; k < gpus; k++) {
    CUDA(cudaSetDevice(k));
    CUDA(cudaDeviceSynchronize());
  }
  return (unsigned)gpus * LANES * n;
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
    const size_t p = what == 'c' ? 0 : (size_t)atoi(argv[i] + (what == 'h' ? 2 : 3));
    if (what == 'c') {
      expect[0] += at_once(x, (unsigned)atoi(argv[i] + 2)) - 1;
    } else if (what == 'h') {
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
