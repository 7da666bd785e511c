// A library with a static runtime inside, loaded when the program runs (loaded.lib.cu).
#include <dlfcn.h>

#include "check.h"

__global__ void twice(int *x)
{
  *x *= 2;
}

int main()
{
  int h = 7, *d;
  CUDA(cudaMalloc(&d, sizeof h));
  CUDA(cudaMemcpy(d, &h, sizeof h, cudaMemcpyHostToDevice));
  for (int round = 0; round < 2; round++) { // also when it is loaded anew
    void *library = dlopen(LIBRARY, RTLD_NOW);
    CHECK(library);
    auto tripled = reinterpret_cast<int (*)(int)>(dlsym(library, "tripled"));
    CHECK(tripled && tripled(14) == 42);
    CHECK(dlclose(library) == 0);
  }
  twice<<<1, 1>>>(d);
  CUDA(cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost));
  CHECK(h == 14);
}
