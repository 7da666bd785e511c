// Reads through textures and reads and writes through surfaces, drawn at random: arrays of every shape (layers, cubes, mipmaps), linear and pitched
// memory, every format of 8, 16 and 32 bits, elements or normalized floats, point and linear filtering, address modes, levels with bias and clamps,
// gathers, boundary modes. The CPU follows the CUDA programming guide's "Texture Fetching". Where a fraction of linear filtering has no more than its
// documented 8 bits the result must be exact but for rounding of FP32; else each may be off by one such bit. Near edges of texels nothing is read.
// Arguments: first seed, programs, objects of each; one more and every object is printed.
#include "check.h"
#include "random.h"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <vector>

enum { SAMPLES = 96, LEVELS = 3, MOST_WRITES = 24 };
enum Shape { LINE, PLANE, BLOCK, LINES, PLANES, CUBE, CUBES, SHAPES }; // LINES, PLANES, CUBES: layered
enum Way { PLAIN, LEVEL, GATHER, FETCH };

struct Sample {
  float x, y, z, level;
  int layer, component;
};

template <class T> __device__ static T plain(cudaTextureObject_t t, int shape, const Sample &s)
{
  switch (shape) {
  case LINE: return tex1D<T>(t, s.x);
  case PLANE: return tex2D<T>(t, s.x, s.y);
  case BLOCK: return tex3D<T>(t, s.x, s.y, s.z);
  case LINES: return tex1DLayered<T>(t, s.x, s.layer);
  case PLANES: return tex2DLayered<T>(t, s.x, s.y, s.layer);
  case CUBE: return texCubemap<T>(t, s.x, s.y, s.z);
  default: return texCubemapLayered<T>(t, s.x, s.y, s.z, s.layer);
  }
}
template <class T> __device__ static T level(cudaTextureObject_t t, int shape, const Sample &s)
{
  switch (shape) {
  case LINE: return tex1DLod<T>(t, s.x, s.level);
  case PLANE: return tex2DLod<T>(t, s.x, s.y, s.level);
  case BLOCK: return tex3DLod<T>(t, s.x, s.y, s.z, s.level);
  case LINES: return tex1DLayeredLod<T>(t, s.x, s.layer, s.level);
  case PLANES: return tex2DLayeredLod<T>(t, s.x, s.y, s.layer, s.level);
  case CUBE: return texCubemapLod<T>(t, s.x, s.y, s.z, s.level);
  default: return texCubemapLayeredLod<T>(t, s.x, s.y, s.z, s.layer, s.level);
  }
}
template <class T> __global__ void read(cudaTextureObject_t t, int shape, Way way, const Sample *samples, T *out)
{
  const Sample s = samples[threadIdx.x];
  out[threadIdx.x] = way == PLAIN ? plain<T>(t, shape, s)
                     : way == LEVEL ? level<T>(t, shape, s)
                     : way == GATHER ? tex2Dgather<T>(t, s.x, s.y, s.component)
                                     : tex1Dfetch<T>(t, (int)s.x);
}

struct Spot {
  int x, y, z, layer; // layer: and face
};
template <class T, cudaSurfaceBoundaryMode MODE> __device__ static T read_spot(cudaSurfaceObject_t o, int shape, const Spot &s)
{
  const int x = s.x * (int)sizeof(T);
  T v;
  switch (shape) {
  case LINE: surf1Dread(&v, o, x, MODE); break;
  case PLANE: surf2Dread(&v, o, x, s.y, MODE); break;
  case BLOCK: surf3Dread(&v, o, x, s.y, s.z, MODE); break;
  case LINES: surf1DLayeredread(&v, o, x, s.layer, MODE); break;
  case PLANES: surf2DLayeredread(&v, o, x, s.y, s.layer, MODE); break;
  case CUBE: surfCubemapread(&v, o, x, s.y, s.layer, MODE); break;
  default: surfCubemapLayeredread(&v, o, x, s.y, s.layer, MODE);
  }
  return v;
}
template <class T, cudaSurfaceBoundaryMode MODE> __device__ static void write_spot(T v, cudaSurfaceObject_t o, int shape, const Spot &s)
{
  const int x = s.x * (int)sizeof(T);
  switch (shape) {
  case LINE: surf1Dwrite(v, o, x, MODE); break;
  case PLANE: surf2Dwrite(v, o, x, s.y, MODE); break;
  case BLOCK: surf3Dwrite(v, o, x, s.y, s.z, MODE); break;
  case LINES: surf1DLayeredwrite(v, o, x, s.layer, MODE); break;
  case PLANES: surf2DLayeredwrite(v, o, x, s.y, s.layer, MODE); break;
  case CUBE: surfCubemapwrite(v, o, x, s.y, s.layer, MODE); break;
  default: surfCubemapLayeredwrite(v, o, x, s.y, s.layer, MODE);
  }
}
// One thread writes one after the other, then all read.
template <class T> __global__ void spots(cudaSurfaceObject_t o, int shape, bool clamp, const Spot *at, int writes, const T *values, T *out)
{
  if (threadIdx.x == 0)
    for (int i = 0; i < writes; i++)
      if (clamp) write_spot<T, cudaBoundaryModeClamp>(values[i], o, shape, at[i]);
      else write_spot<T, cudaBoundaryModeZero>(values[i], o, shape, at[i]);
  __syncthreads();
  const Spot &s = at[threadIdx.x];
  out[threadIdx.x] = clamp ? read_spot<T, cudaBoundaryModeClamp>(o, shape, s) : read_spot<T, cudaBoundaryModeZero>(o, shape, s);
}

static bool talks;

class Program {
public:
  explicit Program(unsigned seed) : random(seed)
  {
    CUDA(cudaMalloc(&samples_at, SAMPLES * sizeof(Sample)));
    CUDA(cudaMalloc(&out_at, SAMPLES * 16));
    CUDA(cudaMalloc(&values_at, SAMPLES * 16));
  }
  ~Program()
  {
    for (void *p : {(void *)samples_at, out_at, values_at}) cudaFree(p);
  }
  void run(unsigned objects)
  {
    for (unsigned i = 0; i < objects; i++) {
      draw();
      if (memory || gathers || chance(65)) texture();
      else surface();
      CUDA(mipmap ? cudaFreeMipmappedArray(mipmap) : array ? cudaFreeArray(array) : cudaFree(memory));
    }
  }

private:
  struct Level {
    int w, h, d; // d: slices, layers or faces
    std::vector<uint8_t> texels;
  };
  struct Value { // of a component, and how far off it may be
    double is, off;
    bool known;
  };

  Random random;
  Sample *samples_at;
  void *out_at, *values_at;
  Shape shape;
  int bits, channels, levels;
  unsigned element;
  bool gathers;
  cudaChannelFormatKind kind;
  cudaChannelFormatDesc format;
  std::vector<Level> level_of;
  cudaArray_t array;
  cudaMipmappedArray_t mipmap;
  uint8_t *memory;
  size_t pitch;
  cudaTextureDesc how;

  unsigned below(size_t n) { return (unsigned)(random.next() % n); }
  bool chance(unsigned percent) { return below(100) < percent; }
  bool layered() { return shape == LINES || shape == PLANES || shape == CUBES; }
  bool cube() { return shape == CUBE || shape == CUBES; }
  int dimensions() { return shape == BLOCK ? 3 : shape == LINE || shape == LINES ? 1 : 2; }

  // Drawing.

  void draw()
  {
    const int some[] = {1, 2, 4};
    channels = some[below(3)], bits = 8 << below(3), element = (unsigned)(channels * bits / 8);
    kind = bits > 8 && chance(40) ? cudaChannelFormatKindFloat : chance(50) ? cudaChannelFormatKindSigned : cudaChannelFormatKindUnsigned;
    format = cudaCreateChannelDesc(bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 2 ? bits : 0, kind);
    shape = (Shape)below(SHAPES);
    array = nullptr, mipmap = nullptr, memory = nullptr, gathers = false, levels = 1;
    level_of.clear();
    if (chance(15)) return draw_memory();
    draw_array();
  }
  int length(bool two_to_some) { return two_to_some ? 1 << (2 + below(4)) : 1 + (int)below(37); }
  cudaExtent extent()
  {
    const bool round = chance(50);
    const int w = length(round), h = length(round) / 2 + 1;
    switch (shape) {
    case LINE: return make_cudaExtent(w, 0, 0);
    case PLANE: return make_cudaExtent(w, round ? length(true) : h, 0);
    case BLOCK: return make_cudaExtent(w, round ? length(true) : h, round ? 4 : 1 + below(6));
    case LINES: return make_cudaExtent(w, 0, 1 + below(5));
    case PLANES: return make_cudaExtent(w, round ? length(true) : h, 1 + below(5));
    case CUBE: return make_cudaExtent(w, w, 6);
    default: return make_cudaExtent(w, w, 6 * (1 + below(2)));
    }
  }
  void draw_array()
  {
    cudaExtent e = extent();
    gathers = shape == PLANE && chance(25);
    const unsigned flags = (layered() ? cudaArrayLayered : 0) | (cube() ? cudaArrayCubemap : 0) | (gathers ? cudaArrayTextureGather : cudaArraySurfaceLoadStore);
    if (!gathers && chance(40) && e.width >= 4) {
      levels = LEVELS;
      CUDA(cudaMallocMipmappedArray(&mipmap, &format, e, LEVELS, flags));
    } else {
      CUDA(cudaMalloc3DArray(&array, &format, e, flags));
    }
    for (int i = 0; i < levels; i++) {
      const bool slices = shape == BLOCK;
      Level l = {half(e.width, i), half(e.height, i), slices ? half(e.depth, i) : std::max((int)e.depth, 1), {}};
      fill(l, (size_t)l.w * l.h * l.d * element);
      level_of.push_back(l);
      cudaMemcpy3DParms c = {};
      c.srcPtr = make_cudaPitchedPtr(level_of[i].texels.data(), l.w * element, l.w, l.h);
      c.dstArray = level_array(i), c.extent = make_cudaExtent(l.w, l.h, l.d), c.kind = cudaMemcpyHostToDevice;
      CUDA(cudaMemcpy3D(&c));
    }
  }
  static int half(size_t n, int level) { return std::max((int)n >> level, 1); }
  cudaArray_t level_array(int i)
  {
    cudaArray_t a = array;
    if (mipmap) CUDA(cudaGetMipmappedArrayLevel(&a, mipmap, i));
    return a;
  }
  void draw_memory()
  {
    shape = chance(50) ? LINE : PLANE;
    Level l = {shape == LINE ? 1 + (int)below(90) : length(chance(50)), shape == LINE ? 1 : 1 + (int)below(12), 1, {}};
    fill(l, (size_t)l.w * l.h * element);
    level_of.push_back(l);
    pitch = l.w * element;
    if (shape == PLANE) CUDA(cudaMallocPitch(&memory, &pitch, l.w * element, l.h));
    else CUDA(cudaMalloc(&memory, l.w * element));
    CUDA(cudaMemcpy2D(memory, pitch, l.texels.data(), l.w * element, l.w * element, l.h, cudaMemcpyHostToDevice));
  }
  // Floats are small whole numbers, which linear filtering leaves exact.
  void fill(Level &l, size_t bytes)
  {
    l.texels.resize(bytes);
    for (uint8_t &b : l.texels) b = (uint8_t)random.next();
    if (kind != cudaChannelFormatKindFloat) return;
    for (size_t i = 0; i < bytes; i += bits / 8) {
      const float f = (float)below(128) - 64;
      const __half h = __float2half(f);
      if (bits == 16) memcpy(&l.texels[i], &h, 2);
      else memcpy(&l.texels[i], &f, 4);
    }
  }

  void draw_texture()
  {
    how = {};
    const bool small = kind != cudaChannelFormatKindFloat && bits < 32;
    const bool fetched = memory && shape == LINE;
    how.readMode = small && chance(50) ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    how.filterMode = !fetched && floats() && chance(60) ? cudaFilterModeLinear : cudaFilterModePoint;
    how.normalizedCoords = !fetched && (mipmap || cube() || chance(50));
    for (cudaTextureAddressMode &m : how.addressMode) {
      m = chance(50) ? cudaAddressModeClamp : cudaAddressModeBorder;
      if (how.normalizedCoords && chance(60)) m = chance(50) ? cudaAddressModeWrap : cudaAddressModeMirror;
    }
    if (floats() && chance(50))
      for (float &c : how.borderColor) c = how.readMode == cudaReadModeElementType ? (float)below(50) : 0.0f;
    if (!mipmap) return;
    how.mipmapFilterMode = floats() && chance(50) ? cudaFilterModeLinear : cudaFilterModePoint;
    how.minMipmapLevelClamp = chance(50) ? 0 : 0.5f * below(3), how.maxMipmapLevelClamp = chance(50) ? LEVELS : how.minMipmapLevelClamp + 0.5f * below(3);
    how.mipmapLevelBias = chance(50) ? 0 : 0.25f * (float)below(5) - 0.5f;
  }
  bool floats() { return kind == cudaChannelFormatKindFloat || how.readMode == cudaReadModeNormalizedFloat; }

  float coordinate(int n)
  {
    const int i = (int)below(3 * n + 4) - n - 2;
    float at = (float)i + (1 + below(7)) / 8.0f;
    if (cube()) at = (float)below(n) + (1 + below(7)) / 8.0f;
    return how.normalizedCoords ? at / (float)n : at;
  }
  Sample draw_sample()
  {
    const Level &l = level_of[below(levels)];
    Sample s = {coordinate(l.w), coordinate(l.h), coordinate(l.d), 0.25f * (float)below(4 * LEVELS + 4) - 0.5f, 0, (int)below(channels)};
    if (memory && shape == LINE) s.x = (float)below(l.w);
    if (layered()) s.layer = (int)below(shape == CUBES ? l.d / 6 : l.d);
    return s;
  }

  // What the guide says.

  static int address(cudaTextureAddressMode mode, int i, int n)
  {
    if (mode == cudaAddressModeClamp) return std::min(std::max(i, 0), n - 1);
    if (mode == cudaAddressModeBorder) return i < 0 || i >= n ? -1 : i;
    const int period = mode == cudaAddressModeWrap ? n : 2 * n, at = (i % period + period) % period;
    return at < n ? at : 2 * n - 1 - at;
  }
  double component(const Level &l, int x, int y, int z, int c)
  {
    const uint8_t *p = &l.texels[(((size_t)z * l.h + y) * l.w + x) * element + c * bits / 8];
    uint32_t raw = 0;
    memcpy(&raw, p, bits / 8);
    if (kind == cudaChannelFormatKindFloat) return bits == 16 ? half_of(raw) : float_of(raw);
    const double whole = kind == cudaChannelFormatKindUnsigned ? (double)raw : (double)((int32_t)(raw << (32 - bits)) >> (32 - bits));
    if (how.readMode == cudaReadModeElementType) return whole;
    const double most = (double)((1u << (bits - (kind == cudaChannelFormatKindSigned))) - 1);
    return std::max(whole / most, -1.0);
  }
  static double float_of(uint32_t raw)
  {
    float f;
    memcpy(&f, &raw, 4);
    return f;
  }
  static double half_of(uint32_t raw)
  {
    const uint16_t h = (uint16_t)raw;
    __half f;
    memcpy(&f, &h, 2);
    return __half2float(f);
  }
  double texel(const Level &l, const int *at, int plane, int c)
  {
    int i[3] = {0, 0, 0};
    const int n[3] = {l.w, l.h, l.d};
    for (int k = 0; k < dimensions(); k++) {
      i[k] = cube() ? at[k] : address(how.addressMode[k], at[k], n[k]);
      if (i[k] < 0) return how.borderColor[c];
    }
    return component(l, i[0], i[1], shape == BLOCK ? i[2] : plane, c);
  }

  // A coordinate in texels: its texel or, filtered, the lower of two and the fraction of the other.
  struct Axis {
    int i;
    double fraction;
    bool known, exact;
  };
  Axis axis(double x, int n, bool filtered)
  {
    const double at = (how.normalizedCoords ? x * n : x) - (filtered ? 0.5 : 0), below = std::floor(at), f = at - below;
    Axis a = {(int)below, 0, true, true};
    const double edge = std::min(f, 1 - f);
    if (!filtered) return a.known = edge > 0.01, a;
    a.exact = f * 256 == std::floor(f * 256) && (!how.normalizedCoords || (n & (n - 1)) == 0);
    a.fraction = f;
    return a;
  }
  // Faces: which, and where on it (the guide's table of cubemaps).
  void on_face(Sample &s, int &plane)
  {
    const double x = s.x, y = s.y, z = s.z, ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
    double m, u, v;
    int face;
    if (ax > ay && ax > az) face = x < 0, m = ax, u = x < 0 ? z : -z, v = -y;
    else if (ay > az) face = 2 + (y < 0), m = ay, u = x, v = y < 0 ? -z : z;
    else face = 4 + (z < 0), m = az, u = z < 0 ? -x : x, v = -y;
    s.x = (float)((u / m + 1) / 2), s.y = (float)((v / m + 1) / 2);
    plane = 6 * s.layer + face;
  }
  void aim_at_face(Sample &s) // s.x, s.y: on a face
  {
    const float u = 2 * s.x - 1, v = 2 * s.y - 1, m = chance(50) ? 1.0f : 4.0f;
    const float to[6][3] = {{1, -v, -u}, {-1, -v, u}, {u, 1, v}, {u, -1, -v}, {u, -v, 1}, {-u, -v, -1}};
    const float *t = to[below(6)];
    s.x = m * t[0], s.y = m * t[1], s.z = m * t[2];
  }

  Value at_level(int level, Sample s, int c)
  {
    const Level &l = level_of[level];
    int plane = s.layer;
    if (cube()) on_face(s, plane);
    const bool filtered = how.filterMode == cudaFilterModeLinear;
    const double x[3] = {s.x, s.y, s.z};
    const int n[3] = {l.w, l.h, l.d}, d = dimensions();
    Axis a[3];
    Value v = {0, filtered ? 2e-5 * range() : 1e-6, true};
    if (filtered && how.readMode == cudaReadModeNormalizedFloat) v.off = 1e-4;
    for (int k = 0; k < d; k++) {
      a[k] = axis(x[k], n[k], filtered);
      v.known = v.known && a[k].known;
      if (cube() && (a[k].i < 0 || a[k].i + filtered >= n[k])) v.known = false; // filtering across edges
      if (filtered && (!a[k].exact || cube())) v.off += 2 * range() / 256;
    }
    if (!v.known) return v;
    for (int corner = 0; corner < (filtered ? 1 << d : 1); corner++) {
      double weight = 1;
      int at[3] = {0, 0, 0};
      for (int k = 0; k < d; k++) {
        const int up = corner >> k & 1;
        at[k] = a[k].i + up;
        weight *= up ? a[k].fraction : 1 - a[k].fraction;
      }
      if (weight > 0 || !filtered) v.is += (filtered ? weight : 1) * texel(l, at, plane, c);
    }
    return v;
  }
  double range() { return how.readMode == cudaReadModeNormalizedFloat ? 2 : 128; }

  Value expected(const Sample &s, Way way, int c)
  {
    if (way == FETCH) return {component(level_of[0], (int)s.x, 0, 0, c), 1e-6, true};
    if (way == GATHER) return gathered(s, c);
    if (way == PLAIN) return at_level(0, s, c);
    const double wanted = std::min(std::max((double)s.level + how.mipmapLevelBias, (double)how.minMipmapLevelClamp), (double)how.maxMipmapLevelClamp);
    const double lod = std::min(std::max(wanted, 0.0), LEVELS - 1.0), f = lod - std::floor(lod);
    if (how.mipmapFilterMode == cudaFilterModePoint) {
      Value v = at_level((int)std::floor(lod + 0.5), s, c);
      if (f == 0.5) v.known = false;
      return v;
    }
    const Value low = at_level((int)std::floor(lod), s, c);
    if (f == 0) return low;
    const Value high = at_level((int)std::floor(lod) + 1, s, c);
    return {low.is * (1 - f) + high.is * f, std::max(low.off, high.off) + 2e-5 * range(), low.known && high.known};
  }
  Value gathered(const Sample &s, int which)
  {
    const Level &l = level_of[0];
    const Axis x = axis(s.x, l.w, true), y = axis(s.y, l.h, true);
    const int right[] = {0, 1, 1, 0}, down[] = {1, 1, 0, 0}, at[3] = {x.i + right[which], y.i + down[which], 0};
    const double edge = std::min({x.fraction, 1 - x.fraction, y.fraction, 1 - y.fraction});
    return {texel(l, at, 0, s.component), 1e-6, edge > 0.01};
  }

  // Carrying out.

  void texture()
  {
    draw_texture();
    cudaResourceDesc r = {};
    if (memory && shape == LINE) r.resType = cudaResourceTypeLinear, r.res.linear = {memory, format, (size_t)level_of[0].w * element};
    else if (memory) r.resType = cudaResourceTypePitch2D, r.res.pitch2D = {memory, format, (size_t)level_of[0].w, (size_t)level_of[0].h, pitch};
    else if (mipmap) r.resType = cudaResourceTypeMipmappedArray, r.res.mipmap.mipmap = mipmap;
    else r.resType = cudaResourceTypeArray, r.res.array.array = array;
    const Way way = memory && shape == LINE ? FETCH : gathers ? GATHER : mipmap ? LEVEL : PLAIN;
    tell(way);
    cudaTextureObject_t t;
    CUDA(cudaCreateTextureObject(&t, &r, &how, nullptr));
    std::vector<Sample> samples(SAMPLES);
    for (Sample &s : samples) {
      s = draw_sample();
      if (cube()) aim_at_face(s);
    }
    CUDA(cudaMemcpy(samples_at, samples.data(), SAMPLES * sizeof(Sample), cudaMemcpyHostToDevice));
    uint32_t out[SAMPLES][4];
    if (floats()) read<<<1, SAMPLES>>>(t, shape, way, samples_at, (float4 *)out_at);
    else if (kind == cudaChannelFormatKindSigned) read<<<1, SAMPLES>>>(t, shape, way, samples_at, (int4 *)out_at);
    else read<<<1, SAMPLES>>>(t, shape, way, samples_at, (uint4 *)out_at);
    CUDA(cudaMemcpy(out, out_at, sizeof out, cudaMemcpyDeviceToHost));
    CUDA(cudaDestroyTextureObject(t));
    for (int i = 0; i < SAMPLES; i++)
      for (int c = 0; c < (gathers ? 4 : channels); c++) compare(samples[i], expected(samples[i], way, c), out[i][c], c);
  }
  void compare(const Sample &s, const Value &v, uint32_t raw, int c)
  {
    const double is = floats() ? float_of(raw) : kind == cudaChannelFormatKindSigned ? (double)(int32_t)raw : (double)raw;
    if (!v.known || std::fabs(is - v.is) <= v.off) return;
    printf("component %d at %g %g %g, layer %d, level %g: %.9g, expected %.9g +- %g\n", c, s.x, s.y, s.z, s.layer, s.level, is, v.is, v.off);
    exit(1);
  }
  void tell(int way)
  {
    const Level &l = level_of[0];
    if (!talks) return;
    printf("shape %d, way %d, %d x %d x %d, levels %d, %d of %d bits, kind %d", shape, way, l.w, l.h, l.d, levels, channels, bits, kind);
    if (way >= 0) printf(", filter %d, normalized %d, read %d, address %d %d %d, level filter %d, clamp %g to %g, bias %g", how.filterMode, how.normalizedCoords, how.readMode,
             how.addressMode[0], how.addressMode[1], how.addressMode[2], how.mipmapFilterMode, how.minMipmapLevelClamp, how.maxMipmapLevelClamp, how.mipmapLevelBias);
    puts(""), fflush(stdout);
  }

  // Surfaces.

  uint8_t *spot(Level &l, Spot s, bool clamp)
  {
    int *at[3] = {&s.x, &s.y, &s.z};
    const int n[3] = {l.w, l.h, l.d}, d = dimensions();
    for (int k = 0; k < d; k++) {
      if (clamp) *at[k] = std::min(std::max(*at[k], 0), n[k] - 1);
      if (*at[k] < 0 || *at[k] >= n[k]) return nullptr;
    }
    return &l.texels[(((size_t)(shape == BLOCK ? s.z : s.layer) * l.h + (d > 1 ? s.y : 0)) * l.w + s.x) * element];
  }
  template <class T> void spots_of(int level, bool clamp)
  {
    Level &l = level_of[level];
    std::vector<Spot> at(SAMPLES);
    std::vector<T> values(SAMPLES), out(SAMPLES);
    for (Spot &s : at) s = {(int)below(l.w + 6) - 3, (int)below(l.h + 4) - 2, (int)below(l.d + 4) - 2, (int)below(l.d)};
    for (T &v : values)
      for (unsigned k = 0; k < sizeof(T); k++) ((uint8_t *)&v)[k] = (uint8_t)random.next();
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray, r.res.array.array = level_array(level);
    cudaSurfaceObject_t o;
    CUDA(cudaCreateSurfaceObject(&o, &r));
    CUDA(cudaMemcpy(samples_at, at.data(), SAMPLES * sizeof(Spot), cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(values_at, values.data(), SAMPLES * sizeof(T), cudaMemcpyHostToDevice));
    const int writes = (int)below(MOST_WRITES);
    spots<T><<<1, SAMPLES>>>(o, shape, clamp, (const Spot *)samples_at, writes, (const T *)values_at, (T *)out_at);
    CUDA(cudaMemcpy(out.data(), out_at, SAMPLES * sizeof(T), cudaMemcpyDeviceToHost));
    CUDA(cudaDestroySurfaceObject(o));
    for (int i = 0; i < writes; i++)
      if (uint8_t *p = spot(l, at[i], clamp)) memcpy(p, &values[i], sizeof(T));
    const T zero = {};
    for (int i = 0; i < SAMPLES; i++) {
      const uint8_t *p = spot(l, at[i], clamp);
      CHECK(memcmp(&out[i], p ? (const void *)p : &zero, sizeof(T)) == 0);
    }
    whole_level(level);
  }
  void whole_level(int level)
  {
    const Level &l = level_of[level];
    std::vector<uint8_t> here(l.texels.size());
    cudaMemcpy3DParms c = {};
    c.dstPtr = make_cudaPitchedPtr(here.data(), l.w * element, l.w, l.h);
    c.srcArray = level_array(level), c.extent = make_cudaExtent(l.w, l.h, l.d), c.kind = cudaMemcpyDeviceToHost;
    CUDA(cudaMemcpy3D(&c));
    CHECK(here == l.texels);
  }
  void surface()
  {
    const int level = (int)below(levels);
    const bool clamp = chance(50);
    tell(-1 - clamp);
    switch (element) {
    case 1: return spots_of<unsigned char>(level, clamp);
    case 2: return spots_of<unsigned short>(level, clamp);
    case 4: return spots_of<unsigned>(level, clamp);
    case 8: return spots_of<uint2>(level, clamp);
    default: return spots_of<uint4>(level, clamp);
    }
  }
};

int main(int argc, char **argv)
{
  const unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 1, programs = argc > 2 ? (unsigned)atoi(argv[2]) : 8;
  const unsigned objects = argc > 3 ? (unsigned)atoi(argv[3]) : 12;
  talks = argc > 4;
  for (unsigned seed = first; seed < first + programs; seed++) {
    printf("seed %u\n", seed), fflush(stdout);
    Program(seed).run(objects);
  }
  printf("%u programs right\n", programs);
}
