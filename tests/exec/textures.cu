// Arrays, textures of arrays and of memory, surfaces; copies of arrays in both directions.
#include <cuda_runtime.h>

#include "check.h"

enum { WIDTH = 16, HEIGHT = 8, LAYERS = 3 };

__global__ void read2d(cudaTextureObject_t t, float dx, float dy, float *out)
{
  int x = threadIdx.x, y = threadIdx.y;
  out[y * WIDTH + x] = tex2D<float>(t, x + dx, y + dy);
}

__global__ void read_layers(cudaTextureObject_t t, int *out)
{
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  out[(z * HEIGHT + y) * WIDTH + x] = tex2DLayered<int>(t, x, y, z);
}

__global__ void read_linear(cudaTextureObject_t t, float *out)
{
  out[threadIdx.x] = tex1Dfetch<float>(t, WIDTH - 1 - threadIdx.x);
}

__global__ void turn(cudaSurfaceObject_t s)
{
  int x = threadIdx.x, y = threadIdx.y;
  float v;
  surf2Dread(&v, s, x * 4, y);
  surf2Dwrite(-v, s, x * 4, y);
}

static float host[HEIGHT][WIDTH], back[HEIGHT][WIDTH];

static cudaTextureObject_t texture(const cudaResourceDesc *r, cudaTextureFilterMode filter)
{
  cudaTextureObject_t t;
  cudaTextureDesc d = {};
  for (auto &a : d.addressMode) a = cudaAddressModeClamp;
  d.filterMode = filter;
  CUDA(cudaCreateTextureObject(&t, r, &d, nullptr));
  return t;
}

static void two_dimensions()
{
  cudaArray_t array;
  cudaChannelFormatDesc f = cudaCreateChannelDesc<float>(), seen;
  float *out;
  cudaExtent extent;
  unsigned flags;
  CUDA(cudaMalloc(&out, sizeof host));
  CUDA(cudaMallocArray(&array, &f, WIDTH, HEIGHT, cudaArraySurfaceLoadStore));
  CUDA(cudaArrayGetInfo(&seen, &extent, &flags, array));
  CHECK(seen.x == 32 && seen.f == cudaChannelFormatKindFloat && extent.width == WIDTH &&
        extent.height == HEIGHT && extent.depth == 0 && flags == cudaArraySurfaceLoadStore);
  CUDA(cudaMemcpy2DToArray(array, 0, 0, host, sizeof host[0], sizeof host[0], HEIGHT,
                           cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy2DToArray(array, 4, 0, host, sizeof host[0], sizeof host[0], HEIGHT,
                            cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = array;
  cudaTextureObject_t near = texture(&r, cudaFilterModePoint);
  read2d<<<1, dim3(WIDTH, HEIGHT)>>>(near, 0.5f, 1.5f, out);
  CUDA(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++) CHECK(back[y][x] == host[y + 1 < HEIGHT ? y + 1 : y][x]);
  // Half way between two texels: their mean.
  cudaTextureObject_t mean = texture(&r, cudaFilterModeLinear);
  read2d<<<1, dim3(WIDTH, HEIGHT)>>>(mean, 1.0f, 0.5f, out);
  CUDA(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x + 1 < WIDTH; x++) CHECK(back[y][x] == (host[y][x] + host[y][x + 1]) / 2);
  cudaSurfaceObject_t surface;
  CUDA(cudaCreateSurfaceObject(&surface, &r));
  turn<<<1, dim3(WIDTH, HEIGHT)>>>(surface);
  CUDA(cudaMemcpy2DFromArray(back, sizeof back[0], array, 4, 1, sizeof back[0] - 4, HEIGHT - 1,
                             cudaMemcpyDeviceToHost));
  for (int y = 0; y < HEIGHT - 1; y++)
    for (int x = 0; x < WIDTH - 1; x++) CHECK(back[y][x] == -host[y + 1][x + 1]);
  CUDA(cudaDestroySurfaceObject(surface));
  CUDA(cudaDestroyTextureObject(near));
  CUDA(cudaDestroyTextureObject(mean));
  CUDA(cudaFreeArray(array));
  CUDA(cudaFree(out));
}

static void layers()
{
  static int in[LAYERS][HEIGHT][WIDTH], got[LAYERS][HEIGHT][WIDTH];
  cudaArray_t array;
  cudaChannelFormatDesc f = cudaCreateChannelDesc<int>();
  int *out;
  for (int i = 0; i < LAYERS * HEIGHT * WIDTH; i++) (&in[0][0][0])[i] = i * 7 - 1000;
  CUDA(cudaMalloc(&out, sizeof got));
  CUDA(cudaMalloc3DArray(&array, &f, make_cudaExtent(WIDTH, HEIGHT, LAYERS), cudaArrayLayered));
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(in, WIDTH * sizeof(int), WIDTH, HEIGHT);
  p.dstArray = array;
  p.extent = make_cudaExtent(WIDTH, HEIGHT, LAYERS);
  p.kind = cudaMemcpyHostToDevice;
  CUDA(cudaMemcpy3D(&p));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = array;
  cudaTextureObject_t t = texture(&r, cudaFilterModePoint);
  read_layers<<<1, dim3(WIDTH, HEIGHT, LAYERS)>>>(t, out);
  CUDA(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < LAYERS * HEIGHT * WIDTH; i++)
    CHECK((&got[0][0][0])[i] == (&in[0][0][0])[i]);
  CUDA(cudaFreeArray(array));
  CUDA(cudaFree(out));
}

static void memory()
{
  float *in, *out;
  CUDA(cudaMalloc(&in, sizeof host[0]));
  CUDA(cudaMalloc(&out, sizeof host[0]));
  CUDA(cudaMemcpy(in, host, sizeof host[0], cudaMemcpyHostToDevice));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = in;
  r.res.linear.desc = cudaCreateChannelDesc<float>();
  r.res.linear.sizeInBytes = sizeof host[0];
  read_linear<<<1, WIDTH>>>(texture(&r, cudaFilterModePoint), out);
  CUDA(cudaMemcpy(back, out, sizeof host[0], cudaMemcpyDeviceToHost));
  for (int x = 0; x < WIDTH; x++) CHECK(back[0][x] == host[0][WIDTH - 1 - x]);
  cudaChannelFormatDesc three = {32, 32, 32, 0, cudaChannelFormatKindFloat};
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &three, 4, 4) == cudaErrorInvalidChannelDescriptor);
}

int main()
{
  for (int i = 0; i < WIDTH * HEIGHT; i++) (&host[0][0])[i] = i * 3 + 1;
  two_dimensions();
  layers();
  memory();
  return 0;
}
