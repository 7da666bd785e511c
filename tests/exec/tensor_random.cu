// Tensor copies drawn at random against walks on the CPU by the rules of the PTX ISA: loads of every rank and mode into one CTA of a
// cluster or, by multicast, into those of a mask, each with the mbarrier of the CTA that gets the data; stores and reductions of every
// type and operation. Four copies of a launch run at once, from CTAs and into places of their own. Arguments: seed, launches.
#include "cluster_copies.h"
#include "driver_check.h"
#include "reductions.h"
#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

enum { MOST = 5, COPIES = 4, ROOM = 16384, SMEM = COPIES * ROOM, GUARD = 0xa5 };
enum Mode { TILE, IM2COL, MODES_90, GATHER4 = MODES_90, IM2COL_W, IM2COL_W128, MODES_100 };
enum How { ALONE, REMOTE, MULTICAST };

struct Copy {
  Mode mode;
  How how;
  int rank, issuer, target, x[MOST];
  unsigned short mask, offset[3];
  unsigned at, bytes;
};
struct Batch {
  Copy copy[COPIES];
  const CUtensorMap *maps;
};

// The one shared variable, mbarriers behind the data: behind static ones only optimised code of a whole program aligns it to more than 16 bytes.
extern __shared__ __align__(1024) unsigned char smem[];

#define LOAD(dims, mode, cast, coords, tail, ...)                                                                     \
  asm volatile("cp.async.bulk.tensor." dims "d.shared::cluster.global." mode ".mbarrier::complete_tx::bytes" cast     \
               " [%0], [%1, {" coords "}], [%2]" tail ";" ::"r"(at), "l"(map), "r"(bar), __VA_ARGS__ : "memory")
#define X1 "r"(c.x[0])
#define X2 X1, "r"(c.x[1])
#define X3 X2, "r"(c.x[2])
#define X4 X3, "r"(c.x[3])
#define X5 X4, "r"(c.x[4])
#define O(i) "h"(c.offset[i])
#define M "h"(c.mask)
#define CAST ".multicast::cluster"
// Operands: %3 on are the coordinates, then the offsets, then the mask.
#define EITHER(dims, mode, coords, tail, mask, ...)                                                                    \
  if (c.how == MULTICAST) LOAD(dims, mode, CAST, coords, tail ", " mask, __VA_ARGS__, M);                               \
  else LOAD(dims, mode, "", coords, tail, __VA_ARGS__)

__device__ void load(const Copy &c, const CUtensorMap *map, unsigned at, unsigned bar)
{
  if (c.mode == TILE) {
    if (c.rank == 1) { EITHER("1", "tile", "%3", "", "%4", X1); }
    if (c.rank == 2) { EITHER("2", "tile", "%3, %4", "", "%5", X2); }
    if (c.rank == 3) { EITHER("3", "tile", "%3, %4, %5", "", "%6", X3); }
    if (c.rank == 4) { EITHER("4", "tile", "%3, %4, %5, %6", "", "%7", X4); }
    if (c.rank == 5) { EITHER("5", "tile", "%3, %4, %5, %6, %7", "", "%8", X5); }
  }
  if (c.mode == IM2COL) {
    if (c.rank == 3) { EITHER("3", "im2col", "%3, %4, %5", ", {%6}", "%7", X3, O(0)); }
    if (c.rank == 4) { EITHER("4", "im2col", "%3, %4, %5, %6", ", {%7, %8}", "%9", X4, O(0), O(1)); }
    if (c.rank == 5) { EITHER("5", "im2col", "%3, %4, %5, %6, %7", ", {%8, %9, %10}", "%11", X5, O(0), O(1), O(2)); }
  }
#if __CUDA_ARCH__ >= 1000
  if (c.mode == GATHER4) { EITHER("2", "tile::gather4", "%3, %4, %5, %6, %7", "", "%8", X5); }
  if (c.mode == IM2COL_W) {
    if (c.rank == 3) { EITHER("3", "im2col::w", "%3, %4, %5", ", {%6, %7}", "%8", X3, O(0), O(1)); }
    if (c.rank == 4) { EITHER("4", "im2col::w", "%3, %4, %5, %6", ", {%7, %8}", "%9", X4, O(0), O(1)); }
    if (c.rank == 5) { EITHER("5", "im2col::w", "%3, %4, %5, %6, %7", ", {%8, %9}", "%10", X5, O(0), O(1)); }
  }
  if (c.mode == IM2COL_W128) {
    if (c.rank == 3) { EITHER("3", "im2col::w::128", "%3, %4, %5", ", {%6, %7}", "%8", X3, O(0), O(1)); }
    if (c.rank == 4) { EITHER("4", "im2col::w::128", "%3, %4, %5, %6", ", {%7, %8}", "%9", X4, O(0), O(1)); }
    if (c.rank == 5) { EITHER("5", "im2col::w::128", "%3, %4, %5, %6, %7", ", {%8, %9}", "%10", X5, O(0), O(1)); }
  }
#endif
}

__device__ bool gets(const Copy &c, unsigned cta)
{
  return c.how == MULTICAST ? c.mask >> cta & 1 : (unsigned)c.target == cta;
}

__global__ void loads(const __grid_constant__ Batch b, unsigned char *seen)
{
  uint64_t *const barrier = (uint64_t *)(smem + SMEM);
  const unsigned rank = rank_of();
  for (int i = threadIdx.x; i < SMEM; i += blockDim.x) smem[i] = GUARD;
  if (threadIdx.x == 0)
    for (int k = 0; k < COPIES; k++) expect(&barrier[k], gets(b.copy[k], rank) ? b.copy[k].bytes : 0);
  all_ready();
  if (threadIdx.x == 0)
    for (int k = 0; k < COPIES; k++) {
      const Copy &c = b.copy[k];
      const unsigned cta = c.how == REMOTE ? c.target : rank;
      if (c.issuer == (int)rank) load(c, b.maps + k, in_cta(shared_of(smem + c.at), cta), in_cta(shared_of(&barrier[k]), cta));
    }
  for (int k = 0; k < COPIES; k++)
    if (gets(b.copy[k], rank)) wait(&barrier[k]);
  cluster_sync();
  for (int i = threadIdx.x; i < SMEM; i += blockDim.x) seen[blockIdx.x * SMEM + i] = smem[i];
}

#define STORE(op, dims, mode, coords, ...)                                                                            \
  asm volatile("cp." op "async.bulk.tensor." dims "d.global.shared::cta." mode ".bulk_group [%0, {" coords "}], [%1];"  \
               ::"l"(map), "r"(at), __VA_ARGS__ : "memory")
#define PLACES(name, tile, column)                                                                                     \
  if (c.mode == TILE) {                                                                                                \
    if (c.rank == 1) name("1", tile, "%2", X1);                                                                        \
    if (c.rank == 2) name("2", tile, "%2, %3", X2);                                                                    \
    if (c.rank == 3) name("3", tile, "%2, %3, %4", X3);                                                                \
    if (c.rank == 4) name("4", tile, "%2, %3, %4, %5", X4);                                                            \
    if (c.rank == 5) name("5", tile, "%2, %3, %4, %5, %6", X5);                                                        \
  } else {                                                                                                             \
    if (c.rank == 3) name("3", column, "%2, %3, %4", X3);                                                              \
    if (c.rank == 4) name("4", column, "%2, %3, %4, %5", X4);                                                          \
    if (c.rank == 5) name("5", column, "%2, %3, %4, %5, %6", X5);                                                      \
  }
#define PLAIN(...) STORE("", __VA_ARGS__)
#define REDUCE_AS(op, dims, mode, coords, ...)                                                                        \
  asm volatile("cp.reduce.async.bulk.tensor." dims "d.global.shared::cta." op "." mode ".bulk_group [%0, {" coords     \
               "}], [%1];" ::"l"(map), "r"(at), __VA_ARGS__ : "memory")
#define R_ADD(...) REDUCE_AS("add", __VA_ARGS__)
#define R_MIN(...) REDUCE_AS("min", __VA_ARGS__)
#define R_MAX(...) REDUCE_AS("max", __VA_ARGS__)
#define R_INC(...) REDUCE_AS("inc", __VA_ARGS__)
#define R_DEC(...) REDUCE_AS("dec", __VA_ARGS__)
#define R_AND(...) REDUCE_AS("and", __VA_ARGS__)
#define R_OR(...) REDUCE_AS("or", __VA_ARGS__)
#define R_XOR(...) REDUCE_AS("xor", __VA_ARGS__)

__global__ void stores(const __grid_constant__ CUtensorMap parameter, Copy c, Op op, const unsigned char *values)
{
  const CUtensorMap *map = &parameter;
  const unsigned at = shared_of(smem) + c.at;
  for (unsigned i = threadIdx.x; i < (c.bytes + 1023 & ~1023u); i += blockDim.x) smem[c.at + i] = values[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x) return;
  switch (op) {
  case ADD: PLACES(R_ADD, "tile", "im2col_no_offs") break;
  case MIN: PLACES(R_MIN, "tile", "im2col_no_offs") break;
  case MAX: PLACES(R_MAX, "tile", "im2col_no_offs") break;
  case INC: PLACES(R_INC, "tile", "im2col_no_offs") break;
  case DEC: PLACES(R_DEC, "tile", "im2col_no_offs") break;
  case AND: PLACES(R_AND, "tile", "im2col_no_offs") break;
  case OR: PLACES(R_OR, "tile", "im2col_no_offs") break;
  case XOR: PLACES(R_XOR, "tile", "im2col_no_offs") break;
  default: PLACES(PLAIN, "tile", "im2col_no_offs")
  }
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

// ---- the reference ----

static const CUtensorMapDataType codes[KINDS] = {
    CU_TENSOR_MAP_DATA_TYPE_UINT8, CU_TENSOR_MAP_DATA_TYPE_UINT16, CU_TENSOR_MAP_DATA_TYPE_UINT32, CU_TENSOR_MAP_DATA_TYPE_INT32,
    CU_TENSOR_MAP_DATA_TYPE_UINT64, CU_TENSOR_MAP_DATA_TYPE_INT64, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT64, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ};

struct Tensor {
  Kind type;
  Mode mode;
  int rank;
  long dim[MOST], pitch[MOST]; // pitch: bytes between neighbours
  int box[MOST], step[MOST], lower[3], upper[3], pixels;
  CUtensorMapSwizzle swizzle;
  bool nan;
  std::vector<unsigned char> data;
  unsigned char *device;
  CUtensorMap map;

  int count(int i) const { return (box[i] + step[i] - 1) / step[i]; }
  int rows() const
  {
    if (mode == GATHER4) return 4;
    if (mode == IM2COL_W128) return 128;
    if (mode != TILE) return pixels;
    int n = 1;
    for (int i = 1; i < rank; i++) n *= count(i);
    return n;
  }
  unsigned bytes() const { return box[0] * size_of(type) * rows(); }
};

static bool is_w(Mode m)
{
  return m == IM2COL_W || m == IM2COL_W128;
}

static void draw_spatial(Tensor &t)
{
  const int n = is_w(t.mode) ? 1 : t.rank - 2;
  for (int i = 0; i < n; i++) {
    const int least = n == 3 ? 4 : 8;
    t.lower[i] = between(-least, 3), t.upper[i] = between(-4, least - 1);
    while (t.dim[i + 1] + t.upper[i] - t.lower[i] <= 0) t.upper[i]++;
  }
}

static void encode(Tensor &t)
{
  cuuint64_t d[MOST], s[MOST];
  cuuint32_t b[MOST], e[MOST];
  for (int i = 0; i < t.rank; i++) d[i] = t.dim[i], b[i] = t.box[i], e[i] = t.step[i];
  for (int i = 1; i < t.rank; i++) s[i - 1] = t.pitch[i];
  const auto fill = t.nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  const auto plain = CU_TENSOR_MAP_INTERLEAVE_NONE;
  const auto l2 = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  if (t.mode == TILE || t.mode == GATHER4)
    CU(cuTensorMapEncodeTiled(&t.map, codes[t.type], t.rank, t.device, d, s, b, e, plain, t.swizzle, l2, fill));
  else if (t.mode == IM2COL)
    CU(cuTensorMapEncodeIm2col(&t.map, codes[t.type], t.rank, t.device, d, s, t.lower, t.upper, t.box[0], t.pixels, e, plain, t.swizzle, l2,
                               fill));
  else
    CU(cuTensorMapEncodeIm2colWide(&t.map, codes[t.type], t.rank, t.device, d, s, t.lower[0], t.upper[0], t.box[0],
                                   t.mode == IM2COL_W ? t.pixels : 128, e, plain,
                                   t.mode == IM2COL_W ? CU_TENSOR_MAP_IM2COL_WIDE_MODE_W : CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128,
                                   t.swizzle, l2, fill));
}

static void draw_shape(Tensor &t, bool small)
{
  const CUtensorMapSwizzle swizzles[] = {CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_32B, CU_TENSOR_MAP_SWIZZLE_64B,
                                         CU_TENSOR_MAP_SWIZZLE_128B};
  const int w = is_w(t.mode) ? between(2, 3) : draw(4), span = w ? 16 << w : small ? 128 : 512;
  t.swizzle = swizzles[w];
  t.box[0] = between(1, span / 16) * 16 / size_of(t.type);
  if (t.box[0] > 256) t.box[0] = 256;
  for (int i = 0; i < t.rank; i++) {
    t.dim[i] = i ? between(1, 12) : between(1, 96);
    t.step[i] = draw(3) || i == 0 || (t.mode != TILE && i == t.rank - 1) || t.mode == GATHER4 ? 1 : between(1, 8);
    if (i) t.box[i] = t.mode == TILE ? between(1, t.rank == 2 ? 24 : 6) : 1;
  }
}

static Tensor draw_tensor(Kind type, Mode mode, bool small)
{
  Tensor t = {type, mode};
  do {
    t.rank = mode == GATHER4 ? 2 : mode == TILE ? between(1, 5) : between(3, 5);
    t.nan = nan_of(type) && draw(2);
    t.pixels = between(1, 60);
    draw_shape(t, small);
  } while (t.bytes() > ROOM);
  if (mode != TILE && mode != GATHER4) draw_spatial(t);
  t.pitch[0] = size_of(type);
  size_t size = t.dim[0] * size_of(type);
  for (int i = 1; i < t.rank; i++) {
    t.pitch[i] = (long)((size + 15 & ~(size_t)15) + 16 * draw(3));
    size = t.pitch[i] * t.dim[i];
  }
  t.data.resize(size);
  for (auto &x : t.data) x = draw(256);
  CUDA(cudaMalloc(&t.device, size));
  CUDA(cudaMemcpy(t.device, t.data.data(), size, cudaMemcpyHostToDevice));
  encode(t);
  return t;
}

// Byte offset in memory of element e of the box, or -1: out of bounds.
static long place(const Tensor &t, const Copy &c, const unsigned short offset[3], int e)
{
  long p[MOST] = {c.x[0] + e % t.box[0]};
  int row = e / t.box[0];
  if (t.mode == GATHER4) p[1] = c.x[1 + row];
  else if (t.mode == TILE)
    for (int i = 1; i < t.rank; row /= t.count(i), i++) p[i] = c.x[i] + row % t.count(i) * t.step[i];
  else {
    const int walked = is_w(t.mode) ? 1 : t.rank - 2;
    for (int i = 1; i < t.rank; i++) p[i] = c.x[i];
    for (int k = 0; k < row; k++) { // the next pixel, W fastest
      int i = 1;
      for (; i <= walked; i++) {
        if ((p[i] += t.step[i]) < t.dim[i] + t.upper[i - 1]) break;
        p[i] = t.lower[i - 1];
      }
      if (i > walked) p[t.rank - 1]++;
    }
    for (int i = 1; i <= walked; i++) p[i] += is_w(t.mode) ? offset[1] : offset[i - 1];
  }
  long at = 0;
  for (int i = 0; i < t.rank; i++) {
    if (p[i] < 0 || p[i] >= t.dim[i]) return -1;
    at += p[i] * t.pitch[i];
  }
  return at;
}

// A place anywhere around the tensor.
static void draw_coordinates(const Tensor &t, Copy &c)
{
  for (int i = 0; i < MOST; i++) {
    const int d = t.mode == GATHER4 && i > 1 ? 1 : i;
    c.x[i] = i < t.rank || t.mode == GATHER4 ? between(-4, (int)t.dim[d] + 2) : 0;
  }
  for (auto &o : c.offset) o = 0;
  if (t.mode == IM2COL)
    for (int i = 0; i < t.rank - 2; i++) c.offset[i] = draw(6);
  if (is_w(t.mode)) c.offset[1] = draw(6); // no halo
}

// Mostly one where a good part of the box is in bounds; about how many elements are.
static int draw_place(const Tensor &t, Copy &c)
{
  int inside = -1;
  const int elements = (int)t.bytes() / size_of(t.type), wanted = draw(8) ? elements / 3 : 0;
  c.mode = t.mode, c.rank = t.rank, c.bytes = t.bytes();
  for (int k = 0; k < 40 && inside < wanted; k++) {
    draw_coordinates(t, c), inside = 0;
    for (int e = 0; e < elements; e += 1 + elements / 97) inside += place(t, c, c.offset, e) >= 0 ? 1 + elements / 97 : 0;
  }
  return inside;
}

static unsigned shuffled(CUtensorMapSwizzle s, unsigned a)
{
  switch (s) {
  case CU_TENSOR_MAP_SWIZZLE_128B: return a ^ (a >> 7 & 7) << 4;
  case CU_TENSOR_MAP_SWIZZLE_64B: return a ^ (a >> 7 & 3) << 4;
  case CU_TENSOR_MAP_SWIZZLE_32B: return a ^ (a >> 7 & 1) << 4;
  default: return a;
  }
}

static void put(const Tensor &t, const Copy &c, unsigned char *room)
{
  for (int e = 0; e < (int)c.bytes / size_of(t.type); e++) {
    uint64_t v = t.nan ? nan_of(t.type) : 0;
    const long p = place(t, c, c.offset, e);
    if (p >= 0) v = 0, memcpy(&v, &t.data[p], size_of(t.type)), v = flushed(t.type, v);
    memcpy(room + shuffled(t.swizzle, c.at + e * size_of(t.type)), &v, size_of(t.type));
  }
}

static const char *const mode_names[] = {"tile", "im2col", "gather4", "im2col::w", "im2col::w::128"};

static void describe(const Tensor &t, const Copy &c)
{
  printf("%s rank %d type %d swizzle %d nan %d how %d issuer %d target %d mask %#x at %u bytes %u pixels %d\n", mode_names[t.mode], t.rank,
         codes[t.type], t.swizzle, t.nan, c.how, c.issuer, c.target, c.mask, c.at, c.bytes, t.pixels);
  for (int i = 0; i < t.rank; i++)
    printf("  dim %ld pitch %ld box %d step %d at %d\n", t.dim[i], t.pitch[i], t.box[i], t.step[i], c.x[i]);
  for (int i = 0; i < 3; i++) printf("  corners %d %d offset %d\n", t.lower[i], t.upper[i], c.offset[i]);
}

static void test_loads(unsigned ctas, unsigned modes)
{
  Batch b;
  std::vector<Tensor> tensors;
  CUtensorMap maps[COPIES], *device;
  for (int k = 0; k < COPIES; k++) {
    Copy &c = b.copy[k];
    tensors.push_back(draw_tensor((Kind)draw(KINDS), (Mode)draw(modes), false));
    draw_place(tensors[k], c);
    maps[k] = tensors[k].map;
    c.how = (How)draw(3), c.issuer = draw(ctas), c.target = c.how == REMOTE ? draw(ctas) : c.issuer;
    c.mask = between(1, (1 << ctas) - 1), c.at = k * ROOM + (tensors[k].bytes() < ROOM - 2048 ? draw(8) * 128 : 0);
    for (unsigned i = c.at % 1024 ? 1024 - c.at % 1024 : 0; c.at + c.bytes + i > (k + 1u) * ROOM;) c.at -= 128, i = 0;
  }
  unsigned char *seen;
  CUDA(cudaMalloc(&device, sizeof maps));
  CUDA(cudaMemcpy(device, maps, sizeof maps, cudaMemcpyHostToDevice));
  CUDA(cudaMalloc(&seen, ctas * SMEM));
  b.maps = device;
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = ctas, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.gridDim = ctas, config.blockDim = 128, config.dynamicSmemBytes = SMEM + COPIES * sizeof(uint64_t), config.attrs = &attribute, config.numAttrs = 1;
  CUDA(cudaLaunchKernelEx(&config, loads, b, seen));
  std::vector<unsigned char> have(ctas * SMEM);
  CUDA(cudaMemcpy(have.data(), seen, have.size(), cudaMemcpyDeviceToHost));
  for (unsigned cta = 0; cta < ctas; cta++) {
    std::vector<unsigned char> want(SMEM + 2048, GUARD);
    for (int k = 0; k < COPIES; k++) {
      const Copy &c = b.copy[k];
      if (c.how == MULTICAST ? c.mask >> cta & 1 : c.target == (int)cta) put(tensors[k], c, want.data());
    }
    for (int i = 0; i < SMEM; i++)
      if (have[cta * SMEM + i] != want[i]) {
        describe(tensors[i / ROOM], b.copy[i / ROOM]);
        printf("CTA %u of %u, byte %d of copy %d: %#x, not %#x\n", cta, ctas, i % ROOM - (int)b.copy[i / ROOM].at % ROOM, i / ROOM,
               have[cta * SMEM + i], want[i]);
        exit(1);
      }
  }
  for (auto &t : tensors) CUDA(cudaFree(t.device));
  CUDA(cudaFree(seen));
  CUDA(cudaFree(device));
}

static void test_stores(Kind type, Op op)
{
  enum { ENOUGH = 8 };
  Tensor t = draw_tensor(type, (Mode)draw(MODES_90), true);
  Copy c = {};
  while (draw_place(t, c) < ENOUGH) {
    CUDA(cudaFree(t.device));
    t = draw_tensor(type, (Mode)draw(MODES_90), true);
  }
  for (auto &o : c.offset) o = 0; // stores have none
  std::vector<unsigned char> values(ROOM), after(t.data.size());
  for (auto &x : values) x = draw(256);
  draw_values(type, t.data, values);
  if (draw(2)) // sums of subnormal numbers
    for (int e = 0; e < ROOM / size_of(type); e++) values[(e + 1) * size_of(type) - 1] &= 0x80;
  CUDA(cudaMemcpy(t.device, t.data.data(), t.data.size(), cudaMemcpyHostToDevice));
  unsigned char *source;
  CUDA(cudaMalloc(&source, ROOM));
  CUDA(cudaMemcpy(source, values.data(), ROOM, cudaMemcpyHostToDevice));
  stores<<<1, 128, SMEM>>>(t.map, c, op, source);
  CUDA(cudaMemcpy(after.data(), t.device, after.size(), cudaMemcpyDeviceToHost));
  std::vector<unsigned char> touched(t.data.size());
  for (int e = 0; e < (int)c.bytes / size_of(type); e++) {
    const long p = place(t, c, c.offset, e);
    uint64_t a = 0, b = 0, have = 0;
    if (p < 0) continue;
    if (touched[p]) return; // corners beyond the tensor: a pixel comes twice
    memcpy(&a, &t.data[p], size_of(type)), memcpy(&b, &values[shuffled(t.swizzle, e * size_of(type))], size_of(type));
    memcpy(&have, &after[p], size_of(type));
    const uint64_t want = combine(type, op, a, b);
    if (!same(type, op, have, want)) {
      describe(t, c);
      printf("operation %d, element %d: %#llx and %#llx give %#llx, not %#llx\n", op, e, (unsigned long long)a, (unsigned long long)b,
             (unsigned long long)have, (unsigned long long)want);
      exit(1);
    }
    for (int i = 0; i < size_of(type); i++) touched[p + i] = 1;
  }
  for (size_t i = 0; i < after.size(); i++)
    if (!touched[i]) CHECK(after[i] == t.data[i]);
  CUDA(cudaFree(t.device));
  CUDA(cudaFree(source));
}

int main(int argc, char **argv)
{
  const unsigned sizes[] = {1, 2, 4, 8, 3, 5, 16};
  const int launches = argc > 2 ? atoi(argv[2]) : 4;
  int major, stored = 0;
  state = argc > 1 ? strtoull(argv[1], nullptr, 0) : 1;
  CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  CUDA(cudaFree(0));
  CUDA(cudaFuncSetAttribute(loads, cudaFuncAttributeMaxDynamicSharedMemorySize, SMEM + COPIES * sizeof(uint64_t)));
  CUDA(cudaFuncSetAttribute(loads, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  CUDA(cudaFuncSetAttribute(stores, cudaFuncAttributeMaxDynamicSharedMemorySize, SMEM));
  for (int i = 0; i < launches; i++) {
    test_loads(sizes[draw(7)], major >= 10 ? MODES_100 : MODES_90);
    if (i % 4) continue;
    for (int t = 0; t < KINDS; t++)
      for (int op = 0; op <= NONE; op++)
        if (possible((Kind)t, (Op)op)) test_stores((Kind)t, (Op)op), stored++;
  }
  printf("%d launches of loads, %d stores and reductions right\n", launches, stored);
}
