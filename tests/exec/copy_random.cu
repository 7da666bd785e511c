// Copies and fills drawn at random: between ordinary, pinned and managed memory of the host, linear and pitched memory and arrays of every shape
// (layers, cubes and levels of mipmaps too) on up to two GPUs; by each function of the runtime and of the driver that copies or fills, by nodes of
// graphs, captured or built, whose parameters are set anew, and in batches. Boxes lie anywhere, with any pitch, and may be empty. Every piece of memory has a
// model on the CPU, to which the same boxes are copied row by row as NVIDIA's manuals say; all of it is compared, so a byte too much shows.
// Arguments: first seed, programs, operations of each; one more and every operation is printed and followed by a comparison.
#include "random.h"
#include "some_gpus.h"
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <vector>

#define DRIVER(call)                                                                               \
  do {                                                                                             \
    CUresult status_ = (call);                                                                     \
    if (status_ != CUDA_SUCCESS) {                                                                 \
      printf("%s:%d: %s: %d\n", __FILE__, __LINE__, #call, status_);                               \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

enum { LINEAR_BYTES = 5000 };
enum Kind { PAGEABLE, PINNED, MANAGED, DEVICE, PITCHED, ARRAY };

struct Place {
  Kind kind;
  int gpu;
  uint8_t *at;  // not of arrays
  size_t pitch; // of pitched memory
  cudaArray_t array;
  unsigned element; // bytes; 1 but in arrays
  size_t w, h, d;   // of arrays: elements, rows, slices or layers, none of them 0
  bool flat;        // an array of one or two dimensions without layers
  std::vector<uint8_t> model;
};

// A box's corner: byte x of row y of slice z. Linear memory has rows of `pitch` bytes, `rows` to a slice, from `base`.
struct View {
  int place;
  size_t base, pitch, rows, x, y, z;
};
struct Copy {
  View src, dst;
  size_t bytes, rows, slices; // the box
  unsigned element;           // bytes; all boxes are of whole elements
};
struct Fill {
  View dst;
  size_t width, rows, slices; // width in elements
  unsigned element, value;
};

static bool talks;

static bool host_kind(Kind kind) { return kind == PAGEABLE || kind == PINNED; }

class Program {
public:
  Program(unsigned seed, int gpus) : random(seed), gpus(gpus)
  {
    for (int g = 0; g < gpus; g++) {
      CUDA(cudaSetDevice(g));
      CUDA(cudaStreamCreate(&stream[g]));
      for (int i = 0; i < 2; i++) add_linear(DEVICE, g);
      add_linear(PITCHED, g);
      for (int i = 0; i < 5; i++) add_array(g, i ? below(8) : 1); // one has rows, for the functions of the old kind
    }
    CUDA(cudaSetDevice(0));
    for (int i = 0; i < 2; i++) add_linear(PAGEABLE, 0);
    for (int i = 0; i < 2; i++) add_linear(PINNED, 0);
    if (gpus == 1) add_linear(MANAGED, 0);
  }

  void run(unsigned operations)
  {
    for (unsigned i = 0; i < operations; i++) {
      step();
      if (talks || i % 8 == 7) compare();
    }
    compare();
    finish();
  }

private:
  Random random;
  int gpus;
  cudaStream_t stream[MOST_GPUS];
  std::vector<Place> places;
  std::vector<cudaMipmappedArray_t> mipmaps;

  unsigned below(size_t n) { return (unsigned)(random.next() % n); }
  bool chance(unsigned percent) { return below(100) < percent; }

  void settle()
  {
    for (int g = gpus - 1; g >= 0; g--) {
      CUDA(cudaSetDevice(g));
      CUDA(cudaDeviceSynchronize());
    }
  }

  void add_linear(Kind kind, int gpu)
  {
    Place p = {};
    p.kind = kind, p.gpu = gpu, p.element = 1;
    size_t bytes = LINEAR_BYTES;
    if (kind == PAGEABLE) p.at = (uint8_t *)malloc(bytes);
    if (kind == PINNED) CUDA(cudaHostAlloc(&p.at, bytes, cudaHostAllocPortable));
    if (kind == MANAGED) CUDA(cudaMallocManaged(&p.at, bytes));
    if (kind == DEVICE) CUDA(cudaMalloc(&p.at, bytes));
    if (kind == PITCHED && chance(50)) {
      const size_t rows = 1 + below(12);
      CUDA(cudaMallocPitch(&p.at, &p.pitch, 1 + below(600), rows));
      bytes = p.pitch * rows;
    } else if (kind == PITCHED) {
      cudaPitchedPtr ptr;
      const cudaExtent e = make_cudaExtent(1 + below(200), 1 + below(5), 1 + below(4));
      CUDA(cudaMalloc3D(&ptr, e));
      CHECK(ptr.pitch >= e.width && ptr.xsize == e.width && ptr.ysize == e.height);
      p.at = (uint8_t *)ptr.ptr, p.pitch = ptr.pitch;
      bytes = p.pitch * e.height * e.depth;
    }
    p.model.resize(bytes);
    for (uint8_t &b : p.model) b = (uint8_t)random.next();
    CUDA(cudaMemcpy(p.at, p.model.data(), bytes, cudaMemcpyDefault));
    places.push_back(p);
  }

  cudaChannelFormatDesc format(unsigned *element)
  {
    const int channels[] = {1, 2, 4}, bits[] = {8, 16, 32}, n = channels[below(3)], b = bits[below(3)];
    *element = (unsigned)(n * b / 8);
    const cudaChannelFormatKind kind = b > 8 && chance(30) ? cudaChannelFormatKindFloat : chance(50) ? cudaChannelFormatKindSigned : cudaChannelFormatKindUnsigned;
    return cudaCreateChannelDesc(b, n > 1 ? b : 0, n > 2 ? b : 0, n > 2 ? b : 0, kind);
  }

  void add_array(int gpu, unsigned form)
  {
    Place p = {};
    p.kind = ARRAY, p.gpu = gpu;
    const cudaChannelFormatDesc f = format(&p.element);
    cudaExtent e = make_cudaExtent(1 + below(40), 0, 0);
    unsigned flags = chance(30) ? cudaArraySurfaceLoadStore : 0;
    switch (form) {
    case 0: break; // 1D
    case 1: e.height = 1 + below(12); break;
    case 2: e.height = 1 + below(12), e.depth = 1 + below(5); break;
    case 3: e.depth = 1 + below(5), flags |= cudaArrayLayered; break;
    case 4: e.height = 1 + below(12), e.depth = 1 + below(5), flags |= cudaArrayLayered; break;
    case 5: e.height = e.width = 1 + below(10), e.depth = 6, flags |= cudaArrayCubemap; break;
    case 6: e.height = e.width = 1 + below(8), e.depth = 6 * (1 + below(2)), flags |= cudaArrayCubemap | cudaArrayLayered; break;
    default: return add_levels(p, f, flags);
    }
    if (!e.depth && chance(50)) CUDA(cudaMallocArray(&p.array, &f, e.width, e.height, flags));
    else CUDA(cudaMalloc3DArray(&p.array, &f, e, flags));
    p.flat = e.depth == 0;
    shape(p, e);
  }
  void add_levels(Place p, const cudaChannelFormatDesc &f, unsigned flags)
  {
    cudaMipmappedArray_t m;
    cudaExtent e = make_cudaExtent(8 + below(30), chance(70) ? 4 + below(12) : 0, 0);
    if (e.height && chance(40)) e.depth = 1 + below(5);
    if (e.depth && chance(50)) flags |= cudaArrayLayered;
    CUDA(cudaMallocMipmappedArray(&m, &f, e, 3, flags));
    mipmaps.push_back(m);
    p.flat = e.depth == 0;
    for (unsigned level = 0; level < 3; level++) {
      CUDA(cudaGetMipmappedArrayLevel(&p.array, m, level));
      const cudaExtent half = make_cudaExtent(std::max<size_t>(e.width >> level, 1), e.height ? std::max<size_t>(e.height >> level, 1) : 0,
                                              !e.depth || (flags & cudaArrayLayered) ? e.depth : std::max<size_t>(e.depth >> level, 1));
      if (level == 0 || chance(60)) shape(p, half);
    }
  }
  void shape(Place p, cudaExtent e)
  {
    cudaExtent said;
    CUDA(cudaArrayGetInfo(nullptr, &said, nullptr, p.array));
    CHECK(said.width == e.width && said.height == e.height && said.depth == e.depth);
    p.w = e.width, p.h = std::max<size_t>(e.height, 1), p.d = std::max<size_t>(e.depth, 1);
    p.model.resize(p.w * p.h * p.d * p.element);
    for (uint8_t &b : p.model) b = (uint8_t)random.next();
    places.push_back(p);
    whole_array(places.back(), places.back().model.data(), true);
  }

  void whole_array(const Place &p, uint8_t *host, bool in)
  {
    CUDA(cudaSetDevice(p.gpu));
    cudaMemcpy3DParms c = {};
    (in ? c.srcPtr : c.dstPtr) = make_cudaPitchedPtr(host, p.w * p.element, p.w, p.h);
    (in ? c.dstArray : c.srcArray) = p.array;
    c.extent = make_cudaExtent(p.w, p.h, p.d);
    c.kind = cudaMemcpyDefault;
    CUDA(cudaMemcpy3D(&c));
  }

  // The model.

  size_t byte_of(const View &v, size_t row, size_t slice)
  {
    const Place &p = places[v.place];
    if (p.kind == ARRAY) return ((v.z + slice) * p.h + v.y + row) * p.w * p.element + v.x;
    return v.base + ((v.z + slice) * v.rows + v.y + row) * v.pitch + v.x;
  }
  bool fits(const View &v, size_t bytes, size_t rows, size_t slices)
  {
    if (!bytes || !rows || !slices) return byte_of(v, 0, 0) <= places[v.place].model.size();
    return byte_of(v, rows - 1, slices - 1) + bytes <= places[v.place].model.size();
  }
  void copy(const Copy &c)
  {
    if (!c.bytes) return;
    for (size_t s = 0; s < c.slices; s++)
      for (size_t r = 0; r < c.rows; r++) memcpy(&places[c.dst.place].model[byte_of(c.dst, r, s)], &places[c.src.place].model[byte_of(c.src, r, s)], c.bytes);
  }
  void fill(const Fill &f)
  {
    for (size_t s = 0; s < f.slices; s++)
      for (size_t r = 0; r < f.rows; r++)
        for (size_t i = 0; i < f.width; i++) memcpy(&places[f.dst.place].model[byte_of(f.dst, r, s) + i * f.element], &f.value, f.element);
  }

  // What is drawn.

  template <class Fits> int pick(Fits fits)
  {
    int i;
    do i = (int)below(places.size());
    while (!fits(places[i]));
    return i;
  }
  View corner(int place, size_t bytes, size_t rows, int dimensions, unsigned unit)
  {
    const Place &p = places[place];
    View v = {place, 0, 0, 0, 0, 0, 0};
    const size_t most = p.model.size();
    if (p.kind == ARRAY) return v;
    v.base = chance(30) ? 0 : below(most / unit) * unit;
    v.x = chance(40) || dimensions < 3 ? 0 : below(20) * unit;
    v.y = chance(50) || dimensions < 3 ? 0 : below(3);
    v.z = chance(60) || dimensions < 3 ? 0 : below(2);
    v.pitch = (v.x + bytes + unit - 1) / unit * unit + (chance(30) ? 0 : below(40) * unit);
    if (p.kind == PITCHED && p.pitch >= v.x + bytes && chance(60)) v.pitch = p.pitch;
    if (!v.pitch) v.pitch = unit;
    v.rows = v.y + rows + (chance(40) ? 0 : below(3));
    return v;
  }
  void place_in_array(View *v, size_t bytes, size_t rows, size_t slices)
  {
    const Place &p = places[v->place];
    if (p.kind != ARRAY) return;
    v->x = below(p.w - bytes / p.element + 1) * p.element, v->y = below(p.h - rows + 1), v->z = below(p.d - slices + 1);
  }
  bool apart(const Copy &c)
  {
    if (c.src.place != c.dst.place) return true;
    if (places[c.src.place].kind == ARRAY) return false;
    if (!c.bytes || !c.rows || !c.slices) return true;
    const size_t s = byte_of(c.src, 0, 0), s_end = byte_of(c.src, c.rows - 1, c.slices - 1) + c.bytes;
    const size_t d = byte_of(c.dst, 0, 0), d_end = byte_of(c.dst, c.rows - 1, c.slices - 1) + c.bytes;
    return s_end <= d || d_end <= s;
  }

  // A copy of so many dimensions between places that fit.
  template <class Fits> Copy draw(int dimensions, Fits ok, bool may_be_empty = true)
  {
    for (;;) {
      Copy c = {};
      c.src.place = pick(ok), c.dst.place = pick(ok);
      const Place &s = places[c.src.place], &d = places[c.dst.place];
      if (s.kind == ARRAY && d.kind == ARRAY && s.element != d.element) continue;
      c.element = std::max(s.element, d.element);
      size_t w = LINEAR_BYTES / c.element, h = 12, n = 5;
      if (s.kind != ARRAY && d.kind != ARRAY && dimensions > 1) w = 300;
      for (const Place *p : {&s, &d})
        if (p->kind == ARRAY) w = std::min(w, p->w), h = std::min(h, p->h), n = std::min(n, p->d);
      c.bytes = (chance(10) ? w : 1 + below(w)) * c.element;
      c.rows = dimensions < 2 ? 1 : 1 + below(h), c.slices = dimensions < 3 ? 1 : 1 + below(n);
      if (may_be_empty && chance(3)) c.bytes = 0;
      if (may_be_empty && dimensions > 1 && chance(2)) c.rows = 0;
      if (may_be_empty && dimensions > 2 && chance(2)) c.slices = 0;
      c.src = corner(c.src.place, c.bytes, c.rows, dimensions, 1), c.dst = corner(c.dst.place, c.bytes, c.rows, dimensions, 1);
      place_in_array(&c.src, c.bytes, c.rows, c.slices), place_in_array(&c.dst, c.bytes, c.rows, c.slices);
      if (fits(c.src, c.bytes, c.rows, c.slices) && fits(c.dst, c.bytes, c.rows, c.slices) && apart(c) && together(c)) return c;
    }
  }
  bool local_only = true; // arrays of one GPU meet memory of another in copies between peers alone
  bool together(const Copy &c)
  {
    const Place &s = places[c.src.place], &d = places[c.dst.place];
    if (!local_only || s.gpu == d.gpu || host_kind(s.kind) || host_kind(d.kind)) return true;
    return s.kind != ARRAY && d.kind != ARRAY;
  }
  int gpu_of(const Copy &c)
  {
    const Place &s = places[c.src.place], &d = places[c.dst.place];
    return host_kind(d.kind) ? s.gpu : d.gpu;
  }

  Fill draw_fill(int dimensions, unsigned element)
  {
    for (;;) {
      Fill f = {};
      f.element = element, f.value = random.next() ^ random.next() << 13;
      f.dst.place = pick([](const Place &p) { return p.kind != ARRAY && p.kind != PAGEABLE; });
      f.width = 1 + below(dimensions > 1 ? 300 / element : LINEAR_BYTES / element);
      f.rows = dimensions < 2 ? 1 : 1 + below(12), f.slices = dimensions < 3 ? 1 : 1 + below(4);
      f.dst = corner(f.dst.place, f.width * element, f.rows, dimensions > 2 ? 2 : dimensions, element);
      if (fits(f.dst, f.width * element, f.rows, f.slices)) return f;
    }
  }

  cudaMemcpyKind direction(const Copy &c)
  {
    if (chance(40)) return cudaMemcpyDefault;
    const bool from = host_kind(places[c.src.place].kind), to = host_kind(places[c.dst.place].kind);
    if (places[c.src.place].kind == MANAGED || places[c.dst.place].kind == MANAGED) return cudaMemcpyDefault;
    return from ? to ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice : to ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
  }
  uint8_t *pointer(const View &v) { return places[v.place].at + v.base; }
  uint8_t *first(const View &v) { return places[v.place].at + byte_of(v, 0, 0); }
  bool is_array(const View &v) { return places[v.place].kind == ARRAY; }
  static bool linear(const Place &p) { return p.kind != ARRAY; }

  // Both ends on the host: that this waits for earlier work nobody promises.
  void before(const Copy &c)
  {
    if (gpus > 1 || (host_kind(places[c.src.place].kind) && host_kind(places[c.dst.place].kind))) settle();
    CUDA(cudaSetDevice(gpu_of(c)));
  }
  void tell(const char *how, const Copy &c)
  {
    static const char *const names[] = {"pageable", "pinned", "managed", "device", "pitched", "array"};
    if (!talks) return;
    printf("%s: box %zu x %zu x %zu, elements of %u", how, c.bytes, c.rows, c.slices, c.element);
    for (const View *v : {&c.dst, &c.src}) {
      const Place &p = places[v->place];
      printf("%s%d %s", v == &c.src ? " <- " : "; ", v->place, names[p.kind]);
      if (p.kind == ARRAY) printf(" (%zu x %zu x %zu of %u)", p.w, p.h, p.d, p.element);
      else printf(" + %zu by %zu by %zu", v->base, v->pitch, v->rows);
      printf(" at %zu %zu %zu", v->x, v->y, v->z);
    }
    puts(""), fflush(stdout);
  }
  void tell(const char *how, const Fill &f)
  {
    if (!talks) return;
    printf("%s: %zu x %zu x %zu of %u bytes with %x; %d + %zu by %zu by %zu\n", how, f.width, f.rows, f.slices, f.element, f.value, f.dst.place, f.dst.base,
           f.dst.pitch, f.dst.rows);
    fflush(stdout);
  }

  // The functions of the runtime.

  void runtime_1d(const Copy &c, cudaStream_t s)
  {
    const cudaMemcpyKind kind = direction(c);
    if (s) CUDA(cudaMemcpyAsync(first(c.dst), first(c.src), c.bytes, kind, s));
    else CUDA(cudaMemcpy(first(c.dst), first(c.src), c.bytes, kind));
  }
  void runtime_2d(const Copy &c, cudaStream_t s)
  {
    const cudaMemcpyKind kind = direction(c);
    uint8_t *to = is_array(c.dst) ? nullptr : first(c.dst), *from = is_array(c.src) ? nullptr : first(c.src);
    cudaArray_t dst = places[c.dst.place].array, src = places[c.src.place].array;
    const size_t w = c.bytes, h = c.rows, dp = c.dst.pitch, sp = c.src.pitch, dx = c.dst.x, dy = c.dst.y, sx = c.src.x, sy = c.src.y;
    if (src && dst) CUDA(cudaMemcpy2DArrayToArray(dst, dx, dy, src, sx, sy, w, h, kind));
    else if (dst && s) CUDA(cudaMemcpy2DToArrayAsync(dst, dx, dy, from, sp, w, h, kind, s));
    else if (dst) CUDA(cudaMemcpy2DToArray(dst, dx, dy, from, sp, w, h, kind));
    else if (src && s) CUDA(cudaMemcpy2DFromArrayAsync(to, dp, src, sx, sy, w, h, kind, s));
    else if (src) CUDA(cudaMemcpy2DFromArray(to, dp, src, sx, sy, w, h, kind));
    else if (s) CUDA(cudaMemcpy2DAsync(to, dp, from, sp, w, h, kind, s));
    else CUDA(cudaMemcpy2D(to, dp, from, sp, w, h, kind));
  }
  cudaPitchedPtr pitched(const View &v) { return make_cudaPitchedPtr(pointer(v), v.pitch, v.pitch, v.rows); }
  cudaPos position(const View &v) { return make_cudaPos(v.x / places[v.place].element, v.y, v.z); }
  // Elements of the array that takes part, else bytes.
  cudaExtent extent(const Copy &c) { return make_cudaExtent(c.bytes / c.element, c.rows, c.slices); }
  cudaMemcpy3DParms parameters(const Copy &c)
  {
    cudaMemcpy3DParms p = {};
    if (is_array(c.src)) p.srcArray = places[c.src.place].array;
    else p.srcPtr = pitched(c.src);
    if (is_array(c.dst)) p.dstArray = places[c.dst.place].array;
    else p.dstPtr = pitched(c.dst);
    p.srcPos = position(c.src), p.dstPos = position(c.dst), p.extent = extent(c), p.kind = direction(c);
    return p;
  }
  void runtime_3d(const Copy &c, cudaStream_t s)
  {
    const cudaMemcpy3DParms p = parameters(c);
    if (s) CUDA(cudaMemcpy3DAsync(&p, s));
    else CUDA(cudaMemcpy3D(&p));
  }
  void peer_3d(const Copy &c, cudaStream_t s)
  {
    const cudaMemcpy3DParms p = parameters(c);
    cudaMemcpy3DPeerParms q = {};
    q.srcArray = p.srcArray, q.srcPos = p.srcPos, q.srcPtr = p.srcPtr, q.srcDevice = places[c.src.place].gpu;
    q.dstArray = p.dstArray, q.dstPos = p.dstPos, q.dstPtr = p.dstPtr, q.dstDevice = places[c.dst.place].gpu, q.extent = p.extent;
    if (s) CUDA(cudaMemcpy3DPeerAsync(&q, s));
    else CUDA(cudaMemcpy3DPeer(&q));
  }
  void peer_1d(const Copy &c, cudaStream_t s)
  {
    const int to = places[c.dst.place].gpu, from = places[c.src.place].gpu;
    if (s) CUDA(cudaMemcpyPeerAsync(first(c.dst), to, first(c.src), from, c.bytes, s));
    else CUDA(cudaMemcpyPeer(first(c.dst), to, first(c.src), from, c.bytes));
  }

  // So many bytes of an array's rows one after the other, from byte x of row y.
  void run_of_array(cudaStream_t s)
  {
    const bool to_array = chance(50);
    if (chance(30)) return run_between_arrays();
    const int a = pick([](const Place &p) { return p.flat; });
    const Place &array = places[a];
    const size_t all = array.w * array.h, at = below(all), elements = 1 + below(all - at), bytes = elements * array.element, row = array.w * array.element;
    const int l = pick([&](const Place &p) { return p.kind != ARRAY && p.model.size() >= bytes && (p.gpu == array.gpu || host_kind(p.kind)); });
    const size_t base = below(places[l].model.size() - bytes + 1), x = at % array.w * array.element, y = at / array.w;
    Copy c = {{a, 0, 0, 0, x, y, 0}, {l, base, bytes, 1, 0, 0, 0}, bytes, 1, 1, array.element};
    if (to_array) std::swap(c.src, c.dst);
    before(c);
    tell("run of an array", c);
    const cudaMemcpyKind kind = direction(c);
    uint8_t *p = places[l].at + base;
    if (to_array && s) CUDA(cudaMemcpyToArrayAsync(array.array, x, y, p, bytes, kind, s));
    else if (to_array) CUDA(cudaMemcpyToArray(array.array, x, y, p, bytes, kind));
    else if (s) CUDA(cudaMemcpyFromArrayAsync(p, array.array, x, y, bytes, kind, s));
    else CUDA(cudaMemcpyFromArray(p, array.array, x, y, bytes, kind));
    uint8_t *in_array = &places[a].model[y * row + x], *in_memory = &places[l].model[base];
    memcpy(to_array ? in_array : in_memory, to_array ? in_memory : in_array, bytes);
  }

  void run_between_arrays()
  {
    const int d = pick([](const Place &p) { return p.flat; }), f = pick([&](const Place &p) { return p.flat && p.gpu == places[d].gpu && p.element == places[d].element; });
    if (d == f) return;
    const size_t e = places[d].element, to = below(places[d].model.size() / e), from = below(places[f].model.size() / e);
    const size_t n = 1 + below(std::min(places[d].model.size() / e - to, places[f].model.size() / e - from)), dw = places[d].w, fw = places[f].w;
    const Copy c = {{f, 0, 0, 0, from % fw * e, from / fw, 0}, {d, 0, 0, 0, to % dw * e, to / dw, 0}, n * e, 1, 1, (unsigned)e};
    before(c);
    tell("run between arrays", c);
    CUDA(cudaMemcpyArrayToArray(places[d].array, c.dst.x, c.dst.y, places[f].array, c.src.x, c.src.y, c.bytes, direction(c)));
    memcpy(&places[d].model[to * e], &places[f].model[from * e], c.bytes);
  }

  // The functions of the driver.

  CUmemorytype type(const View &v)
  {
    const Kind kind = places[v.place].kind;
    if (kind == ARRAY) return CU_MEMORYTYPE_ARRAY;
    if (kind == MANAGED || chance(30)) return CU_MEMORYTYPE_UNIFIED;
    return host_kind(kind) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  }
  template <class Parameters> void driver_source(Parameters &p, const View &v)
  {
    p.srcMemoryType = type(v), p.srcXInBytes = v.x, p.srcY = v.y, p.srcPitch = v.pitch;
    if (p.srcMemoryType == CU_MEMORYTYPE_ARRAY) p.srcArray = (CUarray)places[v.place].array;
    else if (p.srcMemoryType == CU_MEMORYTYPE_HOST) p.srcHost = pointer(v);
    else p.srcDevice = (CUdeviceptr)pointer(v);
  }
  template <class Parameters> void driver_destination(Parameters &p, const View &v)
  {
    p.dstMemoryType = type(v), p.dstXInBytes = v.x, p.dstY = v.y, p.dstPitch = v.pitch;
    if (p.dstMemoryType == CU_MEMORYTYPE_ARRAY) p.dstArray = (CUarray)places[v.place].array;
    else if (p.dstMemoryType == CU_MEMORYTYPE_HOST) p.dstHost = pointer(v);
    else p.dstDevice = (CUdeviceptr)pointer(v);
  }
  void driver_2d(const Copy &c, cudaStream_t s)
  {
    CUDA_MEMCPY2D p = {};
    driver_source(p, c.src), driver_destination(p, c.dst);
    p.WidthInBytes = c.bytes, p.Height = c.rows;
    if (s) DRIVER(cuMemcpy2DAsync(&p, s));
    else if (chance(50)) DRIVER(cuMemcpy2DUnaligned(&p));
    else DRIVER(cuMemcpy2D(&p));
  }
  template <class Parameters> Parameters driver_3d_parameters(const Copy &c)
  {
    Parameters p = {};
    driver_source(p, c.src), driver_destination(p, c.dst);
    p.srcZ = c.src.z, p.srcHeight = c.src.rows, p.dstZ = c.dst.z, p.dstHeight = c.dst.rows;
    p.WidthInBytes = c.bytes, p.Height = c.rows, p.Depth = c.slices;
    return p;
  }
  void driver_3d(const Copy &c, cudaStream_t s)
  {
    const CUDA_MEMCPY3D p = driver_3d_parameters<CUDA_MEMCPY3D>(c);
    if (s) DRIVER(cuMemcpy3DAsync(&p, s));
    else DRIVER(cuMemcpy3D(&p));
  }
  void driver_peer(const Copy &c, cudaStream_t s)
  {
    CUDA_MEMCPY3D_PEER p = driver_3d_parameters<CUDA_MEMCPY3D_PEER>(c);
    DRIVER(cuDevicePrimaryCtxRetain(&p.srcContext, places[c.src.place].gpu));
    DRIVER(cuDevicePrimaryCtxRetain(&p.dstContext, places[c.dst.place].gpu));
    if (s) DRIVER(cuMemcpy3DPeerAsync(&p, s));
    else DRIVER(cuMemcpy3DPeer(&p));
    DRIVER(cuDevicePrimaryCtxRelease(places[c.src.place].gpu));
    DRIVER(cuDevicePrimaryCtxRelease(places[c.dst.place].gpu));
  }
  // The first row alone: of arrays of one dimension.
  void driver_1d(const Copy &c, cudaStream_t s)
  {
    const Place &d = places[c.dst.place], &from = places[c.src.place];
    CUarray to = (CUarray)d.array, src = (CUarray)from.array;
    const size_t n = c.bytes;
    if (to && src) DRIVER(cuMemcpyAtoA(to, c.dst.x, src, c.src.x, n));
    else if (to && host_kind(from.kind) && s) DRIVER(cuMemcpyHtoAAsync(to, c.dst.x, first(c.src), n, s));
    else if (to && host_kind(from.kind)) DRIVER(cuMemcpyHtoA(to, c.dst.x, first(c.src), n));
    else if (to) DRIVER(cuMemcpyDtoA(to, c.dst.x, (CUdeviceptr)first(c.src), n));
    else if (src && host_kind(d.kind) && s) DRIVER(cuMemcpyAtoHAsync(first(c.dst), src, c.src.x, n, s));
    else if (src && host_kind(d.kind)) DRIVER(cuMemcpyAtoH(first(c.dst), src, c.src.x, n));
    else if (src) DRIVER(cuMemcpyAtoD((CUdeviceptr)first(c.dst), src, c.src.x, n));
    else if (s) DRIVER(cuMemcpyAsync((CUdeviceptr)first(c.dst), (CUdeviceptr)first(c.src), n, s));
    else DRIVER(cuMemcpy((CUdeviceptr)first(c.dst), (CUdeviceptr)first(c.src), n));
  }

  // Batches: no copy meets another's memory, as their order is open.
  std::vector<Copy> draw_batch(int dimensions)
  {
    std::vector<Copy> batch;
    std::vector<bool> taken(places.size());
    for (unsigned n = 1 + below(4), tries = 0; batch.size() < n && tries < 100; tries++) {
      const Copy c = draw(dimensions, [&](const Place &p) { return dimensions == 3 || linear(p); }, false);
      if (taken[c.src.place] || taken[c.dst.place]) continue;
      taken[c.src.place] = taken[c.dst.place] = true;
      batch.push_back(c);
    }
    return batch;
  }
  void batch_1d(cudaStream_t s)
  {
    const std::vector<Copy> batch = draw_batch(1);
    std::vector<void *> to;
    std::vector<const void *> from;
    std::vector<size_t> sizes;
    for (const Copy &c : batch) before(c), tell("in a batch", c), to.push_back(first(c.dst)), from.push_back(first(c.src)), sizes.push_back(c.bytes);
    cudaMemcpyAttributes how[2] = {};
    how[0].srcAccessOrder = how[1].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    size_t begins[2] = {0, batch.size() - 1};
    CUDA(cudaMemcpyBatchAsync(to.data(), from.data(), sizes.data(), batch.size(), how, begins, batch.size() > 1 ? 2 : 1, s));
    for (const Copy &c : batch) copy(c);
    settle();
  }
  cudaMemcpy3DOperand operand(const View &v, const Copy &c)
  {
    cudaMemcpy3DOperand o = {};
    const Place &p = places[v.place];
    o.type = p.kind == ARRAY ? cudaMemcpyOperandTypeArray : cudaMemcpyOperandTypePointer;
    if (p.kind == ARRAY) o.op.array.array = p.array, o.op.array.offset = {v.x / p.element, v.y, v.z};
    else o.op.ptr.ptr = first(v), o.op.ptr.rowLength = v.pitch / c.element, o.op.ptr.layerHeight = v.rows;
    return o;
  }
  void batch_3d(cudaStream_t s)
  {
    std::vector<Copy> batch = draw_batch(3);
    std::vector<cudaMemcpy3DBatchOp> ops;
    for (Copy &c : batch) {
      for (View *v : {&c.src, &c.dst}) // rows have whole elements here
        if (!is_array(*v)) v->pitch -= v->pitch % c.element, v->x = 0;
      before(c), tell("in a batch", c);
      cudaMemcpy3DBatchOp o = {};
      o.src = operand(c.src, c), o.dst = operand(c.dst, c), o.extent = extent(c), o.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
      ops.push_back(o);
    }
    CUDA(cudaMemcpy3DBatchAsync(ops.size(), ops.data(), 0, s));
    for (const Copy &c : batch) copy(c);
    settle();
  }

  // Fills.

  void runtime_fill(const Fill &f, int dimensions, cudaStream_t s)
  {
    uint8_t *p = first(f.dst);
    const cudaExtent e = make_cudaExtent(f.width, f.rows, f.slices);
    const int v = (int)f.value;
    if (dimensions == 1 && s) CUDA(cudaMemsetAsync(p, v, f.width, s));
    else if (dimensions == 1) CUDA(cudaMemset(p, v, f.width));
    else if (dimensions == 2 && s) CUDA(cudaMemset2DAsync(p, f.dst.pitch, v, f.width, f.rows, s));
    else if (dimensions == 2) CUDA(cudaMemset2D(p, f.dst.pitch, v, f.width, f.rows));
    else if (s) CUDA(cudaMemset3DAsync(pitched(f.dst), v, e, s));
    else CUDA(cudaMemset3D(pitched(f.dst), v, e));
  }
  void driver_fill(const Fill &f, int dimensions, cudaStream_t s)
  {
    const CUdeviceptr p = (CUdeviceptr)first(f.dst);
    const unsigned char b = (unsigned char)f.value;
    const unsigned short h = (unsigned short)f.value;
    const size_t n = f.width, pitch = f.dst.pitch;
    if (dimensions == 1 && f.element == 1) DRIVER(s ? cuMemsetD8Async(p, b, n, s) : cuMemsetD8(p, b, n));
    else if (dimensions == 1 && f.element == 2) DRIVER(s ? cuMemsetD16Async(p, h, n, s) : cuMemsetD16(p, h, n));
    else if (dimensions == 1) DRIVER(s ? cuMemsetD32Async(p, f.value, n, s) : cuMemsetD32(p, f.value, n));
    else if (f.element == 1) DRIVER(s ? cuMemsetD2D8Async(p, pitch, b, n, f.rows, s) : cuMemsetD2D8(p, pitch, b, n, f.rows));
    else if (f.element == 2) DRIVER(s ? cuMemsetD2D16Async(p, pitch, h, n, f.rows, s) : cuMemsetD2D16(p, pitch, h, n, f.rows));
    else DRIVER(s ? cuMemsetD2D32Async(p, pitch, f.value, n, f.rows, s) : cuMemsetD2D32(p, pitch, f.value, n, f.rows));
  }
  void any_fill()
  {
    const bool driver = chance(50);
    const int dimensions = 1 + (int)below(driver ? 2 : 3);
    const Fill f = draw_fill(dimensions, driver ? 1u << below(3) : 1);
    if (gpus > 1) settle();
    CUDA(cudaSetDevice(places[f.dst.place].gpu));
    const cudaStream_t s = chance(50) ? stream[places[f.dst.place].gpu] : nullptr;
    tell(driver ? "fill by the driver" : "fill", f);
    driver ? driver_fill(f, dimensions, s) : runtime_fill(f, dimensions, s);
    fill(f);
  }

  // Graphs: a chain of nodes on GPU 0.

  struct Node {
    bool fills, plain; // plain: one dimension, whose parameters an executable graph takes anew
    Copy c;
    Fill f;
    cudaGraphNode_t node;
  };
  cudaMemsetParams fill_parameters(const Fill &f)
  {
    cudaMemsetParams p = {};
    p.dst = first(f.dst), p.pitch = f.dst.pitch, p.value = f.element == 4 ? f.value : f.value & ((1u << 8 * f.element) - 1), p.elementSize = f.element;
    p.width = f.width, p.height = f.rows;
    return p;
  }
  void draw_node(Node &n, bool plain, bool fills)
  {
    n.plain = plain, n.fills = fills;
    auto here = [&](const Place &p) { return p.gpu == 0 && (!plain || linear(p)); };
    if (!fills) n.c = draw(plain ? 1 : 3, here, false);
    else
      do n.f = draw_fill(plain ? 1 : 2, 1u << below(3));
      while (places[n.f.dst.place].gpu);
    fills ? tell("node", n.f) : tell("node", n.c);
  }
  cudaGraphExec_t launch(cudaGraph_t graph, const std::vector<Node> &nodes)
  {
    cudaGraphExec_t exec;
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    launch_again(exec, nodes);
    return exec;
  }
  void launch_again(cudaGraphExec_t exec, const std::vector<Node> &nodes)
  {
    settle(); // and again behind it: the host's memory is read and written when the graph runs
    CUDA(cudaGraphLaunch(exec, stream[0]));
    settle();
    for (const Node &n : nodes) n.fills ? fill(n.f) : copy(n.c);
  }
  void built_graph()
  {
    std::vector<Node> nodes(1 + below(5));
    cudaGraph_t graph;
    settle();
    CUDA(cudaGraphCreate(&graph, 0));
    for (Node &n : nodes) {
      draw_node(n, chance(50), chance(30));
      const cudaGraphNode_t *behind = &n == &nodes[0] ? nullptr : &(&n - 1)->node;
      add_node(graph, n, behind);
    }
    const cudaGraphExec_t exec = launch(graph, nodes);
    if (talks) puts("parameters of the executable graph");
    for (Node &n : nodes)
      if (n.plain) change_in(exec, n);
    launch_again(exec, nodes);
    CUDA(cudaGraphExecDestroy(exec));
    if (talks) puts("parameters of the graph");
    for (Node &n : nodes)
      if (chance(50)) change(n);
    CUDA(cudaGraphExecDestroy(launch(graph, nodes)));
    CUDA(cudaGraphDestroy(graph));
  }
  void add_node(cudaGraph_t graph, Node &n, const cudaGraphNode_t *behind)
  {
    const size_t count = behind != nullptr;
    if (n.fills) {
      const cudaMemsetParams p = fill_parameters(n.f);
      CUDA(cudaGraphAddMemsetNode(&n.node, graph, behind, count, &p));
    } else if (n.plain && chance(50)) {
      CUDA(cudaGraphAddMemcpyNode1D(&n.node, graph, behind, count, first(n.c.dst), first(n.c.src), n.c.bytes, cudaMemcpyDefault));
    } else {
      const cudaMemcpy3DParms p = parameters(n.c);
      CUDA(cudaGraphAddMemcpyNode(&n.node, graph, behind, count, &p));
    }
  }
  // In an executable graph a copy stays between the same pieces of memory, a fill in the same.
  void change_in(cudaGraphExec_t exec, Node &n)
  {
    const Node old = n;
    do draw_node(n, true, n.fills);
    while (n.fills ? n.f.dst.place != old.f.dst.place || n.f.element != old.f.element : n.c.src.place != old.c.src.place || n.c.dst.place != old.c.dst.place);
    if (n.fills) {
      const cudaMemsetParams p = fill_parameters(n.f);
      CUDA(cudaGraphExecMemsetNodeSetParams(exec, n.node, &p));
    } else if (chance(50)) {
      CUDA(cudaGraphExecMemcpyNodeSetParams1D(exec, n.node, first(n.c.dst), first(n.c.src), n.c.bytes, cudaMemcpyDefault));
    } else {
      const cudaMemcpy3DParms p = parameters(n.c);
      CUDA(cudaGraphExecMemcpyNodeSetParams(exec, n.node, &p));
    }
    // The graph itself has kept the old parameters; it is launched again below.
    set_in_graph(n);
  }
  void set_in_graph(Node &n)
  {
    if (n.fills) {
      const cudaMemsetParams p = fill_parameters(n.f);
      CUDA(cudaGraphMemsetNodeSetParams(n.node, &p));
    } else {
      const cudaMemcpy3DParms p = parameters(n.c);
      CUDA(cudaGraphMemcpyNodeSetParams(n.node, &p));
    }
  }
  void change(Node &n)
  {
    draw_node(n, chance(50), n.fills);
    set_in_graph(n);
  }
  void captured_graph()
  {
    std::vector<Node> nodes(1 + below(5));
    cudaGraph_t graph;
    settle();
    CUDA(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeThreadLocal));
    for (Node &n : nodes) {
      const int dimensions = 1 + (int)below(3);
      n.fills = chance(30);
      if (n.fills) {
        const bool driver = dimensions < 3 && chance(50);
        do n.f = draw_fill(dimensions, driver ? 1u << below(3) : 1);
        while (places[n.f.dst.place].gpu);
        tell("captured", n.f);
        driver ? driver_fill(n.f, dimensions, stream[0]) : runtime_fill(n.f, dimensions, stream[0]);
      } else {
        n.c = draw(dimensions, [&](const Place &p) { return p.gpu == 0 && p.kind != PAGEABLE && (dimensions == 3 || linear(p) || (dimensions == 2 && p.flat)); });
        if (dimensions == 2 && is_array(n.c.src) && is_array(n.c.dst)) n.c.bytes = 0;
        if (!n.c.bytes || !n.c.rows || !n.c.slices) continue;
        tell("captured", n.c);
        any_copy(n.c, dimensions, stream[0]);
      }
    }
    CUDA(cudaStreamEndCapture(stream[0], &graph));
    cudaGraphExec_t exec = launch(graph, nodes);
    launch_again(exec, nodes);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
  }

  void any_copy(const Copy &c, int dimensions, cudaStream_t s)
  {
    const bool driver = chance(50);
    if (dimensions == 1) driver ? driver_1d(c, s) : runtime_1d(c, s);
    else if (dimensions == 2) driver ? driver_2d(c, s) : runtime_2d(c, s);
    else driver ? driver_3d(c, s) : runtime_3d(c, s);
  }
  void plain_copy(int dimensions)
  {
    const Copy c = draw(dimensions, [&](const Place &p) { return dimensions == 3 || linear(p) || (dimensions == 2 && p.flat); });
    before(c);
    const cudaStream_t s = chance(50) ? stream[gpu_of(c)] : nullptr;
    tell(s ? "copy in a stream" : "copy", c);
    any_copy(c, dimensions, s);
    copy(c);
  }
  void row_copy()
  {
    const Copy c = draw(1, [](const Place &p) { return linear(p) || (p.flat && p.h == 1); });
    before(c);
    const cudaStream_t s = chance(50) ? stream[gpu_of(c)] : nullptr;
    tell("row", c);
    driver_1d(c, s);
    copy(c);
  }
  void peer_copy()
  {
    const int dimensions = chance(30) ? 1 : 3;
    local_only = false;
    const Copy c = draw(dimensions, [&](const Place &p) { return !host_kind(p.kind) && (dimensions == 3 || linear(p)); });
    local_only = true;
    before(c);
    const cudaStream_t s = chance(50) ? stream[gpu_of(c)] : nullptr;
    tell("between peers", c);
    if (dimensions == 1) peer_1d(c, s);
    else chance(50) ? peer_3d(c, s) : driver_peer(c, s);
    copy(c);
  }

  // Boxes that the manuals forbid: an error, and nothing is copied.

  void refused()
  {
    auto any = [](const Place &) { return true; };
    Copy c = draw(3, any, false);
    while (!is_array(c.src) && !is_array(c.dst)) c = draw(3, any, false);
    View &v = is_array(c.dst) ? c.dst : c.src;
    const Place &p = places[v.place];
    before(c);
    const unsigned what = below(3);
    if (what == 0) c.bytes = p.w * p.element - v.x + c.element;
    else if (what == 1) c.rows = p.h - v.y + 1;
    else c.slices = p.d - v.z + 1;
    View &o = is_array(c.dst) ? c.src : c.dst;
    if (!is_array(o)) o.pitch = o.x + c.bytes, o.rows = o.y + c.rows;
    const cudaStream_t s = chance(50) ? stream[gpu_of(c)] : nullptr;
    tell("beyond an array", c);
    const cudaMemcpy3DParms q = parameters(c);
    const CUDA_MEMCPY3D d = driver_3d_parameters<CUDA_MEMCPY3D>(c);
    if (chance(50)) CHECK((s ? cudaMemcpy3DAsync(&q, s) : cudaMemcpy3D(&q)) == cudaErrorInvalidValue);
    else CHECK((s ? cuMemcpy3DAsync(&d, s) : cuMemcpy3D(&d)) == CUDA_ERROR_INVALID_VALUE);
    cudaGetLastError();
    cudaGraph_t graph;
    cudaGraphNode_t node;
    CUDA(cudaGraphCreate(&graph, 0));
    if (p.gpu == 0) CHECK(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &q) == cudaErrorInvalidValue);
    CUDA(cudaGraphDestroy(graph));
    cudaGetLastError();
  }
  void refused_plane()
  {
    Copy c = draw(2, [](const Place &p) { return linear(p) || p.flat; }, false);
    before(c);
    const cudaMemcpyKind kind = cudaMemcpyDefault;
    cudaArray_t to = places[c.dst.place].array, from = places[c.src.place].array;
    tell("no such plane", c);
    if (!to && !from) {
      if (c.rows < 2 || c.bytes < 2) return;
      const bool first_short = chance(50);
      const size_t d = first_short ? c.bytes - 1 : c.dst.pitch, s = first_short ? c.src.pitch : c.bytes - 1;
      CHECK(cudaMemcpy2D(first(c.dst), d, first(c.src), s, c.bytes, c.rows, kind) == cudaErrorInvalidPitchValue);
      (first_short ? c.dst : c.src).pitch = c.bytes - 1;
      const CUDA_MEMCPY3D p = driver_3d_parameters<CUDA_MEMCPY3D>(c);
      CHECK(cuMemcpy3D(&p) == CUDA_ERROR_INVALID_VALUE);
      cudaMemcpy3DBatchOp o = {};
      o.src = operand(c.src, c), o.dst = operand(c.dst, c), o.extent = extent(c), o.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
      CHECK(cudaMemcpy3DBatchAsync(1, &o, 0, stream[gpu_of(c)]) == cudaErrorInvalidValue);
    } else if (to && from) {
      const size_t odd = c.element > 1 ? 1 : places[c.dst.place].w;
      CHECK(cudaMemcpy2DArrayToArray(to, c.dst.x + odd, c.dst.y, from, c.src.x, c.src.y, c.bytes, c.rows, kind) == cudaErrorInvalidValue);
    } else if (to) {
      const size_t odd = c.element > 1 ? 1 : places[c.dst.place].w;
      CHECK(cudaMemcpy2DToArray(to, c.dst.x + odd, c.dst.y, first(c.src), c.src.pitch + odd, c.bytes, c.rows, kind) == cudaErrorInvalidValue);
    } else {
      CHECK(cudaMemcpy2DFromArray(first(c.dst), c.dst.pitch, from, c.src.x, c.src.y + places[c.src.place].h, c.bytes, c.rows, kind) == cudaErrorInvalidValue);
    }
    cudaGetLastError();
  }
  // Two sources, or elements of two sizes.
  void refused_parameters()
  {
    const int a = pick([](const Place &p) { return p.kind == ARRAY; }), b = pick([](const Place &p) { return p.kind == ARRAY; });
    const int l = pick([&](const Place &p) { return p.kind == DEVICE && p.gpu == places[a].gpu; });
    if (places[a].gpu != places[b].gpu) return;
    settle();
    CUDA(cudaSetDevice(places[a].gpu));
    cudaMemcpy3DParms p = {};
    p.dstArray = places[a].array, p.extent = make_cudaExtent(1, 1, 1), p.kind = cudaMemcpyDefault;
    if (places[a].element != places[b].element) {
      p.srcArray = places[b].array;
      CHECK(cudaMemcpy3D(&p) == cudaErrorInvalidValue);
      CHECK(cuMemcpyAtoA((CUarray)places[a].array, 0, (CUarray)places[b].array, 0, 16) == CUDA_ERROR_INVALID_VALUE);
      cudaMemcpy3DBatchOp o = {};
      o.src.type = o.dst.type = cudaMemcpyOperandTypeArray, o.src.op.array.array = places[b].array, o.dst.op.array.array = places[a].array;
      o.extent = p.extent, o.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
      CHECK(cudaMemcpy3DBatchAsync(1, &o, 0, stream[places[a].gpu]) == cudaErrorInvalidValue);
      cudaGetLastError();
    }
    p.srcArray = places[a].array, p.srcPtr = make_cudaPitchedPtr(places[l].at, 64, 64, 1);
    CHECK(cudaMemcpy3D(&p) == cudaErrorInvalidValue);
    cudaGetLastError();
  }

  void step()
  {
    const unsigned what = below(100);
    const cudaStream_t s = chance(50) && gpus == 1 ? stream[0] : nullptr;
    if (what < 12) plain_copy(1);
    else if (what < 32) plain_copy(2);
    else if (what < 55) plain_copy(3);
    else if (what < 60) row_copy();
    else if (what < 66) run_of_array(s);
    else if (what < 70) batch_1d(stream[0]);
    else if (what < 74) batch_3d(stream[0]);
    else if (what < 78) peer_copy();
    else if (what < 87) any_fill();
    else if (what < 88) refused();
    else if (what < 89) refused_plane();
    else if (what < 90) refused_parameters();
    else if (what < 95) built_graph();
    else captured_graph();
  }

  void compare()
  {
    settle();
    for (size_t i = 0; i < places.size(); i++) {
      const Place &p = places[i];
      std::vector<uint8_t> here(p.model.size());
      if (p.kind == ARRAY) whole_array(p, here.data(), false);
      else if (p.kind == DEVICE || p.kind == PITCHED) CUDA(cudaMemcpy(here.data(), p.at, here.size(), cudaMemcpyDeviceToHost));
      else memcpy(here.data(), p.at, here.size());
      for (size_t k = 0; k < here.size(); k++)
        if (here[k] != p.model[k]) {
          printf("place %zu, byte %zu: %02x, expected %02x\n", i, k, here[k], p.model[k]);
          exit(1);
        }
    }
  }

  void finish()
  {
    size_t levels = 0;
    for (const Place &p : places) {
      CUDA(cudaSetDevice(p.gpu));
      if (p.kind == PAGEABLE) free(p.at);
      else if (p.kind == PINNED) CUDA(cudaFreeHost(p.at));
      else if (p.kind != ARRAY) CUDA(cudaFree(p.at));
      else if (!is_level(p)) CUDA(cudaFreeArray(p.array));
      else levels++;
    }
    CHECK(levels >= mipmaps.size());
    for (cudaMipmappedArray_t m : mipmaps) CUDA(cudaFreeMipmappedArray(m));
    for (int g = 0; g < gpus; g++) CUDA(cudaStreamDestroy(stream[g]));
  }
  bool is_level(const Place &p)
  {
    for (cudaMipmappedArray_t m : mipmaps)
      for (unsigned level = 0; level < 3; level++) {
        cudaArray_t array;
        CUDA(cudaGetMipmappedArrayLevel(&array, m, level));
        if (array == p.array) return true;
      }
    return false;
  }
};

int main(int argc, char **argv)
{
  const unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 1, programs = argc > 2 ? (unsigned)atoi(argv[2]) : 12;
  const unsigned operations = argc > 3 ? (unsigned)atoi(argv[3]) : 60;
  const int gpus = gpus_that_reach();
  talks = argc > 4;
  for (unsigned seed = first; seed < first + programs; seed++) {
    printf("seed %u\n", seed), fflush(stdout);
    Program(seed, gpus).run(operations);
  }
  printf("%u programs right\n", programs);
}
