// Cube maps and arrays of them, filtered with and without seams (cudaTextureDesc::seamlessCubemap). What lies beyond an
// edge is searched here: of the other faces' texels the nearest in space. A corner has the mean of its three texels.
#include <cuda_runtime.h>
#include <cmath>

#include "check.h"

enum { N = 4, LAYERS = 2, FACES = 6, POINTS = 1024 };

struct vec { float v[3]; };

static float image[LAYERS][FACES][N][N];

__global__ void sample(cudaTextureObject_t cube, cudaTextureObject_t layered, const vec *p, float *out)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = p[i].v[0], y = p[i].v[1], z = p[i].v[2];
  out[2 * i] = texCubemap<float>(cube, x, y, z);
  out[2 * i + 1] = texCubemapLayered<float>(layered, x, y, z, 1);
}

// Point (s, t) of a face in space; 0 to 1 on the face. Programming guide, "Cubemap Textures", the other way round.
static vec in_space(int face, float s, float t)
{
  const float a = 2 * s - 1, b = 2 * t - 1;
  const vec at[FACES] = {{1, -b, -a}, {-1, -b, a}, {a, 1, b}, {a, -1, -b}, {a, -b, 1}, {-a, -b, -1}};
  return at[face];
}

static bool outside(int i) { return i < 0 || i >= N; }

// Texel (x, y) of a face, at most one step beyond one edge.
static float texel(int layer, int face, int x, int y)
{
  if (!outside(x) && !outside(y)) return image[layer][face][y][x];
  const vec want = in_space(face, (x + 0.5f) / N, (y + 0.5f) / N);
  float best = INFINITY, value = 0;
  for (int f = 0; f < FACES; f++)
    for (int j = 0; j < N && f != face; j++)
      for (int i = 0; i < N; i++) {
        const vec at = in_space(f, (i + 0.5f) / N, (j + 0.5f) / N);
        float d = 0;
        for (int k = 0; k < 3; k++) d += (at.v[k] - want.v[k]) * (at.v[k] - want.v[k]);
        if (d < best) best = d, value = image[layer][f][j][i];
      }
  return value;
}

static double expected(int layer, int face, double s, double t, bool seamless)
{
  const double x = floor((s * N - 0.5) * 256 + 0.5) / 256, y = floor((t * N - 0.5) * 256 + 0.5) / 256;
  const int x0 = (int)floor(x), y0 = (int)floor(y);
  double value[4], sum = 0;
  int corner = -1;
  for (int k = 0; k < 4; k++) {
    int i = x0 + (k & 1), j = y0 + (k >> 1);
    if (!seamless) i = i < 0 ? 0 : i < N ? i : N - 1, j = j < 0 ? 0 : j < N ? j : N - 1;
    if (outside(i) && outside(j)) corner = k, value[k] = 0;
    else value[k] = texel(layer, face, i, j);
  }
  if (corner >= 0) value[corner] = (value[0] + value[1] + value[2] + value[3]) / 3;
  for (int k = 0; k < 4; k++) sum += (k & 1 ? x - x0 : 1 - x + x0) * (k >> 1 ? y - y0 : 1 - y + y0) * value[k];
  return sum;
}

static cudaTextureObject_t texture(int layers, unsigned flags, bool seamless)
{
  cudaArray_t array;
  cudaTextureObject_t t;
  const cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
  CUDA(cudaMalloc3DArray(&array, &f, make_cudaExtent(N, N, FACES * layers), flags));
  cudaMemcpy3DParms c = {};
  c.srcPtr = make_cudaPitchedPtr(image, N * sizeof(float), N, N);
  c.dstArray = array;
  c.extent = make_cudaExtent(N, N, FACES * layers);
  c.kind = cudaMemcpyHostToDevice;
  CUDA(cudaMemcpy3D(&c));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = array;
  cudaTextureDesc d = {};
  for (auto &a : d.addressMode) a = seamless ? cudaAddressModeWrap : cudaAddressModeClamp; // not asked where seamless
  d.filterMode = cudaFilterModeLinear;
  d.normalizedCoords = 1;
  d.seamlessCubemap = seamless;
  CUDA(cudaCreateTextureObject(&t, &r, &d, nullptr));
  return t;
}

int main()
{
  static vec p[POINTS];
  static float out[POINTS][2], at[POINTS][2];
  static int face[POINTS];
  vec *dp;
  float *dout;
  for (int i = 0; i < LAYERS * FACES * N * N; i++) (&image[0][0][0][0])[i] = (float)(rand() % 1000);
  for (int i = 0; i < POINTS; i++) {
    face[i] = i % FACES;
    // In 1/64 of a face, off the very edges: which face those belong to is not what is asked here.
    for (int k = 0; k < 2; k++) at[i][k] = (rand() % 3 ? rand() % 63 + 1 : rand() % 2 ? 1 : 63) / 64.f;
    p[i] = in_space(face[i], at[i][0], at[i][1]);
  }
  CUDA(cudaMalloc(&dp, sizeof p));
  CUDA(cudaMalloc(&dout, sizeof out));
  CUDA(cudaMemcpy(dp, p, sizeof p, cudaMemcpyHostToDevice));
  for (int seamless = 0; seamless < 2; seamless++) {
    sample<<<POINTS / 128, 128>>>(texture(1, cudaArrayCubemap, seamless),
                                  texture(LAYERS, cudaArrayCubemap | cudaArrayLayered, seamless), dp, dout);
    CUDA(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < POINTS; i++)
      for (int layer = 0; layer < LAYERS; layer++) {
        const double want = expected(layer, face[i], at[i][0], at[i][1], seamless);
        if (fabs(out[i][layer] - want) > 1e-3)
          return printf("seamless %d, layer %d, face %d, (%g, %g): %g, expected %g\n", seamless, layer, face[i], at[i][0],
                        at[i][1], out[i][layer], want), 1;
      }
  }
  return 0;
}
