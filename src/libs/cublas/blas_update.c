/* Updates of rank 1 and 2 of a stored triangle (level 2 of libcublas), and copies between full and packed storage. */
#include "libs/cublas/blas_stored.h"

/* A thread for a row, CTAs over columns. */
static struct launch_shape over_triangle(int64_t n)
{
  enum { ROWS = 256, COLUMNS = 8, MOST = 65535 };
  const int64_t y = (n + COLUMNS - 1) / COLUMNS;
  return (struct launch_shape){(unsigned)((n + ROWS - 1) / ROWS), (unsigned)(y < MOST ? y : MOST), 1, ROWS};
}

struct update {
  bool two, hermitian;
  const void *alpha; /* real in an update of rank 1 of a Hermitian matrix */
  const void *x;
  int64_t incx;
  const void *y; /* rank 1: not there */
  int64_t incy;
};

static blas_status update(struct blas *h, int t, const struct blas_triangle *q, const struct update *u, void *a)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (!blas_triangle_fits(q) || !u->incx || (u->two && !u->incy) || !u->alpha) return BLAS_INVALID_VALUE;
  if (q->n == 0) return BLAS_SUCCESS;
  if (blas_triangle_huge(q)) return blas_refuse("cublas, level 2", "sizes from 2^31 on");
  struct ws_stored_update_args p = {.a = blas_triangle_at(q, a), .two = u->two, .conj = u->hermitian};
  p.incx = u->incx;
  p.x = first(u->x, q->n, u->incx, types[t].bytes);
  p.incy = u->two ? u->incy : p.incx;
  p.y = u->two ? first(u->y, q->n, u->incy, types[t].bytes) : p.x;
  p.real = u->hermitian && !u->two;
  p.alpha = blas_scalar(u->alpha, p.real ? types[t].real : types[t].data, h->pointer_mode == BLAS_DEVICE);
  return blas_stored_launch(h, KERNEL_sstored_update, t, over_triangle(q->n), &p);
}

static blas_status copy(struct blas *h, int t, const struct blas_triangle *from, const void *at,
                        const struct blas_triangle *to, void *out)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (!blas_triangle_fits(from) || !blas_triangle_fits(to)) return BLAS_INVALID_VALUE;
  if (to->n == 0) return BLAS_SUCCESS;
  const struct ws_stored_copy_args p = {blas_triangle_at(from, at), blas_triangle_at(to, out)};
  return blas_stored_launch(h, KERNEL_sstored_copy, t, over_triangle(to->n), &p);
}

/* The names; w ends them. */
#define F PUBLIC blas_status
#define RANK1(l, name, w, hermitian)                                                                                  \
  F cublas##l##name##_v2##w(struct blas *h, int fill, INT n, const void *alpha, const void *x, INT incx, void *a,     \
                            INT lda)                                                                                  \
  {                                                                                                                   \
    const struct blas_triangle q = {fill, n, WS_FULL, lda, 0};                                                        \
    return update(h, l, &q, &(struct update){false, hermitian, alpha, x, incx, NULL, 0}, a);                          \
  }
#define RANK1_PACKED(l, name, w, hermitian)                                                                           \
  F cublas##l##name##_v2##w(struct blas *h, int fill, INT n, const void *alpha, const void *x, INT incx, void *a)     \
  {                                                                                                                   \
    const struct blas_triangle q = {fill, n, WS_PACKED_LOWER, 0, 0};                                                  \
    return update(h, l, &q, &(struct update){false, hermitian, alpha, x, incx, NULL, 0}, a);                          \
  }
#define RANK2(l, name, w, hermitian)                                                                                  \
  F cublas##l##name##_v2##w(struct blas *h, int fill, INT n, const void *alpha, const void *x, INT incx,              \
                            const void *y, INT incy, void *a, INT lda)                                                \
  {                                                                                                                   \
    const struct blas_triangle q = {fill, n, WS_FULL, lda, 0};                                                        \
    return update(h, l, &q, &(struct update){true, hermitian, alpha, x, incx, y, incy}, a);                           \
  }
#define RANK2_PACKED(l, name, w, hermitian)                                                                           \
  F cublas##l##name##_v2##w(struct blas *h, int fill, INT n, const void *alpha, const void *x, INT incx,              \
                            const void *y, INT incy, void *a)                                                         \
  {                                                                                                                   \
    const struct blas_triangle q = {fill, n, WS_PACKED_LOWER, 0, 0};                                                  \
    return update(h, l, &q, &(struct update){true, hermitian, alpha, x, incx, y, incy}, a);                           \
  }
#define COPIES(l)                                                                                                     \
  F cublas##l##trttp(struct blas *h, int fill, int n, const void *a, int lda, void *packed)                           \
  {                                                                                                                   \
    const struct blas_triangle full = {fill, n, WS_FULL, lda, 0}, p = {fill, n, WS_PACKED_LOWER, 0, 0};               \
    return copy(h, l, &full, a, &p, packed);                                                                          \
  }                                                                                                                   \
  F cublas##l##tpttr(struct blas *h, int fill, int n, const void *packed, void *a, int lda)                           \
  {                                                                                                                   \
    const struct blas_triangle full = {fill, n, WS_FULL, lda, 0}, p = {fill, n, WS_PACKED_LOWER, 0, 0};               \
    return copy(h, l, &p, packed, &full, a);                                                                          \
  }
COPIES(S)
COPIES(D)
COPIES(C)
COPIES(Z)

#define EVERY_TYPE(l, w)   \
  RANK1(l, syr, w, false)  \
  RANK2(l, syr2, w, false)
#define REAL_TYPE(l, w)          \
  RANK1_PACKED(l, spr, w, false) \
  RANK2_PACKED(l, spr2, w, false)
#define COMPLEX_TYPE(l, w)      \
  RANK1(l, her, w, true)        \
  RANK2(l, her2, w, true)       \
  RANK1_PACKED(l, hpr, w, true) \
  RANK2_PACKED(l, hpr2, w, true)

#define INT int
EVERY_WIDTH()
#undef INT

#define INT int64_t
EVERY_WIDTH(_64)
#undef INT
