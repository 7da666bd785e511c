/* Level 2 of libcublas where a part of the matrix is stored: products with a vector, and triangular systems of one
 * right side. */
#include "libs/cublas/blas_stored.h"

#include "libs/kernels/vector_args.h"

bool blas_triangle_fits(const struct blas_triangle *t)
{
  if ((unsigned)t->fill > 1 || t->n < 0) return false;
  if (t->storage == WS_FULL) return t->ld >= (t->n > 1 ? t->n : 1);
  return t->storage != WS_BAND || (t->k >= 0 && t->ld > t->k);
}

bool blas_triangle_huge(const struct blas_triangle *t)
{
  return t->n > INT32_MAX || (t->storage == WS_BAND && t->k > INT32_MAX);
}

struct ws_stored blas_triangle_at(const struct blas_triangle *t, const void *a)
{
  const int64_t reach = t->storage == WS_BAND ? t->k : t->n;
  const bool upper = t->fill == BLAS_UPPER;
  struct ws_stored s = {.a = a, .rows = t->n, .columns = t->n, .ld = t->ld, .storage = t->storage};
  s.below = upper ? 0 : reach;
  s.above = upper ? reach : 0;
  if (t->storage == WS_PACKED_LOWER && upper) s.storage = WS_PACKED_UPPER;
  return s;
}

blas_status blas_stored_launch(struct blas *h, enum lib_kernel of_s, int t, struct launch_shape shape,
                               const void *args)
{
  const int step = KERNEL_dstored_product - KERNEL_sstored_product;
  const bool ok = kernel_set_launch(&h->kernels, (enum lib_kernel)((int)of_s + t * step), shape, h->stream, args);
  return ok ? BLAS_SUCCESS : BLAS_EXECUTION_FAILED;
}

static blas_status too_large(void) { return blas_refuse("cublas, level 2", "sizes from 2^31 on"); }

static blas_status product(struct blas *h, int t, const struct ws_stored_product_args *p)
{
  enum { ROWS = 32 };
  const struct launch_shape shape = {(unsigned)((p->outputs + ROWS - 1) / ROWS), 1, 1, 256};
  return blas_stored_launch(h, KERNEL_sstored_product, t, shape, p);
}

struct vectors {
  const void *alpha, *x;
  int64_t incx;
  const void *beta;
  void *y;
  int64_t incy;
};

static void set_vectors(struct ws_stored_product_args *p, const struct blas *h, int t, const struct vectors *v,
                        int64_t nx, int64_t ny)
{
  const bool device = h->pointer_mode == BLAS_DEVICE;
  p->outputs = ny;
  p->incx = v->incx, p->incy = v->incy;
  p->x = first(v->x, nx, v->incx, types[t].bytes);
  p->y = first(v->y, ny, v->incy, types[t].bytes);
  p->alpha = blas_scalar(v->alpha, types[t].data, device);
  p->beta = blas_scalar(v->beta, types[t].data, device);
}

/* y = alpha A x + beta y of a symmetric matrix, or a Hermitian one. */
static blas_status symmetric(struct blas *h, int t, const struct blas_triangle *q, bool hermitian, const void *a,
                             const struct vectors *v)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (!blas_triangle_fits(q) || !v->incx || !v->incy || !v->alpha || !v->beta) return BLAS_INVALID_VALUE;
  if (q->n == 0) return BLAS_SUCCESS;
  if (blas_triangle_huge(q)) return too_large();
  struct ws_stored_product_args p = {.a = blas_triangle_at(q, a), .by_rows = true, .by_columns = true};
  p.conj = hermitian;
  set_vectors(&p, h, t, v, q->n, q->n);
  return product(h, t, &p);
}

/* y = alpha op(A) x + beta y of a band with `below` and `above` diagonals beside the main one. */
static blas_status band(struct blas *h, int t, int op, const struct ws_stored *a, const struct vectors *v)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if ((unsigned)op >= BLAS_OPS || a->rows < 0 || a->columns < 0 || a->below < 0 || a->above < 0 || a->ld < 1 ||
      a->ld - 1 - a->below < a->above || !v->incx || !v->incy || !v->alpha || !v->beta)
    return BLAS_INVALID_VALUE;
  if (a->rows == 0 || a->columns == 0) return BLAS_SUCCESS;
  if (a->rows > INT32_MAX || a->columns > INT32_MAX || a->below > INT32_MAX || a->above > INT32_MAX) return too_large();
  struct ws_stored_product_args p = {.a = *a, .by_rows = op == BLAS_OP_N, .by_columns = op != BLAS_OP_N};
  p.conj = op == BLAS_OP_C;
  if (op == BLAS_OP_N) set_vectors(&p, h, t, v, a->columns, a->rows);
  else set_vectors(&p, h, t, v, a->rows, a->columns);
  return product(h, t, &p);
}

struct vector_triangle {
  struct blas_triangle a;
  int op, unit;
};

/* What can be said without the GPU; BLAS_SUCCESS: go on where there is something to do. */
static blas_status check(const struct blas *h, const struct vector_triangle *q, int64_t incx)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (!blas_triangle_fits(&q->a) || (unsigned)q->op >= BLAS_OPS || (unsigned)q->unit > 1 || !incx)
    return BLAS_INVALID_VALUE;
  return blas_triangle_huge(&q->a) ? too_large() : BLAS_SUCCESS;
}

/* x = op(A) x, from a copy of x. */
static blas_status multiply(struct blas *h, int t, const struct vector_triangle *q, const void *a, void *x,
                            int64_t incx)
{
  size_t bytes;
  const int64_t n = q->a.n;
  const blas_status s = check(h, q, incx);
  if (s != BLAS_SUCCESS || n == 0) return s;
  const uint64_t room = blas_room(h, h->stream, (size_t)n * types[t].bytes, &bytes);
  if (!room) return BLAS_ALLOC_FAILED;
  struct ws_vector_args copy = {.n = n, .incx = incx, .incy = 1, .y = (void *)(uintptr_t)room};
  copy.x = first(x, n, incx, types[t].bytes);
  const struct launch_shape shape = {(unsigned)(n < 1 << 18 ? (n + 255) / 256 : 1024), 1, 1, 256};
  const enum lib_kernel k = (enum lib_kernel)(KERNEL_scopy + t * (KERNEL_dcopy - KERNEL_scopy));
  if (!kernel_set_launch(&h->kernels, k, shape, h->stream, &copy)) return BLAS_EXECUTION_FAILED;
  struct ws_stored_product_args p = {.a = blas_triangle_at(&q->a, a), .outputs = n, .incx = 1, .incy = incx};
  p.x = copy.y;
  p.y = first(x, n, incx, types[t].bytes);
  p.by_rows = q->op == BLAS_OP_N, p.by_columns = q->op != BLAS_OP_N;
  p.conj = q->op == BLAS_OP_C, p.unit = q->unit;
  p.alpha.re = 1;
  return product(h, t, &p);
}

/* op(A) x = b, x in b's place. */
static blas_status solve(struct blas *h, int t, const struct vector_triangle *q, const void *a, void *x, int64_t incx)
{
  const blas_status s = check(h, q, incx);
  if (s != BLAS_SUCCESS || q->a.n == 0) return s;
  struct ws_stored_solve_args p = {.a = blas_triangle_at(&q->a, a), .incx = incx};
  p.x = first(x, q->a.n, incx, types[t].bytes);
  p.transposed = q->op != BLAS_OP_N;
  p.conj = q->op == BLAS_OP_C, p.unit = q->unit;
  p.forward = (q->a.fill == BLAS_LOWER) != (bool)p.transposed;
  return blas_stored_launch(h, KERNEL_sstored_solve, t, (struct launch_shape){1, 1, 1, 256}, &p);
}

/* The names: of x = op(A) x and of systems, in the three storages; w ends them. */
#define F PUBLIC blas_status
#define TRIANGLES(l, end, w, does)                                                                                    \
  F cublas##l##tr##end##_v2##w(struct blas *h, int fill, int op, int unit, INT n, const void *a, INT lda, void *x,    \
                               INT incx)                                                                              \
  {                                                                                                                   \
    const struct vector_triangle q = {{fill, n, WS_FULL, lda, 0}, op, unit};                                          \
    return does(h, l, &q, a, x, incx);                                                                                \
  }                                                                                                                   \
  F cublas##l##tb##end##_v2##w(struct blas *h, int fill, int op, int unit, INT n, INT k, const void *a, INT lda,      \
                               void *x, INT incx)                                                                     \
  {                                                                                                                   \
    const struct vector_triangle q = {{fill, n, WS_BAND, lda, k}, op, unit};                                          \
    return does(h, l, &q, a, x, incx);                                                                                \
  }                                                                                                                   \
  F cublas##l##tp##end##_v2##w(struct blas *h, int fill, int op, int unit, INT n, const void *a, void *x, INT incx)   \
  {                                                                                                                   \
    const struct vector_triangle q = {{fill, n, WS_PACKED_LOWER, 0, 0}, op, unit};                                    \
    return does(h, l, &q, a, x, incx);                                                                                \
  }
#define SYMMETRIC_FULL(l, name, w, hermitian)                                                                         \
  F cublas##l##name##_v2##w(struct blas *h, int fill, INT n, const void *alpha, const void *a, INT lda,               \
                            const void *x, INT incx, const void *beta, void *y, INT incy)                             \
  {                                                                                                                   \
    const struct blas_triangle q = {fill, n, WS_FULL, lda, 0};                                                        \
    return symmetric(h, l, &q, hermitian, a, &(struct vectors){alpha, x, incx, beta, y, incy});                       \
  }
#define SYMMETRIC_BAND(l, name, w, hermitian)                                                                         \
  F cublas##l##name##_v2##w(struct blas *h, int fill, INT n, INT k, const void *alpha, const void *a, INT lda,        \
                            const void *x, INT incx, const void *beta, void *y, INT incy)                             \
  {                                                                                                                   \
    const struct blas_triangle q = {fill, n, WS_BAND, lda, k};                                                        \
    return symmetric(h, l, &q, hermitian, a, &(struct vectors){alpha, x, incx, beta, y, incy});                       \
  }
#define SYMMETRIC_PACKED(l, name, w, hermitian)                                                                       \
  F cublas##l##name##_v2##w(struct blas *h, int fill, INT n, const void *alpha, const void *a, const void *x,         \
                            INT incx, const void *beta, void *y, INT incy)                                            \
  {                                                                                                                   \
    const struct blas_triangle q = {fill, n, WS_PACKED_LOWER, 0, 0};                                                  \
    return symmetric(h, l, &q, hermitian, a, &(struct vectors){alpha, x, incx, beta, y, incy});                       \
  }
#define GENERAL_BAND(l, w)                                                                                            \
  F cublas##l##gbmv##_v2##w(struct blas *h, int op, INT m, INT n, INT kl, INT ku, const void *alpha, const void *a,   \
                            INT lda, const void *x, INT incx, const void *beta, void *y, INT incy)                    \
  {                                                                                                                   \
    const struct ws_stored s = {a, m, n, lda, kl, ku, WS_BAND};                                                       \
    return band(h, l, op, &s, &(struct vectors){alpha, x, incx, beta, y, incy});                                      \
  }

#define EVERY_TYPE(l, w)           \
  TRIANGLES(l, mv, w, multiply)    \
  TRIANGLES(l, sv, w, solve)       \
  SYMMETRIC_FULL(l, symv, w, false) \
  GENERAL_BAND(l, w)
#define REAL_TYPE(l, w)             \
  SYMMETRIC_BAND(l, sbmv, w, false) \
  SYMMETRIC_PACKED(l, spmv, w, false)
#define COMPLEX_TYPE(l, w)         \
  SYMMETRIC_FULL(l, hemv, w, true) \
  SYMMETRIC_BAND(l, hbmv, w, true) \
  SYMMETRIC_PACKED(l, hpmv, w, true)

#define INT int
EVERY_WIDTH()
#undef INT

#define INT int64_t
EVERY_WIDTH(_64)
#undef INT
