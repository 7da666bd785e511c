// Mipmapped arrays: levels, level of detail by number and by gradients in all shapes, filters between levels, bias and
// limits, views. Expected: OpenGL 4.6, 8.14 (level of detail), weights of 1/256, worked out here.
#include <cmath>
#include <cuda_runtime.h>
#include <vector>

#include "check.h"

enum { SIZE = 16, HEIGHT = 8, LEVELS = 5, LAYERS = 3, N = 37 /* whole quads, and a part of one */ };

enum way { PLAIN, LOD1, LOD2, LOD3, LOD_LAYERS1, LOD_LAYERS2, LOD_CUBE, LOD_CUBES, GRAD1, GRAD2, GRAD3, GRAD_LAYERS1,
           GRAD_LAYERS2, GRAD_CUBE, GRAD_CUBES };

struct point {
  float x, y, z, lod;
  int layer, works;
  float4 dx, dy;
};

__device__ float sample(cudaTextureObject_t t, int way, point p)
{
  float2 dx = {p.dx.x, p.dx.y}, dy = {p.dy.x, p.dy.y};
  switch (way) {
  case PLAIN: return tex2D<float>(t, p.x, p.y);
  case LOD1: return tex1DLod<float>(t, p.x, p.lod);
  case LOD2: return tex2DLod<float>(t, p.x, p.y, p.lod);
  case LOD3: return tex3DLod<float>(t, p.x, p.y, p.z, p.lod);
  case LOD_LAYERS1: return tex1DLayeredLod<float>(t, p.x, p.layer, p.lod);
  case LOD_LAYERS2: return tex2DLayeredLod<float>(t, p.x, p.y, p.layer, p.lod);
  case LOD_CUBE: return texCubemapLod<float>(t, p.x, p.y, p.z, p.lod);
  case LOD_CUBES: return texCubemapLayeredLod<float>(t, p.x, p.y, p.z, p.layer, p.lod);
  case GRAD1: return tex1DGrad<float>(t, p.x, dx.x, dy.x);
  case GRAD2: return tex2DGrad<float>(t, p.x, p.y, dx, dy);
  case GRAD3: return tex3DGrad<float>(t, p.x, p.y, p.z, p.dx, p.dy);
  case GRAD_LAYERS1: return tex1DLayeredGrad<float>(t, p.x, p.layer, dx.x, dy.x);
  case GRAD_LAYERS2: return tex2DLayeredGrad<float>(t, p.x, p.y, p.layer, dx, dy);
  case GRAD_CUBE: return texCubemapGrad<float>(t, p.x, p.y, p.z, p.dx, p.dy);
  default: return texCubemapLayeredGrad<float>(t, p.x, p.y, p.z, p.layer, p.dx, p.dy);
  }
}

// Some threads of a quad stay away.
template <int WAY> __global__ void read_texture(cudaTextureObject_t t, const point *p, float *out)
{
  int i = threadIdx.x;
  float r = -1000;
  if (i < N && p[i].works) r = sample(t, WAY, p[i]);
  if (i < N) out[i] = r;
}

typedef void kernel(cudaTextureObject_t, const point *, float *);

// Level l is l + 100 * layer everywhere, in a shape of its own.
struct image {
  cudaMipmappedArray_t array;
  cudaTextureObject_t texture;
};

static float filled(int level, int slice)
{
  return (float)(level + 100 * slice);
}

static void fill(cudaArray_t a, int level, int per_layer)
{
  cudaExtent e;
  unsigned flags;
  CUDA(cudaArrayGetInfo(nullptr, &e, &flags, a));
  size_t w = e.width, h = e.height ? e.height : 1, d = e.depth ? e.depth : 1;
  std::vector<float> v(w * h * d);
  for (size_t z = 0; z < d; z++)
    for (size_t i = 0; i < w * h; i++) v[z * w * h + i] = filled(level, per_layer ? (int)z / per_layer : 0);
  cudaMemcpy3DParms c = {};
  c.srcPtr = make_cudaPitchedPtr(v.data(), w * 4, w, h);
  c.dstArray = a;
  c.extent = make_cudaExtent(w, h, d);
  c.kind = cudaMemcpyHostToDevice;
  CUDA(cudaMemcpy3D(&c));
}

static cudaTextureDesc description(float bias = 0, float least = 0, float most = 20)
{
  cudaTextureDesc d = {};
  for (auto &a : d.addressMode) a = cudaAddressModeWrap;
  d.filterMode = d.mipmapFilterMode = cudaFilterModeLinear;
  d.normalizedCoords = 1;
  d.mipmapLevelBias = bias;
  d.minMipmapLevelClamp = least;
  d.maxMipmapLevelClamp = most;
  return d;
}

static cudaTextureObject_t texture(cudaMipmappedArray_t array, const cudaTextureDesc &d,
                                   const cudaResourceViewDesc *view = nullptr)
{
  cudaTextureObject_t t;
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeMipmappedArray;
  r.res.mipmap.mipmap = array;
  CUDA(cudaCreateTextureObject(&t, &r, &d, view));
  return t;
}

static image make(cudaExtent e, unsigned flags, int per_layer)
{
  image m;
  cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
  CUDA(cudaMallocMipmappedArray(&m.array, &f, e, 20, flags));
  size_t longest = e.width;
  if (e.height > longest) longest = e.height;
  if (e.depth > longest && !flags) longest = e.depth;
  int levels = 1;
  for (; longest > 1; longest /= 2) levels++;
  for (int l = 0; l < levels; l++) {
    cudaArray_t a;
    cudaExtent own;
    unsigned seen;
    CUDA(cudaGetMipmappedArrayLevel(&a, m.array, l));
    CUDA(cudaArrayGetInfo(nullptr, &own, &seen, a));
    size_t w = e.width >> l, h = e.height >> l, d = flags ? e.depth : e.depth >> l;
    CHECK(own.width == (w ? w : 1) && own.height == (h || !e.height ? h : 1) && own.depth == (d || !e.depth ? d : 1));
    CHECK(seen == flags);
    fill(a, l, per_layer);
  }
  cudaArray_t none;
  CHECK(cudaGetMipmappedArrayLevel(&none, m.array, levels) == cudaErrorInvalidValue);
  m.texture = texture(m.array, description());
  return m;
}

// Changes of half and of more texels of level 0, in any of the directions; the longer one counts.
static double length(float4 d, int axes, double size)
{
  double sum = d.x * d.x;
  if (axes > 1) sum += d.y * d.y;
  if (axes > 2) sum += d.z * d.z;
  return sqrt(sum) * size;
}

static double level_of(double lod, double levels)
{
  lod = lod < 0 ? 0 : lod > levels - 1 ? levels - 1 : lod;
  return floor(lod * 256 + 0.5) / 256;
}

static point *points;
static float *out;

// The middle of face +x: s and t change as -z and -y do, by half as much.
static void run(kernel *k, int way, const image &m, int axes, int levels, int layers, bool gradient)
{
  bool cube = way == LOD_CUBE || way == LOD_CUBES || way == GRAD_CUBE || way == GRAD_CUBES;
  for (int i = 0; i < N; i++) {
    float step = 0.4f * (1 + i) / SIZE;
    point p = {0.3f, 0.7f, 0.6f, -0.5f + i * 0.171f, i % (LAYERS + 1), i % 5 != 1};
    p.dx = {step, i % 2 ? step / 2 : 0, i % 3 ? step : 0, 0};
    p.dy = {i % 4 ? step / 3 : 2 * step, 0, step / 4, 0};
    if (cube) p.x = 1, p.y = p.z = 0, p.dx.x = p.dy.x = 0;
    points[i] = p;
  }
  k<<<1, 64>>>(m.texture, points, out);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < N; i++) {
    point p = points[i];
    double a = length(p.dx, axes, SIZE), b = length(p.dy, axes, SIZE), lod = p.lod;
    if (cube) a = hypot(p.dx.y, p.dx.z) * SIZE / 2, b = hypot(p.dy.y, p.dy.z) * SIZE / 2;
    if (gradient) lod = log2(a > b ? a : b);
    int layer = layers ? p.layer < layers ? p.layer : layers - 1 : 0;
    double want = level_of(lod, levels) + 100 * layer;
    if (!p.works) want = -1000;
    if (fabs(out[i] - want) > 1.01 / 256) {
      printf("way %d thread %d: %g, not %g\n", way, i, out[i], want);
      exit(1);
    }
  }
}

static void shapes()
{
  image line = make(make_cudaExtent(SIZE, 0, 0), 0, 0);
  image flat = make(make_cudaExtent(SIZE, SIZE, 0), 0, 0);
  image solid = make(make_cudaExtent(SIZE, SIZE, SIZE), 0, 0);
  image lines = make(make_cudaExtent(SIZE, 0, LAYERS), cudaArrayLayered, 1);
  image layers = make(make_cudaExtent(SIZE, SIZE, LAYERS), cudaArrayLayered, 1);
  image cube = make(make_cudaExtent(SIZE, SIZE, 6), cudaArrayCubemap, 0);
  image cubes = make(make_cudaExtent(SIZE, SIZE, 6 * LAYERS), cudaArrayCubemap | cudaArrayLayered, 6);
  run(read_texture<LOD1>, LOD1, line, 1, LEVELS, 0, false);
  run(read_texture<LOD2>, LOD2, flat, 2, LEVELS, 0, false);
  run(read_texture<LOD3>, LOD3, solid, 3, LEVELS, 0, false);
  run(read_texture<LOD_LAYERS1>, LOD_LAYERS1, lines, 1, LEVELS, LAYERS, false);
  run(read_texture<LOD_LAYERS2>, LOD_LAYERS2, layers, 2, LEVELS, LAYERS, false);
  run(read_texture<LOD_CUBE>, LOD_CUBE, cube, 2, LEVELS, 0, false);
  run(read_texture<LOD_CUBES>, LOD_CUBES, cubes, 2, LEVELS, LAYERS, false);
  run(read_texture<GRAD1>, GRAD1, line, 1, LEVELS, 0, true);
  run(read_texture<GRAD2>, GRAD2, flat, 2, LEVELS, 0, true);
  run(read_texture<GRAD3>, GRAD3, solid, 3, LEVELS, 0, true);
  run(read_texture<GRAD_LAYERS1>, GRAD_LAYERS1, lines, 1, LEVELS, LAYERS, true);
  run(read_texture<GRAD_LAYERS2>, GRAD_LAYERS2, layers, 2, LEVELS, LAYERS, true);
  run(read_texture<GRAD_CUBE>, GRAD_CUBE, cube, 2, LEVELS, 0, true);
  run(read_texture<GRAD_CUBES>, GRAD_CUBES, cubes, 2, LEVELS, LAYERS, true);
  for (image m : {line, flat, solid, lines, layers, cube, cubes}) {
    CUDA(cudaDestroyTextureObject(m.texture));
    CUDA(cudaFreeMipmappedArray(m.array));
  }
}

static float read_one(cudaTextureObject_t t, float x, float y, float lod, bool plain = false)
{
  points[0] = {x, y, 0, lod, 0, 1};
  for (int i = 1; i < N; i++) points[i].works = 0;
  if (plain) read_texture<PLAIN><<<1, 64>>>(t, points, out);
  else read_texture<LOD2><<<1, 64>>>(t, points, out);
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaDestroyTextureObject(t));
  return out[0];
}

static bool near(float a, float b)
{
  return fabsf(a - b) < 1e-6f;
}

// What belongs to the sampler and to the view.
static void samplers()
{
  image m = make(make_cudaExtent(SIZE, HEIGHT, 0), 0, 0);
  cudaTextureDesc nearest = description(), linear = description();
  nearest.mipmapFilterMode = cudaFilterModePoint;
  CHECK(near(read_one(texture(m.array, nearest), 0, 0, 1.49f), 1) && near(read_one(texture(m.array, nearest), 0, 0, 1.51f), 2));
  CHECK(near(read_one(texture(m.array, description(0.75f)), 0, 0, 1.5f), 2.25f));
  CHECK(near(read_one(texture(m.array, description(0, 1.25f, 2.5f)), 0, 0, 0), 1.25f));
  CHECK(near(read_one(texture(m.array, description(0, 1.25f, 2.5f)), 0, 0, 9), 2.5f));
  CHECK(near(read_one(texture(m.array, linear), 0, 0, 0, true), 0));
  CHECK(near(read_one(texture(m.array, description(0, 2)), 0, 0, 0, true), 2)); // of the first that the limits leave
  cudaResourceViewDesc view = {};
  view.format = cudaResViewFormatFloat1;
  view.width = SIZE, view.height = HEIGHT, view.firstMipmapLevel = 1, view.lastMipmapLevel = 3;
  CHECK(near(read_one(texture(m.array, linear, &view), 0, 0, 0.5f), 1.5f));
  CHECK(near(read_one(texture(m.array, linear, &view), 0, 0, 9), 3));
  view.format = cudaResViewFormatUnsignedInt1; // the same bits
  cudaTextureDesc raw = nearest;
  raw.filterMode = cudaFilterModePoint;
  CHECK(near(read_one(texture(m.array, raw, &view), 0, 0, 0), 1)); // a float again in the kernel
  cudaTextureObject_t t;
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeMipmappedArray;
  r.res.mipmap.mipmap = m.array;
  view.format = cudaResViewFormatFloat1, view.lastMipmapLevel = LEVELS;
  CHECK(cudaCreateTextureObject(&t, &r, &linear, &view) == cudaErrorInvalidValue);
  linear.normalizedCoords = 0;
  CHECK(cudaCreateTextureObject(&t, &r, &linear, nullptr) == cudaErrorInvalidValue);
  CUDA(cudaDestroyTextureObject(m.texture));
  CUDA(cudaFreeMipmappedArray(m.array));
}

// Each texel of a level is the mean of four of the one before.
__global__ void halve(cudaTextureObject_t from, cudaSurfaceObject_t to, int width, int height)
{
  int x = threadIdx.x, y = threadIdx.y;
  if (x < width && y < height) surf2Dwrite(tex2D<float>(from, (x + 0.5f) / width, (y + 0.5f) / height), to, x * 4, y);
}

static void pyramid()
{
  cudaMipmappedArray_t m;
  cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
  CUDA(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(SIZE, HEIGHT, 0), LEVELS, cudaArraySurfaceLoadStore));
  cudaArray_t a, b;
  float host[HEIGHT][SIZE], sum = 0;
  for (int i = 0; i < SIZE * HEIGHT; i++) sum += host[i / SIZE][i % SIZE] = i * 7 % 64;
  CUDA(cudaGetMipmappedArrayLevel(&a, m, 0));
  CUDA(cudaMemcpy2DToArray(a, 0, 0, host, sizeof host[0], sizeof host[0], HEIGHT, cudaMemcpyHostToDevice));
  for (int l = 1; l < LEVELS; l++, a = b) {
    CUDA(cudaGetMipmappedArrayLevel(&b, m, l));
    cudaResourceDesc from = {}, to = {};
    from.resType = to.resType = cudaResourceTypeArray;
    from.res.array.array = a, to.res.array.array = b;
    cudaTextureDesc d = description();
    for (auto &mode : d.addressMode) mode = cudaAddressModeClamp;
    cudaTextureObject_t t;
    cudaSurfaceObject_t s;
    CUDA(cudaCreateTextureObject(&t, &from, &d, nullptr));
    CUDA(cudaCreateSurfaceObject(&s, &to));
    int h = HEIGHT >> l;
    halve<<<1, dim3(SIZE, HEIGHT)>>>(t, s, SIZE >> l, h ? h : 1);
    CUDA(cudaDestroyTextureObject(t));
    CUDA(cudaDestroySurfaceObject(s));
  }
  CHECK(near(read_one(texture(m, description()), 0.5f, 0.5f, LEVELS - 1), sum / (SIZE * HEIGHT)));
  // Half of the way between a texel and its neighbour in level 0, a quarter of the way to level 1.
  double low = (host[2][3] + host[2][4]) / 2.0, high = 0;
  for (int y = 2; y < 4; y++)
    for (int x = 2; x < 6; x++) high += host[y][x] / 4.0;
  cudaTextureDesc d = description();
  double t = 2.5 / HEIGHT * (HEIGHT / 2) - 0.5, up = 0; // of level 1: between rows 0 and 1
  for (int x = 2; x < 6; x++) up += (host[0][x] + host[1][x]) / 4.0;
  high = ((1 - t) * up + t * high) / 2;
  CHECK(fabs(read_one(texture(m, d), 4.0f / SIZE, 2.5f / HEIGHT, 0.25f) - (0.75 * low + 0.25 * high)) < 1e-4);
  CUDA(cudaFreeMipmappedArray(m));
}

int main()
{
  CUDA(cudaMallocManaged(&points, N * sizeof *points));
  CUDA(cudaMallocManaged(&out, N * sizeof *out));
  shapes();
  samplers();
  pyramid();
  cudaArray_t level;
  cudaMipmappedArray_t m;
  cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(4, 4, 0), 0, 0) == cudaErrorInvalidValue);
  CUDA(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(4, 4, 0), 2, 0));
  CHECK(cudaGetMipmappedArrayLevel(&level, m, 2) == cudaErrorInvalidValue);
  CUDA(cudaFreeMipmappedArray(m));
  puts("passed");
}
