/* cublasXt: level 3 of matrices in memory of the host, by tiles, over the GPUs that a handle has chosen. A tile of the
 * result, or of systems and products of triangles a line of tiles, is one GPU's: its operands' tiles come one after the
 * other, and libcublas' functions do with them what the whole wants. Each GPU has a thread of the host.
 */
#include <pthread.h>
#include <stdlib.h>

#include "libs/cublas/blas_elements.h"

#define XT_MAGIC UINT64_C(0x7761727062787470)
enum { USUAL_BLOCK = 2048, MOST_BLOCK = 1 << 20, MOST_GPUS = 64, ROOMS = 3 };

/* A GPU, and room for tiles of A, B and C on it. */
struct xt_place {
  int device;
  struct blas *h;
  uint64_t room[ROOMS];
  size_t bytes;
};

struct xt {
  uint64_t magic;
  int gpus, pinning;
  int64_t block;
  struct xt_place at[MOST_GPUS];
};

union xt_number {
  float narrow[2];
  double wide[2];
};

struct on_host {
  char *at;
  int64_t ld;
};

enum shape { GENERAL, SYMMETRIC, HERMITIAN };

/* One call. */
struct xt_call {
  struct xt *x;
  int t, side, fill, op_a, op_b, unit;
  int64_t m, n, k, block;
  struct on_host a, b, c;
  enum shape shape;    /* of A, or of C where that is a half */
  bool twice, another; /* of halves: as syr2k; as syrkx */
  bool solve;          /* of triangles: a system */
  union xt_number alpha, turned_alpha, beta, one, minus;
  bool beta_is_0;
  /* The result's unit u, if it is one: a tile, or a line of them. */
  blas_status (*unit_of)(const struct xt_call *c, const struct xt_place *p, int64_t row, int64_t column);
  int64_t rows, columns; /* of units */
};

typedef blas_status gemm_function(struct blas *, int, int, int64_t, int64_t, int64_t, const void *, const void *,
                                  int64_t, const void *, int64_t, const void *, void *, int64_t);
typedef blas_status symm_function(struct blas *, int, int, int64_t, int64_t, const void *, const void *, int64_t,
                                  const void *, int64_t, const void *, void *, int64_t); /* and syr2k, syrkx */
typedef blas_status syrk_function(struct blas *, int, int, int64_t, int64_t, const void *, const void *, int64_t,
                                  const void *, void *, int64_t);
typedef blas_status trsm_function(struct blas *, int, int, int, int, int64_t, int64_t, const void *, const void *,
                                  int64_t, void *, int64_t);
typedef blas_status trmm_function(struct blas *, int, int, int, int, int64_t, int64_t, const void *, const void *,
                                  int64_t, const void *, int64_t, void *, int64_t);
#define FOUR(kind, type, s, d, c, z) \
  type s, d, c, z;                   \
  static type *const kind[] = {s, d, c, z};
#define OF_TYPES(kind, type, f) FOUR(kind, type, cublasS##f, cublasD##f, cublasC##f, cublasZ##f)
#define HERMITIANS(kind, type, r, f) FOUR(kind, type, cublasS##r, cublasD##r, cublasC##f, cublasZ##f)
/* clang-format off */
OF_TYPES(gemm, gemm_function, gemm_v2_64)
OF_TYPES(symm, symm_function, symm_v2_64)
OF_TYPES(syrk, syrk_function, syrk_v2_64)
OF_TYPES(syr2k, symm_function, syr2k_v2_64)
OF_TYPES(syrkx, symm_function, syrkx_64)
OF_TYPES(trsm, trsm_function, trsm_v2_64)
OF_TYPES(trmm, trmm_function, trmm_v2_64)
HERMITIANS(hemm, symm_function, symm_v2_64, hemm_v2_64)
HERMITIANS(herk, syrk_function, syrk_v2_64, herk_v2_64)
HERMITIANS(her2k, symm_function, syr2k_v2_64, her2k_v2_64)
HERMITIANS(herkx, symm_function, syrkx_64, herkx_64)
/* clang-format on */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static bool is_wide(int t) { return types[t].real == DATA_R_64F; }
static bool is_xt(const struct xt *x) { return x && x->magic == XT_MAGIC; }

static union xt_number number_of(int t, double re, double im)
{
  if (is_wide(t)) return (union xt_number){.wide = {re, im}};
  return (union xt_number){.narrow = {(float)re, (float)im}};
}

static union xt_number scalar_of(int t, const void *p, bool real)
{
  const struct ws_scalar s = blas_scalar(p, real ? types[t].real : types[t].data, false);
  return number_of(t, s.re, s.im);
}

static int64_t tiles(const struct xt_call *c, int64_t n) { return (n + c->block - 1) / c->block; }
static int64_t extent(const struct xt_call *c, int64_t n, int64_t tile) { return least(c->block, n - tile * c->block); }

/* What is stored of a tile, and the operation on it. */
struct tile {
  struct on_host x;
  int op;
  int64_t row, column, rows, columns;
};

/* Tile (i, j) of op(X), `rows` x `columns` of it. */
static struct tile tile_of(const struct xt_call *c, struct on_host x, int op, int64_t i, int64_t j, int64_t rows,
                           int64_t columns)
{
  if (op == BLAS_OP_N) return (struct tile){x, op, i * c->block, j * c->block, rows, columns};
  return (struct tile){x, op, j * c->block, i * c->block, columns, rows};
}

/* The same, beside the diagonal of A, of which one half is stored. */
static struct tile half_of(const struct xt_call *c, int64_t i, int64_t j, int64_t rows, int64_t columns)
{
  const bool stored = (c->fill == BLAS_LOWER) == (i > j);
  const int turned = c->shape == HERMITIAN ? BLAS_OP_C : BLAS_OP_T;
  return tile_of(c, c->a, stored ? BLAS_OP_N : turned, i, j, rows, columns);
}

static blas_status move(const struct xt_call *c, const struct xt_place *p, int room, struct tile s, bool back)
{
  const size_t each = types[c->t].bytes, near = (size_t)c->block * each, far = (size_t)s.x.ld * each;
  char *host = s.x.at + (size_t)s.column * far + (size_t)s.row * each;
  void *device = (void *)(uintptr_t)p->room[room];
  const size_t width = (size_t)s.rows * each, height = (size_t)s.columns;
  if (!width || !height) return BLAS_SUCCESS;
  const int r = back ? cudaMemcpy2DAsync(host, far, device, near, width, height, DRIVER_COPY_DEFAULT, NULL)
                     : cudaMemcpy2DAsync(device, near, host, far, width, height, DRIVER_COPY_DEFAULT, NULL);
  if (r != DRIVER_OK) return BLAS_MAPPING_ERROR;
  return !back || cuStreamSynchronize(NULL) == DRIVER_OK ? BLAS_SUCCESS : BLAS_EXECUTION_FAILED;
}

static blas_status two(const struct xt_call *c, const struct xt_place *p, struct tile a, struct tile b)
{
  const blas_status s = move(c, p, 0, a, false);
  return s == BLAS_SUCCESS ? move(c, p, 1, b, false) : s;
}

static void *room(const struct xt_place *p, int i) { return (void *)(uintptr_t)p->room[i]; }

/* The tile of C that is at hand: alpha op(A) op(B) + beta C. */
static blas_status add(const struct xt_call *c, const struct xt_place *p, struct tile a, struct tile b,
                       const union xt_number *alpha, const union xt_number *beta)
{
  const int64_t m = a.op == BLAS_OP_N ? a.rows : a.columns, k = a.op == BLAS_OP_N ? a.columns : a.rows;
  const int64_t n = b.op == BLAS_OP_N ? b.columns : b.rows;
  const blas_status s = two(c, p, a, b);
  if (s != BLAS_SUCCESS) return s;
  return gemm[c->t](p->h, a.op, b.op, m, n, k, alpha, room(p, 0), c->block, room(p, 1), c->block, beta, room(p, 2),
                    c->block);
}

/* With a tile of A on its diagonal. */
static blas_status add_diagonal(const struct xt_call *c, const struct xt_place *p, int64_t i, int64_t j,
                                const void *beta)
{
  const int64_t rows = extent(c, c->m, i), columns = extent(c, c->n, j), at = c->side == BLAS_LEFT ? i : j;
  const int64_t order = c->side == BLAS_LEFT ? rows : columns;
  const blas_status s = two(c, p, tile_of(c, c->a, BLAS_OP_N, at, at, order, order),
                            tile_of(c, c->b, BLAS_OP_N, i, j, rows, columns));
  if (s != BLAS_SUCCESS) return s;
  return (c->shape == HERMITIAN ? hemm : symm)[c->t](p->h, c->side, c->fill, rows, columns, &c->alpha, room(p, 0),
                                                     c->block, room(p, 1), c->block, beta, room(p, 2), c->block);
}

static blas_status product_step(const struct xt_call *c, const struct xt_place *p, int64_t i, int64_t j, int64_t l)
{
  const int64_t rows = extent(c, c->m, i), columns = extent(c, c->n, j), depth = extent(c, c->k, l);
  const union xt_number *beta = l ? &c->one : &c->beta;
  if (c->shape == GENERAL)
    return add(c, p, tile_of(c, c->a, c->op_a, i, l, rows, depth), tile_of(c, c->b, c->op_b, l, j, depth, columns),
               &c->alpha, beta);
  if (l == (c->side == BLAS_LEFT ? i : j)) return add_diagonal(c, p, i, j, beta);
  if (c->side == BLAS_LEFT)
    return add(c, p, half_of(c, i, l, rows, depth), tile_of(c, c->b, BLAS_OP_N, l, j, depth, columns), &c->alpha, beta);
  return add(c, p, tile_of(c, c->b, BLAS_OP_N, i, l, rows, depth), half_of(c, l, j, depth, columns), &c->alpha, beta);
}

static blas_status product(const struct xt_call *c, const struct xt_place *p, int64_t i, int64_t j)
{
  const struct tile result = tile_of(c, c->c, BLAS_OP_N, i, j, extent(c, c->m, i), extent(c, c->n, j));
  blas_status s = c->beta_is_0 ? BLAS_SUCCESS : move(c, p, 2, result, false);
  for (int64_t l = 0; s == BLAS_SUCCESS && (l == 0 || l < tiles(c, c->k)); l++) s = product_step(c, p, i, j, l);
  return s == BLAS_SUCCESS ? move(c, p, 2, result, true) : s;
}

/* A step of a tile of a half: of one on the diagonal, which is a half itself, and of one beside it. */
static blas_status half_step(const struct xt_call *c, const struct xt_place *p, int64_t i, int64_t j, int64_t l)
{
  const int t = c->t, turned = c->shape == HERMITIAN ? BLAS_OP_C : BLAS_OP_T;
  const int64_t n = extent(c, c->n, i), columns = extent(c, c->n, j), k = extent(c, c->k, l);
  const bool hermitian = c->shape == HERMITIAN;
  const union xt_number *beta = l ? &c->one : &c->beta;
  const struct tile a = tile_of(c, c->a, c->op_a, i, l, n, k), b = tile_of(c, c->b, c->op_a, i, l, n, k);
  if (i == j) {
    const blas_status s = two(c, p, a, b);
    if (s != BLAS_SUCCESS) return s;
    if (!c->twice && !c->another)
      return (hermitian ? herk : syrk)[t](p->h, c->fill, c->op_a, n, k, &c->alpha, room(p, 0), c->block, beta,
                                          room(p, 2), c->block);
    return (c->twice ? hermitian ? her2k : syr2k : hermitian ? herkx : syrkx)[t](
      p->h, c->fill, c->op_a, n, k, &c->alpha, room(p, 0), c->block, room(p, 1), c->block, beta, room(p, 2), c->block);
  }
  const int op = c->op_a == BLAS_OP_N ? turned : BLAS_OP_N;
  const blas_status s = add(c, p, a, tile_of(c, c->b, op, l, j, k, columns), &c->alpha, beta);
  if (s != BLAS_SUCCESS || !c->twice) return s;
  return add(c, p, b, tile_of(c, c->a, op, l, j, k, columns), &c->turned_alpha, &c->one);
}

static blas_status half(const struct xt_call *c, const struct xt_place *p, int64_t i, int64_t j)
{
  const struct tile result = tile_of(c, c->c, BLAS_OP_N, i, j, extent(c, c->n, i), extent(c, c->n, j));
  if (i != j && (i > j) != (c->fill == BLAS_LOWER)) return BLAS_SUCCESS;
  /* Of a tile on the diagonal the other half goes back as it was. */
  blas_status s = c->beta_is_0 && i != j ? BLAS_SUCCESS : move(c, p, 2, result, false);
  for (int64_t l = 0; s == BLAS_SUCCESS && (l == 0 || l < tiles(c, c->k)); l++) s = half_step(c, p, i, j, l);
  return s == BLAS_SUCCESS ? move(c, p, 2, result, true) : s;
}

/* What tile l of a line of B gives to tile (i, j), times alpha. */
static blas_status give(const struct xt_call *c, const struct xt_place *p, int64_t i, int64_t j, int64_t l,
                        const union xt_number *alpha, const union xt_number *beta)
{
  const int64_t rows = extent(c, c->m, i), columns = extent(c, c->n, j);
  const int64_t depth = extent(c, c->side == BLAS_LEFT ? c->m : c->n, l);
  if (c->side == BLAS_LEFT)
    return add(c, p, tile_of(c, c->a, c->op_a, i, l, rows, depth), tile_of(c, c->b, BLAS_OP_N, l, j, depth, columns),
               alpha, beta);
  return add(c, p, tile_of(c, c->b, BLAS_OP_N, i, l, rows, depth), tile_of(c, c->a, c->op_a, l, j, depth, columns),
             alpha, beta);
}

/* Tile (i, j) of a system, less what is known, or of a product, with what follows; tiles `first` to `end` of its line
 * give to it. */
static blas_status triangle_tile(const struct xt_call *c, const struct xt_place *p, int64_t i, int64_t j, int64_t first,
                                 int64_t end)
{
  const int64_t rows = extent(c, c->m, i), columns = extent(c, c->n, j), at = c->side == BLAS_LEFT ? i : j;
  const int64_t order = c->side == BLAS_LEFT ? rows : columns;
  const struct tile of_b = tile_of(c, c->b, BLAS_OP_N, i, j, rows, columns);
  const struct tile of_c = tile_of(c, c->c, BLAS_OP_N, i, j, rows, columns);
  const struct tile diagonal = tile_of(c, c->a, BLAS_OP_N, at, at, order, order);
  blas_status s = c->solve ? move(c, p, 2, of_b, false) : two(c, p, diagonal, of_b);
  if (s == BLAS_SUCCESS && !c->solve)
    s = trmm[c->t](p->h, c->side, c->fill, c->op_a, c->unit, rows, columns, &c->alpha, room(p, 0), c->block, room(p, 1),
                   c->block, room(p, 2), c->block);
  for (int64_t l = first; s == BLAS_SUCCESS && l < end; l++)
    s = c->solve ? give(c, p, i, j, l, &c->minus, l == first ? &c->alpha : &c->one)
                 : give(c, p, i, j, l, &c->alpha, &c->one);
  if (s == BLAS_SUCCESS && c->solve) s = move(c, p, 0, diagonal, false);
  if (s == BLAS_SUCCESS && c->solve)
    s = trsm[c->t](p->h, c->side, c->fill, c->op_a, c->unit, rows, columns, first < end ? &c->one : &c->alpha,
                   room(p, 0), c->block, room(p, 2), c->block);
  return s == BLAS_SUCCESS ? move(c, p, 2, of_c, true) : s;
}

/* A line of tiles, in the order in which a system finds them, or a product in place no longer needs them. */
static blas_status line(const struct xt_call *c, const struct xt_place *p, int64_t row, int64_t column)
{
  const bool left = c->side == BLAS_LEFT, upper = (c->fill == BLAS_UPPER) == (c->op_a == BLAS_OP_N);
  const int64_t all = tiles(c, left ? c->m : c->n);
  const bool ascending = left == (c->solve ? !upper : upper);
  blas_status s = BLAS_SUCCESS;
  for (int64_t u = 0; u < all && s == BLAS_SUCCESS; u++) {
    const int64_t at = ascending ? u : all - 1 - u;
    const bool before = c->solve == ascending; /* tiles before it give to it; else those behind it */
    s = triangle_tile(c, p, left ? at : row, left ? column : at, before ? 0 : at + 1, before ? at : all);
  }
  return s;
}

/* One GPU's units, by a thread. */
struct share {
  const struct xt_call *c;
  int gpu;
  blas_status status;
};

static bool make_rooms(struct xt_place *p, size_t bytes)
{
  for (int i = 0; p->bytes < bytes && i < ROOMS; i++) {
    if (p->room[i]) cuMemFree_v2(p->room[i]);
    p->room[i] = 0;
  }
  for (int i = 0; i < ROOMS; i++)
    if (!p->room[i] && cuMemAlloc_v2(&p->room[i], bytes) != DRIVER_OK) return p->room[i] = 0, p->bytes = 0, false;
  if (p->bytes < bytes) p->bytes = bytes;
  return true;
}

static void *work(void *of)
{
  struct share *s = of;
  const struct xt_call *c = s->c;
  struct xt_place *p = &c->x->at[s->gpu];
  s->status = BLAS_ALLOC_FAILED;
  if (cudaSetDevice(p->device) != DRIVER_OK) return NULL;
  if (!make_rooms(p, (size_t)c->block * (size_t)c->block * types[c->t].bytes)) return NULL;
  s->status = BLAS_SUCCESS;
  for (int64_t u = s->gpu; u < c->rows * c->columns && s->status == BLAS_SUCCESS; u += c->x->gpus)
    s->status = c->unit_of(c, p, u % c->rows, u / c->rows);
  return NULL;
}

static blas_status run(struct xt_call *c)
{
  struct share share[MOST_GPUS];
  pthread_t thread[MOST_GPUS];
  int started = 0;
  blas_status status = BLAS_SUCCESS;
  for (; started < c->x->gpus && status == BLAS_SUCCESS; started++) {
    share[started] = (struct share){c, started, BLAS_SUCCESS};
    if (pthread_create(&thread[started], NULL, work, &share[started])) status = BLAS_ALLOC_FAILED, started--;
  }
  for (int i = 0; i < started; i++) {
    pthread_join(thread[i], NULL);
    if (share[i].status != BLAS_SUCCESS) status = share[i].status;
  }
  return status;
}

/* Checks what all calls have in common, and sets what follows from it. `rows_a` to `rows_c`: of the matrices as they
 * are stored. */
static blas_status begin(struct xt_call *c, const void *alpha, const void *beta, bool alpha_real, bool beta_real,
                         int64_t rows_a, int64_t rows_b, int64_t rows_c)
{
  const int64_t ld[] = {c->a.ld, c->b.ld, c->c.ld}, rows[] = {rows_a, rows_b, rows_c};
  if (!is_xt(c->x) || !c->x->gpus) return BLAS_NOT_INITIALIZED;
  if (c->m < 0 || c->n < 0 || c->k < 0 || !alpha || !beta) return BLAS_INVALID_VALUE;
  if ((unsigned)c->op_a >= BLAS_OPS || (unsigned)c->op_b >= BLAS_OPS) return BLAS_INVALID_VALUE;
  if ((unsigned)c->side > BLAS_RIGHT || (unsigned)c->fill > BLAS_UPPER || (unsigned)c->unit > BLAS_UNIT)
    return BLAS_INVALID_VALUE;
  for (int i = 0; i < ROOMS; i++)
    if (ld[i] < most(1, rows[i]) || ld[i] > INT32_MAX) return BLAS_INVALID_VALUE;
  if (c->m > INT32_MAX || c->n > INT32_MAX || c->k > INT32_MAX) return BLAS_INVALID_VALUE;
  c->block = most(1, least(c->x->block, most(c->m, most(c->n, c->k))));
  c->alpha = c->turned_alpha = scalar_of(c->t, alpha, alpha_real);
  c->beta = scalar_of(c->t, beta, beta_real);
  if (c->shape == HERMITIAN && is_wide(c->t)) c->turned_alpha.wide[1] *= -1;
  if (c->shape == HERMITIAN && !is_wide(c->t)) c->turned_alpha.narrow[1] *= -1;
  c->one = number_of(c->t, 1, 0), c->minus = number_of(c->t, -1, 0);
  const struct ws_scalar b = blas_scalar(&c->beta, types[c->t].data, false);
  c->beta_is_0 = b.re == 0 && b.im == 0;
  c->rows = tiles(c, c->m), c->columns = tiles(c, c->n);
  return BLAS_SUCCESS;
}

static blas_status products(struct xt_call c, const void *alpha, const void *beta)
{
  const bool general = c.shape == GENERAL;
  const int64_t order = c.side == BLAS_LEFT ? c.m : c.n;
  if (!general) c.k = order;
  c.unit_of = product;
  const blas_status s = begin(&c, alpha, beta, false, false, !general ? order : c.op_a == BLAS_OP_N ? c.m : c.k,
                              !general ? c.m : c.op_b == BLAS_OP_N ? c.k : c.n, c.m);
  return s == BLAS_SUCCESS ? run(&c) : s;
}

static blas_status halves(struct xt_call c, const void *alpha, const void *beta)
{
  const bool hermitian = c.shape == HERMITIAN, complex = types[c.t].data != types[c.t].real;
  const int64_t rows = c.op_a == BLAS_OP_N ? c.n : c.k;
  if (complex && c.op_a == (hermitian ? BLAS_OP_T : BLAS_OP_C)) return BLAS_INVALID_VALUE;
  c.m = c.n, c.unit_of = half;
  if (!c.twice && !c.another) c.b = c.a;
  const blas_status s = begin(&c, alpha, beta, hermitian && !c.twice && !c.another, hermitian, rows, rows, c.n);
  return s == BLAS_SUCCESS ? run(&c) : s;
}

static blas_status triangles(struct xt_call c, const void *alpha)
{
  const double zero[2] = {0, 0};
  c.unit_of = line;
  const blas_status s = begin(&c, alpha, zero, false, false, c.side == BLAS_LEFT ? c.m : c.n, c.m, c.m);
  if (s != BLAS_SUCCESS) return s;
  if (c.side == BLAS_LEFT) c.rows = least(c.rows, 1);
  else c.columns = least(c.columns, 1);
  return run(&c);
}

/* A packed symmetric matrix gets the place of each of its numbers. */
static blas_status packed(struct xt_call c, const void *packed, const void *alpha, const void *beta)
{
  const size_t each = types[c.t].bytes;
  const int64_t n = c.side == BLAS_LEFT ? c.m : c.n;
  if (!is_xt(c.x)) return BLAS_NOT_INITIALIZED;
  if (n < 0 || n > INT32_MAX || (unsigned)c.fill > BLAS_UPPER) return BLAS_INVALID_VALUE;
  char *whole = calloc((size_t)most(n, 1) * (size_t)most(n, 1), each);
  if (!whole) return BLAS_ALLOC_FAILED;
  const char *from = packed;
  for (int64_t j = 0; j < n; j++) {
    const int64_t first = c.fill == BLAS_LOWER ? j : 0, rows = c.fill == BLAS_LOWER ? n - j : j + 1;
    const size_t bytes = (size_t)rows * each;
    __builtin_memcpy(whole + (size_t)(j * n + first) * each, from, bytes);
    from += bytes;
  }
  c.a = (struct on_host){whole, most(n, 1)};
  const blas_status s = products(c, alpha, beta);
  free(whole);
  return s;
}

/* Handles. */
int cudaGetDeviceCount(int *count);

PUBLIC blas_status cublasXtCreate(struct xt **out)
{
  if (!out) return BLAS_INVALID_VALUE;
  *out = calloc(1, sizeof **out);
  if (!*out) return BLAS_ALLOC_FAILED;
  (*out)->magic = XT_MAGIC, (*out)->block = USUAL_BLOCK;
  return BLAS_SUCCESS;
}

PUBLIC blas_status cublasXtDestroy(struct xt *x)
{
  int before = 0;
  if (!is_xt(x)) return BLAS_NOT_INITIALIZED;
  cudaGetDevice(&before);
  for (int g = 0; g < x->gpus; g++) {
    cudaSetDevice(x->at[g].device);
    for (int i = 0; i < ROOMS; i++)
      if (x->at[g].room[i]) cuMemFree_v2(x->at[g].room[i]);
    blas_close(x->at[g].h);
  }
  cudaSetDevice(before);
  x->magic = 0;
  free(x);
  return BLAS_SUCCESS;
}

PUBLIC blas_status cublasXtDeviceSelect(struct xt *x, int n, const int *device)
{
  int before = 0, count = 0;
  if (!is_xt(x)) return BLAS_NOT_INITIALIZED;
  if (n < 1 || n > MOST_GPUS || !device || x->gpus) return BLAS_INVALID_VALUE;
  if (cudaGetDeviceCount(&count) != DRIVER_OK) return BLAS_INVALID_VALUE;
  for (int i = 0; i < n; i++)
    if (device[i] < 0 || device[i] >= count) return BLAS_INVALID_VALUE;
  cudaGetDevice(&before);
  bool good = true;
  for (int i = 0; i < n && good; i++) {
    x->at[i].device = device[i];
    good = cudaSetDevice(device[i]) == DRIVER_OK && blas_open(&x->at[i].h) == BLAS_SUCCESS;
    if (good) x->gpus++;
  }
  cudaSetDevice(before);
  return good ? BLAS_SUCCESS : BLAS_INVALID_VALUE;
}

/* Boards of several GPUs are one GPU each here. */
PUBLIC blas_status cublasXtGetNumBoards(int n, const int *device, int *boards)
{
  if (n < 1 || !device || !boards) return BLAS_INVALID_VALUE;
  *boards = n;
  return BLAS_SUCCESS;
}
PUBLIC blas_status cublasXtMaxBoards(int *boards)
{
  return boards && cudaGetDeviceCount(boards) == DRIVER_OK ? BLAS_SUCCESS : BLAS_INVALID_VALUE;
}
PUBLIC blas_status cublasXtSetBlockDim(struct xt *x, int block)
{
  if (!is_xt(x)) return BLAS_NOT_INITIALIZED;
  if (block < 1 || block > MOST_BLOCK) return BLAS_INVALID_VALUE;
  x->block = block;
  return BLAS_SUCCESS;
}
PUBLIC blas_status cublasXtGetBlockDim(const struct xt *x, int *block)
{
  if (!is_xt(x)) return BLAS_NOT_INITIALIZED;
  if (!block) return BLAS_INVALID_VALUE;
  *block = (int)x->block;
  return BLAS_SUCCESS;
}
PUBLIC blas_status cublasXtSetPinningMemMode(struct xt *x, int mode)
{
  if (!is_xt(x)) return BLAS_NOT_INITIALIZED;
  if (mode != 0 && mode != 1) return BLAS_INVALID_VALUE;
  x->pinning = mode;
  return BLAS_SUCCESS;
}
PUBLIC blas_status cublasXtGetPinningMemMode(const struct xt *x, int *mode)
{
  if (!is_xt(x)) return BLAS_NOT_INITIALIZED;
  if (!mode) return BLAS_INVALID_VALUE;
  *mode = x->pinning;
  return BLAS_SUCCESS;
}
/* A part for the CPU is an offer: the GPUs do it all. */
enum { XT_OPERATIONS = 12, XT_TYPES = 4 };
PUBLIC blas_status cublasXtSetCpuRoutine(const struct xt *x, int operation, int type, const void *routine)
{
  (void)routine;
  if (!is_xt(x)) return BLAS_NOT_INITIALIZED;
  return (unsigned)operation < XT_OPERATIONS && (unsigned)type < XT_TYPES ? BLAS_SUCCESS : BLAS_INVALID_VALUE;
}
PUBLIC blas_status cublasXtSetCpuRatio(const struct xt *x, int operation, int type, float ratio)
{
  (void)ratio;
  return cublasXtSetCpuRoutine(x, operation, type, NULL);
}

/* The names. Sizes beyond int64_t are negative here, and refused. */
#define AT(p, l) {(char *)(uintptr_t)(p), (int64_t)(l)}
#define F PUBLIC blas_status
#define HALF(T, name, kind, both, other)                                                                              \
  F cublasXt##T##name(struct xt *x, int fill, int op, size_t n, size_t k, const void *alpha, const void *a,     \
                      size_t lda, const void *b, size_t ldb, const void *beta, void *c, size_t ldc)                   \
  {                                                                                                                   \
    return halves((struct xt_call){.x = x, .t = T, .fill = fill, .op_a = op, .n = (int64_t)n, .k = (int64_t)k,        \
                                   .a = AT(a, lda), .b = AT(b, ldb), .c = AT(c, ldc), .shape = kind, .twice = both,   \
                                   .another = other}, alpha, beta);                                                   \
  }
#define RANK(T, name, kind)                                                                                           \
  F cublasXt##T##name(struct xt *x, int fill, int op, size_t n, size_t k, const void *alpha, const void *a,     \
                      size_t lda, const void *beta, void *c, size_t ldc)                                              \
  {                                                                                                                   \
    return halves((struct xt_call){.x = x, .t = T, .fill = fill, .op_a = op, .n = (int64_t)n, .k = (int64_t)k,        \
                                   .a = AT(a, lda), .c = AT(c, ldc), .shape = kind}, alpha, beta);                    \
  }
#define SIDED(T, name, kind)                                                                                          \
  F cublasXt##T##name(struct xt *x, int side, int fill, size_t m, size_t n, const void *alpha, const void *a,         \
                      size_t lda, const void *b, size_t ldb, const void *beta, void *c, size_t ldc)                   \
  {                                                                                                                   \
    return products((struct xt_call){.x = x, .t = T, .side = side, .fill = fill, .m = (int64_t)m, .n = (int64_t)n,    \
                                     .a = AT(a, lda), .b = AT(b, ldb), .c = AT(c, ldc), .shape = kind}, alpha, beta); \
  }
#define EACH(T)                                                                                                       \
  F cublasXt##T##gemm(struct xt *x, int op_a, int op_b, size_t m, size_t n, size_t k, const void *alpha,              \
                      const void *a, size_t lda, const void *b, size_t ldb, const void *beta, void *c, size_t ldc)    \
  {                                                                                                                   \
    return products((struct xt_call){.x = x, .t = T, .op_a = op_a, .op_b = op_b, .m = (int64_t)m, .n = (int64_t)n,    \
                                     .k = (int64_t)k, .a = AT(a, lda), .b = AT(b, ldb), .c = AT(c, ldc)},             \
                    alpha, beta);                                                                                     \
  }                                                                                                                   \
  F cublasXt##T##spmm(struct xt *x, int side, int fill, size_t m, size_t n, const void *alpha, const void *ap,        \
                      const void *b, size_t ldb, const void *beta, void *c, size_t ldc)                               \
  {                                                                                                                   \
    return packed((struct xt_call){.x = x, .t = T, .side = side, .fill = fill, .m = (int64_t)m, .n = (int64_t)n,      \
                                   .b = AT(b, ldb), .c = AT(c, ldc), .shape = SYMMETRIC}, ap, alpha, beta);           \
  }                                                                                                                   \
  F cublasXt##T##trsm(struct xt *x, int side, int fill, int op, int unit, size_t m, size_t n, const void *alpha,      \
                      const void *a, size_t lda, void *b, size_t ldb)                                                 \
  {                                                                                                                   \
    return triangles((struct xt_call){.x = x, .t = T, .side = side, .fill = fill, .op_a = op, .unit = unit,           \
                                      .m = (int64_t)m, .n = (int64_t)n, .a = AT(a, lda), .b = AT(b, ldb),             \
                                      .c = AT(b, ldb), .solve = true}, alpha);                                        \
  }                                                                                                                   \
  F cublasXt##T##trmm(struct xt *x, int side, int fill, int op, int unit, size_t m, size_t n, const void *alpha,      \
                      const void *a, size_t lda, const void *b, size_t ldb, void *c, size_t ldc)                      \
  {                                                                                                                   \
    return triangles((struct xt_call){.x = x, .t = T, .side = side, .fill = fill, .op_a = op, .unit = unit,           \
                                      .m = (int64_t)m, .n = (int64_t)n, .a = AT(a, lda), .b = AT(b, ldb),             \
                                      .c = AT(c, ldc)}, alpha);                                                       \
  }                                                                                                                   \
  SIDED(T, symm, SYMMETRIC)                                                                                           \
  RANK(T, syrk, SYMMETRIC)                                                                                            \
  HALF(T, syr2k, SYMMETRIC, true, false)                                                                              \
  HALF(T, syrkx, SYMMETRIC, false, true)
#define COMPLEX(T)                          \
  SIDED(T, hemm, HERMITIAN)                 \
  RANK(T, herk, HERMITIAN)                  \
  HALF(T, her2k, HERMITIAN, true, false)    \
  HALF(T, herkx, HERMITIAN, false, true)
EACH(S)
EACH(D)
EACH(C)
EACH(Z)
COMPLEX(C)
COMPLEX(Z)
