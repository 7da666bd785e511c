// Textures and surfaces picked from a table by a number that all threads share: nvcc keeps such handles in uniform registers.
#include <cuda_runtime.h>

#include "check.h"

enum { WIDTH = 8, HEIGHT = 4, ARRAYS = 4, PICKS = 8, ROUNDS = 5, THREADS = 32, BLOCKS = 2, READ_ROWS = 3 };

__constant__ cudaTextureObject_t textures[ARRAYS];
__constant__ cudaSurfaceObject_t surfaces[ARRAYS];
__constant__ int picks[PICKS];

// Row 3 is written, the others are read.
__global__ void walk(float *out, int rounds)
{
  const int block = blockIdx.x % PICKS, x = threadIdx.x % WIDTH;
  for (int i = 0; i < rounds; i++) {
    const int j = picks[(block + i) & (PICKS - 1)] & (ARRAYS - 1);
    float v = tex2D<float>(textures[j], threadIdx.x + 0.5f, 0.5f);
    v += tex2DLod<float>(textures[(j + 1) & (ARRAYS - 1)], 0.5f, threadIdx.x % READ_ROWS + 0.5f, 0);
    v += surf2Dread<float>(surfaces[j], x * sizeof v, 1);
    out[threadIdx.x + (i + rounds * block) * THREADS] = v;
    surf2Dwrite(v, surfaces[ARRAYS - 1 - j], x * sizeof v, READ_ROWS);
  }
}

static float cell(int array, int y, int x)
{
  return float(array * 100 + y * 10 + x);
}

static void make(int number, cudaTextureObject_t *texture, cudaSurfaceObject_t *surface)
{
  float host[HEIGHT][WIDTH];
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++) host[y][x] = cell(number, y, x);
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  CUDA(cudaMallocArray(&array, &format, WIDTH, HEIGHT, cudaArraySurfaceLoadStore));
  CUDA(cudaMemcpy2DToArray(array, 0, 0, host, sizeof host[0], sizeof host[0], HEIGHT, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  CUDA(cudaCreateTextureObject(texture, &resource, &how, nullptr));
  CUDA(cudaCreateSurfaceObject(surface, &resource));
}

int main()
{
  static const int picked[PICKS] = {2, 0, 3, 1, 1, 2, 0, 3};
  static float got[BLOCKS][ROUNDS][THREADS];
  cudaTextureObject_t texture[ARRAYS];
  cudaSurfaceObject_t surface[ARRAYS];
  float *out;
  for (int i = 0; i < ARRAYS; i++) make(i, &texture[i], &surface[i]);
  CUDA(cudaMemcpyToSymbol(textures, texture, sizeof texture));
  CUDA(cudaMemcpyToSymbol(surfaces, surface, sizeof surface));
  CUDA(cudaMemcpyToSymbol(picks, picked, sizeof picked));
  CUDA(cudaMalloc(&out, sizeof got));
  walk<<<BLOCKS, THREADS>>>(out, ROUNDS);
  CUDA(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  for (int b = 0; b < BLOCKS; b++)
    for (int i = 0; i < ROUNDS; i++)
      for (int x = 0; x < THREADS; x++) {
        const int j = picked[(b + i) % PICKS];
        const int column = x < WIDTH ? x : WIDTH - 1;
        CHECK(got[b][i][x] == cell(j, 0, column) + cell((j + 1) % ARRAYS, x % READ_ROWS, 0) + cell(j, 1, x % WIDTH));
      }
  return 0;
}
