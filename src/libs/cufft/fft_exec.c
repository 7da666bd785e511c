/* Runs of a plan: one dimension after the other, each by the passes its length was planned to take (fft_length.h). An
 * inverse transform is the forward one of conjugates.
 */
#include "libs/cufft/fft_plans.h"

/* Where the elements of a side lie. */
struct view {
  uint64_t at;
  int type;
  bool real;
  int64_t stride[FFT_RANKS], dist;
};

/* One end of a dimension's passes: a view, and what happens to a value there (struct ws_fft_side). */
struct end {
  struct view v;
  int64_t limit, half, full;
  bool conj, conj_after;
  uint64_t factor;
};

/* A dimension of one run. */
struct job {
  const struct fft_plan *p;
  const struct fft_length *l;
  int dim;
  int64_t extent[FFT_RANKS]; /* of the others: how many lines there are */
  struct view work[2];
};

static struct end end_at(const struct view *v)
{
  return (struct end){.v = *v, .limit = INT64_MAX, .half = -1};
}

static int64_t least(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* An index that lines are numbered by. */
struct index {
  int64_t size, in, out, in_d, out_d, twist;
};

struct pass {
  struct ws_fft_args args;
  struct index index[WS_FFT_DIMS + 1];
  int count;
};

static void add(struct pass *s, struct index i)
{
  if (i.size > 1) s->index[s->count++] = i;
}

/* Elements from one to the next on the side where these are fewer. */
static int64_t reach(const struct ws_fft_args *a, const struct index *i)
{
  return least(i->in + i->in_d * a->in.stride, i->out + i->out_d * a->out.stride);
}

/* The index with the nearest neighbours comes first, so that threads next to each other can take them. */
static void write_indices(struct pass *s)
{
  struct ws_fft_args *a = &s->args;
  for (int i = 1; i < s->count; i++)
    for (int k = i; k > 0 && reach(a, &s->index[k]) < reach(a, &s->index[k - 1]); k--) {
      const struct index t = s->index[k];
      s->index[k] = s->index[k - 1];
      s->index[k - 1] = t;
    }
  a->dims = s->count;
  a->lines = 1;
  for (int i = 0; i < s->count; i++) {
    const struct index *x = &s->index[i];
    a->size[i] = x->size, a->twist[i] = x->twist;
    a->in.dim[i] = x->in, a->in.d_dim[i] = x->in_d;
    a->out.dim[i] = x->out, a->out.d_dim[i] = x->out_d;
    a->lines *= x->size;
  }
  if (!s->count) return;
  a->in.by_line = a->in.dim[0] + a->in.d_dim[0] * a->in.stride < a->in.each * a->in.stride;
  a->out.by_line = a->out.dim[0] + a->out.d_dim[0] * a->out.stride < a->out.each * a->out.stride;
}

static void write_side(struct ws_fft_side *s, const struct end *e, int dim)
{
  s->at = (void *)(uintptr_t)e->v.at;
  s->type = e->v.type;
  s->real = e->v.real;
  s->stride = e->v.stride[dim];
  s->limit = e->limit, s->half = e->half, s->full = e->full;
  s->conj = e->conj, s->conj_after = e->conj_after;
  s->factor = (const void *)(uintptr_t)e->factor;
}

static bool wide(const struct fft_plan *p)
{
  return p->in.type == WS_F64;
}

/* Lines of a CTA: as many as fit, fewer when SMs would have none. */
static fft_status launch(const struct fft_plan *p, struct ws_fft_args *a, int sms)
{
  const int64_t room = wide(p) ? WS_FFT_ROOM_F64 : WS_FFT_ROOM_F32;
  const int fewest = a->in.by_line || a->out.by_line ? 4 : 1;
  int lines = WS_FFT_LINES;
  while (lines > 1 && lines * (int64_t)a->n > room) lines /= 2;
  while (lines > fewest && (a->lines < lines || a->lines / lines < sms)) lines /= 2;
  for (a->lines_bits = 0; 1 << a->lines_bits < lines; a->lines_bits++) continue;
  const int64_t ctas = (a->lines + lines - 1) / lines;
  int threads = (lines * a->n / 8 + 31) / 32 * 32;
  if (threads < WS_FFT_LINES) threads = WS_FFT_LINES;
  if (threads > WS_FFT_THREADS) threads = WS_FFT_THREADS;
  if (ctas > INT32_MAX) return FFT_INVALID_SIZE;
  const struct launch_shape shape = {(unsigned)ctas, 1, 1, (unsigned)threads};
  return fft_plans_launch(p, wide(p) ? KERNEL_fft_f64 : KERNEL_fft_f32, shape, a) ? FFT_SUCCESS : FFT_EXEC_FAILED;
}

/* The indices of the digits of d beside that which pass q transforms. Digit i of a number is part[i].n wide, the first
 * is the highest; the last pass stores them in the opposite order. */
static void add_digits(struct pass *s, const struct fft_length *l, int q)
{
  int64_t rest = 1, before = 1;
  for (int i = q + 1; i < l->parts; i++) rest *= l->part[i].n;
  for (int i = 0; i < q; i++) before *= l->part[i].n;
  const bool last = q == l->parts - 1;
  s->args.in.each = rest;
  s->args.out.each = last ? before : rest;
  add(s, (struct index){.size = rest, .in_d = 1, .out_d = 1, .twist = 1});
  if (!last) {
    const int64_t width = l->part[q].n * rest;
    add(s, (struct index){.size = before, .in_d = width, .out_d = width});
    return;
  }
  int64_t in = before * l->part[q].n, out = 1;
  for (int i = 0; i < q; i++) {
    in /= l->part[i].n;
    add(s, (struct index){.size = l->part[i].n, .in_d = in, .out_d = out});
    out *= l->part[i].n;
  }
}

static fft_status run_pass(const struct job *j, int q, const struct end *in, const struct end *out)
{
  struct pass s = {.count = 0};
  const struct fft_part *part = &j->l->part[q];
  write_side(&s.args.in, in, j->dim);
  write_side(&s.args.out, out, j->dim);
  fft_length_stages(&s.args, part->n);
  s.args.roots = (const void *)(uintptr_t)part->roots;
  s.args.coarse = (const void *)(uintptr_t)part->coarse;
  s.args.fine = (const void *)(uintptr_t)part->fine;
  add_digits(&s, j->l, q);
  for (int d = 0; d < j->p->rank; d++)
    if (d != j->dim)
      add(&s, (struct index){.size = j->extent[d], .in = in->v.stride[d], .out = out->v.stride[d]});
  add(&s, (struct index){.size = j->p->batch, .in = in->v.dist, .out = out->v.dist});
  write_indices(&s);
  return launch(j->p, &s.args, fft_plans_sms(j->p));
}

/* All passes from `in` to `out`; what is between them lies in `between`. */
static fft_status run_parts(const struct job *j, const struct end *in, const struct view *between,
                            const struct end *out)
{
  const struct end middle = end_at(between);
  fft_status s = FFT_SUCCESS;
  for (int q = 0; q < j->l->parts && !s; q++)
    s = run_pass(j, q, q == 0 ? in : &middle, q == j->l->parts - 1 ? out : &middle);
  return s;
}

/* The transform as a convolution: x times a chirp, its spectrum times that of the opposite chirp, back, and times the
 * chirp. */
static fft_status run_convolution(const struct job *j, struct end in, struct end out, bool inverse)
{
  const struct view *spectrum = &j->work[j->l->parts > 1 ? 1 : 0];
  struct end to = end_at(spectrum), from = to;
  in.limit = j->l->n;
  in.factor = j->l->chirp;
  in.conj = inverse;
  to.factor = j->l->filter;
  fft_status s = run_parts(j, &in, &j->work[0], &to);
  if (s) return s;
  from.conj = true;
  out.conj = true;
  out.factor = j->l->unchirp;
  out.conj_after = inverse;
  out.limit = least(out.limit, j->l->n);
  return run_parts(j, &from, spectrum, &out);
}

/* The views of the work array: lines of a dimension side by side, as the other dimensions have them. */
static void place_work(struct job *j, uint64_t at)
{
  int arrays;
  const int64_t along = fft_length_work(j->l, &arrays);
  struct view v = {.at = at, .type = wide(j->p) ? WS_F64 : WS_F32};
  int64_t all = 1;
  for (int d = j->p->rank - 1; d >= 0; d--) {
    v.stride[d] = all;
    all *= d == j->dim ? along : j->extent[d];
  }
  v.dist = all;
  j->work[0] = v;
  v.at += (uint64_t)(all * j->p->batch) * (wide(j->p) ? 16 : 8);
  j->work[1] = v;
}

static fft_status run_dimension(const struct fft_plan *p, int dim, struct end in, struct end out, bool inverse)
{
  struct job j = {.p = p, .l = &p->length[dim], .dim = dim};
  for (int d = 0; d < p->rank; d++) j.extent[d] = fft_extent(p, d);
  place_work(&j, p->room);
  if (j.l->padded) return run_convolution(&j, in, out, inverse);
  in.conj = out.conj = inverse;
  return run_parts(&j, &in, &j.work[0], &out);
}

/* A view of a side without gaps; a real side of an in-place transform has room for the complex one. */
static void compact(const struct fft_plan *p, struct view *v, bool in_place)
{
  int64_t all = 1;
  for (int d = p->rank - 1; d >= 0; d--) {
    int64_t size = v->real ? p->n[d] : fft_extent(p, d);
    if (v->real && in_place && d == p->rank - 1) size = 2 * fft_extent(p, d);
    v->stride[d] = all;
    all *= size;
  }
  v->dist = all;
}

static struct view side(const struct fft_plan *p, const struct fft_layout *l, const void *at, bool in_place)
{
  struct view v = {.at = (uint64_t)(uintptr_t)at, .type = l->type, .real = l->real, .dist = l->dist};
  for (int d = 0; d < p->rank; d++) v.stride[d] = l->stride[d];
  if (p->basic) compact(p, &v, in_place);
  return v;
}

/* Complex to real: the dimensions from the outermost on, the half one last. */
static fft_status to_real(const struct fft_plan *p, struct view in, const struct view *out)
{
  const int inner = p->rank - 1;
  const int64_t n = p->n[inner];
  if (inner) {
    struct view between = {.type = wide(p) ? WS_F64 : WS_F32};
    compact(p, &between, false);
    between.at = p->room + p->room_bytes - (uint64_t)(between.dist * p->batch) * (wide(p) ? 16 : 8);
    for (int d = 0; d < inner; d++) {
      const fft_status s = run_dimension(p, d, end_at(d ? &between : &in), end_at(&between), true);
      if (s) return s;
    }
    in = between;
  }
  struct end from = end_at(&in);
  from.half = n / 2, from.full = n;
  return run_dimension(p, inner, from, end_at(out), true);
}

static fft_status to_complex(const struct fft_plan *p, const struct view *in, const struct view *out, bool inverse)
{
  const int inner = p->rank - 1;
  struct end to = end_at(out);
  if (in->real) to.limit = fft_extent(p, inner);
  fft_status s = run_dimension(p, inner, end_at(in), to, inverse);
  for (int d = inner - 1; d >= 0 && !s; d--) s = run_dimension(p, d, end_at(out), end_at(out), inverse);
  return s;
}

static fft_status execute(int handle, int type, const void *in, void *out, int direction)
{
  const struct fft_plan *p = fft_plans_find(handle);
  int device;
  if (!p || !p->made) return FFT_INVALID_PLAN;
  if ((type && p->type != type) || !in || !out) return FFT_INVALID_VALUE;
  const bool both = !p->in.real && !p->out.real;
  if (both && direction != FFT_FORWARD && direction != FFT_INVERSE) return FFT_INVALID_VALUE;
  if (p->room_bytes && !p->room) return FFT_NO_WORKSPACE;
  if (cudaGetDevice(&device) != DRIVER_OK || device != p->device) return FFT_INVALID_DEVICE;
  const struct view from = side(p, &p->in, in, in == out), to = side(p, &p->out, out, in == out);
  if (p->out.real) return to_real(p, from, &to);
  return to_complex(p, &from, &to, both && direction == FFT_INVERSE);
}

PUBLIC fft_status cufftExecC2C(int handle, const void *in, void *out, int direction)
{
  return execute(handle, FFT_C2C, in, out, direction);
}
PUBLIC fft_status cufftExecZ2Z(int handle, const void *in, void *out, int direction)
{
  return execute(handle, FFT_Z2Z, in, out, direction);
}
PUBLIC fft_status cufftExecR2C(int handle, const void *in, void *out) { return execute(handle, FFT_R2C, in, out, 0); }
PUBLIC fft_status cufftExecD2Z(int handle, const void *in, void *out) { return execute(handle, FFT_D2Z, in, out, 0); }
PUBLIC fft_status cufftExecC2R(int handle, const void *in, void *out) { return execute(handle, FFT_C2R, in, out, 0); }
PUBLIC fft_status cufftExecZ2D(int handle, const void *in, void *out) { return execute(handle, FFT_Z2D, in, out, 0); }
PUBLIC fft_status cufftXtExec(int handle, const void *in, void *out, int direction)
{
  return execute(handle, 0, in, out, direction);
}
