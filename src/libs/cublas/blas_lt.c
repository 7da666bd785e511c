/* libcublasLt: layouts, descriptors, heuristics and the product. Numbers of attributes and epilogues are
 * those of its reference. The structs fit into the opaque ones that programs may hold themselves.
 */
#include <stdlib.h>
#include <string.h>

#include "libs/cublas/blas_lt.h"
#include "libs/cublas/blas_product.h"
#include "libs/kernels/vector_args.h"

enum {
  LAYOUT_TYPE, LAYOUT_ORDER, LAYOUT_ROWS, LAYOUT_COLS, LAYOUT_LD, LAYOUT_BATCH, LAYOUT_STRIDE, LAYOUT_PLANE,
  LAYOUT_MODE,
};

enum { FILL_FULL = 2 };

enum {
  DESC_COMPUTE, DESC_SCALE, DESC_POINTER_MODE, DESC_OP_A, DESC_OP_B, DESC_OP_C, DESC_FILL, DESC_EPILOGUE, DESC_BIAS,
  DESC_BIAS_STRIDE = 10, DESC_AUX, DESC_AUX_LD, DESC_AUX_STRIDE, DESC_ALPHA_STRIDE, DESC_SMS,
  DESC_A_SCALE = 17, DESC_B_SCALE, DESC_C_SCALE, DESC_D_SCALE, DESC_AMAX_D, DESC_AUX_TYPE, DESC_AUX_SCALE,
  DESC_AUX_AMAX, DESC_FAST_ACCUM, DESC_BIAS_TYPE, DESC_A_MODE = 31, DESC_B_MODE, DESC_C_MODE,
  DESC_D_MODE, DESC_AUX_MODE, DESC_D_OUT_SCALE, DESC_D_OUT_MODE, DESC_LAST_KNOWN = 40,
};

/* One factor for a matrix, or one for each block along k, or for each row of A, each column of B. */
enum { SCALE_ONE = 0, SCALE_UE4M3, SCALE_UE8M0, SCALE_VECTOR, SCALE_LINES_128, SCALE_SQUARES_128 };

struct lt_desc {
  int32_t compute, scale, pointer_mode, op_a, op_b, op_c, epilogue, aux_type, bias_type;
  int32_t mode_a, mode_b, mode_c, mode_d, mode_out; /* SCALE_... */
  int32_t unknown; /* an attribute that changes results and is not served, + 1 */
  int32_t fill, sms;
  int8_t fast; /* sms and fast change no result */
  const void *bias;
  void *aux;
  const float *scale_a, *scale_b, *scale_c, *scale_d;
  int64_t bias_stride, aux_ld, aux_stride;
  void *amax, *amax_aux;
  const float *scale_aux;
  void *scale_out; /* gets the factors of D's blocks */
};

struct lt_found {
  struct lt_algo algo;
  size_t workspace;
  int32_t status;
  float waves;
  int32_t reserved[4];
};

_Static_assert(sizeof(struct lt_layout) <= 64, "a program's own layout holds ours");
_Static_assert(sizeof(struct lt_desc) <= 184, "a program's own descriptor holds ours");

PUBLIC blas_status cublasLtMatrixLayoutInit_internal(struct lt_layout *l, size_t bytes, int type, uint64_t rows,
                                                     uint64_t cols, int64_t ld)
{
  if (!l || bytes < sizeof *l) return BLAS_INVALID_VALUE;
  *l = (struct lt_layout){.rows = rows, .cols = cols, .ld = ld, .type = type, .order = ORDER_COL, .batch = 1};
  return BLAS_SUCCESS;
}

PUBLIC blas_status cublasLtMatrixLayoutCreate(struct lt_layout **out, int type, uint64_t rows, uint64_t cols,
                                              int64_t ld)
{
  if (!out) return BLAS_INVALID_VALUE;
  *out = calloc(1, sizeof **out);
  if (!*out) return BLAS_ALLOC_FAILED;
  return cublasLtMatrixLayoutInit_internal(*out, sizeof **out, type, rows, cols, ld);
}

PUBLIC blas_status cublasLtMatrixLayoutDestroy(struct lt_layout *l)
{
  free(l);
  return BLAS_SUCCESS;
}

static struct lt_place of_layout(struct lt_layout *l, int what)
{
  switch (what) {
  case LAYOUT_TYPE: return PLACE(l->type);
  case LAYOUT_ORDER: return PLACE(l->order);
  case LAYOUT_ROWS: return PLACE(l->rows);
  case LAYOUT_COLS: return PLACE(l->cols);
  case LAYOUT_LD: return PLACE(l->ld);
  case LAYOUT_BATCH: return PLACE(l->batch);
  case LAYOUT_STRIDE: return PLACE(l->stride);
  case LAYOUT_MODE: return PLACE(l->mode);
  default: return (struct lt_place){NULL, 0};
  }
}

/* What an attribute is that nobody has set. */
static bool is_zero(const void *value, size_t bytes)
{
  const char *const v = value;
  for (size_t i = 0; i < bytes; i++)
    if (v[i]) return false;
  return true;
}

PUBLIC blas_status cublasLtMatrixLayoutSetAttribute(struct lt_layout *l, int what, const void *value, size_t bytes)
{
  if (!l || !value) return BLAS_INVALID_VALUE;
  if (what == LAYOUT_PLANE && bytes == sizeof(int64_t))
    return is_zero(value, bytes) ? BLAS_SUCCESS : BLAS_NOT_SUPPORTED;
  return lt_set(of_layout(l, what), value, bytes);
}
PUBLIC blas_status cublasLtMatrixLayoutGetAttribute(struct lt_layout *l, int what, void *value, size_t bytes,
                                                    size_t *written)
{
  return l ? lt_get(of_layout(l, what), value, bytes, written) : BLAS_INVALID_VALUE;
}

PUBLIC blas_status cublasLtMatmulDescInit_internal(struct lt_desc *d, size_t bytes, int compute, int scale)
{
  if (!d || bytes < sizeof *d) return BLAS_INVALID_VALUE;
  *d = (struct lt_desc){.compute = compute, .scale = scale, .epilogue = EPI_DEFAULT, .fill = FILL_FULL, .aux_type = -1,
                        .bias_type = -1};
  return BLAS_SUCCESS;
}

PUBLIC blas_status cublasLtMatmulDescCreate(struct lt_desc **out, int compute, int scale)
{
  if (!out) return BLAS_INVALID_VALUE;
  *out = calloc(1, sizeof **out);
  if (!*out) return BLAS_ALLOC_FAILED;
  return cublasLtMatmulDescInit_internal(*out, sizeof **out, compute, scale);
}

PUBLIC blas_status cublasLtMatmulDescDestroy(struct lt_desc *d)
{
  free(d);
  return BLAS_SUCCESS;
}

static struct lt_place of_desc(struct lt_desc *d, int what)
{
  switch (what) {
  case DESC_COMPUTE: return PLACE(d->compute);
  case DESC_SCALE: return PLACE(d->scale);
  case DESC_POINTER_MODE: return PLACE(d->pointer_mode);
  case DESC_OP_A: return PLACE(d->op_a);
  case DESC_OP_B: return PLACE(d->op_b);
  case DESC_OP_C: return PLACE(d->op_c);
  case DESC_FILL: return PLACE(d->fill);
  case DESC_EPILOGUE: return PLACE(d->epilogue);
  case DESC_BIAS: return PLACE(d->bias);
  case DESC_BIAS_STRIDE: return PLACE(d->bias_stride);
  case DESC_AUX: return PLACE(d->aux);
  case DESC_AUX_LD: return PLACE(d->aux_ld);
  case DESC_AUX_STRIDE: return PLACE(d->aux_stride);
  case DESC_SMS: return PLACE(d->sms);
  case DESC_FAST_ACCUM: return PLACE(d->fast);
  case DESC_A_SCALE: return PLACE(d->scale_a);
  case DESC_B_SCALE: return PLACE(d->scale_b);
  case DESC_C_SCALE: return PLACE(d->scale_c);
  case DESC_D_SCALE: return PLACE(d->scale_d);
  case DESC_AMAX_D: return PLACE(d->amax);
  case DESC_AUX_SCALE: return PLACE(d->scale_aux);
  case DESC_AUX_AMAX: return PLACE(d->amax_aux);
  case DESC_A_MODE: return PLACE(d->mode_a);
  case DESC_B_MODE: return PLACE(d->mode_b);
  case DESC_C_MODE: return PLACE(d->mode_c);
  case DESC_D_MODE: return PLACE(d->mode_d);
  case DESC_D_OUT_SCALE: return PLACE(d->scale_out);
  case DESC_D_OUT_MODE: return PLACE(d->mode_out);
  case DESC_AUX_TYPE: return PLACE(d->aux_type);
  case DESC_BIAS_TYPE: return PLACE(d->bias_type);
  default: return (struct lt_place){NULL, 0};
  }
}

PUBLIC blas_status cublasLtMatmulDescSetAttribute(struct lt_desc *d, int what, const void *value, size_t bytes)
{
  enum { MOST_BYTES = 8 }; /* of an attribute */
  if (!d) return BLAS_INVALID_VALUE;
  const struct lt_place p = of_desc(d, what);
  if (p.at) return lt_set(p, value, bytes);
  if (what < 0 || what > DESC_LAST_KNOWN || !value || bytes > MOST_BYTES) return BLAS_INVALID_VALUE;
  if (!is_zero(value, bytes)) d->unknown = what + 1;
  else if (d->unknown == what + 1) d->unknown = 0;
  return BLAS_SUCCESS;
}
PUBLIC blas_status cublasLtMatmulDescGetAttribute(struct lt_desc *d, int what, void *value, size_t bytes,
                                                  size_t *written)
{
  return d ? lt_get(of_desc(d, what), value, bytes, written) : BLAS_INVALID_VALUE;
}

/* Bits of enum ws_epilogue; -1: not an epilogue. */
static int epilogue_of(int e)
{
  int bits = 0;
  if (e == EPI_DEFAULT || e == EPI_BGRAD_A || e == EPI_BGRAD_B) return 0;
  if (e <= 0 || e >= EPI_BGRAD_A || (e & EPI_DEFAULT)) return -1;
  if (e & EPI_RELU) bits |= WS_RELU;
  if (e & EPI_GELU) bits |= WS_GELU;
  if (e & EPI_BIAS) bits |= WS_BIAS;
  if (e & EPI_DRELU) bits |= WS_DRELU;
  if (e & EPI_DGELU) bits |= WS_DGELU;
  const int activations = bits & (WS_RELU | WS_GELU | WS_DRELU | WS_DGELU);
  if (activations & (activations - 1)) return -1;
  if ((e & EPI_AUX) && (bits & (WS_RELU | WS_GELU))) bits |= WS_AUX;
  if ((e & EPI_BGRAD) && !(bits & (WS_DRELU | WS_DGELU))) return -1;
  return bits;
}

/* A layout as the column-major matrix that the product takes: a row-major one is its transpose. */
static struct blas_operand operand(const void *at, const struct lt_layout *l)
{
  return (struct blas_operand){at, l->ld, l->batch > 1 ? l->stride : 0, l->type};
}

static bool sizes_agree(const struct lt_desc *d, const struct lt_layout *a, const struct lt_layout *b,
                        const struct lt_layout *c, const struct lt_layout *o)
{
  const uint64_t m = d->op_a == BLAS_OP_N ? a->rows : a->cols, k = d->op_a == BLAS_OP_N ? a->cols : a->rows;
  const uint64_t n = d->op_b == BLAS_OP_N ? b->cols : b->rows, kb = d->op_b == BLAS_OP_N ? b->rows : b->cols;
  return k == kb && o->rows == m && o->cols == n && c->rows == m && c->cols == n && a->batch == o->batch &&
         b->batch == o->batch && c->batch == o->batch && m <= INT32_MAX && n <= INT32_MAX && k <= INT32_MAX;
}

static void take_epilogue(struct blas_product *p, const struct lt_desc *d, int bits)
{
  struct ws_gemm_args *x = &p->extra;
  x->epilogue = bits;
  x->bias = d->bias;
  const bool narrow = blas_is_narrow(p->a.type);
  const int usual = p->d.type;
  const int of_bias = narrow && usual == DATA_R_32F ? DATA_R_16BF : blas_is_narrow(usual) ? p->c.type : usual;
  x->bias_type = blas_element(d->bias_type >= 0 ? d->bias_type : of_bias);
  x->stride_bias = d->bias_stride;
  x->aux = d->aux;
  x->aux_type = blas_element(d->aux_type >= 0 ? d->aux_type : usual);
  x->ldaux = d->aux_ld;
  x->stride_aux = d->aux_stride;
}

static bool sums_columns(int epilogue) { return epilogue == EPI_BGRAD_A || epilogue == EPI_BGRAD_B; }

/* What an epilogue reads and leaves is of a wide type, but that products of FP8 may leave values in FP8, which alone
 * have a factor and a largest absolute value; none sums FP8 or FP4. */
static bool epilogue_fits(const struct blas_product *p, const struct lt_desc *d)
{
  const int e = p->extra.epilogue;
  const bool of_inputs = sums_columns(d->epilogue), sums = of_inputs || (d->epilogue & EPI_BGRAD);
  const bool values = ((e & WS_AUX) && (e & WS_GELU)) || (e & WS_DGELU); /* not bits */
  if (((e & WS_BIAS) || sums) && (unsigned)p->extra.bias_type >= WS_TYPES) return false;
  const int aux = p->extra.aux_type;
  const bool leaves_fp8 = (e & WS_GELU) && blas_is_fp8(p->a.type) && (aux == WS_E4M3 || aux == WS_E5M2);
  if (values && !leaves_fp8 && ((unsigned)aux >= WS_TYPES || d->scale_aux || d->amax_aux)) return false;
  return !sums || !blas_is_narrow(of_inputs ? p->a.type : p->d.type);
}

/* Vectors of the kernel lie on their borders: 16 bytes of the operands and of their factors. */
static bool blocks_fit(const struct blas_operand *o, const void *factors)
{
  const int64_t per = o->type == DATA_R_E2M1 ? 32 : 16;
  return factors && (uintptr_t)factors % 16 == 0 && (uintptr_t)o->at % 16 == 0 && o->ld % per == 0 &&
         o->stride % per == 0;
}

/* D in FP8 or FP4 gets factors of its operands' kind; only before FP4 a factor of all of it comes. */
static bool take_result(struct blas_product *p, const struct lt_desc *d)
{
  const bool fp4 = p->d.type == DATA_R_E2M1;
  if (!blas_is_narrow(p->d.type)) return !d->mode_out && !d->scale_out && !d->scale_d;
  if (d->mode_out != d->mode_a || p->f32_blocks || (d->scale_d && !fp4)) return false;
  if (fp4 && (p->m % 2 || p->d.ld % 2 || p->d.stride % 2)) return false; /* bytes of two rows */
  p->narrow.factors_d = d->scale_out, p->narrow.scale_d = d->scale_d;
  return (uintptr_t)d->scale_out % 16 == 0;
}

/* FP8 with powers of two or with FP32 (not squares on both sides), FP4 with factors of its own kind: what the reference
 * lists. */
static bool take_blocks(struct blas_product *p, const struct lt_desc *d)
{
  const int wanted = p->a.type == DATA_R_E2M1 ? SCALE_UE4M3 : SCALE_UE8M0;
  const bool bytes = d->mode_a == wanted && d->mode_b == wanted;
  const bool lines_a = d->mode_a == SCALE_LINES_128, lines_b = d->mode_b == SCALE_LINES_128;
  p->f32_blocks = blas_is_fp8(p->a.type) && (lines_a || lines_b) && (lines_a || d->mode_a == SCALE_SQUARES_128) &&
                  (lines_b || d->mode_b == SCALE_SQUARES_128);
  if ((!bytes && !p->f32_blocks) || d->mode_c || d->mode_d || d->scale_c) return false;
  if ((p->f32_blocks && p->batch > 1) || p->k % (p->a.type == DATA_R_E2M1 ? 32 : 16)) return false;
  p->narrow = (struct ws_gemm8_args){.blocks_a = d->scale_a, .blocks_b = d->scale_b, .amax = d->amax,
                                     .squares_a = d->mode_a == SCALE_SQUARES_128,
                                     .squares_b = d->mode_b == SCALE_SQUARES_128};
  return blocks_fit(&p->a, d->scale_a) && blocks_fit(&p->b, d->scale_b) && take_result(p, d);
}

static bool has_blocks(int mode) { return mode && mode != SCALE_VECTOR; }

/* One factor of A and of B any product may have, the others are of FP8 and FP4. */
static bool take_factors(struct blas_product *p, const struct lt_desc *d)
{
  if (p->a.type == DATA_R_E2M1 || has_blocks(d->mode_a) || has_blocks(d->mode_b)) return take_blocks(p, d);
  if (d->mode_out || d->scale_out) return false;
  const bool vectors = d->mode_a == SCALE_VECTOR || d->mode_b == SCALE_VECTOR;
  const bool vectors_there = (d->mode_a != SCALE_VECTOR || d->scale_a) && (d->mode_b != SCALE_VECTOR || d->scale_b);
  if (!blas_is_fp8(p->a.type)) {
    p->extra.scale_a = d->scale_a, p->extra.scale_b = d->scale_b;
    return !d->scale_c && !d->scale_d && !d->amax && !d->mode_a && !d->mode_b && !d->mode_c && !d->mode_d;
  }
  if ((d->mode_a != SCALE_ONE && d->mode_a != SCALE_VECTOR) || (d->mode_b != SCALE_ONE && d->mode_b != SCALE_VECTOR) ||
      d->mode_c != SCALE_ONE || d->mode_d != SCALE_ONE || (vectors && p->batch > 1) || !vectors_there)
    return false;
  if (d->scale_d && !blas_is_fp8(p->d.type)) return false;
  p->narrow = (struct ws_gemm8_args){.scale_a = d->scale_a, .scale_b = d->scale_b, .scale_c = d->scale_c,
                                     .scale_d = d->scale_d, .amax = d->amax, .vector_a = d->mode_a == SCALE_VECTOR,
                                     .vector_b = d->mode_b == SCALE_VECTOR};
  return true;
}

/* Kernels of FP64 add no bias; where nothing but it is added, it comes in the place of C. */
static void bias_as_c(struct blas_product *p)
{
  static const double one = 1;
  const struct ws_gemm_args *x = &p->extra;
  if (x->epilogue != WS_BIAS || p->d.type != DATA_R_64F || x->bias_type != WS_F64) return;
  p->c = (struct blas_operand){x->bias, 0, x->stride_bias, DATA_R_64F};
  p->bias_is_c = true;
  p->extra.epilogue = 0;
  if (!p->on_device && p->scale == DATA_R_64F && p->beta && *(const double *)p->beta == 0) p->beta = &one;
}

/* Of all matrices or of none, and then without an epilogue. */
static bool takes_pointers(const struct lt_desc *d, const struct lt_layout *a, const struct lt_layout *b,
                           const struct lt_layout *c, const struct lt_layout *o)
{
  return a->mode == BATCH_POINTERS && b->mode == a->mode && c->mode == a->mode && o->mode == a->mode &&
         d->epilogue == EPI_DEFAULT;
}

static bool is_complex(int type) { return type == DATA_C_32F || type == DATA_C_64F; }

/* What is done to an operand that is stored in the other order than the result: its memory is the transposed one.
 * -1: conjugation alone, which no kernel has. */
static int in_order(int op, const struct lt_layout *l, const struct lt_layout *result)
{
  if (l->order == result->order) return op;
  if (op == BLAS_OP_N) return BLAS_OP_T;
  return op == BLAS_OP_T || !is_complex(l->type) ? BLAS_OP_N : -1;
}

/* Whether an epilogue is the same for D and its transpose. */
static bool of_each_number(int epilogue)
{
  return epilogue == EPI_DEFAULT || epilogue == EPI_RELU || epilogue == EPI_GELU;
}

/* Row-major D = A B is D^T = B^T A^T column-major: operands change places. C has D's order. */
static blas_status describe(struct blas_product *p, const struct lt_desc *d, const void *alpha, const void *a,
                            const struct lt_layout *la, const void *b, const struct lt_layout *lb, const void *beta,
                            const void *c, const struct lt_layout *lc, void *o, const struct lt_layout *lo)
{
  const int bits = epilogue_of(d->epilogue);
  const bool rows = lo->order == ORDER_ROW;
  if (!sizes_agree(d, la, lb, lc, lo) || (unsigned)d->op_a >= BLAS_OPS || (unsigned)d->op_b >= BLAS_OPS || bits < 0)
    return BLAS_INVALID_VALUE;
  const int op_a = in_order(d->op_a, la, lo), op_b = in_order(d->op_b, lb, lo);
  const bool columns = !rows && la->order == lo->order && lb->order == lo->order;
  if (la->order > ORDER_ROW || lb->order > ORDER_ROW || lo->order > ORDER_ROW || lc->order != lo->order || op_a < 0 ||
      op_b < 0 || d->op_c != BLAS_OP_N || d->pointer_mode > BLAS_DEVICE || d->unknown || d->fill != FILL_FULL ||
      (rows && !of_each_number(d->epilogue)) || (!columns && blas_is_narrow(la->type)))
    return BLAS_NOT_SUPPORTED;
  const bool pointers = takes_pointers(d, la, lb, lc, lo);
  if (!pointers && (la->mode || lb->mode || lc->mode || lo->mode)) return BLAS_NOT_SUPPORTED;
  const bool uses_aux = bits & (WS_AUX | WS_DRELU | WS_DGELU);
  if (blas_is_narrow(lo->type) ? d->mode_out && !d->scale_out : d->scale_out != NULL) return BLAS_INVALID_VALUE;
  if (((bits & WS_BIAS) && !d->bias) || (uses_aux && (!d->aux || d->aux_ld < (int64_t)lo->rows)))
    return BLAS_INVALID_VALUE;
  *p = (struct blas_product){.op_a = op_a, .op_b = op_b, .m = (int64_t)lo->rows, .n = (int64_t)lo->cols};
  p->k = (int64_t)(d->op_a == BLAS_OP_N ? la->cols : la->rows);
  p->batch = lo->batch, p->pointers = pointers;
  p->a = operand(a, la), p->b = operand(b, lb), p->c = operand(c, lc), p->d = operand(o, lo);
  if (rows) {
    p->a = operand(b, lb), p->b = operand(a, la);
    p->op_a = op_b, p->op_b = op_a;
    p->m = (int64_t)lo->cols, p->n = (int64_t)lo->rows;
  }
  p->alpha = alpha, p->beta = beta;
  p->on_device = d->pointer_mode == BLAS_DEVICE;
  p->scale = d->scale, p->compute = d->compute;
  take_epilogue(p, d, bits);
  if (!epilogue_fits(p, d) || !take_factors(p, d)) return BLAS_NOT_SUPPORTED;
  if ((bits & WS_AUX) && (bits & WS_GELU)) p->narrow.scale_aux = d->scale_aux, p->narrow.amax_aux = d->amax_aux;
  bias_as_c(p);
  return blas_product_known(p) ? BLAS_SUCCESS : BLAS_NOT_SUPPORTED;
}

PUBLIC blas_status cublasLtMatmulAlgoGetHeuristic(struct blas *h, const struct lt_desc *d, const struct lt_layout *a,
                                                  const struct lt_layout *b, const struct lt_layout *c,
                                                  const struct lt_layout *o, const struct lt_preference *pref,
                                                  int wanted, struct lt_found *found, int *n)
{
  struct blas_product p;
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (!d || !a || !b || !c || !o || !pref || wanted < 1 || !found || !n) return BLAS_INVALID_VALUE;
  const double one = 1;
  *n = 0;
  _Alignas(16) static const float some[4];
  struct lt_desc asked = *d; /* where factors and the operands of an epilogue are is not known yet */
  if (!asked.scale_a && asked.mode_a != SCALE_ONE) asked.scale_a = some;
  if (!asked.scale_b && asked.mode_b != SCALE_ONE) asked.scale_b = some;
  if (!asked.scale_out && asked.mode_out != SCALE_ONE) asked.scale_out = (void *)(uintptr_t)some;
  if (!asked.bias) asked.bias = &one;
  if (!asked.aux) asked.aux = &asked;
  if (asked.aux_ld < (int64_t)o->rows) asked.aux_ld = (int64_t)o->rows;
  const blas_status s = describe(&p, &asked, &one, NULL, a, NULL, b, &one, NULL, c, NULL, o);
  if (s == BLAS_NOT_SUPPORTED) return blas_refuse("cublasLtMatmul", "these types, layouts or attributes");
  if (s != BLAS_SUCCESS) return s;
  memset(found, 0, sizeof *found);
  found->algo = lt_only_algo();
  found->waves = 1;
  *n = 1;
  return BLAS_SUCCESS;
}

/* What an epilogue sums beside the product: op(A) over k, op(B) over k, or D over its columns. */
static blas_status add_sums(struct blas *h, const struct lt_desc *d, const struct blas_product *p, driver_stream stream)
{
  const bool of_a = d->epilogue == EPI_BGRAD_A, of_b = d->epilogue == EPI_BGRAD_B;
  const struct blas_operand *o = of_a ? &p->a : of_b ? &p->b : &p->d;
  const bool turned = (of_a && p->op_a != BLAS_OP_N) || (of_b && p->op_b == BLAS_OP_N);
  struct ws_sums_args s = {.x = o->at, .x_type = blas_element(o->type), .out = (void *)(uintptr_t)d->bias};
  s.n = of_b ? p->n : p->m;
  s.terms = of_a || of_b ? p->k : p->n;
  s.si = turned ? o->ld : 1;
  s.sj = turned ? 1 : o->ld;
  s.out_type = p->extra.bias_type;
  if (!d->bias) return BLAS_INVALID_VALUE;
  if (p->batch > 1) return blas_refuse("cublasLtMatmul", "bias gradients of a batch");
  const struct launch_shape shape = {(unsigned)s.n, 1, 1, 256};
  return kernel_set_launch(&h->kernels, KERNEL_sums, shape, stream, &s) ? BLAS_SUCCESS : BLAS_EXECUTION_FAILED;
}

/* The largest absolute value of nothing. */
static bool clear(float *amax, driver_stream stream)
{
  return !amax || cuMemsetD32Async((uint64_t)(uintptr_t)amax, 0, 1, stream) == DRIVER_OK;
}

PUBLIC blas_status cublasLtMatmul(struct blas *h, const struct lt_desc *d, const void *alpha, const void *a,
                                  const struct lt_layout *la, const void *b, const struct lt_layout *lb,
                                  const void *beta, const void *c, const struct lt_layout *lc, void *o,
                                  const struct lt_layout *lo, const struct lt_algo *algo, void *workspace, size_t bytes,
                                  driver_stream stream)
{
  struct blas_product p;
  (void)algo;
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (!d || !la || !lb || !lc || !lo || !alpha || !beta) return BLAS_INVALID_VALUE;
  blas_status s = describe(&p, d, alpha, a, la, b, lb, beta, c, lc, o, lo);
  if (s == BLAS_NOT_SUPPORTED) return blas_refuse("cublasLtMatmul", "these types, layouts or attributes");
  if (s != BLAS_SUCCESS) return s;
  if (p.bias_is_c && p.beta == beta) return blas_refuse("cublasLtMatmul", "a bias and C in FP64");
  p.room = (uint64_t)(uintptr_t)workspace;
  p.room_bytes = workspace ? bytes : 0;
  if (!clear(p.narrow.amax, stream) || !clear(p.narrow.amax_aux, stream)) return BLAS_EXECUTION_FAILED;
  s = blas_multiply(h, &p, stream, "cublasLtMatmul");
  if (s == BLAS_SUCCESS && (sums_columns(d->epilogue) || (d->epilogue & EPI_BGRAD))) s = add_sums(h, d, &p, stream);
  return s;
}

PUBLIC blas_status cublasLtMatmulAlgoCheck(struct blas *h, const struct lt_desc *d, const struct lt_layout *a,
                                           const struct lt_layout *b, const struct lt_layout *c,
                                           const struct lt_layout *o, const struct lt_algo *algo,
                                           struct lt_found *found)
{
  const struct lt_preference any = {0};
  int n;
  return algo ? cublasLtMatmulAlgoGetHeuristic(h, d, a, b, c, o, &any, 1, found, &n) : BLAS_INVALID_VALUE;
}
