/* Level 3 of libcublas for matrices of which one half counts: products with a symmetric, Hermitian or triangular one
 * (symm, hemm, trmm), and products that are one (syrk, syrkx, syr2k, herk, herkx, her2k).
 *
 * The half is cut into blocks on the diagonal, which kernels/blas_triangle.cu makes whole or puts into their half, and
 * squares beside it, of one block's side, of two, of four ...: those of one size are one batch of products that read
 * or write the half where it lies. So of a triangle nothing is reckoned in vain but half of the blocks on the diagonal.
 * Those of a symmetric matrix that is read are as large as there is room for.
 */
#include "libs/cublas/blas_elements.h"
#include "libs/cublas/blas_solve.h"
#include "libs/kernels/triangle_args.h"
#include "libs/kernels/widen_args.h"

enum { LEAST_SIDE = 128, FACTORS_BYTES = 256, SHARE = BLAS_WORKSPACE / 4 };

/* One call: where its factors and its rooms are. */
struct level3 {
  struct blas *h;
  const char *function;
  int t;
  bool on_device;       /* the factors */
  bool alpha_is_0;      /* as far as the host knows */
  const char *factors;  /* enum ws_factor, each of the type t */
  double on_host[WS_FACTORS * 2];
  uint64_t blocks, copy, rest; /* on the device: whole blocks, a copy of B, partial sums of products */
  int64_t side, most_blocks; /* of a block; how many there is room for */
  size_t copy_bytes, rest_bytes;
};

/* Factors as the caller gave them. */
struct scale {
  const void *alpha, *beta; /* beta may be NULL: 0 */
  bool alpha_real, beta_real;
};

static bool is_complex(int t) { return types[t].data != types[t].real; }
static int64_t at_least_1(int64_t n) { return n > 1 ? n : 1; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static const char *moved(const void *p, int64_t elements, int t)
{
  return (const char *)p + elements * (int64_t)types[t].bytes;
}

static enum lib_kernel of_type(enum lib_kernel of_s, int t)
{
  return (enum lib_kernel)((int)of_s + t * (KERNEL_dtriangle_expand - KERNEL_striangle_expand));
}

static bool over_blocks(const struct level3 *q, enum lib_kernel of_s, const struct ws_triangle_args *a)
{
  const int64_t blocks = (a->n + q->side - 1) / q->side;
  const struct launch_shape shape = {(unsigned)blocks, (unsigned)q->side / WS_TRIANGLE_COLUMNS, 1, 256};
  return kernel_set_launch(&q->h->kernels, of_type(of_s, q->t), shape, q->h->stream, a);
}

static void put_factor(struct level3 *q, enum ws_factor f, double re, double im)
{
  const int reals = is_complex(q->t) ? 2 : 1;
  const double parts[2] = {re, im};
  for (int i = 0; i < reals; i++) {
    if (types[q->t].real == DATA_R_64F) q->on_host[(int)f * reals + i] = parts[i];
    else ((float *)q->on_host)[(int)f * reals + i] = (float)parts[i];
  }
}

static int factor_type(const struct level3 *q, bool is_real) { return is_real ? types[q->t].real : types[q->t].data; }

/* The factors on this side, or, where the caller's are on the device, at `room` there. */
static bool take_factors(struct level3 *q, const struct scale *s, uint64_t room)
{
  if (!q->on_device) {
    const struct ws_scalar a = blas_scalar(s->alpha, factor_type(q, s->alpha_real), false);
    const struct ws_scalar b =
        s->beta ? blas_scalar(s->beta, factor_type(q, s->beta_real), false) : (struct ws_scalar){.re = 0};
    put_factor(q, WS_ALPHA, a.re, a.im);
    put_factor(q, WS_CONJ_ALPHA, a.re, -a.im);
    put_factor(q, WS_BETA, b.re, b.im);
    put_factor(q, WS_ONE, 1, 0);
    put_factor(q, WS_ZERO, 0, 0);
    q->factors = (const char *)q->on_host;
    q->alpha_is_0 = a.re == 0 && a.im == 0;
    return true;
  }
  const struct ws_factors_args f = {s->alpha, s->beta, s->alpha_real, s->beta_real, (void *)(uintptr_t)room};
  q->factors = (const char *)(uintptr_t)room;
  return kernel_set_launch(&q->h->kernels, of_type(KERNEL_striangle_factors, q->t), (struct launch_shape){1, 1, 1, 1},
                           q->h->stream, &f);
}

/* Shares out the room of the stream: `lines` of a copy, `line` elements each, and the blocks of n x n, at least one of
 * each, at most what is needed; about half is left for partial sums. */
static blas_status begin(struct level3 *q, const struct scale *s, int64_t n, int64_t line, int64_t lines)
{
  const double each = (double)q->side * (double)q->side * types[q->t].bytes;
  const double each_line = (double)line * types[q->t].bytes;
  const double share = SHARE, wanted = (double)((n + q->side - 1) / q->side);
  size_t bytes;
  if (each_line > share) return blas_refuse(q->function, "so large a matrix");
  q->most_blocks = (int64_t)(wanted * each > share ? share / each : wanted);
  const double of_copy = each_line * (double)lines > share ? share : each_line * (double)lines;
  q->copy_bytes = ((size_t)of_copy + 255) / 256 * 256;
  const size_t need = FACTORS_BYTES + (size_t)q->most_blocks * (size_t)each + q->copy_bytes;
  const uint64_t room = blas_room(q->h, q->h->stream, need, &bytes);
  if (!room) return BLAS_ALLOC_FAILED;
  q->blocks = room + FACTORS_BYTES;
  q->copy = q->blocks + (uint64_t)q->most_blocks * (uint64_t)each;
  q->rest = q->copy + q->copy_bytes;
  q->rest_bytes = bytes - need;
  return take_factors(q, s, room) ? BLAS_SUCCESS : BLAS_EXECUTION_FAILED;
}

static const void *factor(const struct level3 *q, enum ws_factor f)
{
  return q->factors + (size_t)f * types[q->t].bytes;
}

static struct ws_scalar device_or_value(const struct level3 *q, enum ws_factor f)
{
  return blas_scalar(factor(q, f), types[q->t].data, q->on_device);
}

/* Fills in what all products of a call have; their C is D. */
static blas_status multiply(const struct level3 *q, struct blas_product *p, enum ws_factor alpha, enum ws_factor beta)
{
  const int data = types[q->t].data;
  if (p->batch == 0 || p->m == 0 || p->n == 0) return BLAS_SUCCESS;
  p->a.type = p->b.type = p->c.type = p->scale = data;
  if (data == DATA_R_32F && (q->h->math_mode & ~BLAS_MATH_FLAG) == BLAS_TF32_MATH) p->compute = COMPUTE_32F_FAST_TF32;
  p->alpha = factor(q, alpha), p->beta = factor(q, beta), p->on_device = q->on_device;
  p->room = q->rest, p->room_bytes = q->rest_bytes, p->room_alone = true;
  p->d = p->c;
  return blas_multiply(q->h, p, q->h->stream, q->function);
}

/* One square of a half, and as many more as `batch` says, `step` rows and columns from one to the next. */
struct square {
  int64_t row, col, rows, cols, step, batch;
  bool diagonal;
};

typedef blas_status square_work(void *call, const struct square *s);

/* The squares of one size beside the diagonal of n x n, then the last of them where it is cut off. */
static blas_status squares_beside(int64_t n, int64_t side, bool upper, square_work *work, void *call)
{
  const int64_t pairs = n / (2 * side), left = n % (2 * side) - side, at = pairs * 2 * side;
  struct square s = {upper ? 0 : side, upper ? side : 0, side, side, 2 * side, pairs, false};
  const blas_status status = pairs ? work(call, &s) : BLAS_SUCCESS;
  if (status != BLAS_SUCCESS || left <= 0) return status;
  s.row += at, s.col += at, s.batch = 1;
  *(upper ? &s.cols : &s.rows) = left;
  return work(call, &s);
}

static blas_status all_beside(const struct level3 *q, int64_t n, bool upper, square_work *work, void *call)
{
  blas_status status = BLAS_SUCCESS;
  for (int64_t side = q->side; status == BLAS_SUCCESS && side < n; side *= 2)
    status = squares_beside(n, side, upper, work, call);
  return status;
}

/* The same of blocks on the diagonal, `from` being the first. */
static blas_status on_diagonal(const struct level3 *q, int64_t n, int64_t from, square_work *work, void *call)
{
  const int64_t side = q->side, whole = least((n - from) / side, q->most_blocks), left = n - from - whole * side;
  struct square s = {from, from, side, side, side, whole, true};
  const blas_status status = whole ? work(call, &s) : BLAS_SUCCESS;
  if (status != BLAS_SUCCESS || left == 0 || whole == q->most_blocks) return status;
  s = (struct square){from + whole * side, from + whole * side, left, left, side, 1, true};
  return work(call, &s);
}

/* A square on the diagonal as a whole block, `first` being the row that the blocks begin with. */
static struct blas_operand block_of(const struct level3 *q, const struct square *s, int64_t first)
{
  return (struct blas_operand){moved((const void *)q->blocks, (s->row - first) * q->side, q->t), q->side,
                               q->side * q->side, 0};
}

/* Products with a matrix of which a half is stored: C = alpha op(A) B + beta C, or B op(A). */
struct with_half {
  int side, fill, op, unit;
  enum ws_triangle_kind kind;
  int64_t m, n;
  const void *a, *b;
  void *c;
  int64_t lda, ldb, ldc;
};

struct half_call {
  const struct level3 *q;
  struct with_half w;
  int64_t first; /* row of the blocks that are whole now */
};

/* What one square gives; `turn`: its operation. Those beside the diagonal are added to what the blocks on it gave. */
static blas_status give(const struct half_call *c, const struct square *s, int turn)
{
  const struct with_half *w = &c->w;
  const int t = c->q->t;
  const bool left = w->side == BLAS_LEFT, plain = turn == BLAS_OP_N;
  const bool by_rows = plain == left; /* op(A)'s result lies along the square's rows */
  const int64_t out = by_rows ? s->row : s->col, in = by_rows ? s->col : s->row;
  const int64_t outs = by_rows ? s->rows : s->cols, ins = by_rows ? s->cols : s->rows;
  const struct blas_operand of_block = block_of(c->q, s, c->first),
                            of_half = {moved(w->a, s->col * w->lda + s->row, t), w->lda, s->step * (w->lda + 1), 0},
                            a = s->diagonal ? of_block : of_half;
  const int64_t b_line = left ? 1 : w->ldb, c_line = left ? 1 : w->ldc;
  const struct blas_operand b = {moved(w->b, in * b_line, t), w->ldb, s->step * b_line, 0};
  struct blas_product p = {.op_a = left ? turn : BLAS_OP_N, .op_b = left ? BLAS_OP_N : turn, .m = left ? outs : w->m,
                           .n = left ? w->n : outs, .k = ins, .batch = s->batch, .a = left ? a : b, .b = left ? b : a,
                           .c = {moved(w->c, out * c_line, t), w->ldc, s->step * c_line, 0}};
  return multiply(c->q, &p, WS_ALPHA, s->diagonal ? WS_BETA : WS_ONE);
}

static blas_status half_square(void *call, const struct square *s)
{
  const struct half_call *c = call;
  const blas_status status = give(c, s, c->w.op);
  if (status != BLAS_SUCCESS || s->diagonal || c->w.kind == WS_TRIANGULAR) return status;
  return give(c, s, c->w.kind == WS_HERMITIAN ? BLAS_OP_C : BLAS_OP_T);
}

static blas_status with_half(const struct level3 *q, const struct with_half *w)
{
  struct half_call c = {q, *w, 0};
  const int64_t n = w->side == BLAS_LEFT ? w->m : w->n;
  blas_status status = BLAS_SUCCESS;
  for (; status == BLAS_SUCCESS && c.first < n; c.first += q->most_blocks * q->side) {
    const struct ws_triangle_args e = {.matrix = (void *)(uintptr_t)moved(w->a, c.first * (w->lda + 1), q->t),
                                       .blocks = (void *)q->blocks, .n = least(n - c.first, q->most_blocks * q->side),
                                       .ld = w->lda, .side = (int32_t)q->side, .kind = w->kind,
                                       .upper = w->fill == BLAS_UPPER, .unit = w->unit};
    if (!q->alpha_is_0 && !over_blocks(q, KERNEL_striangle_expand, &e)) return BLAS_EXECUTION_FAILED;
    status = on_diagonal(q, n, c.first, half_square, &c);
  }
  if (status != BLAS_SUCCESS || q->alpha_is_0) return status;
  return all_beside(q, n, w->fill == BLAS_UPPER, half_square, &c);
}

/* In place: some lines of B at a time, out of a copy. */
static blas_status in_place(const struct level3 *q, const struct with_half *w)
{
  const bool left = w->side == BLAS_LEFT;
  const int64_t line = left ? w->m : w->n, all = left ? w->n : w->m;
  const size_t each = types[q->t].bytes;
  const int64_t most = (int64_t)(q->copy_bytes / ((size_t)line * each));
  blas_status status = BLAS_SUCCESS;
  for (int64_t i = 0, some; status == BLAS_SUCCESS && i < all; i += some) {
    struct with_half part = *w;
    some = least(most, all - i);
    part.c = (void *)(uintptr_t)moved(w->c, left ? i * w->ldc : i, q->t);
    *(left ? &part.n : &part.m) = some;
    part.b = (const void *)q->copy, part.ldb = part.m;
    if (cudaMemcpy2DAsync((void *)q->copy, (size_t)part.m * each, part.c, (size_t)w->ldc * each, (size_t)part.m * each,
                          (size_t)part.n, DRIVER_COPY_DEFAULT, q->h->stream) != DRIVER_OK)
      return BLAS_EXECUTION_FAILED;
    status = with_half(q, &part);
  }
  return status;
}

/* Blocks of a symmetric matrix, of which nothing is 0, are as large as there is room for. */
static int64_t side_of_whole(int64_t n, int t)
{
  int64_t side = LEAST_SIDE;
  while (side < n && side * side * 4 * types[t].bytes <= SHARE) side *= 2;
  return side;
}

static bool half_valid(const struct with_half *w)
{
  return (w->side == BLAS_LEFT || w->side == BLAS_RIGHT) && (w->fill == BLAS_LOWER || w->fill == BLAS_UPPER) &&
         (unsigned)w->op < BLAS_OPS && (w->unit == BLAS_NON_UNIT || w->unit == BLAS_UNIT) && w->m >= 0 && w->n >= 0 &&
         w->lda >= at_least_1(w->side == BLAS_LEFT ? w->m : w->n) && w->ldb >= at_least_1(w->m) &&
         w->ldc >= at_least_1(w->m);
}

static blas_status half(struct blas *h, int t, const struct with_half *w, const struct scale *s, const char *function)
{
  const bool left = w->side == BLAS_LEFT, copies = w->kind == WS_TRIANGULAR && w->b == w->c;
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (!half_valid(w) || !s->alpha || (!s->beta && w->kind != WS_TRIANGULAR)) return BLAS_INVALID_VALUE;
  if (copies && w->ldb != w->ldc) return BLAS_INVALID_VALUE;
  if (w->m > INT32_MAX || w->n > INT32_MAX) return blas_refuse(function, "sizes from 2^31 on");
  if (w->m == 0 || w->n == 0) return BLAS_SUCCESS;
  struct level3 q = {.h = h, .function = function, .t = t, .on_device = h->pointer_mode == BLAS_DEVICE};
  const int64_t n = left ? w->m : w->n;
  q.side = w->kind == WS_TRIANGULAR ? LEAST_SIDE : side_of_whole(n, t);
  const blas_status status = begin(&q, s, n, copies ? n : 0, left ? w->n : w->m);
  if (status != BLAS_SUCCESS) return status;
  return copies ? in_place(&q, w) : with_half(&q, w);
}

/* Products of which a half is kept: C = alpha op(A) op(B)' + beta C, ' being the transpose or its conjugate; `twice`:
 * and B with A, with the conjugate of alpha where ' is that. */
struct to_half {
  int fill, op;
  bool hermitian, twice;
  int64_t n, k;
  const void *a, *b;
  void *c;
  int64_t lda, ldb, ldc;
};

struct rank_call {
  const struct level3 *q;
  const struct to_half *r;
  enum ws_factor beta;
  int64_t first; /* the row that q->blocks begins with */
};

static struct blas_operand lines(const struct rank_call *c, const void *p, int64_t ld, int64_t line, int64_t step)
{
  const int64_t each = c->r->op == BLAS_OP_N ? 1 : ld;
  return (struct blas_operand){moved(p, line * each, c->q->t), ld, step * each, 0};
}

static blas_status rank_square(void *call, const struct square *s)
{
  const struct rank_call *c = call;
  const struct to_half *r = c->r;
  const int t = c->q->t, turned = r->hermitian ? BLAS_OP_C : BLAS_OP_T;
  const bool plain = r->op == BLAS_OP_N;
  struct blas_product p = {.op_a = plain ? BLAS_OP_N : turned, .op_b = plain ? turned : BLAS_OP_N, .m = s->rows,
                           .n = s->cols, .k = r->k, .batch = s->batch};
  const struct blas_operand of_half = {moved(r->c, s->col * r->ldc + s->row, t), r->ldc, s->step * (r->ldc + 1), 0};
  p.c = s->diagonal ? block_of(c->q, s, c->first) : of_half;
  p.a = lines(c, r->a, r->lda, s->row, s->step), p.b = lines(c, r->b, r->ldb, s->col, s->step);
  const blas_status status = multiply(c->q, &p, WS_ALPHA, s->diagonal ? WS_ZERO : c->beta);
  if (status != BLAS_SUCCESS || !r->twice) return status;
  p.a = lines(c, r->b, r->ldb, s->row, s->step), p.b = lines(c, r->a, r->lda, s->col, s->step);
  return multiply(c->q, &p, r->hermitian ? WS_CONJ_ALPHA : WS_ALPHA, WS_ONE);
}

static blas_status to_half(const struct level3 *q, const struct to_half *r, enum ws_factor beta)
{
  struct rank_call c = {q, r, beta, 0};
  blas_status status = BLAS_SUCCESS;
  for (; status == BLAS_SUCCESS && c.first < r->n; c.first += q->most_blocks * q->side) {
    status = on_diagonal(q, r->n, c.first, rank_square, &c);
    if (status != BLAS_SUCCESS) return status;
    const struct ws_triangle_args e = {.matrix = (void *)(uintptr_t)moved(r->c, c.first * (r->ldc + 1), q->t),
                                       .blocks = (void *)q->blocks, .ld = r->ldc,
                                       .n = least(r->n - c.first, q->most_blocks * q->side),
                                       .side = (int32_t)q->side,
                                       .kind = r->hermitian ? WS_HERMITIAN : WS_SYMMETRIC,
                                       .upper = r->fill == BLAS_UPPER, .beta = device_or_value(q, beta)};
    if (!over_blocks(q, KERNEL_striangle_merge, &e)) return BLAS_EXECUTION_FAILED;
  }
  return status == BLAS_SUCCESS ? all_beside(q, r->n, r->fill == BLAS_UPPER, rank_square, &c) : status;
}

/* Of complex matrices the operation is none, or the one that the result has. */
static bool op_fits(const struct to_half *r, int t)
{
  if (r->op == BLAS_OP_N) return true;
  if (!is_complex(t)) return r->op == BLAS_OP_T || r->op == BLAS_OP_C;
  return r->op == (r->hermitian ? BLAS_OP_C : BLAS_OP_T);
}

static bool rank_valid(const struct to_half *r, int t)
{
  const int64_t rows = at_least_1(r->op == BLAS_OP_N ? r->n : r->k);
  return (r->fill == BLAS_LOWER || r->fill == BLAS_UPPER) && op_fits(r, t) && r->n >= 0 && r->k >= 0 &&
         r->lda >= rows && r->ldb >= rows && r->ldc >= at_least_1(r->n);
}

/* Whether a call is to be done, and then, in *q, its factors and rooms; of `copied` elements of each line of A there is
 * room for at least one. */
static bool rank_begins(struct level3 *q, const struct to_half *r, const struct scale *s, int64_t copied,
                        blas_status *status)
{
  *status = BLAS_SUCCESS;
  if (!blas_handle_is(q->h)) return *status = BLAS_NOT_INITIALIZED, false;
  if (!rank_valid(r, q->t) || !s->alpha || !s->beta) return *status = BLAS_INVALID_VALUE, false;
  if (r->n > INT32_MAX || r->k > INT32_MAX)
    return *status = blas_refuse(q->function, "sizes from 2^31 on"), false;
  if (r->n == 0) return false;
  q->on_device = q->h->pointer_mode == BLAS_DEVICE;
  *status = begin(q, s, r->n, copied ? r->n : 0, copied);
  if (*status != BLAS_SUCCESS) return false;
  const struct ws_scalar beta = device_or_value(q, WS_BETA);
  return !(q->alpha_is_0 || r->k == 0) || beta.device || beta.re != 1 || beta.im != 0;
}

static blas_status rank(struct blas *h, int t, const struct to_half *r, const struct scale *s, const char *function)
{
  struct level3 q = {.h = h, .function = function, .t = t, .side = LEAST_SIDE};
  blas_status status;
  return rank_begins(&q, r, s, 0, &status) ? to_half(&q, r, WS_BETA) : status;
}

/* A of bytes is widened to FP32, as much of k at a time as there is room for; what comes later is added. */
static blas_status rank_of_bytes(struct blas *h, const struct to_half *r, const struct scale *s, const char *function)
{
  struct level3 q = {.h = h, .function = function, .t = C, .side = LEAST_SIDE};
  const bool plain = r->op == BLAS_OP_N;
  blas_status status;
  if (!rank_begins(&q, r, s, r->k, &status)) return status;
  const int64_t k = q.alpha_is_0 ? 0 : r->k, most = (int64_t)(q.copy_bytes / ((size_t)r->n * types[C].bytes));
  int64_t at = 0;
  do {
    struct to_half part = *r;
    part.k = least(most, k - at);
    part.a = part.b = (const void *)q.copy;
    part.lda = part.ldb = plain ? r->n : at_least_1(part.k);
    const struct ws_widen_args w = {.from = (const char *)r->a + 2 * at * (plain ? r->lda : 1), .to = (void *)q.copy,
                                    .rows = plain ? r->n : part.k, .cols = plain ? part.k : r->n, .ld = r->lda};
    if (part.k &&
        !kernel_set_launch(&h->kernels, KERNEL_widen_bytes, blas_lines(w.rows * w.cols), h->stream, &w))
      return BLAS_EXECUTION_FAILED;
    status = to_half(&q, &part, at ? WS_ONE : WS_BETA);
    at += part.k;
  } while (status == BLAS_SUCCESS && at < k);
  return status;
}

/* Of mixed types: those that cuBLAS's reference has. */
static blas_status rank_ex(struct blas *h, const struct to_half *r, const struct scale *s, int type_a, int type_c,
                           const char *function)
{
  if (type_c == DATA_C_32F && type_a == DATA_C_8I) return rank_of_bytes(h, r, s, function);
  if (type_a != DATA_C_32F || type_c != DATA_C_32F) return blas_refuse(function, "matrices of these types");
  return rank(h, C, r, s, function);
}

/* The names. */
#define F PUBLIC blas_status
#define SYMM(T, name, w, kind)                                                                                        \
  F name##w(struct blas *h, int side, int fill, INT m, INT n, const void *alpha, const void *a, INT lda,              \
            const void *b, INT ldb, const void *beta, void *c, INT ldc)                                               \
  {                                                                                                                   \
    const struct with_half q = {side, fill, BLAS_OP_N, BLAS_NON_UNIT, kind, m, n, a, b, c, lda, ldb, ldc};            \
    return half(h, T, &q, &(struct scale){alpha, beta, false, false}, #name);                                         \
  }
#define TRMM(T, name, w)                                                                                              \
  F name##w(struct blas *h, int side, int fill, int op, int unit, INT m, INT n, const void *alpha, const void *a,     \
            INT lda, const void *b, INT ldb, void *c, INT ldc)                                                        \
  {                                                                                                                   \
    const struct with_half q = {side, fill, op, unit, WS_TRIANGULAR, m, n, a, b, c, lda, ldb, ldc};                   \
    return half(h, T, &q, &(struct scale){alpha, NULL, false, false}, #name);                                         \
  }
#define RANK_1(T, name, w, hermitian)                                                                                 \
  F name##w(struct blas *h, int fill, int op, INT n, INT k, const void *alpha, const void *a, INT lda,                \
            const void *beta, void *c, INT ldc)                                                                       \
  {                                                                                                                   \
    const struct to_half r = {fill, op, hermitian, false, n, k, a, a, c, lda, lda, ldc};                              \
    return rank(h, T, &r, &(struct scale){alpha, beta, hermitian, hermitian}, #name);                                 \
  }
#define RANK_EX(name, w, hermitian)                                                                                   \
  F name##w(struct blas *h, int fill, int op, INT n, INT k, const void *alpha, const void *a, int type_a, INT lda,    \
            const void *beta, void *c, int type_c, INT ldc)                                                           \
  {                                                                                                                   \
    const struct to_half r = {fill, op, hermitian, false, n, k, a, a, c, lda, lda, ldc};                              \
    return rank_ex(h, &r, &(struct scale){alpha, beta, hermitian, hermitian}, type_a, type_c, #name);                 \
  }
#define RANK_2(T, name, w, hermitian, twice)                                                                          \
  F name##w(struct blas *h, int fill, int op, INT n, INT k, const void *alpha, const void *a, INT lda, const void *b, \
            INT ldb, const void *beta, void *c, INT ldc)                                                              \
  {                                                                                                                   \
    const struct to_half r = {fill, op, hermitian, twice, n, k, a, b, c, lda, ldb, ldc};                              \
    return rank(h, T, &r, &(struct scale){alpha, beta, false, hermitian}, #name);                                     \
  }
#define EVERY_TYPE(l, v2, w)                                                                                          \
  SYMM(l, cublas##l##symm, v2, WS_SYMMETRIC)                                                                          \
  TRMM(l, cublas##l##trmm, v2)                                                                                        \
  RANK_1(l, cublas##l##syrk, v2, false)                                                                               \
  RANK_2(l, cublas##l##syr2k, v2, false, true)                                                                        \
  RANK_2(l, cublas##l##syrkx, w, false, false)
#define COMPLEX_TYPE(l, v2, w)                                                                                        \
  SYMM(l, cublas##l##hemm, v2, WS_HERMITIAN)                                                                          \
  RANK_1(l, cublas##l##herk, v2, true)                                                                                \
  RANK_2(l, cublas##l##her2k, v2, true, true)                                                                         \
  RANK_2(l, cublas##l##herkx, w, true, false)
#define EVERY(v2, w)                                                                                                  \
  EVERY_TYPE(S, v2, w)                                                                                                \
  EVERY_TYPE(D, v2, w)                                                                                                \
  EVERY_TYPE(C, v2, w)                                                                                                \
  EVERY_TYPE(Z, v2, w)                                                                                                \
  COMPLEX_TYPE(C, v2, w)                                                                                              \
  COMPLEX_TYPE(Z, v2, w)                                                                                              \
  RANK_EX(cublasCsyrkEx, w, false)                                                                                    \
  RANK_EX(cublasCsyrk3mEx, w, false)                                                                                  \
  RANK_EX(cublasCherkEx, w, true)                                                                                     \
  RANK_EX(cublasCherk3mEx, w, true)

#define INT int
EVERY(_v2, )
#undef INT
#define INT int64_t
EVERY(_v2_64, _64)
#undef INT
