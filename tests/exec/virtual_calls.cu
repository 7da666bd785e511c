// Objects made on the device by one kernel, called through virtual functions and pointers by the next.
#include "check.h"

struct Shape {
  __device__ virtual int area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  int a;
  __device__ explicit Square(int side) : a(side) {}
  __device__ int area() const override { return a * a; }
};
struct Rectangle : Shape {
  int a, b;
  __device__ Rectangle(int x, int y) : a(x), b(y) {}
  __device__ int area() const override { return a * b; }
};

__device__ int twice(int v) { return 2 * v; }
__device__ int negative(int v) { return -v; }
__device__ int (*const change[2])(int) = {twice, negative};

__global__ void make(Shape **s)
{
  int i = threadIdx.x;
  if (i % 2) s[i] = new Rectangle(i, 3);
  else s[i] = new Square(i);
}

__global__ void measure(Shape **s, int *out)
{
  int i = threadIdx.x;
  out[i] = change[i / 32](s[i]->area());
  delete s[i];
}

int main()
{
  const int n = 64;
  Shape **s;
  int *out, got[n];
  CUDA(cudaMalloc(&s, n * sizeof *s));
  CUDA(cudaMalloc(&out, sizeof got));
  make<<<1, n>>>(s);
  measure<<<1, n>>>(s, out);
  CUDA(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) {
    int area = i % 2 ? i * 3 : i * i;
    CHECK(got[i] == (i < 32 ? 2 * area : -area));
  }
}
