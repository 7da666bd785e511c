#include "libs/cudnn/dnn_conv.h"

#include <string.h>

#include "libs/host/kernel_set.h"

int64_t dnn_conv_length(int64_t x, int64_t w, int64_t padding, int64_t stride, int64_t dilation)
{
  const int64_t room = x + padding - dilation * (w - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

/* Tensors with three dimensions of space: those that are not there come first, with one element. */
struct volume {
  int64_t size[5], stride[5];
};

static struct volume volume_of(const struct dnn_tensor *t)
{
  struct volume v = {{1, 1, 1, 1, 1}, {0, 0, 0, 0, 0}};
  const int missing = 5 - t->dims;
  for (int i = 0; i < t->dims; i++) {
    const int to = i < 2 ? i : i + missing;
    v.size[to] = t->size[i], v.stride[to] = t->stride[i];
  }
  return v;
}

struct space {
  int64_t before[3], stride[3], dilation[3];
};

static struct space space_of(const struct dnn_conv *c)
{
  struct space s = {{0, 0, 0}, {1, 1, 1}, {1, 1, 1}};
  const int missing = 5 - c->x.dims;
  for (int i = missing; i < 3; i++) {
    s.before[i] = c->before[i - missing];
    s.stride[i] = c->stride[i - missing];
    s.dilation[i] = c->dilation[i - missing];
  }
  return s;
}

static struct ws_divider divider_of(uint32_t d)
{
  struct ws_divider by = {0, 0};
  while (by.shift < 31 && (UINT32_C(1) << by.shift) < d) by.shift++;
  by.mul = (uint32_t)((((UINT64_C(1) << by.shift) - d) << 32) / d + 1);
  return by;
}

static void set_digits(struct ws_digits *d, const int64_t *size)
{
  int64_t count = 1;
  memset(d, 0, sizeof *d);
  for (int i = 0; i < 4; i++) {
    d->size[i] = (uint32_t)size[i];
    d->by[i] = divider_of((uint32_t)size[i]);
    count *= size[i];
  }
  d->count = (uint32_t)count;
}

/* The parts of a sum are pixels (of y; of x for the data's gradient) and elements of the filter. */
static void set_pixels(struct ws_digits *d, const struct volume *v, int64_t images)
{
  const int64_t size[4] = {images, v->size[2], v->size[3], v->size[4]};
  set_digits(d, size);
  for (int i = 0; i < 3; i++) d->other[i + 1] = (int32_t)v->stride[i + 2];
  d->other[0] = (int32_t)v->stride[0];
}

static void set_filter(struct ws_digits *d, const struct volume *w, int64_t channels, int64_t channel_stride)
{
  const int64_t size[4] = {channels, w->size[2], w->size[3], w->size[4]};
  set_digits(d, size);
  for (int i = 0; i < 3; i++) d->other[i + 1] = (int32_t)w->stride[i + 2];
  d->other[0] = (int32_t)channel_stride;
}

/* What a step along dimension `i` of space adds to the gathered tensor's coordinate. */
static void set_step(struct ws_digits *d, int i, int64_t step, int64_t source_stride)
{
  d->coordinate[i + 1][i] = (int32_t)step;
  d->source[i + 1] = (int32_t)(step * source_stride);
}

static void set_origin(struct ws_conv_args *a, int i, int64_t at, int64_t source_stride)
{
  a->origin[i] = (int32_t)at;
  a->origin_source += (int32_t)(at * source_stride);
}

/* Forward and the filter's gradient gather x: at pixel * stride - padding + element * dilation. */
static void gather_x(struct ws_conv_args *a, struct ws_digits *pixel, struct ws_digits *tap, const struct dnn_conv *c,
                     const struct volume *x, const struct volume *w)
{
  const struct space s = space_of(c);
  pixel->source[0] = (int32_t)x->stride[0];
  tap->source[0] = (int32_t)x->stride[1];
  for (int i = 0; i < 3; i++) {
    const int64_t turn = c->flipped ? (w->size[i + 2] - 1) * s.dilation[i] : 0;
    set_step(pixel, i, s.stride[i], x->stride[i + 2]);
    set_step(tap, i, c->flipped ? -s.dilation[i] : s.dilation[i], x->stride[i + 2]);
    set_origin(a, i, turn - s.before[i], x->stride[i + 2]);
    a->size[i] = (int32_t)x->size[i + 2];
  }
}

/* The data's gradient gathers dy: at (pixel + padding - element * dilation) / stride, where that is whole. */
static void gather_y(struct ws_conv_args *a, const struct dnn_conv *c, const struct volume *y, const struct volume *w)
{
  const struct space s = space_of(c);
  a->strided = s.stride[0] > 1 || s.stride[1] > 1 || s.stride[2] > 1;
  a->column.source[0] = (int32_t)y->stride[0];
  a->term.source[0] = (int32_t)y->stride[1];
  for (int i = 0; i < 3; i++) {
    const int64_t turn = c->flipped ? (w->size[i + 2] - 1) * s.dilation[i] : 0;
    const int64_t linear = a->strided ? 0 : y->stride[i + 2];
    set_step(&a->column, i, 1, linear);
    set_step(&a->term, i, c->flipped ? s.dilation[i] : -s.dilation[i], linear);
    set_origin(a, i, s.before[i] - turn, linear);
    a->size[i] = (int32_t)y->size[i + 2];
    a->divisor[i] = (int32_t)s.stride[i];
    a->divide[i] = divider_of((uint32_t)s.stride[i]);
    a->step[i] = (int32_t)y->stride[i + 2];
  }
}

static void describe(const struct dnn_conv *c, struct dnn_conv_plan *p)
{
  struct ws_conv_args *a = &p->args;
  const struct volume x = volume_of(&c->x), w = volume_of(&c->w), y = volume_of(&c->y);
  const int64_t in = w.size[1], out = w.size[0] / p->groups; /* channels of a group */
  if (c->kind == DNN_CONV_DATA) {
    set_pixels(&a->column, &x, x.size[0]);
    set_filter(&a->term, &w, out, w.stride[0]);
    gather_y(a, c, &y, &w);
    a->rows = (int32_t)in, a->lhs_row = (int32_t)w.stride[1], a->out_row = (int32_t)x.stride[1];
    a->group_lhs = (int32_t)(out * w.stride[0]);
    a->group_source = (int32_t)(out * y.stride[1]), a->group_out = (int32_t)(in * x.stride[1]);
    return;
  }
  const bool forward = c->kind == DNN_CONV_FORWARD;
  struct ws_digits *pixel = forward ? &a->column : &a->term, *tap = forward ? &a->term : &a->column;
  set_pixels(pixel, &y, x.size[0]);
  set_filter(tap, &w, in, w.stride[1]);
  gather_x(a, pixel, tap, c, &x, &w);
  a->rows = (int32_t)out;
  a->lhs_row = (int32_t)(forward ? w.stride[0] : y.stride[1]);
  a->out_row = (int32_t)(forward ? y.stride[1] : w.stride[0]);
  a->group_source = (int32_t)(in * x.stride[1]);
  a->group_lhs = (int32_t)(out * a->lhs_row), a->group_out = (int32_t)(out * a->out_row);
}

static bool sizes_fit(const struct dnn_conv *c)
{
  const int n = c->x.dims;
  if (n < 3 || n > 5 || c->w.dims != n || c->y.dims != n) return false;
  if (c->x.size[0] != c->y.size[0] || c->y.size[1] != c->w.size[0]) return false;
  if (c->w.size[1] < 1 || c->x.size[1] % c->w.size[1] || c->w.size[0] % (c->x.size[1] / c->w.size[1])) return false;
  for (int i = 0; i < n - 2; i++) {
    const int64_t most = INT32_MAX / 4;
    if (c->stride[i] < 1 || c->dilation[i] < 1 || c->before[i] < 0 || c->after[i] < 0) return false;
    if (c->stride[i] > most || c->dilation[i] > most || c->before[i] > most || c->after[i] > most) return false;
    if (dnn_conv_length(c->x.size[i + 2], c->w.size[i + 2], c->before[i] + c->after[i], c->stride[i],
                        c->dilation[i]) != c->y.size[i + 2])
      return false;
  }
  return true;
}

/* Whether every index and coordinate has 31 bits, with room for what the kernels add: a tile, a filter's reach. */
static bool in_reach(const struct dnn_conv *c)
{
  const int64_t most = INT32_MAX / 2;
  const int64_t x = dnn_reach(&c->x), w = dnn_reach(&c->w), y = dnn_reach(&c->y);
  if (x < 0 || w < 0 || y < 0 || x > most || w > most || y > most) return false;
  for (int i = 0; i < c->x.dims - 2; i++) {
    const int64_t filter = c->dilation[i] * c->w.size[i + 2], whole = filter + c->before[i] + c->after[i];
    const int64_t span = whole + c->x.size[i + 2] + c->stride[i];
    const int64_t step = c->x.stride[i + 2] > c->y.stride[i + 2] ? c->x.stride[i + 2] : c->y.stride[i + 2];
    if (span > (1 << 28) || (step && span > most / step)) return false;
  }
  return dnn_elements(&c->x) <= most && dnn_elements(&c->y) <= most && dnn_elements(&c->w) <= most;
}

static void choose(struct dnn_conv_plan *p, int type)
{
  enum { FEW_ROWS = 3, FEW_COLUMNS = 32 };
  const bool wide = type == WS_F32, direct = type == WS_F64 || p->args.rows <= FEW_ROWS;
  p->reducer = wide ? KERNEL_conv_reduce_f32 : KERNEL_conv_reduce_b16;
  if (direct) {
    p->kernel = type == WS_F64 ? KERNEL_conv_direct_f64 : wide ? KERNEL_conv_direct_f32 : KERNEL_conv_direct_b16;
    p->threads = 256;
    return;
  }
  const bool few = p->args.column.count <= FEW_COLUMNS;
  static const int kernels[2][2][2] = { /* float; strided; few columns */
    {{KERNEL_conv_b16_64x64, KERNEL_conv_b16_64x16}, {KERNEL_conv_b16_strided_64x64, KERNEL_conv_b16_strided_64x16}},
    {{KERNEL_conv_f32_64x64, KERNEL_conv_f32_64x16}, {KERNEL_conv_f32_strided_64x64, KERNEL_conv_f32_strided_64x16}},
  };
  p->kernel = kernels[wide][p->args.strided][few];
  p->tile_rows = 64, p->tile_columns = few ? 16 : 64, p->threads = few ? 64 : 256;
}

static int64_t tiles(int64_t length, int tile) { return (length + tile - 1) / tile; }

/* The terms are split when there are fewer tiles than half the SMs. */
static void split(struct dnn_conv_plan *p, int sms)
{
  enum { LEAST_TERMS = 256, MOST_SPLITS = 16, TILE_TERMS = 16 };
  struct ws_conv_args *a = &p->args;
  a->splits = 1, a->per_split = (int32_t)a->term.count;
  if (!p->tile_rows) return;
  const int64_t n = tiles(a->rows, p->tile_rows) * tiles(a->column.count, p->tile_columns) * p->groups;
  int64_t splits = sms / n;
  if (n * 2 > sms || a->term.count < 2 * LEAST_TERMS) return;
  if (splits > a->term.count / LEAST_TERMS) splits = a->term.count / LEAST_TERMS;
  if (splits > MOST_SPLITS) splits = MOST_SPLITS;
  a->per_split = (int32_t)(tiles(tiles(a->term.count, (int)splits), TILE_TERMS) * TILE_TERMS);
  a->splits = (int32_t)tiles(a->term.count, a->per_split);
  const int64_t cells = (int64_t)a->rows * a->column.count * p->groups; /* as few as there are tiles */
  if (a->splits > 1) p->workspace = (size_t)(a->splits * cells) * sizeof(float);
}

dnn_status dnn_conv_prepare(const struct dnn_conv *c, int sms, struct dnn_conv_plan *out, const char *function)
{
  const int type = dnn_element(c->x.type);
  enum { MOST_GROUPS = 65535 };
  if (!sizes_fit(c)) return DNN_BAD_PARAM_SHAPE;
  if (type < 0 || c->w.type != c->x.type || c->y.type != c->x.type)
    return dnn_refuse(function, "convolutions of these types");
  if (!in_reach(c)) return dnn_refuse(function, "convolutions of 2^30 elements or more");
  *out = (struct dnn_conv_plan){.groups = (int)(c->x.size[1] / c->w.size[1])};
  if (out->groups > MOST_GROUPS) return dnn_refuse(function, "convolutions of more than 65535 groups");
  describe(c, out);
  out->args.type = type;
  out->args.alpha = c->alpha, out->args.beta = c->beta, out->args.add_alpha = c->add_alpha;
  out->args.relu = c->relu;
  choose(out, type);
  split(out, sms);
  return DNN_SUCCESS;
}

dnn_status dnn_conv_run(struct dnn *h, const struct dnn_conv_plan *p, enum dnn_conv_kind kind,
                        const struct dnn_conv_data *data)
{
  struct ws_conv_args a = p->args;
  const int64_t cells = (int64_t)a.rows * a.column.count, rows = p->tile_rows ? tiles(a.rows, p->tile_rows) : 1;
  const int64_t n = p->tile_rows ? rows * tiles(a.column.count, p->tile_columns) : tiles(cells, p->threads);
  if (!data->x || !data->w || !data->y || (p->workspace && !data->workspace)) return DNN_BAD_PARAM_NULL;
  if (n > INT32_MAX) return DNN_NOT_SUPPORTED;
  a.source = kind == DNN_CONV_DATA ? data->y : data->x;
  a.lhs = kind == DNN_CONV_FILTER ? data->y : data->w;
  a.out = (void *)(uintptr_t)(kind == DNN_CONV_DATA ? data->x : kind == DNN_CONV_FILTER ? data->w : data->y);
  a.add = data->add, a.bias = data->bias;
  a.partial = data->workspace;
  const struct launch_shape shape = {(unsigned)n, (unsigned)a.splits, (unsigned)p->groups, (unsigned)p->threads};
  const struct launch_shape last = {(unsigned)tiles(cells, 256), 1, (unsigned)p->groups, 256};
  if (!kernel_set_launch(&h->blas->kernels, (enum lib_kernel)p->kernel, shape, h->stream, &a) ||
      (a.splits > 1 && !kernel_set_launch(&h->blas->kernels, (enum lib_kernel)p->reducer, last, h->stream, &a)))
    return DNN_EXECUTION_FAILED;
  return DNN_SUCCESS;
}
