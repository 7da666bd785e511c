#include "libs/cublas/blas_product.h"

#include <string.h>

#include "libs/cublas/blas_tiles.h"

int blas_element(int data)
{
  static const struct {
    int data, element;
  } pairs[] = {{DATA_R_32F, WS_F32}, {DATA_R_64F, WS_F64}, {DATA_R_16F, WS_F16},  {DATA_R_16BF, WS_BF16},
               {DATA_R_8I, WS_I8},   {DATA_R_32I, WS_I32}, {DATA_C_32F, WS_C32}, {DATA_C_64F, WS_C64},
               {DATA_R_E4M3, WS_E4M3}, {DATA_R_E5M2, WS_E5M2}, {DATA_R_E2M1, WS_E2M1}};
  for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
    if (pairs[i].data == data) return pairs[i].element;
  return -1;
}

static unsigned bytes_of(int element)
{
  static const unsigned char bytes[WS_TYPES_WITH_NARROW] = {4, 8, 2, 2, 1, 4, 8, 16, 1, 1, 1};
  return bytes[element];
}

bool blas_is_fp8(int data) { return data == DATA_R_E4M3 || data == DATA_R_E5M2; }

bool blas_is_narrow(int data) { return blas_is_fp8(data) || data == DATA_R_E2M1; }

double blas_half(uint16_t h)
{
  const int exponent = h >> 10 & 31, fraction = h & 1023;
  double v = exponent == 31 ? (fraction ? __builtin_nan("") : __builtin_inf())
             : exponent     ? __builtin_ldexp(1024 + fraction, exponent - 25)
                            : __builtin_ldexp(fraction, -24);
  return h >> 15 ? -v : v;
}

static double from_bfloat(uint16_t b)
{
  const uint32_t bits = (uint32_t)b << 16;
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

struct ws_scalar blas_scalar(const void *p, int type, bool on_device)
{
  if (on_device) return (struct ws_scalar){.device = p};
  switch (type) {
  case DATA_R_64F: return (struct ws_scalar){.re = *(const double *)p};
  case DATA_R_16F: return (struct ws_scalar){.re = blas_half(*(const uint16_t *)p)};
  case DATA_R_16BF: return (struct ws_scalar){.re = from_bfloat(*(const uint16_t *)p)};
  case DATA_R_32I: return (struct ws_scalar){.re = *(const int *)p};
  case DATA_C_32F: return (struct ws_scalar){.re = ((const float *)p)[0], .im = ((const float *)p)[1]};
  case DATA_C_64F: return (struct ws_scalar){.re = ((const double *)p)[0], .im = ((const double *)p)[1]};
  default: return (struct ws_scalar){.re = *(const float *)p};
  }
}

enum family { F_S, F_T, F_D, F_H, F_B, F_I, F_C, F_Z, F_8, F_8_BLOCKS, F_8_F32_BLOCKS, F_4_BLOCKS, F_NONE };

static bool is_float_out(int type) { return type == DATA_R_32F || type == DATA_R_16F || type == DATA_R_16BF; }

/* Of the operands' kind; where these have factors of blocks, with factors of its own. */
static bool narrow_result_known(const struct blas_product *p)
{
  const bool fp4 = p->a.type == DATA_R_E2M1;
  if (fp4 ? p->d.type != DATA_R_E2M1 : !blas_is_fp8(p->d.type)) return false;
  return !p->narrow.blocks_a || (p->narrow.factors_d && !p->f32_blocks);
}

/* A transposed, B not: the only layout in which GPUs before Blackwell multiply FP8. FP4 has factors of blocks alone. */
static enum family family_of_narrow(const struct blas_product *p)
{
  const bool both_wide = p->a.type == DATA_R_E5M2 && p->b.type == DATA_R_E5M2, fp4 = p->a.type == DATA_R_E2M1;
  const enum family of_fp8 = !p->narrow.blocks_a ? F_8 : p->f32_blocks ? F_8_F32_BLOCKS : F_8_BLOCKS;
  if (fp4 ? p->b.type != p->a.type || !p->narrow.blocks_a : !blas_is_fp8(p->b.type)) return F_NONE;
  if (both_wide || p->pointers) return F_NONE;
  if (p->op_a != BLAS_OP_T || p->op_b != BLAS_OP_N) return F_NONE;
  if (!is_float_out(p->c.type)) return F_NONE;
  if (!is_float_out(p->d.type) && !narrow_result_known(p)) return F_NONE;
  return p->scale != DATA_R_32F ? F_NONE : fp4 ? F_4_BLOCKS : of_fp8;
}

static enum family family_of(const struct blas_product *p)
{
  if (blas_is_narrow(p->a.type)) return family_of_narrow(p);
  if (p->a.type != p->b.type) return F_NONE;
  const bool wide = is_float_out(p->d.type) && is_float_out(p->c.type);
  const bool same = p->d.type == p->a.type && p->c.type == p->a.type;
  const bool real = p->scale == DATA_R_32F || p->scale == DATA_R_16F;
  switch (p->a.type) {
  case DATA_R_32F: return !wide || !real ? F_NONE : p->compute == COMPUTE_32F_FAST_TF32 ? F_T : F_S;
  case DATA_R_16F: return wide && real ? F_H : F_NONE;
  case DATA_R_16BF: return wide && real ? F_B : F_NONE;
  case DATA_R_64F: return same && p->scale == DATA_R_64F ? F_D : F_NONE;
  case DATA_C_32F: return same && p->scale == DATA_C_32F ? F_C : F_NONE;
  case DATA_C_64F: return same && p->scale == DATA_C_64F ? F_Z : F_NONE;
  case DATA_R_8I:
    if (p->scale == DATA_R_32I) return p->d.type == DATA_R_32I && p->c.type == DATA_R_32I ? F_I : F_NONE;
    return p->scale == DATA_R_32F && (p->d.type == DATA_R_8I || p->d.type == DATA_R_32F) ? F_I : F_NONE;
  default: return F_NONE;
  }
}

bool blas_product_known(const struct blas_product *p)
{
  const enum family f = family_of(p);
  const bool narrow = f == F_8 || f == F_8_BLOCKS || f == F_8_F32_BLOCKS || f == F_4_BLOCKS;
  return f != F_NONE && (!p->extra.epilogue || f == F_S || f == F_T || f == F_H || f == F_B || narrow);
}

/* A kernel, its tiles and how they are cut. */
struct kernel_choice {
  enum lib_kernel kernel;
  const struct blas_tile *tile;
  struct blas_cut cut;
  int reducer; /* that adds splits of k; -1: there is none */
  bool parts;  /* on tensor cores: only the last tiles are split (kernels/gemm_parts.cuh) */
};

/* Sizes of tiles of the products on tensor cores, in the order of their kernels. */
enum { WIDE, LARGE, SMALL, SIZES };
static const struct blas_tile sizes[SIZES] = {
  {128, 256, 256, 4 * (128 + 256) * 64, 1, 1000, 1000, 1024},
  {128, 128, 128, 3 * (128 + 128) * 64, 2, 600, 900, 1024},
  {64, 64, 128, 3 * (64 + 64) * 64, 4, 250, 550, 1024},
};
/* By warpgroups, beside mma on the same GPU. */
static const struct blas_tile of_warpgroups = {128, 256, 256, 4 * (128 + 256) * 128, 1, 1000, 1000, 1741};
static const struct blas_tile of_warpgroups_tf32 = {128, 256, 256, 3 * (128 + 256) * 128, 1, 900, 900, 1741};
/* With factors of blocks. */
static const struct blas_tile of_blocks[] = {
  {128, 128, 256, 2 * (128 + 128) * 64, 1, 500, 500, 1024},
  {64, 64, 128, 2 * (64 + 64) * 64, 3, 200, 450, 1024},
};
/* The same by products with factors on compute capability 12: 419 and 1,676 TFLOP/s of an RTX 5090's 170 SMs at
 * 2.41 GHz. */
static const struct blas_tile of_scaled_fp8[] = {
  {128, 128, 256, 3 * (128 + 128) * 64, 1, 800, 800, 512},
  {64, 64, 128, 3 * (64 + 64) * 64, 3, 250, 550, 512},
};
static const struct blas_tile of_scaled_fp4[] = {
  {128, 128, 256, 3 * (128 + 128) * 64, 1, 600, 600, 2048},
  {64, 64, 128, 3 * (64 + 64) * 64, 3, 200, 450, 2048},
};
/* On the ordinary pipes. */
static const struct blas_tile simt_128 = {128, 128, 256, 0, 1, 1000, 1000, 128};
static const struct blas_tile simt_64 = {64, 64, 256, 0, 1, 1000, 1000, 128};
static const struct blas_tile simt_32 = {32, 32, 64, 0, 1, 1000, 1000, 32};

/* What there is to cut. */
static struct blas_work work_of(const struct blas *h, const struct blas_product *p, const struct ws_gemm_args *a)
{
  const size_t bytes = p->room ? p->room_bytes : 0;
  struct blas_work w = {.m = a->m, .n = a->n, .k = a->k, .batch = p->batch, .sms = h->kernels.sms,
                        .most_bytes = p->room_alone ? (double)bytes : BLAS_WORKSPACE};
  if (p->room_alone) return w;
  if (h->workspace && (double)h->workspace_bytes > w.most_bytes) w.most_bytes = (double)h->workspace_bytes;
  if ((double)bytes > w.most_bytes) w.most_bytes = (double)bytes;
  return w;
}

/* By warpgroups, of operands on their borders: what sm_90 has more. */
static bool by_warpgroups(const struct blas *h, const struct ws_gemm_args *a)
{
  return h->kernels.capability == 90 && a->a_vector && a->b_vector && !a->pointers;
}

static void take(struct kernel_choice *best, enum lib_kernel kernel, const struct blas_tile *t, int reducer,
                 const struct blas_work *w)
{
  const struct blas_cut c = blas_cut_for(t, w);
  if (best->tile && c.cycles >= best->cut.cycles) return;
  *best = (struct kernel_choice){kernel, t, c, reducer, true};
}

/* The size of tiles, cut as is best, that is done first. Before 8.0 there is not enough shared memory for the widest.
 * `first` is the kernel of the widest tiles. Of a tile four kernels are in this order: rows of A, columns of B along k
 * (k) or not (x). */
static struct kernel_choice on_tensor_cores(const struct blas *h, enum family f, const struct ws_gemm_args *a,
                                            struct blas_work *w)
{
  const enum lib_kernel first = f == F_T   ? KERNEL_tgemm_kk_128x256
                                : f == F_H ? KERNEL_hgemm_kk_128x256
                                           : KERNEL_bgemm_kk_128x256;
  const int layout = (a->a_along_k ? 0 : 2) + (a->b_along_k ? 0 : 1);
  struct kernel_choice best = {.tile = NULL};
  w->cell = sizeof(float), w->last_alone = true;
  if (by_warpgroups(h, a)) {
    const enum lib_kernel groups = f == F_T   ? KERNEL_tgemm_kk_wgmma
                                   : f == F_H ? KERNEL_hgemm_kk_wgmma
                                              : KERNEL_bgemm_kk_wgmma;
    take(&best, (enum lib_kernel)((int)groups + layout), f == F_T ? &of_warpgroups_tf32 : &of_warpgroups,
         KERNEL_gemm_parts_128x256, w);
  }
  for (int i = h->kernels.capability < 80 ? LARGE : WIDE; i < SIZES; i++)
    take(&best, (enum lib_kernel)((int)first + i * 4 + layout), &sizes[i], KERNEL_gemm_parts_128x256 + i, w);
  return best;
}

static struct kernel_choice of_fp8(struct blas_work *w)
{
  struct kernel_choice best = {.tile = NULL};
  w->cell = sizeof(float), w->last_alone = true;
  take(&best, KERNEL_f8gemm_kk_128x128, &sizes[LARGE], KERNEL_f8gemm_parts_128x128, w);
  take(&best, KERNEL_f8gemm_kk_64x64, &sizes[SMALL], KERNEL_f8gemm_parts_64x64, w);
  return best;
}

/* `first` is the kernel of the larger tiles. */
static struct kernel_choice with_blocks(const struct blas *h, enum lib_kernel first, struct blas_work *w)
{
  struct kernel_choice best = {.tile = NULL};
  const bool fp4 = first == KERNEL_f4gemm_blocks_128x128, scaled = h->kernels.capability / 10 == 12;
  const struct blas_tile *const tiles = !scaled ? of_blocks : fp4 ? of_scaled_fp4 : of_scaled_fp8;
  w->cell = sizeof(float), w->last_alone = true;
  for (int i = 0; i < 2; i++)
    take(&best, (enum lib_kernel)((int)first + i), &tiles[i], KERNEL_f8gemm_block_parts_128x128 + i, w);
  return best;
}

static struct kernel_choice simt(enum lib_kernel kernel, const struct blas_tile *t, int reducer, struct blas_work *w)
{
  w->cell = reducer < 0 ? 0 : reducer == KERNEL_gemm_reduce_f64 ? 8 : 4;
  return (struct kernel_choice){kernel, t, blas_cut_for(t, w), reducer, false};
}

static struct kernel_choice choose(const struct blas *h, enum family f, const struct ws_gemm_args *a,
                                   struct blas_work *w)
{
  const int f32 = KERNEL_gemm_reduce_f32, old = h->kernels.capability < 80; /* no TF32, no BF16 there */
  const bool large = blas_tiles(a->m, 128) * blas_tiles(a->n, 128) * w->batch * 2 >= h->kernels.sms;
  if (f == F_T && old) f = F_S;
  switch (f) {
  case F_8: return of_fp8(w);
  case F_8_BLOCKS: return with_blocks(h, KERNEL_f8gemm_blocks_128x128, w);
  case F_8_F32_BLOCKS: return with_blocks(h, KERNEL_f8f32gemm_blocks_128x128, w);
  case F_4_BLOCKS: return with_blocks(h, KERNEL_f4gemm_blocks_128x128, w);
  case F_S:
    return large ? simt(KERNEL_sgemm_128x128, &simt_128, f32, w) : simt(KERNEL_sgemm_64x64, &simt_64, f32, w);
  case F_B:
    if (old) return simt(KERNEL_bgemm_simt_64x64, &simt_64, f32, w);
    return on_tensor_cores(h, f, a, w);
  case F_T:
  case F_H: return on_tensor_cores(h, f, a, w);
  case F_D: return simt(KERNEL_dgemm_64x64, &simt_64, KERNEL_gemm_reduce_f64, w);
  case F_I:
    return simt(a->scale == WS_I32 ? KERNEL_igemm_simt_64x64 : KERNEL_igemm_float_64x64, &simt_64, -1, w);
  case F_C: return simt(KERNEL_cgemm_32x32, &simt_32, -1, w);
  default: return simt(KERNEL_zgemm_32x32, &simt_32, -1, w);
  }
}

/* Vectors of four elements (16 bytes of two-byte ones) lie on their borders. In arrays of pointers the kernel looks. */
static bool in_vectors(const struct blas_operand *o, bool pointers, unsigned per_vector)
{
  const unsigned bytes = bytes_of(blas_element(o->type)) * per_vector;
  if (o->ld % per_vector || o->stride % per_vector) return false;
  return pointers || (uintptr_t)o->at % (bytes > 16 ? 16 : bytes) == 0;
}

static void fill_operands(struct ws_gemm_args *a, const struct blas_product *p)
{
  const unsigned per = bytes_of(blas_element(p->a.type)) == 2 || blas_is_fp8(p->a.type) ? 8 : 4;
  a->a = p->b.at, a->lda = p->b.ld, a->stride_a = p->b.stride;
  a->b = p->a.at, a->ldb = p->a.ld, a->stride_b = p->a.stride;
  a->c = p->c.at, a->ldc = p->c.ld, a->stride_c = p->c.stride, a->c_type = blas_element(p->c.type);
  a->d = (void *)(uintptr_t)p->d.at, a->ldd = p->d.ld, a->stride_d = p->d.stride, a->d_type = blas_element(p->d.type);
  a->pointers = p->pointers;
  a->a_along_k = p->op_b == BLAS_OP_N;
  a->b_along_k = p->op_a != BLAS_OP_N;
  a->conj_a = p->op_b == BLAS_OP_C;
  a->conj_b = p->op_a == BLAS_OP_C;
  a->a_vector = in_vectors(&p->b, p->pointers, per);
  a->b_vector = in_vectors(&p->a, p->pointers, per);
  a->d_vector = in_vectors(&p->d, p->pointers, 4);
}

static struct ws_gemm_args fill(const struct blas_product *p)
{
  struct ws_gemm_args a = p->extra;
  fill_operands(&a, p);
  a.m = (int32_t)p->n, a.n = (int32_t)p->m, a.k = (int32_t)p->k;
  a.scale = blas_element(p->scale);
  a.alpha = blas_scalar(p->alpha, p->scale, p->on_device);
  a.beta = blas_scalar(p->beta, p->scale, p->on_device);
  /* A and B are not looked at when nothing of them is wanted: not a number there is not one in D. */
  if (!p->on_device && a.alpha.re == 0 && a.alpha.im == 0) a.k = 0;
  a.splits = 1;
  a.k_per_split = a.k;
  return a;
}

/* Room for the partial sums; without it k is not split after all. */
static void split(struct blas *h, const struct blas_product *p, struct ws_gemm_args *a, struct kernel_choice *c,
                  driver_stream stream)
{
  size_t bytes = p->room_bytes;
  if (c->cut.splits == 1) return;
  const size_t need = (size_t)c->cut.bytes;
  const uint64_t room = p->room && bytes >= need ? p->room : blas_room(h, stream, need, &bytes);
  if (!room) {
    c->cut.whole += c->cut.others, c->cut.others = 0, c->cut.splits = 1;
    return;
  }
  a->k_per_split = c->cut.k_per_split;
  a->splits = c->cut.splits;
  a->partial = (void *)(uintptr_t)room;
}

/* Kernels that know no FP8 take the first member alone. */
static bool launch(struct blas *h, struct ws_gemm8_args *q, const struct kernel_choice *c, int64_t batch,
                   driver_stream stream)
{
  enum { MOST_Z = 65535 };
  struct ws_gemm_args *a = &q->g;
  const struct blas_tile *t = c->tile;
  const int64_t ctas = c->cut.whole + c->cut.others * (c->parts ? a->splits : 1), cells = (int64_t)a->m * a->n;
  const int64_t adders = c->parts ? c->cut.others * (t->rows * t->columns / WS_PART_CELLS) : blas_tiles(cells, 256);
  if (ctas > INT32_MAX) return false;
  for (int64_t z = 0; z < batch; z += MOST_Z) {
    const unsigned in_z = (unsigned)(batch - z > MOST_Z ? MOST_Z : batch - z);
    const struct launch_shape main = {(unsigned)ctas, c->parts ? 1 : (unsigned)a->splits, in_z, (unsigned)t->threads};
    a->batch0 = (int32_t)z;
    if (!kernel_set_launch_shared(&h->kernels, c->kernel, main, (unsigned)t->shared, stream, q)) return false;
    if (a->splits == 1) continue;
    const struct launch_shape last = {(unsigned)adders, 1, in_z, 256};
    if (!kernel_set_launch(&h->kernels, (enum lib_kernel)c->reducer, last, stream, q)) return false;
  }
  return true;
}

static bool operand_fits(const struct blas_operand *o, int64_t rows) { return o->ld >= (rows > 1 ? rows : 1); }

static bool valid(const struct blas_product *p)
{
  if ((unsigned)p->op_a >= BLAS_OPS || (unsigned)p->op_b >= BLAS_OPS) return false;
  if (p->m < 0 || p->n < 0 || p->k < 0 || p->batch < 0 || !p->alpha || !p->beta) return false;
  return operand_fits(&p->a, p->op_a == BLAS_OP_N ? p->m : p->k) &&
         operand_fits(&p->b, p->op_b == BLAS_OP_N ? p->k : p->n) &&
         (p->bias_is_c || operand_fits(&p->c, p->m)) && operand_fits(&p->d, p->m);
}

blas_status blas_multiply(struct blas *h, const struct blas_product *p, driver_stream stream, const char *function)
{
  if (!blas_handle_is(h)) return BLAS_NOT_INITIALIZED;
  if (!valid(p)) return BLAS_INVALID_VALUE;
  if (!blas_product_known(p)) return blas_refuse(function, "products of these types");
  if (p->m > INT32_MAX || p->n > INT32_MAX || p->k > INT32_MAX || p->batch > INT32_MAX)
    return blas_refuse(function, "sizes from 2^31 on");
  if (p->m == 0 || p->n == 0 || p->batch == 0) return BLAS_SUCCESS;
  if (blas_is_fp8(p->a.type) && h->kernels.capability < 89) return blas_refuse(function, "FP8 on a GPU before 8.9");
  if (p->narrow.blocks_a && !p->f32_blocks && h->kernels.capability < 100)
    return blas_refuse(function, "these factors of blocks on a GPU before 10.0");
  if (p->f32_blocks && h->kernels.capability != 90)
    return blas_refuse(function, "factors of blocks of 128 on another GPU than one of 9.0");
  struct ws_gemm8_args q = p->narrow;
  q.g = fill(p);
  q.type_a = blas_element(p->b.type), q.type_b = blas_element(p->a.type);
  q.blocks_a = p->narrow.blocks_b, q.blocks_b = p->narrow.blocks_a;
  q.squares_a = p->narrow.squares_b, q.squares_b = p->narrow.squares_a;
  struct blas_work w = work_of(h, p, &q.g);
  struct kernel_choice c = choose(h, family_of(p), &q.g, &w);
  split(h, p, &q.g, &c, stream);
  return launch(h, &q, &c, p->batch, stream) ? BLAS_SUCCESS : BLAS_EXECUTION_FAILED;
}
