/* Plans of libcufft: how they are made, sized, given a stream and memory, and destroyed. */
#include <limits.h>
#include <stdio.h>

#include "libs/cufft/fft_plans.h"

enum { MOST_ELEMENTS_BITS = 40 };

fft_status fft_refuse(const char *function, const char *why)
{
  fprintf(stderr, "warpstep: %s: warpstep's own cuFFT does not have %s (docs/libraries.md)\n", function, why);
  return FFT_NOT_SUPPORTED;
}

int64_t fft_extent(const struct fft_plan *p, int d)
{
  return d == p->rank - 1 && p->in.real != p->out.real ? p->n[d] / 2 + 1 : p->n[d];
}

/* What a transform is asked to be. */
struct request {
  int rank;
  int64_t n[FFT_RANKS], batch;
  const int64_t *inembed, *onembed; /* NULL: the basic layout */
  int64_t istride, idist, ostride, odist;
  int in, out, execution; /* cudaDataType */
};

static const struct {
  int type, in, out, execution;
} types[] = {{FFT_C2C, DATA_COMPLEX_F32, DATA_COMPLEX_F32, DATA_COMPLEX_F32},
             {FFT_R2C, DATA_REAL_F32, DATA_COMPLEX_F32, DATA_COMPLEX_F32},
             {FFT_C2R, DATA_COMPLEX_F32, DATA_REAL_F32, DATA_COMPLEX_F32},
             {FFT_Z2Z, DATA_COMPLEX_F64, DATA_COMPLEX_F64, DATA_COMPLEX_F64},
             {FFT_D2Z, DATA_REAL_F64, DATA_COMPLEX_F64, DATA_COMPLEX_F64},
             {FFT_Z2D, DATA_COMPLEX_F64, DATA_REAL_F64, DATA_COMPLEX_F64}};

static void by_type(struct request *r, int type)
{
  r->in = r->out = r->execution = -1;
  for (unsigned i = 0; i < sizeof types / sizeof types[0]; i++)
    if (types[i].type == type) r->in = types[i].in, r->out = types[i].out, r->execution = types[i].execution;
}

/* The cufftType that is the same, whose functions run such a plan, too; 0: none. */
static int type_of(const struct request *r)
{
  for (unsigned i = 0; i < sizeof types / sizeof types[0]; i++)
    if (types[i].in == r->in && types[i].out == r->out) return types[i].type;
  return 0;
}

/* What a cudaDataType means; false: it is none of ours. */
static bool component(int data, struct fft_layout *l)
{
  l->real = data == DATA_REAL_F32 || data == DATA_REAL_F64 || data == DATA_REAL_F16 || data == DATA_REAL_BF16;
  switch (data) {
  case DATA_REAL_F32: case DATA_COMPLEX_F32: l->type = WS_F32; return true;
  case DATA_REAL_F64: case DATA_COMPLEX_F64: l->type = WS_F64; return true;
  case DATA_REAL_F16: case DATA_COMPLEX_F16: l->type = WS_F16; return true;
  case DATA_REAL_BF16: case DATA_COMPLEX_BF16: l->type = WS_BF16; return true;
  default: return false;
  }
}

static fft_status set_types(struct fft_plan *p, const struct request *r)
{
  struct fft_layout execution;
  if (!component(r->in, &p->in) || !component(r->out, &p->out) || !component(r->execution, &execution))
    return FFT_INVALID_TYPE;
  if (p->in.type != p->out.type || execution.type != p->in.type || (p->in.real && p->out.real))
    return FFT_INVALID_TYPE;
  if (execution.real && !p->in.real) /* the reference lists complex ones; nvmath names the input's, also a real one */
    return FFT_INVALID_TYPE;
  p->type = type_of(r);
  return FFT_SUCCESS;
}

static fft_status set_sizes(struct fft_plan *p, const struct request *r)
{
  int64_t all = r->batch;
  if (r->rank < 1 || r->rank > FFT_RANKS) return FFT_INVALID_VALUE;
  if (r->batch < 1 || r->batch > INT_MAX) return FFT_INVALID_SIZE;
  p->rank = r->rank;
  p->batch = r->batch;
  for (int d = 0; d < r->rank; d++) {
    if (r->n[d] < 1 || r->n[d] > (INT64_C(1) << MOST_ELEMENTS_BITS) / all) return FFT_INVALID_SIZE;
    p->n[d] = r->n[d];
    all *= r->n[d];
  }
  return FFT_SUCCESS;
}

/* Strides of a side with gaps: input[b * dist + ((x * embed[1] + y) * embed[2] + z) * stride]. */
static fft_status set_layout(struct fft_layout *l, int rank, const int64_t *embed, int64_t stride, int64_t dist)
{
  const int64_t most = INT64_C(1) << MOST_ELEMENTS_BITS;
  if (stride < 1 || stride > most || dist < 0 || dist > most) return FFT_INVALID_VALUE;
  l->dist = dist;
  for (int d = rank - 1; d >= 0; d--) {
    l->stride[d] = stride;
    if (d == 0) break;
    if (embed[d] < 1 || embed[d] > most / stride) return FFT_INVALID_SIZE;
    stride *= embed[d];
  }
  return FFT_SUCCESS;
}

static int precision(const struct fft_plan *p)
{
  return p->in.type == WS_F64 ? WS_F64 : WS_F32;
}

/* The work array holds, for one dimension after the other, all lines as complex numbers of the kernel's type, twice for
 * some; behind it what a real transform of several dimensions has between them. */
static fft_status set_room(struct fft_plan *p)
{
  const size_t each = precision(p) == WS_F64 ? 16 : 8;
  int64_t all = p->batch, most = 0;
  for (int d = 0; d < p->rank; d++) all *= fft_extent(p, d);
  for (int d = 0; d < p->rank; d++) {
    int arrays;
    const int64_t along = fft_length_work(&p->length[d], &arrays), lines = all / fft_extent(p, d);
    if (arrays && lines > (INT64_C(1) << (MOST_ELEMENTS_BITS + 4)) / along / arrays) return FFT_INVALID_SIZE;
    if (arrays * lines * along > most) most = arrays * lines * along;
  }
  if (p->out.real && p->rank > 1) most += all;
  p->room_bytes = (size_t)most * each;
  return FFT_SUCCESS;
}

static fft_status shape(struct fft_plan *p, const struct request *r)
{
  fft_status s = set_types(p, r);
  if (!s) s = set_sizes(p, r);
  if (s) return s;
  p->basic = !r->inembed || !r->onembed;
  if (!p->basic) s = set_layout(&p->in, r->rank, r->inembed, r->istride, r->idist);
  if (!p->basic && !s) s = set_layout(&p->out, r->rank, r->onembed, r->ostride, r->odist);
  for (int d = 0; d < p->rank && !s; d++)
    if (!fft_length_plan(&p->length[d], p->n[d], precision(p))) s = FFT_INVALID_SIZE;
  return s ? s : set_room(p);
}

static void release(struct fft_plan *p)
{
  for (int d = 0; d < p->rank; d++) fft_length_free(&p->length[d]);
  if (p->own_room) cuMemFree_v2(p->own_room);
  p->own_room = p->room = 0;
  p->made = false;
}

static fft_status equip(struct fft_plan *p)
{
  for (int d = 0; d < p->rank; d++)
    if (!fft_length_tables(&p->length[d], precision(p))) return FFT_ALLOC_FAILED;
  if (p->own_room_wanted && p->room_bytes && cuMemAlloc_v2(&p->own_room, p->room_bytes) != DRIVER_OK) {
    p->own_room = 0;
    return FFT_ALLOC_FAILED;
  }
  if (p->own_room) p->room = p->own_room;
  return FFT_SUCCESS;
}

static fft_status make(int handle, const struct request *r, size_t *room)
{
  struct fft_plan *p = fft_plans_find(handle);
  if (!p || p->made) return FFT_INVALID_PLAN;
  if (!room) return FFT_INVALID_VALUE;
  fft_status s = shape(p, r);
  if (s) return s;
  s = equip(p);
  if (s) {
    release(p);
    return s;
  }
  p->made = true;
  *room = p->room_bytes;
  return FFT_SUCCESS;
}

static fft_status size_of(const struct request *r, size_t *room)
{
  struct fft_plan p = {0};
  if (!room) return FFT_INVALID_VALUE;
  const fft_status s = shape(&p, r);
  if (!s) *room = p.room_bytes;
  return s;
}

static struct request simple(int rank, int64_t x, int64_t y, int64_t z, int type, int64_t batch)
{
  struct request r = {.rank = rank, .n = {x, y, z}, .batch = batch};
  by_type(&r, type);
  return r;
}

/* The request of the functions with all that there is; its embeds, widened, lie in `embed`. */
static bool wide(struct request *r, int64_t embed[2][FFT_RANKS], int rank, const int *n, const int *inembed,
                 const int *onembed)
{
  r->rank = rank;
  if (rank < 1 || rank > FFT_RANKS || !n) return false;
  for (int d = 0; d < rank; d++) {
    r->n[d] = n[d];
    if (inembed) embed[0][d] = inembed[d];
    if (onembed) embed[1][d] = onembed[d];
  }
  r->inembed = inembed ? embed[0] : NULL;
  r->onembed = onembed ? embed[1] : NULL;
  return true;
}
static bool wide64(struct request *r, int rank, const long long *n, const int64_t *inembed, const int64_t *onembed)
{
  r->rank = rank;
  if (rank < 1 || rank > FFT_RANKS || !n) return false;
  for (int d = 0; d < rank; d++) r->n[d] = n[d];
  r->inembed = inembed;
  r->onembed = onembed;
  return true;
}

static fft_status plan(int *handle, const struct request *r)
{
  size_t room;
  if (!handle) return FFT_INVALID_VALUE;
  fft_status s = fft_plans_add(handle);
  if (s) return s;
  s = make(*handle, r, &room);
  if (s) fft_plans_remove(*handle);
  return s;
}

PUBLIC fft_status cufftCreate(int *handle) { return handle ? fft_plans_add(handle) : FFT_INVALID_VALUE; }

PUBLIC fft_status cufftDestroy(int handle)
{
  struct fft_plan *p = fft_plans_find(handle);
  if (!p) return FFT_INVALID_PLAN;
  release(p);
  fft_plans_remove(handle);
  return FFT_SUCCESS;
}

PUBLIC fft_status cufftPlan1d(int *handle, int nx, int type, int batch)
{
  const struct request r = simple(1, nx, 0, 0, type, batch);
  return plan(handle, &r);
}
PUBLIC fft_status cufftPlan2d(int *handle, int nx, int ny, int type)
{
  const struct request r = simple(2, nx, ny, 0, type, 1);
  return plan(handle, &r);
}
PUBLIC fft_status cufftPlan3d(int *handle, int nx, int ny, int nz, int type)
{
  const struct request r = simple(3, nx, ny, nz, type, 1);
  return plan(handle, &r);
}
PUBLIC fft_status cufftMakePlan1d(int handle, int nx, int type, int batch, size_t *room)
{
  const struct request r = simple(1, nx, 0, 0, type, batch);
  return make(handle, &r, room);
}
PUBLIC fft_status cufftMakePlan2d(int handle, int nx, int ny, int type, size_t *room)
{
  const struct request r = simple(2, nx, ny, 0, type, 1);
  return make(handle, &r, room);
}
PUBLIC fft_status cufftMakePlan3d(int handle, int nx, int ny, int nz, int type, size_t *room)
{
  const struct request r = simple(3, nx, ny, nz, type, 1);
  return make(handle, &r, room);
}
PUBLIC fft_status cufftEstimate1d(int nx, int type, int batch, size_t *room)
{
  const struct request r = simple(1, nx, 0, 0, type, batch);
  return size_of(&r, room);
}
PUBLIC fft_status cufftEstimate2d(int nx, int ny, int type, size_t *room)
{
  const struct request r = simple(2, nx, ny, 0, type, 1);
  return size_of(&r, room);
}
PUBLIC fft_status cufftEstimate3d(int nx, int ny, int nz, int type, size_t *room)
{
  const struct request r = simple(3, nx, ny, nz, type, 1);
  return size_of(&r, room);
}
PUBLIC fft_status cufftGetSize1d(int handle, int nx, int type, int batch, size_t *room)
{
  return fft_plans_find(handle) ? cufftEstimate1d(nx, type, batch, room) : FFT_INVALID_PLAN;
}
PUBLIC fft_status cufftGetSize2d(int handle, int nx, int ny, int type, size_t *room)
{
  return fft_plans_find(handle) ? cufftEstimate2d(nx, ny, type, room) : FFT_INVALID_PLAN;
}
PUBLIC fft_status cufftGetSize3d(int handle, int nx, int ny, int nz, int type, size_t *room)
{
  return fft_plans_find(handle) ? cufftEstimate3d(nx, ny, nz, type, room) : FFT_INVALID_PLAN;
}
PUBLIC fft_status cufftGetSize(int handle, size_t *room)
{
  const struct fft_plan *p = fft_plans_find(handle);
  if (!p || !p->made) return FFT_INVALID_PLAN;
  if (!room) return FFT_INVALID_VALUE;
  *room = p->room_bytes;
  return FFT_SUCCESS;
}

#define STRIDES .batch = batch, .istride = istride, .idist = idist, .ostride = ostride, .odist = odist

PUBLIC fft_status cufftPlanMany(int *handle, int rank, int *n, int *inembed, int istride, int idist, int *onembed,
                                int ostride, int odist, int type, int batch)
{
  struct request r = {STRIDES};
  int64_t embed[2][FFT_RANKS];
  by_type(&r, type);
  return wide(&r, embed, rank, n, inembed, onembed) ? plan(handle, &r) : FFT_INVALID_VALUE;
}
PUBLIC fft_status cufftMakePlanMany(int handle, int rank, int *n, int *inembed, int istride, int idist, int *onembed,
                                    int ostride, int odist, int type, int batch, size_t *room)
{
  struct request r = {STRIDES};
  int64_t embed[2][FFT_RANKS];
  by_type(&r, type);
  return wide(&r, embed, rank, n, inembed, onembed) ? make(handle, &r, room) : FFT_INVALID_VALUE;
}
PUBLIC fft_status cufftEstimateMany(int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride,
                                    int odist, int type, int batch, size_t *room)
{
  struct request r = {STRIDES};
  int64_t embed[2][FFT_RANKS];
  by_type(&r, type);
  return wide(&r, embed, rank, n, inembed, onembed) ? size_of(&r, room) : FFT_INVALID_VALUE;
}
PUBLIC fft_status cufftGetSizeMany(int handle, int rank, int *n, int *inembed, int istride, int idist, int *onembed,
                                   int ostride, int odist, int type, int batch, size_t *room)
{
  if (!fft_plans_find(handle)) return FFT_INVALID_PLAN;
  return cufftEstimateMany(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, room);
}

#define LONG_ARGUMENTS                                                                                          \
  int handle, int rank, long long *n, int64_t *inembed, int64_t istride, int64_t idist
#define LONG_REST int64_t *onembed, int64_t ostride, int64_t odist

PUBLIC fft_status cufftMakePlanMany64(LONG_ARGUMENTS, LONG_REST, int type, int64_t batch, size_t *room)
{
  struct request r = {STRIDES};
  by_type(&r, type);
  return wide64(&r, rank, n, inembed, onembed) ? make(handle, &r, room) : FFT_INVALID_VALUE;
}
PUBLIC fft_status cufftGetSizeMany64(LONG_ARGUMENTS, LONG_REST, int type, int64_t batch, size_t *room)
{
  struct request r = {STRIDES};
  if (!fft_plans_find(handle)) return FFT_INVALID_PLAN;
  by_type(&r, type);
  return wide64(&r, rank, n, inembed, onembed) ? size_of(&r, room) : FFT_INVALID_VALUE;
}
PUBLIC fft_status cufftXtMakePlanMany(LONG_ARGUMENTS, int in, LONG_REST, int out, int64_t batch, size_t *room,
                                      int execution)
{
  struct request r = {STRIDES, .in = in, .out = out, .execution = execution};
  return wide64(&r, rank, n, inembed, onembed) ? make(handle, &r, room) : FFT_INVALID_VALUE;
}
PUBLIC fft_status cufftXtGetSizeMany(LONG_ARGUMENTS, int in, LONG_REST, int out, int64_t batch, size_t *room,
                                     int execution)
{
  struct request r = {STRIDES, .in = in, .out = out, .execution = execution};
  if (!fft_plans_find(handle)) return FFT_INVALID_PLAN;
  return wide64(&r, rank, n, inembed, onembed) ? size_of(&r, room) : FFT_INVALID_VALUE;
}

PUBLIC fft_status cufftSetStream(int handle, driver_stream stream)
{
  struct fft_plan *p = fft_plans_find(handle);
  if (!p) return FFT_INVALID_PLAN;
  p->stream = stream;
  return FFT_SUCCESS;
}
PUBLIC fft_status cufftSetWorkArea(int handle, void *room)
{
  struct fft_plan *p = fft_plans_find(handle);
  if (!p) return FFT_INVALID_PLAN;
  if (p->own_room) cuMemFree_v2(p->own_room); /* as documented */
  p->own_room = 0;
  p->room = (uint64_t)(uintptr_t)room;
  return FFT_SUCCESS;
}
PUBLIC fft_status cufftXtSetWorkArea(int handle, void **rooms)
{
  return rooms ? cufftSetWorkArea(handle, rooms[0]) : FFT_INVALID_VALUE;
}
PUBLIC fft_status cufftSetAutoAllocation(int handle, int on)
{
  struct fft_plan *p = fft_plans_find(handle);
  if (!p || p->made) return FFT_INVALID_PLAN;
  p->own_room_wanted = on != 0;
  return FFT_SUCCESS;
}
PUBLIC fft_status cufftGetVersion(int *version)
{
  if (!version) return FFT_INVALID_VALUE;
  *version = FFT_VERSION;
  return FFT_SUCCESS;
}
PUBLIC fft_status cufftGetProperty(int what, int *value)
{
  if (!value || what < 0 || what > 2) return FFT_INVALID_VALUE;
  *value = what == 0 ? FFT_VERSION / 1000 : 0;
  return FFT_SUCCESS;
}
